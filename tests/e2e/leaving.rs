//! Every way out while a command runs: nothing of the command stays, the program is gone soon, and
//! the terminal is as it was. And the way out that comes back: stop and `fg`.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::command::{Print, text};
use crate::pty::{Home, Program, Pty, flat, keys};
use crate::service::{Service, Wire};
use crate::words::{COMPOSER, MODE, RUNNING};

/// What a user waits without wondering is 3 s; the rest is for a busy machine.
const SOON: Duration = Duration::from_secs(6);

/// A command with a child of its own in the background; both write down who they are.
const COMMAND: &str = "echo $$ > shell.pid; sleep 300 & echo $! > child.pid; wait";

/// A screen in the middle of that command.
fn in_a_command(home: &Home, wire: Wire) -> (Pty, Service) {
    let service = Service::start(wire);
    service.calls("I wait.", &[("bash", json!({"command": COMMAND}))]);
    let args = &["--permission-mode", "trust", "wait for it"];
    let mut program = Program::within(home, env!("CARGO_BIN_EXE_codebot"), args).size(100, 30);
    for (name, value) in service.environment() {
        program = program.env(name, &value);
    }
    let pty = program.env("CODEBOT_MODEL", wire.model()).start();
    let _both = pids(home);
    pty.wait_for(RUNNING);
    (pty, service)
}

/// The ids of the command's processes, once they are known.
fn pids(home: &Home) -> Vec<u32> {
    let work = home.path("work");
    ["shell.pid", "child.pid"].map(|name| pid_in(&work.join(name))).to_vec()
}

fn pid_in(file: &Path) -> u32 {
    for _ in 0..2000 {
        let text = fs::read_to_string(file).unwrap_or_default();
        if text.ends_with('\n') {
            return text.trim().parse().unwrap();
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{} was not written", file.display());
}

/// Whether the process runs; one that only waits to be collected does not.
fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start().chars().next());
    !matches!(state, None | Some(None | Some('Z' | 'X')))
}

#[track_caller]
fn assert_gone(home: &Home, way: &str) {
    let until = Instant::now() + Duration::from_secs(5);
    for pid in pids(home) {
        while runs(pid) {
            assert!(Instant::now() < until, "{way}: process {pid} of the command lives on");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A way out of a running screen.
type Way = (&'static str, fn(&mut Pty));

/// Case C33, case E24.
#[test]
fn every_way_out_takes_the_running_command_along() {
    let ways: [Way; 5] = [
        ("ctrl+c twice", |pty| {
            // The first one stops the run.
            pty.send(keys::CTRL_C);
            pty.wait_gone(RUNNING);
            pty.send(keys::CTRL_C);
        }),
        ("/quit", |pty| pty.enter("/quit")),
        ("SIGTERM", |pty| pty.signal(Signal::TERM)),
        ("SIGHUP", |pty| pty.signal(Signal::HUP)),
        ("a closed terminal", Pty::hang_up),
    ];
    let all = ways.map(|(way, leave)| {
        thread::spawn(move || {
            let home = Home::new();
            let (mut pty, service) = in_a_command(&home, Wire::Messages);
            let started = Instant::now();
            leave(&mut pty);
            pty.wait_exit();
            assert!(started.elapsed() < SOON, "{way} took {:?}", started.elapsed());
            assert_gone(&home, way);
            assert!(pty.is_hung_up() || pty.modes_restored(), "{way}");
            assert_eq!(service.mock.violations(), Vec::<String>::new());
            goes_on(&home, &service, way);
        })
    });
    for one in all {
        one.join().unwrap();
    }
}

/// The session can be gone on with: its call is answered.
fn goes_on(home: &Home, service: &Service, way: &str) {
    service.says("On we go.");
    let args = ["-m", service.wire.model(), "-c", "go on"];
    let output = Print::within(home, &args).envs(service.environment()).run().0;
    assert_eq!(text(&output.stdout), "On we go.\n", "{way}: {}", text(&output.stderr));
    service.assert_valid();
    assert_eq!(service.results(1).len(), 1, "{way}");
}

/// Case C33, without a screen.
#[test]
fn a_signal_in_print_mode_takes_the_running_command_along() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let (service, home) = (Service::start(Wire::Chat), Home::new());
        service.calls("I wait.", &[("bash", json!({"command": COMMAND}))]);
        let args = ["-m", service.wire.model(), "--permission-mode", "trust", "wait for it"];
        let mut print = Print::within(&home, &args).envs(service.environment());
        let child = print.command.spawn().unwrap();
        let _both = pids(&home);
        let id = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        let started = Instant::now();
        rustix::process::kill_process(id, signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{:?}", output.status);
        assert!(started.elapsed() < SOON, "it took {:?}", started.elapsed());
        assert_gone(&home, "a signal");
        fs::remove_file(home.path("work").join("child.pid")).unwrap();
    }
}

/// Case E24: whoever starts it with `nohup` wants it to outlive the terminal.
#[test]
fn an_ignored_hangup_stays_ignored_in_print_mode() {
    let (service, home) = (Service::start(Wire::Chat), Home::new());
    let held = "echo $$ > child.pid; while ! test -e go; do sleep 0.02; done";
    service.calls("I wait.", &[("bash", json!({"command": held}))]).says("Done all the same.");
    let line = format!("trap '' HUP; exec '{}' -p go", env!("CARGO_BIN_EXE_codebot"));
    let mut print = Print::within(&home, &[]).envs(service.environment());
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &line]).env_clear().envs(home.environment()).envs(service.environment());
    shell.env("CODEBOT_PERMISSION_MODE", "trust").env("CODEBOT_MODEL", service.wire.model());
    shell.current_dir(home.path("work")).stdin(std::process::Stdio::null());
    shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    print.command = shell;
    let child = print.command.spawn().unwrap();
    let _started = pid_in(&home.path("work").join("child.pid"));
    let id = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(id, Signal::HUP).unwrap();
    fs::write(home.path("work").join("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(text(&output.stdout), "Done all the same.\n", "{:?}", output.status);
}

/// A shell line that leaves what `stty -a` says before and after in files.
fn between_stty(program: &str) -> String {
    format!("stty -a > before; {program}; stty -a > after; echo THE END")
}

#[track_caller]
fn assert_same_stty(home: &Home) {
    let [before, after] = ["before", "after"].map(|name| {
        let text = fs::read_to_string(home.path("work").join(name)).unwrap();
        assert!(text.contains("icanon"), "{text}");
        text
    });
    assert_eq!(before, after);
}

/// Case E01: every mode that was switched on is switched off, before the shell is back.
#[test]
fn the_shell_gets_its_terminal_back_as_it_was() {
    let leave: [fn(&Pty); 2] = [|pty| pty.send(keys::CTRL_D), |pty| pty.enter("/quit")];
    for leave in leave {
        let home = Home::new();
        let line = between_stty(&format!("'{}' --demo", env!("CARGO_BIN_EXE_codebot")));
        // An emulator that knows the extended keys: they are switched on and must go off again.
        let mut pty = Program::within(&home, "sh", &["-c", &line])
            .answering(b"\x1b[?u", b"\x1b[?0u\x1b[?62;22c")
            .start();
        pty.wait_for(MODE);
        leave(&pty);
        pty.wait_for("THE END");
        pty.wait_exit();
        assert_same_stty(&home);
        let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
        let end = raw.rfind("THE END").unwrap();
        for mode in switched_on(&raw) {
            let off = raw.rfind(&format!("\x1b[?{mode}l"));
            let on = raw.rfind(&format!("\x1b[?{mode}h"));
            assert!(off > on && off < Some(end), "mode {mode} stays on");
        }
        assert!(raw.rfind("\x1b[?25h") > raw.rfind("\x1b[?25l"), "the cursor is hidden");
        let pushed = raw.matches("\x1b[>").count();
        let popped = raw.matches("\x1b[<").count();
        assert!(popped >= pushed.min(1), "extended keys stay on");
        let left = raw.rfind("\x1b[?1049l").unwrap();
        for mode in ["1000", "1006", "2004"] {
            let off = raw.rfind(&format!("\x1b[?{mode}l"));
            assert!(off.is_some_and(|off| off < left), "mode {mode} goes off after the screen");
        }
    }
}

/// Private modes that were switched on, but for the cursor's.
fn switched_on(raw: &str) -> Vec<String> {
    let mut modes: Vec<String> = Vec::new();
    for piece in raw.split("\x1b[?").skip(1) {
        let digits: String =
            piece.chars().take_while(|c| c.is_ascii_digit() || *c == ';').collect();
        if piece[digits.len()..].starts_with('h') {
            modes.extend(digits.split(';').map(str::to_owned));
        }
    }
    modes.retain(|mode| mode != "25");
    modes.sort();
    modes.dedup();
    modes
}

/// Waits until the shell waits for a line.
#[track_caller]
fn at_prompt(pty: &Pty) {
    pty.wait_until("the shell's prompt", |screen| {
        let (row, column) = screen.cursor_position();
        let line = screen.rows(0, 100).nth(row.into()).unwrap_or_default();
        !screen.alternate_screen() && line.trim_end() == "shell>" && column == 7
    });
}

/// Case E23: stopped by ctrl+z in a shell with job control, the terminal is sane; `fg` brings the
/// screen back at the size of now, and the run goes on.
#[test]
fn stopping_and_coming_back_keeps_terminal_screen_and_run() {
    for busy in [false, true] {
        let home = Home::new();
        let service = Service::start(Wire::Messages);
        let args = &["--norc", "--noprofile", "-i"];
        let mut program = Program::within(&home, "bash", args).size(100, 30);
        for (name, value) in service.environment() {
            program = program.env(name, &value);
        }
        let mut pty = program
            .env("CODEBOT_MODEL", service.wire.model())
            .env("PS1", "shell> ")
            .env("PS0", "")
            .start();
        at_prompt(&pty);
        pty.enter("stty -g > before");
        at_prompt(&pty);
        let start = format!("'{}' --permission-mode trust", env!("CARGO_BIN_EXE_codebot"));
        pty.send(format!("{start}\r"));
        pty.wait_for(COMPOSER);
        pty.wait_for("mock-1");
        if busy {
            let held = "echo held; while ! test -e go; do sleep 0.02; done; echo released";
            service.calls("I wait.", &[("bash", json!({"command": held}))]).says("All over.");
            pty.enter("wait for it");
            pty.wait_for("held");
        } else {
            pty.send("draft");
            pty.wait_for("draft");
        }
        pty.send("\x1a");
        pty.wait_for("Stopped");
        at_prompt(&pty);
        pty.enter("stty -g > after; cmp before after && echo is equal");
        pty.wait_for("echo is equal is equal");
        at_prompt(&pty);
        // Ctrl+C at the shell is the shell's: the stopped job stays.
        pty.send("some words");
        pty.wait_for("shell> some words");
        pty.send(keys::CTRL_C);
        pty.wait_for("^C");
        // Some shells show the next prompt only with the next key.
        pty.send(keys::ENTER);
        at_prompt(&pty);
        pty.enter("jobs > jobs.txt");
        at_prompt(&pty);
        let jobs = fs::read_to_string(home.path("work").join("jobs.txt")).unwrap();
        assert!(jobs.contains("Stopped"), "{jobs}");
        pty.resize(80, 24);
        pty.send("fg\r");
        pty.wait_until("the screen again", |screen| {
            screen.alternate_screen() && flat(screen).contains("mock-1")
        });
        if busy {
            fs::write(home.path("work").join("go"), "").unwrap();
            pty.wait_for("All over.");
            pty.wait_gone(RUNNING);
            service.assert_valid();
        } else {
            pty.wait_for("draft");
            pty.send(" goes on");
            pty.wait_for("draft goes on");
            pty.send(keys::CTRL_C);
            pty.wait_gone("draft");
        }
        pty.send(keys::CTRL_D);
        pty.wait_until("the shell", |screen| !screen.alternate_screen());
        at_prompt(&pty);
        pty.enter("stty -g > after; cmp before after && echo is equal again");
        pty.wait_for("echo is equal again is equal again");
        pty.enter("exit");
        pty.wait_exit();
    }
}
