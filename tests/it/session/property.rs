//! Replay equals live, and a file cut anywhere is still a session.

use codebot::kernel::message::{Block, Message, MessageId, Origin, RunId, Timestamp, UserMessage};
use codebot::kernel::ports::{Durability, Journal, Record};
use codebot::session::journal::SessionJournal;
use codebot::session::replay::{load, read_lines};
use proptest::prelude::*;

use super::support::*;

/// One step of a session.
#[derive(Clone, Debug)]
enum Step {
    Prompt(String),
    Note(String),
    Answer(String),
    /// Calls, which of them start before the answer is saved, and the results' text.
    Tools(usize, usize, String),
    /// An answer that was dropped after some calls had started.
    Dropped(usize),
    /// The newest words of the user and all after them are taken back.
    TakenBack,
    /// The conversation goes back to before one of the user's messages.
    Rewound(usize),
    /// The last rewind is undone, when nothing came after it.
    Redone,
}

fn step() -> impl Strategy<Value = Step> {
    let text = || any::<String>();
    prop_oneof![
        text().prop_map(Step::Prompt),
        text().prop_map(Step::Note),
        text().prop_map(Step::Answer),
        (1..4_usize, 0..4_usize, text()).prop_map(|(n, early, text)| Step::Tools(n, early, text)),
        (1..3_usize).prop_map(Step::Dropped),
        Just(Step::TakenBack),
        (0..5_usize).prop_map(Step::Rewound),
        Just(Step::Redone),
    ]
}

/// The records of the steps in the order of a loop, and the history that it holds.
fn live(steps: &[Step]) -> (Vec<Record>, Vec<Message>) {
    let mut records = Vec::new();
    for (n, step) in steps.iter().enumerate() {
        let turn = n as u32;
        let id = |kind: &str| format!("{kind}{n}");
        // The same ids in every round, as some servers give them.
        let calls = |count: usize| (0..count).map(|i| call(&format!("c{i}"), "bash"));
        match step {
            Step::Prompt(text) => records.push(said(user(&id("u"), text))),
            Step::Note(text) => records.push(said(note(&id("n"), text))),
            Step::Answer(text) => records.push(said(assistant(&id("a"), text, &[]))),
            Step::Tools(count, early, text) => {
                let calls: Vec<_> = calls(*count).collect();
                let (before, after) = calls.split_at((*early).min(*count));
                let started = |(i, call)| intent(turn, i, call);
                records.extend(before.iter().enumerate().map(started));
                records.push(said(assistant(&id("a"), text, &calls)));
                records.extend(after.iter().enumerate().map(started));
                for (i, call) in calls.iter().enumerate() {
                    records.push(said(result(&format!("t{n}-{i}"), call, text)));
                }
            }
            Step::TakenBack => {
                let history = spoken(&records);
                let written = |message: &Message| matches!(message, Message::User(_));
                let at = history.iter().rposition(written).unwrap_or(history.len());
                let ids = history[at..].iter().map(|message| message.id().clone()).collect();
                records.push(Record::TakenBack { ids });
            }
            Step::Rewound(which) => {
                let history = spoken(&records);
                let mut turns = history.iter().enumerate();
                let turn =
                    turns.by_ref().filter(|(_, m)| matches!(m, Message::User(_))).nth(*which);
                let at = turn.map_or(history.len(), |(at, _)| at);
                let taken = history[at..].iter().map(|message| message.id().clone()).collect();
                records.push(Record::Rewind { taken, given: vec![], changes: vec![] });
            }
            Step::Redone => {
                let given = match records.last() {
                    Some(Record::Rewind { taken, .. }) => taken.clone(),
                    _ => Vec::new(),
                };
                records.push(Record::Rewind { taken: vec![], given, changes: vec![] });
            }
            Step::Dropped(count) => {
                let calls: Vec<_> = calls(*count).collect();
                records.extend(calls.iter().enumerate().map(|(i, call)| intent(turn, i, call)));
                records.push(discarded(turn, &calls.iter().collect::<Vec<_>>()));
            }
        }
    }
    let history = spoken(&records);
    (records, history)
}

/// The messages of the records that nobody took back.
fn spoken(records: &[Record]) -> Vec<Message> {
    let mut history: Vec<Message> = Vec::new();
    let mut gone: Vec<MessageId> = Vec::new();
    for record in records {
        match record {
            Record::Message { message } => history.push(message.clone()),
            Record::TakenBack { ids } => gone.extend(ids.iter().cloned()),
            Record::Rewind { taken, given, .. } => {
                gone.retain(|id| !given.contains(id));
                gone.extend(taken.iter().cloned());
            }
            Record::Intent { .. }
            | Record::Discarded { .. }
            | Record::Compaction { .. }
            | Record::Switched { .. }
            | Record::Checkpoint { .. }
            | Record::Planning { .. }
            | Record::CompactionUndone { .. } => {}
        }
    }
    history.retain(|message| !gone.contains(message.id()));
    history
}

fn write(state: &std::path::Path, records: &[Record], flush: &[bool]) -> std::path::PathBuf {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let journal = journal(state, "s1");
        for (record, flush) in records.iter().zip(flush.iter().cycle()) {
            let durability = if *flush { Durability::Flush } else { Durability::Buffered };
            journal.append(record, durability).await.unwrap();
        }
        journal.path().to_path_buf()
    })
}

fn user_record() -> impl Strategy<Value = Record> {
    (any::<String>(), any::<i64>(), prop::collection::vec(any::<String>(), 0..4)).prop_map(
        |(id, at, texts)| {
            said(Message::User(UserMessage {
                id: id.as_str().into(),
                at: Timestamp(at),
                origin: Origin::Steer,
                blocks: texts.into_iter().map(Block::text).collect(),
                before: None,
            }))
        },
    )
}

fn any_record() -> impl Strategy<Value = Record> {
    prop_oneof![
        user_record(),
        (any::<String>(), any::<u32>(), any::<usize>()).prop_map(|(id, turn, index)| {
            Record::Intent { run: RunId(id.clone()), turn, index, call: call(&id, "bash") }
        }),
        (any::<String>(), any::<u32>()).prop_map(|(id, turn)| Record::Discarded {
            run: RunId(id.clone()),
            turn,
            call_ids: vec![id.as_str().into()],
        }),
        any::<String>().prop_map(|id| taken_back(&[id.as_str()])),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_reload_gives_the_history_that_was_live(
        steps in prop::collection::vec(step(), 1..12),
        flush in prop::collection::vec(any::<bool>(), 1..5),
    ) {
        let state = tempfile::tempdir().unwrap();
        let (records, history) = live(&steps);
        let loaded = load(&write(state.path(), &records, &flush)).unwrap();
        prop_assert_eq!(loaded.history, history);
        prop_assert_eq!(loaded.warnings, Vec::<String>::new());
        prop_assert!(loaded.open_intents.is_empty());
    }

    #[test]
    fn any_records_come_back_as_they_were(records in prop::collection::vec(any_record(), 1..12)) {
        let state = tempfile::tempdir().unwrap();
        let path = write(state.path(), &records, &[false]);
        prop_assert_eq!(read_lines(&std::fs::read(path).unwrap()).records, records);
    }

    #[test]
    fn bytes_of_any_kind_are_read_without_a_panic(
        pieces in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..40),
                Just(b"\n".to_vec()),
                Just(br#"{"record":"message","message":{"role":"note","id":"n","at":1,"text":"\ud800"#.to_vec()),
                Just(b"\"}}\n".to_vec()),
            ],
            0..12,
        ),
    ) {
        let content = pieces.concat();
        let lines = read_lines(&content);
        prop_assert!(lines.records.len() <= lines.readable);
        let _may_fail = codebot::session::replay::from_bytes("x".as_ref(), &content, &|_| true);
    }

    #[test]
    fn a_file_cut_anywhere_goes_on_with_every_call_answered(
        steps in prop::collection::vec(step(), 1..8),
        cut in 0.0..1.0_f64,
        nuls in 0..20_usize,
    ) {
        let state = tempfile::tempdir().unwrap();
        let (records, history) = live(&steps);
        let path = write(state.path(), &records, &[false]);
        let mut content = std::fs::read(&path).unwrap();
        let first = content.iter().position(|b| *b == b'\n').unwrap() + 1;
        let rest = (content.len() - first) as f64 * cut;
        content.truncate(first + rest as usize);
        content.resize(content.len() + nuls, 0);
        std::fs::write(&path, &content).unwrap();

        let (journal, loaded) = SessionJournal::resume(&path, &|_| true).unwrap();
        let real: Vec<_> =
            loaded.history.iter().filter(|m| history.contains(m)).cloned().collect();
        prop_assert_eq!(&real[..], &history[..real.len()]);
        let calls = loaded.history.iter().filter_map(|m| match m {
            Message::Assistant(answer) => Some(answer.calls().count()),
            _ => None,
        });
        let results = loaded.history.iter().filter(|m| matches!(m, Message::Tool(_))).count();
        prop_assert_eq!(calls.sum::<usize>(), results);

        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(append(&journal, &said(user("last", "go on"))));
        drop(journal);
        let again = load(&path).unwrap();
        let (last, before) = again.history.split_last().unwrap();
        prop_assert_eq!(last, &user("last", "go on"));
        prop_assert_eq!(before, &loaded.history[..]);
    }
}
