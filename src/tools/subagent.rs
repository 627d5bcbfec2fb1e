//! `subagent`: one task, several side by side, or a chain, each for an agent of its own. This file
//! knows the forms a call can take; who the agents are and how they run is the team's business.

use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::kernel::error::ToolError;
use crate::kernel::event::Progress;
use crate::kernel::message::{Block, CallId, CallStatus};
use crate::kernel::ports::{Access, Aside, ProgressSink, ToolOutcome};

use super::bench::Bench;
use super::delegate::{Delegates, Errand, Report, ReportEnd, Watcher};
use super::jobs::{Hosted, one_line};
use super::{Job, Tool};
use crate::kernel::event::Preview;

/// Most agents side by side.
const MOST: usize = 8;
/// Rows of each agent in the live view.
const LIVE_ROWS: usize = 4;
/// Characters of a task in a heading.
const HEADING: usize = 60;

/// Runs agents.
#[derive(Debug)]
pub struct Subagent;

/// Arguments of `subagent`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The kind of agent. Default `general`.
    agent: Option<String>,
    /// One task.
    task: Option<String>,
    /// Tasks that are worked on side by side.
    #[schemars(length(max = 8))]
    tasks: Option<Vec<String>>,
    /// Tasks that are worked on one after the other.
    #[schemars(length(max = 8))]
    chain: Option<Vec<String>>,
    /// Whether to go on without waiting.
    background: Option<bool>,
}

/// The form of a call.
#[derive(Clone, Debug)]
enum Form {
    Single(String),
    Parallel(Vec<String>),
    Chain(Vec<String>),
}

impl Tool for Subagent {
    type Args = Args;

    fn access(_: &Bench, _: &Args) -> Vec<Access> {
        // The agent's own calls are judged one by one.
        Vec::new()
    }

    async fn preview(_: &Bench, _: &CallId, args: Args) -> Result<Option<Preview>, ToolError> {
        form(&args).map(|_| None)
    }

    async fn run(bench: &Bench, args: Args, job: Job) -> ToolOutcome {
        let form = match form(&args) {
            Ok(form) => form,
            Err(error) => return ToolOutcome::failed(&error),
        };
        let Some(team) = bench.team.clone() else {
            let text = "agents are not available here; do the task yourself";
            return ToolOutcome::failed(&ToolError::new("Unavailable", text));
        };
        let order = Order { team, agent: args.agent, background: args.background == Some(true) };
        if order.background {
            return in_background(bench, order, form);
        }
        let Job { cancel, progress, aside, .. } = job;
        let report = order.run(form, Watcher { cancel, progress, aside }).await;
        let status = match report.end {
            ReportEnd::Answered => CallStatus::Ok,
            ReportEnd::Cancelled => CallStatus::Cancelled,
            ReportEnd::Failed => CallStatus::Error,
        };
        ToolOutcome::new(status, vec![Block::text(report.text)])
    }
}

fn form(args: &Args) -> Result<Form, ToolError> {
    let wrong = |text: &str| Err(ToolError::new("InvalidArguments", text));
    let form = match (&args.task, &args.tasks, &args.chain) {
        (Some(task), None, None) => Form::Single(task.clone()),
        (None, Some(tasks), None) => Form::Parallel(tasks.clone()),
        (None, None, Some(chain)) => Form::Chain(chain.clone()),
        _ => return wrong("give exactly one of task, tasks and chain"),
    };
    let tasks: &[String] = match &form {
        Form::Single(task) => std::slice::from_ref(task),
        Form::Parallel(tasks) | Form::Chain(tasks) => tasks,
    };
    if tasks.is_empty() || tasks.iter().any(|task| task.trim().is_empty()) {
        return wrong("a task is empty");
    }
    if tasks.len() > MOST {
        return wrong(&format!("{} tasks are too many; at most {MOST} at a time", tasks.len()));
    }
    Ok(form)
}

/// Starts a job that needs nobody's patience.
fn in_background(bench: &Bench, order: Order, form: Form) -> ToolOutcome {
    if let Err(error) = bench.jobs.room() {
        return ToolOutcome::failed(&error);
    }
    let title = format!("agent: {}", one_line(&form.title(), HEADING));
    let job = bench.jobs.host(&title, &bench.spill_dir, |cancel, progress| async move {
        let report = order.run(form, Watcher { cancel, progress, aside: Aside::default() }).await;
        let how = match report.end {
            ReportEnd::Answered => "report ready",
            ReportEnd::Cancelled => "stopped",
            ReportEnd::Failed => "failed",
        };
        let ok = report.end == ReportEnd::Answered;
        Hosted { ok, how: how.to_owned(), text: report.text }
    });
    ToolOutcome::ok(format!(
        "started as task {}; its report comes as a notice, task_output shows it, task_stop ends it. \
         It goes on when the run is stopped, ends with the session, and nobody is asked for it: what \
         would need an answer is refused.",
        job.id
    ))
}

impl Form {
    fn title(&self) -> String {
        match self {
            Self::Single(task) => task.clone(),
            Self::Parallel(tasks) | Self::Chain(tasks) => tasks.join("; "),
        }
    }
}

struct Order {
    team: Arc<dyn Delegates>,
    agent: Option<String>,
    background: bool,
}

impl Order {
    fn errand(&self, task: String) -> Errand {
        Errand { agent: self.agent.clone(), model: None, task, background: self.background }
    }

    async fn run(&self, form: Form, watch: Watcher) -> Report {
        match form {
            Form::Single(task) => self.team.run(self.errand(task), watch).await,
            Form::Parallel(tasks) => self.side_by_side(tasks, &watch).await,
            Form::Chain(tasks) => self.one_by_one(tasks, &watch).await,
        }
    }

    async fn side_by_side(&self, tasks: Vec<String>, watch: &Watcher) -> Report {
        let board = Board::new(&tasks, watch.progress.clone());
        let runs = tasks.iter().enumerate().map(|(at, task)| {
            let watch = Watcher { progress: board.sink(at), ..watch.clone() };
            self.team.run(self.errand(task.clone()), watch)
        });
        together(&tasks, &join_all(runs).await)
    }

    async fn one_by_one(&self, tasks: Vec<String>, watch: &Watcher) -> Report {
        let mut previous = String::new();
        let last = tasks.len();
        for (at, task) in tasks.into_iter().enumerate() {
            let task = task.replace("{previous}", &previous);
            let report = self.team.run(self.errand(task), watch.clone()).await;
            if report.end != ReportEnd::Answered || at + 1 == last {
                let text = if at + 1 == last {
                    report.text
                } else {
                    format!("the chain broke at step {} of {last}:\n{}", at + 1, report.text)
                };
                return Report { text, end: report.end };
            }
            previous = report.text;
        }
        Report { text: previous, end: ReportEnd::Answered }
    }
}

/// One text of several reports, in the order of their tasks.
fn together(tasks: &[String], reports: &[Report]) -> Report {
    let all = |end| reports.iter().all(|report| report.end == end);
    let end = if all(ReportEnd::Failed) {
        ReportEnd::Failed
    } else if reports.iter().any(|report| report.end == ReportEnd::Cancelled) {
        ReportEnd::Cancelled
    } else {
        ReportEnd::Answered
    };
    let parts = tasks.iter().zip(reports).enumerate().map(|(at, (task, report))| {
        let how = match report.end {
            ReportEnd::Answered => "",
            ReportEnd::Cancelled => " (cancelled)",
            ReportEnd::Failed => " (failed)",
        };
        format!("## {}. {}{how}\n{}", at + 1, one_line(task, HEADING), report.text)
    });
    Report { text: parts.collect::<Vec<_>>().join("\n\n"), end }
}

/// The newest lines of agents side by side, as one live view.
#[derive(Clone, Debug)]
struct Board {
    titles: Arc<[String]>,
    lines: Arc<Mutex<Vec<(String, u64)>>>,
    out: ProgressSink,
}

impl Board {
    fn new(tasks: &[String], out: ProgressSink) -> Self {
        let titles = tasks.iter().map(|task| one_line(task, HEADING)).collect();
        Self { titles, lines: Arc::new(Mutex::new(vec![Default::default(); tasks.len()])), out }
    }

    fn sink(&self, at: usize) -> ProgressSink {
        let board = self.clone();
        ProgressSink::new(move |Progress::Output { tail, bytes }| {
            if let Some(line) = lock(&board.lines).get_mut(at) {
                *line = (tail, bytes);
            }
            board.show();
        })
    }

    fn show(&self) {
        let lines = lock(&self.lines).clone();
        let bytes = lines.iter().map(|(_, bytes)| bytes).sum();
        let mut tail = String::new();
        for (at, (title, (text, _))) in self.titles.iter().zip(&lines).enumerate() {
            let newest: Vec<&str> = text.lines().rev().take(LIVE_ROWS - 1).collect();
            // Writing into a string can't fail.
            let _ = writeln!(tail, "{}. {title}", at + 1);
            for line in newest.into_iter().rev() {
                tail.extend(["   ", line, "\n"]);
            }
        }
        self.out.send(Progress::Output { tail, bytes });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
