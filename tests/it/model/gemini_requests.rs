//! What goes out in the generateContent format: pairing, schemas, switches between providers,
//! pictures, refusals.

use std::sync::Arc;
use std::time::Duration;

use codebot::kernel::error::{ModelError, ModelErrorKind as Kind};
use codebot::kernel::message::{Block, CallStatus, Message, ModelRef, Opaque, Origin, ToolCall};
use codebot::kernel::ports::{Request, ToolChoice, ToolSpec};
use codebot::model::gemini::schema::parameters;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::mock_llm::gemini::{call_part, error, refusal, signed, text};
use super::mock_llm::{MockLlm, Reply, anthropic, gemini};
use super::support::{
    CLAUDE, GEMINI, ask, assistant, assistant_by, call, failure, full_request, model, request,
    result, result_blocks, user, user_blocks,
};

async fn sent(request: Request) -> Value {
    let mock = MockLlm::start().await;
    mock.push(text("ok"));
    assert_eq!(ask(&model(&mock, GEMINI), request).await.error, None);
    mock.bodies().remove(0)
}

/// Case A58: whatever a tool's schema holds, the service takes it.
#[tokio::test]
async fn schemas_are_reduced_to_what_the_service_takes() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
        "additionalProperties": false, "required": ["path", "gone"],
        "$defs": {"Kind": {"enum": ["a", "b"], "type": "string"},
            "Tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}}},
        "properties": {
            "path": {"type": ["string", "null"], "format": "path", "description": "Where."},
            "mode": {"const": "fast"},
            "kind": {"$ref": "#/$defs/Kind", "description": "Which."},
            "level": {"enum": [1, 2]},
            "any": true,
            "list": {"type": "array"},
            "either": {"oneOf": [{"type": "string"}, {"type": "integer", "format": "uint32"}]},
            "maybe": {"anyOf": [{"$ref": "#/$defs/Kind"}, {"type": "null"}]},
            "both": {"type": ["string", "integer"]},
            "tree": {"$ref": "#/$defs/Tree"},
            "all": {"allOf": [{"type": "object", "properties": {"x": {"type": "number"}}}]},
        },
    });
    let tool = |name: &str, schema: &Value| ToolSpec {
        deferred: false,
        name: name.to_owned(),
        description: "d".to_owned(),
        schema: schema.clone(),
    };
    let empty = json!({"type": "object", "properties": {}});
    let body = sent(Request {
        tools: Arc::from([tool("odd", &schema), tool("none", &empty)]),
        ..request(vec![user("go")])
    })
    .await;
    let functions = &body["tools"][0]["functionDeclarations"];
    assert_eq!(functions[1].get("parameters"), None);
    let odd = &functions[0]["parameters"];
    assert_eq!(odd["required"], json!(["path"]));
    let fields = &odd["properties"];
    let path = json!({"description": "Where.", "nullable": true, "type": "string"});
    assert_eq!(fields["path"], path);
    assert_eq!(fields["mode"], json!({"enum": ["fast"], "type": "string"}));
    let kind = json!({"description": "Which.", "enum": ["a", "b"], "type": "string"});
    assert_eq!(fields["kind"], kind);
    assert_eq!(fields["level"], json!({"type": "integer"}));
    assert_eq!(fields["either"], json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}));
    assert_eq!(fields["both"], json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}));
    let maybe = json!({"enum": ["a", "b"], "nullable": true, "type": "string"});
    assert_eq!(fields["maybe"], maybe);
    assert_eq!(fields["all"]["properties"]["x"], json!({"type": "number"}));
    assert_eq!(fields["tree"]["properties"]["left"]["type"], "object");
}

fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({"$ref": "#"})),
        Just(json!({"const": 5})),
        Just(json!({"type": ["integer", "null", "string"], "enum": ["x", 1]})),
        Just(json!({"type": "string", "format": "uri", "pattern": "^a"})),
        Just(json!({"type": "null"})),
        Just(json!({})),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::btree_map("[a-c]", inner.clone(), 0..4).prop_map(|fields| {
                json!({"type": "object", "properties": fields, "required": ["a", "a", "z"],
                    "additionalProperties": false})
            }),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            proptest::collection::vec(inner, 0..4)
                .prop_map(|choices| json!({"oneOf": choices, "title": "t"})),
        ]
    })
}

fn assert_takes(schema: &Value) {
    let object = schema.as_object().unwrap();
    for key in ["$ref", "$schema", "const", "oneOf", "allOf", "additionalProperties"] {
        assert!(!object.contains_key(key), "{schema}");
    }
    if let Some(choices) = schema.get("anyOf") {
        assert_eq!(object.len(), 1, "{schema}");
        choices.as_array().unwrap().iter().for_each(assert_takes);
        return;
    }
    assert!(schema["type"].is_string(), "{schema}");
    assert_eq!(schema["type"] == "array", schema.get("items").is_some(), "{schema}");
    schema.get("items").into_iter().for_each(assert_takes);
    schema["properties"].as_object().into_iter().flatten().for_each(|(_, v)| assert_takes(v));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Case A58 for schemas of any shape, those that hold themselves included.
    #[test]
    fn any_schema_becomes_one_that_is_taken(inner in any_schema()) {
        let schema = json!({"type": "object", "properties": {"p": inner}});
        assert_takes(&parameters(&schema).unwrap());
    }
}

/// Case B21: as many responses as calls, in one content and in their order, whatever happened.
#[tokio::test]
async fn every_call_has_one_response_in_the_same_content() {
    let calls = ["a", "b", "c"].map(|path| call(path, "read", json!({"path": path})));
    let history = vec![
        user("go"),
        assistant_by("gemini", "gemini-3.5-flash", calls.to_vec()),
        result("c", "third"),
        result_blocks("a", CallStatus::Cancelled, vec![Block::text("cancelled")]),
        user_blocks(Origin::Steer, vec![Block::text("Stop.")]),
    ];
    let body = sent(request(history)).await;
    assert_eq!(body["contents"].as_array().unwrap().len(), 3);
    let response = |key: &str, text: &str| json!({"functionResponse": {"name": "read", "response": {key: text}}});
    assert_eq!(
        body["contents"][2]["parts"],
        json!([
            response("error", "cancelled"),
            response("error", "interrupted, outcome unknown"),
            response("output", "third"),
            {"text": "Stop."},
        ])
    );
}

/// An id of the service's own goes back, one that was made up does not.
#[tokio::test]
async fn only_the_services_own_ids_go_back() {
    let mock = MockLlm::start().await;
    let own = json!({"functionCall": {"id": "fc9", "name": "ls", "args": {}}});
    mock.push(gemini::answer([call_part("ls", &json!({})), own], "STOP")).push(text("ok"));
    let model = model(&mock, GEMINI);
    let first = ask(&model, request(vec![user("hi")])).await;
    let history =
        vec![user("hi"), first.message(GEMINI), result("call_0", "1"), result("fc9", "2")];
    assert_eq!(ask(&model, request(history)).await.error, None);
    let contents = &mock.bodies()[1]["contents"];
    assert_eq!(contents[1]["parts"][0]["functionCall"].get("id"), None);
    assert_eq!(contents[1]["parts"][1]["functionCall"]["id"], "fc9");
    assert_eq!(contents[2]["parts"][0]["functionResponse"].get("id"), None);
    assert_eq!(contents[2]["parts"][1]["functionResponse"]["id"], "fc9");
}

/// Case A40: two rounds of another provider, then this one, which refuses unsigned calls.
#[tokio::test]
async fn a_turn_begun_elsewhere_goes_on_here() {
    let mock = MockLlm::start().await;
    mock.rules(|rules| rules.needs_signatures = true);
    mock.push(text("ok"));
    let thinking = |data: Value| Block::Thinking {
        text: "hm".into(),
        opaque: Some(Opaque {
            model: ModelRef { provider: "anthropic".into(), model: "claude-sonnet-4-5".into() },
            data,
        }),
    };
    let round = |n: u32| {
        let read = |side: &str| {
            call(&format!("t{n}{side}"), "read", json!({"path": format!("{n}{side}")}))
        };
        let blocks = vec![thinking(json!({"signature": "s"})), read("a"), read("b")];
        [assistant(blocks), result(&format!("t{n}a"), "1"), result(&format!("t{n}b"), "2")]
    };
    let mut history = vec![user("earlier")];
    history.extend(round(0));
    history.extend([assistant(vec![Block::text("Done.")]), user("go")]);
    history.extend(round(1));
    history.extend(round(2));
    assert_eq!(ask(&model(&mock, GEMINI), request(history)).await.error, None);
    let contents = mock.bodies()[0]["contents"].clone();
    let signatures: Vec<&Value> = contents
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|content| content["parts"].as_array().unwrap())
        .filter_map(|part| part.get("thoughtSignature"))
        .collect();
    // The first call of each step of this turn, nothing else; nobody else's signature.
    assert_eq!(signatures, [&json!("skip_thought_signature_validator"); 2]);
}

/// The generation before refuses nothing and gets nothing made up.
#[tokio::test]
async fn older_models_get_no_stand_in() {
    let mock = MockLlm::start().await;
    mock.push(text("ok"));
    let history = vec![user("go"), assistant(vec![call("t", "ls", json!({}))]), result("t", "1")];
    let model = model(&mock, "gemini/gemini-2.5-pro");
    assert_eq!(ask(&model, request(history)).await.error, None);
    assert!(!mock.bodies()[0].to_string().contains("thoughtSignature"));
}

/// Cases B17 and B18: signatures go to their own maker only; switching back finds them untouched.
#[tokio::test]
async fn signatures_do_not_leave_their_model() {
    let mock = MockLlm::start().await;
    let parts = [signed(text_part_of("Look."), "S1"), signed(call_part("ls", &json!({})), "S2")];
    mock.push(gemini::answer(parts, "STOP"));
    let first = ask(&model(&mock, GEMINI), request(vec![user("hi")])).await;
    let history = vec![user("hi"), first.message(GEMINI), result("call_2", "x")];
    for (reference, reply) in [
        (CLAUDE, anthropic::text("ok")),
        ("gemini/gemini-2.5-pro", text("ok")),
        (GEMINI, text("ok")),
    ] {
        mock.push(reply);
        let answer = ask(&model(&mock, reference), request(history.clone())).await;
        assert_eq!(answer.error, None, "{reference}");
        let body = mock.bodies().pop().unwrap().to_string();
        let own = reference == GEMINI;
        assert_eq!((body.contains("S1"), body.contains("S2")), (own, own), "{reference}: {body}");
    }
    assert_eq!(mock.violations(), Vec::<String>::new());
}

fn text_part_of(text: &str) -> Value {
    json!({"text": text})
}

/// Case B08: an empty answer never leaves.
#[tokio::test]
async fn empty_answers_are_left_out() {
    let empty = |blocks| assistant_by("gemini", "gemini-3.5-flash", blocks);
    let history = vec![
        user("one"),
        empty(Vec::new()),
        user("two"),
        empty(vec![Block::text("  \n")]),
        user("three"),
    ];
    let body = sent(request(history)).await;
    let parts = json!([{"text": "one"}, {"text": "two"}, {"text": "three"}]);
    assert_eq!(body["contents"], json!([{"role": "user", "parts": parts}]));
}

/// Scenarios R10, M08: the reminder is last, no tool may be called, the tools stay.
#[tokio::test]
async fn a_wrap_up_forbids_calls_and_reminds_at_the_end() {
    let history =
        vec![user("go"), assistant(vec![call("t", "read", json!({}))]), result("t", "alpha")];
    let plain = sent(full_request(history.clone())).await;
    let last_turn = Request {
        reminder: Some("Report now.".into()),
        tool_choice: ToolChoice::None,
        ..full_request(history)
    };
    let body = sent(last_turn).await;
    assert_eq!(body["toolConfig"], json!({"functionCallingConfig": {"mode": "NONE"}}));
    assert_eq!((&body["tools"], plain.get("toolConfig")), (&plain["tools"], None));
    let parts = body["contents"][2]["parts"].as_array().unwrap();
    assert_eq!(parts.last().unwrap(), &json!({"text": "Report now."}));
    assert!(parts[0].get("functionResponse").is_some());
}

fn picture(media_type: &str) -> Block {
    Block::Image { media_type: media_type.into(), data: "UElD".into() }
}

#[tokio::test]
async fn pictures_go_inline_and_those_of_results_after_the_responses() {
    let history = vec![
        user_blocks(Origin::Prompt, vec![Block::text("Look."), picture("image/png")]),
        assistant(vec![call("t", "read", json!({}))]),
        result_blocks("t", CallStatus::Ok, vec![Block::text("a.jpg"), picture("image/jpeg")]),
        user_blocks(Origin::Steer, vec![picture("image/gif")]),
    ];
    let body = sent(request(history.clone())).await;
    let inline = |kind: &str| json!({"inlineData": {"mimeType": kind, "data": "UElD"}});
    assert_eq!(body["contents"][0]["parts"][1], inline("image/png"));
    let after = &body["contents"][2]["parts"];
    assert_eq!(after[0]["functionResponse"]["response"]["output"], "a.jpg");
    assert_eq!(after[1], inline("image/jpeg"));
    assert!(after[2]["text"].as_str().unwrap().contains("image/gif left out"), "{after}");
    // A model that does not see gets words instead.
    let mock = MockLlm::start().await;
    mock.push(text("ok"));
    let blind = ask(&model(&mock, "gemini/unheard-of"), request(history)).await;
    assert_eq!(blind.error, None);
    let body = mock.bodies().remove(0).to_string();
    assert!(!body.contains("UElD") && body.contains("image/png left out"), "{body}");
}

async fn error_of(reply: Reply) -> ModelError {
    let mock = MockLlm::start().await;
    mock.push(reply);
    failure(&mock, GEMINI).await
}

/// A limit that passes is waited for; a quota that is used up is not.
#[tokio::test]
async fn a_rate_and_a_quota_are_told_apart() {
    let exhausted = |message: &str, quota: &str, delay: &str| {
        let mut body = error(429, "RESOURCE_EXHAUSTED", message);
        body["error"]["details"] = json!([
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure",
             "violations": [{"quotaId": quota, "quotaMetric": "m"}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
        ]);
        Reply::json(429, &body)
    };
    let words = "You exceeded your current quota, please check your plan and billing details. \
        For more information on this error, head to the pages about rate limits.";
    let minute = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier";
    let passing = error_of(exhausted(words, minute, "34.5s")).await;
    assert_eq!(passing.kind, Kind::RateLimit);
    assert_eq!(passing.retry_after, Some(Duration::from_millis(34_500)));
    let day = "GenerateRequestsPerDayPerProjectPerModel-FreeTier";
    let spent = error_of(exhausted(words, day, "34.5s")).await;
    assert_eq!((spent.kind, spent.retry_after), (Kind::Quota, None));
    assert_eq!(
        spent.message,
        "gemini has no quota left for gemini-3.5-flash (429): You exceeded your current quota, \
         please check your plan and billing details; wait until it is renewed, raise it or choose \
         another model"
    );
    let none = format!("{words}\n* Quota exceeded for metric: x, limit: 0, model: y\n");
    let none = error_of(exhausted(&none, minute, "1s")).await;
    assert_eq!(none.kind, Kind::Quota);
    let short = error_of(refusal(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted.")).await;
    assert_eq!(short.kind, Kind::RateLimit);
}

#[tokio::test]
async fn refusals_have_classes_and_say_what_to_do() {
    for (status, word, said, kind, shown) in [
        (
            400,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key.",
            Kind::Auth,
            "correct GEMINI_API_KEY",
        ),
        (
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            Kind::Overflow,
            "larger than the context window",
        ),
        (
            400,
            "INVALID_ARGUMENT",
            "Invalid JSON payload received.",
            Kind::InvalidRequest,
            "refused the request",
        ),
        (
            403,
            "PERMISSION_DENIED",
            "Method doesn't allow unregistered callers.",
            Kind::Auth,
            "check what the key may use",
        ),
        (
            404,
            "NOT_FOUND",
            "models/x is not found for API version v1beta.",
            Kind::InvalidRequest,
            "choose another with --model",
        ),
        (500, "INTERNAL", "An internal error has occurred.", Kind::Server, "failed (500)"),
        (503, "UNAVAILABLE", "The model is overloaded.", Kind::Overloaded, "is overloaded"),
        (504, "DEADLINE_EXCEEDED", "Too slow.", Kind::Server, "failed (504)"),
    ] {
        let error = error_of(refusal(status, word, said)).await;
        assert_eq!((error.kind, error.status), (kind, Some(status)), "{said}");
        assert!(error.message.contains(shown), "{}", error.message);
    }
    // A proxy that hands on the whole body as its message.
    let inner = error(429, "RESOURCE_EXHAUSTED", "Please retry in 2s.").to_string();
    let wrapped = error_of(Reply::json(429, &json!({"error": {"message": inner, "code": 429}})));
    let wrapped = wrapped.await;
    assert_eq!(wrapped.kind, Kind::RateLimit);
    assert_eq!(wrapped.retry_after, Some(Duration::from_secs(2)));
    assert_eq!(wrapped.message, "gemini limits the rate (429): Please retry in 2s.");
}

/// A call whose signature belongs to this very model, as the journal gives it back.
#[tokio::test]
async fn a_stored_signature_goes_back() {
    let opaque = |model: &str| Opaque {
        model: ModelRef { provider: "gemini".into(), model: model.into() },
        data: json!({"thoughtSignature": "S"}),
    };
    let history = |maker: &str| -> Vec<Message> {
        let call = ToolCall {
            id: "c".into(),
            name: "ls".into(),
            args: serde_json::Map::new(),
            invalid: None,
            opaque: Some(opaque(maker)),
        };
        vec![user("go"), assistant_by("gemini", maker, vec![Block::Call(call)]), result("c", "1")]
    };
    let own = sent(request(history("gemini-3.5-flash"))).await;
    assert_eq!(own["contents"][1]["parts"][0]["thoughtSignature"], "S");
    let other = sent(request(history("gemini-2.5-pro"))).await;
    let stand_in = "skip_thought_signature_validator";
    assert_eq!(other["contents"][1]["parts"][0]["thoughtSignature"], stand_in);
}
