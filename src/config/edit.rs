//! Changes the user's config file from within the program: comments and order stay, the new file
//! replaces the old one at once, and only its owner can read it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, Table, TableLike, value};

use super::error::ConfigError;
use super::paths::Paths;
use super::private;

/// Where the key of a provider is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPlace<'a> {
    /// The key itself.
    Key(&'a str),
    /// The environment variable that holds it.
    Env(&'a str),
}

/// Saves a provider's key. `default_model` becomes the model unless one of this provider is set.
///
/// # Errors
/// When the file is broken or can't be written; it is unchanged then.
pub fn save_provider_key(
    paths: &Paths,
    provider: &str,
    key: &str,
    default_model: Option<&str>,
) -> Result<(), ConfigError> {
    save_key_place(paths, provider, KeyPlace::Key(key), default_model)
}

/// The same for a key that may be in the environment; the other place is forgotten.
///
/// # Errors
/// As [`save_provider_key`].
pub fn save_key_place(
    paths: &Paths,
    provider: &str,
    place: KeyPlace<'_>,
    default_model: Option<&str>,
) -> Result<(), ConfigError> {
    change(paths, |root| {
        let providers = child(root, "providers", true)?;
        let table = child(providers, provider, false)?;
        let (name, other, text) = match place {
            KeyPlace::Key(key) => ("api_key", "api_key_env", key),
            KeyPlace::Env(env) => ("api_key_env", "api_key", env),
        };
        table.remove(other);
        put(table, name, text);
        if let Some(model) = default_model {
            set_model(root, provider, model);
        }
        Some(())
    })
}

/// Forgets a provider's key and the name of its variable; other settings of it stay. False when
/// there was nothing to forget.
///
/// # Errors
/// As [`save_provider_key`].
pub fn remove_provider_key(paths: &Paths, provider: &str) -> Result<bool, ConfigError> {
    let mut removed = false;
    change(paths, |root| {
        if root.get("providers").is_none_or(|all| all.get(provider).is_none()) {
            return Some(());
        }
        let providers = child(root, "providers", true)?;
        let table = child(providers, provider, false)?;
        for name in ["api_key", "api_key_env"] {
            removed |= table.remove(name).is_some();
        }
        if table.is_empty() {
            providers.remove(provider);
        }
        Some(())
    })?;
    Ok(removed)
}

/// Sets a text at the top of the file, for example `model`.
///
/// # Errors
/// As [`save_provider_key`].
pub fn save_text(paths: &Paths, name: &str, text: &str) -> Result<(), ConfigError> {
    change(paths, |root| {
        put(root, name, text);
        Some(())
    })
}

/// Changes the file; `edit` gives up when `providers` is no table.
fn change(paths: &Paths, edit: impl FnOnce(&mut Table) -> Option<()>) -> Result<(), ConfigError> {
    let file = &paths.config_file;
    let failed = |error: io::Error| ConfigError::in_file(file, format!("can't be saved: {error}"));
    // A link to a settings folder elsewhere stays a link.
    let real = fs::canonicalize(file).unwrap_or_else(|_| file.clone());
    let dir = real.parent().map_or_else(PathBuf::new, Path::to_path_buf);
    private::make_dir(&dir).map_err(failed)?;
    // Two programs that save at the same time take turns; freed when `_turn` goes.
    let _turn = File::open(&dir).and_then(|dir| dir.lock().map(|()| dir)).map_err(failed)?;
    let text = match fs::read_to_string(&real) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        other => other.map_err(failed)?,
    };
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        ConfigError::in_text(file, &text, error.span(), error.message())
    })?;
    let was_empty = document.as_table().is_empty();
    if was_empty {
        document.set_trailing("");
    }
    edit(document.as_table_mut())
        .ok_or_else(|| ConfigError::in_file(file, "`providers` is not a table; mend the file"))?;
    let mut new = document.to_string();
    if was_empty {
        // Comments of a file without any key stay at its head.
        let gap = if text.trim().is_empty() { "" } else { "\n\n" };
        new = format!("{}{gap}{}", text.trim_end(), new.trim_start());
    }
    if new == text {
        return Ok(());
    }
    private::replace(&real, new.as_bytes()).map_err(failed)
}

/// The table of that name, made when absent; `None` when something else has the name.
fn child<'a>(
    parent: &'a mut dyn TableLike,
    name: &str,
    implicit: bool,
) -> Option<&'a mut dyn TableLike> {
    if !parent.contains_key(name) {
        let mut table = Table::new();
        table.set_implicit(implicit);
        parent.insert(name, Item::Table(table));
    }
    parent.get_mut(name)?.as_table_like_mut()
}

fn set_model(root: &mut Table, provider: &str, model: &str) {
    let current = root.get("model").and_then(Item::as_str).unwrap_or_default();
    if current.split('/').next() == Some(provider) {
        return;
    }
    put(root, "model", model);
}

/// Sets a text; the comment behind an old value stays.
fn put(table: &mut dyn TableLike, name: &str, text: &str) {
    match table.get_mut(name).and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = text.into();
            *old.decor_mut() = decor;
        }
        None => {
            table.insert(name, value(text));
        }
    }
}
