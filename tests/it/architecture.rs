//! The rules of the house, checked on the text of the project: who may know whom, what stays in
//! which room, and how big a piece may be. The last tests check the checker.

mod scan;

use std::fs;
use std::path::Path;

use scan::{Source, functions, paths, words};

/// Most lines of a file and of a function.
const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 80;

/// The words in which a change of a file is told; `ui::text` draws them.
const DIFF_WORDS: [&str; 3] =
    ["kernel::message::FileDiff", "kernel::message::Hunk", "kernel::message::DiffLine"];

/// Who may know whom: a room and what it may name besides itself. `main` and `lib` are free.
const EDGES: [(&str, &[&str]); 17] = [
    ("kernel", &[]),
    ("config", &["kernel"]),
    ("model", &["kernel", "config::schema"]),
    ("tools", &["kernel", "config::schema", "config::private"]),
    ("permission", &["kernel", "config::schema", "config::private"]),
    ("sandbox", &["kernel", "config::schema"]),
    ("rewind", &["kernel", "config::private", "tools"]),
    ("context", &["kernel", "config::schema"]),
    ("prompt", &["kernel", "config::schema"]),
    ("memory", &["kernel", "config::private"]),
    ("skill", &["kernel", "config::front_matter"]),
    ("session", &["kernel", "config::schema", "config::private"]),
    ("team", &["kernel", "tools", "config::front_matter"]),
    ("headless", &["kernel", "app::service"]),
    ("ui::text", &["ui::theme", DIFF_WORDS[0], DIFF_WORDS[1], DIFF_WORDS[2]]),
    ("ui", &["kernel", "app::service", "config::private"]),
    ("cli", &["kernel", "app::service", "headless"]),
];

/// `app` wires everything below the front ends.
const NOT_FOR_APP: [&str; 3] = ["ui", "headless", "cli"];

/// What the kernel must not name, by crate.
const KERNEL_BANS: [(&str, &[&str]); 5] = [
    ("std", &["fs", "env", "process", "net"]),
    ("tokio", &["fs", "process", "net", "signal"]),
    ("ratatui", &[""]),
    ("crossterm", &[""]),
    ("reqwest", &[""]),
];

/// Where `unsafe` may stand.
const UNSAFE_ROOMS: [&str; 2] = ["src/tools/process.rs", "src/sandbox/"];

/// Where processes may be started, and why.
const SPAWNERS: [(&str, &str); 6] = [
    ("src/tools/process.rs", "the one place that runs commands of the model"),
    ("src/tools/bash.rs", "words the command that `process` runs"),
    ("src/tools/environment.rs", "sets the variables of those commands, starts none"),
    ("src/tools/confine.rs", "hands those commands to the fence, starts none"),
    ("src/sandbox/", "puts a command that others start behind the fence"),
    ("src/ui/editor.rs", "the user's editor owns the terminal for a while"),
];

const BAD_NAMES: [&str; 7] = ["utils", "util", "helpers", "helper", "common", "misc", "manager"];

// ---- the rules -----------------------------------------------------------------------------------

#[test]
fn rooms_name_only_rooms_they_may_know() {
    report("forbidden edge", &rust("src").iter().flat_map(bad_edges).collect::<Vec<_>>());
}

#[test]
fn the_kernel_names_no_file_network_environment_clock_or_screen() {
    report(
        "not for the kernel",
        &rust("src/kernel").iter().flat_map(kernel_words).collect::<Vec<_>>(),
    );
}

#[test]
fn unsafe_stays_in_its_rooms() {
    report(
        "unsafe outside its rooms",
        &rust("src").iter().flat_map(bad_unsafe).collect::<Vec<_>>(),
    );
}

#[test]
fn processes_are_started_in_their_rooms_only() {
    report(
        "process started outside its rooms",
        &rust("src").iter().flat_map(bad_spawn).collect::<Vec<_>>(),
    );
}

#[test]
fn files_stay_below_the_line_limit() {
    report(
        "file too long; split it by idea",
        &rust("src").iter().filter_map(long_file).collect::<Vec<_>>(),
    );
}

#[test]
fn functions_stay_below_the_line_limit() {
    report("function too long", &rust("src").iter().flat_map(long_functions).collect::<Vec<_>>());
}

#[test]
fn every_file_says_what_it_is() {
    report("no `//!` head", &all_rust().iter().filter_map(headless_file).collect::<Vec<_>>());
}

#[test]
fn no_file_has_a_name_that_says_nothing() {
    report("name the idea instead", &all_rust().iter().filter_map(bad_name).collect::<Vec<_>>());
}

#[test]
fn nothing_unfinished_is_left() {
    report("unfinished", &all_rust().iter().flat_map(unfinished).collect::<Vec<_>>());
}

#[test]
fn no_test_is_switched_off() {
    report("switched-off test", &all_rust().iter().flat_map(switched_off).collect::<Vec<_>>());
}

#[test]
fn no_text_names_a_path_of_the_machine_it_was_written_on() {
    let places = machine_places();
    let found: Vec<String> = texts().iter().flat_map(|source| leaks(source, &places)).collect();
    report("path of a machine", &found);
}

// ---- how they are checked ------------------------------------------------------------------------

fn bad_edges(source: &Source) -> Vec<String> {
    let module = source.module();
    let Some(room) = module.first().copied() else { return vec![] };
    let named = paths(&source.code, "crate").into_iter().chain(upward(source));
    named
        .filter(|(_, target)| !may_name(&module, room, target))
        .map(|(at, target)| at_line(source, at, &format!("names {}", target.join("::"))))
        .collect()
}

/// Paths that climb out of their own room with `super::super::…`.
fn upward(source: &Source) -> Vec<(usize, Vec<String>)> {
    let depth = source.module().len();
    let climbs = |path: &[String]| path.iter().take_while(|part| *part == "super").count() + 1;
    paths(&source.code, "super")
        .into_iter()
        .filter(|(_, path)| climbs(path) == depth)
        .map(|(at, path)| (at, path[climbs(&path) - 1..].to_vec()))
        .collect()
}

fn may_name(module: &[&str], room: &str, target: &[String]) -> bool {
    let target: Vec<&str> = target.iter().map(String::as_str).collect();
    let is = |rule: &str| rule.split("::").zip(0..).all(|(part, at)| target.get(at) == Some(&part));
    if room == "app" {
        return !NOT_FOR_APP.iter().any(|rule| is(rule));
    }
    let inside =
        |rule: &str| rule.split("::").zip(0..).all(|(part, at)| module.get(at) == Some(&part));
    match EDGES.iter().find(|(rule, _)| inside(rule)) {
        Some((own, others)) => is(own) || others.iter().any(|rule| is(rule)),
        // A room that the table does not know yet may know itself and the kernel.
        None => is(room) || is("kernel"),
    }
}

fn kernel_words(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    for (root, bans) in KERNEL_BANS {
        for (at, path) in paths(&source.code, root) {
            if bans.contains(&"") || bans.contains(&path[0].as_str()) {
                found.push(at_line(source, at, &format!("names {root}::{}", path.join("::"))));
            }
        }
    }
    for clock in ["Instant::now", "SystemTime::now", "Utc::now"] {
        found.extend(places(source, clock));
    }
    found
}

fn bad_unsafe(source: &Source) -> Vec<String> {
    if UNSAFE_ROOMS.iter().any(|room| source.path.starts_with(room)) {
        return vec![];
    }
    let hits = words(&source.code).filter(|(_, word)| *word == "unsafe");
    hits.map(|(at, _)| at_line(source, at, "unsafe")).collect()
}

fn bad_spawn(source: &Source) -> Vec<String> {
    if SPAWNERS.iter().any(|(room, _)| source.path.starts_with(room)) {
        return vec![];
    }
    let mut found = Vec::new();
    for root in ["std", "tokio"] {
        for (at, path) in paths(&source.code, root) {
            if path.len() > 1 && path[0] == "process" && path[1] == "Command" {
                found.push(at_line(source, at, &format!("names {root}::process::Command")));
            }
        }
    }
    // The module imported, the type named by way of it.
    if found.is_empty() {
        found = places(source, "process::Command::new");
    }
    found
}

fn long_file(source: &Source) -> Option<String> {
    let lines = source.text.lines().count();
    (lines > FILE_LINES).then(|| format!("{}: {lines} lines", source.path))
}

fn long_functions(source: &Source) -> Vec<String> {
    functions(&source.code)
        .iter()
        .filter(|function| function.lines > FUNCTION_LINES)
        .map(|function| {
            let text = format!("fn {} has {} lines", function.name, function.lines);
            at_line(source, function.byte, &text)
        })
        .collect()
}

fn headless_file(source: &Source) -> Option<String> {
    (!source.text.starts_with("//!")).then(|| source.path.clone())
}

fn bad_name(source: &Source) -> Option<String> {
    let mut parts = source.path.trim_end_matches(".rs").split('/').flat_map(|part| part.split('_'));
    parts.find(|part| BAD_NAMES.contains(part)).map(|part| format!("{}: {part}", source.path))
}

fn unfinished(source: &Source) -> Vec<String> {
    let names = ["todo", "dbg", "unimplemented"];
    words(&source.code)
        .filter(|(at, word)| {
            names.contains(word) && source.code[at + word.len()..].starts_with('!')
        })
        .map(|(at, word)| at_line(source, at, word))
        .collect()
}

fn switched_off(source: &Source) -> Vec<String> {
    let mut found = places(source, "#[ignore");
    found.extend(places(source, "#[cfg(any())]"));
    found
}

fn leaks(source: &Source, places: &[String]) -> Vec<String> {
    let hit = |place: &&String| source.text.contains(place.as_str());
    places.iter().filter(hit).map(|place| format!("{}: {place}", source.path)).collect()
}

/// Where this build lives, when that is more than one folder deep, and where registries unpack.
fn machine_places() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = (root.components().count() > 2).then(|| root.display().to_string());
    own.into_iter().chain([".cargo/".to_owned() + "registry"]).collect()
}

// ---- reading and telling -------------------------------------------------------------------------

fn at_line(source: &Source, byte: usize, what: &str) -> String {
    format!("{}:{}: {what}", source.path, source.line_at(byte))
}

fn places(source: &Source, text: &str) -> Vec<String> {
    source.code.match_indices(text).map(|(at, _)| at_line(source, at, text)).collect()
}

#[track_caller]
fn report(rule: &str, found: &[String]) {
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}

fn rust(folder: &str) -> Vec<Source> {
    read(folder, &["rs"])
}

fn all_rust() -> Vec<Source> {
    let mut sources = rust("src");
    sources.extend(rust("tests"));
    sources
}

fn texts() -> Vec<Source> {
    let kinds = ["rs", "md", "toml", "txt", "sh", "json", "snap"];
    let folders = ["src", "tests", "assets", "docs"];
    let mut sources: Vec<Source> = folders.iter().flat_map(|name| read(name, &kinds)).collect();
    for name in ["README.md", "Cargo.toml"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        sources.extend(fs::read_to_string(file).ok().map(|text| Source::new(name, &text)));
    }
    sources
}

fn read(folder: &str, kinds: &[&str]) -> Vec<Source> {
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), folder, kinds, &mut found);
    assert!(folder == "docs" || !found.is_empty(), "nothing to check in {folder}");
    found
}

fn walk(folder: &Path, shown: &str, kinds: &[&str], found: &mut Vec<Source>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = format!("{shown}/{}", entry.file_name().to_string_lossy());
        let path = entry.path();
        if path.is_dir() {
            walk(&path, &name, kinds, found);
        } else if path.extension().is_some_and(|kind| kinds.iter().any(|known| kind == *known))
            && let Ok(text) = fs::read_to_string(&path)
        {
            found.push(Source::new(&name, &text));
        }
    }
}

// ---- the checker itself --------------------------------------------------------------------------

#[test]
fn a_forbidden_edge_is_found_in_every_spelling() {
    let bad = [
        ("src/kernel/run.rs", "use crate::tools::Table;"),
        ("src/kernel/run.rs", "fn f() { let x = crate::config::schema::X; }"),
        ("src/tools/read.rs", "use crate::{kernel::event::Event, permission::Mode};"),
        ("src/tools/read.rs", "use crate::config::load::Config;"),
        ("src/tools/read.rs", "use super::super::session::Journal;"),
        ("src/tools/mod.rs", "use super::session;"),
        ("src/ui/view/mod.rs", "use crate::app::{build, service};"),
        ("src/ui/text/wrap.rs", "use crate::kernel::event::Event;"),
        ("src/ui/text/wrap.rs", "use crate::ui::store::Store;"),
        ("src/headless/json.rs", "use crate::ui::text::sanitize;"),
        ("src/app/build.rs", "use crate::ui::run;"),
        ("src/newroom/x.rs", "use crate::tools::Table;"),
    ];
    for (path, text) in bad {
        assert_eq!(bad_edges(&Source::new(path, text)).len(), 1, "{path}: {text}");
    }
}

#[test]
fn an_allowed_edge_is_left_alone() {
    let good = [
        ("src/kernel/run.rs", "use super::event::Event; use crate::kernel::message::Message;"),
        ("src/kernel/run.rs", "// see crate::tools::Table\nconst X: &str = \"crate::tools\";"),
        ("src/tools/read.rs", "use crate::{config::schema::X, kernel::{event::Event, ports}};"),
        ("src/model/scripted/script.rs", "use super::super::http::Client;"),
        ("src/ui/text/wrap.rs", "use crate::ui::text::width; use crate::ui::theme::Role;"),
        ("src/ui/text/diff.rs", "use crate::kernel::message::{DiffLine, FileDiff, Hunk};"),
        ("src/headless/mod.rs", "use crate::app::service::{self, Front};"),
        ("src/app/build.rs", "use crate::tools::Table; use crate::model::scripted;"),
        ("src/main.rs", "use codebot::ui;"),
    ];
    for (path, text) in good {
        assert_eq!(bad_edges(&Source::new(path, text)), Vec::<String>::new(), "{path}: {text}");
    }
}

#[test]
fn kernel_words_are_found_in_groups_and_by_path() {
    let text =
        "use std::{fmt, fs::File};\nuse reqwest::Client;\nlet t = std::time::Instant::now();";
    let found = kernel_words(&Source::new("src/kernel/run.rs", text));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].contains(":1: names std::fs::File"), "{found:?}");
}

#[test]
fn unsafe_and_processes_are_found_outside_their_rooms_only() {
    let text = "use std::process::Command;\nfn f() { unsafe { g() } }\n#[expect(unsafe_code)]";
    let outside = Source::new("src/app/x.rs", text);
    assert_eq!((bad_unsafe(&outside).len(), bad_spawn(&outside).len()), (1, 1));
    let inside = Source::new("src/tools/process.rs", text);
    assert_eq!((bad_unsafe(&inside).len(), bad_spawn(&inside).len()), (0, 0));
    let words = Source::new("src/app/x.rs", "use crate::kernel::command::Command;");
    assert_eq!(bad_spawn(&words).len(), 0);
    let by_module = Source::new("src/app/x.rs", "use tokio::process;\nprocess::Command::new(a)");
    assert_eq!(bad_spawn(&by_module).len(), 1);
}

#[test]
fn the_length_of_a_function_is_counted_from_fn_to_its_brace() {
    let text = "trait T { fn none(&self) -> [u8; 2]; }\nfn two() {\n}\nfn s() { \"}\"; '}'; }\n";
    let found: Vec<(String, usize)> =
        functions(&scan::code_of(text)).into_iter().map(|f| (f.name, f.lines)).collect();
    assert_eq!(found, [("two".to_owned(), 2), ("s".to_owned(), 1)]);
    let long = format!("fn long() {{\n{}}}\n", "    x();\n".repeat(FUNCTION_LINES));
    assert_eq!(long_functions(&Source::new("src/x.rs", &long)).len(), 1);
}

#[test]
fn literals_and_comments_are_no_code() {
    let text =
        "let a = r#\"unsafe \"x\" \"#; /* unsafe /* */ unsafe */ let b = 'u'; // unsafe\nf::<'a>()";
    let code = scan::code_of(text);
    assert!(!code.contains("unsafe") && code.contains("let b") && code.contains("f::<'a>()"));
    assert_eq!(code.lines().count(), 2);
}

#[test]
fn size_head_name_and_leftovers_are_judged() {
    let long = Source::new("src/a.rs", &"x\n".repeat(FILE_LINES + 1));
    assert!(long_file(&long).is_some() && headless_file(&long).is_some());
    let fine = Source::new("src/a.rs", "//! A file.\n// todo!() is only named here\n");
    assert!(long_file(&fine).is_none() && headless_file(&fine).is_none());
    assert!(unfinished(&fine).is_empty());
    let macros = ["to", "do!(); db", "g!(1);"].concat();
    assert_eq!(unfinished(&Source::new("src/a.rs", &macros)).len(), 2);
    assert!(bad_name(&Source::new("src/file_utils.rs", "")).is_some());
    assert!(bad_name(&Source::new("src/tools/mod.rs", "")).is_none());
    let off = ["#[ig", "nore = \"slow\"]"].concat();
    assert_eq!(switched_off(&Source::new("tests/a.rs", &off)).len(), 1);
    let own = vec!["/srv/build/codebot".to_owned()];
    assert_eq!(leaks(&Source::new("docs/a.md", "see /srv/build/codebot/x"), &own).len(), 1);
}
