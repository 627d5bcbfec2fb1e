//! Hand-written documents against the code: what they name exists, and what exists is named.

use std::fs;
use std::path::Path;

use clap::CommandFactory as _;
use codebot::cli::Cli;
use codebot::headless::exit;

fn repository_file(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// A variant or a row: its name and its fields.
type Named = (String, Vec<String>);

fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// The parts of a list that are separated by commas outside of brackets.
fn top_level(list: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in list.chars() {
        match c {
            '{' | '(' | '<' => depth += 1,
            '}' | ')' | '>' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            parts.push(String::new());
        } else {
            parts.last_mut().unwrap().push(c);
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// The text between the braces that follow `head`.
fn body<'a>(source: &'a str, head: &str) -> &'a str {
    let start = source.find(head).unwrap_or_else(|| panic!("no {head}")) + head.len();
    let mut depth = 1;
    let end = source[start..].find(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0
    });
    &source[start..start + end.unwrap()]
}

fn fields(list: &str) -> Vec<String> {
    let code: Vec<&str> =
        list.lines().filter(|line| !line.trim_start().starts_with(['#', '/'])).collect();
    let names = top_level(&code.join(" "));
    names.iter().map(|field| field.split(':').next().unwrap().trim().to_owned()).collect()
}

/// The variants of an enum of the source, as JSON names them.
fn variants(source: &str, head: &str) -> Vec<Named> {
    let parts = top_level(body(source, head));
    parts
        .iter()
        .map(|variant| {
            let name = variant.split([' ', '{', '(']).next().unwrap();
            let inner = variant.split_once('{').map(|(_, rest)| rest.trim_end_matches('}'));
            (snake(name), inner.map(fields).unwrap_or_default())
        })
        .collect()
}

/// The rows of the table whose head starts with `head`: the first cell and the names in code marks
/// of the second.
fn table(document: &str, head: &str) -> Vec<Named> {
    let start = document.find(head).unwrap_or_else(|| panic!("no table {head}"));
    let rows = document[start..].lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        (in_code(cells[0]).concat(), in_code(cells[1]))
    })
    .collect()
}

fn in_code(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_lines_of_stream_json_are_documented_with_their_fields() {
    let source = repository_file("src/headless/json.rs");
    let document = repository_file("docs/headless.md");
    let mut lines = variants(&source, "enum Line<'a> {");
    for (name, names) in &mut lines {
        // Their fields have tables of their own.
        match name.as_str() {
            "message_delta" => *names = vec!["kind".to_owned()],
            "message_end" => *names = vec!["role".to_owned()],
            _ => {}
        }
    }
    assert!(lines.len() > 15, "{lines:?}");
    assert_eq!(table(&document, "| `type` | fields | when |"), lines);
    let pieces = variants(&source, "enum Piece<'a> {");
    assert_eq!(table(&document, "| `kind` | fields |"), pieces);
    let committed = variants(&source, "enum Committed<'a> {");
    assert_eq!(table(&document, "| `role` | fields |"), committed);
}

#[test]
fn the_fields_of_json_are_documented() {
    let source = repository_file("src/headless/json.rs");
    let document = repository_file("docs/headless.md");
    let mut ended = fields(body(&source, "struct Ended<'a> {"));
    assert_eq!(ended[0], "kind");
    "type".clone_into(&mut ended[0]);
    let rows = table(&document, "| field | value |");
    let documented: Vec<String> = rows.into_iter().map(|(name, _)| name).collect();
    assert_eq!(documented, ended);
    let no_run = fields(body(&source, "struct NoRun<'a> {"));
    let absent = document.split("`error` and `tool_errors`").nth(1).unwrap();
    let absent = absent.split("are absent").next().unwrap();
    for field in ended.iter().filter(|field| *field != "type") {
        let says_absent = field == "tool_errors" || absent.contains(&format!("`{field}`"));
        assert_eq!(says_absent, !no_run.contains(field), "{field}");
    }
}

#[test]
fn the_exit_codes_are_documented() {
    let document = repository_file("docs/headless.md");
    let start = document.find("| code | meaning |").unwrap();
    let rows = document[start..].lines().skip(2).take_while(|line| line.starts_with('|'));
    let codes: Vec<u8> =
        rows.map(|row| row.split('|').nth(1).unwrap().trim().parse().unwrap()).collect();
    let known = [
        exit::OK,
        exit::ERROR,
        exit::USAGE,
        exit::DENIED,
        exit::TURN_CAP,
        exit::PROVIDER,
        exit::HUNG_UP,
        exit::INTERRUPTED,
        exit::TERMINATED,
    ];
    assert_eq!(codes, known);
}

#[test]
fn every_option_in_the_document_exists() {
    let document = repository_file("docs/headless.md");
    let command = Cli::command();
    for row in document.lines().filter(|l| l.starts_with("| `-")) {
        for option in in_code(row.split('|').nth(1).unwrap()) {
            let known = command.get_arguments().any(|argument| {
                let long = argument.get_long().map(|long| format!("--{long}"));
                let short = argument.get_short().map(|short| format!("-{short}"));
                long.as_deref() == Some(&option) || short.as_deref() == Some(&option)
            });
            assert!(known, "{option}");
        }
    }
}

#[test]
fn the_records_of_a_session_are_documented() {
    let source = repository_file("src/kernel/ports/journal.rs");
    let document = repository_file("docs/sessions.md");
    let rows = table(&document, "| `record` | fields | meaning |");
    let header = fields(body(&repository_file("src/session/record.rs"), "pub struct Header {"));
    let header: Vec<String> =
        header.iter().map(|field| field.trim_start_matches("pub ").to_owned()).collect();
    assert_eq!(rows[0], ("session".to_owned(), header));
    let code: Vec<&str> = source.lines().filter(|l| !l.trim_start().starts_with("///")).collect();
    assert_eq!(rows[1..], variants(&code.join("\n"), "pub enum Record {"));
}
