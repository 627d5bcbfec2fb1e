//! Which tools a conversation has found. The history is the only memory of it: so a reload knows the
//! same tools, and making the view smaller forgets none.

use std::sync::Arc;

use super::message::{CallStatus, Message};

/// The tool that finds tools, and that makes all tools known in a fast chat.
pub const FIND_TOOLS: &str = "find_tools";

/// How a found tool stands in the result: one line a tool.
pub fn line(name: &str, description: &str) -> String {
    let first = description.lines().next().unwrap_or_default();
    format!("- {name}: {first}")
}

/// The names of all tools that were found, in the order in which they were.
pub fn in_order(history: &[Arc<Message>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for message in history {
        let Message::Tool(result) = &**message else { continue };
        if result.tool != FIND_TOOLS || result.status != CallStatus::Ok {
            continue;
        }
        for line in result.text().lines() {
            let name = line.strip_prefix("- ").and_then(|rest| rest.split_once(':'));
            if let Some((name, _)) = name
                && !names.iter().any(|known| known == name)
            {
                names.push(name.to_owned());
            }
        }
    }
    names
}
