//! Builds requests and connections, and folds a stream into one answer as the loop does.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use codebot::config::schema::ProviderConfig;
use codebot::kernel::error::ModelError;
use codebot::kernel::message::{
    AssistantMessage, Block, CallId, CallStatus, Message, MessageId, ModelRef, Note, Origin, Stop,
    Timestamp, ToolCall, ToolMessage, Usage, UserMessage,
};
use codebot::kernel::ports::{Model, Request, StreamEvent, SystemBlock, ToolSpec};
use codebot::model::{Connection, Limits, connect_with, resolve};
use futures_util::StreamExt;
use serde_json::{Value, json};

use super::mock_llm::MockLlm;

pub(crate) const CLAUDE: &str = "anthropic/claude-sonnet-4-5";
pub(crate) const GPT: &str = "openai/gpt-4o";
pub(crate) const RESPONSES: &str = "openai-responses/gpt-5";
pub(crate) const GEMINI: &str = "gemini/gemini-3.5-flash";

/// Limits short enough for tests.
pub(crate) fn quick() -> Limits {
    Limits {
        first_byte: Duration::from_secs(5),
        first_byte_loopback: Duration::from_secs(5),
        idle: Duration::from_millis(300),
        tail: Duration::from_millis(200),
        body: Duration::from_secs(1),
    }
}

pub(crate) fn connection_at(
    base_url: &str,
    reference: &str,
    change: fn(&mut ProviderConfig),
) -> Connection {
    let provider = reference.split('/').next().unwrap_or_default().to_owned();
    let mut config = ProviderConfig {
        base_url: Some(base_url.to_owned()),
        api_key: Some("test-key".to_owned()),
        ..ProviderConfig::default()
    };
    change(&mut config);
    let providers = BTreeMap::from([(provider, config)]);
    resolve(Some(reference), &|_| None, &providers, &BTreeMap::new()).unwrap()
}

pub(crate) fn connection(mock: &MockLlm, reference: &str) -> Connection {
    connection_at(&mock.base_url(), reference, |_| {})
}

pub(crate) fn model(mock: &MockLlm, reference: &str) -> Arc<dyn Model> {
    connect_with(connection(mock, reference), quick())
}

/// A whole answer, folded.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) events: Vec<StreamEvent>,
    pub(crate) error: Option<ModelError>,
    pub(crate) blocks: BTreeMap<usize, Block>,
    pub(crate) usage: Usage,
    pub(crate) stop: Option<Stop>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        self.pick(|block| match block {
            Block::Text { text } => Some(text.clone()),
            _ => None,
        })
        .concat()
    }

    pub(crate) fn thinking(&self) -> Vec<String> {
        self.pick(|block| match block {
            Block::Thinking { text, .. } => Some(text.clone()),
            _ => None,
        })
    }

    pub(crate) fn calls(&self) -> Vec<ToolCall> {
        self.pick(|block| match block {
            Block::Call(call) => Some(call.clone()),
            _ => None,
        })
    }

    /// `id name args` of every valid call.
    pub(crate) fn calls_text(&self) -> Vec<String> {
        let show = |call: ToolCall| {
            assert_eq!(call.invalid, None, "{call:?}");
            format!("{} {} {}", call.id, call.name, Value::Object(call.args))
        };
        self.calls().into_iter().map(show).collect()
    }

    fn pick<T>(&self, choose: impl Fn(&Block) -> Option<T>) -> Vec<T> {
        self.blocks.values().filter_map(choose).collect()
    }

    pub(crate) fn message(&self, reference: &str) -> Message {
        let (provider, model) = reference.split_once('/').unwrap();
        assistant_by(provider, model, self.blocks.values().cloned().collect())
    }

    pub(crate) fn take(&mut self, event: StreamEvent) {
        match event.clone() {
            StreamEvent::TextDelta { index, text } => {
                match self.blocks.entry(index).or_insert_with(|| Block::text("")) {
                    Block::Text { text: all } => all.push_str(&text),
                    other => panic!("text for {other:?}"),
                }
            }
            StreamEvent::ThinkingDelta { index, text } => {
                let empty = Block::Thinking { text: String::new(), opaque: None };
                match self.blocks.entry(index).or_insert(empty) {
                    Block::Thinking { text: all, .. } => all.push_str(&text),
                    other => panic!("thinking for {other:?}"),
                }
            }
            StreamEvent::Opaque { index, opaque } => match self.blocks.get_mut(&index) {
                Some(Block::Thinking { opaque: slot, .. }) => *slot = Some(opaque),
                Some(other) => panic!("opaque data for {other:?}"),
                None => {
                    self.blocks.insert(index, Block::Opaque(opaque));
                }
            },
            StreamEvent::CallComplete { index, call } => {
                assert!(
                    self.blocks.insert(index, Block::Call(call)).is_none(),
                    "block {index} twice"
                );
            }
            StreamEvent::Usage(usage) => self.usage = usage,
            StreamEvent::Done(stop) => self.stop = Some(stop),
            StreamEvent::Start | StreamEvent::CallStart { .. } | StreamEvent::CallDelta { .. } => {}
        }
        self.events.push(event);
    }
}

pub(crate) async fn ask(model: &Arc<dyn Model>, request: Request) -> Answer {
    let mut answer = Answer::default();
    let mut stream = match model.stream(request).await {
        Ok(stream) => stream,
        Err(error) => {
            answer.error = Some(error);
            return answer;
        }
    };
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => answer.take(event),
            Err(error) => answer.error = Some(error),
        }
    }
    answer
}

/// Asks the mock one thing and wants a complete answer.
pub(crate) async fn answer(mock: &MockLlm, reference: &str) -> Answer {
    let answer = ask(&model(mock, reference), request(vec![user("hi")])).await;
    assert_eq!(answer.error, None);
    assert!(answer.stop.is_some(), "no end: {answer:?}");
    assert_eq!(mock.violations(), Vec::<String>::new());
    answer
}

/// Asks the mock one thing and wants an error.
pub(crate) async fn failure(mock: &MockLlm, reference: &str) -> ModelError {
    let answer = ask(&model(mock, reference), request(vec![user("hi")])).await;
    assert_eq!(answer.stop, None, "{answer:?}");
    answer.error.expect("an error")
}

pub(crate) fn request(messages: Vec<Message>) -> Request {
    let messages = messages.into_iter().map(Arc::new).collect();
    Request { messages, ..Request::default() }
}

/// A request with everything: two system blocks and two tools.
pub(crate) fn full_request(messages: Vec<Message>) -> Request {
    let system = |text: &str, cache| SystemBlock { text: text.to_owned(), cache };
    let tool = |name: &str, description: &str, schema: Value| ToolSpec {
        deferred: false,
        name: name.to_owned(),
        description: description.to_owned(),
        schema,
    };
    Request {
        system: vec![system("You are codebot.", true), system("Today's chat.", false)],
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Arc::from([
            tool(
                "read",
                "Reads a file.",
                json!({"type": "object", "required": ["path"], "properties": {
                    "path": {"type": "string"}, "limit": {"type": "integer"}}}),
            ),
            tool(
                "bash",
                "Runs a command.",
                json!({"type": "object", "properties": {"command": {"type": "string"}},
                    "required": ["command"]}),
            ),
        ]),
        cache_key: "session-1".to_owned(),
        ..Request::default()
    }
}

pub(crate) fn user(text: &str) -> Message {
    user_blocks(Origin::Prompt, vec![Block::text(text)])
}

pub(crate) fn user_blocks(origin: Origin, blocks: Vec<Block>) -> Message {
    Message::User(UserMessage {
        id: MessageId::default(),
        at: Timestamp(0),
        origin,
        blocks,
        before: None,
    })
}

pub(crate) fn assistant(blocks: Vec<Block>) -> Message {
    assistant_by("anthropic", "claude-sonnet-4-5", blocks)
}

pub(crate) fn assistant_by(provider: &str, model: &str, blocks: Vec<Block>) -> Message {
    Message::Assistant(AssistantMessage {
        id: MessageId::default(),
        at: Timestamp(0),
        model: ModelRef { provider: provider.to_owned(), model: model.to_owned() },
        blocks,
        stop: Stop::EndTurn,
        usage: Usage::default(),
    })
}

pub(crate) fn call(id: &str, name: &str, args: Value) -> Block {
    let Value::Object(args) = args else { panic!("arguments are an object: {args}") };
    Block::Call(ToolCall {
        id: CallId::from(id),
        name: name.to_owned(),
        args,
        invalid: None,
        opaque: None,
    })
}

pub(crate) fn result(id: &str, text: &str) -> Message {
    let blocks = if text.is_empty() { Vec::new() } else { vec![Block::text(text)] };
    result_blocks(id, CallStatus::Ok, blocks)
}

pub(crate) fn result_blocks(id: &str, status: CallStatus, blocks: Vec<Block>) -> Message {
    Message::Tool(ToolMessage {
        id: MessageId::default(),
        at: Timestamp(0),
        call_id: CallId::from(id),
        tool: "read".to_owned(),
        status,
        blocks,
        detail: None,
        cached: false,
    })
}

pub(crate) fn note(text: &str) -> Message {
    Message::Note(Note { id: MessageId::default(), at: Timestamp(0), text: text.to_owned() })
}
