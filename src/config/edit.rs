//! Changes the user's config file from within the program: comments and order stay, the new file
//! replaces the old one at once, and only its owner can read it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, Table, TableLike, value};

use super::error::ConfigError;
use super::paths::Paths;
use super::private;

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
    set_key(document.as_table_mut(), provider, key)
        .ok_or_else(|| ConfigError::in_file(file, "`providers` is not a table; mend the file"))?;
    if let Some(model) = default_model {
        set_model(document.as_table_mut(), provider, model);
    }
    let mut new = document.to_string();
    if was_empty {
        // Comments of a file without any key stay at its head.
        let gap = if text.trim().is_empty() { "" } else { "\n\n" };
        new = format!("{}{gap}{}", text.trim_end(), new.trim_start());
    }
    private::replace(&real, new.as_bytes()).map_err(failed)
}

fn set_key(root: &mut Table, provider: &str, key: &str) -> Option<()> {
    let providers = child(root, "providers", true)?;
    put(child(providers, provider, false)?, "api_key", key);
    Some(())
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
