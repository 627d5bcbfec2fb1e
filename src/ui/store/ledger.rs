//! What the session has spent, by model and by purpose, and what the services' caches have saved.
//! Follows the events; the page of `/cost` is made of it.

use super::overlay::TextPanel;
use crate::kernel::event::{Event, Purpose};
use crate::kernel::message::{Message, Usage};
use crate::kernel::ports::Price;
use crate::ui::text::number::short_number;

/// One request.
fn entry(usage: Usage, price: Option<Price>) -> Entry {
    let saved = price.map_or(0.0, |price| {
        let fresh = Usage {
            input: usage.total_input(),
            output: usage.output,
            cache_read: 0,
            cache_write: 0,
        };
        price.cost(fresh) - price.cost(usage)
    });
    Entry { requests: 1, usage, cost: None, saved }
}

/// The account of a session.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The model of the newest answer is named by the answer itself, which comes after its usage.
    waiting: Option<Entry>,
    by_model: Vec<(String, Entry)>,
    by_purpose: Vec<(&'static str, Entry)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    requests: u64,
    usage: Usage,
    /// US dollars; nothing when no price is known.
    cost: Option<f64>,
    /// US dollars that it would have cost more without a cache; less than nothing while the cache
    /// has been filled only.
    saved: f64,
}

impl Entry {
    fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.usage += other.usage;
        self.saved += other.saved;
        if let Some(cost) = other.cost {
            *self.cost.get_or_insert(0.0) += cost;
        }
    }

    fn line(&self) -> String {
        let plural = if self.requests == 1 { "" } else { "s" };
        let requests = format!("{} request{plural}", self.requests);
        let input = self.usage.total_input();
        let cached = (self.usage.cache_read * 100).checked_div(input).unwrap_or(0);
        let cost =
            self.cost.map_or_else(|| "price not known".to_owned(), |cost| format!("${cost:.4}"));
        format!(
            "{cost} · {requests} · {} in, {cached}% cached · {} out",
            short_number(input),
            short_number(self.usage.output)
        )
    }
}

impl Ledger {
    /// Takes in what an earlier life of the session has spent, at today's price of its model.
    pub fn load(&mut self, history: &[Message], price: Option<Price>) {
        for message in history {
            if let Message::Assistant(answer) = message {
                let cost = price.map(|price| price.cost(answer.usage));
                let entry = Entry { cost, ..entry(answer.usage, price) };
                self.answered(answer.model.to_string(), entry);
            }
        }
    }

    /// Follows the run. `price` is the one of the model of the conversation.
    pub fn apply(&mut self, event: &Event, price: Option<Price>) {
        match event {
            Event::Usage { purpose, usage, cost } => {
                let price = price.filter(|_| *purpose == Purpose::Main && cost.is_some());
                let entry = Entry { cost: *cost, ..entry(*usage, price) };
                match purpose {
                    Purpose::Main => self.waiting.get_or_insert_default().add(entry),
                    Purpose::Compress => self.spend("summaries of long output", entry),
                    Purpose::Compact => self.spend("summaries of the conversation", entry),
                    Purpose::Child => self.spend("agents", entry),
                    Purpose::Memory => self.spend("memory", entry),
                }
            }
            Event::MessageEnd { message: Message::Assistant(answer) } => {
                if let Some(entry) = self.waiting.take() {
                    self.answered(answer.model.to_string(), entry);
                }
            }
            _ => {}
        }
    }

    fn answered(&mut self, name: String, entry: Entry) {
        match self.by_model.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => known.add(entry),
            None => self.by_model.push((name, entry)),
        }
    }

    fn spend(&mut self, purpose: &'static str, entry: Entry) {
        match self.by_purpose.iter_mut().find(|(known, _)| *known == purpose) {
            Some((_, known)) => known.add(entry),
            None => self.by_purpose.push((purpose, entry)),
        }
    }

    /// The page of `/cost`.
    pub fn page(&self) -> TextPanel {
        let mut lines: Vec<(String, String)> = Vec::new();
        let mut total = Entry::default();
        for (name, entry) in &self.by_model {
            total.add(*entry);
            lines.push((name.clone(), entry.line()));
        }
        if let Some(entry) = self.waiting {
            total.add(entry);
            lines.push(("answers that broke off".to_owned(), entry.line()));
        }
        for (name, entry) in &self.by_purpose {
            total.add(*entry);
            lines.push(((*name).to_owned(), entry.line()));
        }
        if lines.is_empty() {
            lines.push((String::new(), "nothing was spent in this session yet".to_owned()));
        } else {
            lines.push((String::new(), String::new()));
            lines.push(("all".to_owned(), total.line()));
            if total.saved >= 0.0001 {
                let text = format!("${:.4} less than without the services' caches", total.saved);
                lines.push(("saved".to_owned(), text));
            }
            let text = "prices are the services' lists; [models.\"…\"] in the config file corrects \
                        them";
            lines.push((String::new(), text.to_owned()));
        }
        TextPanel { title: "Cost".to_owned(), lines, scroll: 0 }
    }
}
