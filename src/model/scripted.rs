//! A model that plays a script: no network, no guessing, clearly labelled as what it is. It drives
//! the real loop with real tools and approvals, for the demo, for tests and for screenshots.
//!
//! It keeps no conversation of its own: what comes next follows from the history of the request,
//! so a resumed session goes on where it was. The only memory is which staged failures are spent.

pub mod position;
pub mod script;
pub mod timeline;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream;

use self::position::Position;
use self::script::{Overload, Script, ScriptError};
use self::timeline::Cue;
use crate::kernel::error::{ModelError, ModelErrorKind};
use crate::kernel::message::ModelRef;
use crate::kernel::ports::{Model, ModelInfo, ModelStream, Request, ToolChoice};

/// Tokens of context the script claims; small, so that context figures move visibly.
const CONTEXT_WINDOW: u64 = 32_000;
/// Tokens of output in one answer; the longest scene stays well below.
const MAX_OUTPUT: u64 = 8_000;
/// The script of the demo.
const DEMO: &str = include_str!("../../assets/demo/script.toml");

/// How fast a script is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// Between 60 and 120 pieces a second, with pauses as a service would make them.
    #[default]
    Natural,
    /// Everything at once; staged failures ask for no wait.
    Instant,
}

/// Plays a script.
#[derive(Debug)]
pub struct ScriptedModel {
    script: Result<Arc<Script>, ScriptError>,
    pace: Pace,
    /// Staged failures already shown, by conversation and place in it.
    spent: Mutex<HashMap<String, u32>>,
}

impl ScriptedModel {
    /// The built-in demo.
    pub fn demo(pace: Pace) -> Self {
        Self::with(Script::parse(DEMO), pace)
    }

    /// A script from its TOML text.
    ///
    /// # Errors
    ///
    /// The text is no TOML, has unknown keys, or names a turn that does not exist.
    pub fn parse(text: &str, pace: Pace) -> Result<Self, ScriptError> {
        Ok(Self::with(Ok(Script::parse(text)?), pace))
    }

    fn with(script: Result<Script, ScriptError>, pace: Pace) -> Self {
        Self { script: script.map(Arc::new), pace, spent: Mutex::default() }
    }

    /// Whether the staged failure of this place is still to be shown; counts it as shown.
    fn fails_now(&self, key: String, overload: Overload) -> bool {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = spent.entry(key).or_default();
        let fails = *shown < overload.times;
        *shown += u32::from(fails);
        fails
    }

    fn prepare(&self, request: &Request) -> Result<Vec<Cue>, ModelError> {
        let script = self.script.as_ref().map_err(|error| {
            ModelError::new(ModelErrorKind::InvalidRequest, format!("the demo script: {error}"))
        })?;
        let position = Position::locate(script, &request.messages);
        if let Some(overload) = position.turn.overload
            && self.fails_now(position.key(&request.cache_key), overload)
        {
            return Err(staged_overload(overload, self.pace));
        }
        let input = timeline::input_tokens(request);
        Ok(match request.tool_choice {
            ToolChoice::Auto => timeline::cues(script, &position, input, self.pace),
            ToolChoice::None => timeline::report(&position, input, self.pace),
        })
    }
}

impl Model for ScriptedModel {
    fn info(&self) -> ModelInfo {
        ModelInfo {
            model: ModelRef { provider: "demo".to_owned(), model: "scripted".to_owned() },
            context_window: CONTEXT_WINDOW,
            max_output: MAX_OUTPUT,
            price: None,
            vision: false,
        }
    }

    fn stream(&self, request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        Box::pin(async move {
            rest(timeline::opening(self.pace)).await;
            let cues = self.prepare(&request)?;
            let played = stream::iter(cues).then(|cue| async move {
                rest(cue.after).await;
                Ok(cue.event)
            });
            Ok(played.boxed())
        })
    }
}

/// Sleeps; an empty wait does not even yield.
async fn rest(wait: Duration) {
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
}

fn staged_overload(overload: Overload, pace: Pace) -> ModelError {
    let wait = match pace {
        Pace::Natural => Duration::from_secs(overload.retry_after_s),
        Pace::Instant => Duration::ZERO,
    };
    ModelError {
        kind: ModelErrorKind::Overloaded,
        status: Some(529),
        message: "demo: the service is overloaded (staged, to show a retry)".to_owned(),
        retry_after: Some(wait),
    }
}
