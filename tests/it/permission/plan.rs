//! The plan overlay: what it leaves of every mode, and the way out of it.

use codebot::kernel::command::{EXIT_PLAN, Mode};
use codebot::kernel::event::Preview;
use codebot::kernel::ports::{
    Access, Capability, Gate, GateRequest, Interrupt, ToolTraits, Verdict,
};
use codebot::permission::{GateConfig, PermissionGate};
use codebot::team::gate::ChildGate;
use futures_util::FutureExt;

use super::fixture::{Did, Fixture, asked, call, did, read, verdict, write, write_did};

fn planning(fixture: &Fixture, mode: Mode, allow: &[&str]) -> PermissionGate {
    let gate = fixture.gate_with(mode, allow, &[]);
    gate.set_plan(true);
    gate
}

/// Scenario P01, scenario P02, scenario 187: nothing pierces the overlay, in no mode.
#[tokio::test]
async fn planning_leaves_looks_and_the_plan_only() {
    let fixture = Fixture::new();
    for mode in Mode::ALL {
        let gate = planning(&fixture, mode, &["Bash(*)", "Edit(**)", "mcp__*", "WebFetch(*)"]);
        let ws = fixture.ws();
        assert_eq!(read(&gate, &ws.join("f")), Did::Allow);
        assert_eq!(read(&gate, "/etc/hostname".as_ref()), Did::Ask, "an outside read still asks");
        assert_eq!(write_did(&gate, &ws.join("f")), Did::Deny);
        assert_eq!(write_did(&gate, &fixture.root().join("outside")), Did::Deny);
        assert_eq!(write_did(&gate, &fixture.root().join("state/write/plan.md")), Did::Allow);
        for (line, want) in [
            ("ls", Did::Allow),
            ("git log -p | head", Did::Allow),
            ("touch x", Did::Deny),
            ("echo x > f", Did::Deny),
            ("ls && make", Did::Deny),
            ("ls $(touch x)", Did::Deny),
            ("rm -rf /", Did::Deny),
            ("cat .env", Did::Ask),
        ] {
            assert_eq!(fixture.shell_did(&gate, line), want, "{line} in {}", mode.name());
        }
        let bare = |name, capability| did(&verdict(&gate, name, capability, &[]));
        assert_eq!(bare("mcp__x__y", Capability::Network), Did::Deny);
        assert_eq!(bare("todo_write", Capability::Internal), Did::Allow);
        assert_eq!(bare("memory_save", Capability::Internal), Did::Deny);
        assert_eq!(bare("subagent", Capability::Delegate), Did::Allow);
        let net = [Access::Network("https://docs.rs/x".to_owned())];
        assert_eq!(did(&verdict(&gate, "web_fetch", Capability::Network, &net)), Did::Allow);
    }
}

/// Scenario 187: what was remembered before does not count while planning, and counts again after.
#[tokio::test]
async fn a_remembered_answer_sleeps_while_planning() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Balanced);
    let file = fixture.ws().join("src/x");
    gate.remember(&asked(write(&gate, &file))).await.unwrap();
    gate.set_plan(true);
    assert_eq!(write_did(&gate, &file), Did::Deny);
    let Verdict::Deny { reason } = write(&gate, &file) else { panic!("not refused") };
    assert!(reason.contains("exit_plan_mode"), "{reason}");
    gate.set_plan(false);
    assert_eq!(write_did(&gate, &file), Did::Allow);
}

/// Scenario A08: the plan is shown to a person in every mode; without planning there is nothing to
/// leave.
#[test]
fn a_plan_is_always_a_question() {
    let fixture = Fixture::new();
    for mode in Mode::ALL {
        let gate = planning(&fixture, mode, &["exit_plan_mode"]);
        let mut shown = call(EXIT_PLAN);
        shown.args.insert("plan".to_owned(), "1. read".into());
        let traits = ToolTraits::new(Capability::Internal, true, Interrupt::Cancel).exclusive();
        let request = GateRequest { call: &shown, traits, access: &[], preview: None };
        let question = asked(gate.judge(request).now_or_never().unwrap().unwrap());
        assert_eq!(question.preview, Some(Preview::Plan { text: "1. read".to_owned() }));
        assert_eq!(question.rule, None);
        gate.set_plan(false);
        let after = gate.judge(request).now_or_never().unwrap().unwrap();
        assert_eq!(did(&after), Did::Deny);
    }
}

#[test]
fn the_model_is_reminded_only_while_planning() {
    let fixture = Fixture::new();
    let plan_file = Some(fixture.root().join("state/write/plan.md"));
    let gate = PermissionGate::new(GateConfig { plan: true, plan_file, ..fixture.config() });
    let words = gate.reminder().unwrap();
    assert!(words.contains("Plan mode is on") && words.contains("plan.md"), "{words}");
    gate.set_plan(false);
    assert_eq!(gate.reminder(), None);
}

/// Scenario P09: a child plans when its session plans, can not end that, and is told.
#[test]
fn children_inherit_planning() {
    let fixture = Fixture::new();
    let gate = std::sync::Arc::new(planning(&fixture, Mode::Trust, &[]));
    let child = ChildGate::new(gate.clone(), "explore".to_owned(), true);
    let judge = |name: &str, capability, access: &[Access]| {
        let call = call(name);
        let traits = ToolTraits::new(capability, false, Interrupt::Finish);
        let request = GateRequest { call: &call, traits, access, preview: None };
        did(&child.judge(request).now_or_never().unwrap().unwrap())
    };
    let file = [Access::Write(fixture.ws().join("f"))];
    assert_eq!(judge("edit", Capability::Write, &file), Did::Deny);
    assert_eq!(judge(EXIT_PLAN, Capability::Internal, &[]), Did::Deny);
    assert!(child.planning() && child.reminder().is_some());
    child.set_plan(false);
    assert!(child.planning(), "a child has no say");
}
