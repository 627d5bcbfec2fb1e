//! From the ground to one live session: model, tools, gate, context and journal behind the ports,
//! and the agent on top.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::config::schema::{PromptPlace, RouteSettings, ToolStart as ConfiguredStart};
use crate::context::project::{Limits, SessionContext};
use crate::context::summary::Summariser;
use crate::kernel::agent::{Agent, AgentConfig, AgentHandle, ToolStart};
use crate::kernel::budget::Budget;
use crate::kernel::command::Mode;
use crate::kernel::event::Event;
use crate::kernel::ports::{
    Clock, Journal, Middleware, Model, Notices, Ports, SystemBlock, Toolbox, Wrapped,
};
use crate::kernel::route::{FastRule, RouteConfig};
use crate::model::connection::Connection;
use crate::model::providers::PROVIDERS;
use crate::model::resolve::{self, ResolveError};
use crate::model::scripted::{Pace, ScriptedModel};
use crate::permission::PermissionGate;
use crate::prompt::assemble::{self, PromptInput, SessionFacts};
use crate::prompt::instructions;
use crate::rewind::keeper::Keeper;
use crate::session::journal::{NewSession, SessionJournal, fresh_id};
use crate::session::{index, place, replay::Loaded};
use crate::team::crew::Crew;
use crate::team::desk::Desk;
use crate::team::kinds::Kinds;
use crate::tools::address::Exceptions;
use crate::tools::compress::Compressor;
use crate::tools::find_tools::{Deferring, MANY_TOOLS};
use crate::tools::web_search::SearchService;
use crate::tools::{Closed, Tools, ToolsConfig, Web};

use super::asking::Counter;
use super::branch;
use super::fence;
use super::ground::Ground;
use super::knowledge::{self, Knowledge};
use super::logging::CallLog;
use super::models::Models;
use super::rewind::{self, Rewinding};
use super::rules;
use super::service::{Launch, Ready};
use super::system::{SystemClock, SystemIds};
use super::team::{Connect, House};

/// A model and what must be kept out of sight because of it.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The model.
    pub model: Arc<dyn Model>,
    /// How it is reached; the scripted one is not.
    pub connection: Option<Connection>,
    /// Whether it is the scripted one.
    pub demo: bool,
    secrets: Vec<String>,
}

/// Finds the model to use.
///
/// # Errors
/// When none is set up, or the reference can't be resolved.
pub fn choose_model(ground: &Ground, launch: &Launch) -> Result<Chosen, ResolveError> {
    let config = &ground.settings.config;
    let wanted = config.model.as_deref();
    if ground.demo.is_some() || wanted == Some("demo") {
        let pace = if launch.interactive { Pace::Natural } else { Pace::Instant };
        let model = Arc::new(ScriptedModel::demo(pace));
        return Ok(Chosen { model, connection: None, demo: true, secrets: Vec::new() });
    }
    let connection = ground.resolve(wanted)?;
    let secrets = secrets(ground, &connection);
    let model = crate::model::connect(connection.clone());
    Ok(Chosen { model, connection: Some(connection), demo: false, secrets })
}

/// Every key value we know of: none may reach a result, a file or the model.
fn secrets(ground: &Ground, connection: &Connection) -> Vec<String> {
    let mut values: Vec<String> =
        key_names(ground).iter().filter_map(|name| ground.env.var(name)).collect();
    values.extend(connection.key.as_ref().map(|key| key.expose().to_owned()));
    let configured = ground.settings.config.providers.values();
    for provider in configured {
        values.extend(provider.api_key.clone());
        values.extend(provider.headers.iter().filter_map(|(name, value)| secret_part(name, value)));
    }
    values.sort_unstable();
    values.dedup();
    values
}

/// What a request header keeps secret, by its name: all of it, without the word before a token.
fn secret_part(name: &str, value: &str) -> Option<String> {
    let name = name.to_lowercase();
    let tells = ["auth", "key", "token", "secret", "cookie", "password"];
    let part = value.rsplit(' ').next().unwrap_or(value);
    tells.iter().any(|word| name.contains(word)).then(|| part.to_owned())
}

/// The variables that hold keys of services, known ones and the user's own.
fn key_names(ground: &Ground) -> Vec<String> {
    let known = PROVIDERS.iter().flat_map(|row| row.key_env.iter().chain(row.bearer_env));
    let configured = ground.settings.config.providers.values();
    let own = configured.filter_map(|provider| provider.api_key_env.clone());
    let search = ground.settings.config.web.search_key_env.clone();
    known.map(|name| (*name).to_owned()).chain(own).chain(search).collect()
}

/// A live session.
#[derive(Debug)]
pub struct Session {
    /// The loop.
    pub agent: AgentHandle,
    /// The tools, to stop what they started.
    pub tools: Arc<Tools>,
    /// The gate, for the mode in force.
    pub gate: Arc<PermissionGate>,
    /// What the model sees of the conversation.
    pub context: Arc<SessionContext>,
    /// The models it speaks with.
    pub models: Models,
    /// Its record, for what the loop does not write.
    pub journal: SessionJournal,
    /// What the system prompt is made from.
    pub prompt: PromptInput,
    /// Memory and skills; the demo has none.
    pub knowledge: Option<Arc<Knowledge>>,
    /// The open questions of the model.
    pub asking: Counter,
    /// What its agents ask about.
    pub desk: Desk,
    /// What front ends are told.
    pub ready: Ready,
    /// Lines for people that came up on the way.
    pub notices: Vec<String>,
    /// Files as they were.
    pub keeper: Keeper,
    /// Going back to an earlier turn.
    pub rewinding: Rewinding,
}

/// Opens a session; blocking. Must be called within the runtime: it starts the agent's task.
///
/// # Errors
/// One line, when the session that should go on can't be opened.
pub fn open(
    ground: &Ground,
    launch: &Launch,
    chosen: &Chosen,
    mode: Mode,
    resume: bool,
    events: mpsc::Sender<Event>,
    asking: Counter,
) -> Result<Session, String> {
    let mut notices = Vec::new();
    let info = chosen.model.info();
    let fenced = fence::fence(ground)?;
    let gate = rules::gate(ground, launch, mode, fenced.held, &mut notices);
    let models = Models::new(chosen, ground, &mut notices);
    let (main, small) = models.places();
    let keeper = rewind::keeper(ground, &gate);
    let mut config = agent_config(ground, launch);
    let mut tool_config = tool_config(ground, chosen, &gate, Arc::clone(&small));
    tool_config.confinement = fenced.confinement;
    let mut prompt = prompt(ground, &info.model.to_string(), &gate, &mut notices);
    let knowledge = knowledge(ground, chosen, &gate, &mut notices);
    if let Some(knowledge) = &knowledge {
        knowledge.fit_out(&mut prompt, &mut tool_config, &mut config, &mut notices);
    }
    let desk = Desk::new(events.clone());
    if !chosen.demo {
        let parts = (tool_config.clone(), assemble::system_blocks(&prompt), config.clone());
        let house = house(ground, &models, &gate, &keeper, parts);
        tool_config.team = Some(crew(ground, house, &desk, &mut notices));
    }
    tool_config.asks = launch.interactive.then(|| Arc::new(asking.clone()) as _);
    let tools = Arc::new(Tools::new(tool_config));
    if let Some(knowledge) = &knowledge {
        knowledge.skills.work_with(&tools);
    }
    let (journal, loaded) = journal(ground, &info.model.to_string(), &tools, resume, &mut notices)?;
    let session = journal.id().to_owned();
    let context = context(ground, &prompt, summariser(chosen, &models, &session))
        .with_teller(knowledge.as_ref().map(Knowledge::teller).unwrap_or_default())
        .with_changes(loaded.compactions);
    let context = Arc::new(context);
    let journaled = keeper.attach(Arc::new(journal.clone()), loaded.past);
    let toolbox = toolbox(&tools, &keeper);
    let ports = ports((main, small), (toolbox, tools.jobs()), &gate, &context, journaled);
    gate.plan(gate.is_planning() || loaded.planning);
    let switched = loaded.switched.filter(|_| launch.model.is_none() && !chosen.demo);
    let config = AgentConfig { cache_key: session.clone(), ..config };
    let agent = Agent::spawn(ports, config, loaded.history.clone(), events);
    let ready = ready(ground, chosen, &models, (mode, session));
    let (history, planning) = (loaded.history, gate.is_planning());
    let ready = Ready { history, planning, sandbox: fenced.text, ..ready };
    let mut session = Session {
        agent,
        tools,
        gate,
        context,
        models,
        journal,
        prompt,
        knowledge,
        asking,
        desk,
        ready,
        notices,
        keeper,
        rewinding: Rewinding::default(),
    };
    if let Some((model, effort)) = switched {
        session.go_on_with(ground, &model.to_string(), effort);
    }
    Ok(session)
}

/// What front ends are told of a new session.
fn ready(ground: &Ground, chosen: &Chosen, models: &Models, of: (Mode, String)) -> Ready {
    Ready {
        model: chosen.model.info(),
        mode: of.0,
        workspace: ground.shown_cwd(),
        session: of.1,
        history: Vec::new(),
        effort: models.main.effort(),
        planning: false,
        demo: chosen.demo,
        sandbox: String::new(),
    }
}

/// What the loop reaches outside by.
fn ports(
    (main, small): (Arc<dyn Model>, Arc<dyn Model>),
    (tools, notices): (Arc<dyn Toolbox>, Arc<dyn Notices>),
    gate: &Arc<PermissionGate>,
    context: &Arc<SessionContext>,
    journal: Arc<dyn Journal>,
) -> Ports {
    Ports {
        model: main,
        quick: Some(small),
        tools,
        gate: Arc::clone(gate) as _,
        context: Arc::clone(context) as _,
        journal,
        notices,
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds::new()),
        guard: None,
    }
}

/// Who sums up. The scripted model only plays its script.
fn summariser(chosen: &Chosen, models: &Models, session: &str) -> Summariser {
    if chosen.demo {
        return Summariser::default();
    }
    let (main, small) = models.places();
    Summariser::new(main, Some(small), session)
}

/// What is known beside the conversation. The scripted model only plays its script, whatever is known.
fn knowledge(
    ground: &Ground,
    chosen: &Chosen,
    gate: &Arc<PermissionGate>,
    notices: &mut Vec<String>,
) -> Option<Arc<Knowledge>> {
    (!chosen.demo).then(|| knowledge::open(ground, chosen.secrets.clone(), gate, notices))
}

/// The tools as the loop gets them: calls are logged, rarely used tools have to be found.
fn toolbox(tools: &Arc<Tools>, keeper: &Keeper) -> Arc<dyn Toolbox> {
    let logged: Arc<dyn Middleware> = Arc::new(CallLog);
    let wrapped = Wrapped::new(Arc::clone(tools) as _, vec![logged, Arc::new(keeper.clone())]);
    Arc::new(Deferring::new(Arc::new(wrapped), MANY_TOOLS))
}

/// What the model sees of a conversation.
fn context(ground: &Ground, prompt: &PromptInput, summariser: Summariser) -> SessionContext {
    let in_turn = ground.settings.config.prompt.dynamic == PromptPlace::TurnContext;
    SessionContext::new(assemble::system_blocks(prompt))
        .with_fast(assemble::fast_blocks(prompt))
        .with_turn_context(in_turn)
        .with_summariser(summariser)
        .with_limits(limits(ground))
}

/// The session's agents. There are none beside the scripted model: it only plays its script, and
/// they would get lines of it.
fn crew(ground: &Ground, house: House, desk: &Desk, notices: &mut Vec<String>) -> Arc<Crew> {
    let kinds = Kinds::load(&agent_folders(ground));
    notices.extend_from_slice(&kinds.warnings);
    Arc::new(Crew::new(kinds, Arc::new(house), desk.clone()))
}

/// What the session's agents work with.
fn house(
    ground: &Ground,
    models: &Models,
    gate: &Arc<PermissionGate>,
    keeper: &Keeper,
    (tools, system, config): (ToolsConfig, Vec<SystemBlock>, AgentConfig),
) -> House {
    House {
        model: Arc::clone(&models.main),
        small: Arc::clone(&models.small),
        connect: connect(ground),
        gate: Arc::clone(gate),
        keeper: keeper.clone(),
        tools,
        system,
        config,
        limits: limits(ground),
        state_dir: ground.paths.state_dir.clone(),
        cwd: ground.cwd.clone(),
    }
}

/// Where agents are described, the most specific place first.
fn agent_folders(ground: &Ground) -> Vec<PathBuf> {
    let project = [".codebot/agents", ".claude/agents"].map(|name| ground.workspace.join(name));
    project.into_iter().chain([ground.paths.config_dir.join("agents")]).collect()
}

/// Makes other models than the session's own, for agents that name one.
fn connect(ground: &Ground) -> Connect {
    let config = &ground.settings.config;
    let (env, providers) = (ground.env.clone(), config.providers.clone());
    let models = config.models.clone();
    Arc::new(move |wanted| {
        let env = |name: &str| env.var(name);
        let connection = resolve::resolve(Some(wanted), &env, &providers, &models);
        connection.map(crate::model::connect).map_err(|error| error.to_string())
    })
}

fn agent_config(ground: &Ground, launch: &Launch) -> AgentConfig {
    let config = &ground.settings.config;
    AgentConfig {
        max_turns: config.limits.max_turns,
        max_tool_concurrency: config.tools.max_concurrency as usize,
        max_retries: config.retry.max_retries,
        continue_partial: config.retry.continue_partial,
        start: match config.tools.start {
            ConfiguredStart::Stream => ToolStart::Stream,
            ConfiguredStart::ReadOnly => ToolStart::ReadOnly,
            ConfiguredStart::AfterMessage => ToolStart::AfterMessage,
        },
        interactive: launch.interactive,
        budget: Budget {
            tokens: config.limits.max_tokens,
            cost: config.limits.max_cost,
            wall: config.limits.max_minutes.map(|m| Duration::from_secs(60 * u64::from(m))),
        },
        wrap_at_cap: config.limits.wrap_at_cap,
        monitor: true,
        route: Some(route_config(&config.route)),
        ..AgentConfig::default()
    }
}

fn route_config(route: &RouteSettings) -> RouteConfig {
    let rule = |pattern: &String| FastRule { pattern: pattern.clone(), tools: Vec::new() };
    RouteConfig {
        escalate: route.escalate,
        medium: route.medium,
        full: route.full,
        fast: route.fast.iter().map(rule).collect(),
        ..RouteConfig::default()
    }
}

fn limits(ground: &Ground) -> Limits {
    let config = &ground.settings.config.context;
    Limits {
        result: config.result_tokens.into(),
        results: config.results_tokens.into(),
        ..Limits::default()
    }
}

/// Where long results of this project are kept. The gate lets the model read there, so every project
/// has a folder of its own.
pub(super) fn results_dir(ground: &Ground) -> PathBuf {
    ground.paths.state_dir.join("results").join(place::project_name(&ground.workspace))
}

fn tool_config(
    ground: &Ground,
    chosen: &Chosen,
    gate: &Arc<PermissionGate>,
    small: Arc<dyn Model>,
) -> ToolsConfig {
    let mut config = ToolsConfig::new(&ground.cwd, results_dir(ground));
    config.secret_values.clone_from(&chosen.secrets);
    config.secret_env = key_names(ground);
    let gate = Arc::clone(gate);
    config.closed = Closed::new(move |path| gate.is_closed(path));
    config.timeout = Duration::from_secs(ground.settings.config.tools.bash_timeout_s.into());
    config.web = web(ground);
    config.compressor = Some(Compressor::new(small));
    config
}

/// What of the web may be reached.
fn web(ground: &Ground) -> Web {
    let config = &ground.settings.config.web;
    let search =
        config.search_url.as_ref().filter(|url| !url.trim().is_empty()).map(|url| SearchService {
            url: url.clone(),
            key: config.search_key_env.as_deref().and_then(|name| ground.env.var(name)),
            header: config.search_header.clone().unwrap_or_default(),
        });
    Web { exceptions: Exceptions::new(&config.allow_hosts), search }
}

/// The journal to write to and what it already holds.
fn journal(
    ground: &Ground,
    model: &str,
    tools: &Tools,
    resume: bool,
    notices: &mut Vec<String>,
) -> Result<(SessionJournal, Loaded), String> {
    let state_dir = &ground.paths.state_dir;
    if resume {
        match index::newest(state_dir, &ground.cwd) {
            Some(found) => {
                let leaves_intent = |name: &str| {
                    tools.traits(name).is_none_or(|traits| traits.capability.has_side_effects())
                };
                let (journal, mut loaded) = SessionJournal::resume(&found.path, &leaves_intent)
                    .map_err(|error| error.to_string())?;
                notices.append(&mut loaded.warnings);
                return Ok((journal, loaded));
            }
            None => {
                notices.push("no earlier session in this directory: a new one was started".into());
            }
        }
    }
    let journal = SessionJournal::create(&NewSession {
        state_dir: state_dir.clone(),
        cwd: ground.cwd.clone(),
        id: fresh_id(),
        created: SystemClock.now(),
        model: model.to_owned(),
    });
    Ok((journal, Loaded::default()))
}

fn prompt(
    ground: &Ground,
    model: &str,
    gate: &PermissionGate,
    notices: &mut Vec<String>,
) -> PromptInput {
    let places = instructions::Places {
        config_dir: &ground.paths.config_dir,
        root: &ground.workspace,
        start: &ground.cwd,
    };
    let mut found = instructions::find(places, &|path| gate.is_closed(path));
    notices.append(&mut found.notices);
    let (replace, append, mut more) = instructions::own_prompt(&ground.paths.config_dir);
    notices.append(&mut more);
    PromptInput {
        instructions: found.files,
        session: SessionFacts {
            workspace: ground.cwd.display().to_string(),
            roots: ground.roots().iter().map(|root| root.display().to_string()).collect(),
            date: assemble::day_of(SystemClock.now()),
            platform: crate::config::env::platform(),
            model: model.to_owned(),
            branch: branch::current(&ground.cwd),
        },
        replace,
        append,
        ..PromptInput::default()
    }
}
