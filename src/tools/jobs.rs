//! Commands that go on beside the run: the registry that names them, follows them to their end,
//! keeps their output in a file, and has news for the model when one has ended.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::kernel::error::ToolError;
use crate::kernel::event::Progress;
use crate::kernel::message::{CallId, CallStatus};
use crate::kernel::ports::{Finished, Notices, ProgressSink};

use super::watch::{End, Watch, judge};
use super::{Tools, output};

/// Most jobs at a time: more is a mistake of the model, not a wish.
const MOST: usize = 16;
/// Ended jobs whose entries stay, so that their output can still be asked for.
const KEPT: usize = 100;
/// Characters of the output that news shows, from its beginning and from its end.
const NEWS_HEAD: usize = 300;
const NEWS_TAIL: usize = 200;
/// Characters of the command that news shows.
const NEWS_COMMAND: usize = 80;

/// The background jobs of a session.
#[derive(Debug)]
pub struct Jobs {
    all: Mutex<Vec<Arc<Job>>>,
    tasks: TaskTracker,
    /// Grows with every start and end.
    version: watch::Sender<u64>,
}

/// One job.
#[derive(Debug)]
pub struct Job {
    /// Its name: a number.
    pub id: String,
    /// The command line.
    pub command: String,
    /// Where its output is; the reason when it could not be saved.
    pub file: Result<PathBuf, String>,
    started: Instant,
    stop: CancellationToken,
    state: watch::Sender<State>,
    bytes: Mutex<u64>,
    /// The news was told, or nobody wants it.
    told: Mutex<bool>,
}

/// How far a job is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It goes on.
    #[default]
    Running,
    /// It has ended.
    Ended(Ended),
}

/// The end of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Whether it ended well.
    pub ok: bool,
    /// For example `exit code 3`.
    pub how: String,
    /// How long it ran.
    pub after: Duration,
    /// Beginning and end of its output.
    excerpt: String,
}

/// The end of work that is no command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosted {
    /// Whether it ended well.
    pub ok: bool,
    /// How, in a few words.
    pub how: String,
    /// What came of it.
    pub text: String,
}

impl Hosted {
    fn failed(how: &str) -> Self {
        Self { ok: false, how: how.to_owned(), text: how.to_owned() }
    }
}

impl Job {
    fn new(
        id: String,
        command: &str,
        file: Result<PathBuf, String>,
        started: Instant,
        bytes: u64,
    ) -> Self {
        Self {
            id,
            command: command.to_owned(),
            file,
            started,
            stop: CancellationToken::new(),
            state: watch::Sender::new(State::Running),
            bytes: Mutex::new(bytes),
            told: Mutex::new(false),
        }
    }

    /// Replaces what its file holds. The file is small, and one that can't be written says so when
    /// it is read.
    fn keep(&self, text: &str) {
        if let Ok(path) = &self.file {
            let _unsaved = std::fs::write(path, text);
        }
    }

    fn end(&self, Hosted { ok, how, text }: Hosted) {
        self.keep(&text);
        *lock(&self.bytes) = text.len() as u64;
        let excerpt = if text.chars().count() <= NEWS_HEAD + NEWS_TAIL {
            text
        } else {
            format!("{} […] {}", output::head(&text, NEWS_HEAD), output::tail(&text, NEWS_TAIL))
        };
        let after = self.started.elapsed();
        self.state.send_replace(State::Ended(Ended { ok, how, after, excerpt }));
    }

    /// How far it is.
    pub fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// Whether it goes on.
    pub fn is_running(&self) -> bool {
        *self.state.borrow() == State::Running
    }

    /// Bytes that it wrote.
    pub fn bytes(&self) -> u64 {
        *lock(&self.bytes)
    }

    /// How long it has been running, or ran.
    pub fn elapsed(&self) -> Duration {
        match &*self.state.borrow() {
            State::Running => self.started.elapsed(),
            State::Ended(ended) => ended.after,
        }
    }

    /// One word or a few: `running`, `done`, `failed: exit code 3`.
    pub fn status(&self) -> String {
        match self.state() {
            State::Running => "running".to_owned(),
            State::Ended(Ended { ok: true, .. }) => "done".to_owned(),
            State::Ended(Ended { how, .. }) => format!("failed: {how}"),
        }
    }

    /// Waits until it has ended.
    pub async fn ended(&self) {
        let mut state = self.state.subscribe();
        // The sender lives in `self`, so the only outcome is success.
        let _closed = state.wait_for(|state| *state != State::Running).await;
    }

    /// Stops it and everything that it started; its end is no news any more.
    pub async fn stop(&self) {
        *lock(&self.told) = true;
        self.stop.cancel();
        self.ended().await;
    }

    fn news(&self) -> Option<Finished> {
        let State::Ended(ended) = self.state() else { return None };
        if *lock(&self.told) {
            return None;
        }
        let command = one_line(&self.command, NEWS_COMMAND);
        let seconds = ended.after.as_secs_f64();
        let mut text = format!("{command}: {} after {seconds:.1} s", ended.how);
        if ended.excerpt.is_empty() {
            text.push_str("; it wrote nothing");
        } else {
            text.push_str("; output: ");
            text.push_str(&ended.excerpt);
        }
        text.push_str("; all of it: task_output");
        if let Ok(path) = &self.file {
            // Writing into a string can't fail.
            let _ = write!(text, ", {}", path.display());
        }
        let status = if ended.ok { "done" } else { "failed" }.to_owned();
        Some(Finished { id: self.id.clone(), status, text })
    }
}

impl Default for Jobs {
    fn default() -> Self {
        let version = watch::Sender::new(0);
        Self { all: Mutex::default(), tasks: TaskTracker::new(), version }
    }
}

impl Tools {
    /// The background jobs.
    pub fn jobs(&self) -> Arc<Jobs> {
        Arc::clone(&self.bench.jobs)
    }
}

impl Jobs {
    /// Whether another job may start.
    ///
    /// # Errors
    /// When there are too many already.
    pub fn room(&self) -> Result<(), ToolError> {
        if self.running() < MOST {
            return Ok(());
        }
        let text = format!("{MOST} background tasks are running; stop one with task_stop first");
        Err(ToolError::new("TooMany", text))
    }

    /// Follows a command from now on; it ends at `deadline`, when there is one.
    pub fn adopt(
        self: &Arc<Self>,
        mut watch: Watch,
        command: &str,
        started: Instant,
        deadline: Option<(tokio::time::Instant, Duration)>,
    ) -> Arc<Job> {
        let file = watch.capture.keep_file();
        let bytes = watch.capture.raw_bytes();
        let job = self.enter(|id| Job::new(id, command, file, started, bytes));
        let counted = Arc::downgrade(&job);
        watch.report_to(ProgressSink::new(move |Progress::Output { bytes, .. }| {
            if let Some(job) = counted.upgrade() {
                *lock(&job.bytes) = bytes;
            }
        }));
        let (jobs, followed) = (Arc::downgrade(self), Arc::clone(&job));
        self.tasks.spawn(async move {
            follow(watch, &followed, deadline).await;
            if let Some(jobs) = jobs.upgrade() {
                jobs.changed();
            }
        });
        job
    }

    /// Follows work that is no command. Its lines so far, and at the end its text, stand in its
    /// file.
    pub fn host<F>(
        self: &Arc<Self>,
        title: &str,
        dir: &Path,
        work: impl FnOnce(CancellationToken, ProgressSink) -> F,
    ) -> Arc<Job>
    where
        F: Future<Output = Hosted> + Send + 'static,
    {
        let job = self.enter(|id| {
            let call = CallId::from(id.as_str());
            let file = output::create(dir, "task", &call).map(|(path, _)| path);
            let file = file.map_err(|error| error.to_string());
            Job::new(id, title, file, Instant::now(), 0)
        });
        let shown = Arc::downgrade(&job);
        let progress = ProgressSink::new(move |Progress::Output { tail, bytes }| {
            if let Some(job) = shown.upgrade() {
                *lock(&job.bytes) = bytes;
                job.keep(&tail);
            }
        });
        let stop = job.stop.clone();
        let work = work(stop, progress);
        let (jobs, followed) = (Arc::downgrade(self), Arc::clone(&job));
        self.tasks.spawn(async move {
            // A panic must not leave a job that never ends.
            let ended = std::panic::AssertUnwindSafe(work).catch_unwind().await;
            followed.end(ended.unwrap_or_else(|_| Hosted::failed("it panicked")));
            if let Some(jobs) = jobs.upgrade() {
                jobs.changed();
            }
        });
        job
    }

    /// Gives the next number to a job and lists it.
    fn enter(&self, make: impl FnOnce(String) -> Job) -> Arc<Job> {
        let job = {
            let mut jobs = lock(&self.all);
            let last = jobs.last().and_then(|job| job.id.parse::<u64>().ok()).unwrap_or(0);
            let job = Arc::new(make((last + 1).to_string()));
            jobs.push(Arc::clone(&job));
            forget_old(&mut jobs);
            job
        };
        self.changed();
        job
    }

    /// The job of that name.
    ///
    /// # Errors
    /// When there is none; says which there are.
    pub fn find(&self, id: &str) -> Result<Arc<Job>, ToolError> {
        let jobs = self.all();
        let wanted = id.trim().trim_start_matches("task ").trim();
        if let Some(job) = jobs.iter().find(|job| job.id == wanted) {
            return Ok(Arc::clone(job));
        }
        let known: Vec<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
        let known = match known.as_slice() {
            [] => "none was started".to_owned(),
            known => format!("there are {}", known.join(", ")),
        };
        Err(ToolError::new("NotFound", format!("there is no background task {id}; {known}")))
    }

    /// All jobs, oldest first.
    pub fn all(&self) -> Vec<Arc<Job>> {
        lock(&self.all).clone()
    }

    /// How many go on.
    pub fn running(&self) -> usize {
        lock(&self.all).iter().filter(|job| job.is_running()).count()
    }

    /// Tells of every start and end.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// Tells every job to stop, without waiting.
    pub fn stop_all(&self) {
        for job in self.all() {
            job.stop.cancel();
        }
    }

    fn changed(&self) {
        self.version.send_modify(|version| *version += 1);
    }
}

impl Notices for Jobs {
    fn peek(&self) -> Vec<Finished> {
        lock(&self.all).iter().filter_map(|job| job.news()).collect()
    }

    fn acknowledge(&self, ids: &[String]) {
        for job in lock(&self.all).iter().filter(|job| ids.contains(&job.id)) {
            *lock(&job.told) = true;
        }
    }
}

async fn follow(mut watch: Watch, job: &Job, deadline: Option<(tokio::time::Instant, Duration)>) {
    let never = CancellationToken::new();
    let end = watch.follow(deadline, &job.stop, &never).await;
    let rest = watch.settle(&end).await;
    let mut notes = Vec::new();
    let (status, _) = judge(&end, &mut notes);
    let how = match (&end, notes.first()) {
        (End::TimedOut(limit), _) => format!("timed out after {} s", limit.as_secs_f64()),
        (End::Cancelled, _) => "stopped".to_owned(),
        (_, Some(note)) => note.clone(),
        (_, None) => "exit code 0".to_owned(),
    };
    let how = rest.into_iter().fold(how, |how, note| format!("{how} {note}"));
    *lock(&job.bytes) = watch.capture.raw_bytes();
    let excerpt = watch.capture.finish_short(NEWS_HEAD, NEWS_TAIL);
    let after = job.started.elapsed();
    let ended = Ended { ok: status == CallStatus::Ok, how, after, excerpt };
    job.state.send_replace(State::Ended(ended));
}

/// Entries of jobs that ended long ago make room; one that has news stays.
fn forget_old(jobs: &mut Vec<Arc<Job>>) {
    let mut over = jobs.len().saturating_sub(KEPT);
    jobs.retain(|job| {
        let old = over > 0 && !job.is_running() && *lock(&job.told);
        over -= usize::from(old);
        !old
    });
}

/// A text on one line, cut at so many characters.
pub fn one_line(text: &str, chars: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let kept = output::head(&line, chars);
    if kept.len() < line.len() { format!("{kept}…") } else { line }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
