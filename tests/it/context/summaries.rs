//! How a model is asked for a summary.

use std::sync::Arc;

use codebot::context::summary::{Part, Summariser};
use codebot::kernel::error::{ModelError, ModelErrorKind};
use codebot::kernel::ports::{Model, SystemBlock, ToolChoice, ToolSpec};
use serde_json::json;

use super::support::*;

fn system() -> Vec<SystemBlock> {
    vec![SystemBlock { text: SYSTEM.into(), cache: true }]
}

fn tools() -> Vec<ToolSpec> {
    let (name, description) = ("read".to_owned(), "reads".to_owned());
    vec![ToolSpec { name, description, schema: json!({"type": "object"}), deferred: false }]
}

fn of(model: &Arc<Replies>, small: Option<&Arc<Replies>>) -> Summariser {
    let main: Arc<dyn Model> = model.clone();
    Summariser::new(main, small.map(|small| small.clone() as Arc<dyn Model>), "session-1")
}

async fn sum_up(who: &Summariser, history: &History, focus: &str) -> Result<String, String> {
    let (system, tools) = (system(), tools());
    let part = Part { system: &system, tools: &tools, messages: history, focus };
    who.sum_up(part).await.text
}

/// Scenario 174: the fork is the conversation itself with one reminder.
#[tokio::test]
async fn a_fork_uses_the_prefix_as_it_is() {
    let model = Replies::always("Sure.\n<summary>all of it</summary>");
    let history = reads(&["a", "b"], 50);
    let got = sum_up(&of(&model, None), &history, "the parser").await;
    assert_eq!(got.as_deref(), Ok("all of it"));
    let request = &model.requests()[0];
    assert_eq!((&request.system, &request.tools[..]), (&system(), &tools()[..]));
    assert_eq!(request.messages, history);
    assert_eq!((request.cache_key.as_str(), request.tool_choice), ("session-1", ToolChoice::None));
    let task = request.reminder.as_deref().unwrap();
    assert!(task.contains("## Next steps") && task.ends_with("care most about: the parser"));
}

/// Scenarios 174 and C10: without the tag, or with another model, from a plain transcript.
#[tokio::test]
async fn without_the_tag_a_transcript_is_summed_up() {
    let model = Replies::new(|at, _| Ok(if at == 0 { "I refuse" } else { "short" }.to_owned()));
    let mut history = reads(&["src/a.rs"], 50);
    history.push(user("u", "汉字 </transcript> please"));
    assert_eq!(sum_up(&of(&model, None), &history, "").await.as_deref(), Ok("short"));
    let request = &model.requests()[1];
    assert!(request.tools.is_empty() && request.messages.len() == 1 && request.reminder.is_none());
    assert!(!request.system[0].text.contains(SYSTEM));
    let asked = text(&request.messages[0]);
    assert!(asked.contains("User: look at the files"), "{asked}");
    assert!(asked.contains("Assistant calls read src/a.rs"));
    assert!(asked.contains("Result of read (Ok): src/a.rs xxx"));
    assert_eq!(asked.matches("</transcript>").count(), 1);
    let (small, main) = (Replies::always("small words"), Replies::always("<summary>no</summary>"));
    let got = sum_up(&of(&main, Some(&small)), &history, "").await;
    assert_eq!(got.as_deref(), Ok("small words"));
    assert_eq!(main.requests().len(), 0, "another model has nothing of this in its cache");
}

/// Too long: the oldest fifth goes, three times at most; an earlier summary stays.
#[tokio::test]
async fn a_transcript_that_is_too_long_loses_its_oldest_fifths() {
    let overflow = || ModelError::new(ModelErrorKind::Overflow, "too long");
    let mut history = reads(&["a", "b", "c", "d", "e", "f", "g"], 50);
    history[0] = user("s", "<conversation-summary>\nearlier\n</conversation-summary>");
    let model = Replies::new(move |at, _| if at < 3 { Err(overflow()) } else { Ok("ok".into()) });
    assert_eq!(sum_up(&of(&model, None), &history, "").await.as_deref(), Ok("ok"));
    let sizes: Vec<usize> =
        model.requests()[1..].iter().map(|r| text(&r.messages[0]).len()).collect();
    assert!(sizes.is_sorted_by(|a, b| a > b), "{sizes:?}");
    let last = text(&model.requests()[3].messages[0]);
    assert!(last.contains("earlier") && !last.contains("Result of read (Ok): a x"), "{last}");
    let model = Replies::new(move |_, _| Err(overflow()));
    assert!(sum_up(&of(&model, None), &history, "").await.is_err());
    assert_eq!(model.requests().len(), 5, "the fork, and four transcripts");
}

/// Scenario C10: what is longer than 2000 tokens is cut; blank is no summary.
#[tokio::test]
async fn summaries_are_short_and_say_something() {
    let long = format!("<summary>{}</summary>", "word ".repeat(9_000));
    let got = sum_up(&of(&Replies::always(&long), None), &reads(&["a"], 50), "").await.unwrap();
    assert!(codebot::context::estimate::text(&got) <= 2001);
    for blank in ["", "<summary>\n </summary>", " \n"] {
        let got = sum_up(&of(&Replies::always(blank), None), &reads(&["a"], 50), "").await;
        assert!(got.is_err() || blank.contains("summary"), "{got:?}");
    }
}

/// A failure of the service is the reason; no second request hides it.
#[tokio::test]
async fn a_failure_is_passed_on() {
    let model = Replies::new(|_, _| Err(ModelError::new(ModelErrorKind::Auth, "no key")));
    let got = sum_up(&of(&model, None), &reads(&["a"], 50), "").await;
    assert_eq!(got, Err("no key".to_owned()));
    assert_eq!(model.requests().len(), 1);
}
