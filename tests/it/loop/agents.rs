//! Agents that work for the agent: real tools and the real loop, scripted models.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use codebot::kernel::agent::{Agent, AgentConfig};
use codebot::kernel::command::{Answer, Command};
use codebot::kernel::event::{EndReason, Event, Purpose, RunSummary};
use codebot::kernel::message::{Block, CallStatus, Stop, ToolMessage};
use codebot::kernel::ports::{Aside, NoNotices, Notices, Ports, ProgressSink};
use codebot::team::crew::{Crew, Fitted, Fitting, Outfit};
use codebot::team::desk::Desk;
use codebot::team::gate::ChildGate;
use codebot::team::kinds::{Kinds, parse};
use codebot::tools::delegate::{Delegates, Errand, ReportEnd, Watcher};
use codebot::tools::{Tools, ToolsConfig};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::fake_lab::Lab;
use super::fake_model::{Act, FakeModel, Script, call, done, says, usage};
use super::fake_ports::{FakeNotices, Rule};

/// A session with agents: one model for the session, one for all its agents.
struct House {
    lab: Lab,
    child: Arc<FakeModel>,
    dir: tempfile::TempDir,
}

#[derive(Debug)]
struct Rooms {
    ports: Ports,
    child: Arc<FakeModel>,
    root: PathBuf,
    config: AgentConfig,
}

impl Outfit for Rooms {
    fn fit(&self, order: &Fitting<'_>) -> Result<Fitted, String> {
        let mut tools = ToolsConfig::new(&self.root, self.root.join("results"));
        tools.team.clone_from(&order.team);
        tools.only.clone_from(&order.kind.tools);
        let tools = Arc::new(Tools::new(tools));
        let gate = ChildGate::new(self.ports.gate.clone(), order.label.clone(), order.may_ask);
        let ports = Ports {
            model: self.child.clone(),
            tools: tools.clone(),
            gate: Arc::new(gate),
            notices: tools.jobs(),
            ..self.ports.clone()
        };
        let config = AgentConfig {
            max_turns: order.kind.turns,
            wrap_at_cap: true,
            monitor: true,
            interactive: order.may_ask,
            ..self.config.clone()
        };
        Ok(Fitted { ports, config, notes: Vec::new(), keep: Some(tools) })
    }
}

impl House {
    fn new(parent: Vec<Script>, child: Vec<Script>) -> Self {
        Self::with_last(parent, child, None)
    }

    fn with_last(parent: Vec<Script>, child: Vec<Script>, last: Option<Script>) -> Self {
        let lab = Lab::new(parent);
        let child = FakeModel::new(child, last, lab.trace.clone());
        Self { lab, child, dir: tempfile::tempdir().unwrap() }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn crew(&self, events: mpsc::Sender<Event>) -> (Crew, Desk) {
        let desk = Desk::new(events);
        let rooms = Rooms {
            ports: self.lab.ports(),
            child: self.child.clone(),
            root: self.root(),
            config: AgentConfig::default(),
        };
        (Crew::new(Kinds::load(&[]), Arc::new(rooms), desk.clone()), desk)
    }

    /// One task, straight to the crew.
    async fn errand(&self, errand: Errand) -> codebot::tools::delegate::Report {
        let (sender, _events) = mpsc::channel(128);
        self.crew(sender).0.run(errand, watcher(&CancellationToken::new())).await
    }

    fn live(&self, notices: Arc<dyn Notices>) -> Live {
        let (sender, events) = mpsc::channel(128);
        let (crew, desk) = self.crew(sender.clone());
        let mut config = ToolsConfig::new(self.root(), self.root().join("results"));
        config.team = Some(Arc::new(crew));
        let tools = Arc::new(Tools::new(config));
        let ports = Ports { tools: tools.clone(), notices, ..self.lab.ports() };
        let history: Vec<codebot::kernel::message::Message> = Vec::new();
        let agent = Agent::spawn(ports, AgentConfig::default(), history, sender);
        agent.send(Command::Prompt { blocks: vec![Block::text("go")] });
        Live { agent, events, desk, tools, results: Vec::new(), log: Vec::new() }
    }
}

struct Live {
    agent: codebot::kernel::agent::AgentHandle,
    events: mpsc::Receiver<Event>,
    desk: Desk,
    tools: Arc<Tools>,
    results: Vec<ToolMessage>,
    log: Vec<Event>,
}

impl Live {
    async fn until(&mut self, fits: impl Fn(&Event) -> bool) -> Event {
        loop {
            let event = tokio::time::timeout(Duration::from_mins(1), self.events.recv()).await;
            let event = event.expect("an event in time").expect("the agent lives");
            if let Event::ToolEnd { result, .. } = &event {
                self.results.push(result.clone());
            }
            self.log.push(event.clone());
            if fits(&event) {
                return event;
            }
        }
    }

    async fn end(&mut self) -> RunSummary {
        match self.until(|event| matches!(event, Event::RunEnd { .. })).await {
            Event::RunEnd { summary } => summary,
            _ => unreachable!(),
        }
    }
}

fn watcher(cancel: &CancellationToken) -> Watcher {
    Watcher { cancel: cancel.clone(), progress: ProgressSink::none(), aside: Aside::default() }
}

fn task(words: &str) -> Errand {
    Errand { task: words.to_owned(), ..Errand::default() }
}

fn asks(tool: &str, args: Value) -> Script {
    vec![call(0, "k", tool, args), done(Stop::ToolUse)]
}

fn hands(args: Value) -> Script {
    asks("subagent", args)
}

/// What the agent's request showed of the conversation, as one text.
fn seen(request: &codebot::kernel::ports::Request) -> String {
    request.messages.iter().map(|m| super::fake_lab::line(m)).collect::<Vec<_>>().join("\n")
}

/// Scenario 222: one, several side by side with reports in the order of the tasks, and a chain in
/// which `{previous}` stands for the report before; any other form is refused.
#[tokio::test(start_paused = true)]
async fn the_three_forms_of_a_task() {
    let slow = vec![Act::Wait(50), super::fake_model::text(0, "one"), done(Stop::EndTurn)];
    let parent = vec![
        hands(json!({"tasks": ["first", "second"]})),
        hands(json!({"chain": ["begin", "go on with {previous}"]})),
        hands(json!({"task": "a", "tasks": ["b"]})),
        says("done"),
    ];
    let house = House::new(parent, vec![slow, says("two"), says("alpha"), says("omega")]);
    let mut live = house.live(Arc::new(NoNotices));
    assert_eq!(live.end().await.text, "done");
    let texts: Vec<String> = live.results.iter().map(ToolMessage::text).collect();
    assert!(texts[0].find("one").unwrap() < texts[0].find("two").unwrap(), "{}", texts[0]);
    assert_eq!(texts[1], "omega");
    assert!(texts[2].contains("exactly one of task, tasks and chain"), "{}", texts[2]);
    assert!(seen(&house.child.requests()[3]).contains("go on with alpha"));
}

/// Scenario A01: the fourth level hires nobody; no request is made for it.
#[tokio::test(start_paused = true)]
async fn agents_are_nested_three_deep_at_most() {
    let deeper = || hands(json!({"task": "deeper"}));
    let child = vec![deeper(), deeper(), deeper(), says("alone"), says("b"), says("c")];
    let house = House::new(Vec::new(), child);
    let report = house.errand(task("down")).await;
    assert_eq!(report.end, ReportEnd::Answered);
    let requests = house.child.requests();
    assert_eq!(requests.len(), 6);
    assert!(seen(&requests[3]).contains("TooDeep"), "{}", seen(&requests[3]));
}

/// Scenarios A02 and A03: who explores has only tools that look; an unknown kind is the general one
/// with a word about it.
#[tokio::test(start_paused = true)]
async fn kinds_decide_about_tools() {
    let house = House::new(Vec::new(), vec![says("found"), says("did")]);
    let explore = Errand { agent: Some("explore".to_owned()), ..task("look") };
    assert_eq!(house.errand(explore).await.text, "found");
    let report = house.errand(Errand { agent: Some("wizard".to_owned()), ..task("x") }).await;
    assert!(report.text.contains("there is no agent wizard"), "{}", report.text);
    let names = |at: usize| -> Vec<String> {
        house.child.requests()[at].tools.iter().map(|tool| tool.name.clone()).collect()
    };
    assert_eq!(names(0), ["read", "grep", "glob", "ls"]);
    assert!(names(1).contains(&"bash".to_owned()) && names(1).contains(&"subagent".to_owned()));
}

/// Scenarios A04 and P09: an agent in the background answers at once, its report is a notice, and
/// what would need an answer is refused without asking.
#[tokio::test]
async fn an_agent_in_the_background_asks_nobody() {
    let write = asks("write", json!({"file_path": "x", "content": "y"}));
    let parent = vec![hands(json!({"task": "write x", "background": true})), says("done")];
    let house = House::new(parent, vec![write, says("could not")]);
    house.lab.gate.rule("write", Rule::Ask);
    let mut live = house.live(Arc::new(NoNotices));
    live.end().await;
    assert!(live.results[0].text().starts_with("started as task 1"));
    let job = live.tools.jobs().find("1").unwrap();
    tokio::time::timeout(Duration::from_secs(10), job.ended()).await.unwrap();
    let news = live.tools.jobs().peek();
    assert!(news[0].text.contains("could not"), "{news:?}");
    assert!(seen(&house.child.requests()[1]).contains("can't ask the user"));
    assert!(!house.root().join("x").exists());
    assert!(!live.log.iter().any(|event| matches!(event, Event::ApprovalAsked { .. })));
}

/// Scenario P10: a question of an agent carries its name, the answer finds the way back to it.
#[tokio::test]
async fn a_question_of_an_agent_carries_its_name() {
    let write = asks("write", json!({"file_path": "x", "content": "y"}));
    let parent = vec![hands(json!({"task": "write x"})), says("done")];
    let house = House::new(parent, vec![write, says("written")]);
    house.lab.gate.rule("write", Rule::Ask);
    let mut live = house.live(Arc::new(NoNotices));
    let asked = live.until(|event| matches!(event, Event::ApprovalAsked { .. })).await;
    let Event::ApprovalAsked { approval } = asked else { unreachable!() };
    assert!(approval.reason.starts_with("agent general (agent-1): "), "{}", approval.reason);
    assert!(live.desk.answer(&approval.call.id, &Answer::Once));
    live.end().await;
    assert!(live.log.iter().any(|event| matches!(event, Event::ApprovalClosed { .. })));
    assert_eq!(std::fs::read_to_string(house.root().join("x")).unwrap(), "y");
    assert!(!live.desk.answer(&approval.call.id, &Answer::Once), "it is closed");
}

/// Scenario B15: news for the session is not told to its agents.
#[tokio::test(start_paused = true)]
async fn agents_do_not_hear_the_news_of_the_session() {
    let late = vec![Act::Wait(100), super::fake_model::text(0, "report"), done(Stop::EndTurn)];
    let house = House::new(vec![hands(json!({"task": "look"})), says("done")], vec![late]);
    let notices = Arc::new(FakeNotices::default());
    let mut live = house.live(notices.clone());
    live.until(|event| matches!(event, Event::ToolStart { .. })).await;
    notices.add("7", "done", "the build is ready");
    live.end().await;
    assert!(!seen(&house.child.requests()[0]).contains("the build is ready"));
    assert!(seen(&house.lab.model.requests()[1]).contains("the build is ready"));
    assert_eq!(*notices.acknowledged.lock().unwrap(), ["7"]);
}

/// Scenario M13: an agent that repeats itself reports what it has, marked as incomplete.
#[tokio::test]
async fn a_stuck_agent_hands_over_what_it_has() {
    let again = || asks("ls", json!({}));
    let mut child: Vec<Script> = (0..7).map(|_| again()).collect();
    child.push(says("half of it"));
    let house = House::new(vec![hands(json!({"task": "look"})), says("done")], child);
    let mut live = house.live(Arc::new(NoNotices));
    assert_eq!(live.end().await.text, "done");
    let text = live.results[0].text();
    assert!(text.starts_with("[incomplete:") && text.contains("half of it"), "{text}");
    assert_eq!(live.results[0].status, CallStatus::Ok);
}

/// Scenario K10: an agent reads for itself what the session has read already, and its tokens are
/// booked as an agent's.
#[tokio::test]
async fn an_agent_reads_for_itself() {
    let read = |path: &str| asks("read", json!({"file_path": path}));
    let mut report = says("read it");
    report.insert(0, usage(10, 5));
    let parent = vec![read("f"), hands(json!({"task": "read f"})), says("done")];
    let house = House::new(parent, vec![read("f"), report]);
    std::fs::write(house.root().join("f"), "the old text").unwrap();
    let mut live = house.live(Arc::new(NoNotices));
    live.until(|event| matches!(event, Event::ToolEnd { .. })).await;
    live.end().await;
    assert!(seen(&house.child.requests()[1]).contains("the old text"));
    let child = |event: &Event| match event {
        Event::Usage { purpose: Purpose::Child, usage, .. } => usage.output,
        _ => 0,
    };
    assert_eq!(live.log.iter().map(child).sum::<u64>(), 5);
}

/// Case G21 and scenario A07: whoever stops the session stops its agents, two levels down too, and
/// what they had begun does not happen.
#[tokio::test]
async fn stopping_the_session_stops_its_agents() {
    for levels in [1, 2] {
        let mut child: Vec<Script> =
            (1..levels).map(|_| hands(json!({"task": "deeper"}))).collect();
        child.push(asks("bash", json!({"command": "sleep 2; touch M"})));
        let house = House::new(vec![hands(json!({"task": "wait"}))], child);
        let mut live = house.live(Arc::new(NoNotices));
        live.until(|event| matches!(event, Event::ToolProgress { .. })).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        let stopped = Instant::now();
        live.agent.send(Command::Abort);
        assert_eq!(live.end().await.reason, EndReason::Aborted);
        assert!(stopped.elapsed() < Duration::from_secs(1), "{:?}", stopped.elapsed());
        assert_eq!(live.results[0].status, CallStatus::Cancelled);
        tokio::time::sleep(Duration::from_millis(2200)).await;
        assert!(!house.root().join("M").exists());
    }
}

/// Case G21: an agent in the background goes on when the run is stopped, and ends with the session.
#[tokio::test]
async fn an_agent_in_the_background_outlives_the_run_and_not_the_session() {
    let parent = vec![
        hands(json!({"task": "wait", "background": true})),
        asks("bash", json!({"command": "sleep 20"})),
    ];
    let house = House::new(parent, vec![asks("bash", json!({"command": "sleep 20; touch M"}))]);
    let mut live = house.live(Arc::new(NoNotices));
    let runs =
        |event: &Event| matches!(event, Event::ToolStart { call, .. } if call.name == "bash");
    live.until(runs).await;
    live.agent.send(Command::Abort);
    live.end().await;
    let job = live.tools.jobs().find("1").unwrap();
    assert!(job.is_running());
    live.tools.stop_all();
    tokio::time::timeout(Duration::from_secs(3), job.ended()).await.unwrap();
}

/// Case G22: stopped in the moment of its end, an agent has one outcome, whichever it is.
#[tokio::test(start_paused = true)]
async fn one_outcome_when_the_stop_meets_the_end() {
    for at in 0..50 {
        let answer = vec![Act::Wait(25), super::fake_model::text(0, "there"), done(Stop::EndTurn)];
        let house = House::new(Vec::new(), vec![answer]);
        let (sender, _events) = mpsc::channel(128);
        let cancel = CancellationToken::new();
        let run = house.crew(sender).0.run(task("x"), watcher(&cancel));
        let stop = async {
            tokio::time::sleep(Duration::from_millis(at)).await;
            cancel.cancel();
        };
        let (report, ()) = tokio::join!(run, stop);
        match report.end {
            ReportEnd::Answered => assert_eq!(report.text, "there"),
            ReportEnd::Cancelled => assert!(report.text.contains("stopped"), "{}", report.text),
            ReportEnd::Failed => panic!("{}", report.text),
        }
    }
}

/// Case G22: two tasks in the same words are two agents.
#[tokio::test(start_paused = true)]
async fn the_same_words_twice_are_two_agents() {
    let parent = vec![hands(json!({"tasks": ["same", "same"]})), says("done")];
    let house = House::new(parent, vec![says("one"), says("two")]);
    let mut live = house.live(Arc::new(NoNotices));
    live.end().await;
    let text = live.results[0].text();
    assert!(text.contains("one") && text.contains("two"), "{text}");
    assert!(house.child.requests().iter().all(|request| request.messages.len() == 1));
}

/// Files describe agents: names of tools are understood as other programs write them, a file that
/// says nothing is refused.
#[test]
fn files_describe_agents() {
    let text =
        "---\nname: Reviewer\ndescription: \"looks closely\"\ntools: Read, Grep\n---\nBe strict.";
    let kind = parse(text, "x").unwrap();
    assert_eq!((kind.name.as_str(), kind.description.as_str()), ("reviewer", "looks closely"));
    assert_eq!(kind.tools.unwrap(), ["read", "grep"]);
    assert!(kind.read_only);
    assert!(parse("---\nname: a b\n---\nx", "x").is_err());
    assert!(parse("---\nname: a\n---\n", "x").is_err());
    assert_eq!(parse("just words", "helper-1").unwrap().name, "helper-1");
}
