//! The list of scenarios, checked off: every id of a finished group is named by some test, and no
//! test names an id that does not exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Groups in which nothing is open any more.
const FINISHED: [&str; 18] = [
    "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "2.1", "2.2", "2.3", "2.6", "2.7",
    "2.8",
];

/// Ids by group.
fn groups() -> BTreeMap<String, Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scenario-ids.txt");
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

fn named_anywhere() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    rust_files(&root.join("tests"), &mut files);
    rust_files(&root.join("src"), &mut files);
    files.retain(|path| !path.ends_with("it/scenarios.rs"));
    files.iter().flat_map(|path| named(&fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_scenario_of_a_finished_group_has_a_test() {
    let (groups, named) = (groups(), named_anywhere());
    let open: Vec<_> = FINISHED
        .iter()
        .flat_map(|group| &groups[*group])
        .filter(|id| !named.contains(*id))
        .collect();
    assert!(open.is_empty(), "no test names {open:?}");
}

#[test]
fn lists_and_cases_in_a_comment_are_told_apart() {
    let found =
        named("/// Scenarios 3, L10, case B02, scenario 41: because of 7 things. Case G11.");
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["3", "41", "L10"]);
    assert!(named("scenario one, scenery 4").is_empty());
}
