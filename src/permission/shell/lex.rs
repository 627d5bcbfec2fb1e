//! Command line text → words and operators. Reads only what it is sure of: the first expansion,
//! substitution, brace or bracket pattern ends the reading with a reason, so a token list never
//! holds anything that the shell would still rewrite, except `*`, `?` and a leading `~`.

use std::ops::Range;

/// Stands for an unquoted `*` in [`Word::pattern`].
pub const STAR: char = '\u{e000}';
/// Stands for an unquoted `?` in [`Word::pattern`].
pub const MARK: char = '\u{e001}';

/// One word after quote removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Bytes of the line it covers.
    pub span: Range<usize>,
    /// The word as the command receives it; unquoted `*`, `?` and a leading `~` still stand.
    pub text: String,
    /// The same with [`STAR`] and [`MARK`] for active pattern characters, when there are any.
    pub pattern: Option<String>,
    /// Whether an unquoted `~` starts it.
    pub tilde: bool,
    /// Whether any part of it was quoted.
    pub quoted: bool,
}

/// A piece of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A word.
    Word(Word),
    /// A control operator, a parenthesis or a newline.
    Op(&'static str),
    /// A redirection operator; its word follows (except for `>&-`).
    Redirect(&'static str),
}

/// Control and redirection operators, longest first.
const OPERATORS: [(&str, bool); 25] = [
    ("&>>", true),
    ("<<<", true),
    ("<<-", true),
    (";;&", false),
    ("&&", false),
    ("||", false),
    ("|&", false),
    (";;", false),
    (";&", false),
    ("&>", true),
    (">>", true),
    (">|", true),
    ("<<", true),
    ("<>", true),
    ("<(", false),
    (">(", false),
    (">&", true),
    ("<&", true),
    ("&", false),
    ("|", false),
    (";", false),
    ("(", false),
    (")", false),
    ("<", true),
    (">", true),
];

/// Reads the whole line.
///
/// # Errors
/// Why the line can't be read with certainty, as a phrase for people.
pub fn tokens(line: &str) -> Result<Vec<Token>, &'static str> {
    let mut lexer = Lexer { line, at: 0, out: Vec::new(), pending: Vec::new() };
    lexer.run()?;
    Ok(lexer.out)
}

struct Lexer<'a> {
    line: &'a str,
    at: usize,
    out: Vec<Token>,
    pending: Vec<HereDoc>,
}

struct HereDoc {
    end: String,
    literal: bool,
    tabs: bool,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.line[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn run(&mut self) -> Result<(), &'static str> {
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' => self.at += 1,
                '\n' => self.newline()?,
                '\\' if self.rest().starts_with("\\\n") => self.at += 2,
                '#' => self.comment(),
                _ => self.operator_or_word()?,
            }
        }
        if self.pending.is_empty() { Ok(()) } else { Err("has an unfinished here-document") }
    }

    fn comment(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    fn newline(&mut self) -> Result<(), &'static str> {
        self.at += 1;
        self.out.push(Token::Op("\n"));
        for doc in std::mem::take(&mut self.pending) {
            self.here_doc_body(&doc)?;
        }
        Ok(())
    }

    fn here_doc_body(&mut self, doc: &HereDoc) -> Result<(), &'static str> {
        loop {
            if self.at >= self.line.len() {
                return Err("has an unfinished here-document");
            }
            let end = self.rest().find('\n').unwrap_or(self.rest().len());
            let text = &self.rest()[..end];
            let text = if doc.tabs { text.trim_start_matches('\t') } else { text };
            let done = text == doc.end;
            if !done && !doc.literal && text.contains(['$', '`', '\\']) {
                return Err("has a here-document that the shell expands");
            }
            self.at = (self.at + end + 1).min(self.line.len());
            if done {
                return Ok(());
            }
        }
    }

    fn operator_or_word(&mut self) -> Result<(), &'static str> {
        let found = OPERATORS.iter().find(|(op, _)| self.rest().starts_with(op)).copied();
        let Some((op, redirect)) = found else {
            let word = self.word()?;
            return self.push_word(word);
        };
        self.at += op.len();
        match op {
            "<(" | ">(" => return Err("uses a process substitution"),
            ";;" | ";&" | ";;&" => return Err("has an unusual operator"),
            "<>" => return Err("opens a file for reading and writing"),
            ">&" | "<&" if self.closes_descriptor() => {
                self.at += 1;
                self.out.push(Token::Redirect(">&-"));
            }
            _ if redirect => self.out.push(Token::Redirect(op)),
            _ => self.out.push(Token::Op(op)),
        }
        Ok(())
    }

    fn closes_descriptor(&self) -> bool {
        let mut rest = self.rest().chars();
        rest.next() == Some('-') && rest.next().is_none_or(|c| " \t\n;|&)<>".contains(c))
    }

    fn push_word(&mut self, word: Word) -> Result<(), &'static str> {
        let redirect_follows = matches!(self.peek(), Some('<' | '>'));
        if redirect_follows && !word.quoted {
            if !word.text.is_empty() && word.text.chars().all(|c| c.is_ascii_digit()) {
                return Ok(()); // a descriptor number, part of the redirection
            }
            if word.text.starts_with('{') {
                return Err("opens a descriptor by name");
            }
        }
        if let Some(Token::Redirect(op @ ("<<" | "<<-"))) = self.out.last() {
            self.pending.push(HereDoc {
                end: word.text.clone(),
                literal: word.quoted,
                tabs: *op == "<<-",
            });
        }
        self.out.push(Token::Word(word));
        Ok(())
    }

    fn word(&mut self) -> Result<Word, &'static str> {
        let start = self.at;
        let mut build = Build::default();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '\\' => self.escaped(&mut build)?,
                '\'' => self.single(&mut build)?,
                '"' => self.double(&mut build)?,
                '`' => return Err("uses a command substitution"),
                '$' => self.dollar(&mut build, false)?,
                _ => {
                    build.plain(c);
                    self.at += c.len_utf8();
                }
            }
        }
        build.finish(start..self.at)
    }

    fn escaped(&mut self, build: &mut Build) -> Result<(), &'static str> {
        let next = self.rest()[1..].chars().next().ok_or("ends in a backslash")?;
        if next == '\n' {
            return Err("breaks a word over two lines");
        }
        build.quoted(next);
        self.at += 1 + next.len_utf8();
        Ok(())
    }

    fn single(&mut self, build: &mut Build) -> Result<(), &'static str> {
        let body = &self.rest()[1..];
        let end = body.find('\'').ok_or("has an unfinished quote")?;
        build.quoted = true;
        body[..end].chars().for_each(|c| build.quoted(c));
        self.at += end + 2;
        Ok(())
    }

    fn double(&mut self, build: &mut Build) -> Result<(), &'static str> {
        build.quoted = true;
        self.at += 1;
        loop {
            let c = self.peek().ok_or("has an unfinished quote")?;
            match c {
                '"' => break,
                '`' => return Err("uses a command substitution"),
                '$' => {
                    self.dollar(build, true)?;
                    continue;
                }
                '\\' => {
                    let next = self.rest()[1..].chars().next().ok_or("has an unfinished quote")?;
                    match next {
                        '\n' => return Err("breaks a word over two lines"),
                        '$' | '`' | '"' | '\\' => build.quoted(next),
                        _ => {
                            build.quoted('\\');
                            build.quoted(next);
                        }
                    }
                    self.at += next.len_utf8();
                }
                _ => build.quoted(c),
            }
            self.at += if c == '\\' { 1 } else { c.len_utf8() };
        }
        self.at += 1;
        Ok(())
    }

    /// A `$` is literal only before characters that can start no expansion.
    fn dollar(&mut self, build: &mut Build, in_quotes: bool) -> Result<(), &'static str> {
        match self.rest()[1..].chars().next() {
            Some('(') => return Err("uses a command substitution"),
            Some(c) if c.is_ascii_alphanumeric() || "_{*@#?$!-[".contains(c) => {
                return Err("uses a variable, whose value is not known here");
            }
            Some('\'' | '"') if !in_quotes => return Err("uses a quoting that is not judged"),
            Some('\\' | '`') => return Err("uses a quoting that is not judged"),
            _ => {}
        }
        build.quoted('$');
        self.at += 1;
        Ok(())
    }
}

#[derive(Default)]
struct Build {
    text: String,
    pattern: String,
    bare: String,
    active: bool,
    bracket: bool,
    tilde: bool,
    inner_tilde: bool,
    quoted: bool,
}

impl Build {
    fn plain(&mut self, c: char) {
        match c {
            '*' | '?' => {
                self.active = true;
                self.pattern.push(if c == '*' { STAR } else { MARK });
            }
            _ => self.pattern.push(c),
        }
        if c == '~' {
            self.tilde |= self.text.is_empty() && !self.quoted;
            self.inner_tilde |= self.text.ends_with(['=', ':']);
        }
        self.bracket |= c == '[' && self.bare != "[";
        self.text.push(c);
        self.bare.push(c);
    }

    fn quoted(&mut self, c: char) {
        self.quoted = true;
        self.text.push(c);
        self.pattern.push(c);
        self.bare.push('\0');
    }

    fn finish(self, span: Range<usize>) -> Result<Word, &'static str> {
        // A lone `[` is the test command; anywhere else it starts a set of characters.
        if self.bracket && self.bare != "[" {
            return Err("uses a bracket pattern");
        }
        if let Some(open) = self.bare.find('{') {
            let inner = &self.bare[open..];
            if self.bare.len() > 2 && (inner.contains(',') || inner.contains("..")) {
                return Err("uses a brace expansion");
            }
        }
        if self.inner_tilde {
            return Err("has a home directory inside a word");
        }
        if self.tilde
            && !(self.text == "~" || self.text.starts_with("~/") && self.bare.starts_with("~/"))
        {
            return Err("names another user's home directory");
        }
        Ok(Word {
            span,
            text: self.text,
            pattern: self.active.then_some(self.pattern),
            tilde: self.tilde,
            quoted: self.quoted,
        })
    }
}
