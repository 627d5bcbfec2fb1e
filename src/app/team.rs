//! What the agents of a session work with: the session's own model, gate and folders, tools and a
//! journal of their own.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::context::project::{Limits, SessionContext};
use crate::context::summary::Summariser;
use crate::kernel::agent::AgentConfig;
use crate::kernel::ports::{Clock, Model, Ports, SystemBlock, Wrapped, in_force};
use crate::model::switch::Switch;
use crate::permission::PermissionGate;
use crate::prompt::assemble;
use crate::rewind::keeper::Keeper;
use crate::session::journal::{NewSession, SessionJournal, fresh_id};
use crate::team::crew::{Fitted, Fitting, Outfit};
use crate::team::gate::ChildGate;
use crate::tools::{Tools, ToolsConfig};

use super::system::{SystemClock, SystemIds};

/// The folder of agents' journals in the state directory; they are no sessions to go on with.
const FOLDER: &str = "agents";

/// Makes a model from `provider/model`.
pub type Connect = Arc<dyn Fn(&str) -> Result<Arc<dyn Model>, String> + Send + Sync>;

/// What all agents of a session share.
pub struct House {
    /// The session's model.
    pub model: Arc<Switch>,
    /// The model for side work.
    pub small: Arc<Switch>,
    /// Makes other models.
    pub connect: Connect,
    /// The session's gate.
    pub gate: Arc<PermissionGate>,
    /// Keeps what the agents' tools change.
    pub keeper: Keeper,
    /// How the session's tools work.
    pub tools: ToolsConfig,
    /// The session's system prompt.
    pub system: Vec<SystemBlock>,
    /// How the session's loop behaves.
    pub config: AgentConfig,
    /// How large results may be.
    pub limits: Limits,
    /// Where state is kept.
    pub state_dir: PathBuf,
    /// Where the session works.
    pub cwd: PathBuf,
}

impl fmt::Debug for House {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("House").field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

impl House {
    /// The model of that kind of agent, with a word when it is not the one that was wished for.
    fn model(&self, order: &Fitting<'_>) -> (Arc<dyn Model>, Vec<String>) {
        if let Some(wanted) = &order.kind.model {
            return match (self.connect)(wanted) {
                Ok(model) => (model, Vec::new()),
                Err(error) => {
                    let note =
                        format!("{wanted} can't be used, the session's model did it: {error}");
                    (self.main(), vec![note])
                }
            };
        }
        let small = in_force(&(Arc::clone(&self.small) as _)).filter(|_| order.kind.small);
        (small.unwrap_or_else(|| self.main()), Vec::new())
    }

    /// The session's model as it is now: an agent keeps it to its end.
    fn main(&self) -> Arc<dyn Model> {
        in_force(&(Arc::clone(&self.model) as _)).unwrap_or_else(|| Arc::clone(&self.model) as _)
    }

    fn system(&self, order: &Fitting<'_>) -> Vec<SystemBlock> {
        let mut blocks = self.system.clone();
        let text = assemble::tagged("agent", &order.kind.prompt);
        blocks.push(SystemBlock { text, cache: false });
        blocks
    }
}

impl Outfit for House {
    fn fit(&self, order: &Fitting<'_>) -> Result<Fitted, String> {
        let (model, notes) = self.model(order);
        let mut config = self.tools.clone();
        config.team.clone_from(&order.team);
        config.only.clone_from(&order.kind.tools);
        let tools = Arc::new(Tools::new(config));
        let keeper = Arc::new(self.keeper.clone());
        let journal = SessionJournal::create(&NewSession {
            state_dir: self.state_dir.join(FOLDER),
            cwd: self.cwd.clone(),
            id: fresh_id(),
            created: SystemClock.now(),
            model: model.info().model.to_string(),
        });
        let small = Arc::clone(&self.small) as _;
        let summariser = Summariser::new(Arc::clone(&model), Some(small), &self.config.cache_key);
        let context = SessionContext::new(self.system(order))
            .with_summariser(summariser)
            .with_limits(self.limits);
        let gate = ChildGate::new(Arc::clone(&self.gate) as _, order.label.clone(), order.may_ask);
        let ports = Ports {
            model,
            quick: None,
            tools: Arc::new(Wrapped::new(Arc::clone(&tools) as _, vec![keeper])),
            gate: Arc::new(gate),
            context: Arc::new(context),
            journal: Arc::new(journal),
            // Its own jobs: the news of the session's are not for it.
            notices: tools.jobs(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds::new()),
            guard: None,
        };
        let config = AgentConfig {
            max_turns: order.kind.turns,
            wrap_at_cap: true,
            monitor: true,
            route: None,
            interactive: self.config.interactive && order.may_ask,
            effort: self.model.effort(),
            ..self.config.clone()
        };
        Ok(Fitted { ports, config, notes, keep: Some(tools) })
    }
}
