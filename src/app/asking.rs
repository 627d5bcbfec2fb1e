//! Questions of the model on their way to the person and back: they go out as news, the answers come
//! in as requests. A call that is stopped takes its questions back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use super::service::Update;
use crate::kernel::message::CallId;
use crate::kernel::question::{Question, Replies};
use crate::tools::ask::Asks;

type Open = Arc<Mutex<HashMap<CallId, oneshot::Sender<Replies>>>>;

/// The open questions of a session.
#[derive(Clone, Debug)]
pub struct Counter {
    updates: mpsc::UnboundedSender<Update>,
    open: Open,
}

impl Counter {
    /// A counter whose questions go to `updates`.
    pub fn new(updates: mpsc::UnboundedSender<Update>) -> Self {
        Self { updates, open: Arc::default() }
    }

    /// Gives the answer to the call that asked; ignored when it no longer waits.
    pub fn answer(&self, id: &CallId, replies: Replies) {
        if let Some(waiting) = lock(&self.open).remove(id) {
            // It was stopped in this very moment.
            let _stopped = waiting.send(replies);
        }
    }
}

impl Asks for Counter {
    fn ask(&self, id: &CallId, questions: Vec<Question>) -> BoxFuture<'static, Replies> {
        let (sender, answer) = oneshot::channel();
        lock(&self.open).insert(id.clone(), sender);
        let asked = Asked { counter: self.clone(), id: id.clone() };
        let news = Update::Question { id: id.clone(), questions };
        let heard = self.updates.send(news).is_ok();
        async move {
            // Dropped with the future: whoever still shows the question is told.
            let _asked = asked;
            if heard { answer.await.unwrap_or(Replies::Nobody) } else { Replies::Nobody }
        }
        .boxed()
    }
}

/// Takes a question back when nobody waits for its answer any more.
struct Asked {
    counter: Counter,
    id: CallId,
}

impl Drop for Asked {
    fn drop(&mut self) {
        lock(&self.counter.open).remove(&self.id);
        // A front end that is gone shows nothing.
        let _gone = self.counter.updates.send(Update::QuestionClosed { id: self.id.clone() });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
