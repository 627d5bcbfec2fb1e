//! The rules in force with the place each was written in, for warnings and for the list of rules.

use super::PermissionGate;
use super::rules::{Anchor, Rule, Side};

/// Where a rule of the settings was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The list it stands in.
    pub side: Side,
    /// The rule as written.
    pub text: String,
    /// File and line, or what else set it.
    pub place: String,
}

/// A rule in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// What it does.
    pub side: Side,
    /// The rule.
    pub text: String,
    /// File and line; `None` for one that was remembered.
    pub place: Option<String>,
}

impl PermissionGate {
    /// All rules in the order in which they are looked at: deny, ask, remembered, allow.
    pub fn rules(&self) -> Vec<Known> {
        let written = |side: Side, rules: &[Rule]| -> Vec<Known> {
            let one = |rule: &Rule| Known {
                side,
                text: rule.text().to_owned(),
                place: Some(place(&self.sources, side, rule.text()).unwrap_or("built in").into()),
            };
            rules.iter().map(one).collect()
        };
        let mut all = written(Side::Deny, &self.deny);
        all.extend(written(Side::Ask, &self.ask));
        let remembered = self.remembered().into_iter();
        all.extend(remembered.map(|text| Known { side: Side::Allow, text, place: None }));
        all.extend(written(Side::Allow, &self.memory().trusted));
        all.extend(written(Side::Allow, &self.allow));
        all
    }
}

/// Trust in a rule that a project brings.
impl PermissionGate {
    /// Lets a rule hold for this session.
    ///
    /// # Errors
    /// What is wrong with the rule.
    pub fn trust(&self, text: &str) -> Result<(), String> {
        let rule = Rule::parse(text, Side::Allow, self.anchor())?;
        let mut memory = self.memory();
        memory.trusted.retain(|known| known.text() != rule.text());
        memory.trusted.push(rule);
        Ok(())
    }

    /// Takes such a rule back.
    pub fn distrust(&self, text: &str) {
        self.memory().trusted.retain(|known| known.text() != text.trim());
    }
}

fn place<'s>(sources: &'s [Source], side: Side, text: &str) -> Option<&'s str> {
    let same = |source: &&Source| source.side == side && source.text.trim() == text.trim();
    sources.iter().find(same).map(|source| source.place.as_str())
}

/// Reads rules; those that can't be read become warnings that name their place.
pub(super) fn read(
    texts: &[String],
    side: Side,
    anchor: Anchor<'_>,
    sources: &[Source],
    warnings: &mut Vec<String>,
) -> Vec<Rule> {
    let mut out = Vec::new();
    for text in texts {
        match Rule::parse(text, side, anchor) {
            Ok(rule) => out.push(rule),
            Err(why) => warnings.push(match place(sources, side, text) {
                Some(place) => format!("{place}: {why}"),
                None => why,
            }),
        }
    }
    out
}
