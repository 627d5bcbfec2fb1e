//! The `openai-responses` dialect: `POST {base}/responses`, an answer as a list of items. Nothing is
//! stored at the service: every request carries the whole history, encrypted reasoning included.

pub mod event;
pub mod items;
pub mod request;
pub mod stream;

use std::borrow::Cow;

use crate::kernel::error::ModelError;

use super::adapter::{Dialect, Question};
use super::connection::Connection;

/// The responses interface.
#[derive(Debug)]
pub struct OpenAiResponses;

impl Dialect for OpenAiResponses {
    type Decoder = stream::Response;

    fn path(_model: &str, _streams: bool) -> Cow<'static, str> {
        "/responses".into()
    }

    fn body(question: &Question<'_>) -> Vec<u8> {
        request::body(question)
    }

    fn refused(error: &ModelError) -> Option<&'static str> {
        request::refused(error)
    }

    fn decoder(connection: &Connection) -> Self::Decoder {
        stream::Response::new(connection.service(), connection.model_ref())
    }
}
