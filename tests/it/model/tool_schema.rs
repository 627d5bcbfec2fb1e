//! Schemas of tools from elsewhere, as services take them.

use std::sync::Arc;

use codebot::kernel::ports::{Request, ToolSpec};
use codebot::model::tool_schema::parameters;
use serde_json::{Value, json};

use super::mock_llm::{MockLlm, anthropic, gemini, openai, responses};
use super::support::{CLAUDE, GEMINI, GPT, RESPONSES, ask, model, request, user};

/// Case A58 in the formats that read JSON schema: no alternatives at the top, no list of nothing.
#[tokio::test]
async fn odd_schemas_are_taken_by_every_service() {
    let odd = [
        json!({}),
        Value::Null,
        json!({"type": "object"}),
        json!({"anyOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"type": "array"}}}]}),
        json!({"type": "object", "properties": {"deep": {"type": "object", "properties": {
            "list": {"type": ["array", "null"]}}}}, "not": {"required": ["x"]}}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": {"x": {"type": ["string", "null"]}, "c": {"const": 1}},
            "additionalProperties": false}),
    ];
    let tools: Vec<ToolSpec> = (0..)
        .zip(odd)
        .map(|(at, schema)| ToolSpec {
            deferred: false,
            name: format!("tool_{at}"),
            description: "Does something.".to_owned(),
            schema,
        })
        .collect();
    let request = Request { tools: Arc::from(tools), ..request(vec![user("go")]) };
    let mock = MockLlm::start().await;
    mock.push(anthropic::text("ok")).push(openai::text("ok"));
    mock.push(responses::text("ok")).push(gemini::text("ok"));
    for reference in [CLAUDE, GPT, RESPONSES, GEMINI] {
        assert_eq!(ask(&model(&mock, reference), request.clone()).await.error, None, "{reference}");
    }
    assert_eq!(mock.violations(), Vec::<String>::new());
}

#[test]
fn alternatives_at_the_top_become_fields() {
    let given = json!({
        "allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}],
        "oneOf": [{"properties": {"b": {}}, "required": ["b"]}],
        "properties": {"z": {"type": "integer"}},
    });
    assert_eq!(
        parameters(&given),
        json!({"type": "object", "required": ["a"],
            "properties": {"a": {"type": "string"}, "b": {}, "z": {"type": "integer"}}})
    );
    let plain = json!({"type": "object", "properties": {"p": {"enum": ["x"]}}, "required": ["p"]});
    assert_eq!(parameters(&plain), plain);
}
