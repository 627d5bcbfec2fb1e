//! From the scopes of a grammar to our roles, so that every theme colours every language.

use syntect::parsing::{Scope, ScopeStack};

use super::role::Role;

/// Scope prefixes and what they mean; the first match of the innermost scope counts.
const TABLE: &[(&str, Role)] = &[
    ("comment", Role::Comment),
    ("punctuation.definition.comment", Role::Comment),
    ("punctuation.definition.string", Role::Literal),
    ("string", Role::Literal),
    ("constant.character", Role::Literal),
    ("constant.numeric", Role::Number),
    ("constant.language", Role::Number),
    ("constant", Role::Number),
    ("keyword.operator", Role::Punctuation),
    ("keyword", Role::Keyword),
    ("storage.type.function", Role::Keyword),
    ("storage.modifier", Role::Keyword),
    ("storage", Role::Keyword),
    ("entity.name.function", Role::Function),
    ("support.function", Role::Function),
    ("variable.function", Role::Function),
    ("support.macro", Role::Attribute),
    ("entity.name.macro", Role::Attribute),
    ("entity.name.type", Role::Type),
    ("entity.name.class", Role::Type),
    ("entity.name.struct", Role::Type),
    ("entity.name.enum", Role::Type),
    ("entity.name.namespace", Role::Type),
    ("entity.other.inherited-class", Role::Type),
    ("support.type", Role::Type),
    ("support.class", Role::Type),
    ("entity.name.tag", Role::Keyword),
    ("entity.other.attribute-name", Role::Attribute),
    ("meta.annotation", Role::Attribute),
    ("variable.annotation", Role::Attribute),
    ("meta.mapping.key", Role::Variable),
    ("variable.parameter", Role::Variable),
    ("variable.language", Role::Keyword),
    ("markup.inserted", Role::Added),
    ("markup.deleted", Role::Removed),
    ("markup.heading", Role::Heading),
    ("punctuation", Role::Punctuation),
];

/// The table with its scopes looked up once.
#[derive(Clone, Debug)]
pub struct Scopes {
    rows: Vec<(Scope, Role)>,
}

impl Default for Scopes {
    fn default() -> Self {
        let rows = TABLE.iter().filter_map(|(name, role)| Some((Scope::new(name).ok()?, *role)));
        Self { rows: rows.collect() }
    }
}

impl Scopes {
    /// What text under that stack means.
    pub fn role(&self, stack: &ScopeStack) -> Role {
        for scope in stack.scopes.iter().rev() {
            let hit = self.rows.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope));
            if let Some((_, role)) = hit {
                return *role;
            }
        }
        Role::CodeText
    }
}
