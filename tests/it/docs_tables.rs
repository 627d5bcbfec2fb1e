//! The documents say what the program does: their tables are the program's own.

use std::path::Path;

use codebot::permission::mode;
use codebot::tools::reference;

/// The text between `<!-- name -->` and `<!-- end of name -->` of a document.
fn part(document: &str, name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(document);
    let text = std::fs::read_to_string(&path).unwrap();
    let (_, rest) = text.split_once(&format!("<!-- {name} -->\n")).unwrap();
    let (inner, _) = rest.split_once(&format!("<!-- end of {name} -->")).unwrap();
    inner.to_owned()
}

#[test]
fn the_modes_in_the_documentation_are_those_of_the_gate() {
    let table = mode::markdown();
    assert_eq!(
        part("permissions.md", "modes"),
        table,
        "put this into docs/permissions.md:\n{table}"
    );
}

#[test]
fn the_tools_in_the_documentation_are_those_of_the_table() {
    let table = reference::markdown();
    assert_eq!(part("tools.md", "tools"), table, "put this into docs/tools.md:\n{table}");
}
