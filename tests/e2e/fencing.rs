//! The sandbox in the real program: what runs unasked because of it, what hits the fence, and what the
//! screen says about it. Where the kernel has none, only the last is proven.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::pty::{Home, Program, Pty};
use crate::service::{Service, Wire};
use crate::words::{COMPOSER, PANEL, RUNNING};

fn open(service: &Service, home: &Home, settings: &str) -> Pty {
    let path = home.path("home").join("settings.toml");
    fs::write(&path, settings).unwrap();
    let args = ["--config", path.to_str().unwrap(), "--permission-mode", "accept-edits"];
    let mut program = Program::within(home, env!("CARGO_BIN_EXE_codebot"), &args).size(120, 30);
    for (name, value) in service.environment() {
        program = program.env(name, &value);
    }
    let pty = program.env("CODEBOT_MODEL", service.wire.model()).start();
    pty.wait_for(COMPOSER);
    pty.wait_for("mock-1");
    pty
}

/// A script of the project that writes inside and outside, and tells what came of it.
fn script(home: &Home) {
    let path = home.path("work").join("tool.sh");
    let outside = home.path("home").join("outside");
    let text = format!("#!/bin/sh\necho in > inside\necho out > {}\n", outside.display());
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn accept_edits_runs_a_command_unasked_inside_and_asks_before_it_leaves() {
    let (service, home) = (Service::start(Wire::Messages), Home::new());
    script(&home);
    service
        .calls("I run it.", &[("bash", json!({"command": "./tool.sh"}))])
        .calls("Again.", &[("bash", json!({"command": "./tool.sh", "unsandboxed": true}))])
        .says("Both were written.");
    let pty = open(&service, &home, "[sandbox]\nauto_allow = true\n");
    pty.enter("/status");
    pty.wait_for("sandbox");
    if !pty.shows("on: commands write") {
        println!("skipped, nothing is proven: {}", pty.picture());
        return;
    }
    pty.send("\x1b");
    pty.wait_gone("Status");
    pty.enter("run the tool");
    pty.wait_for(PANEL);
    pty.wait_for("outside of the sandbox");
    assert_eq!(fs::read_to_string(home.path("work").join("inside")).unwrap(), "in\n");
    assert!(!home.path("home").join("outside").exists(), "the fence holds");
    std::thread::sleep(std::time::Duration::from_millis(crate::words::PANEL_GUARD_MS));
    pty.send("\r");
    pty.wait_for("Both were written.");
    pty.wait_gone(RUNNING);
    assert_eq!(fs::read_to_string(home.path("home").join("outside")).unwrap(), "out\n");
    let first = service.results(1).join("\n");
    assert!(first.contains("this ran in a sandbox") && first.contains("unsandboxed"), "{first}");
    service.assert_valid();
}

#[test]
fn a_sandbox_that_is_off_is_not_claimed_and_holds_nothing() {
    let (service, home) = (Service::start(Wire::Messages), Home::new());
    let pty = open(&service, &home, "[sandbox]\nmode = \"off\"\nauto_allow = true\n");
    pty.enter("/status");
    pty.wait_for("off by sandbox.mode");
    pty.send("\x1b");
    pty.wait_gone("Status");
    script(&home);
    service.calls("I run it.", &[("bash", json!({"command": "./tool.sh"}))]);
    pty.enter("run the tool");
    pty.wait_for(PANEL);
}
