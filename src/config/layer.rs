//! One source of settings: every key may be absent. Reads the text of a file with the place of each
//! mistake, and names the keys nobody knows.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::{Table, Value};

use super::error::ConfigError;
use super::keys;
use super::schema::{ModelConfig, PromptPlace, ProviderConfig, SandboxMode, ToolStart};
use crate::kernel::command::Mode;
use crate::kernel::ports::Effort;

/// The keys one source sets.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Layer {
    pub(super) model: Option<String>,
    pub(super) small_model: Option<String>,
    pub(super) effort: Option<Effort>,
    pub(super) permission_mode: Option<Mode>,
    pub(super) log: Option<String>,
    pub(super) providers: BTreeMap<String, ProviderConfig>,
    pub(super) models: BTreeMap<String, ModelConfig>,
    pub(super) permissions: Permissions,
    pub(super) limits: Limits,
    pub(super) route: Route,
    pub(super) retry: Retry,
    pub(super) tools: Tools,
    pub(super) sandbox: Sandbox,
    pub(super) web: Web,
    pub(super) context: Context,
    pub(super) prompt: Prompt,
    pub(super) memory: Memory,
    pub(super) background: Background,
    pub(super) ui: Ui,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Permissions {
    pub(super) allow: Option<Vec<String>>,
    pub(super) ask: Option<Vec<String>>,
    pub(super) deny: Option<Vec<String>>,
    pub(super) roots: Option<Vec<PathBuf>>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Limits {
    pub(super) max_turns: Option<NonZeroU32>,
    pub(super) wrap_at_cap: Option<bool>,
    pub(super) max_tokens: Option<u64>,
    pub(super) max_cost: Option<f64>,
    pub(super) max_minutes: Option<NonZeroU32>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Route {
    pub(super) escalate: Option<bool>,
    pub(super) medium: Option<NonZeroU32>,
    pub(super) full: Option<NonZeroU32>,
    pub(super) fast: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Retry {
    pub(super) max_retries: Option<u32>,
    pub(super) continue_partial: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Tools {
    pub(super) start: Option<ToolStart>,
    pub(super) max_concurrency: Option<NonZeroU32>,
    pub(super) bash_timeout_s: Option<NonZeroU32>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Sandbox {
    pub(super) mode: Option<SandboxMode>,
    pub(super) auto_allow: Option<bool>,
    pub(super) network: Option<bool>,
    pub(super) write: Option<Vec<PathBuf>>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Web {
    pub(super) allow_hosts: Option<Vec<String>>,
    pub(super) search_url: Option<String>,
    pub(super) search_key_env: Option<String>,
    pub(super) search_header: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Context {
    pub(super) result_tokens: Option<NonZeroU32>,
    pub(super) results_tokens: Option<NonZeroU32>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Prompt {
    pub(super) dynamic: Option<PromptPlace>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Memory {
    pub(super) enabled: Option<bool>,
    pub(super) extract: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Background {
    pub(super) wake: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Ui {
    pub(super) theme: Option<String>,
    pub(super) mouse: Option<bool>,
    pub(super) alt_screen: Option<bool>,
    pub(super) reduced_motion: Option<bool>,
}

/// A file's text as a layer.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The keys it sets.
    pub layer: Layer,
    /// The dotted names of the known keys it sets.
    pub set: Vec<String>,
    /// One line per unknown key.
    pub warnings: Vec<String>,
}

/// Reads TOML.
///
/// # Errors
/// Broken TOML or a value of the wrong type, with its place.
pub fn parse(path: &Path, text: &str) -> Result<Parsed, ConfigError> {
    let failed =
        |error: toml::de::Error| ConfigError::in_text(path, text, error.span(), error.message());
    let table: Table = toml::from_str(text).map_err(failed)?;
    let layer: Layer = toml::from_str(text).map_err(failed)?;
    let mut parsed = Parsed { layer, ..Parsed::default() };
    walk(&table, &mut Vec::new(), &mut |names, known| {
        let name = names.join(".");
        if known {
            parsed.set.push(name);
            return;
        }
        let hint = keys::nearest(names)
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        let place = path.display();
        parsed.warnings.push(format!("{place}: unknown key `{name}` is ignored{hint}"));
    });
    Ok(parsed)
}

/// Visits every key that has a row or that nobody knows; tables on the way are entered.
fn walk<'a>(table: &'a Table, at: &mut Vec<&'a str>, visit: &mut impl FnMut(&[&str], bool)) {
    for (name, value) in table {
        at.push(name);
        match value {
            _ if keys::find(at).is_some() => visit(at, true),
            Value::Table(inner) if keys::is_table(at) => walk(inner, at, visit),
            _ => visit(at, false),
        }
        at.pop();
    }
}
