//! `ask_user`: questions with options for the person at the screen. How they are shown and answered
//! is behind a trait; without anybody to ask the model is told so at once.

use std::fmt::{Debug, Write as _};

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::kernel::error::ToolError;
use crate::kernel::event::Preview;
use crate::kernel::message::{Block, CallId, CallStatus};
use crate::kernel::ports::{Access, ToolOutcome};
use crate::kernel::question::{MOST_QUESTIONS, OPTIONS, Question, Replies, Reply};

use super::bench::Bench;
use super::{Job, Tool};

/// Puts questions to the person.
pub trait Asks: Send + Sync + Debug {
    /// Asks, and waits as long as it takes. Dropping the future takes the questions back.
    fn ask(&self, id: &CallId, questions: Vec<Question>) -> BoxFuture<'static, Replies>;
}

/// Asks the user.
#[derive(Debug)]
pub struct AskUser;

/// Arguments of `ask_user`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// One to four questions that can be answered independently of each other.
    #[schemars(length(min = 1, max = 4))]
    questions: Vec<Question>,
}

impl Tool for AskUser {
    type Args = Args;

    fn access(_: &Bench, _: &Args) -> Vec<Access> {
        Vec::new()
    }

    async fn preview(_: &Bench, _: &CallId, args: Args) -> Result<Option<Preview>, ToolError> {
        check(&args.questions).map(|()| None)
    }

    async fn run(bench: &Bench, args: Args, job: Job) -> ToolOutcome {
        if let Err(error) = check(&args.questions) {
            return ToolOutcome::failed(&error);
        }
        let Some(asks) = &bench.asks else { return nobody() };
        let replies = tokio::select! {
            biased;
            () = job.cancel.cancelled() => {
                return ToolOutcome::new(CallStatus::Cancelled, vec![Block::text("[cancelled]")]);
            }
            replies = asks.ask(&job.id, args.questions.clone()) => replies,
        };
        match replies {
            Replies::Answered(replies) => ToolOutcome::ok(told(&args.questions, &replies)),
            Replies::Declined => ToolOutcome::ok(
                "The user did not want to answer. Go on with what you think is best and say what \
                 you assumed, or stop if nothing sensible can be done.",
            ),
            Replies::Nobody => nobody(),
        }
    }
}

fn nobody() -> ToolOutcome {
    let text = "nobody can be asked here; decide yourself and say what you assumed";
    ToolOutcome::failed(&ToolError::new("Unavailable", text))
}

fn check(questions: &[Question]) -> Result<(), ToolError> {
    let wrong = |text: String| Err(ToolError::new("InvalidArguments", text));
    if !(1..=MOST_QUESTIONS).contains(&questions.len()) {
        return wrong(format!("ask 1 to {MOST_QUESTIONS} questions, not {}", questions.len()));
    }
    for question in questions {
        let name = &question.header;
        if question.question.trim().is_empty() || name.trim().is_empty() {
            return wrong("a question or its header is empty".to_owned());
        }
        if !OPTIONS.contains(&question.options.len()) {
            let (least, most) = (OPTIONS.start(), OPTIONS.end());
            let count = question.options.len();
            return wrong(format!("{name}: give {least} to {most} options, not {count}"));
        }
        let mut labels: Vec<&str> = question.options.iter().map(|o| o.label.trim()).collect();
        labels.sort_unstable();
        if labels.iter().any(|label| label.is_empty()) || labels.windows(2).any(|w| w[0] == w[1]) {
            return wrong(format!("{name}: labels of options must be there and differ"));
        }
    }
    Ok(())
}

/// Questions and answers for the model.
fn told(questions: &[Question], replies: &[Reply]) -> String {
    let mut text = String::new();
    for (question, reply) in questions.iter().zip(replies) {
        let mut answer = reply.chosen.join(", ");
        if let Some(words) = reply.words.as_deref().filter(|words| !words.trim().is_empty()) {
            let gap = if answer.is_empty() { "" } else { "; " };
            // Writing to a string can't fail.
            let _infallible = write!(answer, "{gap}in their own words: {words}");
        }
        if answer.is_empty() {
            "(no answer)".clone_into(&mut answer);
        }
        let gap = if text.is_empty() { "" } else { "\n\n" };
        let _infallible = write!(text, "{gap}{}\n→ {answer}", question.question.trim());
    }
    text
}
