//! Caps on what one run may use: tokens, money, time. Looked at before every turn; at 80 % of a cap
//! there is a warning, once.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::message::Usage;

/// The share of a cap at which people are warned, in percent.
const WARN_AT: f64 = 80.0;

/// What a run may use. No cap by default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Tokens in and out, cached ones too.
    pub tokens: Option<u64>,
    /// US dollars; counts only where the model's price is known.
    pub cost: Option<f64>,
    /// Time since the start, without the time spent waiting for the user.
    pub wall: Option<Duration>,
}

/// One of the caps on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cap {
    /// Model calls.
    Turns,
    /// Tokens in and out.
    Tokens,
    /// US dollars.
    Cost,
    /// Seconds.
    Seconds,
}

impl Cap {
    /// What is counted, for people.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Turns => "turns",
            Self::Tokens => "tokens",
            Self::Cost => "US dollars",
            Self::Seconds => "seconds",
        }
    }
}

/// A cap that ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reached {
    /// Which one.
    pub cap: Cap,
    /// What it was, in its own unit.
    pub value: f64,
}

/// All caps on a run. They may change while it goes on; every turn looks at them anew.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Turns.
    pub max_turns: u32,
    /// The rest.
    pub budget: Budget,
}

impl Limits {
    /// Changes one cap; false, and nothing changed, when the value is none.
    pub fn set(&mut self, cap: Cap, value: f64) -> bool {
        let least = if cap == Cap::Turns || cap == Cap::Tokens { 1.0 } else { f64::MIN_POSITIVE };
        if !value.is_finite() || value < least {
            return false;
        }
        match cap {
            Cap::Turns => self.max_turns = value as u32,
            Cap::Tokens => self.budget.tokens = Some(value as u64),
            Cap::Cost => self.budget.cost = Some(value),
            Cap::Seconds => match Duration::try_from_secs_f64(value) {
                Ok(wall) => self.budget.wall = Some(wall),
                Err(_) => return false,
            },
        }
        true
    }
}

/// What a run has used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    pub(crate) usage: Usage,
    /// US dollars, as far as prices are known.
    pub(crate) cost: Option<f64>,
    pub(crate) wall: Duration,
}

/// Compares what was used with what may be used.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    warned: [bool; 3],
}

/// What a look at the caps brought.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Reading {
    /// Lines for people.
    pub(crate) warnings: Vec<String>,
    /// Why the run must end.
    pub(crate) over: Option<Reached>,
}

/// The line that ends a run at this cap.
pub(crate) fn used_up(Reached { cap, value }: Reached) -> String {
    let (digits, unit) = (digits(cap), cap.unit());
    format!(
        "the run has used up its budget of {value:.digits$} {unit}; raise the limit or continue \
         with a new run"
    )
}

fn digits(cap: Cap) -> usize {
    if cap == Cap::Cost { 2 } else { 0 }
}

impl Meter {
    pub(crate) fn read(&mut self, budget: &Budget, spent: &Spent) -> Reading {
        let tokens = (spent.usage.total_input() + spent.usage.output) as f64;
        let wall = spent.wall.as_secs_f64();
        let rows = [
            (Cap::Tokens, Some(tokens), budget.tokens.map(|cap| cap as f64)),
            (Cap::Cost, spent.cost, budget.cost),
            (Cap::Seconds, Some(wall), budget.wall.map(|cap| cap.as_secs_f64())),
        ];
        let mut reading = Reading::default();
        for (at, (cap, used, value)) in rows.into_iter().enumerate() {
            let (Some(used), Some(value)) = (used, value) else { continue };
            if used >= value {
                reading.over.get_or_insert(Reached { cap, value });
            } else if used < value * WARN_AT / 100.0 {
                // A raised cap warns again.
                self.warned[at] = false;
            } else if !std::mem::replace(&mut self.warned[at], true) {
                let (digits, unit) = (digits(cap), cap.unit());
                let line =
                    format!("{used:.digits$} of {value:.digits$} {unit} of this run are used");
                reading.warnings.push(line);
            }
        }
        reading
    }
}
