//! The second reader: tree-sitter's bash grammar. A line counts as understood only when this
//! grammar finds no error, only known kinds of nodes, and exactly the words that [`super::lex`]
//! found. It also lists every command of a line loosely, nested ones included, for the search for
//! danger and for deny rules.

use std::ops::Range;

use tree_sitter::{Node, Parser, Tree};

use super::loose::{self, Loose};

/// Kinds that may stand in a line that is understood.
const KINDS: [&str; 27] = [
    "program",
    "list",
    "pipeline",
    "command",
    "command_name",
    "word",
    "string",
    "string_content",
    "raw_string",
    "number",
    "concatenation",
    "comment",
    "redirected_statement",
    "file_redirect",
    "file_descriptor",
    "heredoc_redirect",
    "heredoc_start",
    "heredoc_body",
    "simple_heredoc_body",
    "heredoc_content",
    "heredoc_end",
    "herestring_redirect",
    "subshell",
    "compound_statement",
    "negated_command",
    "test_command",
    "brace_word",
];

/// Kinds that stand for one whole word of the shell.
const WORDS: [&str; 6] =
    ["word", "string", "raw_string", "number", "concatenation", "heredoc_start"];

/// Parses a line; `None` only when the parser can't be set up.
pub fn tree(line: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    parser.parse(line, None)
}

/// Compares this reading with the words at `spans`.
///
/// # Errors
/// Why the two readings do not agree, as a phrase for people.
pub fn agrees(tree: &Tree, spans: &[Range<usize>]) -> Result<(), &'static str> {
    if tree.root_node().has_error() {
        return Err("is not plain shell syntax");
    }
    let mut seen = Seen::default();
    seen.visit(tree.root_node())?;
    let inside = |span: &Range<usize>| {
        seen.tests.iter().any(|test| test.start <= span.start && span.end <= test.end)
    };
    let ours: Vec<&Range<usize>> = spans.iter().filter(|span| !inside(span)).collect();
    seen.words.sort_by_key(|span| span.start);
    if ours.len() == seen.words.len() && ours.iter().zip(&seen.words).all(|(a, b)| *a == b) {
        Ok(())
    } else {
        Err("can be read in more than one way")
    }
}

#[derive(Default)]
struct Seen {
    words: Vec<Range<usize>>,
    tests: Vec<Range<usize>>,
}

impl Seen {
    fn visit(&mut self, node: Node<'_>) -> Result<(), &'static str> {
        let kind = node.kind();
        if node.is_named() && !KINDS.contains(&kind) {
            return Err(reason(kind));
        }
        if kind == "test_command" {
            self.tests.push(node.byte_range());
            return Ok(());
        }
        if WORDS.contains(&kind) {
            self.words.push(node.byte_range());
            return only_literal(node);
        }
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            self.visit(child)?;
        }
        Ok(())
    }
}

fn only_literal(node: Node<'_>) -> Result<(), &'static str> {
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        if !KINDS.contains(&child.kind()) {
            return Err(reason(child.kind()));
        }
        only_literal(child)?;
    }
    Ok(())
}

fn reason(kind: &str) -> &'static str {
    match kind {
        "command_substitution" => "uses a command substitution",
        "process_substitution" => "uses a process substitution",
        "simple_expansion" | "expansion" => "uses a variable, whose value is not known here",
        "arithmetic_expansion" => "uses arithmetic",
        "function_definition" => "defines a function",
        "variable_assignment" | "variable_assignments" => "sets a variable",
        "declaration_command" | "unset_command" => "changes variables",
        "if_statement"
        | "for_statement"
        | "while_statement"
        | "case_statement"
        | "c_style_for_statement" => "uses control flow",
        _ => "uses shell syntax that is not judged",
    }
}

/// Every command of the line in order, at any depth, with what its pipe held before it.
pub fn commands(tree: &Tree, line: &str) -> Vec<Loose> {
    let mut out = Vec::new();
    collect(tree.root_node(), line, &[], &mut out);
    out
}

fn collect(node: Node<'_>, line: &str, upstream: &[String], out: &mut Vec<Loose>) {
    let mut cursor = node.walk();
    if node.kind() == "pipeline" {
        let mut before = upstream.to_vec();
        for child in node.named_children(&mut cursor) {
            let first = out.len();
            collect(child, line, &before, out);
            before.extend(out[first..].iter().filter_map(|c| c.words.first().cloned()));
        }
        return;
    }
    if node.kind() == "heredoc_redirect" {
        // What follows `<<E` on its line hangs below it; the pipe's first part stands above.
        let names: Vec<String> = out.iter().filter_map(|c| c.words.first().cloned()).collect();
        for child in node.named_children(&mut cursor) {
            collect(child, line, &names, out);
        }
        return;
    }
    if node.kind() == "command" {
        out.push(loose_command(node, line, upstream));
    }
    for child in node.named_children(&mut cursor) {
        collect(child, line, upstream, out);
    }
}

fn loose_command(node: Node<'_>, line: &str, upstream: &[String]) -> Loose {
    let mut words = Vec::new();
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        match child.kind() {
            "variable_assignment" | "comment" => {}
            "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {}
            _ => words.push(loose::dequote(&line[child.byte_range()])),
        }
    }
    // `cmd > file word`: the grammar hangs the later words below the redirection.
    if let Some(parent) = node.parent().filter(|p| p.kind() == "redirected_statement") {
        let mut cursor = parent.walk();
        for redirect in parent.named_children(&mut cursor).filter(|n| n.kind() == "file_redirect") {
            let mut inner = redirect.walk();
            let targets = redirect.children_by_field_name("destination", &mut inner);
            words.extend(targets.skip(1).map(|n| loose::dequote(&line[n.byte_range()])));
        }
    }
    let whole = node.parent().filter(|p| p.kind() == "redirected_statement").unwrap_or(node);
    Loose { words, raw: line[whole.byte_range()].to_owned(), upstream: upstream.to_vec() }
}
