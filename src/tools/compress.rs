//! Makes the long output of a command that went well short with a small model. What cannot be made
//! short is cut; whatever happens, the whole text is in a file that the result names. Failures are
//! never touched: their every word may matter.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::kernel::message::{Block, Message, MessageId, Origin, Timestamp, Usage, UserMessage};
use crate::kernel::ports::{Aside, Model, Request, StreamEvent, SystemBlock, in_force};

use super::output;

/// Characters above which a text is made short.
pub const ABOVE: usize = 4000;
/// Characters of the short form.
pub const SHORT: usize = 1200;
/// How long the model may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Characters of the text that the model is shown at most; beyond it gets beginning and end.
const SHOWN: usize = 60_000;

/// Short forms that are remembered.
const REMEMBERED: usize = 32;

const TASK: &str = include_str!("../../assets/prompts/compress.md");

/// Makes texts short.
#[derive(Clone, Debug)]
pub struct Compressor {
    model: Arc<dyn Model>,
    patience: Duration,
    /// Short forms made so far: the same output again gets the same words, unasked.
    made: Arc<Mutex<VecDeque<(u64, String)>>>,
}

/// A text that is too long.
#[derive(Debug)]
pub struct Long<'a> {
    /// What it is the output of.
    pub of: &'a str,
    /// The whole text, or as much of it as is kept.
    pub text: &'a str,
    /// Where the whole text is, or why it is nowhere.
    pub saved: &'a std::io::Result<PathBuf>,
}

impl Compressor {
    /// One that asks this model.
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self { model, patience: PATIENCE, made: Arc::default() }
    }

    /// Waits so long for the model instead of 30 s.
    #[must_use]
    pub fn patient(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Whether there is a model to ask at the moment.
    pub fn is_ready(&self) -> bool {
        in_force(&self.model).is_some()
    }

    /// The short form of `long`, with a line that says what it is. Costs and troubles are told to
    /// `aside`; a cancelled call gets the cut text at once.
    pub async fn shorten(
        &self,
        long: &Long<'_>,
        cancel: &CancellationToken,
        aside: &Aside,
    ) -> String {
        let chars = long.text.chars().count();
        let saved = output::saved_as(long.saved);
        let asked = tokio::select! {
            biased;
            () = cancel.cancelled() => Err("it was cancelled".to_owned()),
            () = tokio::time::sleep(self.patience) => {
                Err(format!("no answer within {} s", self.patience.as_secs_f32()))
            }
            asked = self.short(long, aside) => asked,
        };
        match asked {
            Ok(short) => {
                let short = output::head(&short, SHORT);
                format!("{short}\n[a summary of {chars} characters; {saved}]")
            }
            Err(reason) => {
                if !cancel.is_cancelled() {
                    aside.remark(format!("a long output was cut, not summarised: {reason}"));
                }
                let head = output::head(long.text, ABOVE);
                format!("{head}\n[… cut: {chars} characters in all; {saved}]")
            }
        }
    }

    /// What the model makes of it, or made of it before.
    async fn short(&self, long: &Long<'_>, aside: &Aside) -> Result<String, String> {
        let mut hasher = DefaultHasher::new();
        (long.of, long.text).hash(&mut hasher);
        let key = hasher.finish();
        let known = |made: &VecDeque<(u64, String)>| {
            made.iter().find(|(of, _)| *of == key).map(|(_, short)| short.clone())
        };
        if let Some(short) = known(&self.made.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(short);
        }
        let short = self.ask(long, aside).await?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.len() == REMEMBERED {
            made.pop_front();
        }
        made.push_back((key, short.clone()));
        Ok(short)
    }

    async fn ask(&self, long: &Long<'_>, aside: &Aside) -> Result<String, String> {
        let request = Request {
            system: vec![SystemBlock { text: TASK.trim_end().to_owned(), cache: false }],
            messages: vec![Arc::new(Message::User(question(long)))],
            ..Request::default()
        };
        let mut usage = Usage::default();
        let answer = self.listen(request, &mut usage).await;
        aside.spend_at(usage, self.model.info().price);
        match answer {
            Ok(text) if text.trim().is_empty() => Err("the small model said nothing".to_owned()),
            Ok(text) => Ok(text.trim().to_owned()),
            Err(reason) => Err(reason),
        }
    }

    async fn listen(&self, request: Request, usage: &mut Usage) -> Result<String, String> {
        let failed = |error: crate::kernel::error::ModelError| error.message;
        let mut stream = self.model.stream(request).await.map_err(failed)?;
        let mut text = String::new();
        while let Some(event) = stream.next().await {
            match event.map_err(failed)? {
                StreamEvent::TextDelta { text: more, .. } => text.push_str(&more),
                // Running totals: the last one counts.
                StreamEvent::Usage(total) => *usage = total,
                StreamEvent::Done(_) => return Ok(text),
                _ => {}
            }
        }
        Err("the small model broke off".to_owned())
    }
}

fn question(long: &Long<'_>) -> UserMessage {
    let Long { of, text, .. } = long;
    let text = if text.chars().count() <= SHOWN {
        (*text).to_owned()
    } else {
        let half = SHOWN / 2;
        format!("{}\n[…]\n{}", output::head(text, half), output::tail(text, half))
    };
    let blocks = vec![Block::text(format!("The output of `{of}`:\n\n{text}"))];
    UserMessage {
        id: MessageId::default(),
        at: Timestamp::default(),
        origin: Origin::Prompt,
        blocks,
        before: None,
    }
}

/// The whole text of a result: what its tool has saved, or the result itself, saved now.
pub fn whole(
    text: &str,
    original: Option<&Path>,
    save: impl FnOnce() -> std::io::Result<PathBuf>,
) -> (String, std::io::Result<PathBuf>) {
    if let Some(path) = original
        && let Ok(bytes) = std::fs::read(path)
    {
        return (String::from_utf8_lossy(&bytes).into_owned(), Ok(path.to_owned()));
    }
    (text.to_owned(), save())
}
