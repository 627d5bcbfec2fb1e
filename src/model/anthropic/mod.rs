//! The `anthropic` dialect: `POST {base}/v1/messages`, for Claude and compatible gateways.

pub mod request;
pub mod stream;

use std::borrow::Cow;

use crate::kernel::ports::{ModelInfo, Request};

use super::adapter::Dialect;
use super::connection::Connection;

/// The messages interface.
#[derive(Debug)]
pub struct Anthropic;

impl Dialect for Anthropic {
    type Decoder = stream::Messages;

    fn path(_model: &str, _streams: bool) -> Cow<'static, str> {
        "/v1/messages".into()
    }

    fn body(
        connection: &Connection,
        info: &ModelInfo,
        request: &Request,
        streams: bool,
    ) -> Vec<u8> {
        request::body(connection, info, request, streams)
    }

    fn decoder(connection: &Connection) -> Self::Decoder {
        stream::Messages::new(connection.service(), connection.model_ref())
    }
}
