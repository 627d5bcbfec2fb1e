//! A model service on loopback that speaks any of the wire formats: the same script for all, and the
//! same questions about what it was asked.

use serde_json::{Value, json};

use crate::mock_llm::{MockLlm, Reply, anthropic, gemini, openai, responses};

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Messages,
    Chat,
    Gemini,
    Responses,
}

/// A call of the script: name and arguments. Ids are made from its place.
pub(crate) type Call = (&'static str, Value);

impl Wire {
    /// Every wire format.
    pub(crate) const ALL: [Self; 4] = [Self::Messages, Self::Chat, Self::Gemini, Self::Responses];

    /// What `-m` takes.
    pub(crate) fn model(self) -> &'static str {
        match self {
            Self::Messages => "anthropic/mock-1",
            Self::Chat => "openai/mock-1",
            Self::Gemini => "gemini/mock-1",
            Self::Responses => "openai-responses/mock-1",
        }
    }

    /// Where a request holds its history.
    pub(crate) fn list(self) -> &'static str {
        match self {
            Self::Messages | Self::Chat => "messages",
            Self::Gemini => "contents",
            Self::Responses => "input",
        }
    }

    /// The variable that holds the key.
    pub(crate) fn key_env(self) -> &'static str {
        match self {
            Self::Messages => "ANTHROPIC_API_KEY",
            Self::Chat | Self::Responses => "OPENAI_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
        }
    }

    /// An answer of one text.
    pub(crate) fn text(self, text: &str) -> Reply {
        match self {
            Self::Messages => anthropic::text(text),
            Self::Chat => openai::text(text),
            Self::Responses => {
                let sealed = responses::reasoning("rs_end", "", "seal-end");
                responses::answer(&[sealed, responses::message("msg_end", text)])
            }
            Self::Gemini => {
                // Its newer models sign the end of an answer on a text of nothing.
                let words = text.split_inclusive(' ').map(gemini::text_part);
                let end = gemini::signed(gemini::text_part(""), "sig-end");
                gemini::answer(words.chain([end]), "STOP")
            }
        }
    }

    /// Words, then calls. `turn` keeps the ids of several such answers apart.
    pub(crate) fn calls(self, turn: usize, words: &str, calls: &[Call]) -> Reply {
        match self {
            Self::Messages => {
                let mut blocks = vec![anthropic::text_block(0, words)];
                for (at, (name, input)) in calls.iter().enumerate() {
                    let id = format!("toolu_{turn}_{at}");
                    blocks.push(anthropic::tool_block(at as u64 + 1, &id, name, input));
                }
                anthropic::answer(blocks, "tool_use")
            }
            Self::Chat => {
                let mut chunks: Vec<Value> =
                    words.split_inclusive(' ').map(openai::content).collect();
                for (at, (name, arguments)) in calls.iter().enumerate() {
                    let function = json!({"name": name, "arguments": arguments.to_string()});
                    chunks.push(openai::tool_calls(&json!([{
                        "index": at, "id": format!("call_{turn}_{at}"), "type": "function",
                        "function": function}])));
                }
                openai::answer(chunks, "tool_calls")
            }
            Self::Responses => {
                let sealed =
                    responses::reasoning(&format!("rs_{turn}"), "", &format!("seal-{turn}"));
                let mut items = vec![sealed, responses::message(&format!("msg_{turn}"), words)];
                for (at, (name, arguments)) in calls.iter().enumerate() {
                    let (id, call) = (format!("fc_{turn}_{at}"), format!("call_{turn}_{at}"));
                    items.push(responses::call(&id, &call, name, arguments));
                }
                responses::answer(&items)
            }
            Self::Gemini => {
                let words = words.split_inclusive(' ').map(gemini::text_part);
                let calls = calls.iter().enumerate().map(|(at, (name, args))| {
                    let part = gemini::call_part(name, args);
                    // Only the first of several calls is signed.
                    if at > 0 { part } else { gemini::signed(part, &format!("sig-{turn}")) }
                });
                gemini::answer(words.chain(calls), "STOP")
            }
        }
    }

    /// The service has no room for now.
    pub(crate) fn overloaded(self) -> Reply {
        match self {
            Self::Messages => anthropic::refusal(529, "overloaded_error", "Overloaded"),
            Self::Chat => openai::refusal(503, "server_error", "overloaded", "overloaded"),
            Self::Gemini => gemini::refusal(503, "UNAVAILABLE", "overloaded"),
            Self::Responses => {
                responses::refusal(503, "server_error", "server_is_overloaded", "overloaded")
            }
        }
    }

    /// Too many requests; come back after so many seconds.
    pub(crate) fn limited(self, retry_after: &str) -> Reply {
        let reply = match self {
            Self::Messages => anthropic::refusal(429, "rate_limit_error", "slow down"),
            Self::Chat => openai::refusal(429, "requests", "rate_limit_exceeded", "slow down"),
            Self::Gemini => gemini::refusal(429, "RESOURCE_EXHAUSTED", "slow down"),
            Self::Responses => {
                responses::refusal(429, "requests", "rate_limit_exceeded", "slow down")
            }
        };
        reply.header("retry-after", retry_after)
    }

    /// Nobody here knows that model.
    pub(crate) fn unknown_model(self) -> Reply {
        let text = "model: mock-1";
        match self {
            Self::Messages => anthropic::refusal(404, "not_found_error", text),
            Self::Chat => openai::refusal(404, "invalid_request_error", "model_not_found", text),
            Self::Gemini => gemini::refusal(404, "NOT_FOUND", text),
            Self::Responses => {
                responses::refusal(404, "invalid_request_error", "model_not_found", text)
            }
        }
    }

    /// Begins to answer and then says nothing more.
    pub(crate) fn stalled(self, words: &str) -> Reply {
        let mut reply = self.text(words);
        // Of an answer's last steps none may arrive: they would end it, or tell its whole text.
        let last = if self == Self::Responses { 6 } else { 3 };
        let keep = reply.steps.len() - last;
        reply.steps.truncate(keep);
        reply.stalled()
    }
}

/// The running service.
pub(crate) struct Service {
    pub(crate) wire: Wire,
    pub(crate) mock: MockLlm,
}

impl Service {
    pub(crate) fn start(wire: Wire) -> Self {
        let mock = MockLlm::spawn_thread();
        mock.rules(|rules| rules.needs_signatures = wire == Wire::Gemini);
        Self { wire, mock }
    }

    /// Key and place of the service, and no way around it.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        let base = self.mock.base_url();
        let mut variables = vec![
            (self.wire.key_env(), KEY.to_owned()),
            ("ANTHROPIC_BASE_URL", base.clone()),
            ("OPENAI_BASE_URL", format!("{base}/v1")),
            ("GOOGLE_GEMINI_BASE_URL", base),
        ];
        variables.push(("NO_PROXY", "*".to_owned()));
        variables
    }

    /// Queues an answer of one text.
    pub(crate) fn says(&self, text: &str) -> &Self {
        self.mock.push(self.wire.text(text));
        self
    }

    /// Queues words and calls; the place in the queue keeps the ids apart.
    pub(crate) fn calls(&self, words: &str, calls: &[Call]) -> &Self {
        let turn = self.mock.left() + self.mock.bodies().len();
        self.mock.push(self.wire.calls(turn, words, calls));
        self
    }

    /// Every request was one that the real services take, and all that was queued was fetched.
    #[track_caller]
    pub(crate) fn assert_valid(&self) {
        assert_eq!(self.mock.violations(), Vec::<String>::new());
        assert_eq!(self.mock.left(), 0, "answers that nobody fetched");
    }

    /// The texts of all tool results of a request, in order.
    pub(crate) fn results(&self, request: usize) -> Vec<String> {
        let body = &self.mock.bodies()[request];
        let messages = body[self.wire.list()].as_array().unwrap();
        match self.wire {
            Wire::Messages => {
                let blocks = messages.iter().filter_map(|message| message["content"].as_array());
                blocks
                    .flatten()
                    .filter(|block| block["type"] == "tool_result")
                    .map(|block| texts(&block["content"]))
                    .collect()
            }
            Wire::Chat => {
                let results = messages.iter().filter(|message| message["role"] == "tool");
                results.map(|message| texts(&message["content"])).collect()
            }
            Wire::Responses => {
                let results = messages.iter().filter(|i| i["type"] == "function_call_output");
                results.map(|item| texts(&item["output"])).collect()
            }
            Wire::Gemini => {
                let parts = messages.iter().filter_map(|content| content["parts"].as_array());
                let responses = parts.flatten().filter_map(|part| part.get("functionResponse"));
                let said = responses.map(|response| &response["response"]);
                said.map(|said| {
                    texts(said.get("output").or(said.get("error")).unwrap_or(&Value::Null))
                })
                .collect()
            }
        }
    }

    /// What the user said in a request, in order; results are not among it.
    pub(crate) fn said(&self, request: usize) -> Vec<String> {
        let body = &self.mock.bodies()[request];
        let content = if self.wire == Wire::Gemini { "parts" } else { "content" };
        let messages = body[self.wire.list()].as_array().unwrap().iter();
        let users = messages.filter(|message| message["role"] == "user");
        users
            .flat_map(|message| match &message[content] {
                Value::Array(blocks) => {
                    blocks.iter().filter_map(|b| b["text"].as_str().map(str::to_owned)).collect()
                }
                text => vec![texts(text)],
            })
            .collect()
    }
}

/// The key that the service is given.
pub(crate) const KEY: &str = "sk-test-0123456789-abcdefghijklmnop";

/// All texts of a content, whatever its shape.
fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
