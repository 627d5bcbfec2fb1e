//! Colours for code, made on a worker thread. Asking never waits: a block is drawn plain first and
//! again when [`Highlighter::ready`] fires. Nothing is loaded before the first request, and the
//! thread ends with its highlighter.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use syntect::parsing::{ParseState, ScopeStack, SyntaxReference, SyntaxSet};
use tokio::sync::Notify;

use super::code::{Coloured, Colours};
use super::role::Role;
use super::scopes::Scopes;

/// Larger blocks stay plain.
pub const MAX_BYTES: usize = 512 * 1024;
/// A block with more lines stays plain.
pub const MAX_LINES: usize = 3000;
/// A longer line stays plain, and so does what follows it on its own line only.
pub const MAX_LINE: usize = 4 * 1024;
/// Blocks kept; the oldest go first.
const KEPT: usize = 64;

/// Names a block by its content and language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(u64);

impl Key {
    /// The key of that code.
    pub fn of(lang: &str, code: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        lang.hash(&mut hasher);
        code.hash(&mut hasher);
        Self(hasher.finish())
    }
}

struct Job {
    key: Key,
    lang: String,
    code: String,
}

#[derive(Debug, Default)]
struct Shared {
    done: Mutex<Done>,
    /// Grows with every finished block.
    generation: AtomicU64,
    ready: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Done {
    blocks: HashMap<Key, Option<Arc<Coloured>>>,
    order: std::collections::VecDeque<Key>,
}

/// Takes blocks and gives their colours back later.
#[derive(Debug, Default)]
pub struct Highlighter {
    shared: Arc<Shared>,
    jobs: Option<Sender<Job>>,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Job({}, {} bytes)", self.lang, self.code.len())
    }
}

impl Highlighter {
    /// Fires when at least one block became ready; redraw then.
    pub fn ready(&self) -> Arc<Notify> {
        Arc::clone(&self.shared.ready)
    }

    /// Grows with every block that became ready.
    pub fn generation(&self) -> u64 {
        self.shared.generation.load(Ordering::Acquire)
    }

    /// Whether anything was ever asked for (and so grammars may be loaded).
    pub fn is_started(&self) -> bool {
        self.jobs.is_some()
    }

    /// The colours, when they are ready.
    pub fn get(&self, key: Key) -> Option<Arc<Coloured>> {
        self.lock().blocks.get(&key).cloned().flatten()
    }

    /// Asks for colours. Does nothing for blocks over the limits, known ones and when the thread
    /// can't be started.
    pub fn request(&mut self, key: Key, lang: &str, code: &str) {
        let too_big = code.len() > MAX_BYTES || code.lines().nth(MAX_LINES).is_some();
        if too_big || self.lock().blocks.contains_key(&key) {
            return;
        }
        self.remember(key);
        let job = Job { key, lang: lang.to_owned(), code: code.to_owned() };
        if self.jobs.is_none() {
            let (sender, receiver) = channel();
            let shared = Arc::clone(&self.shared);
            let builder = std::thread::Builder::new().name("highlight".to_owned());
            if builder.spawn(move || work(&receiver, &shared)).is_err() {
                return;
            }
            self.jobs = Some(sender);
        }
        if let Some(jobs) = &self.jobs {
            // A dead worker means plain code, nothing worse.
            let _dead = jobs.send(job);
        }
    }

    fn remember(&self, key: Key) {
        let mut done = self.lock();
        done.blocks.insert(key, None);
        done.order.push_back(key);
        while done.order.len() > KEPT {
            if let Some(old) = done.order.pop_front() {
                done.blocks.remove(&old);
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Done> {
        self.shared.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// [`Colours`] that asks a highlighter and notes whether something is still missing.
#[derive(Debug)]
pub struct Asking<'a> {
    /// Whom to ask.
    pub highlighter: &'a mut Highlighter,
    /// Set when a block was drawn plain for now.
    pub missing: bool,
}

impl Colours for Asking<'_> {
    fn colours(&mut self, lang: &str, code: &str) -> Option<Arc<Coloured>> {
        if code.len() > MAX_BYTES {
            return None;
        }
        let key = Key::of(lang, code);
        let found = self.highlighter.get(key);
        if found.is_none() {
            self.missing = true;
            self.highlighter.request(key, lang, code);
        }
        found
    }
}

fn work(jobs: &Receiver<Job>, shared: &Shared) {
    let Ok(first) = jobs.recv() else { return };
    let syntaxes = two_face::syntax::extra_newlines();
    let scopes = Scopes::default();
    let mut next = Some(first);
    while let Some(job) = next {
        if let Some(coloured) = colour(&syntaxes, &scopes, &job.lang, &job.code) {
            let mut done = shared.done.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(slot) = done.blocks.get_mut(&job.key) {
                *slot = Some(Arc::new(coloured));
                shared.generation.fetch_add(1, Ordering::AcqRel);
                shared.ready.notify_one();
            }
        }
        next = jobs.recv().ok();
    }
}

fn syntax_for<'a>(syntaxes: &'a SyntaxSet, lang: &str) -> Option<&'a SyntaxReference> {
    let name = match lang {
        "console" | "shell" | "shellsession" | "zsh" => "sh",
        "golang" => "go",
        "jsonc" | "json5" => "json",
        other => other,
    };
    let syntax = syntaxes.find_syntax_by_token(name)?;
    (syntax.name != "Plain Text").then_some(syntax)
}

/// The colours of a block; `None` for unknown languages and grammars that fail.
fn colour(syntaxes: &SyntaxSet, scopes: &Scopes, lang: &str, code: &str) -> Option<Coloured> {
    let mut state = ParseState::new(syntax_for(syntaxes, lang)?);
    let mut stack = ScopeStack::new();
    let mut lines = Vec::new();
    let mut buffer = String::new();
    for line in code.lines() {
        if line.len() > MAX_LINE {
            lines.push(Box::default());
            continue;
        }
        buffer.clear();
        buffer.push_str(line);
        buffer.push('\n');
        let ops = state.parse_line(&buffer, syntaxes).ok()?;
        let mut inks: Vec<(u32, Role)> = Vec::new();
        let mut at = 0;
        for (place, op) in &ops {
            let place = (*place).min(line.len());
            if place > at {
                add(&mut inks, place as u32, scopes.role(&stack));
                at = place;
            }
            stack.apply(op).ok()?;
        }
        if line.len() > at {
            add(&mut inks, line.len() as u32, scopes.role(&stack));
        }
        lines.push(inks.into_boxed_slice());
    }
    Some(Coloured { lines })
}

fn add(inks: &mut Vec<(u32, Role)>, end: u32, role: Role) {
    match inks.last_mut() {
        Some(last) if last.1 == role => last.0 = end,
        _ => inks.push((end, role)),
    }
}
