//! `memory_save`, `memory_search`, `memory_forget`, `memory_read`, `memory_write`: what the model
//! keeps for later sessions. Where and how it is kept is behind [`Memories`]; nothing here touches
//! the workspace.

use std::fmt::Debug;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::kernel::error::ToolError;
use crate::kernel::ports::{Access, ToolOutcome};

use super::bench::{Bench, blocking};
use super::{Job, Tool};

/// Longest text of one fact or rule, in characters.
const LONGEST: usize = 500;

/// Keeps things over sessions. Blocking: files are read and written.
pub trait Memories: Send + Sync + Debug {
    /// Carries a wish out; the answer is for the model.
    ///
    /// # Errors
    /// One line that says what to do instead.
    fn carry_out(&self, wish: Wish) -> Result<String, String>;
}

/// What the model wants of the memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// Keep something.
    Save(SaveArgs),
    /// Find facts and rules.
    Search {
        /// Words; empty for all.
        query: String,
    },
    /// Forget a fact or rule.
    Forget {
        /// Its id.
        id: String,
    },
    /// Show a note on the project.
    Read {
        /// Which; the main page when absent.
        topic: Option<String>,
    },
    /// Change a note on the project.
    Write {
        /// Which; the main page when absent.
        topic: Option<String>,
        /// The text.
        text: String,
        /// Whether it comes after what is there.
        append: bool,
    },
}

/// Arguments of `memory_save`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct SaveArgs {
    /// One sentence.
    pub content: String,
    /// What it is. Default `knowledge`.
    pub kind: Option<Kind>,
    /// For a rule: when it holds. For `profile`: the heading.
    pub context: Option<String>,
    /// How sure it is, 0 to 1. Default 0.8.
    pub confidence: Option<f64>,
}

/// What is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// What the user likes.
    Preference,
    /// What was decided.
    Decision,
    /// What is so.
    Knowledge,
    /// What was wrong before.
    Correction,
    /// A rule of work.
    Rule,
    /// A point of the user's profile.
    Profile,
}

/// Arguments of `memory_search`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SearchArgs {
    /// A few words; without, everything is listed.
    query: Option<String>,
}

/// Arguments of `memory_forget`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ForgetArgs {
    /// The id that `memory_search` shows.
    id: String,
}

/// Arguments of `memory_read`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReadArgs {
    /// The topic; without, the main page.
    topic: Option<String>,
}

/// Arguments of `memory_write`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct WriteArgs {
    /// The topic; without, the main page.
    topic: Option<String>,
    /// The text, Markdown.
    text: String,
    /// Whether it comes after what is there instead of in its place.
    append: Option<bool>,
}

/// Keeps a fact, a rule or a point of the profile.
#[derive(Debug)]
pub struct Save;
/// Finds facts and rules.
#[derive(Debug)]
pub struct Search;
/// Forgets one.
#[derive(Debug)]
pub struct Forget;
/// Shows a note.
#[derive(Debug)]
pub struct Read;
/// Changes a note.
#[derive(Debug)]
pub struct Write;

async fn carry_out(bench: &Bench, wish: Wish) -> ToolOutcome {
    let Some(memory) = bench.memory.clone() else {
        let text = "nothing is kept over sessions here; go on without";
        return ToolOutcome::failed(&ToolError::new("Unavailable", text));
    };
    let done = blocking(move || {
        let memory: Arc<dyn Memories> = memory;
        memory.carry_out(wish).map_err(|reason| ToolError::new("Memory", reason))
    });
    match done.await {
        Ok(text) => ToolOutcome::ok(text),
        Err(error) => ToolOutcome::failed(&error),
    }
}

impl Tool for Save {
    type Args = SaveArgs;

    fn access(_: &Bench, _: &SaveArgs) -> Vec<Access> {
        Vec::new()
    }

    async fn run(bench: &Bench, mut args: SaveArgs, _: Job) -> ToolOutcome {
        let chars = args.content.chars().count();
        if chars == 0 || chars > LONGEST {
            let text =
                format!("content has {chars} characters; give one sentence, at most {LONGEST}");
            return ToolOutcome::failed(&ToolError::new("InvalidArguments", text));
        }
        bench.mask.hide(&mut args.content);
        carry_out(bench, Wish::Save(args)).await
    }
}

impl Tool for Search {
    type Args = SearchArgs;

    fn access(_: &Bench, _: &SearchArgs) -> Vec<Access> {
        Vec::new()
    }

    async fn run(bench: &Bench, args: SearchArgs, _: Job) -> ToolOutcome {
        carry_out(bench, Wish::Search { query: args.query.unwrap_or_default() }).await
    }
}

impl Tool for Forget {
    type Args = ForgetArgs;

    fn access(_: &Bench, _: &ForgetArgs) -> Vec<Access> {
        Vec::new()
    }

    async fn run(bench: &Bench, args: ForgetArgs, _: Job) -> ToolOutcome {
        carry_out(bench, Wish::Forget { id: args.id }).await
    }
}

impl Tool for Read {
    type Args = ReadArgs;

    fn access(_: &Bench, _: &ReadArgs) -> Vec<Access> {
        Vec::new()
    }

    async fn run(bench: &Bench, args: ReadArgs, _: Job) -> ToolOutcome {
        carry_out(bench, Wish::Read { topic: args.topic }).await
    }
}

impl Tool for Write {
    type Args = WriteArgs;

    fn access(_: &Bench, _: &WriteArgs) -> Vec<Access> {
        Vec::new()
    }

    async fn run(bench: &Bench, args: WriteArgs, _: Job) -> ToolOutcome {
        let WriteArgs { topic, mut text, append } = args;
        bench.mask.hide(&mut text);
        let append = append == Some(true);
        carry_out(bench, Wish::Write { topic, text, append }).await
    }
}
