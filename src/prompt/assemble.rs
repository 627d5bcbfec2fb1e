//! Puts the system prompt together: a pure function of its input, so the same input gives the same
//! bytes and the services' caches hold. The stable half comes first and is marked for the cache;
//! the facts of the session follow in a block of their own.

use std::fmt::Write as _;

use super::instructions::Instruction;
use super::recall::{self, Known};
use crate::kernel::message::Timestamp;
use crate::kernel::ports::SystemBlock;

/// Tags that carry meaning in prompts and messages; text from outside must not open or close them.
const TAGS: [&str; 18] = [
    "agent",
    "soul",
    "identity",
    "agent_protocols",
    "tools_reference",
    "available_skills",
    "instructions",
    "session",
    "scheduled_tasks",
    "memory_context",
    "user_profile",
    "behavioral_guidelines",
    "relevant_skills",
    "recalled_notes",
    "turn_context",
    "conversation-summary",
    "background-notifications",
    "system-reminder",
];

/// What the prompt is made from.
#[derive(Clone, Debug, Default)]
pub struct PromptInput {
    /// Instruction files, general to specific.
    pub instructions: Vec<Instruction>,
    /// Facts of the session.
    pub session: SessionFacts,
    /// What is known when the session begins.
    pub known: Known,
    /// Tasks that are scheduled, one line each.
    pub scheduled: Vec<String>,
    /// The user's own text in place of ours.
    pub replace: Option<String>,
    /// The user's own text after ours.
    pub append: Option<String>,
}

/// What holds for one session; fixed while it lasts.
#[derive(Clone, Debug, Default)]
pub struct SessionFacts {
    /// The workspace, absolute.
    pub workspace: String,
    /// Further folders that count as workspace.
    pub roots: Vec<String>,
    /// The day it began, for example `2026-03-09`.
    pub date: String,
    /// Operating system and architecture, for example `linux x86_64`.
    pub platform: String,
    /// `provider/model`.
    pub model: String,
    /// The git branch at the start, when known.
    pub branch: Option<String>,
}

/// The local calendar day of a point in time, for [`SessionFacts::date`]. A day and no more, so
/// that sessions of one day share their prompt.
pub fn day_of(at: Timestamp) -> String {
    let time = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
    jiff::tz::TimeZone::system().to_datetime(time).strftime("%Y-%m-%d").to_string()
}

/// The part of the prompt a section is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SectionKind {
    /// What comes before everything else.
    Soul,
    /// Who it is.
    Identity,
    /// How it works.
    Protocols,
    /// How tools are used.
    Tools,
    /// Names of skills.
    Skills,
    /// The user's own words in place of ours or after them.
    Own,
    /// One instruction file.
    Instructions,
    /// Facts of the session; not in the stable half, and neither is what follows.
    Session,
    /// Tasks that are scheduled.
    Scheduled,
    /// Facts and notes.
    Memory,
    /// Who the user is.
    Profile,
    /// Rules of work.
    Guidelines,
    /// Skills that the user's words call for.
    Relevant,
}

impl SectionKind {
    /// Whether it is the same in every session of a project for as long as its files are.
    fn is_stable(self) -> bool {
        matches!(
            self,
            Self::Soul
                | Self::Identity
                | Self::Protocols
                | Self::Tools
                | Self::Skills
                | Self::Own
                | Self::Instructions
        )
    }
}

/// A part of the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Which part.
    pub kind: SectionKind,
    /// Its text, tags included.
    pub text: String,
}

/// The sections in order; empty ones are left out.
pub fn sections(input: &PromptInput) -> Vec<Section> {
    let fixed = [
        (SectionKind::Soul, "soul", include_str!("../../assets/prompts/soul.md")),
        (SectionKind::Identity, "identity", include_str!("../../assets/prompts/identity.md")),
        (
            SectionKind::Protocols,
            "agent_protocols",
            include_str!("../../assets/prompts/protocols.md"),
        ),
        (SectionKind::Tools, "tools_reference", include_str!("../../assets/prompts/tools.md")),
    ];
    let own = |text: &Option<String>| {
        let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty())?;
        Some(Section { kind: SectionKind::Own, text: text.to_owned() })
    };
    let mut all: Vec<Section> = match own(&input.replace) {
        Some(replaced) => vec![replaced],
        None => fixed
            .into_iter()
            .map(|(kind, tag, text)| Section { kind, text: tagged(tag, text.trim()) })
            .collect(),
    };
    all.extend(input.known.list_of_skills());
    all.extend(own(&input.append));
    let files = input.instructions.iter().filter(|file| !file.text.trim().is_empty());
    all.extend(
        files.map(|file| Section { kind: SectionKind::Instructions, text: instruction(file) }),
    );
    all.push(Section { kind: SectionKind::Session, text: session(&input.session) });
    all.extend(recall::scheduled(&input.scheduled));
    all.extend(input.known.sections());
    all
}

/// The blocks for the service: the stable half, cached, then the session's half.
pub fn system_blocks(input: &PromptInput) -> Vec<SystemBlock> {
    blocks(sections(input))
}

/// The blocks for a quick look: who it is, where, and the little that is always of use.
pub fn fast_blocks(input: &PromptInput) -> Vec<SystemBlock> {
    let brief = PromptInput {
        known: input.known.brief(),
        scheduled: Vec::new(),
        instructions: Vec::new(),
        ..input.clone()
    };
    let left_out = [SectionKind::Protocols, SectionKind::Tools];
    let mut all = sections(&brief);
    all.retain(|section| !left_out.contains(&section.kind));
    blocks(all)
}

fn blocks(sections: Vec<Section>) -> Vec<SystemBlock> {
    let (stable, session): (Vec<_>, Vec<_>) =
        sections.into_iter().partition(|section| section.kind.is_stable());
    vec![
        SystemBlock { text: joined(&stable), cache: true },
        SystemBlock { text: joined(&session), cache: false },
    ]
}

fn joined(sections: &[Section]) -> String {
    sections.iter().map(|section| section.text.as_str()).collect::<Vec<_>>().join("\n\n")
}

/// A text in a tag of ours.
pub fn tagged(tag: &str, text: &str) -> String {
    format!("<{tag}>\n{text}\n</{tag}>")
}

fn instruction(file: &Instruction) -> String {
    let source = one_line(&file.path).replace('"', "'");
    format!(
        "<instructions source=\"{source}\">\n{}\n</instructions>",
        escape_tags(file.text.trim())
    )
}

fn session(facts: &SessionFacts) -> String {
    let mut text = format!("Current time: {}\n", one_line(&facts.date));
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            // Writing to a string can't fail.
            let _infallible = writeln!(text, "{name}: {}", one_line(value));
        }
    };
    line("Workspace", &facts.workspace);
    for root in &facts.roots {
        line("Further folder", root);
    }
    line("Platform", &facts.platform);
    line("Model", &facts.model);
    line("Git branch", facts.branch.as_deref().unwrap_or_default());
    tagged("session", text.trim_end())
}

/// A path or branch name is one line, whatever characters it has.
fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    escape_tags(&plain)
}

/// Makes our own tags in text from outside harmless; any other `<` stays as it is, since
/// instruction files quote code.
pub fn escape_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        out.push_str(if opens_tag(rest) { "&lt;" } else { "<" });
    }
    out.push_str(rest);
    out
}

/// Whether the text behind a `<` is one of our tags, opening or closing, in any case.
fn opens_tag(rest: &str) -> bool {
    let name = rest.trim_start().trim_start_matches('/').trim_start();
    TAGS.iter().any(|tag| {
        name.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag))
            && !name[tag.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-')
    })
}
