//! Results of looks that are used a second time: the same question, asked of an unchanged world,
//! is answered without running the tool again.
//!
//! A *generation* lasts until something may have changed: a call with side effects starts or ends,
//! or a person writes. A result is good within its generation only; one that carries no
//! fingerprint is good within its turn only. Questions that are equal and under way at the same
//! time share one run. Failures are never kept.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::message::{CallId, CallStatus, ToolCall};
use super::ports::{ToolOutcome, Toolbox};

/// The cache of a session; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cache(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    generation: u64,
    entries: HashMap<String, Entry>,
}

#[derive(Clone, Debug)]
enum Entry {
    /// Under way. The value comes with the end; a closed channel means that nothing came of it.
    Flying {
        id: CallId,
        outcome: watch::Receiver<Option<ToolOutcome>>,
    },
    Kept {
        id: CallId,
        outcome: ToolOutcome,
        fingerprint: Option<String>,
    },
}

/// What an asker has to do.
enum Plan {
    Run { generation: u64, tell: watch::Sender<Option<ToolOutcome>> },
    Await(watch::Receiver<Option<ToolOutcome>>),
    Use { outcome: ToolOutcome, fingerprint: Option<String> },
}

impl Cache {
    /// Something may have changed: nothing that is known counts any more.
    pub(crate) fn invalidate(&self) {
        let mut state = self.lock();
        state.generation += 1;
        state.entries.clear();
    }

    /// Another turn begins: only results that can prove themselves stay.
    pub(crate) fn new_turn(&self) {
        self.lock()
            .entries
            .retain(|_, entry| matches!(entry, Entry::Kept { fingerprint: Some(_), .. }));
    }

    /// These calls never happened.
    pub(crate) fn forget(&self, calls: &[CallId]) {
        self.lock().entries.retain(|_, entry| {
            let (Entry::Flying { id, .. } | Entry::Kept { id, .. }) = entry;
            !calls.contains(id)
        });
    }

    /// The answer to `call`, and whether it is an earlier one. `run` is carried out at most once.
    pub(crate) async fn answer(
        &self,
        tools: &dyn Toolbox,
        call: ToolCall,
        key: String,
        cancel: &CancellationToken,
        run: BoxFuture<'_, ToolOutcome>,
    ) -> (ToolOutcome, bool) {
        let before = tools.fingerprint(&call).await;
        loop {
            match self.plan(&key, &call.id) {
                Plan::Run { generation, tell } => {
                    let outcome = run.await;
                    let after = tools.fingerprint(&call).await;
                    let fingerprint = before.filter(|before| Some(before) == after.as_ref());
                    self.keep(key, call.id, generation, &outcome, fingerprint);
                    if outcome.status == CallStatus::Ok {
                        tell.send_replace(Some(outcome.clone()));
                    }
                    return (outcome, false);
                }
                Plan::Await(mut flying) => {
                    tokio::select! {
                        biased;
                        () = cancel.cancelled() => return (cancelled(), false),
                        landed = flying.wait_for(Option::is_some) => {
                            if let Some(outcome) = landed.ok().and_then(|outcome| outcome.clone()) {
                                return (outcome, true);
                            }
                        }
                    }
                    // Nothing came of it: this one runs for itself.
                    self.drop_dead(&key);
                }
                Plan::Use { outcome, fingerprint } => {
                    if fingerprint.is_none() || fingerprint == before {
                        return (outcome, true);
                    }
                    self.lock().entries.remove(&key);
                }
            }
        }
    }

    fn plan(&self, key: &str, id: &CallId) -> Plan {
        let mut state = self.lock();
        match state.entries.get(key) {
            Some(Entry::Flying { outcome, .. }) => Plan::Await(outcome.clone()),
            Some(Entry::Kept { outcome, fingerprint, .. }) => {
                Plan::Use { outcome: outcome.clone(), fingerprint: fingerprint.clone() }
            }
            None => {
                let (tell, outcome) = watch::channel(None);
                let entry = Entry::Flying { id: id.clone(), outcome };
                state.entries.insert(key.to_owned(), entry);
                Plan::Run { generation: state.generation, tell }
            }
        }
    }

    /// Keeps a good result, unless the world has changed since its run began.
    fn keep(
        &self,
        key: String,
        id: CallId,
        generation: u64,
        outcome: &ToolOutcome,
        fingerprint: Option<String>,
    ) {
        let mut state = self.lock();
        if state.generation != generation {
            return;
        }
        if outcome.status == CallStatus::Ok {
            let outcome = outcome.clone();
            state.entries.insert(key, Entry::Kept { id, outcome, fingerprint });
        } else {
            state.entries.remove(&key);
        }
    }

    /// Removes a run that ended without a word (its task was dropped).
    fn drop_dead(&self, key: &str) {
        let mut state = self.lock();
        if let Some(Entry::Flying { outcome, .. }) = state.entries.get(key)
            && outcome.has_changed().is_err()
        {
            state.entries.remove(key);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of a call that waited for another one's run.
fn cancelled() -> ToolOutcome {
    ToolOutcome::new(CallStatus::Cancelled, Vec::new())
}

/// The arguments in one form whatever order the model wrote them in; absent and `null` are the
/// same.
pub fn canonical(args: &Map<String, Value>) -> String {
    let mut out = String::new();
    object(args, &mut out);
    out
}

fn object(map: &Map<String, Value>, out: &mut String) {
    let sorted: BTreeMap<&String, &Value> = map.iter().filter(|(_, v)| !v.is_null()).collect();
    out.push('{');
    for (at, (key, value)) in sorted.into_iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        // Writing into a string can't fail.
        let _ = write!(out, "{comma}{}:", Value::from(key.as_str()));
        any(value, out);
    }
    out.push('}');
}

fn any(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => object(map, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                any(item, out);
            }
            out.push(']');
        }
        plain => {
            let _ = write!(out, "{plain}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).unwrap()
    }

    /// Scenario K08.
    #[test]
    fn the_order_of_keys_makes_no_difference_at_any_depth() {
        let a = canonical(&args(r#"{"b": {"y": 1, "x": [2, {"q": 1, "p": "\""}]}, "a": null}"#));
        let b = canonical(&args(r#"{"b": {"x": [2, {"p": "\"", "q": 1}], "y": 1}}"#));
        assert_eq!(a, b);
        assert_ne!(a, canonical(&args(r#"{"b": {"x": [2], "y": 1}}"#)));
    }
}
