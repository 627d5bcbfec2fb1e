//! Puts the tool calls of an `openai-chat` stream together. Compatible servers disagree about
//! almost everything here (missing or repeated indexes, ids and names, arguments as text, as an
//! object or glued together), so calls are told apart by what is there and never by a default.

use crate::kernel::message::{CallId, ToolCall};

use super::args::{ObjectScan, finish_call};
use super::wire_ids;

/// One piece of a call as it arrived. Empty ids and names count as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallPiece {
    /// The server's own index, when given.
    pub index: Option<u64>,
    /// The call's id, when given.
    pub id: Option<String>,
    /// The tool's name, when given.
    pub name: Option<String>,
    /// Argument text; an object was turned into text before.
    pub arguments: String,
}

/// What a piece did, for the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A call begins.
    Started {
        /// Its place among the calls of this answer.
        slot: usize,
        /// Its name; empty while unknown.
        name: String,
    },
    /// Arguments grew.
    Grew {
        /// Its place among the calls of this answer.
        slot: usize,
        /// Bytes added.
        bytes: usize,
    },
}

#[derive(Debug)]
struct Slot {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: String,
    scan: ObjectScan,
    taken: bool,
}

/// The calls of one answer, in order of first appearance.
#[derive(Debug, Default)]
pub struct Assembler {
    slots: Vec<Slot>,
    used_ids: Vec<String>,
}

impl Assembler {
    /// Takes one piece. A piece that holds several glued objects becomes several calls.
    pub fn push(&mut self, piece: CallPiece) -> Vec<Progress> {
        let id = piece.id.filter(|id| !id.is_empty());
        let name = piece.name.filter(|name| !name.is_empty());
        let mut progress = Vec::new();
        let mut slot = match self.find(piece.index, id.as_deref(), name.as_deref()) {
            Some(slot) => slot,
            None => self.open(piece.index, id.clone(), name.clone(), &mut progress),
        };
        if self.is_repeat(slot, &piece.arguments) {
            return progress;
        }
        let mut from = 0;
        for (at, byte) in piece.arguments.bytes().enumerate() {
            let begins_another = byte == b'{' && self.slots[slot].scan.is_complete();
            if begins_another {
                self.append(slot, &piece.arguments[from..at], &mut progress);
                from = at;
                let name = name.clone().unwrap_or_else(|| self.slots[slot].name.clone());
                slot = self.open(piece.index, None, Some(name), &mut progress);
            }
            self.slots[slot].scan.step(byte);
        }
        self.append(slot, &piece.arguments[from..], &mut progress);
        if let Some(open) = self.slots.get_mut(slot) {
            fill(open, id, name);
        }
        progress
    }

    /// The calls that are not yet taken, finished; ids are made up where missing and made distinct
    /// where used twice. `drop_slot` names a call that is unfinished and must not be returned.
    pub fn take(&mut self, drop_slot: Option<usize>) -> Vec<(usize, ToolCall)> {
        let mut calls = Vec::new();
        let mut order: Vec<usize> = (0..self.slots.len()).collect();
        // Services number their calls; without numbers the order of arrival counts.
        if self.slots.iter().all(|slot| slot.index.is_some()) {
            order.sort_by_key(|at| self.slots[*at].index);
        }
        for at in order {
            if std::mem::replace(&mut self.slots[at].taken, true) || drop_slot == Some(at) {
                continue;
            }
            let id = wire_ids::distinct(self.slots[at].id.clone(), at, &mut self.used_ids);
            let slot = &self.slots[at];
            calls.push((at, finish_call(CallId(id), slot.name.clone(), &slot.arguments)));
        }
        calls
    }

    fn find(&self, index: Option<u64>, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        let named = id.and_then(|id| {
            let same_index = |slot: &Slot| index.is_none() || slot.index == index;
            self.slots.iter().rposition(|slot| slot.id.as_deref() == Some(id) && same_index(slot))
        });
        if named.is_some() || (index.is_none() && id.is_some()) {
            return named;
        }
        let at = match index {
            Some(_) => self.slots.iter().rposition(|slot| slot.index == index)?,
            None => self.slots.len().checked_sub(1)?,
        };
        let slot = &self.slots[at];
        if id.is_some() && slot.id.is_some() {
            return None;
        }
        // Servers that neither count nor name their calls are told apart by the tool's name here
        // and by whole objects in `push`.
        let other_name = name.is_some_and(|new| !slot.name.is_empty() && new != slot.name);
        let may_follow = id.is_none() && (index.is_none() || slot.id.is_none());
        let next = other_name && may_follow && !slot.scan.is_open();
        (!next).then_some(at)
    }

    fn open(
        &mut self,
        index: Option<u64>,
        id: Option<String>,
        name: Option<String>,
        progress: &mut Vec<Progress>,
    ) -> usize {
        let slot = self.slots.len();
        let name = name.unwrap_or_default();
        progress.push(Progress::Started { slot, name: name.clone() });
        let (arguments, scan) = (String::new(), ObjectScan::default());
        self.slots.push(Slot { index, id, name, arguments, scan, taken: false });
        slot
    }

    /// Some servers send all arguments once more at the end.
    fn is_repeat(&self, slot: usize, arguments: &str) -> bool {
        let slot = &self.slots[slot];
        slot.id.is_some()
            && slot.scan.is_complete()
            && !arguments.is_empty()
            && arguments == slot.arguments
    }

    fn append(&mut self, slot: usize, text: &str, progress: &mut Vec<Progress>) {
        if text.is_empty() {
            return;
        }
        self.slots[slot].arguments.push_str(text);
        progress.push(Progress::Grew { slot, bytes: text.len() });
    }
}

/// Sets what is not known yet; a name or id once held is never replaced.
fn fill(slot: &mut Slot, id: Option<String>, name: Option<String>) {
    if slot.id.is_none() {
        slot.id = id;
    }
    if slot.name.is_empty() {
        slot.name = name.unwrap_or_default();
    }
}
