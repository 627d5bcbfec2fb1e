//! One `-p` command line in a home of its own, and what it printed.

use std::io::Write;
use std::net::SocketAddr;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::pty::Home;

/// A command line that waits to be run.
pub(crate) struct Print {
    pub(crate) home: Home,
    pub(crate) command: Command,
}

impl Print {
    pub(crate) fn new(args: &[&str]) -> Self {
        Self::within(&Home::new(), args)
    }

    /// With what earlier runs left in these folders.
    pub(crate) fn within(home: &Home, args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_codebot"));
        command.arg("-p").args(args).env_clear().envs(home.environment());
        command.current_dir(home.path("work"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { home: home.clone(), command }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn envs(mut self, variables: Vec<(&'static str, String)>) -> Self {
        self.command.envs(variables);
        self
    }

    /// A provider that lives at `address`.
    pub(crate) fn provider(self, address: SocketAddr) -> Self {
        self.env("ANTHROPIC_API_KEY", "k")
            .env("ANTHROPIC_BASE_URL", &format!("http://{address}"))
            .env("NO_PROXY", "*")
    }

    pub(crate) fn run(mut self) -> (Output, Home) {
        (self.command.output().unwrap(), self.home)
    }

    pub(crate) fn run_with_stdin(mut self, input: &str) -> Output {
        let mut child = self.command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Every line of stdout as JSON.
pub(crate) fn objects(output: &Output) -> Vec<Value> {
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
