//! What a session knows beside the conversation: memory and skills, as the prompt is told them. The
//! system prompt keeps what was known at the start; what changes is told in front of the next words.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ground::Ground;
use super::memory::Memory;
use super::skills::{self, ForModel, SkillHouse};
use crate::context::tell::Teller;
use crate::kernel::agent::AgentConfig;
use crate::kernel::route::FastRule;
use crate::permission::PermissionGate;
use crate::prompt::assemble::PromptInput;
use crate::prompt::recall::{Called, Known, turn_text};
use crate::skill::load::{Skill, Skills};
use crate::skill::select;
use crate::tools::ToolsConfig;

/// Prepared texts that wait for their words.
const PREPARED: usize = 16;

/// Memory and skills of one session.
#[derive(Debug)]
pub struct Knowledge {
    /// The memory, when it is on.
    pub memory: Option<Arc<Memory>>,
    /// The skills.
    pub skills: Arc<SkillHouse>,
    gate: Arc<PermissionGate>,
    /// What the system prompt says, and what was told last.
    told: Mutex<(Known, Known)>,
    /// Texts of slash commands whose insertions were run, by the words of the user.
    prepared: Mutex<HashMap<String, String>>,
}

impl Knowledge {
    /// The knowledge of a session.
    pub fn new(
        memory: Option<Arc<Memory>>,
        skills: Arc<SkillHouse>,
        gate: Arc<PermissionGate>,
    ) -> Self {
        Self { memory, skills, gate, told: Mutex::default(), prepared: Mutex::default() }
    }

    /// Has the insertions of a slash command run, then lets `send` go on; without any at once.
    pub fn prepared(self: &Arc<Self>, said: String, send: impl FnOnce() + Send + 'static) {
        if !said.trim_start().starts_with('/') {
            return send();
        }
        let knowledge = Arc::clone(self);
        tokio::spawn(async move {
            knowledge.prepare(&said).await;
            send();
        });
    }

    fn lock(&self) -> MutexGuard<'_, (Known, Known)> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known now. Blocking.
    fn now(&self, skills: &Skills) -> Known {
        let known = self.memory.as_ref().map(|memory| memory.known()).unwrap_or_default();
        Known { skills: select::lines(skills), ..known }
    }

    /// What is known when the session begins; the system prompt says it from here on. Blocking.
    pub fn begin(&self) -> Known {
        let known = self.now(&self.skills.known());
        *self.lock() = (known.clone(), known.clone());
        known
    }

    /// Says what the user's words bring along.
    pub fn teller(self: &Arc<Self>) -> Teller {
        let knowledge = Arc::downgrade(self);
        Teller::new(move |said, again| {
            knowledge.upgrade().map(|knowledge| knowledge.tell(said, again)).unwrap_or_default()
        })
    }

    fn tell(&self, said: &str, again: bool) -> String {
        // What the last request was granted ends with it.
        self.gate.withdraw();
        let (skills, _) = self.skills.current();
        let now = self.now(&skills);
        let called = Called { skills: self.called(&skills, said), notes: self.recalled(said) };
        let mut told = self.lock();
        let before = if again { &told.0 } else { &told.1 };
        let text = turn_text(before, &now, &called);
        told.1 = now;
        text
    }

    fn recalled(&self, said: &str) -> Vec<(String, String)> {
        self.memory.as_ref().map(|memory| memory.notes.recall(said)).unwrap_or_default()
    }

    /// The skill that the words call by its name, else those that their triggers call for.
    fn called(&self, skills: &Skills, said: &str) -> Vec<(String, String)> {
        if let Some((skill, args)) = by_name(skills, said) {
            self.skills.grant(skill);
            if skill.fork {
                let text = format!(
                    "The user calls this skill, which is done apart: call the skill tool with name \
                     {} and these args, and tell the user what came of it.\nargs: {args}",
                    skill.name
                );
                return vec![(skill.name.clone(), text)];
            }
            let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
            let text = prepared.remove(said).unwrap_or_else(|| SkillHouse::text(skill, args));
            let head = "The user calls this skill; do what it says now.\n\n";
            return vec![(skill.name.clone(), format!("{head}{text}"))];
        }
        let found = select::relevant(skills, said);
        found.into_iter().map(|skill| (skill.name.clone(), select::excerpt(skill))).collect()
    }

    /// Runs the insertions of the slash command in `said`, when it has some that may run.
    async fn prepare(&self, said: &str) {
        let (skills, _) = self.skills.current();
        let Some((skill, args)) = by_name(&skills, said) else { return };
        if skill.fork || !skill.source.is_trusted() || !skill.body.contains("!`") {
            return;
        }
        let text = self.skills.text_with_output(skill, args).await;
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if prepared.len() >= PREPARED {
            prepared.clear();
        }
        prepared.insert(said.to_owned(), text);
    }
}

/// The skill that `/name rest` calls, and the rest.
fn by_name<'a, 'b>(skills: &'a Skills, said: &'b str) -> Option<(&'a Skill, &'b str)> {
    let line = said.trim().strip_prefix('/')?;
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let skill = skills.find(name).filter(|skill| skill.by_user)?;
    Some((skill, rest.trim()))
}

/// The knowledge of a session on that ground. What went wrong on the way is added to `notices`.
/// Blocking.
pub fn open(
    ground: &Ground,
    secrets: Vec<String>,
    gate: &Arc<PermissionGate>,
    notices: &mut Vec<String>,
) -> Arc<Knowledge> {
    let on = ground.settings.config.memory.enabled;
    let memory = on.then(|| Arc::new(Memory::new(ground, secrets)));
    let skills = Arc::new(SkillHouse::new(skills::folders(ground), Arc::clone(gate)));
    notices.extend_from_slice(&skills.known().warnings);
    Arc::new(Knowledge::new(memory, skills, Arc::clone(gate)))
}

impl Knowledge {
    /// Gives a session what it knows: the prompt its sections, the tools what is behind them, the
    /// router its words. Blocking.
    pub fn fit_out(
        &self,
        prompt: &mut PromptInput,
        tools: &mut ToolsConfig,
        config: &mut AgentConfig,
        notices: &mut Vec<String>,
    ) {
        prompt.known = self.begin();
        if let Some(memory) = &self.memory {
            notices.extend(memory.warnings());
            tools.memory = Some(Arc::clone(memory) as _);
        }
        tools.skills = Some(Arc::new(ForModel(Arc::clone(&self.skills))));
        if let Some(route) = &mut config.route {
            let rule = |pattern| FastRule { pattern, tools: Vec::new() };
            route.fast.extend(self.fast_patterns().into_iter().map(rule));
        }
    }

    /// Words that make a request a quick look, as patterns of the router: the triggers of skills
    /// that say so.
    fn fast_patterns(&self) -> Vec<String> {
        let skills = self.skills.known();
        let fast = skills.kept().filter(|skill| skill.fast && skill.by_model);
        fast.flat_map(|skill| skill.triggers.iter().map(|trigger| format!("*{trigger}*"))).collect()
    }
}
