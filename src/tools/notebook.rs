//! Jupyter notebooks: shown as their cells without outputs, and changed one source line at a time
//! inside the JSON so that everything else keeps its bytes.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

/// Whether the name says so.
pub fn is_notebook(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ipynb"))
}

/// The cells as text; `None` when it is no notebook after all.
pub fn render(text: &str) -> Option<String> {
    let notebook: Value = serde_json::from_str(text).ok()?;
    let cells = notebook["cells"].as_array()?;
    let mut out = String::new();
    for (index, cell) in cells.iter().enumerate() {
        let kind = cell["cell_type"].as_str().unwrap_or("unknown");
        let _ = writeln!(out, "[cell {}: {kind}]", index + 1);
        out.push_str(joined(&cell["source"]).trim_end_matches('\n'));
        out.push('\n');
        let outputs = cell["outputs"].as_array().map_or(&[][..], Vec::as_slice);
        if !outputs.is_empty() {
            let bytes: usize = outputs.iter().map(|output| output.to_string().len()).sum();
            let size = super::output::size(bytes as u64);
            let count = super::output::count(outputs.len() as u64, "output");
            let _ = writeln!(out, "[{count} not shown, {size}]");
        }
    }
    Some(out)
}

fn joined(source: &Value) -> String {
    match source {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// The text as it stands inside a JSON string.
pub fn escaped(text: &str) -> String {
    let quoted = Value::String(text.to_owned()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Whether it is JSON.
pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
