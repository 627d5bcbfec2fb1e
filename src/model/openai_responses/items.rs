//! The items of an answer while they are written: which one an event belongs to, and how much of
//! its text was handed on already. Not here: what an item means for the loop.

use serde_json::Value;

use super::event::Piece;

/// Blocks of the answer that one item may fill: its own, then one for each part of its content.
const BLOCKS: usize = 64;

/// Places above this are no places but noise.
const MAX_PLACE: u64 = 1_000_000;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words for the user, or a refusal.
    Message,
    /// Thoughts: a summary, and what only the service can read.
    Reasoning,
    /// A call of one of our functions.
    Call,
    /// Anything else: it is passed over.
    Other,
}

impl Kind {
    /// The kind of that wire name.
    pub fn of(name: &str) -> Self {
        match name {
            "message" => Self::Message,
            "reasoning" => Self::Reasoning,
            "function_call" => Self::Call,
            _ => Self::Other,
        }
    }
}

/// Where an event says that it belongs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Address<'a> {
    /// Place in the output, when given.
    pub output_index: Option<u64>,
    /// Id of the item; empty when there is none.
    pub id: &'a str,
}

/// One item.
#[derive(Debug)]
pub struct Item {
    /// Its kind.
    pub kind: Kind,
    /// Whether its end was announced.
    pub is_done: bool,
    /// For a call: the id that its result names.
    pub call_id: String,
    /// For a call: the function.
    pub name: String,
    /// For a call: the arguments so far.
    pub arguments: String,
    output_index: Option<u64>,
    id: String,
    place: usize,
    /// The text so far of each part, by its number.
    texts: Vec<(u64, String)>,
}

impl Item {
    /// Where it stands among the items of the answer.
    pub fn place(&self) -> usize {
        self.place
    }

    /// The block of the item itself.
    pub fn block(&self) -> usize {
        self.place * BLOCKS
    }

    /// The block of a part of its content; parts beyond the last share one.
    pub fn block_of(&self, part: u64) -> usize {
        let part = usize::try_from(part).unwrap_or(BLOCKS).min(BLOCKS - 2);
        self.block() + 1 + part
    }

    /// Notes text that is handed on; true when it is the first of this part but not of the item.
    pub fn grow(&mut self, part: u64, text: &str) -> bool {
        let is_first = self.texts.is_empty();
        if let Some((_, all)) = self.texts.iter_mut().rev().find(|(at, _)| *at == part) {
            all.push_str(text);
            return false;
        }
        self.texts.push((part, text.to_owned()));
        !is_first
    }

    /// What is new in a piece of a part. Of the whole text it is what is missing at the end;
    /// nothing when what came before is not its beginning: that has been shown, and showing both
    /// helps nobody.
    pub fn news(&self, part: u64, piece: Piece) -> String {
        let whole = match piece {
            Piece::More(text) => return text,
            Piece::Whole(text) => text,
        };
        match self.texts.iter().find(|(at, _)| *at == part) {
            None => whole,
            Some((_, shown)) => whole.strip_prefix(shown.as_str()).unwrap_or_default().to_owned(),
        }
    }

    /// Takes over what an item's document says of a call and was not known.
    pub fn learn(&mut self, document: &Value) {
        let word = |key: &str| document.get(key).and_then(Value::as_str).unwrap_or_default();
        for (known, key) in
            [(&mut self.call_id, "call_id"), (&mut self.name, "name"), (&mut self.id, "id")]
        {
            if known.is_empty() {
                word(key).clone_into(known);
            }
        }
    }
}

/// All items of an answer.
#[derive(Debug, Default)]
pub struct Items {
    items: Vec<Item>,
    /// Whether two items were announced at one place: then only ids tell them apart.
    by_id: bool,
}

impl Items {
    /// All of them, in the order in which they were opened.
    pub fn iter(&self) -> impl Iterator<Item = &Item> {
        self.items.iter()
    }

    /// The item at that position of [`Self::iter`], unless it has ended.
    pub fn open_mut(&mut self, at: usize) -> Option<&mut Item> {
        self.items.get_mut(at).filter(|item| !item.is_done)
    }

    /// The position of the item of that kind an event belongs to.
    pub fn find_kind(&self, address: Address<'_>, kind: Kind) -> Option<usize> {
        self.find(address).filter(|at| self.items[*at].kind == kind)
    }

    /// The position of the item an event belongs to. Places are asked before ids: some gateways
    /// give every event an id of its own.
    pub fn find(&self, address: Address<'_>) -> Option<usize> {
        let by_id = || {
            let has_id = |item: &Item| !address.id.is_empty() && item.id == address.id;
            self.items.iter().rposition(has_id)
        };
        let by_place = || {
            let index = address.output_index?;
            self.items.iter().rposition(|item| item.output_index == Some(index))
        };
        if address.output_index.is_none() && address.id.is_empty() {
            return self.items.iter().rposition(|item| !item.is_done);
        }
        if self.by_id { by_id().or_else(by_place) } else { by_place().or_else(by_id) }
    }

    /// The position of an item that is announced: the one that is known, or a new one.
    pub fn open(&mut self, address: Address<'_>, kind: Kind) -> usize {
        let index = address.output_index.filter(|index| *index <= MAX_PLACE);
        let mut place = index.and_then(|index| usize::try_from(index).ok());
        if let Some(at) = self.find(address) {
            let item = &self.items[at];
            let differs = !item.id.is_empty() && !address.id.is_empty() && item.id != address.id;
            if !differs && (!item.is_done || !address.id.is_empty()) && item.kind == kind {
                return at;
            }
            self.by_id = true;
        }
        if self.by_id || self.items.iter().any(|item| Some(item.place) == place) {
            place = None;
        }
        let next = self.items.iter().map(|item| item.place + 1).max().unwrap_or(0);
        self.items.push(Item {
            kind,
            is_done: false,
            call_id: String::new(),
            name: String::new(),
            arguments: String::new(),
            output_index: index,
            id: address.id.to_owned(),
            place: place.unwrap_or(next),
            texts: Vec::new(),
        });
        self.items.len() - 1
    }

    /// The place of the last item.
    pub fn last_place(&self) -> Option<usize> {
        self.items.iter().map(|item| item.place).max()
    }
}
