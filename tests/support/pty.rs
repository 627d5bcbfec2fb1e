//! The real program in a pseudo terminal: a home of its own, a reader thread that feeds a terminal
//! emulator and keeps the raw bytes, and waits that show the screen when they fail. No terminal
//! query is answered unless a test says how.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use tempfile::TempDir;

/// How long a wait lasts when a test does not say otherwise; generous, for a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Folders of one program run: home, config, state, temporary files and a workspace.
/// Clones are the same folders, so that a later run finds what an earlier one left.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    root: Arc<TempDir>,
}

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self { root: Arc::new(tempfile::tempdir().unwrap()) };
        for name in ["home", "config", "state", "cache", "data", "runtime", "tmp", "work"] {
            std::fs::create_dir(home.path(name)).unwrap();
        }
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Everything the program sees of the outside.
    pub(crate) fn environment(&self) -> Vec<(&'static str, OsString)> {
        let folders = [
            ("HOME", "home"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_RUNTIME_DIR", "runtime"),
            ("CODEBOT_CONFIG_DIR", "config"),
            ("CODEBOT_STATE_DIR", "state"),
            ("TMPDIR", "tmp"),
        ];
        let own = folders.map(|(name, folder)| (name, self.path(folder).into_os_string()));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let fixed = [("LANG", "C.UTF-8".into()), ("TERM", "xterm-256color".into()), ("PATH", path)];
        own.into_iter().chain(fixed).collect()
    }
}

/// What to start.
#[derive(Debug)]
pub(crate) struct Program {
    command: CommandBuilder,
    home: Home,
    size: (u16, u16),
    answers: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Program {
    /// The program under test.
    pub(crate) fn codebot(args: &[&str]) -> Self {
        Self::new(env!("CARGO_BIN_EXE_codebot"), args)
    }

    pub(crate) fn new(program: &str, args: &[&str]) -> Self {
        Self::within(&Home::new(), program, args)
    }

    /// A program that starts with what earlier runs left in these folders.
    pub(crate) fn within(home: &Home, program: &str, args: &[&str]) -> Self {
        let home = home.clone();
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.env_clear();
        for (name, value) in home.environment() {
            command.env(name, value);
        }
        command.env("COLORTERM", "truecolor");
        command.cwd(home.path("work"));
        Self { command, home, size: (100, 30), answers: Vec::new() }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Starts in this folder.
    pub(crate) fn cwd(mut self, folder: &Path) -> Self {
        self.command.cwd(folder);
        self
    }

    /// Columns and rows.
    pub(crate) fn size(mut self, columns: u16, rows: u16) -> Self {
        self.size = (columns, rows);
        self
    }

    /// Sends `reply` whenever the program writes `query`.
    pub(crate) fn answering(mut self, query: &[u8], reply: &[u8]) -> Self {
        self.answers.push((query.to_vec(), reply.to_vec()));
        self
    }

    pub(crate) fn start(self) -> Pty {
        let (columns, rows) = self.size;
        let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
        let modes_before = modes(pair.master.as_ref());
        let child = pair.slave.spawn_command(self.command).unwrap();
        // Held open on our side it would hide the end of the program.
        drop(pair.slave);
        let writer = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let shared = Arc::new(Shared::new(columns, rows));
        let reader = pair.master.try_clone_reader().unwrap();
        let (for_reader, replies) = (Arc::clone(&shared), Arc::clone(&writer));
        std::thread::spawn(move || pump(reader, &for_reader, &self.answers, &replies));
        let (master, writer) = (Some(pair.master), Some(writer));
        Pty { child, master, writer, shared, modes_before, home: self.home }
    }
}

/// A running program and its screen.
pub(crate) struct Pty {
    child: Box<dyn Child + Send + Sync>,
    /// Both are gone after a hang-up.
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Arc<Mutex<Box<dyn Write + Send>>>>,
    shared: Arc<Shared>,
    modes_before: String,
    home: Home,
}

impl std::fmt::Debug for Pty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pty").field("home", &self.home).finish_non_exhaustive()
    }
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    parser: vt100::Parser,
    raw: Vec<u8>,
    /// The reader is to let go of the terminal after the next bytes.
    hang_up: bool,
    closed: bool,
}

impl Shared {
    fn new(columns: u16, rows: u16) -> Self {
        let parser = vt100::Parser::new(cells(rows), cells(columns), 0);
        let state = State { parser, raw: Vec::new(), hang_up: false, closed: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl Pty {
    /// Waits until the screen shows `text`.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_until(&format!("“{text}” on screen"), |screen| flat(screen).contains(text));
    }

    /// Waits until the screen no longer shows `text`.
    #[track_caller]
    pub(crate) fn wait_gone(&self, text: &str) {
        self.wait_until(&format!("“{text}” gone"), |screen| !flat(screen).contains(text));
    }

    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, check: impl Fn(&vt100::Screen) -> bool) {
        self.wait_at_most(PATIENCE, what, check);
    }

    #[track_caller]
    pub(crate) fn wait_at_most(
        &self,
        limit: Duration,
        what: &str,
        check: impl Fn(&vt100::Screen) -> bool,
    ) {
        let until = Instant::now() + limit;
        let mut state = self.shared.state.lock().unwrap();
        while !check(state.parser.screen()) {
            let left = until.saturating_duration_since(Instant::now());
            let closed = state.closed;
            assert!(
                !left.is_zero() && !closed,
                "waited for {what}{}; the screen:\n{}",
                if closed { ", but the program ended" } else { "" },
                framed(state.parser.screen()),
            );
            state = self.shared.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Whether the screen shows `text` now.
    pub(crate) fn shows(&self, text: &str) -> bool {
        self.look(|screen| flat(screen).contains(text))
    }

    pub(crate) fn look<T>(&self, read: impl FnOnce(&vt100::Screen) -> T) -> T {
        read(self.shared.state.lock().unwrap().parser.screen())
    }

    /// The screen as text, for messages.
    pub(crate) fn picture(&self) -> String {
        self.look(framed)
    }

    /// Every byte the program wrote.
    pub(crate) fn raw(&self) -> Vec<u8> {
        self.shared.state.lock().unwrap().raw.clone()
    }

    /// Types these bytes at once.
    pub(crate) fn send(&self, bytes: impl AsRef<[u8]>) {
        let mut writer = self.writer.as_ref().unwrap().lock().unwrap();
        writer.write_all(bytes.as_ref()).unwrap();
        writer.flush().unwrap();
    }

    /// Types a line and presses Enter once the program has shown it.
    #[track_caller]
    pub(crate) fn enter(&self, line: &str) {
        self.send(line);
        self.wait_for(line);
        self.send(keys::ENTER);
    }

    /// A bracketed paste.
    pub(crate) fn paste(&self, text: &str) {
        self.send(format!("\x1b[200~{text}\x1b[201~"));
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let mut state = self.shared.state.lock().unwrap();
        state.parser.screen_mut().set_size(cells(rows), cells(columns));
        self.master.as_ref().unwrap().resize(size(columns, rows)).unwrap();
    }

    /// Closes the terminal on our side, as a terminal program does that is closed. The screen
    /// changes its size before: that makes the program write, which is what ends our reader.
    #[track_caller]
    pub(crate) fn hang_up(&mut self) {
        self.shared.state.lock().unwrap().hang_up = true;
        let until = Instant::now() + PATIENCE;
        for columns in (50..60).cycle() {
            self.master.as_ref().unwrap().resize(size(columns, 20)).unwrap();
            let state = self.shared.state.lock().unwrap();
            let wait = Duration::from_millis(200);
            let state = self.shared.changed.wait_timeout_while(state, wait, |state| !state.closed);
            if state.unwrap().0.closed {
                break;
            }
            assert!(Instant::now() < until, "the program does not draw after a resize");
        }
        self.writer = None;
        self.master = None;
    }

    /// Whether the terminal was closed on our side.
    pub(crate) fn is_hung_up(&self) -> bool {
        self.master.is_none()
    }

    /// The id of the program's process.
    pub(crate) fn pid(&self) -> rustix::process::Pid {
        let id = self.child.process_id().and_then(|id| i32::try_from(id).ok()).unwrap();
        rustix::process::Pid::from_raw(id).unwrap()
    }

    /// Sends a signal to the program itself.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(self.pid(), signal).unwrap();
    }

    /// Waits for the end of the program and of its output.
    #[track_caller]
    pub(crate) fn wait_exit(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            let picture = self.picture();
            assert!(Instant::now() < until, "the program does not end; the screen:\n{picture}");
            std::thread::sleep(Duration::from_millis(10));
        };
        let state = self.shared.state.lock().unwrap();
        let limit = Duration::from_secs(2);
        drop(self.shared.changed.wait_timeout_while(state, limit, |state| !state.closed).unwrap());
        status
    }

    /// Whether the line discipline (echo, line mode, signals) is as it was before the start.
    pub(crate) fn modes_restored(&self) -> bool {
        modes(self.master.as_ref().unwrap().as_ref()) == self.modes_before
    }

    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    /// Entries of the program's temporary folder.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        entries(&self.home.path("tmp"))
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

/// Bytes of keys.
pub(crate) mod keys {
    pub(crate) const ENTER: &str = "\r";
    pub(crate) const ESC: &str = "\x1b";
    pub(crate) const TAB: &str = "\t";
    pub(crate) const SHIFT_TAB: &str = "\x1b[Z";
    pub(crate) const CTRL_C: &str = "\x03";
    pub(crate) const CTRL_D: &str = "\x04";
    pub(crate) const PAGE_UP: &str = "\x1b[5~";
}

pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn pump(
    mut reader: Box<dyn Read + Send>,
    shared: &Shared,
    answers: &[(Vec<u8>, Vec<u8>)],
    writer: &Mutex<Box<dyn Write + Send>>,
) {
    let mut buffer = [0; 16 * 1024];
    // An error is how Linux reports that the other side closed.
    while let Ok(count @ 1..) = reader.read(&mut buffer) {
        for (query, reply) in answers {
            if buffer[..count].windows(query.len()).any(|part| part == query) {
                let _gone = writer.lock().unwrap().write_all(reply);
            }
        }
        // A test that failed while it looked at the screen has said why.
        let Ok(mut state) = shared.state.lock() else { return };
        state.raw.extend_from_slice(&buffer[..count]);
        state.parser.process(&buffer[..count]);
        shared.changed.notify_all();
        if state.hang_up {
            break;
        }
    }
    drop(reader);
    let Ok(mut state) = shared.state.lock() else { return };
    state.closed = true;
    shared.changed.notify_all();
}

/// The screen on one line with single blanks, so that a text is found wherever it was wrapped.
pub(crate) fn flat(screen: &vt100::Screen) -> String {
    screen.contents().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn framed(screen: &vt100::Screen) -> String {
    let columns = screen.size().1.get();
    let rows: Vec<String> = screen.rows(0, columns).map(|row| format!("  │{row}")).collect();
    rows.join("\n")
}

fn modes(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios())
}

fn size(cols: u16, rows: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}
