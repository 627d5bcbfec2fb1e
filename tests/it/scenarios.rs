//! The list of scenarios, checked off: every id is named by the comment above some test, and the page
//! that says by which is up to date.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Ids by group, from a list in the folder of fixtures.
fn groups(list: &str) -> BTreeMap<String, Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(list);
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut group = String::new();
    for line in fs::read_to_string(path).unwrap().lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            name.clone_into(&mut group);
        } else {
            let ids = line.split_whitespace().map(str::to_owned);
            groups.entry(group.clone()).or_default().extend(ids);
        }
    }
    groups
}

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            out.push(path);
        }
    }
}

/// The ids that a text names: `scenario 41`, `Scenarios 3, L10`, `scenarios 5 and 16`. Cases have
/// a list of their own and may stand in between.
fn named(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    let mut inside = false;
    while let Some(word) = words.next() {
        match word.to_ascii_lowercase().as_str() {
            "scenario" | "scenarios" => inside = true,
            "case" | "cases" if inside => {
                words.next();
            }
            "and" if inside => {}
            _ if inside && is_id(word) => {
                found.insert(word.to_owned());
            }
            _ => inside = false,
        }
    }
    found
}

fn is_id(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    word.len() - digits.len() <= 1
        && !digits.is_empty()
        && digits.chars().all(|c| c.is_ascii_digit())
}

/// The same for cases: `case G05`, `Cases B06 and B07`.
fn cases_named(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut inside = false;
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()) {
        match word.to_ascii_lowercase().as_str() {
            "case" | "cases" => inside = true,
            "and" if inside => {}
            _ if inside && is_id(word) => {
                found.insert(word.to_owned());
            }
            _ => inside = false,
        }
    }
    found
}

/// Where an id is named: `tests/it/x.rs::name_of_the_test`, by id.
type Places = BTreeMap<String, BTreeSet<String>>;

/// The tests that name an id in the comment above them.
fn tests_by(ids: fn(&str) -> BTreeSet<String>) -> Places {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    rust_files(&root.join("tests"), &mut files);
    rust_files(&root.join("src"), &mut files);
    files.retain(|path| !path.ends_with("it/scenarios.rs"));
    let mut places = Places::new();
    for path in files {
        let shown = path.strip_prefix(root).unwrap().display().to_string();
        let mut comment = String::new();
        for line in fs::read_to_string(&path).unwrap().lines().map(str::trim) {
            if let Some(words) = line.strip_prefix("//") {
                comment.push_str(words.trim_start_matches(['/', '!']));
                comment.push(' ');
            } else if let Some((_, rest)) = line.split_once("fn ") {
                let name: String =
                    rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                for id in ids(&std::mem::take(&mut comment)) {
                    places.entry(id).or_default().insert(format!("{shown}::{name}"));
                }
            }
        }
    }
    places
}

const SCENARIOS: &str = "scenario-ids.txt";
const CASES: &str = "case-ids.txt";
/// Ids that no test stands for yet, below `[scenario]` and `[case]`, one a line.
const OPEN: &str = "open-ids.txt";

/// Whatever has a test is not open, and whatever has none is.
#[track_caller]
fn check(list: &str, open: &str, places: &Places) {
    let open: BTreeSet<String> =
        groups(OPEN).remove(open).unwrap_or_default().into_iter().collect();
    let (mut untested, mut tested) = (Vec::new(), Vec::new());
    for id in groups(list).into_values().flatten() {
        match (places.contains_key(&id), open.contains(&id)) {
            (false, false) => untested.push(id),
            (true, true) => tested.push(id),
            _ => {}
        }
    }
    assert!(untested.is_empty(), "no test names {untested:?}");
    assert!(tested.is_empty(), "a test names them, so they are to leave {OPEN}: {tested:?}");
}

#[test]
fn every_scenario_has_a_test_or_is_known_to_have_none() {
    check(SCENARIOS, "scenario", &tests_by(named));
}

#[test]
fn every_case_has_a_test_or_is_known_to_have_none() {
    check(CASES, "case", &tests_by(cases_named));
}

/// These are whole: none of their ids may be open again.
#[test]
fn every_case_of_the_whole_groups_has_a_test() {
    let places = tests_by(cases_named);
    let mut groups = groups(CASES);
    for group in ["wire", "history", "loop", "permission"] {
        let ids = groups.remove(group).unwrap_or_default();
        assert!(!ids.is_empty(), "no group {group}");
        let missing: Vec<&String> = ids.iter().filter(|id| !places.contains_key(*id)).collect();
        assert!(missing.is_empty(), "{group}: no test names {missing:?}");
    }
}

/// One row of the table for each id.
fn table(ids: &[String], places: &Places) -> String {
    let mut out = "| id | tests |\n|---|---|\n".to_owned();
    for id in ids {
        let tests = places.get(id).map_or_else(
            || "none yet".to_owned(),
            |tests| tests.iter().map(|test| format!("`{test}`")).collect::<Vec<_>>().join(", "),
        );
        writeln!(out, "| {id} | {tests} |").unwrap();
    }
    out
}

/// The page that says which test stands for which scenario. With `CODEBOT_UPDATE_DOCS=1` in the
/// environment it is written anew.
#[test]
fn the_page_of_scenarios_is_fresh() {
    let scenarios = tests_by(named);
    let mut text = "# Scenarios and their tests\n\nGenerated from the comments above the tests: \
                    `CODEBOT_UPDATE_DOCS=1 cargo test --test it scenarios`.\n"
        .to_owned();
    for (group, ids) in groups(SCENARIOS) {
        write!(text, "\n## {group}\n\n{}", table(&ids, &scenarios)).unwrap();
    }
    let cases = tests_by(cases_named);
    for (group, ids) in groups(CASES) {
        write!(text, "\n## Cases: {group}\n\n{}", table(&ids, &cases)).unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scenarios.md");
    if std::env::var_os("CODEBOT_UPDATE_DOCS").is_some() {
        fs::write(&path, text).unwrap();
        return;
    }
    let stale = "docs/scenarios.md is stale: run with CODEBOT_UPDATE_DOCS=1 to write it anew";
    assert!(fs::read_to_string(&path).unwrap_or_default() == text, "{stale}");
}

#[test]
fn lists_and_cases_in_a_comment_are_told_apart() {
    let found =
        named("/// Scenarios 3, L10, case B02, scenario 41: because of 7 things. Case G11.");
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["3", "41", "L10"]);
    assert!(named("scenario one, scenery 4").is_empty());
    let cases = cases_named("Scenario 55, case G02. Cases B06 and B07; in case of 3");
    assert_eq!(cases.into_iter().collect::<Vec<_>>(), ["B06", "B07", "G02"]);
}
