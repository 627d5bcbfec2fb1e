//! The table of tools in Markdown, for the documentation.

use std::fmt::Write;

use serde_json::Value;

use super::TABLE;
use crate::kernel::ports::{Capability, Interrupt};

/// One row for each tool: what it touches, how it runs, its arguments (those it needs in bold).
pub fn markdown() -> String {
    let mut out = "| tool | does | beside other calls | told to stop | arguments |\n\
                   |---|---|---|---|---|\n"
        .to_owned();
    for row in TABLE {
        let does = match row.traits.capability {
            Capability::Internal => "keeps its own state",
            Capability::Delegate => "lets other agents work",
            Capability::Read => "looks at files",
            Capability::Write => "changes files",
            Capability::Shell => "runs programs",
            Capability::Network => "talks to other machines",
        };
        let beside = if row.traits.concurrent { "yes" } else { "runs alone" };
        let stop = match row.traits.interrupt {
            Interrupt::Cancel => "breaks off",
            Interrupt::Finish => "finishes what it began",
        };
        let _ = writeln!(
            out,
            "| `{}` | {does} | {beside} | {stop} | {} |",
            row.name,
            arguments(&(row.schema)())
        );
    }
    out
}

fn arguments(schema: &Value) -> String {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(properties) = schema["properties"].as_object() else { return String::new() };
    let name = |name: &String| {
        if required.contains(&name.as_str()) { format!("**{name}**") } else { name.clone() }
    };
    properties.keys().map(name).collect::<Vec<_>>().join(", ")
}
