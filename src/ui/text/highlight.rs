//! Colours for code, made on a worker thread. Asking never waits: a block is drawn plain first and
//! again when [`Highlighter::ready`] fires. Nothing is loaded before the first request; the thread
//! ends with its highlighter, and after a quiet minute, which gives the grammars' memory back.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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
/// Bytes of source whose colours are kept.
const KEPT_BYTES: usize = 1024 * 1024;
/// The worker ends after so long without work.
const QUIET: Duration = Duration::from_mins(1);

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
    order: VecDeque<(Key, usize)>,
    bytes: usize,
    /// Whether a worker takes jobs. Sending and ending happen under the lock, so none is lost.
    working: bool,
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
        lock(&self.shared).blocks.get(&key).cloned().flatten()
    }

    /// Asks for colours. Does nothing for blocks over the limits, known ones and when the thread
    /// can't be started.
    pub fn request(&mut self, key: Key, lang: &str, code: &str) {
        let shared = Arc::clone(&self.shared);
        let mut done = lock(&shared);
        if !fits(code) || done.blocks.contains_key(&key) {
            return;
        }
        done.remember(key, code.len());
        if !done.working {
            let (sender, receiver) = channel();
            let shared = Arc::clone(&self.shared);
            let builder = std::thread::Builder::new().name("highlight".to_owned());
            if builder.spawn(move || work(&receiver, &shared)).is_err() {
                return;
            }
            done.working = true;
            self.jobs = Some(sender);
        }
        if let Some(jobs) = &self.jobs {
            // A dead worker means plain code, nothing worse.
            let _dead = jobs.send(Job { key, lang: lang.to_owned(), code: code.to_owned() });
        }
    }
}

impl Done {
    fn remember(&mut self, key: Key, bytes: usize) {
        self.blocks.insert(key, None);
        self.order.push_back((key, bytes));
        self.bytes += bytes;
        while self.order.len() > KEPT || (self.bytes > KEPT_BYTES && self.order.len() > 1) {
            if let Some((old, bytes)) = self.order.pop_front() {
                self.blocks.remove(&old);
                self.bytes -= bytes;
            }
        }
    }
}

fn lock(shared: &Shared) -> MutexGuard<'_, Done> {
    shared.done.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a block is small enough to be coloured.
fn fits(code: &str) -> bool {
    code.len() <= MAX_BYTES && code.lines().nth(MAX_LINES).is_none()
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
        if !fits(code) {
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
        // What can't be coloured is known from now on as a block without colours.
        let coloured = colour(&syntaxes, &scopes, &job.lang, &job.code).unwrap_or_default();
        if let Some(slot) = lock(shared).blocks.get_mut(&job.key) {
            *slot = Some(Arc::new(coloured));
        }
        shared.generation.fetch_add(1, Ordering::AcqRel);
        shared.ready.notify_one();
        next = next_job(jobs, shared);
    }
}

/// The next job; `None` when the highlighter is gone or nothing came for [`QUIET`].
fn next_job(jobs: &Receiver<Job>, shared: &Shared) -> Option<Job> {
    if let Ok(job) = jobs.recv_timeout(QUIET) {
        return Some(job);
    }
    let mut done = lock(shared);
    let late = jobs.try_recv().ok();
    done.working = late.is_some();
    late
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
