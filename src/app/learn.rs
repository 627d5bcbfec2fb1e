//! Looks through a conversation for what is worth keeping, beside the session: after ten prompts,
//! when nothing happens for a while, and at the end. Off unless the user turns it on. A failure is
//! logged and nothing more: nobody waits for it.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use tokio::sync::mpsc;

use super::build::Session;
use super::memory::Memory;
use crate::kernel::event::{Event, Purpose};
use crate::kernel::message::{
    Block, Message, MessageId, Origin, Timestamp, Usage, UserMessage, text_of,
};
use crate::kernel::ports::{Model, Request, StreamEvent, SystemBlock, in_force};
use crate::memory::extract;
use crate::memory::secrets::masked;

/// Prompts after which it is time.
const EVERY: u32 = 10;
/// How long nothing must happen before fewer will do.
const IDLE: Duration = Duration::from_mins(3);
/// How long the model may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long the end of the program may take for it.
const LAST_CHANCE: Duration = Duration::from_secs(2);
/// Characters of a conversation that the model is shown, the newest.
const SHOWN: usize = 30_000;
/// Characters of one message in it.
const QUOTE: usize = 3000;

const TASK: &str = include_str!("../../assets/prompts/extract.md");

/// Knows when it is time.
#[derive(Debug, Default)]
pub(super) struct Learner {
    on: bool,
    /// Prompts since it last looked.
    prompts: u32,
    /// Messages it has looked through.
    seen: usize,
}

impl Learner {
    /// One for that session; its earlier messages were looked through before.
    pub(super) fn new(session: &Session, on: bool) -> Self {
        Self { on, prompts: 0, seen: session.ready.history.len() }
    }

    /// The user has sent words.
    pub(super) fn prompted(&mut self) {
        self.prompts += 1;
    }

    /// Ends when it is time. Cancel-safe.
    pub(super) async fn due(&self, session: &Session) {
        if !self.on || self.prompts == 0 {
            return std::future::pending().await;
        }
        session.agent.idle().await;
        if self.prompts < EVERY {
            tokio::time::sleep(IDLE).await;
        }
    }

    /// The work on what was said since the last time; `None` when there is none.
    pub(super) fn work(
        &mut self,
        session: &Session,
        events: mpsc::Sender<Event>,
    ) -> Option<impl Future<Output = usize> + Send + 'static> {
        let memory = Arc::clone(session.knowledge.as_ref()?.memory.as_ref()?);
        let (main, small) = session.models.places();
        let model = in_force(&small).or_else(|| in_force(&main))?;
        let history = session.agent.snapshot().history;
        // Another conversation may have taken its place, or part of it was taken back.
        let new = history.get(self.seen..).unwrap_or_default().to_vec();
        (self.prompts, self.seen) = (0, history.len());
        if !self.on || new.is_empty() {
            return None;
        }
        Some(async move {
            let (learnt, usage) = learn(model.as_ref(), &memory, &new).await;
            if usage != Usage::default() {
                let cost = model.info().price.map(|price| price.cost(usage));
                // A front end that is gone needs no account.
                drop(events.send(Event::Usage { purpose: Purpose::Memory, usage, cost }).await);
            }
            learnt
        })
    }

    /// The same at the end of the session, for a moment only.
    pub(super) async fn last_chance(mut self, session: &Session, events: mpsc::Sender<Event>) {
        if self.on
            && self.prompts > 0
            && let Some(work) = self.work(session, events)
        {
            drop(tokio::time::timeout(LAST_CHANCE, work).await);
        }
    }
}

/// Asks the model and keeps what it found; returns how much of that was new, and what was spent.
pub async fn learn(
    model: &dyn Model,
    memory: &Arc<Memory>,
    messages: &[Arc<Message>],
) -> (usize, Usage) {
    let shown = transcript(messages);
    let mut usage = Usage::default();
    if shown.trim().is_empty() {
        return (0, usage);
    }
    let answer = tokio::time::timeout(PATIENCE, ask(model, shown, &mut usage)).await;
    match answer {
        Ok(Ok(answer)) => {
            let (memory, found) = (Arc::clone(memory), extract::parse(&answer));
            let kept = tokio::task::spawn_blocking(move || memory.take(found)).await;
            (kept.unwrap_or(0), usage)
        }
        Ok(Err(error)) => {
            tracing::warn!(error, "a conversation was not looked through");
            (0, usage)
        }
        Err(_) => (0, usage),
    }
}

async fn ask(model: &dyn Model, shown: String, usage: &mut Usage) -> Result<String, String> {
    let question = Message::User(UserMessage {
        id: MessageId::default(),
        at: Timestamp::default(),
        origin: Origin::Prompt,
        blocks: vec![Block::text(format!("<conversation>\n{shown}\n</conversation>"))],
        before: None,
    });
    let request = Request {
        system: vec![SystemBlock { text: TASK.trim_end().to_owned(), cache: false }],
        messages: vec![Arc::new(question)],
        ..Request::default()
    };
    let mut stream = model.stream(request).await.map_err(|error| error.message)?;
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        match event.map_err(|error| error.message)? {
            StreamEvent::TextDelta { text: more, .. } => text.push_str(&more),
            // Running totals: the last one counts.
            StreamEvent::Usage(total) => *usage = total,
            StreamEvent::Done(_) => return Ok(text),
            _ => {}
        }
    }
    Err("the answer broke off".to_owned())
}

/// What was said, without what tools brought: the newest part, secrets taken out.
fn transcript(messages: &[Arc<Message>]) -> String {
    let cut = |text: &str| text.chars().take(QUOTE).collect::<String>();
    let mut text = String::new();
    for message in messages {
        let (who, said) = match &**message {
            Message::User(user) if user.origin.is_user_written() => ("User", text_of(&user.blocks)),
            Message::Assistant(answer) => ("Assistant", answer.text()),
            _ => continue,
        };
        if !said.trim().is_empty() {
            let said = masked(&cut(&said)).replace("</conversation", "&lt;/conversation");
            // Writing to a string can't fail.
            let _infallible = writeln!(text, "{who}: {said}\n");
        }
    }
    let chars = text.chars().count();
    text.chars().skip(chars.saturating_sub(SHOWN)).collect()
}
