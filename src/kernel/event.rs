//! Everything that leaves a run. Events are facts in order; a front end that replays them shows
//! the same screen.
//!
//! Grammar of one run: `RunStart (TurnStart … TurnEnd)* [Error] RunEnd`. Every call has one
//! `ToolStart` and one `ToolEnd`; nothing of the run follows `RunEnd`. `Queue`, `QueueReturned`,
//! `Mode`, `Plan`, `RoutePinned`, `LimitChanged`, `TakenBack` and `Rejected` answer a command and may come at any time, between runs too.

use serde::{Deserialize, Serialize};

use super::budget::{Cap, Reached};
use super::command::{Answer, Mode};
use super::compaction::{Phase, Step};
use super::message::{
    CallId, CallStatus, FileDiff, Message, MessageId, QueueId, RunId, ToolCall, ToolMessage, Usage,
};

pub use super::ports::Finished;

/// One thing that happened. Serialised with `type` in snake case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A run began.
    RunStart {
        /// Its id.
        run: RunId,
    },
    /// A model request is about to be made.
    TurnStart {
        /// Counted from 1 within the run.
        turn: u32,
    },
    /// The model began to answer.
    MessageStart {
        /// The id that `MessageEnd` will carry.
        id: MessageId,
    },
    /// A piece of the answer.
    MessageDelta {
        /// What was added.
        delta: Delta,
    },
    /// A message was committed (journal first, then memory): user, assistant or tool.
    MessageEnd {
        /// The message as it stands in history.
        message: Message,
    },
    /// The answer under way was dropped; nothing of it stays.
    MessageDiscarded {
        /// The turn it belonged to.
        turn: u32,
    },
    /// A call entered the pipeline.
    ToolStart {
        /// The call; `args` are the model's own.
        call: ToolCall,
        /// What it is about to do, when the tool can say.
        preview: Option<Preview>,
    },
    /// A running call reports.
    ToolProgress {
        /// Which call.
        id: CallId,
        /// What it reports.
        progress: Progress,
    },
    /// A call left the pipeline.
    ToolEnd {
        /// Which call.
        id: CallId,
        /// The tool's name.
        name: String,
        /// How it ended.
        status: CallStatus,
        /// The result as it will be committed.
        result: ToolMessage,
    },
    /// A call waits for the user.
    ApprovalAsked {
        /// What to show.
        approval: Approval,
    },
    /// A prompt was answered or withdrawn.
    ApprovalClosed {
        /// Which call.
        id: CallId,
        /// The answer; `None` when it was withdrawn.
        answer: Option<Answer>,
    },
    /// The model call failed and will be tried again after a wait.
    Retry {
        /// Counted from 1.
        attempt: u32,
        /// The most attempts there will be.
        max: u32,
        /// Milliseconds until the next attempt.
        delay_ms: u64,
        /// One clean line.
        error: String,
    },
    /// The model will be told that background work has ended.
    Notice {
        /// What ended, one entry a piece.
        finished: Vec<Finished>,
    },
    /// The service could not stream; the plain answer was used.
    StreamFallback,
    /// The model for quick looks failed before it said anything: the main one takes over.
    ModelFailover {
        /// Who failed.
        from: String,
        /// Who answers from now on.
        to: String,
        /// One clean line.
        error: String,
    },
    /// A chat begins, judged to need this much.
    RouteSelected {
        /// The tier.
        tier: Tier,
        /// Why, in a word or two.
        rule: String,
        /// Model calls until somebody looks up.
        budget: u32,
        /// Who answers.
        model: String,
    },
    /// The chat needs more than was thought.
    RouteEscalated {
        /// The tier so far.
        from: Tier,
        /// The tier from now on.
        to: Tier,
        /// Model calls of the new tier.
        budget: u32,
    },
    /// The same calls again without progress: the model is asked to reflect.
    Reflection {
        /// Counted from 1 in the chat.
        number: u32,
        /// Whether it is the reminder that follows a reflection.
        again: bool,
        /// The repeated calls, at most 200 characters.
        signature: String,
    },
    /// This turn is the report that ends the chat.
    WrapUp {
        /// Why.
        reason: WrapReason,
    },
    /// The view of the history becomes smaller.
    Compaction {
        /// Which step.
        step: Step,
        /// How far it is.
        #[serde(flatten)]
        phase: Phase,
    },
    /// What a model call cost.
    Usage {
        /// What it was for.
        purpose: Purpose,
        /// Tokens.
        usage: Usage,
        /// US dollars, when the price of that model is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
    },
    /// A line for people, no failure.
    Status {
        /// The line.
        text: String,
    },
    /// The run is about to end with an error.
    Error {
        /// One clean line that names the thing and the remedy.
        message: String,
    },
    /// The turn is over, its tools included.
    TurnEnd {
        /// Counted from 1 within the run.
        turn: u32,
    },
    /// The run is over. The last event of every run.
    RunEnd {
        /// What happened in it.
        #[serde(flatten)]
        summary: RunSummary,
    },
    /// The queues changed.
    Queue {
        /// All undelivered items, in delivery order.
        items: Vec<QueueItem>,
    },
    /// Items taken out by `QueueEdit::TakeAll`; the front end owns them now.
    QueueReturned {
        /// The items, in the order they were queued.
        items: Vec<QueueItem>,
    },
    /// The permission mode is now this one.
    Mode {
        /// The mode in force for the next decision.
        mode: Mode,
    },
    /// Planning is now on or off.
    Plan {
        /// Whether only looking and the plan are allowed.
        on: bool,
    },
    /// The tier of the next chats is now fixed, or free again.
    RoutePinned {
        /// The tier; `None` when the words decide.
        tier: Option<Tier>,
    },
    /// A cap on runs is now this.
    LimitChanged {
        /// Which.
        cap: Cap,
        /// Its value, in its own unit.
        value: f64,
    },
    /// The last turn was taken out of the conversation.
    TakenBack {
        /// What is gone.
        ids: Vec<MessageId>,
        /// The words that began it; the front end owns them now.
        text: String,
    },
    /// A command could not be carried out; nothing changed.
    Rejected {
        /// Why, one line.
        reason: String,
    },
}

/// A piece of a streamed answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Delta {
    /// Answer text.
    Text {
        /// The added text.
        text: String,
    },
    /// Reasoning text.
    Thinking {
        /// The added text.
        text: String,
    },
    /// A call is being written.
    Call {
        /// The tool's name as far as known.
        name: String,
        /// Bytes of arguments received so far.
        bytes: u64,
    },
}

/// What a call is about to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Preview {
    /// A change of a file.
    Diff(FileDiff),
    /// A command line.
    Command {
        /// The command as it will be handed to the shell.
        command: String,
        /// Where it runs, as shown to people.
        workdir: String,
    },
    /// A plan that ends the planning when it is agreed to.
    Plan {
        /// Markdown.
        text: String,
    },
}

/// A report of a running call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Progress {
    /// The newest output of a command (at most some 4 KB, whole lines), replacing the last report.
    Output {
        /// The tail.
        tail: String,
        /// Bytes so far.
        bytes: u64,
    },
}

/// A question to the user about one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// The call as the model wrote it.
    pub call: ToolCall,
    /// What it is about to do.
    pub preview: Option<Preview>,
    /// Why it asks, one line.
    pub reason: String,
    /// The single commands or paths that were judged, for people.
    pub parts: Vec<String>,
    /// The exact rule that "always" would save; `None` when it can't be remembered.
    pub rule: Option<String>,
    /// Marks what could destroy much.
    pub danger: bool,
}

/// How much a chat is thought to need.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// A quick look: few tools, a short prompt.
    Fast,
    /// A short request.
    Medium,
    /// Real work.
    #[default]
    Full,
}

impl Tier {
    /// All tiers, the smallest first.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Medium, Self::Full];

    /// The name on screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Medium => "medium",
            Self::Full => "full",
        }
    }

    /// The tier of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.name() == name)
    }
}

/// What a model call was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A turn of the conversation.
    Main,
    /// Making a long result short.
    Compress,
    /// Summing up the conversation.
    Compact,
    /// What other agents did on the model's behalf.
    Child,
    /// Looking for what is worth remembering.
    Memory,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// A normal stop.
    Stop,
    /// The user stopped it.
    Aborted,
    /// The cap on turns was reached.
    MaxTurns,
    /// The budget of tokens, money or time is used up.
    Budget,
    /// The provider, the journal or our own code failed.
    Error,
}

/// Why a chat ended with a report instead of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WrapReason {
    /// The calls of its tier were used up.
    MaxIters,
    /// It did the same again and again.
    Stuck,
    /// The cap on turns of the run is reached.
    MaxTurns,
}

/// The sum of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The run.
    pub run: RunId,
    /// Why it ended.
    pub reason: EndReason,
    /// Model responses.
    pub turns: u32,
    /// Calls that entered the pipeline.
    pub tool_calls: u32,
    /// Calls that ended other than ok.
    pub tool_errors: u32,
    /// Calls that were denied because nobody could be asked.
    pub denied_unasked: u32,
    /// Tokens of the run, side work included.
    pub usage: Usage,
    /// US dollars of the run, as far as prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Wall time in milliseconds.
    pub elapsed_ms: u64,
    /// The last assistant text of the run, never tool output.
    pub text: String,
    /// Set when the last chat ended with a report, which `text` holds then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrap: Option<WrapReason>,
    /// The cap that was reached, when `reason` is `max_turns` or `budget`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Reached>,
    /// The failure, when `reason` is `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
}

/// What ended a run with an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunError {
    /// One clean line that names the thing and the remedy.
    pub message: String,
    /// Whether the provider refused or failed (as opposed to our side).
    pub provider: bool,
}

/// A message waiting for delivery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueItem {
    /// Stable until delivered.
    pub id: QueueId,
    /// When it will be used.
    pub kind: QueueKind,
    /// The words.
    pub text: String,
}

/// When a queued message is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueKind {
    /// At the next boundary of the live run.
    Steer,
    /// When the run would otherwise stop.
    FollowUp,
}
