//! What a view of a very long history costs: the first one, and every later one. A request should
//! not wait for more than 5 ms for the view of 10 000 messages.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use codebot::context::project::SessionContext;
use codebot::kernel::event::Tier;
use codebot::kernel::message::{
    AssistantMessage, Block, CallStatus, Message, ModelRef, Origin, Stop, Timestamp, ToolCall,
    ToolMessage, Usage, UserMessage,
};
use codebot::kernel::ports::{Context, ModelInfo, Need, Reason, SystemBlock, View};
use divan::Bencher;
use futures_util::FutureExt;
use serde_json::{Map, json};

const MESSAGES: usize = 10_000;

fn main() {
    divan::main();
}

fn history() -> Vec<Arc<Message>> {
    let mut history = Vec::with_capacity(MESSAGES);
    let at = Timestamp(0);
    let blocks = vec![Block::text("look at all files")];
    let first = UserMessage { id: "u".into(), at, origin: Origin::Prompt, blocks, before: None };
    history.push(Arc::new(Message::User(first)));
    for round in 0..MESSAGES / 2 {
        let args =
            Map::from_iter([("path".to_owned(), json!(format!("src/file{}.rs", round % 90)))]);
        let id = format!("c{round}").as_str().into();
        let call = ToolCall { id, name: "read".into(), args, invalid: None, opaque: None };
        let call_id = call.id.clone();
        history.push(Arc::new(Message::Assistant(AssistantMessage {
            id: format!("a{round}").as_str().into(),
            at,
            model: model().model,
            blocks: vec![Block::text("Looking at the next one."), Block::Call(call)],
            stop: Stop::ToolUse,
            usage: Usage::default(),
        })));
        history.push(Arc::new(Message::Tool(ToolMessage {
            id: format!("r{round}").as_str().into(),
            at,
            call_id,
            tool: "read".into(),
            status: CallStatus::Ok,
            blocks: vec![Block::text("let answer = question.parse()?;\n".repeat(20))],
            detail: None,
            cached: false,
        })));
    }
    history
}

fn model() -> ModelInfo {
    ModelInfo {
        model: ModelRef { provider: "bench".into(), model: "m".into() },
        context_window: 200_000,
        max_output: 8_192,
        price: None,
        vision: false,
    }
}

fn context() -> SessionContext {
    SessionContext::new(vec![SystemBlock { text: "be brief".into(), cache: true }])
}

/// Takes the steps that are due, as a run does once.
fn settle(context: &SessionContext, history: &[Arc<Message>], model: &ModelInfo) {
    let view = View { model, tier: Tier::Full, tools: &[] };
    let mut tried = Vec::new();
    loop {
        let need = Need { reason: Reason::Routine, focus: "", tried: &tried, changed: false };
        let Some(plan) = context.plan(history, view, need) else { return };
        let compacted = context.compact(history, view, need, plan).now_or_never().unwrap();
        compacted.compaction.iter().for_each(|change| context.adopt(change));
        tried.push(plan.step);
    }
}

/// One request: what is due, then the view.
fn request(context: &SessionContext, history: &[Arc<Message>], model: &ModelInfo) -> usize {
    let view = View { model, tier: Tier::Full, tools: &[] };
    let need = Need { reason: Reason::Routine, focus: "", tried: &[], changed: false };
    let planned = context.plan(history, view, need).is_some();
    let projection = context.project(history, view).now_or_never().unwrap().unwrap();
    projection.messages.len() + usize::from(planned)
}

/// After a start or a change of the view.
#[divan::bench]
fn the_first_view(bencher: Bencher<'_, '_>) {
    let (history, model) = (history(), model());
    bencher.bench_local(|| request(&context(), &history, &model));
}

/// Every later request, with one message more each time.
#[divan::bench]
fn the_next_view(bencher: Bencher<'_, '_>) {
    let (history, model, context) = (history(), model(), context());
    let mut at = history.len() - 1000;
    settle(&context, &history[..at], &model);
    bencher.bench_local(|| {
        at = if at + 1 < history.len() { at + 1 } else { history.len() };
        request(&context, &history[..at], &model)
    });
}
