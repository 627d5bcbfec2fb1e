//! The two inboxes of waiting user messages. An item can be edited until its delivery begins and
//! leaves its queue only when it was committed.

use super::command::QueueEdit;
use super::event::{QueueItem, QueueKind};
use super::message::QueueId;

/// How many items one boundary delivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// All that wait.
    #[default]
    All,
    /// The oldest one.
    One,
}

#[derive(Clone, Debug)]
struct Waiting {
    item: QueueItem,
    /// Order of arrival over both queues.
    seq: u64,
    /// Being committed right now: no longer the user's to change.
    in_delivery: bool,
}

/// Steering and follow-ups.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    steer: Vec<Waiting>,
    follow: Vec<Waiting>,
    next_seq: u64,
    /// Steering arrived since the last delivery of steering began.
    fresh_steering: bool,
}

/// What an edit did.
#[derive(Debug, Default)]
pub(crate) struct Edited {
    /// Something is different now.
    pub(crate) changed: bool,
    /// Items handed back by `TakeAll`.
    pub(crate) returned: Option<Vec<QueueItem>>,
}

impl Queues {
    /// Adds an item at the end of its queue.
    pub(crate) fn push(&mut self, item: QueueItem) {
        let waiting = Waiting { item, seq: self.next_seq, in_delivery: false };
        self.next_seq += 1;
        self.place(waiting);
    }

    /// All items in delivery order.
    pub(crate) fn items(&self) -> Vec<QueueItem> {
        self.steer.iter().chain(&self.follow).map(|waiting| waiting.item.clone()).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.steer.is_empty() && self.follow.is_empty()
    }

    pub(crate) fn has_steering(&self) -> bool {
        !self.steer.is_empty()
    }

    /// Whether steering came that no delivery has seen.
    pub(crate) fn has_fresh_steering(&self) -> bool {
        self.fresh_steering && !self.steer.is_empty()
    }

    /// Marks the items of the next delivery and copies them; they stay in the queue.
    pub(crate) fn begin_delivery(&mut self, kind: QueueKind, delivery: Delivery) -> Vec<QueueItem> {
        if kind == QueueKind::Steer {
            self.fresh_steering = false;
        }
        let count = match delivery {
            Delivery::All => usize::MAX,
            Delivery::One => 1,
        };
        let mut items = Vec::new();
        for waiting in self.of(kind).iter_mut().take(count) {
            waiting.in_delivery = true;
            items.push(waiting.item.clone());
        }
        items
    }

    /// The item was committed.
    pub(crate) fn delivered(&mut self, id: &QueueId) {
        self.steer.retain(|waiting| &waiting.item.id != id);
        self.follow.retain(|waiting| &waiting.item.id != id);
    }

    /// The delivery stopped half way: what was not committed is the user's again.
    pub(crate) fn release(&mut self) {
        for waiting in self.steer.iter_mut().chain(&mut self.follow) {
            waiting.in_delivery = false;
        }
    }

    /// Carries out an edit. Unknown ids and items in delivery are left alone.
    pub(crate) fn edit(&mut self, edit: QueueEdit) -> Edited {
        match edit {
            QueueEdit::TakeAll => {
                let mut taken = Self::drain(&mut self.steer);
                taken.extend(Self::drain(&mut self.follow));
                taken.sort_by_key(|waiting| waiting.seq);
                let items: Vec<_> = taken.into_iter().map(|waiting| waiting.item).collect();
                Edited { changed: !items.is_empty(), returned: Some(items) }
            }
            QueueEdit::Clear { kind } => {
                let changed = !Self::drain(self.of(kind)).is_empty();
                Edited { changed, returned: None }
            }
            QueueEdit::Edit { id, text } => self.take(&id, |queues, at, mut waiting| {
                waiting.item.text = text;
                queues.of(waiting.item.kind).insert(at, waiting);
            }),
            QueueEdit::Remove { id } => self.take(&id, |_, _, _| {}),
            QueueEdit::SetKind { id, kind } => self.take(&id, |queues, at, mut waiting| {
                if waiting.item.kind == kind {
                    queues.of(kind).insert(at, waiting);
                } else {
                    waiting.item.kind = kind;
                    queues.place(waiting);
                }
            }),
            QueueEdit::Move { id, to } => self.take(&id, |queues, _, waiting| {
                let queue = queues.of(waiting.item.kind);
                // What is being delivered stays in front.
                let fixed = queue.iter().take_while(|other| other.in_delivery).count();
                let to = to.clamp(fixed, queue.len());
                queue.insert(to, waiting);
            }),
        }
    }

    fn of(&mut self, kind: QueueKind) -> &mut Vec<Waiting> {
        match kind {
            QueueKind::Steer => &mut self.steer,
            QueueKind::FollowUp => &mut self.follow,
        }
    }

    fn place(&mut self, waiting: Waiting) {
        let kind = waiting.item.kind;
        if kind == QueueKind::Steer {
            self.fresh_steering = true;
        }
        self.of(kind).push(waiting);
    }

    fn drain(queue: &mut Vec<Waiting>) -> Vec<Waiting> {
        let (kept, taken) = std::mem::take(queue).into_iter().partition(|w| w.in_delivery);
        *queue = kept;
        taken
    }

    fn take(&mut self, id: &QueueId, put: impl FnOnce(&mut Self, usize, Waiting)) -> Edited {
        for kind in [QueueKind::Steer, QueueKind::FollowUp] {
            let queue = self.of(kind);
            let found = queue.iter().position(|w| &w.item.id == id && !w.in_delivery);
            if let Some(at) = found {
                let waiting = queue.remove(at);
                put(self, at, waiting);
                return Edited { changed: true, returned: None };
            }
        }
        Edited::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str, kind: QueueKind) -> QueueItem {
        QueueItem { id: id.into(), kind, text: id.to_owned() }
    }

    fn ids(queues: &Queues) -> Vec<String> {
        queues.items().into_iter().map(|item| item.id.0).collect()
    }

    fn filled() -> Queues {
        let mut queues = Queues::default();
        queues.push(item("f1", QueueKind::FollowUp));
        queues.push(item("s1", QueueKind::Steer));
        queues.push(item("s2", QueueKind::Steer));
        queues
    }

    #[test]
    fn items_can_be_edited_moved_and_taken_out() {
        let mut queues = filled();
        assert_eq!(ids(&queues), ["s1", "s2", "f1"]);
        queues.edit(QueueEdit::Move { id: "s2".into(), to: 0 });
        assert_eq!(ids(&queues), ["s2", "s1", "f1"]);
        queues.edit(QueueEdit::SetKind { id: "s2".into(), kind: QueueKind::FollowUp });
        assert_eq!(ids(&queues), ["s1", "f1", "s2"]);
        queues.edit(QueueEdit::Edit { id: "f1".into(), text: "new".into() });
        assert_eq!(queues.items()[1].text, "new");
        queues.edit(QueueEdit::Remove { id: "s1".into() });
        let returned = queues.edit(QueueEdit::TakeAll).returned.unwrap();
        let order: Vec<_> = returned.iter().map(|item| item.id.as_str()).collect();
        assert_eq!(order, ["f1", "s2"], "in the order they were queued");
        assert!(queues.is_empty());
    }

    #[test]
    fn an_item_in_delivery_is_not_handed_out_a_second_time() {
        let mut queues = filled();
        let going = queues.begin_delivery(QueueKind::Steer, Delivery::One);
        assert_eq!(going[0].id.as_str(), "s1");
        assert!(!queues.edit(QueueEdit::Remove { id: "s1".into() }).changed);
        assert_eq!(queues.edit(QueueEdit::TakeAll).returned.unwrap().len(), 2);
        assert_eq!(ids(&queues), ["s1"]);
        queues.release();
        assert_eq!(queues.edit(QueueEdit::TakeAll).returned.unwrap().len(), 1);
    }
}
