//! Refusals of services: class, wait and the one line for people.

use std::time::Duration;

use codebot::kernel::error::{ModelError, ModelErrorKind as Kind};
use serde_json::json;

use super::mock_llm::anthropic::refusal as refuse;
use super::mock_llm::openai::{refusal, text};
use super::mock_llm::{MockLlm, Reply};
use super::support::{CLAUDE, GPT, ask, connection_at, failure, quick, request, user};

async fn error_of(reference: &str, reply: Reply) -> ModelError {
    let mock = MockLlm::start().await;
    mock.push(reply);
    failure(&mock, reference).await
}

#[tokio::test]
async fn a_wrong_key_names_the_variable_to_set() {
    let mock = MockLlm::start().await;
    mock.rules(|rules| rules.key = Some("right".to_owned()));
    let error = failure(&mock, CLAUDE).await;
    assert_eq!((error.kind, error.status), (Kind::Auth, Some(401)));
    assert_eq!(
        error.message,
        "anthropic refused the key (401): correct ANTHROPIC_API_KEY, or api_key under \
         [providers.anthropic] in the config file"
    );
    // A provider of one's own has no variable.
    let model = codebot::model::connect_with(
        connection_at(&mock.base_url(), "own/m", |config| config.kind = Some("openai-chat".into())),
        quick(),
    );
    let error = ask(&model, request(vec![user("hi")])).await.error.unwrap();
    assert!(error.message.ends_with("set api_key under [providers.own] in the config file"));
}

/// Scenario 148: 529 is a want of room.
#[tokio::test]
async fn statuses_have_classes() {
    for (status, kind) in [
        (400, Kind::InvalidRequest),
        (401, Kind::Auth),
        (402, Kind::Quota),
        (403, Kind::Auth),
        (404, Kind::InvalidRequest),
        (408, Kind::Server),
        (409, Kind::Server),
        (413, Kind::InvalidRequest),
        (422, Kind::InvalidRequest),
        (429, Kind::RateLimit),
        (500, Kind::Server),
        (502, Kind::Server),
        (504, Kind::Server),
        (529, Kind::Overloaded),
    ] {
        let error = error_of(GPT, Reply::json(status, &json!({"error": {"message": "no"}}))).await;
        assert_eq!((error.kind, error.status), (kind, Some(status)), "{status}");
        assert!(error.message.contains("openai") && error.message.contains(&status.to_string()));
    }
}

#[tokio::test]
async fn a_full_context_is_recognised_before_the_status() {
    for (status, words) in [
        (400, "prompt is too long: 214000 tokens > 200000 maximum"),
        (400, "This model's maximum context length is 128000 tokens. However, you requested more."),
        (413, "Request too large for model `x` on tokens per minute (TPM): Limit 6000"),
        (500, "the request exceeds the available context size, try increasing it"),
        (429, "Input is too long for requested model."),
        (400, "This model's maximum prompt length is 131072 but the request contains 200000."),
        (400, "Invalid request: Your request exceeded model token limit: 131072"),
        (400, "prompt too long; exceeded max context length by 12 tokens"),
        (400, "Prompt exceeds max length"),
        (400, "InternalError.Algo.InvalidParameter: Range of input length should be [1, 258048]"),
        (400, "invalid params, context window exceeds limit"),
        (400, "The number of tokens to keep is greater than the context length."),
    ] {
        let error = error_of(CLAUDE, refuse(status, "invalid_request_error", words)).await;
        assert_eq!(error.kind, Kind::Overflow, "{words}");
    }
    let error =
        error_of(GPT, refusal(400, "invalid_request_error", "context_length_exceeded", "no")).await;
    assert_eq!(error.kind, Kind::Overflow);
}

/// Scenario 148.
#[tokio::test]
async fn an_empty_account_is_no_rate_limit() {
    let words = "You exceeded your current quota, please check your plan and billing details.";
    let error =
        error_of(GPT, refusal(429, "insufficient_quota", "insufficient_quota", words)).await;
    assert_eq!(error.kind, Kind::Quota);
    let words = "Your credit balance is too low to access the Anthropic API.";
    let error = error_of(CLAUDE, refuse(400, "invalid_request_error", words)).await;
    assert_eq!(error.kind, Kind::Quota);
    assert!(error.message.contains("top up or choose another model"));
    let words = "Rate limit reached for requests. Please try again in 1.5s.";
    let error = error_of(GPT, refusal(429, "requests", "rate_limit_exceeded", words)).await;
    assert_eq!(
        (error.kind, error.retry_after),
        (Kind::RateLimit, Some(Duration::from_millis(1500)))
    );
}

#[tokio::test]
async fn overload_filter_and_stream_refusals_have_their_class() {
    let error = error_of(
        GPT,
        refusal(503, "server_error", "x", "The server is overloaded or not ready yet."),
    )
    .await;
    assert_eq!(error.kind, Kind::Overloaded);
    let error =
        error_of(GPT, refusal(400, "invalid_request_error", "content_filter", "policy")).await;
    assert_eq!(error.kind, Kind::ContentFilter);
    let words = "Your organization must be verified to stream this model.";
    let error =
        error_of(GPT, refusal(400, "invalid_request_error", "unsupported_value", words)).await;
    assert_eq!(error.kind, Kind::StreamUnsupported);
}

#[tokio::test]
async fn an_unknown_model_and_a_wrong_address_are_told_apart() {
    let error = error_of(CLAUDE, refuse(404, "not_found_error", "model: claude-sonnet-4-5")).await;
    assert_eq!(error.kind, Kind::InvalidRequest);
    assert!(error.message.starts_with("anthropic does not know the model claude-sonnet-4-5 (404)"));
    assert!(error.message.ends_with("choose another with --model"));
    let error = error_of(GPT, Reply::body(404, "text/plain", "404 page not found")).await;
    assert!(error.message.starts_with("nothing at http://127.0.0.1:"), "{}", error.message);
    assert!(error.message.ends_with("correct the base_url of openai"));
}

#[tokio::test]
async fn a_redirect_is_shown_and_not_followed() {
    let mock = MockLlm::start().await;
    let reply = Reply::body(308, "text/plain", "moved").header("location", "https://elsewhere/v1");
    mock.push(reply);
    let error = failure(&mock, GPT).await;
    assert_eq!(error.kind, Kind::InvalidRequest);
    assert!(error.message.contains("to https://elsewhere/v1; correct its base_url"));
}

async fn wait_of(headers: &[(&str, &str)]) -> Option<Duration> {
    let mut reply = refusal(429, "requests", "rate_limit_exceeded", "slow down");
    for (name, value) in headers {
        reply = reply.header(name, value);
    }
    let error = error_of(GPT, reply).await;
    assert_eq!(error.kind, Kind::RateLimit);
    error.retry_after
}

#[tokio::test]
async fn waits_are_read_in_every_form() {
    let secs = |n| Some(Duration::from_secs(n));
    assert_eq!(wait_of(&[]).await, None);
    assert_eq!(wait_of(&[("retry-after", "7")]).await, secs(7));
    assert_eq!(wait_of(&[("retry-after", "0.5")]).await, Some(Duration::from_millis(500)));
    assert_eq!(
        wait_of(&[("retry-after-ms", "250"), ("retry-after", "9")]).await,
        Some(Duration::from_millis(250))
    );
    let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_eq!(wait_of(&[date, ("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")]).await, secs(30));
    assert_eq!(wait_of(&[date, ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]).await, secs(0));
    let reset = ("anthropic-ratelimit-tokens-reset", "1994-11-06T08:50:37Z");
    assert_eq!(
        wait_of(&[date, ("anthropic-ratelimit-tokens-remaining", "0"), reset]).await,
        secs(60)
    );
    assert_eq!(wait_of(&[date, ("anthropic-ratelimit-tokens-remaining", "5"), reset]).await, None);
    assert_eq!(wait_of(&[("x-ratelimit-reset-requests", "6m1s")]).await, secs(361));
    assert_eq!(
        wait_of(&[("x-ratelimit-reset-tokens", "20ms")]).await,
        Some(Duration::from_millis(20))
    );
}

#[tokio::test]
async fn malformed_waits_are_ignored() {
    for value in
        ["soon", "-5", "NaN", "1e30", "", "Sun, 99 Nov 1994 08:49:37 GMT", "99999999999999"]
    {
        for name in ["retry-after", "retry-after-ms", "x-ratelimit-reset-requests"] {
            assert_eq!(wait_of(&[(name, value)]).await, None, "{name}: {value}");
        }
    }
}

#[tokio::test]
async fn a_routed_error_shows_what_the_upstream_said() {
    let raw = json!({"error": {"message": "the tool name is too long"}}).to_string();
    let body = json!({"error": {"message": "Provider returned error", "code": 400,
        "metadata": {"raw": raw, "provider_name": "X"}}});
    let error = error_of(GPT, Reply::json(400, &body)).await;
    assert_eq!(error.message, "openai refused the request (400): the tool name is too long");
}

#[tokio::test]
async fn a_failed_request_is_not_repeated_here() {
    let mock = MockLlm::start().await;
    mock.push(refusal(503, "server_error", "x", "down")).push(text("ok"));
    failure(&mock, GPT).await;
    assert_eq!(mock.requests().len(), 1);
}

/// Scenario 148: silence inside a stream is told from a service that does not answer at all.
#[tokio::test]
async fn silence_in_a_stream_is_no_plain_timeout() {
    let mock = MockLlm::start().await;
    let begun = super::mock_llm::anthropic::message_start(1);
    mock.push(super::mock_llm::anthropic::events(vec![begun]).stalled());
    assert_eq!(failure(&mock, CLAUDE).await.kind, Kind::StreamIdle);
}
