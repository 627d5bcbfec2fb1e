//! Messages and blocks: the provider-neutral history that the loop keeps, the journal stores and
//! the screen draws. Nothing here knows a wire format; what a service needs back byte for byte
//! travels in [`Opaque`] and is returned only to the provider and model that made it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// Names one message of a conversation; unique within a session.
    MessageId
);
id!(
    /// Names one tool call; unique within one assistant message after the stream was assembled.
    CallId
);
id!(
    /// Names one run, from its prompt to its `RunEnd`.
    RunId
);
id!(
    /// Names one queued message; stable until the item is delivered or removed.
    QueueId
);

/// Milliseconds since the Unix epoch, as the injected clock tells them.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

/// Which model of which configured provider, written `provider/model`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelRef {
    /// Name of the provider's table row or config section.
    pub provider: String,
    /// The model's name as the service knows it; may itself contain slashes.
    pub model: String,
}

impl std::fmt::Display for ModelRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.model.is_empty() {
            return f.write_str(&self.provider);
        }
        write!(f, "{}/{}", self.provider, self.model)
    }
}

/// Data that only its maker can read (signatures, encrypted reasoning). Kept and replayed byte for
/// byte, and only to the same provider and model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opaque {
    /// Who made it.
    pub model: ModelRef,
    /// The service's own item or field, untouched.
    pub data: Value,
}

/// One piece of a message, in the order it was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Plain or Markdown text.
    Text {
        /// The text, as received.
        text: String,
    },
    /// The model's visible reasoning. `opaque` holds its signature when the service gave one.
    Thinking {
        /// The reasoning text, never trimmed (a signature covers it).
        text: String,
        /// Signature or encrypted twin.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Opaque>,
    },
    /// A tool call the model asked for. Only in assistant messages.
    Call(ToolCall),
    /// A picture, base64 encoded.
    Image {
        /// For example `image/png`.
        media_type: String,
        /// Base64 of the bytes.
        data: String,
    },
    /// An item without a meaning of its own for us (redacted thinking and the like).
    Opaque(Opaque),
}

impl Block {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// A completed request of the model to run a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Pairs the call with its result.
    pub id: CallId,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments; `{}` when what arrived was not a JSON object (see `invalid`).
    pub args: Map<String, Value>,
    /// Set when the arguments could not be read; such a call never runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<InvalidArgs>,
    /// A signature that belongs to this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Opaque>,
}

/// Why a call's arguments were unusable, with what really arrived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InvalidArgs {
    /// The text as received.
    pub raw: String,
    /// The parser's complaint, one line.
    pub error: String,
}

/// Where a user-side message came from. Only the first three are a person's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Typed while idle; starts a chat scope.
    Prompt,
    /// Typed for the live run.
    Steer,
    /// Queued for when the run would otherwise stop; starts a chat scope.
    FollowUp,
    /// Written by the harness (interrupted work, background results).
    Notice,
    /// Injected after an answer that hit the output limit.
    Resume,
}

impl Origin {
    /// Whether a person wrote it.
    pub fn is_user_written(self) -> bool {
        matches!(self, Self::Prompt | Self::Steer | Self::FollowUp)
    }
}

/// A message on the user's side of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// Its id.
    pub id: MessageId,
    /// When it was committed.
    pub at: Timestamp,
    /// Who wrote it.
    pub origin: Origin,
    /// Text and images.
    pub blocks: Vec<Block>,
    /// The message before which the model sees this one, when that is not its place in the
    /// history: news of the harness that came after a question, but before its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<MessageId>,
}

/// Why the model stopped. A hint only: completed calls decide whether tools run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// A finished answer.
    #[default]
    EndTurn,
    /// It wants tool results.
    ToolUse,
    /// Output limit reached.
    Length,
    /// The model declined.
    Refusal,
    /// The service's filter cut in.
    ContentFilter,
    /// The service paused a long turn; send it back to go on.
    Pause,
    /// The stream broke after a side effect had started; the message is partial.
    Error,
    /// The user stopped it; the message is partial.
    Aborted,
}

/// Four disjoint token counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to a cache.
    pub input: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// Input tokens served from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache.
    pub cache_write: u64,
}

impl Usage {
    /// All input tokens of the request, cached or not.
    pub fn total_input(self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
    }
}

/// One answer of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// Its id.
    pub id: MessageId,
    /// When it was committed.
    pub at: Timestamp,
    /// Who answered.
    pub model: ModelRef,
    /// Text, thinking, calls and opaque items in order.
    pub blocks: Vec<Block>,
    /// Why it ended.
    pub stop: Stop,
    /// What it cost.
    pub usage: Usage,
}

impl AssistantMessage {
    /// The completed calls in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            _ => None,
        })
    }

    /// All text blocks joined.
    pub fn text(&self) -> String {
        text_of(&self.blocks)
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// It worked.
    Ok,
    /// It failed, was unknown or had invalid arguments.
    Error,
    /// The gate or the user refused it.
    Denied,
    /// Steering or an exclusive sibling came first; it never started.
    Skipped,
    /// Abort stopped it or kept it from starting.
    Cancelled,
    /// Its time limit passed.
    TimedOut,
    /// The tool's code panicked.
    Panicked,
}

/// The answer to one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolMessage {
    /// Its id.
    pub id: MessageId,
    /// When it was committed.
    pub at: Timestamp,
    /// The call it answers.
    pub call_id: CallId,
    /// The tool's name.
    pub tool: String,
    /// How the call ended.
    pub status: CallStatus,
    /// What the model sees.
    pub blocks: Vec<Block>,
    /// What only the screen shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// Whether it is the result of an equal call before, used again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
}

impl ToolMessage {
    /// All text blocks joined.
    pub fn text(&self) -> String {
        text_of(&self.blocks)
    }
}

/// Facts about a finished call for people, never for the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Detail {
    /// A change of one file.
    Diff(FileDiff),
    /// A command that ran.
    Shell {
        /// Exit code; `None` when a signal ended it.
        exit: Option<i32>,
        /// Wall time in milliseconds.
        elapsed_ms: u64,
        /// Bytes written to stdout and stderr together.
        bytes: u64,
    },
    /// A file that was read.
    File {
        /// Lines handed to the model.
        lines: u64,
        /// Lines in the whole file.
        total_lines: u64,
    },
    /// The model's list of what is to be done, whole.
    Todos {
        /// In the order of the work.
        todos: Vec<Todo>,
    },
    /// A search or listing.
    Hits {
        /// Hits found in all.
        total: u64,
        /// Hits handed to the model.
        shown: u64,
    },
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// What.
    pub content: String,
    /// How far it is.
    pub state: TodoState,
}

/// How far something to be done is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoState {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

/// A change of one file as hunks with context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    /// The path as shown to people (relative to the workspace where possible).
    pub path: String,
    /// Whether the file does not exist before the change.
    pub created: bool,
    /// Added lines.
    pub added: u32,
    /// Removed lines.
    pub removed: u32,
    /// The changed places, in file order.
    pub hunks: Vec<Hunk>,
}

/// One changed place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// First line of the hunk in the old file, counted from 1.
    pub old_start: u32,
    /// First line of the hunk in the new file, counted from 1.
    pub new_start: u32,
    /// The lines, without line ends.
    pub lines: Vec<DiffLine>,
}

/// One line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", content = "text", rename_all = "snake_case")]
pub enum DiffLine {
    /// Unchanged.
    Context(String),
    /// Only in the old file.
    Removed(String),
    /// Only in the new file.
    Added(String),
}

/// A line in history for people only; conversion for the model filters it out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Its id.
    pub id: MessageId,
    /// When it was committed.
    pub at: Timestamp,
    /// For example `interrupted`.
    pub text: String,
}

/// One entry of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// User side.
    User(UserMessage),
    /// The model's answer.
    Assistant(AssistantMessage),
    /// A tool's result.
    Tool(ToolMessage),
    /// For people only.
    Note(Note),
}

impl Message {
    /// The entry's id.
    pub fn id(&self) -> &MessageId {
        match self {
            Self::User(m) => &m.id,
            Self::Assistant(m) => &m.id,
            Self::Tool(m) => &m.id,
            Self::Note(m) => &m.id,
        }
    }

    /// When it was committed.
    pub fn at(&self) -> Timestamp {
        match self {
            Self::User(m) => m.at,
            Self::Assistant(m) => m.at,
            Self::Tool(m) => m.at,
            Self::Note(m) => m.at,
        }
    }
}

/// All text blocks of a list joined without a separator.
pub fn text_of(blocks: &[Block]) -> String {
    let mut out = String::new();
    for block in blocks {
        if let Block::Text { text } = block {
            out.push_str(text);
        }
    }
    out
}
