//! The `anthropic` dialect: `POST {base}/v1/messages`, for Claude and compatible gateways.

pub mod request;
pub mod stream;

use std::borrow::Cow;

use super::adapter::{Dialect, Question};
use super::connection::Connection;

/// The messages interface.
#[derive(Debug)]
pub struct Anthropic;

impl Dialect for Anthropic {
    type Decoder = stream::Messages;

    fn path(_model: &str, _streams: bool) -> Cow<'static, str> {
        "/v1/messages".into()
    }

    fn body(question: &Question<'_>) -> Vec<u8> {
        request::body(question)
    }

    fn decoder(connection: &Connection) -> Self::Decoder {
        stream::Messages::new(connection.service(), connection.model_ref())
    }
}
