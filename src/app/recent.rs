//! The models that were used last, for the list of models: a small file of the user's state, newest
//! first. What can't be read counts as nothing; it is only a convenience.

use std::path::{Path, PathBuf};

use crate::config::private;

/// So many are remembered.
const KEPT: usize = 8;

fn file(state_dir: &Path) -> PathBuf {
    state_dir.join("recent-models.json")
}

/// `provider/model`, newest first.
pub fn read(state_dir: &Path) -> Vec<String> {
    let bytes = std::fs::read(file(state_dir)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Puts a model at the head. Blocking, one small file.
///
/// # Errors
/// When the file can't be written.
pub fn add(state_dir: &Path, model: &str) -> std::io::Result<()> {
    let mut all = read(state_dir);
    all.retain(|known| known != model);
    all.insert(0, model.to_owned());
    all.truncate(KEPT);
    private::make_dir(state_dir)?;
    private::replace(&file(state_dir), serde_json::to_string(&all)?.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stands_first_and_once_and_damage_counts_as_nothing() {
        let home = tempfile::tempdir().unwrap();
        for model in ["a/1", "b/2", "a/1"] {
            add(home.path(), model).unwrap();
        }
        assert_eq!(read(home.path()), ["a/1", "b/2"]);
        for number in 0..20 {
            add(home.path(), &format!("c/{number}")).unwrap();
        }
        assert_eq!((read(home.path()).len(), read(home.path())[0].as_str()), (KEPT, "c/19"));
        std::fs::write(file(home.path()), "[1, {").unwrap();
        assert!(read(home.path()).is_empty());
        add(home.path(), "d/1").unwrap();
        assert_eq!(read(home.path()), ["d/1"]);
    }
}
