//! Commands in the sandbox: real children at real fences. Where the kernel has none, the tests say so
//! and prove nothing.

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use codebot::kernel::message::CallStatus;
use codebot::kernel::ports::{Access, Toolbox};
use codebot::sandbox::{Fence, Sandbox, probe};
use codebot::tools::confine::Confinement;
use serde_json::json;

use super::{Desk, call, text};

/// A desk whose commands are held in, or `None` where that is not possible.
#[expect(clippy::print_stdout, reason = "a test that proves nothing here has to say so")]
fn fenced(change: impl FnOnce(&mut Fence)) -> Option<Desk> {
    if !probe().is_usable() {
        println!("skipped, nothing is proven: {}", probe().summary);
        return None;
    }
    Some(Desk::with(|config| {
        let mut fence = Fence {
            writable: vec![config.workspace.clone(), PathBuf::from("/dev/null")],
            local_sockets: true,
            ..Fence::default()
        };
        change(&mut fence);
        let sandbox = Arc::new(Sandbox::new(fence).unwrap());
        config.confinement = Some(Confinement::new(
            move |command| sandbox.confine(command),
            |output| output.contains("denied").then(|| "[the fence]".to_owned()),
        ));
    }))
}

#[tokio::test]
async fn a_write_inside_works_and_one_outside_fails_by_whatever_way() {
    let Some(desk) = fenced(|_| {}) else { return };
    let outside = desk.dir.path().canonicalize().unwrap().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("kept"), "kept").unwrap();
    let out = outside.display();
    desk.ok("bash", json!({"command": "echo hi > in; mkdir d && mv in d/in && cat d/in"})).await;
    assert_eq!(desk.text("d/in"), "hi\n");
    for line in [
        format!("echo x > {out}/new"),
        format!("echo x >> {out}/kept"),
        format!("rm {out}/kept"),
        format!("mkdir {out}/d"),
        format!("mv d/in {out}/in"),
        format!("ln -s {out}/kept link && echo x > link"),
        format!("ln {out}/kept hard && echo x > hard"),
        format!("(cd {out} && bash -c 'touch new')"),
        format!("truncate -s 0 {out}/kept"),
    ] {
        let outcome = desk.call("bash", json!({"command": line})).await;
        assert_eq!(outcome.status, CallStatus::Error, "{line}");
    }
    assert_eq!(std::fs::read_to_string(outside.join("kept")).unwrap(), "kept");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    let error = desk.fails("bash", json!({"command": format!("echo x > {out}/new")})).await;
    assert!(
        error.ends_with("exit code 1[the fence]") || error.contains("\n[the fence]"),
        "{error}"
    );
}

#[tokio::test]
async fn a_closed_place_is_not_read_and_what_lies_beside_it_is() {
    let mut secret = PathBuf::new();
    let Some(desk) = fenced(|fence| {
        let root = fence.writable[0].parent().unwrap().to_owned();
        std::fs::create_dir_all(root.join("home/.ssh")).unwrap();
        std::fs::write(root.join("home/.ssh/id"), "SECRET").unwrap();
        std::fs::write(root.join("home/notes"), "notes").unwrap();
        std::os::unix::fs::symlink(root.join("home/.ssh"), root.join("home/way")).unwrap();
        fence.closed.push(root.join("home/.ssh"));
        secret = root.join("home");
    }) else {
        return;
    };
    let home = secret.display();
    assert_eq!(desk.ok("bash", json!({"command": format!("cat {home}/notes")})).await, "notes");
    for line in [
        format!("cat {home}/.ssh/id"),
        format!("cat {home}/way/id"),
        format!("cp -r {home}/.ssh copy"),
        format!("ln {home}/.ssh/id mine && cat mine"),
    ] {
        let error = desk.fails("bash", json!({"command": line})).await;
        assert!(!error.contains("SECRET"), "{error}");
    }
}

#[tokio::test]
async fn a_connection_is_refused_unless_the_network_is_open() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let line = json!({"command": format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo through")});
    let Some(closed) = fenced(|_| {}) else { return };
    let error = closed.fails("bash", line.clone()).await;
    assert!(!error.contains("through"), "{error}");
    let Some(open) = fenced(|fence| fence.network = true) else { return };
    assert_eq!(open.ok("bash", line).await, "through\n");
}

#[tokio::test]
async fn sockets_of_this_machine_stay_open_unless_nobody_is_asked() {
    let line =
        json!({"command": "python3 -c 'import socket; socket.socket(socket.AF_UNIX); print(1)'"});
    let Some(open) = fenced(|_| {}) else { return };
    if open.call("bash", json!({"command": "command -v python3"})).await.status != CallStatus::Ok {
        println!("skipped: no python3 here");
        return;
    }
    assert_eq!(open.ok("bash", line.clone()).await, "1\n");
    let Some(closed) = fenced(|fence| fence.local_sockets = false) else { return };
    assert!(closed.fails("bash", line).await.contains("not permitted"));
    let pair = json!({"command": "python3 -c 'import socket; socket.socketpair(); print(2)'"});
    assert_eq!(closed.ok("bash", pair).await, "2\n");
}

#[tokio::test]
async fn daily_tools_work_inside() {
    let Some(desk) = fenced(|_| {}) else { return };
    let git = "git init -q . && git -c user.name=a -c user.email=b@c commit -q --allow-empty -m x \
               && git log --oneline | wc -l";
    for (name, line) in [
        ("git", git),
        ("python3", "python3 -c 'open(\"p\", \"w\").write(\"1\"); print(1)' 2>/dev/null"),
        ("node", "node -e 'require(\"fs\").writeFileSync(\"n\", \"1\"); console.log(1)'"),
        ("make", "printf 'all:\\n\\t@echo 1\\n' > Makefile && make"),
        (
            "cargo",
            "cargo init -q --vcs none --name one sub && cd sub && cargo metadata --offline \
                   --format-version 1 | wc -l",
        ),
    ] {
        let found = desk.call("bash", json!({"command": format!("command -v {name}")})).await;
        if found.status != CallStatus::Ok {
            println!("not tried: no {name} here");
            continue;
        }
        assert_eq!(desk.ok("bash", json!({"command": line})).await.trim(), "1", "{name}");
    }
}

#[tokio::test]
async fn the_call_that_leaves_the_sandbox_says_so_to_the_gate_and_runs_outside() {
    let Some(desk) = fenced(|_| {}) else { return };
    let outside = desk.dir.path().canonicalize().unwrap().join("outside");
    let line = format!("echo x > {}", outside.display());
    let plain = call("bash", json!({"command": line}));
    assert!(!desk.tools.access(&plain).contains(&Access::Unconfined));
    let args = json!({"command": line, "unsandboxed": true});
    assert!(desk.tools.access(&call("bash", args.clone())).contains(&Access::Unconfined));
    desk.ok("bash", args.clone()).await;
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "x\n");
    // Without a sandbox the word means nothing, and nothing more is asked.
    let free = Desk::new();
    assert!(!free.tools.access(&call("bash", args)).contains(&Access::Unconfined));
}

#[tokio::test]
async fn a_process_inside_cannot_look_into_codebot_and_what_it_costs_is_small() {
    let Some(desk) = fenced(|_| {}) else { return };
    let pid = std::process::id();
    let peek = json!({"command": format!("cat /proc/{pid}/environ /proc/{pid}/mem")});
    assert_ne!(desk.call("bash", peek).await.status, CallStatus::Ok);
    let started = Instant::now();
    for _ in 0..10 {
        desk.ok("bash", json!({"command": "true"})).await;
    }
    let fenced_ms = started.elapsed().as_millis();
    let free = Desk::new();
    let started = Instant::now();
    for _ in 0..10 {
        free.ok("bash", json!({"command": "true"})).await;
    }
    println!("10 commands: {fenced_ms} ms inside, {} ms outside", started.elapsed().as_millis());
}

#[tokio::test]
async fn commands_write_no_core_files_and_their_number_of_processes_is_limited() {
    let desk = Desk::new();
    assert_eq!(desk.ok("bash", json!({"command": "ulimit -c"})).await, "0\n");
    if cfg!(target_os = "linux") {
        let most = desk.ok("bash", json!({"command": "ulimit -u"})).await;
        assert!(most.trim().parse::<u64>().is_ok_and(|most| most >= 4096), "{most}");
    }
    let outcome = desk.call("bash", json!({"command": "true"})).await;
    assert_eq!(text(&outcome), "(no output)");
}
