//! The one door for text from outside (model, tools, files, services). Behind it no escape
//! sequence, control character, bidi or zero-width control is left; tabs and line ends stay, and
//! tabs become blanks when a line is built (stops of 4 columns, [`super::width::TAB`]).
//!
//! A sequence never reaches over a line end, so an unfinished one hides at most its own line.

use std::borrow::Cow;

const ZWJ: char = '\u{200d}';
const VS16: char = '\u{fe0f}';

/// Cleans text that arrives in pieces; where the pieces are cut makes no difference.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cleaner {
    state: State,
    last: Option<char>,
    held: Option<char>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// In a control sequence, until its final byte.
    Csi,
    /// In a string (title, clipboard, …), until BEL or ST.
    Str,
    /// In a string, after ESC.
    StrEscape,
}

impl Cleaner {
    /// Appends the clean form of `text` to `out`.
    pub fn push(&mut self, text: &str, out: &mut String) {
        let mut rest = text;
        while !rest.is_empty() {
            if self.state == State::Ground && self.held.is_none() {
                let plain = rest.bytes().take_while(|byte| is_plain(*byte)).count();
                if plain > 0 {
                    out.push_str(&rest[..plain]);
                    self.last = rest[..plain].chars().next_back();
                    rest = &rest[plain..];
                    continue;
                }
            }
            let Some(c) = rest.chars().next() else { break };
            self.char(c, out);
            rest = &rest[c.len_utf8()..];
        }
    }

    /// Says that nothing follows.
    pub fn finish(&mut self, out: &mut String) {
        if self.held.take() == Some('\r') {
            out.push('\n');
        }
        *self = Self::default();
    }

    fn char(&mut self, c: char, out: &mut String) {
        match self.held.take() {
            // CR LF is one line end, a lone CR too: it must not overwrite what stands before it.
            Some('\r') if c != '\n' => self.keep('\n', out),
            Some(ZWJ) if is_emoji(c) => self.keep(ZWJ, out),
            _ => {}
        }
        if matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}') {
            self.state = State::Ground;
            if c == '\r' {
                self.held = Some(c);
            } else {
                self.keep('\n', out);
            }
            return;
        }
        self.state = match self.state {
            State::Ground => self.ground(c, out),
            State::Escape => after_escape(c),
            State::Csi if ('\u{40}'..='\u{7e}').contains(&c) => State::Ground,
            State::Csi => State::Csi,
            State::StrEscape if c == '\\' => State::Ground,
            State::Str | State::StrEscape => match c {
                '\u{7}' | '\u{9c}' => State::Ground,
                '\u{1b}' => State::StrEscape,
                _ => State::Str,
            },
        };
    }

    fn ground(&mut self, c: char, out: &mut String) -> State {
        match c {
            '\u{1b}' => return State::Escape,
            '\u{9b}' => return State::Csi,
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => return State::Str,
            ZWJ if self.last.is_some_and(joins) => self.held = Some(ZWJ),
            VS16 if self.last.is_some_and(|last| !last.is_whitespace() && last != VS16) => {
                self.keep(c, out);
            }
            _ if c == '\t' || !is_hidden(c) => self.keep(c, out),
            _ => {}
        }
        State::Ground
    }

    fn keep(&mut self, c: char, out: &mut String) {
        out.push(c);
        self.last = Some(c);
    }
}

fn after_escape(c: char) -> State {
    match c {
        '[' => State::Csi,
        ']' | 'P' | 'X' | '^' | '_' => State::Str,
        // Intermediate bytes: the sequence goes on until its final byte.
        ' '..='/' | '\u{1b}' => State::Escape,
        _ => State::Ground,
    }
}

fn is_plain(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte) || byte == b'\n' || byte == b'\t'
}

/// Characters that would act on the terminal or hide text without being seen.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}'
        | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

fn joins(c: char) -> bool {
    c == VS16 || is_emoji(c)
}

/// The text without anything that could act on the terminal. Borrowed when it was clean.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut cleaner = Cleaner::default();
    cleaner.push(text, &mut out);
    cleaner.finish(&mut out);
    Cow::Owned(out)
}

/// Clean text in one line: line ends and tabs become single blanks. For titles and labels.
pub fn clean_line(text: &str) -> Cow<'_, str> {
    let cleaned = clean(text);
    if !cleaned.contains(['\n', '\t']) {
        return cleaned;
    }
    let words = cleaned.split(['\n', '\t']).map(str::trim_end).filter(|part| !part.is_empty());
    Cow::Owned(words.collect::<Vec<_>>().join(" "))
}

/// Clean output of a command: what a lone CR would overwrite (progress bars) is left out.
pub fn clean_output(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return clean(text);
    }
    let mut kept = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (body, end) = match line.strip_suffix('\n') {
            Some(body) => (body, "\n"),
            None => (line, ""),
        };
        let body = body.trim_end_matches('\r');
        kept.push_str(body.rsplit('\r').next().unwrap_or(body));
        kept.push_str(end);
    }
    Cow::Owned(clean(&kept).into_owned())
}

/// The text with everything hidden written out (`\x1b`, `\u{202e}`), for panels that ask: what
/// stands there is what would run. Line ends stay, tabs are shown as `\t`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| is_plain(byte) && byte != b'\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => out.push('\n'),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            _ if !is_hidden(c) => out.push(c),
            _ if (c as u32) < 0x100 => out.push_str(&format!("\\x{:02x}", c as u32)),
            _ => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
        }
    }
    Cow::Owned(out)
}
