//! One run of a child: the same loop, followed to its end. Whatever happens, there is one report.

use std::time::Duration;

use tokio::sync::mpsc;

use crate::kernel::agent::Agent;
use crate::kernel::command::Command;
use crate::kernel::event::{EndReason, Event, RunSummary};
use crate::kernel::message::Block;
use crate::tools::delegate::{Report, ReportEnd, Watcher};

use super::crew::Fitted;
use super::desk::Desk;
use super::log::Log;

/// Events of a child on their way.
const EVENT_CAPACITY: usize = 128;
/// How long a child that was told to stop may take; its tools are stopped well before.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Who a child is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Unique in the session.
    pub id: String,
    /// Its kind.
    pub kind: String,
}

/// Runs one task to its end.
pub async fn run(name: Name, task: String, fitted: Fitted, desk: Desk, watch: Watcher) -> Report {
    let Fitted { ports, config, notes, keep } = fitted;
    let clock = ports.clock.clone();
    let (sender, mut events) = mpsc::channel(EVENT_CAPACITY);
    let history: Vec<crate::kernel::message::Message> = Vec::new();
    let handle = Agent::spawn(ports, config, history, sender);
    handle.send(Command::Prompt { blocks: vec![Block::text(task)] });
    let mut log = Log::new(name.kind.clone());
    let mut stopping = false;
    let summary = loop {
        let event = tokio::select! {
            biased;
            () = watch.cancel.cancelled(), if !stopping => {
                stopping = true;
                handle.send(Command::Abort);
                continue;
            }
            event = events.recv() => event,
            () = clock.sleep(LAST_WORDS), if stopping => None,
        };
        let Some(event) = event else { break None };
        if log.see(&event) {
            watch.progress.send(log.report());
        }
        match event {
            Event::ApprovalAsked { approval } => desk.ask(&name.id, &handle, approval).await,
            Event::ApprovalClosed { id, answer } => desk.close(&name.id, &id, answer).await,
            Event::Usage { usage, cost, .. } => watch.aside.spend_child(usage, cost),
            Event::RunEnd { summary } => break Some(summary),
            _ => {}
        }
    };
    desk.forget(&name.id).await;
    handle.shutdown().await;
    // Its tools live until here: processes that it left behind end with it.
    drop(keep);
    report(summary.as_ref(), &notes)
}

/// The report of a run that ended like this; without a summary it did not end in time.
fn report(summary: Option<&RunSummary>, notes: &[String]) -> Report {
    let Some(summary) = summary else {
        let text = "the agent was stopped and did not end in time; what it began may still run";
        return Report { text: text.to_owned(), end: ReportEnd::Cancelled };
    };
    let (mut text, end) = match summary.reason {
        EndReason::Aborted => (stopped(summary), ReportEnd::Cancelled),
        EndReason::Error => {
            let why = summary.error.as_ref().map_or("it failed", |error| error.message.as_str());
            (with_partial(&format!("Error: Agent: {why}"), &summary.text), ReportEnd::Failed)
        }
        EndReason::Stop if summary.wrap.is_none() => (summary.text.clone(), ReportEnd::Answered),
        EndReason::Stop | EndReason::MaxTurns | EndReason::Budget => {
            let mark = format!(
                "[incomplete: the agent ran into a limit after {} model calls; this is what it has]",
                summary.turns
            );
            (format!("{mark}\n{}", summary.text), ReportEnd::Answered)
        }
    };
    if text.trim().is_empty() {
        "[the agent ended without a word]".clone_into(&mut text);
    }
    for note in notes {
        text.extend(["\n[", note, "]"]);
    }
    Report { text, end }
}

fn stopped(summary: &RunSummary) -> String {
    with_partial(&format!("[the agent was stopped after {} turns]", summary.turns), &summary.text)
}

fn with_partial(head: &str, text: &str) -> String {
    if text.trim().is_empty() { head.to_owned() } else { format!("{head}\nSo far: {text}") }
}
