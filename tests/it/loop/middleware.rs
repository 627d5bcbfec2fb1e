//! What stands around the running of tools.

use std::sync::Arc;

use codebot::kernel::message::{CallStatus, ToolCall};
use codebot::kernel::ports::{CallContext, Middleware, Onward, ToolOutcome};
use futures_util::future::BoxFuture;

use super::fake_lab::Lab;
use super::fake_model::{calls, says};
use super::fake_ports::Trace;

/// Notes that it was passed on the way in and out; refuses calls with the words `no`.
#[derive(Debug)]
struct Passage {
    name: &'static str,
    refuses: bool,
    trace: Trace,
}

impl Middleware for Passage {
    fn around<'a>(
        &'a self,
        call: ToolCall,
        context: CallContext,
        onward: Onward<'a>,
    ) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            self.trace.add(format!("{} before", self.name));
            let outcome = if self.refuses && call.args["text"] == "no" {
                ToolOutcome::refused("not here")
            } else {
                onward.run(call, context).await
            };
            self.trace.add(format!("{} after", self.name));
            outcome
        })
    }
}

fn around(lab: &mut Lab, name: &'static str, refuses: bool) {
    let trace = lab.trace.clone();
    lab.around.push(Arc::new(Passage { name, refuses, trace }));
}

fn passages(lab: &Lab) -> Vec<String> {
    let about = |what: &String| {
        ["before", "after", "run"].iter().any(|word| what.split(' ').any(|part| part == *word))
    };
    lab.trace.all().into_iter().filter(about).collect()
}

/// Scenario 86.
#[tokio::test(start_paused = true)]
async fn a_middleware_stands_before_and_after_the_tool_once() {
    let mut lab = Lab::new(vec![calls(&[("k1", "write", "a")]), says("done")]);
    around(&mut lab, "one", false);
    let live = lab.run("go").await;
    assert_eq!(passages(&lab), ["one before", "run k1", "one after"]);
    assert_eq!(live.results()[0].text(), "a");
    assert_eq!(lab.request_lines(1)[2], "tool:k1=a");
}

/// Scenario 87.
#[tokio::test(start_paused = true)]
async fn the_first_middleware_is_outermost_and_one_may_refuse() {
    let no = || calls(&[("k1", "read", "no")]);
    let mut lab = Lab::new(vec![no(), no(), no(), calls(&[("k2", "read", "a")]), says("done")]);
    lab.config.breaker_limit = 1;
    around(&mut lab, "outer", false);
    around(&mut lab, "inner", true);
    let live = lab.run("go").await;
    let results = live.results();
    assert!(results[..3].iter().all(|result| result.status == CallStatus::Denied));
    assert_eq!(results[0].text(), "Refused: not here");
    assert_eq!(results[3].text(), "a", "a refusal is no failure of the tool");
    let passages = passages(&lab);
    assert_eq!(passages[..4], ["outer before", "inner before", "inner after", "outer after"]);
    let last = ["outer before", "inner before", "run k2", "inner after", "outer after"];
    assert_eq!(passages[passages.len() - 5..], last);
}
