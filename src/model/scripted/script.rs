//! The script's file format: turns (what one answer says and does, and which turn follows) and
//! scenes (which words of a prompt lead to which turn). A parsed script has no loose ends.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Map, Value};

/// A whole script.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Turn that answers the first prompt of a conversation, whatever it says.
    pub first: String,
    /// Turn that answers a later prompt without a known word.
    pub otherwise: String,
    /// Turn that is played when nothing follows but the loop asks again.
    pub over: String,
    /// Said before the next turn when the user spoke during the run; `{said}` is replaced.
    pub heard: String,
    /// Which words lead where; the first scene with a hit wins.
    #[serde(default, rename = "scene")]
    pub scenes: Vec<Scene>,
    /// All turns.
    #[serde(rename = "turn")]
    pub turns: Vec<Turn>,
}

/// Words that lead to a turn.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// For people who edit the script.
    pub name: String,
    /// Whole words in lower case.
    pub keywords: Vec<String>,
    /// The turn it begins with.
    pub start: String,
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Its name.
    pub id: String,
    /// What it says and calls, in order.
    pub steps: Vec<Step>,
    /// The turn after its calls; required when there are any.
    pub next: Option<String>,
    /// Other turns by how the calls went.
    #[serde(default)]
    pub on: Branches,
    /// A staged failure in front of it.
    pub overload: Option<Overload>,
}

impl Turn {
    /// Whether it asks for tools.
    pub fn has_calls(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Call(_)))
    }
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Answer text; `{said}` is replaced by the prompt.
    Text(String),
    /// A thinking block.
    Thinking(String),
    /// A tool call.
    Call(ScriptedCall),
    /// The same text several times.
    Repeat(Repeat),
    /// Nothing for so many milliseconds.
    Pause(u64),
}

/// A tool call as written in the script.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    pub args: Map<String, Value>,
}

/// A text said several times.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// How often.
    pub times: u32,
    /// The text; `{n}` counts from 1.
    pub text: String,
}

/// Where to go by the outcome of a turn's calls; the worst outcome counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Branches {
    /// Every call worked (a command: exit code 0).
    pub ok: Option<String>,
    /// A call failed, ran out of time, or a command ended with another code.
    pub failed: Option<String>,
    /// A call was refused.
    pub denied: Option<String>,
    /// A call was stopped.
    pub cancelled: Option<String>,
}

/// A staged refusal of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overload {
    /// How many attempts of the turn are refused.
    pub times: u32,
    /// The wait it asks for, in seconds.
    pub retry_after_s: u64,
}

/// What is wrong with a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// It can't be read.
    #[error("not readable: {0}")]
    Syntax(String),
    /// Two turns share a name.
    #[error("turn {0} is there twice; give one of them another id")]
    Twice(String),
    /// A name leads nowhere.
    #[error("{from} leads to turn {to}, which does not exist")]
    Loose {
        /// Where the name stands.
        from: String,
        /// The missing turn.
        to: String,
    },
    /// Calls without a turn after them.
    #[error("turn {0} has calls but no `next`")]
    NoNext(String),
}

impl Script {
    /// Reads and checks a script.
    ///
    /// # Errors
    ///
    /// See [`ScriptError`].
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let script: Self =
            toml::from_str(text).map_err(|error| ScriptError::Syntax(error.to_string()))?;
        script.check()?;
        Ok(script)
    }

    /// The turn of that name, or the one for the end of the script.
    pub fn turn(&self, id: &str) -> &Turn {
        let find = |id: &str| self.turns.iter().find(|turn| turn.id == id);
        // `check` proved that both are there; the first turn is a last resort without a panic.
        find(id).or_else(|| find(&self.over)).unwrap_or(&self.turns[0])
    }

    /// The turn that answers a later prompt.
    pub fn scene_for(&self, prompt: &str) -> &str {
        let lower = prompt.to_lowercase();
        let words: HashSet<&str> =
            lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let hit = |scene: &&Scene| scene.keywords.iter().any(|word| words.contains(word.as_str()));
        self.scenes.iter().find(hit).map_or(&self.otherwise, |scene| &scene.start)
    }

    fn check(&self) -> Result<(), ScriptError> {
        let mut ids = HashSet::new();
        for turn in &self.turns {
            if !ids.insert(turn.id.as_str()) {
                return Err(ScriptError::Twice(turn.id.clone()));
            }
            if turn.has_calls() && turn.next.is_none() {
                return Err(ScriptError::NoNext(turn.id.clone()));
            }
        }
        match self.references().into_iter().find(|(_, to)| !ids.contains(to)) {
            None => Ok(()),
            Some((from, to)) => Err(ScriptError::Loose { from, to: to.to_owned() }),
        }
    }

    /// Every name that must lead to a turn, with the place where it stands.
    fn references(&self) -> Vec<(String, &str)> {
        let mut found = vec![
            ("first".to_owned(), self.first.as_str()),
            ("otherwise".to_owned(), self.otherwise.as_str()),
            ("over".to_owned(), self.over.as_str()),
        ];
        for scene in &self.scenes {
            found.push((format!("scene {}", scene.name), &scene.start));
        }
        for turn in &self.turns {
            let on = &turn.on;
            let targets = [&turn.next, &on.ok, &on.failed, &on.denied, &on.cancelled];
            for to in targets.into_iter().flatten() {
                found.push((format!("turn {}", turn.id), to));
            }
        }
        found
    }
}
