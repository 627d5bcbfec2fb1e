//! Levels of thinking as services call them: from the kernel's five to a number of tokens or a
//! word of the service. The table is the catalogue's; where a value goes in a request is the
//! dialect's matter.

use crate::config::schema::Dose;
use crate::kernel::ports::Effort;

use super::catalog;
use super::connection::Connection;

/// What the model of that connection takes for each level, lowest first; empty when nothing is
/// known of it, and then nothing about thinking is sent.
pub fn doses(connection: &Connection) -> Vec<Dose> {
    match &connection.overrides.thinking {
        Some(doses) => doses.clone(),
        None => catalog::thinking(&connection.model_ref()),
    }
}

/// What this level is for the model of that connection.
pub fn dose(connection: &Connection, effort: Option<Effort>) -> Option<Dose> {
    pick(&doses(connection), effort?)
}

/// The value of a level in such a list; a short list ends in its highest.
pub fn pick(doses: &[Dose], effort: Effort) -> Option<Dose> {
    let at = Effort::ALL.iter().position(|level| *level == effort)?;
    doses.get(at).or(doses.last()).cloned()
}

/// Whether that value turns thinking off.
pub fn is_off(dose: &Dose) -> bool {
    match dose {
        Dose::Tokens(tokens) => *tokens == 0,
        Dose::Word(word) => word == "off",
    }
}
