//! What goes on beside the main thing: work beside a run, words of a tool beside its result.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::Price;
use crate::kernel::message::Usage;

/// Work that goes on beside the run and ends when it ends.
pub trait Notices: Send + Sync + Debug {
    /// What has ended and was not acknowledged, oldest first. Asking changes nothing.
    fn peek(&self) -> Vec<Finished>;

    /// The model has been told of these, durably.
    fn acknowledge(&self, ids: &[String]);
}

/// A piece of background work that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    /// Its name, as the model knows it.
    pub id: String,
    /// How it ended, one word.
    pub status: String,
    /// What came of it, some hundred characters.
    pub text: String,
}

/// Nothing goes on beside the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNotices;

impl Notices for NoNotices {
    fn peek(&self) -> Vec<Finished> {
        Vec::new()
    }

    fn acknowledge(&self, _ids: &[String]) {}
}

/// What a tool tells beside its result; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Aside(Arc<Mutex<Told>>);

/// What was told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// Tokens spent on model calls of the tool's own.
    pub spent: Usage,
    /// US dollars of those whose price is known.
    pub cost: Option<f64>,
    /// Lines for people.
    pub remarks: Vec<String>,
}

impl Aside {
    /// Books tokens of a model call.
    pub fn spend(&self, usage: Usage) {
        self.lock().spent += usage;
    }

    /// Books tokens of a model call at the price of that model.
    pub fn spend_at(&self, usage: Usage, price: Option<Price>) {
        let mut told = self.lock();
        told.spent += usage;
        if let Some(price) = price {
            *told.cost.get_or_insert(0.0) += price.cost(usage);
        }
    }

    /// Says a line to people.
    pub fn remark(&self, line: String) {
        self.lock().remarks.push(line);
    }

    /// Takes what was told so far.
    pub fn take(&self) -> Told {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
