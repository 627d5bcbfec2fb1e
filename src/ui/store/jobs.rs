//! Work beside the run as the screen knows it: how much goes on, what has just ended, and the
//! question before quitting.

use crate::app::service::JobLine;
use crate::ui::text::sanitize::clean_line;

/// How long the question before quitting stands, in milliseconds.
const QUESTION_MS: u64 = 10_000;
/// Characters of a command in a line that says how it ended.
const COMMAND_CHARS: usize = 60;

/// The jobs of the session.
#[derive(Clone, Debug, Default)]
pub struct Jobs {
    lines: Vec<JobLine>,
    asked_ms: Option<u64>,
}

impl Jobs {
    /// How many go on.
    pub fn running(&self) -> usize {
        self.lines.iter().filter(|job| job.running).count()
    }

    /// For example `2 tasks`; nothing when nothing goes on.
    pub fn label(&self) -> Option<String> {
        match self.running() {
            0 => None,
            1 => Some("1 task".to_owned()),
            more => Some(format!("{more} tasks")),
        }
    }

    /// Takes a new list; one line for every job that has ended since the last one.
    pub fn update(&mut self, lines: Vec<JobLine>) -> Vec<String> {
        let before = std::mem::replace(&mut self.lines, lines);
        let went_on = |id: &str| before.iter().any(|job| job.id == id && job.running);
        let ended = self.lines.iter().filter(|job| !job.running && went_on(&job.id));
        ended.map(told).collect()
    }

    /// Whether quitting has to be asked for again: jobs go on, and nobody has said so just now.
    pub fn asks_before_quit(&mut self, now_ms: u64) -> bool {
        let asked = self.asked_ms.replace(now_ms);
        let answered = asked.is_some_and(|at| now_ms.saturating_sub(at) <= QUESTION_MS);
        self.running() > 0 && !answered
    }

    /// What quitting would end.
    pub fn question(&self) -> String {
        let label = self.label().unwrap_or_default();
        format!("{label} in the background would be stopped; quit again to do it")
    }
}

/// How a job ended, for people.
fn told(job: &JobLine) -> String {
    let command = clean_line(&job.command);
    let short: String = command.chars().take(COMMAND_CHARS).collect();
    let dots = if short.len() < command.len() { "…" } else { "" };
    format!("task {} {}: {short}{dots}", job.id, clean_line(&job.status))
}
