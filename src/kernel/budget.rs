//! Caps on what one run may use: tokens, money, time. Looked at before every turn; at 80 % of a cap
//! there is a warning, once.

use std::time::Duration;

use super::message::Usage;
use super::ports::Price;

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

/// What a run has used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    pub(crate) usage: Usage,
    pub(crate) price: Option<Price>,
    pub(crate) wall: Duration,
}

/// Compares what was used with what may be used.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    warned: [bool; 3],
}

/// What a look at the caps brought.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Lines for people.
    pub(crate) warnings: Vec<String>,
    /// Why the run must end.
    pub(crate) over: Option<String>,
}

impl Meter {
    pub(crate) fn read(&mut self, budget: &Budget, spent: &Spent) -> Reading {
        let tokens = (spent.usage.total_input() + spent.usage.output) as f64;
        let cost = spent.price.map(|price| price.cost(spent.usage));
        let wall = spent.wall.as_secs_f64();
        let of = |used: f64, cap: Option<f64>| cap.map(|cap| (used, cap));
        let rows = [
            (of(tokens, budget.tokens.map(|cap| cap as f64)), "tokens", 0),
            (cost.and_then(|cost| of(cost, budget.cost)), "US dollars", 2),
            (of(wall, budget.wall.map(|cap| cap.as_secs_f64())), "seconds", 0),
        ];
        let mut reading = Reading::default();
        for (at, (row, unit, digits)) in rows.into_iter().enumerate() {
            let Some((used, cap)) = row else { continue };
            if used >= cap {
                reading.over.get_or_insert_with(|| {
                    format!(
                        "the run has used up its budget of {cap:.digits$} {unit}; raise the limit or \
                         continue with a new run"
                    )
                });
            } else if used >= cap * WARN_AT / 100.0
                && !std::mem::replace(&mut self.warned[at], true)
            {
                let line = format!("{used:.digits$} of {cap:.digits$} {unit} of this run are used");
                reading.warnings.push(line);
            }
        }
        reading
    }
}
