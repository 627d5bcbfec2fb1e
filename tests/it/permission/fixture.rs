//! A temporary workspace with a home beside it, and a gate over it.

use std::path::{Path, PathBuf};

use codebot::kernel::command::Mode;
use codebot::kernel::event::Approval;
use codebot::kernel::message::ToolCall;
use codebot::kernel::ports::{
    Access, Capability, Gate, GateRequest, Interrupt, ToolTraits, Verdict,
};
use codebot::permission::paths::Places;
use codebot::permission::shell::{Judgement, Setting, judge};
use codebot::permission::{GateConfig, PermissionGate};
use tempfile::TempDir;

pub(super) struct Fixture {
    dir: TempDir,
}

/// What a verdict was, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Did {
    Allow,
    Ask,
    Deny,
}

impl Fixture {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let fixture = Self { dir };
        for folder in ["ws/src", "ws/docs", "home/.ssh", "state"] {
            std::fs::create_dir_all(fixture.root().join(folder)).unwrap();
        }
        for (file, text) in [
            ("ws/f", "one\ntwo\n"),
            ("ws/a.txt", "a\n"),
            ("ws/b.txt", "b\n"),
            ("ws/s.py", "open('M','w')\n"),
            ("ws/src/main.rs", "fn main() {}\n"),
            ("ws/docs/guide.md", "# Guide\n"),
            ("ws/.env", "KEY=1\n"),
            ("ws/secrets.txt", "x\n"),
            ("home/.ssh/id_rsa", "key\n"),
            ("home/.ssh/id_rsa.pub", "public\n"),
        ] {
            std::fs::write(fixture.root().join(file), text).unwrap();
        }
        fixture
    }

    /// The temporary folder, links resolved.
    pub(super) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(super) fn ws(&self) -> PathBuf {
        self.root().join("ws")
    }

    pub(super) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    pub(super) fn config(&self) -> GateConfig {
        GateConfig {
            workspace: self.ws(),
            home: Some(self.home()),
            internal_read: vec![self.root().join("state/read")],
            internal_write: vec![self.root().join("state/write")],
            own_config: vec![self.home().join(".config/codebot")],
            store: self.root().join("state/permissions.json"),
            audit: self.root().join("state/audit.jsonl"),
            path_env: "/usr/local/bin:/usr/bin:/bin".to_owned(),
            ..GateConfig::default()
        }
    }

    pub(super) fn gate(&self, mode: Mode) -> PermissionGate {
        PermissionGate::new(GateConfig { mode, ..self.config() })
    }

    pub(super) fn gate_with(&self, mode: Mode, allow: &[&str], deny: &[&str]) -> PermissionGate {
        let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
        PermissionGate::new(GateConfig {
            mode,
            allow: owned(allow),
            deny: owned(deny),
            ..self.config()
        })
    }

    /// The bare judgement of a line that starts in the workspace.
    pub(super) fn judge(&self, line: &str) -> Judgement {
        let places = Places::new(&[self.ws()], Some(&self.home()), &[], &[], &[]);
        judge(line, &self.ws(), &Setting { places: &places, suspect_path: &[] })
    }

    pub(super) fn shell(&self, gate: &PermissionGate, line: &str) -> Verdict {
        verdict(
            gate,
            "bash",
            Capability::Shell,
            &[Access::Shell { command: line.to_owned(), workdir: self.ws() }],
        )
    }

    pub(super) fn shell_did(&self, gate: &PermissionGate, line: &str) -> Did {
        did(&self.shell(gate, line))
    }
}

pub(super) fn call(name: &str) -> ToolCall {
    ToolCall {
        id: "c1".into(),
        name: name.to_owned(),
        args: serde_json::Map::new(),
        invalid: None,
        opaque: None,
    }
}

pub(super) fn verdict(
    gate: &PermissionGate,
    name: &str,
    capability: Capability,
    access: &[Access],
) -> Verdict {
    let call = call(name);
    let traits = ToolTraits::new(capability, false, Interrupt::Finish);
    let request = GateRequest { call: &call, traits, access, preview: None };
    futures_util::future::FutureExt::now_or_never(gate.judge(request))
        .expect("the gate answers at once")
        .unwrap()
}

pub(super) fn read(gate: &PermissionGate, path: &Path) -> Did {
    did(&verdict(gate, "read", Capability::Read, &[Access::Read(path.to_path_buf())]))
}

pub(super) fn write(gate: &PermissionGate, path: &Path) -> Verdict {
    verdict(gate, "edit", Capability::Write, &[Access::Write(path.to_path_buf())])
}

pub(super) fn write_did(gate: &PermissionGate, path: &Path) -> Did {
    did(&write(gate, path))
}

pub(super) fn did(verdict: &Verdict) -> Did {
    match verdict {
        Verdict::Allow | Verdict::AllowWith(_) => Did::Allow,
        Verdict::Ask(_) => Did::Ask,
        Verdict::Deny { .. } => Did::Deny,
    }
}

pub(super) fn asked(verdict: Verdict) -> Approval {
    match verdict {
        Verdict::Ask(approval) => approval,
        other => panic!("expected a question, got {other:?}"),
    }
}
