//! Tokens → a small tree of simple commands. Knows lists, pipes, subshells and groups; control
//! flow, functions and anything else is not understood.

use super::lex::{Token, Word, tokens};

/// A parsed piece of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A command with its arguments.
    Simple(Simple),
    /// `( … )` (own process) or `{ …; }`, with redirections of the whole.
    Group {
        /// Whether a `cd` inside stays inside.
        subshell: bool,
        /// What is inside.
        body: Box<Node>,
        /// Redirections after the closing mark.
        redirects: Vec<Redirect>,
    },
    /// `a | b | c`.
    Pipe(Vec<Node>),
    /// `! a`.
    Not(Box<Node>),
    /// `a && b`.
    And(Box<Node>, Box<Node>),
    /// `a || b`.
    Or(Box<Node>, Box<Node>),
    /// `a; b`, also on lines of their own.
    Seq(Vec<Node>),
}

/// A command with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// Name and arguments; empty when there are only redirections.
    pub words: Vec<Word>,
    /// Redirections.
    pub redirects: Vec<Redirect>,
}

/// A redirection with a target that is a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The operator.
    pub op: &'static str,
    /// File, descriptor number or text.
    pub target: Option<Word>,
}

/// A parsed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Its tree.
    pub root: Node,
    /// Whether a part of it runs in the background.
    pub background: bool,
    /// Whether it holds more than one line of commands.
    pub lines: bool,
    /// Spans of all words, in order.
    pub spans: Vec<std::ops::Range<usize>>,
}

/// Words that mean something else at the place of a command name.
const RESERVED: [&str; 21] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function", "time", "coproc", "in", "[[", "]]", "}", "!",
];

/// Parses a whole line.
///
/// # Errors
/// Why it is not understood, as a phrase for people.
pub fn parse(line: &str) -> Result<Script, &'static str> {
    let tokens = tokens(line)?;
    let spans = tokens
        .iter()
        .filter_map(
            |token| if let Token::Word(word) = token { Some(word.span.clone()) } else { None },
        )
        .collect();
    let mut parser = Parser { tokens, at: 0, background: false, lines: false, depth: 0 };
    let root = parser.list(None)?;
    if parser.at < parser.tokens.len() {
        return Err("has an unexpected operator");
    }
    Ok(Script { root, background: parser.background, lines: parser.lines, spans })
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    background: bool,
    lines: bool,
    depth: usize,
}

/// Nesting of groups that is still followed.
const MAX_DEPTH: usize = 20;

impl Parser {
    fn op(&self) -> Option<&'static str> {
        match self.tokens.get(self.at) {
            Some(Token::Op(op)) => Some(op),
            _ => None,
        }
    }

    fn eat(&mut self, op: &str) -> bool {
        let found = self.op() == Some(op);
        self.at += usize::from(found);
        found
    }

    fn bare(&self, text: &str) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Word(w)) if w.text == text && !w.quoted)
    }

    fn skip_newlines(&mut self) {
        while self.eat("\n") {}
    }

    /// Commands up to `close` or the end of the line.
    fn list(&mut self, close: Option<&str>) -> Result<Node, &'static str> {
        let mut items = Vec::new();
        self.skip_newlines();
        while self.at < self.tokens.len() && !self.closes(close) {
            items.push(self.and_or()?);
            match self.op() {
                Some("&") => {
                    self.background = true;
                    self.at += 1;
                }
                Some(";") => self.at += 1,
                Some("\n") => {
                    self.skip_newlines();
                    self.lines |= self.at < self.tokens.len() && !self.closes(close);
                }
                _ => break,
            }
            self.skip_newlines();
        }
        match items.len() {
            0 => Err("holds no command"),
            1 => items.pop().ok_or("holds no command"),
            _ => Ok(Node::Seq(items)),
        }
    }

    fn closes(&self, close: Option<&str>) -> bool {
        match close {
            Some(")") => self.op() == Some(")"),
            Some(mark) => self.bare(mark),
            None => false,
        }
    }

    fn and_or(&mut self) -> Result<Node, &'static str> {
        let mut left = self.pipeline()?;
        loop {
            let and = match self.op() {
                Some("&&") => true,
                Some("||") => false,
                _ => return Ok(left),
            };
            self.at += 1;
            self.skip_newlines();
            let right = Box::new(self.pipeline()?);
            left = if and {
                Node::And(Box::new(left), right)
            } else {
                Node::Or(Box::new(left), right)
            };
        }
    }

    fn pipeline(&mut self) -> Result<Node, &'static str> {
        let negated = self.bare("!");
        self.at += usize::from(negated);
        let mut parts = vec![self.command()?];
        while matches!(self.op(), Some("|" | "|&")) {
            self.at += 1;
            self.skip_newlines();
            parts.push(self.command()?);
        }
        let node = if parts.len() == 1 { parts.remove(0) } else { Node::Pipe(parts) };
        Ok(if negated { Node::Not(Box::new(node)) } else { node })
    }

    fn command(&mut self) -> Result<Node, &'static str> {
        if self.eat("(") {
            return self.group(")");
        }
        if self.bare("{") {
            self.at += 1;
            return self.group("}");
        }
        let mut simple = Simple::default();
        loop {
            match self.tokens.get(self.at).cloned() {
                Some(Token::Word(word)) => {
                    if simple.words.is_empty() {
                        check_name(&word)?;
                    }
                    self.at += 1;
                    simple.words.push(word);
                }
                Some(Token::Redirect(_)) => simple.redirects.push(self.redirect()?),
                Some(Token::Op("(")) => return Err("defines a function or uses a pattern"),
                _ => break,
            }
        }
        if simple.words.is_empty() && simple.redirects.is_empty() {
            return Err("has an operator without a command");
        }
        Ok(Node::Simple(simple))
    }

    fn group(&mut self, close: &str) -> Result<Node, &'static str> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("is nested too deeply");
        }
        let body = Box::new(self.list(Some(close))?);
        if !self.closes(Some(close)) {
            return Err("has an unfinished group");
        }
        self.at += 1;
        self.depth -= 1;
        let mut redirects = Vec::new();
        while matches!(self.tokens.get(self.at), Some(Token::Redirect(_))) {
            redirects.push(self.redirect()?);
        }
        Ok(Node::Group { subshell: close == ")", body, redirects })
    }

    fn redirect(&mut self) -> Result<Redirect, &'static str> {
        let Some(Token::Redirect(op)) = self.tokens.get(self.at).cloned() else {
            return Err("has an unfinished redirection");
        };
        self.at += 1;
        if op == ">&-" {
            return Ok(Redirect { op, target: None });
        }
        match self.tokens.get(self.at).cloned() {
            Some(Token::Word(word)) => {
                self.at += 1;
                Ok(Redirect { op, target: Some(word) })
            }
            _ => Err("has an unfinished redirection"),
        }
    }
}

fn check_name(word: &Word) -> Result<(), &'static str> {
    if !word.quoted && RESERVED.contains(&word.text.as_str()) {
        return Err("uses control flow");
    }
    if is_assignment(&word.text) {
        return Err("sets a variable");
    }
    if word.pattern.is_some() {
        return Err("has a pattern for a command name");
    }
    Ok(())
}

/// Whether a first word would set a variable (or may be one: quoting is not looked at).
pub fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
