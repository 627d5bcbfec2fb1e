//! The door in front of the terminal: text of models, tools and services may hold control bytes
//! that would move the cursor, rename the window or hide what follows.

/// The text without controls, but with its line ends and tabs.
pub fn text(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .filter(|c| matches!(c, '\n' | '\t') || !is_unsafe(*c))
        .collect()
}

/// The text on one line without controls.
pub fn line(raw: &str) -> String {
    text(raw).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// JSON text whose hidden characters are written as `\u` escapes: the same value for programs,
/// harmless on a terminal. Outside strings JSON has no such characters.
pub fn json(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in raw.chars() {
        if is_unsafe(c) {
            let mut units = [0; 2];
            out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out
}

/// C0, DEL, C1, and the marks that reorder or hide text. Joiners stay: emoji and several scripts
/// need them.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}
