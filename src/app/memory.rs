//! The memory of a session: the user's files in the data folder and the notes on this project, behind
//! the tools, the prompt and the panel. Everything here blocks on small files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ground::Ground;
use super::system::SystemClock;
use crate::kernel::message::Timestamp;
use crate::kernel::ports::Clock;
use crate::memory::extract::Found;
use crate::memory::facts::{CONFIDENCE, Category, Facts, MOST, one_line};
use crate::memory::procedures::{self, Procedures};
use crate::memory::profile;
use crate::memory::project::Notes;
use crate::memory::secrets::masked;
use crate::memory::shelf::Shelf;
use crate::prompt::recall::Known;
use crate::session::place;
use crate::tools::mask::Mask;
use crate::tools::memory::{Kind, Memories, SaveArgs, Wish};

/// The memory of one session.
#[derive(Debug)]
pub struct Memory {
    pub(super) facts: Shelf<Facts>,
    pub(super) rules: Shelf<Procedures>,
    pub(super) profile: PathBuf,
    pub(super) notes: Notes,
    clock: Arc<dyn Clock>,
    /// Secrets that must not be kept.
    mask: Mask,
    /// What the user told it to remember in this session, newest last.
    said: Mutex<Vec<String>>,
    warnings: Mutex<Vec<String>>,
}

impl Memory {
    /// The memory of that user and project; nothing is read yet.
    pub fn new(ground: &Ground, secrets: Vec<String>) -> Self {
        let project = place::project_name(&ground.workspace);
        let data = &ground.paths.data_dir;
        let notes = data.join("projects").join(project).join("memory");
        Self::at(&data.join("memory"), notes, Arc::new(SystemClock), secrets)
    }

    /// A memory in these folders.
    pub fn at(user: &Path, notes: PathBuf, clock: Arc<dyn Clock>, secrets: Vec<String>) -> Self {
        Self {
            facts: Shelf::at(user.join("facts.json")),
            rules: Shelf::at(user.join("procedures.json")),
            profile: user.join("user_profile.md"),
            notes: Notes::at(notes),
            clock,
            mask: Mask::new(secrets),
            said: Mutex::default(),
            warnings: Mutex::default(),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// What is known now, for the prompt. Skills are not its business.
    pub fn known(&self) -> Known {
        let now = self.now();
        let facts = self.facts.read();
        self.warn(facts.warning);
        let rules = self.rules.read();
        self.warn(rules.warning);
        let profile = profile::read(&self.profile).unwrap_or_else(|warning| {
            self.warn(Some(warning));
            String::new()
        });
        let told = facts.value.active(now).into_iter().take(MOST);
        let guidelines = rules.value.sorted().into_iter().take(procedures::MOST);
        Known {
            facts: told.map(|fact| fact.content.clone()).collect(),
            guidelines: guidelines.map(procedures::Rule::line).collect(),
            profile: profile::told(&profile),
            notes: self.notes.head(),
            skills: Vec::new(),
        }
    }

    fn warn(&self, warning: Option<String>) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.extend(warning);
    }

    /// Lines for people since the last call, each once.
    pub fn warnings(&self) -> Vec<String> {
        let mut lines =
            std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner));
        lines.dedup();
        lines
    }

    fn said(&self) -> MutexGuard<'_, Vec<String>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clean(&self, text: &str) -> String {
        let mut text = masked(text);
        self.mask.hide(&mut text);
        text
    }

    /// Keeps a fact and puts faded ones away. Returns a line for people.
    fn keep(
        &self,
        content: &str,
        category: Category,
        confidence: f64,
        source: &str,
    ) -> Result<(String, String), String> {
        let (content, now) = (self.clean(content), self.now());
        let taken = self.facts.change(|facts| {
            facts.age(now);
            facts.remember(&content, category, confidence, source, now)
        })?;
        self.warn(taken.warning);
        let made = taken.value;
        let how = if made.known {
            format!("known already as {}", made.id)
        } else if made.replaced.is_empty() {
            format!("remembered as {}", made.id)
        } else {
            format!("remembered as {} in place of {}", made.id, made.replaced.join(", "))
        };
        Ok((made.id, how))
    }

    /// What the user wrote after `#`.
    ///
    /// # Errors
    /// One line, when it could not be kept.
    pub fn remember(&self, text: &str) -> Result<String, String> {
        if one_line(text).is_empty() {
            return Err("write what to remember after the #".to_owned());
        }
        let (id, how) = self.keep(text, Category::Preference, 0.9, "user")?;
        self.said().push(id);
        Ok(format!("{how} in {}; /memory undo forgets it", self.facts.path().display()))
    }

    /// Forgets what the user told it last.
    ///
    /// # Errors
    /// One line, when there is nothing or it could not be forgotten.
    pub fn undo(&self) -> Result<String, String> {
        let Some(id) = self.said().pop() else {
            return Err("nothing was remembered with # in this session".to_owned());
        };
        self.forget(&id)
    }

    /// Forgets a fact or rule by its id.
    ///
    /// # Errors
    /// One line, when there is none or the file can't be changed.
    pub fn forget(&self, id: &str) -> Result<String, String> {
        let gone = if id.starts_with('p') {
            let taken = self.rules.change(|rules| rules.forget(id))?;
            taken.value.map(|rule| rule.rule)
        } else {
            let taken = self.facts.change(|facts| facts.forget(id))?;
            taken.value.map(|fact| fact.content)
        };
        gone.map(|content| format!("forgotten: {content}"))
            .ok_or_else(|| format!("nothing is remembered as {id}"))
    }

    /// Takes in what a model found in a conversation; returns how many things were new.
    pub fn take(&self, found: Vec<Found>) -> usize {
        let mut new = 0;
        for thing in found {
            let done = match thing {
                Found::Fact { content, category, confidence } => self
                    .keep(&content, category, confidence, "session")
                    .map(|(_, how)| !how.starts_with("known")),
                Found::Rule { rule, context } => {
                    self.add_rule(&rule, &context).map(|(_, known)| !known)
                }
                Found::Profile { heading, point } => {
                    profile::add(&self.profile, &heading, &self.clean(&point)).map(|()| true)
                }
            };
            match done {
                Ok(is_new) => new += usize::from(is_new),
                Err(error) => self.warn(Some(error)),
            }
        }
        new
    }

    fn add_rule(&self, rule: &str, context: &str) -> Result<(String, bool), String> {
        let (rule, context, now) = (self.clean(rule), self.clean(context), self.now());
        let taken = self.rules.change(|rules| rules.add(&rule, &context, now))?;
        self.warn(taken.warning);
        Ok(taken.value)
    }

    fn save(&self, args: SaveArgs) -> Result<String, String> {
        let context = args.context.unwrap_or_default();
        let category = match args.kind.unwrap_or(Kind::Knowledge) {
            Kind::Rule => {
                let (id, known) = self.add_rule(&args.content, &context)?;
                let how = if known { "known already, it counts more now" } else { "remembered" };
                return Ok(format!("{how}: {id}"));
            }
            Kind::Profile => {
                profile::add(&self.profile, &context, &self.clean(&args.content))?;
                return Ok("the profile says so now".to_owned());
            }
            Kind::Preference => Category::Preference,
            Kind::Decision => Category::Decision,
            Kind::Knowledge => Category::Knowledge,
            Kind::Correction => Category::Correction,
        };
        let confidence = args.confidence.unwrap_or(CONFIDENCE);
        Ok(self.keep(&args.content, category, confidence, "model")?.1)
    }

    fn search(&self, query: &str) -> Result<String, String> {
        let now = self.now();
        let facts = self.facts.read();
        self.warn(facts.warning);
        let found = facts.value.search(query, now);
        let mut lines: Vec<String> = found
            .iter()
            .take(30)
            .map(|fact| format!("{} ({}) {}", fact.id, fact.category.name(), fact.content))
            .collect();
        let wanted = crate::memory::words::terms(query);
        let rules = self.rules.read().value;
        let fits = |rule: &&procedures::Rule| {
            let own = crate::memory::words::terms(&rule.line());
            wanted.is_empty() || own.intersection(&wanted).next().is_some()
        };
        let hits = rules.sorted().into_iter().filter(fits).take(30);
        lines.extend(hits.map(|rule| format!("{} (rule) {}", rule.id, rule.line())));
        if !query.trim().is_empty() && !found.is_empty() {
            let ids: Vec<String> = found.iter().take(30).map(|fact| fact.id.clone()).collect();
            self.facts.change(|facts| facts.touch(&ids, now))?;
        }
        let topics = self.notes.topics();
        if !topics.is_empty() {
            lines.push(format!("notes on this project: {}", topics.join(", ")));
        }
        Ok(if lines.is_empty() { "nothing is remembered".to_owned() } else { lines.join("\n") })
    }
}

impl Memories for Memory {
    fn carry_out(&self, wish: Wish) -> Result<String, String> {
        match wish {
            Wish::Save(args) => self.save(args),
            Wish::Search { query } => self.search(&query),
            Wish::Forget { id } => self.forget(id.trim()),
            Wish::Read { topic } => self.notes.read(topic.as_deref()),
            Wish::Write { topic, text, append } => {
                self.notes.write(topic.as_deref(), &self.clean(&text), append)?;
                Ok("written".to_owned())
            }
        }
    }
}
