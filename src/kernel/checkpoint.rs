//! How a file changed, as the journal keeps it: what it was and what it became, by the name of a copy
//! of its content. Only words; who makes the copies and puts files back is another room's business.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::message::MessageId;

/// A file at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FileState {
    /// There was none.
    Absent,
    /// A plain file.
    File {
        /// Name of the copy of its content.
        copy: String,
        /// Mode bits.
        mode: u32,
        /// Its size.
        bytes: u64,
    },
    /// A symbolic link.
    Link {
        /// What it said, as it stood.
        #[serde(with = "path_text")]
        target: PathBuf,
    },
    /// Something of which there is no copy.
    Unkept {
        /// Why, in a few words that continue "it …".
        reason: String,
        /// Tells two states of it apart.
        mark: String,
    },
}

/// A file that became another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Where it really is, absolute.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// What it was before.
    pub was: FileState,
    /// What it was after.
    pub now: FileState,
}

/// What a session has been through, as far as files are concerned, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Past {
    /// The user said this.
    Turn(MessageId),
    /// Files became others.
    Changed(Vec<Change>),
}

/// A path as text; one that is no UTF-8 as its bytes.
mod path_text {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Text {
        Plain(String),
        Bytes(Vec<u8>),
    }

    pub(super) fn serialize<S: Serializer>(path: &Path, out: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => out.serialize_str(text),
            None => path.as_os_str().as_bytes().serialize(out),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(match Text::deserialize(from)? {
            Text::Plain(text) => PathBuf::from(text),
            Text::Bytes(bytes) => PathBuf::from(OsStr::from_bytes(&bytes)),
        })
    }
}
