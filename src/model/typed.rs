//! Answers whose events name their kind and whose last event says that it is the last. The formats
//! of that sort share how events are taken from an answer; what an event means is theirs.

use serde::Deserialize;

use crate::kernel::error::ModelError;

use super::drive::{Decoder, Out, undecodable};
use super::error::{Service, broken, from_body};

/// A decoder of such a format.
pub trait Typed: Send + 'static {
    /// An event as it stands in the answer.
    type Wire<'a>: Deserialize<'a>;

    /// Whose answer it is.
    fn service(&self) -> &Service;

    /// Takes one event; `name` is what the stream calls it, `data` all that came with it.
    ///
    /// # Errors
    /// What the service says has gone wrong. It ends the answer.
    fn wire(
        &mut self,
        wire: Self::Wire<'_>,
        name: &str,
        data: &str,
        out: &mut Out,
    ) -> Result<(), ModelError>;

    /// Whether data that can't be read is of a kind that is passed over anyway: its fields may look
    /// like anything.
    fn is_foreign(data: &str) -> bool;

    /// Whether the last event was seen.
    fn is_over(&self) -> bool;
}

impl<T: Typed> Decoder for T {
    fn event(&mut self, name: &str, data: &str, out: &mut Out) -> Result<(), ModelError> {
        let text = data.trim();
        if text.is_empty() || text == "[DONE]" {
            return Ok(());
        }
        // Usually one document; some servers put several into one event.
        for document in serde_json::Deserializer::from_str(text).into_iter::<T::Wire<'_>>() {
            match document {
                Ok(wire) => self.wire(wire, name, text, out)?,
                Err(_) if name == "error" => return Err(from_body(self.service(), text)),
                Err(error) if !T::is_foreign(text) => {
                    return Err(undecodable(self.service(), text, &error));
                }
                Err(_) => return Ok(()),
            }
            if self.is_over() {
                break;
            }
        }
        Ok(())
    }

    fn end(&mut self, _out: &mut Out) -> Result<(), ModelError> {
        if self.is_over() {
            return Ok(());
        }
        Err(broken(self.service(), "it ended before it was complete"))
    }

    fn is_settled(&self) -> bool {
        false
    }

    fn is_done(&self) -> bool {
        self.is_over()
    }
}
