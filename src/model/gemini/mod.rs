//! The `gemini` dialect: `POST {base}/v1beta/models/{model}:streamGenerateContent?alt=sse`.

pub mod request;
pub mod schema;
pub mod stream;

use std::borrow::Cow;
use std::fmt::Write;

use super::adapter::{Dialect, Question};
use super::connection::Connection;

/// The generateContent interface.
#[derive(Debug)]
pub struct Gemini;

impl Dialect for Gemini {
    type Decoder = stream::Generation;

    fn path(model: &str, streams: bool) -> Cow<'static, str> {
        place(model, streams).into()
    }

    /// Whether it streams is said by the address.
    fn body(question: &Question<'_>) -> Vec<u8> {
        request::body(question)
    }

    fn decoder(connection: &Connection) -> Self::Decoder {
        stream::Generation::new(connection.service(), connection.model_ref())
    }
}

/// Where the model is asked. A name may come with the kind of its resource (`tunedModels/x`).
fn place(model: &str, streams: bool) -> String {
    let method = if streams { "streamGenerateContent?alt=sse" } else { "generateContent" };
    let name = if model.contains('/') { model.to_owned() } else { format!("models/{model}") };
    let mut path = String::from("/v1beta/");
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            path.push(char::from(byte));
        } else {
            let _ = write!(path, "%{byte:02X}");
        }
    }
    format!("{path}:{method}")
}
