//! Histories in a few words and a model whose answers are a function of the request.

use std::sync::{Arc, Mutex};

use codebot::context::project::SessionContext;
use codebot::context::summary::Summariser;
use codebot::kernel::compaction::{Compaction, Step};
use codebot::kernel::error::ModelError;
use codebot::kernel::event::Tier;
use codebot::kernel::message::{
    AssistantMessage, Block, CallStatus, Message, MessageId, ModelRef, Origin, Stop, Timestamp,
    ToolCall, ToolMessage, Usage, UserMessage, text_of,
};
use codebot::kernel::ports::{
    Context, Model, ModelInfo, ModelStream, Need, Reason, Request, StreamEvent, SystemBlock, View,
};
use futures_util::future::BoxFuture;
use serde_json::{Map, json};

pub(super) type History = Vec<Arc<Message>>;

pub(super) fn info(window: u64) -> ModelInfo {
    ModelInfo {
        model: ModelRef { provider: "fake".into(), model: "one".into() },
        context_window: window,
        max_output: 1000,
        price: None,
        vision: false,
    }
}

pub(super) fn view(model: &ModelInfo) -> View<'_> {
    View { model, tier: Tier::Full, tools: &[] }
}

pub(super) fn user(id: &str, text: &str) -> Arc<Message> {
    said(id, text, Origin::Prompt)
}

pub(super) fn said(id: &str, text: &str, origin: Origin) -> Arc<Message> {
    let blocks = vec![Block::text(text)];
    let at = Timestamp(1000);
    Arc::new(Message::User(UserMessage { id: id.into(), at, origin, blocks, before: None }))
}

pub(super) fn answer(id: &str, text: &str, calls: &[ToolCall]) -> Arc<Message> {
    answer_with(id, text, calls, Usage::default())
}

pub(super) fn answer_with(id: &str, text: &str, calls: &[ToolCall], usage: Usage) -> Arc<Message> {
    let mut blocks: Vec<_> =
        Some(text).filter(|t| !t.is_empty()).map(Block::text).into_iter().collect();
    blocks.extend(calls.iter().cloned().map(Block::Call));
    Arc::new(Message::Assistant(AssistantMessage {
        id: id.into(),
        at: Timestamp(1000),
        model: info(0).model,
        blocks,
        stop: Stop::EndTurn,
        usage,
    }))
}

pub(super) fn call(id: &str, name: &str, path: &str) -> ToolCall {
    let args = Map::from_iter([("path".to_owned(), json!(path))]);
    ToolCall { id: id.into(), name: name.into(), args, invalid: None, opaque: None }
}

pub(super) fn result(id: &str, call: &ToolCall, text: &str) -> Arc<Message> {
    Arc::new(Message::Tool(ToolMessage {
        id: id.into(),
        at: Timestamp(1000),
        call_id: call.id.clone(),
        tool: call.name.clone(),
        status: CallStatus::Ok,
        blocks: vec![Block::text(text)],
        detail: None,
        cached: false,
    }))
}

/// One round for each path: a call of `read` and its result, and a last answer.
pub(super) fn reads(paths: &[&str], size: usize) -> History {
    let mut history = vec![user("u0", "look at the files")];
    for (at, path) in paths.iter().enumerate() {
        let call = call(&format!("c{at}"), "read", path);
        history.push(answer(&format!("a{at}"), "", std::slice::from_ref(&call)));
        history.push(result(&format!("r{at}"), &call, &format!("{path} {}", "x".repeat(size))));
    }
    history.push(answer("last", "done", &[]));
    history
}

pub(super) fn text(message: &Message) -> String {
    match message {
        Message::User(m) => text_of(&m.blocks),
        Message::Assistant(m) => m.text(),
        Message::Tool(m) => m.text(),
        Message::Note(m) => m.text.clone(),
    }
}

pub(super) fn ids(list: &[MessageId]) -> Vec<&str> {
    list.iter().map(MessageId::as_str).collect()
}

pub(super) const SYSTEM: &str = "You are careful.";

pub(super) fn context(model: Option<&Arc<Replies>>) -> SessionContext {
    let block = SystemBlock { text: SYSTEM.into(), cache: true };
    let context = SessionContext::new(vec![block]);
    match model {
        None => context,
        Some(model) => {
            let model: Arc<dyn Model> = model.clone();
            context.with_summariser(Summariser::new(model, None, "s1"))
        }
    }
}

/// Takes the steps that are due for a reason, as a run would; each with what came of it.
pub(super) async fn climb(
    context: &SessionContext,
    history: &History,
    model: &ModelInfo,
    reason: Reason,
) -> Vec<(Step, Result<Compaction, String>)> {
    let (mut tried, mut changed, mut log) = (Vec::new(), false, Vec::new());
    loop {
        let need = Need { reason, focus: "", tried: &tried, changed };
        let Some(plan) = context.plan(history, view(model), need) else { return log };
        let compacted = context.compact(history, view(model), need, plan).await;
        tried.push(plan.step);
        match compacted.compaction {
            Some(mut compaction) => {
                compaction.id = format!("k{}", context.changes().len()).as_str().into();
                context.adopt(&compaction);
                changed = true;
                log.push((plan.step, Ok(compaction)));
            }
            None => log.push((plan.step, Err(compacted.problem.unwrap_or_default()))),
        }
    }
}

/// What the model would be sent.
pub(super) async fn shown(
    context: &SessionContext,
    history: &History,
    model: &ModelInfo,
) -> History {
    context.project(history, view(model)).await.unwrap().messages
}

type Reply = Box<dyn Fn(usize, &Request) -> Result<String, ModelError> + Send + Sync>;

/// A model that answers with a text or fails.
pub(super) struct Replies {
    reply: Reply,
    requests: Mutex<Vec<Request>>,
}

impl std::fmt::Debug for Replies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Replies")
    }
}

impl Replies {
    /// `reply` gets the number of the request, from 0, and the request.
    pub(super) fn new(
        reply: impl Fn(usize, &Request) -> Result<String, ModelError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { reply: Box::new(reply), requests: Mutex::default() })
    }

    pub(super) fn always(text: &str) -> Arc<Self> {
        let text = text.to_owned();
        Self::new(move |_, _| Ok(text.clone()))
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Model for Replies {
    fn info(&self) -> ModelInfo {
        info(100_000)
    }

    fn stream(&self, request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let mut requests = self.requests.lock().unwrap();
        let reply = (self.reply)(requests.len(), &request);
        requests.push(request);
        Box::pin(std::future::ready(reply.map(|text| -> ModelStream {
            let usage = Usage { input: 100, output: 10, ..Usage::default() };
            Box::pin(futures_util::stream::iter([
                Ok(StreamEvent::TextDelta { index: 0, text }),
                Ok(StreamEvent::Usage(usage)),
                Ok(StreamEvent::Done(Stop::EndTurn)),
            ]))
        })))
    }
}
