//! Has a model sum up the beginning of a conversation. First as a fork of the conversation itself,
//! so that the cached prefix is used again; when that gives no tagged answer, or another model is
//! to do it, from a plain transcript.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;

use super::{estimate, micro, tell, trim};
use crate::kernel::error::{ModelError, ModelErrorKind};
use crate::kernel::message::{Block, Message, MessageId, Origin, Timestamp, Usage, UserMessage};
use crate::kernel::ports::{
    Model, Request, StreamEvent, SystemBlock, ToolChoice, ToolSpec, in_force,
};
use crate::kernel::repair;

const TASK: &str = include_str!("../../assets/prompts/summary.md");
/// How long the model may take.
const PATIENCE: Duration = Duration::from_mins(3);
/// Longest summary, in tokens.
pub const LONGEST: u64 = 2000;
/// Longest quote of one message in a transcript, in characters.
const QUOTE: usize = 2400;
/// How often a transcript that is too long is made a fifth shorter.
const SHORTENINGS: usize = 3;

/// Who sums up.
#[derive(Clone, Debug)]
pub struct Summariser {
    main: Option<Arc<dyn Model>>,
    small: Option<Arc<dyn Model>>,
    cache_key: String,
    patience: Duration,
}

/// What is to be summed up, and how it would be sent.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The system prompt.
    pub system: &'a [SystemBlock],
    /// The tools.
    pub tools: &'a [ToolSpec],
    /// The messages as the model sees them.
    pub messages: &'a [Arc<Message>],
    /// What the user cares about most.
    pub focus: &'a str,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Summed {
    /// The summary, or why there is none.
    pub text: Result<String, String>,
    /// Tokens spent.
    pub usage: Usage,
}

impl Default for Summariser {
    /// Nobody: every attempt fails at once.
    fn default() -> Self {
        Self { main: None, small: None, cache_key: String::new(), patience: PATIENCE }
    }
}

impl Summariser {
    /// The model of the conversation, or a small one where there is one.
    pub fn new(main: Arc<dyn Model>, small: Option<Arc<dyn Model>>, cache_key: &str) -> Self {
        let cache_key = cache_key.to_owned();
        Self { main: Some(main), small, cache_key, patience: PATIENCE }
    }

    /// Sums up. Ends within a few minutes; dropping the future closes the connection.
    pub async fn sum_up(&self, part: Part<'_>) -> Summed {
        let mut usage = Usage::default();
        let text = tokio::select! {
            biased;
            text = self.work(part, &mut usage) => text,
            () = tokio::time::sleep(self.patience) => {
                Err(format!("no summary within {} s", self.patience.as_secs()))
            }
        };
        let text = text.map(|text| trim_to(&text, LONGEST));
        Summed { text, usage }
    }

    async fn work(&self, part: Part<'_>, usage: &mut Usage) -> Result<String, String> {
        if let Some(small) = self.small.as_ref().and_then(in_force) {
            return self.standalone(small.as_ref(), part, usage).await;
        }
        let Some(main) = self.main.as_deref() else {
            return Err("no model sums up here".to_owned());
        };
        match self.fork(main, part, usage).await {
            Ok(Some(summary)) => Ok(summary),
            // An answer without the tag, or too long: a transcript may still do.
            Ok(None) => self.standalone(main, part, usage).await,
            Err(error) if error.kind == ModelErrorKind::Overflow => {
                self.standalone(main, part, usage).await
            }
            Err(error) => Err(error.message),
        }
    }

    /// The conversation itself with the task at its end.
    async fn fork(
        &self,
        main: &dyn Model,
        part: Part<'_>,
        usage: &mut Usage,
    ) -> Result<Option<String>, ModelError> {
        let request = Request {
            system: part.system.to_vec(),
            messages: repair::repair(part.messages.to_vec()),
            tools: part.tools.into(),
            cache_key: self.cache_key.clone(),
            reminder: Some(task(part.focus)),
            tool_choice: ToolChoice::None,
            effort: None,
        };
        Ok(tagged(&listen(main, request, usage).await?))
    }

    /// A transcript as one question; made shorter at its beginning when it is too long.
    async fn standalone(
        &self,
        model: &dyn Model,
        part: Part<'_>,
        usage: &mut Usage,
    ) -> Result<String, String> {
        let mut lines = transcript(part.messages);
        // An earlier summary is the memory of everything before: it is never dropped.
        let first = usize::from(part.messages.first().is_some_and(is_summary));
        for _ in 0..=SHORTENINGS {
            let request = Request {
                system: vec![SystemBlock { text: task(part.focus), cache: false }],
                messages: vec![Arc::new(question(&lines.join("\n\n")))],
                ..Request::default()
            };
            match listen(model, request, usage).await {
                Ok(answer) => {
                    let text = tagged(&answer).unwrap_or(answer);
                    let text = text.trim();
                    return if text.is_empty() {
                        Err("the model said nothing".to_owned())
                    } else {
                        Ok(text.to_owned())
                    };
                }
                Err(error) if error.kind == ModelErrorKind::Overflow => {
                    let fifth = (lines.len() / 5).max(1);
                    if lines.len() <= first + fifth {
                        return Err(error.message);
                    }
                    lines.drain(first..first + fifth);
                }
                Err(error) => return Err(error.message),
            }
        }
        Err("the conversation is too long to be summed up".to_owned())
    }
}

fn is_summary(message: &Arc<Message>) -> bool {
    matches!(&**message, Message::User(user)
        if matches!(user.blocks.first(), Some(Block::Text { text }) if text.starts_with("<conversation-summary>")))
}

fn task(focus: &str) -> String {
    let focus = focus.trim();
    if focus.is_empty() {
        return TASK.trim_end().to_owned();
    }
    format!("{}\n\nThe user asks to care most about: {focus}", TASK.trim_end())
}

fn question(transcript: &str) -> Message {
    let blocks = vec![Block::text(format!(
        "<transcript>\n{}\n</transcript>\n\nSum it up now.",
        transcript.replace("</transcript", "&lt;/transcript")
    ))];
    let (id, at) = (MessageId::default(), Timestamp::default());
    Message::User(UserMessage { id, at, origin: Origin::Prompt, blocks, before: None })
}

/// Each message in a few lines.
fn transcript(messages: &[Arc<Message>]) -> Vec<String> {
    let quote = |text: &str| trim::middle_out(text, QUOTE * 2 / 3, QUOTE / 3);
    let mut lines = Vec::new();
    for message in messages {
        let mut line = String::new();
        match &**message {
            // An earlier summary and a person's words are not shortened.
            Message::User(user) => {
                // What a message brought along is told anew, never summed up.
                let own: Vec<Block> =
                    user.blocks.iter().filter(|block| !tell::is_told(block)).cloned().collect();
                let text = crate::kernel::message::text_of(&own);
                line = format!("User: {}", trim::middle_out(&text, 4 * QUOTE, 2 * QUOTE));
            }
            Message::Assistant(answer) => {
                let text = answer.text();
                if !text.trim().is_empty() {
                    line = format!("Assistant: {}", quote(&text));
                }
                for call in answer.calls() {
                    let gap = if line.is_empty() { "" } else { "\n" };
                    // Writing to a string can't fail.
                    let _infallible = write!(line, "{gap}Assistant calls {}", micro::label(call));
                }
            }
            Message::Tool(result) => {
                let (tool, text) = (&result.tool, result.text());
                line = format!("Result of {tool} ({:?}): {}", result.status, quote(&text));
            }
            Message::Note(_) => {}
        }
        if !line.is_empty() {
            lines.push(line);
        }
    }
    lines
}

/// What stands in the last `<summary>` block; `None` without a whole one that says something.
fn tagged(answer: &str) -> Option<String> {
    let start = answer.rfind("<summary>")? + "<summary>".len();
    let end = answer[start..].rfind("</summary>")? + start;
    let text = answer[start..end].trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The beginning of a text with at most so many tokens.
fn trim_to(text: &str, tokens: u64) -> String {
    let size = estimate::text(text);
    if size <= tokens {
        return text.to_owned();
    }
    let chars = text.chars().count() as u64 * tokens / size;
    let mut cut: String = text.chars().take(chars as usize).collect();
    cut.push('…');
    cut
}

async fn listen(
    model: &dyn Model,
    request: Request,
    usage: &mut Usage,
) -> Result<String, ModelError> {
    let mut stream = model.stream(request).await?;
    let (mut text, mut spent) = (String::new(), Usage::default());
    let broken = || ModelError::new(ModelErrorKind::PartialStream, "the summary broke off");
    let outcome = loop {
        match stream.next().await {
            Some(Ok(StreamEvent::TextDelta { text: more, .. })) => text.push_str(&more),
            // Running totals: the last one counts.
            Some(Ok(StreamEvent::Usage(total))) => spent = total,
            Some(Ok(StreamEvent::Done(_))) => break Ok(text),
            Some(Ok(_)) => {}
            Some(Err(error)) => break Err(error),
            None => break Err(broken()),
        }
    };
    *usage += spent;
    outcome
}
