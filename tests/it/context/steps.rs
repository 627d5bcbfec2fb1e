//! The single steps: what they choose and what they leave alone.

use codebot::context::budget::{Budget, window_in};
use codebot::context::micro::{self, Keep};
use codebot::context::{appendix, cut, estimate, trim};
use codebot::kernel::message::Message;
use codebot::kernel::ports::usual_reserve;

use super::support::*;

/// Scenario 169; 200 000 tokens leave 183 616.
#[test]
fn the_threshold_lies_inside_every_window_and_reserve_0_is_the_usual_one() {
    for window in [8_000, 16_000, 32_000, 64_000, 128_000, 200_000] {
        for output in [0, 1_000, 8_192, 64_000, 1_000_000] {
            let budget = Budget::new(window, output, 0);
            assert!((1..window).contains(&budget.threshold()), "{window} {output}");
            assert!(budget.reserve <= window / 2);
            assert!(budget.tail() <= budget.threshold() / 2);
            assert_eq!(budget.reserve, usual_reserve(window, output));
        }
    }
    assert_eq!(Budget::new(200_000, 8_192, 0).threshold(), 183_616);
    assert_eq!(Budget::new(200_000, 8_192, 30_000).threshold(), 170_000);
    assert_eq!(Budget::new(8_000, 64_000, 0).reserve, 4_000, "never more than half");
    assert_eq!(info(200_000).usable(), 183_616);
}

#[test]
fn a_refusal_tells_the_window() {
    let tells = |words: &str| window_in(words);
    assert_eq!(tells("This model's maximum context length is 8192 tokens. However"), Some(8192));
    assert_eq!(tells("prompt is too long: 212000 tokens > 200000 maximum"), Some(200_000));
    assert_eq!(
        tells("the request exceeds the available context size (16384 tokens)"),
        Some(16_384)
    );
    assert_eq!(tells("maximum context length is 131,072 tokens"), Some(131_072));
    assert_eq!(tells("your context window is full"), None);
    assert_eq!(tells("context length of 7"), None, "no window is that small");
}

/// Scenarios C02 and C03.
#[test]
fn the_two_oldest_of_five_results_become_stubs_and_a_second_pass_changes_nothing() {
    let history = reads(&["a.rs", "b.rs", "c.rs", "d.rs", "e.rs"], 2000);
    let keep = Keep { newest: 3, distinct: 0 };
    let gone = micro::clearable(&history, keep);
    assert_eq!(ids(&gone), ["r0", "r1"]);
    let Message::Tool(first) = &*history[2] else { panic!() };
    let stub = micro::stub(first, &micro::label(&call("c0", "read", "a.rs")));
    assert_eq!(
        text(&stub),
        "[cleared: read a.rs, 2005 characters; call it again if you need them]"
    );
    let mut view = history.clone();
    view[2] = stub.into();
    view[4] = micro::stub(first, "read b.rs").into();
    assert_eq!(micro::clearable(&view, keep), []);
}

/// Scenario 166.
#[test]
fn equal_calls_keep_their_newest_result_and_different_ones_the_newest_five() {
    let gone = |paths: &[&str]| micro::clearable(&reads(paths, 2000), Keep::default());
    assert_eq!(ids(&gone(&["a"; 6])), ["r0", "r1", "r2", "r3", "r4"]);
    assert_eq!(ids(&gone(&["a"; 3])), ["r0", "r1"], "also inside the newest three");
    assert_eq!(ids(&gone(&["a", "b", "c", "d", "e", "f"])), ["r0"]);
    assert_eq!(ids(&gone(&["a", "b", "a"])), ["r0"]);
    assert_eq!(micro::clearable(&reads(&["a"; 6], 10), Keep::default()), [], "nothing to save");
}

#[test]
fn results_that_nobody_has_read_yet_stay() {
    let mut history = reads(&["a", "a", "a"], 2000);
    history.pop();
    assert_eq!(ids(&micro::clearable(&history, Keep::default())), ["r0", "r1"]);
    let calls = [call("x", "read", "a"), call("y", "read", "a")];
    history.push(answer("two", "", &calls));
    history.push(result("rx", &calls[0], &"x".repeat(2000)));
    history.push(result("ry", &calls[1], &"x".repeat(2000)));
    assert_eq!(ids(&micro::clearable(&history, Keep::default())), ["r0", "r1", "r2"]);
}

/// Scenario C13: one result has at most 20 000 tokens; of all the largest old ones go first.
#[test]
fn a_result_of_a_megabyte_is_capped_and_the_largest_old_ones_are_evicted() {
    let history = reads(&["big"], 1_000_000);
    let capped = trim::cap(&history[2], 20_000).unwrap();
    let tokens = estimate::message(&capped);
    assert!((19_000..=20_100).contains(&tokens), "{tokens}");
    assert!(text(&capped).contains("characters left out"));
    assert!(trim::cap(&reads(&["small"], 100)[2], 20_000).is_none());
    let mut history = reads(&["a", "b", "c", "d", "e"], 4_000);
    let large = call("c1", "read", "b");
    history[4] = result("r1", &large, &"y".repeat(40_000));
    let gone = micro::over_cap(&history, &[], 6_000);
    assert_eq!(ids(&gone), ["r1"]);
    let gone = micro::over_cap(&history, &[], 1_000);
    assert_eq!(ids(&gone), ["r1", "r0"], "the newest three stay");
}

#[test]
fn long_texts_lose_their_middle_but_not_the_newest_messages_or_the_request() {
    let mut history = reads(&["a", "b", "c"], 6_000);
    history.insert(0, user("u-long", &"w".repeat(9_000)));
    history.insert(1, answer("a-long", &"v".repeat(9_000), &[]));
    assert_eq!(ids(&trim::shortenable(&history, trim::NEWEST)), ["u-long", "a-long", "r0"]);
    let short = trim::shorten(&history[1]);
    let text = text(&short);
    assert_eq!(text.matches('v').count(), 2000);
    assert!(text.contains("[… 7000 characters left out …]"));
    let only = vec![user("u", &"w".repeat(9_000))];
    assert_eq!(trim::shortenable(&only, 0), [], "the newest request is never cut");
}

/// Scenario 180.
#[test]
fn cuts_keep_characters_whole() {
    for piece in ["汉", "👩‍👩‍👧", "é", "x"] {
        let text = piece.repeat(1_000_000 / piece.len());
        let short = trim::middle_out(&text, 1200, 800);
        assert!(short.chars().count() < 2100);
        let result = result("r", &call("c", "read", "p"), &text);
        let capped = trim::cap(&result, 20_000).unwrap();
        assert!(estimate::message(&capped) <= 20_100);
    }
}

/// Scenarios 171, 172 and C06; case G15: the cut stands at the answer whose results stay.
#[test]
fn a_cut_never_stands_at_a_result_and_can_split_one_long_run_of_tools() {
    let mut history = reads(&["a", "b", "c", "d", "e", "f"], 2000);
    history.pop();
    let tokens: Vec<u64> = history.iter().map(|m| estimate::message(m)).collect();
    for tail in [0, 1, 100, 600, 1200, 2000] {
        let at = cut::place(&history, &tokens, 0, tail).unwrap();
        assert!(matches!(*history[at], Message::Assistant(_)), "tail {tail}: {at}");
        assert!(at > 0);
    }
    assert_eq!(cut::place(&history, &tokens, 0, 0), Some(11), "the newest result with its call");
    assert_eq!(cut::place(&history, &tokens, 0, 1_000_000), None);
    assert_eq!(cut::place(&[], &[], 0, 0), None);
    let one = reads(&["a"], 2000);
    let tokens: Vec<u64> = one.iter().map(|m| estimate::message(m)).collect();
    assert_eq!(cut::place(&one[1..3], &tokens[1..3], 0, 0), None, "a pair is not split");
}

/// Scenarios 176 and 181.
#[test]
fn the_appendix_has_requests_word_for_word_and_sorted_lists_of_files() {
    let calls = [call("1", "read", "z.rs"), call("2", "read", "a.rs"), call("3", "edit", "a.rs")];
    let mut history = vec![user("u1", "first wish"), user("u2", "second  wish,\nin two lines")];
    history.push(answer("a", "", &calls));
    for (at, call) in calls.iter().enumerate() {
        history.push(result(&format!("r{at}"), call, "ok"));
    }
    history.push(answer("b", "", &[call("4", "read", "z.rs")]));
    history.push(result("r4", &call("4", "read", "z.rs"), "ok"));
    assert_eq!(
        appendix::write(&history, history.len(), "- test it"),
        "## First request of the user\nfirst wish\n\n\
         ## Newest request of the user, word for word\nsecond  wish,\nin two lines\n\n\
         ## Open tasks\n- test it\n\n## Files changed\n- a.rs\n\n## Files read\n- z.rs"
    );
    // A request that stays in sight is not repeated.
    assert_eq!(appendix::write(&history, 1, ""), "## First request of the user\nfirst wish");
}
