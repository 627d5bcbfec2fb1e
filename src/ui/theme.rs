//! Stand-in for the theme room; replaced when the text branch is merged.
use ratatui::style::{Color, Modifier, Style};

use super::text::role::Role;

/// Styles of the roles.
#[derive(Clone, Debug, Default)]
pub struct Theme {
    plain: bool,
}

impl Theme {
    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        if self.plain {
            return Style::default();
        }
        match role {
            Role::Dim | Role::Faint => Style::default().add_modifier(Modifier::DIM),
            Role::Title | Role::Accent => Style::default().fg(Color::Cyan),
            Role::Error | Role::Danger | Role::Removed | Role::ModeTrust => {
                Style::default().fg(Color::Red)
            }
            Role::Added | Role::ModeBalanced => Style::default().fg(Color::Green),
            _ => Style::default(),
        }
    }
}
