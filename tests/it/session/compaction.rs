//! What a session file keeps of making the view smaller.

use codebot::context::project::SessionContext;
use codebot::kernel::compaction::{Compaction, Step, Summary};
use codebot::kernel::event::Tier;
use codebot::kernel::message::{Message, ModelRef};
use codebot::kernel::ports::{Context, ModelInfo, Record, View};
use codebot::session::replay;
use std::sync::Arc;

use super::support::*;

fn change(id: &str, summary: Option<&str>) -> Compaction {
    Compaction {
        id: id.into(),
        at: START,
        step: if summary.is_some() { Step::Full } else { Step::Micro },
        through: "a2".into(),
        before: 900,
        after: 90,
        summary: summary.map(|text| Summary {
            text: text.to_owned(),
            appendix: String::new(),
            keep_from: Some("u2".into()),
        }),
        cleared: vec!["r1".into()],
        shortened: Vec::new(),
    }
}

fn talk() -> Vec<Record> {
    let bash = call("k1", "bash");
    [
        user("u1", "hello"),
        assistant("a1", "", std::slice::from_ref(&bash)),
        result("r1", &bash, &"line ".repeat(300)),
        user("u2", "more"),
        assistant("a2", "well", &[]),
    ]
    .map(said)
    .to_vec()
}

async fn view(records: &[Record]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let loaded = replay::load(&written(dir.path(), records).await).unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let history: Vec<Arc<Message>> = loaded.history.into_iter().map(Arc::new).collect();
    let context = SessionContext::new(Vec::new()).with_changes(loaded.compactions);
    let model = ModelInfo {
        model: ModelRef::default(),
        context_window: 100_000,
        max_output: 100,
        price: None,
        vision: false,
    };
    let view = View { model: &model, tier: Tier::Full, tools: &[] };
    let messages = context.project(&history, view).await.unwrap().messages;
    messages.iter().map(|message| message.id().to_string()).collect()
}

/// A reload sees what the model saw; a file without such records is as it always was.
#[tokio::test]
async fn a_reload_shows_the_same_view() {
    let mut records = talk();
    assert_eq!(view(&records).await, ["u1", "a1", "r1", "u2", "a2"]);
    records.push(Record::Compaction { compaction: change("k1", None) });
    assert_eq!(view(&records).await, ["u1", "a1", "r1", "u2", "a2"]);
    records.push(Record::Compaction { compaction: change("k2", Some("they said hello")) });
    assert_eq!(view(&records).await, ["k2", "k2-ack", "u2", "a2"]);
    records.push(said(user("u3", "on")));
    assert_eq!(view(&records).await, ["k2", "k2-ack", "u2", "a2", "u3"]);
    records.push(Record::CompactionUndone { ids: vec!["k2".into()] });
    assert_eq!(view(&records).await, ["u1", "a1", "r1", "u2", "a2", "u3"]);
}

/// Lines of a session are a promise: this one was written by the first version that had it.
#[test]
fn the_line_of_a_compaction_is_stable() {
    let line = serde_json::to_string(&Record::Compaction { compaction: change("k", Some("s")) });
    assert_eq!(
        line.unwrap(),
        r#"{"record":"compaction","compaction":{"id":"k","at":1772000000000,"step":"full","through":"a2","before":900,"after":90,"summary":{"text":"s","appendix":"","keep_from":"u2"},"cleared":["r1"]}}"#
    );
}
