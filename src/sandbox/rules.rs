//! The file rules of a fence. Landlock only knows what is open, so a closed place is kept out by
//! opening everything around it: the folders on the way to it are opened entry by entry. An entry
//! that comes up later in such a folder is closed until the next command.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd,
    Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, make_bitflags,
};

use super::Fence;

/// What the rules are about: files and folders, not devices' own controls, which terminals need.
const VERSION: ABI = ABI::V3;

/// Makes the rules; whoever restricts himself with the result is inside.
pub(super) fn make(fence: &Fence) -> io::Result<OwnedFd> {
    let closed: Vec<PathBuf> =
        fence.closed.iter().filter_map(|place| place.canonicalize().ok()).collect();
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(VERSION))
        .and_then(Ruleset::create)
        .map_err(io::Error::other)?;
    let root = Path::new("/");
    rules = open(rules, root, make_bitflags!(AccessFs::{ReadDir}))?;
    for place in spread(root, &closed) {
        rules = open(rules, &place, AccessFs::from_read(VERSION))?;
    }
    for place in fence.writable.iter().filter_map(|place| place.canonicalize().ok()) {
        for place in spread(&place, &closed) {
            rules = open(rules, &place, AccessFs::from_write(VERSION))?;
        }
    }
    let made: Option<OwnedFd> = rules.into();
    made.ok_or_else(|| io::Error::other("the system made no rules"))
}

/// Opens one place. What went away meanwhile needs no rule.
fn open(
    rules: RulesetCreated,
    place: &Path,
    access: BitFlags<AccessFs>,
) -> io::Result<RulesetCreated> {
    let Ok(target) = PathFd::new(place) else { return Ok(rules) };
    // A file takes only the rights that files have.
    let access = if place.is_dir() { access } else { access & AccessFs::from_file(VERSION) };
    rules.add_rule(PathBeneath::new(target, access)).map_err(io::Error::other)
}

/// `root` itself where nothing closed lies in it; else what is in it, without the closed places.
/// Links are left out: what they lead to has a place of its own.
fn spread(root: &Path, closed: &[PathBuf]) -> Vec<PathBuf> {
    if closed.iter().any(|place| root.starts_with(place)) {
        return Vec::new();
    }
    if !closed.iter().any(|place| place.starts_with(root)) {
        return vec![root.to_path_buf()];
    }
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()))
        .flat_map(|entry| spread(&entry.path(), closed))
        .collect()
}
