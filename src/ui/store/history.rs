//! Earlier prompts of this project, newest last. Browsing starts on an empty composer and ends when
//! the recalled text is changed. The file is read and written by `ui::history_file`.

/// Most entries kept.
pub const LIMIT: usize = 1000;

/// The entries and the place of the one shown.
#[derive(Clone, Debug, Default)]
pub struct History {
    entries: Vec<String>,
    at: Option<usize>,
}

impl History {
    /// Entries from the file; they are older than everything typed since.
    pub fn load(&mut self, mut older: Vec<String>) {
        older.append(&mut self.entries);
        self.entries = older;
        self.cut();
        self.at = None;
    }

    /// Adds an entry; one with the same words moves to the end. True when it is news.
    pub fn push(&mut self, text: &str) -> bool {
        self.at = None;
        if text.trim().is_empty() || self.entries.last().is_some_and(|last| last == text) {
            return false;
        }
        self.entries.retain(|entry| entry != text);
        self.entries.push(text.to_owned());
        self.cut();
        true
    }

    fn cut(&mut self) {
        let over = self.entries.len().saturating_sub(LIMIT);
        self.entries.drain(..over);
    }

    /// Whether `shown` is the entry being browsed, unchanged.
    pub fn is_browsing(&self, shown: &str) -> bool {
        self.at.and_then(|at| self.entries.get(at)).is_some_and(|entry| entry == shown)
    }

    /// The next older entry. `shown` is what the composer holds.
    pub fn older(&mut self, shown: &str) -> Option<&str> {
        let at = if self.is_browsing(shown) { self.at? } else { self.entries.len() };
        let at = at.checked_sub(1)?;
        self.at = Some(at);
        self.entries.get(at).map(String::as_str)
    }

    /// The next newer entry; an empty text after the newest, `None` when not browsing.
    pub fn newer(&mut self, shown: &str) -> Option<&str> {
        if !self.is_browsing(shown) {
            return None;
        }
        let at = self.at? + 1;
        self.at = (at < self.entries.len()).then_some(at);
        Some(self.entries.get(at).map_or("", String::as_str))
    }

    /// Says that the composer now shows the newest entry.
    pub fn show_newest(&mut self) {
        self.at = self.entries.len().checked_sub(1);
    }

    /// All entries, oldest first.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }
}
