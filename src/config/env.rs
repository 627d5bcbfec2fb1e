//! The process environment as a value that is handed in, so that tests bring their own and nobody
//! else asks the system.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Operating system and architecture, for example `linux x86_64`.
pub fn platform() -> String {
    format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)
}

/// Environment variables. An empty one counts as not set.
#[derive(Clone, Default)]
pub struct Env {
    vars: HashMap<OsString, OsString>,
}

impl Env {
    /// The variables of this process.
    pub fn of_process() -> Self {
        Self { vars: std::env::vars_os().collect() }
    }

    /// Just these.
    pub fn of<K: Into<OsString>, V: Into<OsString>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        Self { vars: pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect() }
    }

    /// A variable as text; `None` when unset, empty or not UTF-8.
    pub fn var(&self, name: &str) -> Option<String> {
        self.os(name)?.to_str().map(str::to_owned)
    }

    /// A variable as a path; `None` when unset or empty.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.os(name).map(PathBuf::from)
    }

    /// A switch: set to anything but `0`, `false` or `no`.
    pub fn flag(&self, name: &str) -> bool {
        self.var(name).is_some_and(|value| !matches!(value.as_str(), "0" | "false" | "no"))
    }

    /// The user's home directory as the environment names it.
    pub fn home(&self) -> Option<PathBuf> {
        self.path("HOME")
    }

    fn os(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }
}

impl std::fmt::Debug for Env {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Values may be keys.
        write!(f, "Env({} variables)", self.vars.len())
    }
}
