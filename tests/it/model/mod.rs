//! Providers against a real loopback service: what goes out, what comes back, what goes wrong.

#[path = "../../support/mock_llm/mod.rs"]
pub(crate) mod mock_llm;

mod any_bytes;
mod any_history;
mod catalog;
mod choice;
mod effort;
mod errors;
mod gemini_requests;
mod golden;
mod history;
mod http;
mod marks;
mod probe;
mod resolve;
mod responses_requests;
mod sse;
mod strictness;
pub(crate) mod support;
mod tool_schema;
mod wire_anthropic;
mod wire_gemini;
mod wire_openai;
mod wire_responses;
mod wrap;
