//! The view of a history that goes to the model: the system prompt of the session, byte for byte
//! the same every time, and the whole history.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::kernel::error::ContextError;
use crate::kernel::message::Message;
use crate::kernel::ports::{Context, Projection, SystemBlock, View};

/// The context of one session.
#[derive(Clone, Debug)]
pub struct SessionContext {
    system: Arc<[SystemBlock]>,
}

impl SessionContext {
    /// A context with these system blocks; blank ones are left out, since services refuse them.
    pub fn new(system: Vec<SystemBlock>) -> Self {
        let system = system.into_iter().filter(|block| !block.text.trim().is_empty()).collect();
        Self { system }
    }
}

impl Context for SessionContext {
    fn project<'a>(
        &'a self,
        history: &'a [Arc<Message>],
        _view: View<'a>,
    ) -> BoxFuture<'a, Result<Projection, ContextError>> {
        let projection = Projection { system: self.system.to_vec(), messages: history.to_vec() };
        Box::pin(std::future::ready(Ok(projection)))
    }
}
