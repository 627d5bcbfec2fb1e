//! Where session files stand: `sessions/<project>/<time>-<id>.jsonl` under the state directory.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::kernel::message::Timestamp;

/// Longest readable part of a project's folder name, in characters.
const SLUG_CHARS: usize = 40;

/// The folder of all sessions.
pub fn sessions_dir(state_dir: &Path) -> PathBuf {
    state_dir.join("sessions")
}

/// The folder of the sessions of one working directory.
pub fn project_dir(state_dir: &Path, cwd: &Path) -> PathBuf {
    sessions_dir(state_dir).join(project_name(cwd))
}

/// A folder name of its own for every absolute path: a readable part and a hash of all bytes.
/// Links are resolved while the directory exists, so both ways into it give one name.
pub fn project_name(cwd: &Path) -> String {
    let real = fs::canonicalize(cwd)
        .or_else(|_| std::path::absolute(cwd))
        .unwrap_or_else(|_| cwd.to_path_buf());
    let last = real.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy());
    format!("{}-{:032x}", slug(&last), fnv1a_128(real.as_os_str().as_bytes()))
}

/// The name of a session file.
pub fn file_name(created: Timestamp, id: &str) -> String {
    let time = jiff::Timestamp::from_millisecond(created.0)
        .map_or_else(|_| "0".to_owned(), |t| t.strftime("%Y%m%dT%H%M%SZ").to_string());
    format!("{time}-{}.jsonl", slug(id))
}

/// The id in a file name, for files whose header is lost.
pub fn id_of(path: &Path) -> String {
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    stem.split_once('-').map_or(stem.clone(), |(_, id)| id.to_owned())
}

fn slug(text: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    text.chars().take(SLUG_CHARS).map(keep).collect()
}

/// FNV-1a with 128 bits (offset basis and prime of its authors): paths are not chosen by an
/// attacker who gains from a clash, and 128 bits leave none by chance.
fn fnv1a_128(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}
