//! Explains a command line to the person who is asked: each simple command with what the gate makes
//! of it. The first sign says it at a glance: `✓` would run, `?` is why it asks.

use super::shell::{Class, Judgement};
use super::{PermissionGate, Remembered};

impl PermissionGate {
    /// One line for each simple command: sign, command, reason.
    pub(super) fn explained(&self, line: &Judgement, memory: &Remembered) -> Vec<String> {
        if line.commands.is_empty() || line.class == Class::NotUnderstood {
            return line.parts.iter().map(|part| format!("? {part}")).collect();
        }
        let rules = || memory.all().chain(&self.allow);
        let explain = |part: &super::shell::Part| {
            if part.read_only && part.writes {
                return format!("? {}: writes to a file", part.text);
            }
            if part.read_only {
                return format!("✓ {}: only looks", part.text);
            }
            match rules().find(|rule| line.simple && rule.lets_through(part)) {
                Some(rule) => format!("✓ {}: rule {}", part.text, rule.text()),
                None => format!("? {}: {}", part.text, part.reason),
            }
        };
        line.commands.iter().map(explain).collect()
    }
}
