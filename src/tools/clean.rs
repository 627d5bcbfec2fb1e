//! From the bytes a command writes to lines of plain text: UTF-8 decoded piece by piece, escape
//! sequences and other controls dropped, a carriage return folded into the last state of its line.

/// A sequence that never ends must not swallow the output after it.
const LONGEST_SEQUENCE: usize = 4096;

/// Where the cleaner is within an escape sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Plain text.
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// After ESC and one of the characters that take one more.
    Charset,
    /// Between `ESC [` and its final character.
    Csi,
    /// In a string that ends with BEL or `ESC \`.
    Text,
    /// After ESC within such a string.
    TextEscape,
}

/// Cleans one stream. Whole lines are in `text` up to `line_start`; the rest is the open line.
#[derive(Debug, Default)]
pub struct Cleaner {
    text: String,
    line_start: usize,
    state: State,
    sequence: usize,
    /// A carriage return whose effect depends on what follows.
    returned: bool,
    /// The beginning of a character whose rest has not arrived.
    partial: Vec<u8>,
    lossy: bool,
}

impl Cleaner {
    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.partial.is_empty() {
            self.decode(bytes);
        } else {
            let mut joined = std::mem::take(&mut self.partial);
            joined.extend_from_slice(bytes);
            self.decode(&joined);
        }
    }

    /// Nothing follows: an unfinished character becomes a replacement.
    pub fn finish(&mut self) {
        if !std::mem::take(&mut self.partial).is_empty() {
            self.replace();
        }
    }

    /// Takes the whole lines out.
    pub fn take_lines(&mut self) -> String {
        let open = self.text.split_off(self.line_start);
        self.line_start = 0;
        std::mem::replace(&mut self.text, open)
    }

    /// Takes all but the last `keep` bytes out, the open line included.
    pub fn take_all_but(&mut self, keep: usize) -> String {
        let end = super::output::floor(&self.text, self.text.len().saturating_sub(keep));
        let rest = self.text.split_off(end);
        self.line_start = 0;
        std::mem::replace(&mut self.text, rest)
    }

    /// The line that has not ended yet.
    pub fn open_line(&self) -> &str {
        &self.text[self.line_start..]
    }

    /// Whether bytes that are not UTF-8 were replaced.
    pub fn is_lossy(&self) -> bool {
        self.lossy
    }

    fn decode(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let error = match std::str::from_utf8(bytes) {
                Ok(text) => return self.feed(text),
                Err(error) => error,
            };
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            if let Ok(text) = std::str::from_utf8(valid) {
                self.feed(text);
            }
            let Some(bad) = error.error_len() else {
                self.partial.extend_from_slice(rest);
                return;
            };
            self.replace();
            bytes = &rest[bad..];
        }
    }

    fn replace(&mut self) {
        self.lossy = true;
        self.feed("\u{fffd}");
    }

    fn feed(&mut self, mut text: &str) {
        while !text.is_empty() {
            if self.state == State::Ground && !self.returned {
                // C1 controls begin with 0xC2, like harmless letters: those take the slow way.
                let is_special = |b: u8| b < 0x20 || b == 0x7f || b == 0xc2;
                let plain = text.bytes().position(is_special).unwrap_or(text.len());
                self.text.push_str(&text[..plain]);
                text = &text[plain..];
            }
            let Some(first) = text.chars().next() else { return };
            self.step(first);
            text = &text[first.len_utf8()..];
        }
    }

    fn step(&mut self, c: char) {
        self.sequence = if self.state == State::Ground { 0 } else { self.sequence + 1 };
        if self.state != State::Ground && (c == '\n' || self.sequence > LONGEST_SEQUENCE) {
            self.state = State::Ground;
        }
        self.state = match (self.state, c) {
            (State::Ground, _) => self.ground(c),
            (State::Escape, '[') => State::Csi,
            (State::Escape, ']' | 'P' | 'X' | '^' | '_') => State::Text,
            (State::Escape, ' ' | '#' | '%' | '('..='/') => State::Charset,
            (State::Escape | State::Csi | State::Charset, '\u{1b}') => State::Escape,
            (State::Escape | State::Charset, _)
            | (State::Csi, '@'..='~')
            | (State::Text, '\u{7}' | '\u{9c}')
            | (State::TextEscape, '\\') => State::Ground,
            (State::Csi, _) => State::Csi,
            (State::Text, '\u{1b}') => State::TextEscape,
            (State::Text | State::TextEscape, _) => State::Text,
        };
    }

    fn ground(&mut self, c: char) -> State {
        match c {
            '\u{1b}' => return State::Escape,
            '\u{9b}' => return State::Csi,
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => return State::Text,
            '\n' => {
                self.returned = false;
                self.text.push('\n');
                self.line_start = self.text.len();
            }
            '\r' => self.returned = true,
            '\u{8}' => {
                if self.text.len() > self.line_start {
                    self.text.pop();
                }
            }
            '\t' => self.write(c),
            c if c.is_control() => {}
            c => self.write(c),
        }
        State::Ground
    }

    fn write(&mut self, c: char) {
        if std::mem::take(&mut self.returned) {
            self.text.truncate(self.line_start);
        }
        self.text.push(c);
    }
}
