//! The tables of the documentation are made from the program's own. A stale page fails here; with
//! `CODEBOT_UPDATE_DOCS=1` in the environment the pages are written anew instead.

use std::path::{Path, PathBuf};

use codebot::config::keys;
use codebot::permission::mode;
use codebot::tools::reference;
use codebot::ui::action;
use codebot::ui::store::slash;

const END: &str = "<!-- end -->";

fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)
}

/// The page with `table` between the marks of that name.
fn with_table(text: &str, name: &str, table: &str) -> String {
    let mark = format!("<!-- generated: {name} -->\n");
    let (before, rest) = text.split_once(&mark).unwrap_or_else(|| panic!("no mark {mark}"));
    let (_, after) = rest.split_once(END).expect("an end mark");
    format!("{before}{mark}\n{table}\n{END}{after}")
}

fn is_fresh(name: &str, tables: &[(&str, String)]) {
    let path = page(name);
    let text = std::fs::read_to_string(&path).expect("the page");
    let fresh =
        tables.iter().fold(text.clone(), |text, (mark, table)| with_table(&text, mark, table));
    if std::env::var_os("CODEBOT_UPDATE_DOCS").is_some() {
        std::fs::write(&path, fresh).expect("written");
        return;
    }
    assert!(text == fresh, "docs/{name} is stale: run with CODEBOT_UPDATE_DOCS=1 to write it anew");
}

#[test]
fn the_page_of_keys_and_commands_is_fresh() {
    is_fresh("keys.md", &[("keys", action::markdown()), ("commands", slash::markdown())]);
}

#[test]
fn the_page_of_settings_is_fresh() {
    is_fresh("config.md", &[("config", keys::markdown())]);
}

#[test]
fn the_modes_of_the_permission_page_are_those_of_the_gate() {
    is_fresh("permissions.md", &[("modes", mode::markdown())]);
}

#[test]
fn the_page_of_tools_is_fresh() {
    is_fresh("tools.md", &[("tools", reference::markdown())]);
}

#[test]
fn a_stale_table_is_noticed() {
    let text = "head\n<!-- generated: keys -->\n| old |\n<!-- end -->\ntail\n";
    let fresh = with_table(text, "keys", "| new |\n");
    assert_eq!(fresh, "head\n<!-- generated: keys -->\n\n| new |\n\n<!-- end -->\ntail\n");
    assert_eq!(
        with_table(&fresh, "keys", "| new |\n"),
        fresh,
        "writing it twice is writing it once"
    );
}
