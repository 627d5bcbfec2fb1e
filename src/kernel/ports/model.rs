//! The port to a language model: requests in, one normal form of a stream out.

use std::fmt::Debug;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use serde_json::Value;

use crate::kernel::error::{ModelError, ModelErrorKind};
use crate::kernel::message::{Message, ModelRef, Opaque, Stop, ToolCall, Usage};

/// A language model behind some service.
pub trait Model: Send + Sync + Debug {
    /// Which one it is and what it can do.
    fn info(&self) -> ModelInfo;

    /// Who answers in its place from now on; a model that is no stand-in answers itself. The loop
    /// asks before every request and makes the whole request with the one it was told.
    fn in_force(&self) -> InForce {
        InForce::Itself
    }

    /// Opens a stream of the answer. Errors before the first event surface here; there are no
    /// retries inside. Dropping the stream closes the connection.
    fn stream(&self, request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>>;

    /// Asks for the whole answer in one piece and gives it as the same events. For services that
    /// answered [`Model::stream`] with `StreamUnsupported`; by default there is no other way.
    fn complete(&self, request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        drop(request);
        let name = self.info().model;
        let message = format!("{name} does not stream; choose another model");
        let error = ModelError::new(ModelErrorKind::StreamUnsupported, message);
        Box::pin(std::future::ready(Err(error)))
    }
}

/// Who answers in the place of a [`Model`].
#[derive(Clone, Debug)]
pub enum InForce {
    /// The model itself.
    Itself,
    /// Another one.
    Other(Arc<dyn Model>),
    /// Nobody: there is no such model at the moment.
    Nobody,
}

/// The model that answers the next request; `None` when there is nobody in its place.
pub fn in_force(model: &Arc<dyn Model>) -> Option<Arc<dyn Model>> {
    match model.in_force() {
        InForce::Itself => Some(Arc::clone(model)),
        InForce::Other(other) => Some(other),
        InForce::Nobody => None,
    }
}

/// Ends after `StreamEvent::Done` or the first error. An end without `Done` is a broken stream.
pub type ModelStream = BoxStream<'static, Result<StreamEvent, ModelError>>;

/// What is known of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelInfo {
    /// Its name.
    pub model: ModelRef,
    /// Tokens of context.
    pub context_window: u64,
    /// Tokens of output the service allows in one answer.
    pub max_output: u64,
    /// US dollars per million tokens, when known.
    pub price: Option<Price>,
    /// Whether it takes images.
    pub vision: bool,
}

/// Share of a window that is kept free when nothing else asks for more, in per cent.
const RESERVE_PERCENT: u64 = 13;
/// Bounds of that share, in tokens.
const RESERVE: std::ops::RangeInclusive<u64> = 4096..=16_384;

/// Tokens of a window that are kept free for the answer, `output` being the longest that is asked
/// for.
pub fn usual_reserve(window: u64, output: u64) -> u64 {
    let share = (window * RESERVE_PERCENT / 100).clamp(*RESERVE.start(), *RESERVE.end());
    share.max(output.min(window / 4)).min(window / 2)
}

impl ModelInfo {
    /// Tokens above which the view of a history has to become smaller.
    pub fn usable(&self) -> u64 {
        self.context_window - usual_reserve(self.context_window, self.max_output)
    }
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// Fresh input.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Cached input.
    pub cache_read: f64,
    /// Input written to the cache.
    pub cache_write: f64,
}

impl Price {
    /// US dollars for this usage.
    pub fn cost(&self, usage: Usage) -> f64 {
        (usage.input as f64 * self.input
            + usage.output as f64 * self.output
            + usage.cache_read as f64 * self.cache_read
            + usage.cache_write as f64 * self.cache_write)
            / 1e6
    }
}

/// One request. The same history gives the same bytes on the wire.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Byte-stable system blocks, stable part first.
    pub system: Vec<SystemBlock>,
    /// Model-visible history with calls and results paired and adjacent.
    pub messages: Vec<Arc<Message>>,
    /// Tools in stable order.
    pub tools: Arc<[ToolSpec]>,
    /// Names the session to services that route by a cache key.
    pub cache_key: String,
    /// A word of the harness that goes at the end of the user's side of this one request. Never
    /// part of the history, never under a cache mark.
    pub reminder: Option<String>,
    /// Whether the model may call tools.
    pub tool_choice: ToolChoice,
    /// How hard the model should think; `None` leaves it to the model's own default.
    pub effort: Option<Effort>,
}

/// How hard a model thinks before it answers. What a level means is the provider's business; a
/// model without that level takes the nearest it has.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Not at all, or as little as the model can.
    Off,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// As much as the model can.
    Max,
}

impl Effort {
    /// All levels, from the lowest to the highest.
    pub const ALL: [Self; 5] = [Self::Off, Self::Low, Self::Medium, Self::High, Self::Max];

    /// The name that people write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Max => "max",
        }
    }

    /// The level of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.name() == name)
    }
}

/// Whether the model may call tools. The tools stay in the request either way, so that the cached
/// prefix stays valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// It must answer in text.
    None,
}

/// A part of the system prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemBlock {
    /// The text, never blank.
    pub text: String,
    /// Whether the cached prefix ends here.
    pub cache: bool,
}

/// A tool as the model is told about it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON schema of the arguments: an object.
    pub schema: Value,
    /// Whether the model is told of it only after it was found.
    pub deferred: bool,
}

/// The normal form of a stream. Blocks stay in order; `index` counts blocks of one answer from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// The service accepted and answers.
    Start,
    /// Answer text. Consecutive text of one block carries one index.
    TextDelta {
        /// Block.
        index: usize,
        /// Added text.
        text: String,
    },
    /// Reasoning text.
    ThinkingDelta {
        /// Block.
        index: usize,
        /// Added text.
        text: String,
    },
    /// What must be returned byte for byte with the thinking block of this index (its signature),
    /// or, where no thinking block has that index, an opaque block of its own.
    Opaque {
        /// Block.
        index: usize,
        /// The service's data.
        opaque: Opaque,
    },
    /// A call begins.
    CallStart {
        /// Block.
        index: usize,
        /// Tool name; may be empty while unknown.
        name: String,
    },
    /// A piece of a call's arguments, for progress only.
    CallDelta {
        /// Block.
        index: usize,
        /// Bytes added.
        bytes: usize,
    },
    /// A call is complete; the only truth about it. Sent after what follows the block was seen.
    CallComplete {
        /// Block.
        index: usize,
        /// The call, its arguments parsed once.
        call: ToolCall,
    },
    /// Running token counts; fields merge, the last value wins.
    Usage(Usage),
    /// The terminal event.
    Done(Stop),
}
