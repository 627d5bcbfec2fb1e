//! Puts the words behind a slash command into a skill's text: `$ARGUMENTS` for all of them, `$1` to
//! `$9` for one. What is put in is not looked at again, so an argument can't bring a placeholder or
//! a shell insertion of its own.

/// A piece of an expanded text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text as it is.
    Text(String),
    /// A command line whose output is to stand here: `` !`git status` `` in the skill's own text.
    Shell(String),
}

/// The text with the arguments in place. Words without a placeholder come after it.
pub fn expand(body: &str, args: &str) -> Vec<Piece> {
    let args = args.trim();
    let words = split(args);
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut used = false;
    let mut rest = body;
    while let Some(at) = rest.find(['$', '!']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("$ARGUMENTS") {
            text.push_str(args);
            (used, rest) = (true, after);
        } else if let Some((number, after)) = placeholder(rest) {
            text.push_str(words.get(number - 1).map_or("", String::as_str));
            (used, rest) = (true, after);
        } else if let Some((command, after)) = insertion(rest) {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
            pieces.push(Piece::Shell(command.to_owned()));
            rest = after;
        } else {
            let sign = rest.chars().next().map_or(0, char::len_utf8);
            text.push_str(&rest[..sign]);
            rest = &rest[sign..];
        }
    }
    text.push_str(rest);
    if !used && !args.is_empty() {
        text.push_str("\n\nArguments: ");
        text.push_str(args);
    }
    pieces.push(Piece::Text(text));
    pieces.retain(|piece| *piece != Piece::Text(String::new()));
    pieces
}

/// `$1` to `$9`, not the beginning of a longer number.
fn placeholder(rest: &str) -> Option<(usize, &str)> {
    let after = rest.strip_prefix('$')?;
    let digit = after.chars().next()?.to_digit(10).filter(|digit| *digit > 0)?;
    let after = &after[1..];
    (!after.starts_with(|c: char| c.is_ascii_digit())).then_some((digit as usize, after))
}

/// `` !`command` `` on one line.
fn insertion(rest: &str) -> Option<(&str, &str)> {
    let inner = rest.strip_prefix("!`")?;
    let (command, after) = inner.split_once('`')?;
    (!command.trim().is_empty() && !command.contains('\n')).then_some((command, after))
}

/// The words of a line; quotes hold several together.
fn split(args: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in args.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
