//! The skills of a session: read anew when a file has changed, opened for the model and for slash
//! commands. What a skill of the user may do without asking is granted while the request lasts; a
//! skill of the project grants nothing and runs nothing.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use serde_json::{Map, json};
use tokio_util::sync::CancellationToken;

use super::ground::Ground;
use super::service::{Entry, ListKind, Listing, Offer, SkillLine, Verb};
use crate::kernel::message::{CallId, ToolCall, text_of};
use crate::kernel::ports::{
    CallContext, Gate as _, GateRequest, ProgressSink, Toolbox as _, Verdict,
};
use crate::permission::PermissionGate;
use crate::skill::expand::{Piece, expand};
use crate::skill::load::{Folder, Holds, Skill, Skills, Source, stamp};
use crate::tools::Tools;
use crate::tools::skill::{Opened, Shelf};

/// Seconds that one shell insertion may take.
const SHELL_S: u64 = 10;
/// Characters of its output that are put in.
const SHELL_CHARS: usize = 4000;

type Stamp = Vec<(PathBuf, SystemTime, u64)>;

/// The skills of one session.
pub struct SkillHouse {
    folders: Vec<Folder>,
    gate: Arc<PermissionGate>,
    /// Runs shell insertions; absent while the session is being built.
    tools: OnceLock<Weak<Tools>>,
    read: Mutex<(Stamp, Arc<Skills>)>,
    /// What front ends were told last.
    told: Mutex<Vec<SkillLine>>,
}

impl fmt::Debug for SkillHouse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SkillHouse").field("folders", &self.folders).finish_non_exhaustive()
    }
}

/// Where skills and commands lie, the most specific place first.
pub fn folders(ground: &Ground) -> Vec<Folder> {
    let mut out = Vec::new();
    let mut add = |path: PathBuf, source, holds| out.push(Folder { path, source, holds });
    let inside = |at: &&std::path::Path| at.starts_with(&ground.workspace);
    let home = ground.env.home();
    for at in ground.cwd.ancestors().take_while(inside) {
        // The user's home may be the workspace: what lies there is the user's own.
        let own = home.as_deref() == Some(at);
        let source = if own { Source::User } else { Source::Project };
        for name in [".codebot", ".agents", ".claude"] {
            add(at.join(name).join("skills"), source, Holds::Skills);
        }
        for name in [".codebot", ".claude"] {
            add(at.join(name).join("commands"), source, Holds::Commands);
        }
    }
    for name in [".codebot", ".agents", ".claude"] {
        if let Some(home) = &home {
            add(home.join(name).join("skills"), Source::User, Holds::Skills);
            if name != ".agents" {
                add(home.join(name).join("commands"), Source::User, Holds::Commands);
            }
        }
    }
    let config = &ground.paths.config_dir;
    add(config.join("skills"), Source::User, Holds::Skills);
    add(config.join("commands"), Source::User, Holds::Commands);
    out
}

impl SkillHouse {
    /// The skills of these folders. Blocking.
    pub fn new(folders: Vec<Folder>, gate: Arc<PermissionGate>) -> Self {
        let read = Mutex::new((stamp(&folders), Arc::new(Skills::load(&folders))));
        Self { folders, gate, tools: OnceLock::new(), read, told: Mutex::default() }
    }

    /// From here on insertions can run.
    pub fn work_with(&self, tools: &Arc<Tools>) {
        // A house serves one session.
        let _second = self.tools.set(Arc::downgrade(tools));
    }

    fn lock(&self) -> MutexGuard<'_, (Stamp, Arc<Skills>)> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The skills as they were read last.
    pub fn known(&self) -> Arc<Skills> {
        Arc::clone(&self.lock().1)
    }

    /// The skills as they are now, and whether they were read anew. Blocking.
    pub fn current(&self) -> (Arc<Skills>, bool) {
        let now = stamp(&self.folders);
        let mut read = self.lock();
        let changed = read.0 != now;
        if changed {
            *read = (now, Arc::new(Skills::load(&self.folders)));
        }
        (Arc::clone(&read.1), changed)
    }

    /// What a skill may do without asking, where it is trusted.
    pub fn grant(&self, skill: &Skill) -> Vec<String> {
        if skill.source.is_trusted() { self.gate.grant(&skill.allowed) } else { Vec::new() }
    }

    /// The text of a skill with its arguments; insertions are named, not run.
    pub fn text(skill: &Skill, args: &str) -> String {
        let piece = |piece: Piece| match piece {
            Piece::Text(text) => text,
            Piece::Shell(command) => format!("[`{command}` was not run]"),
        };
        format!(
            "{}{}",
            base(skill),
            expand(&skill.body, args).into_iter().map(piece).collect::<String>()
        )
    }

    /// The same with the output of insertions, where the skill is trusted.
    pub async fn text_with_output(&self, skill: &Skill, args: &str) -> String {
        if !skill.source.is_trusted() {
            return Self::text(skill, args);
        }
        let mut text = base(skill);
        for piece in expand(&skill.body, args) {
            match piece {
                Piece::Text(more) => text.push_str(&more),
                Piece::Shell(command) => text.push_str(&self.output(&command).await),
            }
        }
        text
    }

    async fn output(&self, command: &str) -> String {
        let Some(tools) = self.tools.get().and_then(Weak::upgrade) else {
            return format!("[`{command}` was not run]");
        };
        let args = Map::from_iter([
            ("command".to_owned(), json!(command)),
            ("timeout".to_owned(), json!(SHELL_S)),
        ]);
        let id = CallId("skill".to_owned());
        let call = ToolCall { id, name: "bash".to_owned(), args, invalid: None, opaque: None };
        let access = tools.access(&call);
        let Some(traits) = tools.traits("bash") else { return String::new() };
        let request = GateRequest { call: &call, traits, access: &access, preview: None };
        // The user wrote it, so nobody is asked; what is forbidden stays forbidden.
        if matches!(self.gate.judge(request).await, Ok(Verdict::Deny { .. }) | Err(_)) {
            return format!("[`{command}` is forbidden by a rule and was not run]");
        }
        let cancel = CancellationToken::new();
        let context = CallContext::new(cancel.clone(), ProgressSink::none());
        let run = tools.run(call, context);
        let limit = Duration::from_secs(SHELL_S + 2);
        let Ok(outcome) = tokio::time::timeout(limit, run).await else {
            cancel.cancel();
            return format!("[`{command}` did not end in time]");
        };
        let text = text_of(&outcome.blocks);
        let text = text.trim_end();
        let cut = text.char_indices().nth(SHELL_CHARS).map_or(text.len(), |(at, _)| at);
        text[..cut].to_owned()
    }

    /// The slash commands that skills make, when they are other ones than the last time. Blocking.
    pub fn changed(&self) -> Option<Vec<SkillLine>> {
        self.current();
        let commands = self.commands();
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        (*told != commands).then(|| {
            told.clone_from(&commands);
            commands
        })
    }

    /// The slash commands that skills make, sorted by name.
    fn commands(&self) -> Vec<SkillLine> {
        let line = |skill: &Skill| SkillLine {
            name: skill.name.clone(),
            args: skill.hint.clone(),
            help: skill.description.clone(),
        };
        self.known().kept().filter(|skill| skill.by_user).map(line).collect()
    }

    /// The list for people, drafts included.
    pub fn listing(&self) -> Listing {
        let (skills, _) = self.current();
        let entry = |skill: &Skill| {
            let how = match (skill.draft, skill.by_user, skill.by_model) {
                (true, ..) => "draft",
                (_, true, true) => "you and the model",
                (_, true, false) => "you",
                (_, false, true) => "the model",
                (_, false, false) => "nobody",
            };
            let place = skill.path.as_ref().map_or_else(String::new, |p| p.display().to_string());
            let note = if place.is_empty() { String::new() } else { format!(" · {place}") };
            Entry::new(skill.name.clone(), skill.name.clone())
                .column(skill.source.name())
                .column(how)
                .note(format!("{}{note}", skill.description))
        };
        let mut listing = Listing::new(ListKind::Skills, "Skills", "there are no skills");
        listing.entries = skills.all().iter().map(entry).collect();
        listing.preface.extend(skills.warnings.iter().take(3).cloned());
        listing.offers = vec![
            Offer::new(Verb::Choose, "keeps a draft"),
            Offer::new(Verb::Edit, "edits its file"),
        ];
        listing
    }

    /// The file of a skill, for the editor.
    pub fn file(&self, name: &str) -> Option<PathBuf> {
        self.known().all().iter().find(|skill| skill.name == name)?.path.clone()
    }

    /// Keeps a draft: its file says so from now on. Blocking.
    ///
    /// # Errors
    /// One line, when it is none or its file can't be changed.
    pub fn keep(&self, name: &str) -> Result<String, String> {
        let (skills, _) = self.current();
        let draft = skills.all().iter().find(|skill| skill.name == name && skill.draft);
        let Some(path) = draft.and_then(|skill| skill.path.clone()) else {
            return Err(format!("{name} is no draft"));
        };
        let failed = |error: std::io::Error| format!("cannot change {}: {error}", path.display());
        let text = std::fs::read_to_string(&path).map_err(failed)?;
        let lines = text.lines().filter(|line| !line.trim().starts_with("draft:"));
        let kept = lines.collect::<Vec<_>>().join("\n") + "\n";
        crate::config::private::replace(&path, kept.as_bytes()).map_err(failed)?;
        Ok(format!("/{name} is kept"))
    }
}

/// Where the files beside a `SKILL.md` are.
fn base(skill: &Skill) -> String {
    let file = skill.path.as_ref().filter(|path| path.ends_with("SKILL.md"));
    let folder = file.and_then(|path| path.parent());
    folder
        .map_or_else(String::new, |dir| format!("Files of this skill are in {}\n\n", dir.display()))
}

/// The opened skills for the tool.
#[derive(Clone, Debug)]
pub struct ForModel(pub Arc<SkillHouse>);

impl Shelf for ForModel {
    fn open(&self, name: String, args: String) -> BoxFuture<'static, Result<Opened, String>> {
        let house = Arc::clone(&self.0);
        Box::pin(async move {
            let (skills, _) = house.current();
            let Some(skill) = skills.find(name.trim()).filter(|skill| skill.by_model || skill.fork)
            else {
                let names: Vec<&str> =
                    skills.kept().filter(|s| s.by_model).map(|s| s.name.as_str()).collect();
                return Err(format!("there is no skill {name}; there are: {}", names.join(", ")));
            };
            let mut text = house.text_with_output(skill, &args).await;
            for problem in house.grant(skill) {
                text.extend(["\n[", &problem, "]"]);
            }
            Ok(Opened { text, apart: skill.fork, model: skill.model.clone() })
        })
    }
}
