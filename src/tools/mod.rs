//! Tools: side effects live here and nowhere else. This file holds what a tool is, the table of
//! them, and [`Tools`], which answers the kernel's `Toolbox` port from that table. It decides
//! nothing about permission: whoever calls [`Toolbox::run`] has asked the gate before.

pub mod address;
pub mod ask;
pub mod bash;
pub mod bench;
pub mod capture;
pub mod clean;
pub mod closest;
pub mod compress;
pub mod confine;
pub mod delegate;
pub mod diff;
pub mod download;
pub mod edit;
pub mod environment;
pub mod exit_plan_mode;
pub mod fetch;
pub mod files;
pub mod find_tools;
pub mod glob;
pub mod grep;
pub mod hunks;
pub mod jobs;
pub mod kind;
pub mod list;
pub mod mask;
pub mod matching;
pub mod memory;
pub mod notebook;
pub mod output;
pub mod paths;
pub mod picture;
mod policy;
pub mod process;
pub mod read;
pub mod readable;
pub mod reference;
pub mod replace;
mod row;
pub mod schema;
pub mod setting;
pub mod skill;
pub mod stamps;
pub mod subagent;
pub mod task_list;
pub mod task_output;
pub mod task_stop;
pub mod todo;
pub mod validate;
pub mod walk;
pub mod watch;
pub mod web_search;
pub mod write;

use std::fmt::Debug;
use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, OnceLock};

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::kernel::command::{EXIT_PLAN, HunkChoice};
use crate::kernel::dedupe::canonical;
use crate::kernel::error::ToolError;
use crate::kernel::event::Preview;
use crate::kernel::message::{Block, CallId, CallStatus, Detail, ToolCall};
use crate::kernel::ports::{
    Access, Aside, CallContext, Capability, Interrupt, ProgressSink, ToolOutcome, ToolSpec,
    ToolTraits, Toolbox,
};

use bench::Bench;
use compress::Compressor;
use policy::{Length, Reuse};
use row::{PreviewFuture, Row};
pub use setting::{Closed, ToolsConfig, Web};

/// One kind of call the model can make.
pub trait Tool {
    /// What the model sends; its schema is made from this type.
    type Args: DeserializeOwned + JsonSchema + Send + 'static;

    /// What the call would touch. Pure.
    fn access(bench: &Bench, args: &Self::Args) -> Vec<Access>;

    /// Checks what the schema cannot and says what is about to happen, without a side effect.
    fn preview(
        bench: &Bench,
        id: &CallId,
        args: Self::Args,
    ) -> impl Future<Output = Result<Option<Preview>, ToolError>> + Send {
        let _ = (bench, id, args);
        std::future::ready(Ok(None))
    }

    /// Does the work.
    fn run(bench: &Bench, args: Self::Args, job: Job) -> impl Future<Output = ToolOutcome> + Send;
}

/// What a running tool is given beside its arguments.
#[derive(Clone, Debug)]
pub struct Job {
    /// The call it answers.
    pub id: CallId,
    /// Fires when the work is no longer wanted.
    pub cancel: CancellationToken,
    /// Fires when the work is to go on in the background.
    pub background: CancellationToken,
    /// Where reports go.
    pub progress: ProgressSink,
    /// Where it books tokens of its own.
    pub aside: Aside,
    /// Where the tool says what a short form of its result must not lose.
    pub kept: Arc<OnceLock<Kept>>,
}

/// What a short form of a result must not lose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The file that holds all of the output, when the result does not.
    pub file: Option<PathBuf>,
    /// What the tool itself says about the end, a line each.
    pub notes: Vec<String>,
}

const LOOK: ToolTraits = ToolTraits::new(Capability::Read, true, Interrupt::Cancel);
const CHANGE: ToolTraits = ToolTraits::new(Capability::Write, false, Interrupt::Finish);
const SHELL: ToolTraits = ToolTraits::new(Capability::Shell, false, Interrupt::Finish);

const OWN: ToolTraits = ToolTraits::new(Capability::Internal, true, Interrupt::Cancel);
/// Nobody knows what an agent will change, so nothing overtakes it.
const HAND_OVER: ToolTraits = ToolTraits::new(Capability::Delegate, false, Interrupt::Finish);

macro_rules! text {
    ($name:literal) => {
        include_str!(concat!("../../assets/tools/", $name, ".md"))
    };
}

/// The table, in the order the model is told. A new tool is a file and a row here.
static TABLE: &[Row] = &[
    Row::of::<read::Read>("read", LOOK, text!("read"))
        .when_long(Length::Verbatim)
        .reusable(Reuse::SameFile),
    Row::of::<write::Write>("write", CHANGE, text!("write")),
    Row::of::<edit::Edit>("edit", CHANGE, text!("edit")),
    Row::of::<bash::Bash>("bash", SHELL, text!("bash")).when_long(Length::Summarize),
    Row::of::<grep::Grep>("grep", LOOK, text!("grep")).reusable(Reuse::Turn),
    Row::of::<glob::Glob>("glob", LOOK, text!("glob")).reusable(Reuse::Turn),
    Row::of::<list::List>("ls", LOOK, text!("ls")).reusable(Reuse::Turn),
    Row::of::<task_output::TaskOutput>("task_output", OWN.polling(), text!("task_output"))
        .when_long(Length::Verbatim),
    Row::of::<task_list::TaskList>("task_list", OWN, text!("task_list")),
    Row::of::<task_stop::TaskStop>("task_stop", OWN, text!("task_stop")),
    Row::of::<fetch::WebFetch>("web_fetch", WEB, text!("web_fetch")).when_long(Length::Summarize),
    Row::of::<web_search::WebSearch>(WEB_SEARCH, WEB, text!("web_search")),
    Row::of::<todo::TodoWrite>("todo_write", NOTE, text!("todo_write")),
    Row::of::<ask::AskUser>(ASK_USER, ASK, text!("ask_user")).when_long(Length::Verbatim),
    Row::of::<exit_plan_mode::ExitPlanMode>(EXIT_PLAN, OWN.exclusive(), text!("exit_plan_mode")),
    Row::of::<subagent::Subagent>(SUBAGENT, HAND_OVER, text!("subagent")),
    Row::of::<skill::Skill>(SKILL, HAND_OVER, text!("skill")).when_long(Length::Verbatim),
    Row::of::<memory::Save>("memory_save", OWN, text!("memory_save")),
    Row::of::<memory::Search>("memory_search", OWN, text!("memory_search")),
    Row::of::<memory::Forget>("memory_forget", OWN, text!("memory_forget")),
    Row::of::<memory::Read>("memory_read", OWN, text!("memory_read")),
    Row::of::<memory::Write>("memory_write", OWN, text!("memory_write")),
];

/// One list after the other.
const NOTE: ToolTraits = ToolTraits::new(Capability::Internal, false, Interrupt::Finish);
/// A person is asked one thing at a time.
const ASK: ToolTraits = ToolTraits::new(Capability::Internal, false, Interrupt::Cancel).exclusive();

/// Changes nothing here and nothing there.
const WEB: ToolTraits = ToolTraits::new(Capability::Network, true, Interrupt::Cancel);

/// The tool that needs a search service.
const WEB_SEARCH: &str = "web_search";
/// The tool that needs somebody to ask.
const ASK_USER: &str = "ask_user";
/// The tool that needs somebody who runs agents.
const SUBAGENT: &str = "subagent";
/// The tool that needs skills.
const SKILL: &str = "skill";
/// How the tools begin that need a memory.
const MEMORY: &str = "memory_";

/// The rows as the model is told about them, made once per process.
static SPECS: LazyLock<Arc<[ToolSpec]>> = LazyLock::new(|| {
    let spec = |row: &Row| ToolSpec {
        deferred: false,
        name: row.name.to_owned(),
        description: row.description.trim_end().to_owned(),
        schema: (row.schema)(),
    };
    TABLE.iter().map(spec).collect()
});

/// The tools of one session. Dropping it stops every process that a tool started.
#[derive(Debug)]
pub struct Tools {
    bench: Bench,
    compressor: Option<Compressor>,
    only: Option<Vec<String>>,
    specs: Arc<[ToolSpec]>,
}

impl Tools {
    /// Tools that work as `config` says.
    pub fn new(mut config: ToolsConfig) -> Self {
        let compressor = config.compressor.take();
        let only = config.only.take();
        let bench = Bench::new(config);
        let mut tools = Self { bench, compressor, only, specs: Arc::default() };
        tools.specs = tools.offered();
        tools
    }

    /// What these tools offer; the tool for agents names their kinds.
    fn offered(&self) -> Arc<[ToolSpec]> {
        let mut specs: Vec<ToolSpec> =
            SPECS.iter().filter(|spec| self.offers(&spec.name)).cloned().collect();
        if let Some(team) = &self.bench.team
            && let Some(spec) = specs.iter_mut().find(|spec| spec.name == SUBAGENT)
        {
            spec.description.push_str("\n\nKinds of agents:");
            for (name, what) in team.kinds() {
                spec.description.extend(["\n- ", &name, ": ", &what]);
            }
        }
        specs.into()
    }

    fn offers(&self, name: &str) -> bool {
        let wanted = self.only.as_ref().is_none_or(|only| only.iter().any(|one| one == name));
        let bench = &self.bench;
        let served = match name {
            SUBAGENT => bench.team.is_some(),
            WEB_SEARCH => bench.web.search.is_some(),
            ASK_USER => bench.asks.is_some(),
            SKILL => bench.skills.is_some(),
            name => bench.memory.is_some() || !name.starts_with(MEMORY),
        };
        wanted && served
    }

    /// Stops every process that a tool started, left-over background processes included. Blocks
    /// for half a second at most.
    pub fn stop_all(&self) {
        self.bench.jobs.stop_all();
        self.bench.processes.stop_all();
    }

    /// Keeps a further secret out of every result from now on.
    pub fn hide(&self, secret: String) {
        self.bench.mask.learn(vec![secret]);
    }

    /// Makes a good result short, when it is long.
    async fn shorten(
        &self,
        compressor: &Compressor,
        row: &Row,
        long: TooLong<'_>,
        cancel: &CancellationToken,
        aside: &Aside,
    ) -> ToolOutcome {
        let TooLong { of, id, kept, mut outcome } = long;
        if outcome.status != CallStatus::Ok {
            return outcome;
        }
        for block in &mut outcome.blocks {
            let Block::Text { text } = block else { continue };
            if kept.file.is_none() && text.chars().count() <= compress::ABOVE {
                continue;
            }
            let (dir, name) = (&self.bench.spill_dir, row.name);
            let save = || output::save(text, dir, name, id);
            let (whole, saved) = compress::whole(text, kept.file.as_deref(), save);
            let long = compress::Long { of: &of, text: &whole, saved: &saved };
            let short = compressor.shorten(&long, cancel, aside).await;
            *text = kept.notes.iter().fold(short, |text, note| format!("{text}\n{note}"));
        }
        outcome
    }

    fn finish(&self, row: &Row, id: &CallId, mut outcome: ToolOutcome) -> ToolOutcome {
        if let Some(Detail::Diff(diff)) = &mut outcome.detail {
            // Details are shown and stored, so they are no place for a secret either.
            diff::texts(diff).for_each(|text| self.bench.mask.hide(text));
        }
        // Without a small model what would be summarised is capped.
        let ready = self.compressor.as_ref().is_some_and(Compressor::is_ready);
        let capped = match row.length {
            Length::Cap => true,
            Length::Summarize => !ready || outcome.status != CallStatus::Ok,
            Length::Verbatim => false,
        };
        for block in &mut outcome.blocks {
            let Block::Text { text } = block else { continue };
            self.bench.mask.hide(text);
            if capped && text.len() > output::LIMIT {
                *text = output::limited(text, &self.bench.spill_dir, row.name, id);
            }
        }
        outcome
    }
}

/// A result that may have to be made short.
struct TooLong<'a> {
    /// What it is the output of.
    of: String,
    id: &'a CallId,
    kept: Kept,
    outcome: ToolOutcome,
}

impl Drop for Tools {
    fn drop(&mut self) {
        self.stop_all();
    }
}

fn row(name: &str) -> Option<(&'static Row, &'static ToolSpec)> {
    let index = TABLE.iter().position(|row| row.name == name)?;
    Some((&TABLE[index], SPECS.get(index)?))
}

/// The row and the call's arguments in the form its type expects.
fn resolve(call: &ToolCall) -> Option<(&'static Row, Value)> {
    let (row, spec) = row(&call.name)?;
    Some((row, validate::adapt(&spec.schema, Value::Object(call.args.clone()))))
}

fn unknown(call: &ToolCall) -> ToolError {
    ToolError::new("UnknownTool", format!("there is no tool named {}", call.name))
}

impl Toolbox for Tools {
    fn specs(&self) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs)
    }

    fn traits(&self, name: &str) -> Option<ToolTraits> {
        row(name).filter(|_| self.offers(name)).map(|(row, _)| row.traits)
    }

    fn validate(&self, call: &ToolCall) -> Result<(), String> {
        let Some((_, spec)) = row(&call.name) else { return Err(unknown(call).to_string()) };
        if let Some(invalid) = &call.invalid {
            return Err(format!("the arguments are not a JSON object: {}", invalid.error));
        }
        validate::check(&call.name, &spec.schema, &call.args)
    }

    fn access(&self, call: &ToolCall) -> Vec<Access> {
        resolve(call).map_or_else(Vec::new, |(row, args)| (row.access)(&self.bench, &args))
    }

    fn preview<'a>(&'a self, call: &'a ToolCall) -> PreviewFuture<'a> {
        match resolve(call) {
            Some((row, args)) => Box::pin(async move {
                let preview = (row.preview)(&self.bench, &call.id, args).await;
                preview.map_err(|mut error| {
                    self.bench.mask.hide(&mut error.message);
                    error
                })
            }),
            None => Box::pin(std::future::ready(Err(unknown(call)))),
        }
    }

    fn cache_key(&self, call: &ToolCall) -> Option<String> {
        let (row, args) = resolve(call)?;
        let Value::Object(args) = args else { return None };
        // What runs beside us may change a file at any moment.
        if row.reuse == Reuse::Never || self.bench.processes.any_alive() {
            return None;
        }
        Some(format!("{} {}", row.name, canonical(&args)))
    }

    fn fingerprint<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let (row, args) = resolve(call).filter(|(row, _)| row.reuse == Reuse::SameFile)?;
            match (row.access)(&self.bench, &args).as_slice() {
                [Access::Read(path)] => stamps::fingerprint(path).await,
                _ => None,
            }
        })
    }

    fn choose(&self, id: &CallId, hunks: Vec<HunkChoice>) {
        self.bench.stamps.chose(id, hunks);
    }

    fn run(&self, call: ToolCall, context: CallContext) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async move {
            let Some((row, args)) = resolve(&call) else {
                return ToolOutcome::failed(&unknown(&call));
            };
            let CallContext { cancel, background, progress, aside } = context;
            let kept: Arc<OnceLock<Kept>> = Arc::default();
            let job = Job {
                id: call.id.clone(),
                cancel: cancel.clone(),
                background,
                progress,
                aside: aside.clone(),
                kept: Arc::clone(&kept),
            };
            let named = ["command", "url"].iter().find_map(|key| args.get(*key)?.as_str());
            let of = named.unwrap_or(row.name).to_owned();
            let outcome = (row.run)(&self.bench, args, job).await;
            let outcome = self.finish(row, &call.id, outcome);
            match &self.compressor {
                Some(compressor) if row.length == Length::Summarize && compressor.is_ready() => {
                    let kept = kept.get().cloned().unwrap_or_default();
                    let long = TooLong { of, id: &call.id, kept, outcome };
                    self.shorten(compressor, row, long, &cancel, &aside).await
                }
                _ => outcome,
            }
        })
    }
}

/// The outcome of a call that was stopped before it had anything to show.
fn cancelled() -> ToolOutcome {
    ToolOutcome::new(CallStatus::Cancelled, vec![Block::text("[cancelled]")])
}
