//! One decision: every access of a call becomes a step with its effect, the strictest step wins.

use std::path::Path;

use super::audit::Entry;
use super::below::Below;
use super::mode::{Effect, Row, effect};
use super::paths::Place;
use super::rules::{self, Rule};
use super::sensitive::Use;
use super::shell::sweep::Sweep;
use super::shell::{self, Class, Danger, Judgement};
use super::{PermissionGate, Remembered};
use crate::kernel::command::Mode;
use crate::kernel::event::Approval;
use crate::kernel::ports::{Access, Capability, Gate as _, GateRequest, Verdict};

/// Parts shown in an approval.
const MAX_PARTS: usize = 20;

/// The judgement of one access.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) effect: Effect,
    /// Why, one line that continues "this call …".
    pub(super) reason: String,
    parts: Vec<String>,
    /// What "always" would save.
    pub(super) rule: Option<String>,
    danger: bool,
    /// What decided, for the audit log.
    pub(super) by: String,
}

impl Step {
    pub(super) fn new(
        effect: Effect,
        part: String,
        reason: impl Into<String>,
        by: impl Into<String>,
    ) -> Self {
        Self {
            effect,
            reason: reason.into(),
            parts: vec![part],
            rule: None,
            danger: false,
            by: by.into(),
        }
    }

    fn denied_by(rule: &Rule, part: String) -> Self {
        let reason = format!("the deny rule `{}` forbids it", rule.text());
        Self::new(Effect::Deny, part, reason, format!("deny rule {}", rule.text()))
    }
}

impl PermissionGate {
    pub(super) fn decide(&self, request: GateRequest<'_>) -> Verdict {
        let mode = self.mode();
        if let Some(verdict) = self.shown_plan(request) {
            self.audit.write(Entry {
                tool: &request.call.name,
                verdict: if matches!(verdict, Verdict::Ask(_)) { "ask" } else { "deny" },
                by: "plan mode",
                mode: mode.name(),
                what: "the plan",
            });
            return verdict;
        }
        let steps = self.steps(request, mode);
        let worst = steps.iter().map(|step| step.effect).max().unwrap_or(Effect::Ask);
        let by: Vec<&str> =
            steps.iter().filter(|s| s.effect == worst).map(|s| s.by.as_str()).collect();
        let what: Vec<&str> = steps.iter().flat_map(|s| &s.parts).map(String::as_str).collect();
        self.audit.write(Entry {
            tool: &request.call.name,
            verdict: match worst {
                Effect::Allow => "allow",
                Effect::Ask => "ask",
                Effect::Deny => "deny",
            },
            by: &by.join("; "),
            mode: mode.name(),
            what: &what.join("; "),
        });
        match worst {
            Effect::Allow => Verdict::Allow,
            Effect::Deny => Verdict::Deny { reason: denial(&steps) },
            Effect::Ask => Verdict::Ask(approval(request, &steps)),
        }
    }

    fn steps(&self, request: GateRequest<'_>, mode: Mode) -> Vec<Step> {
        let name = &request.call.name;
        if let Some(rule) = self.deny.iter().find(|rule| rule.covers_tool(name)) {
            return vec![Step::denied_by(rule, name.clone())];
        }
        if let Some(step) = self.about_plan(request) {
            return vec![step];
        }
        let asks = self.ask.iter().find(|rule| rule.covers_tool(name));
        if request.access.is_empty() {
            let step = self.without_access(name, request.traits.capability, mode);
            return vec![asked_by(asks, step)];
        }
        let memory = self.memory();
        let step = |access| {
            let step = asked_by(asks, self.step(access, mode, &memory));
            self.in_plan(access, step)
        };
        request.access.iter().map(step).collect()
    }

    /// A call that names nothing it touches.
    fn without_access(&self, name: &str, capability: Capability, mode: Mode) -> Step {
        let row = match capability {
            Capability::Internal | Capability::Delegate => Row::Internal,
            Capability::Read => Row::ReadWorkspace,
            Capability::Network => Row::Network,
            Capability::Write | Capability::Shell => Row::OtherShell,
        };
        let memory = self.memory();
        if let Some(rule) = memory.all().chain(&self.allow).find(|rule| rule.covers_tool(name)) {
            return Step::new(Effect::Allow, name.to_owned(), "", allowed_by(rule));
        }
        let mut step =
            self.by_mode(row, mode, name.to_owned(), "does something that can't be judged");
        step.rule = (row == Row::Network).then(|| name.to_owned());
        step
    }

    fn by_mode(&self, row: Row, mode: Mode, part: String, reason: impl Into<String>) -> Step {
        let mut result = effect(row, mode);
        let looks = matches!(row, Row::ReadWorkspace | Row::Internal | Row::ReadOnlyShell);
        if self.careful && !looks {
            result = result.max(Effect::Ask);
        }
        Step::new(result, part, reason, format!("mode {}", mode.name()))
    }

    fn step(&self, access: &Access, mode: Mode, memory: &Remembered) -> Step {
        match access {
            Access::Read(path) => {
                let real = rules::resolved(path);
                let covers = |rule: &&Rule| rule.covers_read(&real) || rule.covers_read(path);
                asked_by(self.ask.iter().find(covers), self.read(path, mode))
            }
            Access::Write(path) => {
                let real = rules::resolved(path);
                let covers = |rule: &&Rule| rule.covers_edit(&real) || rule.covers_edit(path);
                asked_by(self.ask.iter().find(covers), self.write(path, mode, memory))
            }
            Access::Network(address) => {
                let rule = self.ask.iter().find(|rule| rule.covers_network(address));
                asked_by(rule, self.network(address, mode, memory))
            }
            Access::Shell { command, workdir } => self.shell(command, workdir, mode, memory),
            // What was remembered or allowed was so with the sandbox in mind.
            Access::Unconfined => {
                let part = "outside of the sandbox".to_owned();
                self.by_mode(Row::OtherShell, mode, part, "runs outside of the sandbox")
            }
        }
    }

    fn read(&self, path: &Path, mode: Mode) -> Step {
        let real = rules::resolved(path);
        let shown = self.places.shown(path);
        let denied = |rule: &&Rule| rule.covers_read(&real) || rule.covers_read(path);
        if let Some(rule) = self.deny.iter().find(denied) {
            return Step::denied_by(rule, shown);
        }
        match self.places.place(path, Use::Read) {
            Place::Workspace => self.by_mode(Row::ReadWorkspace, mode, shown, "reads a file"),
            Place::InternalRead | Place::InternalWrite => {
                Step::new(Effect::Allow, shown, "", "internal")
            }
            Place::Sensitive(what) => {
                let reason = format!("reads {what}: {shown}");
                self.by_mode(Row::Sensitive, mode, shown, reason)
            }
            Place::Outside => {
                if let Some(rule) = self.allow.iter().find(|rule| rule.covers_read(&real)) {
                    return Step::new(Effect::Allow, shown, "", allowed_by(rule));
                }
                let reason = format!("reads outside the workspace: {shown}");
                self.by_mode(Row::Outside, mode, shown, reason)
            }
        }
    }

    fn write(&self, path: &Path, mode: Mode, memory: &Remembered) -> Step {
        let real = rules::resolved(path);
        let shown = self.places.shown(path);
        let place = self.places.place(path, Use::Write);
        if place == Place::InternalRead {
            let reason = format!("{shown} belongs to codebot and must not be changed");
            return Step::new(Effect::Deny, shown, reason, "internal");
        }
        let denied = |rule: &&Rule| rule.covers_edit(&real) || rule.covers_edit(path);
        if let Some(rule) = self.deny.iter().find(denied) {
            return Step::denied_by(rule, shown);
        }
        let covers = |rule: &&Rule| rule.covers_edit(&real);
        match place {
            Place::InternalRead | Place::InternalWrite => {
                Step::new(Effect::Allow, shown, "", "internal")
            }
            Place::Sensitive(what) => {
                let reason = format!("changes {what}: {shown}");
                self.by_mode(Row::Sensitive, mode, shown, reason)
            }
            Place::Outside => {
                if let Some(rule) = self.allow.iter().find(covers) {
                    return Step::new(Effect::Allow, shown, "", allowed_by(rule));
                }
                let reason = format!("changes a file outside the workspace: {shown}");
                self.by_mode(Row::Outside, mode, shown, reason)
            }
            Place::Workspace => {
                if let Some(rule) = memory.all().chain(&self.allow).find(covers) {
                    return Step::new(Effect::Allow, shown, "", allowed_by(rule));
                }
                let reason = format!("changes a file in the workspace: {shown}");
                let mut step = self.by_mode(Row::WriteWorkspace, mode, shown, reason);
                step.rule = rules::text_of_edit(&real, self.anchor());
                step
            }
        }
    }

    fn network(&self, address: &str, mode: Mode, memory: &Remembered) -> Step {
        let host = rules::host_of(address);
        let covers = |rule: &&Rule| rule.covers_network(address);
        if let Some(rule) = self.deny.iter().find(covers) {
            return Step::denied_by(rule, address.to_owned());
        }
        if let Some(rule) = memory.all().chain(&self.allow).find(covers) {
            return Step::new(Effect::Allow, address.to_owned(), "", allowed_by(rule));
        }
        let reason = format!("talks to another machine: {host}");
        let mut step = self.by_mode(Row::Network, mode, address.to_owned(), reason);
        let plain = |c: char| c.is_ascii_alphanumeric() || "-.:".contains(c);
        let named = !host.is_empty() && host.chars().all(plain);
        step.rule = named.then(|| format!("WebFetch({host})"));
        step
    }

    fn shell(&self, command: &str, workdir: &Path, mode: Mode, memory: &Remembered) -> Step {
        let line = self.line(command, workdir);
        let mut step = match spoken_of(&self.deny, &line) {
            Some(rule) => Step::denied_by(rule, String::new()),
            None => {
                let step = self.judged_line(command, &line, mode, memory);
                asked_by(spoken_of(&self.ask, &line), step)
            }
        };
        step.parts = self.explained(&line, memory);
        step
    }

    /// What is known of a command line.
    pub(super) fn line(&self, command: &str, workdir: &Path) -> Judgement {
        let setting = shell::Setting { places: &self.places, suspect_path: &self.suspect_path };
        shell::judge(command, workdir, &setting)
    }

    fn judged_line(
        &self,
        command: &str,
        line: &Judgement,
        mode: Mode,
        memory: &Remembered,
    ) -> Step {
        let text = command.to_owned();
        let mut all: Vec<Step> = Vec::new();
        let (danger, why) = line.danger;
        let dangers = [
            (Danger::Dangerous, Row::DangerousShell),
            (Danger::Catastrophic, Row::CatastrophicShell),
        ];
        if let Some((_, row)) = dangers.iter().find(|(rank, _)| *rank == danger) {
            all.push(self.by_mode(*row, mode, text.clone(), format!("{why}: be careful")));
        }
        if let Some((shown, what)) = line.sensitive.first() {
            let reason = format!("touches {what}: {shown}");
            all.push(self.by_mode(Row::Sensitive, mode, text.clone(), reason));
        }
        if let Some(path) = line.outside.first() {
            let reason = format!("reaches outside the workspace: {}", path.display());
            all.push(self.by_mode(Row::Outside, mode, text.clone(), reason));
        }
        all.extend(line.sweeps.iter().find_map(|sweep| self.swept(sweep, mode, &text)));
        if let Some(reason) = self.forbidden_edit(line) {
            all.push(Step::new(Effect::Ask, text.clone(), reason, "deny rule"));
        }
        let special = !all.is_empty();
        all.push(self.ordinary_line(text, line, mode, memory, special));
        let worst = all.iter().map(|step| step.effect).max().unwrap_or(Effect::Ask);
        let found = all.into_iter().find(|step| step.effect == worst);
        let mut step = found.unwrap_or_else(|| {
            Step::new(Effect::Ask, command.to_owned(), "could not be judged", "none")
        });
        step.danger = danger != Danger::None;
        if special {
            step.rule = None;
        }
        step
    }

    /// A command that reads a whole folder: what it would come across there. It is then no longer known
    /// to only look at what everybody may see.
    fn swept(&self, sweep: &Sweep, mode: Mode, text: &str) -> Option<Step> {
        let (path, what) = match self.below(sweep) {
            Below::Free => return None,
            Below::Denied(path) => {
                let reason = format!("a deny rule closes {}", self.places.shown(&path));
                return Some(Step::new(Effect::Deny, text.to_owned(), reason, "deny rule"));
            }
            Below::Private(path, what) => (path, what),
            Below::TooMany => (sweep.folder.clone(), "too many files to look for credentials"),
        };
        let reason = format!(
            "reads whole folders, among them {what}: {}; the grep tool passes over such files",
            self.places.shown(&path)
        );
        Some(self.by_mode(Row::OtherShell, mode, text.to_owned(), reason))
    }

    /// A command of unknown effect that names a file which must not be changed.
    fn forbidden_edit(&self, line: &Judgement) -> Option<String> {
        let named = line.named.iter().map(|path| rules::resolved(path));
        let rule =
            named.into_iter().find_map(|real| self.deny.iter().find(|r| r.covers_edit(&real)))?;
        Some(format!("names a file that the deny rule `{}` protects", rule.text()))
    }

    fn ordinary_line(
        &self,
        text: String,
        line: &Judgement,
        mode: Mode,
        memory: &Remembered,
        special: bool,
    ) -> Step {
        match &line.class {
            Class::ReadOnly => self.by_mode(Row::ReadOnlyShell, mode, text, "only reads"),
            Class::Write(paths) => {
                let shown: Vec<String> = paths.iter().map(|p| self.places.shown(p)).collect();
                let reason = format!("writes to a file: {}", shown.join(", "));
                self.by_mode(Row::WriteWorkspace, mode, text, reason)
            }
            Class::Other | Class::NotUnderstood => {
                let known: Vec<&Rule> = memory.all().chain(&self.allow).collect();
                let allowed = rules::allow_line(&known, line).filter(|_| !special);
                let mut step = match allowed {
                    Some(rule) if mode == Mode::Strict => {
                        Step::new(Effect::Ask, text, line.reason.clone(), allowed_by(rule))
                    }
                    Some(rule) => Step::new(Effect::Allow, text, "", allowed_by(rule)),
                    None if self.is_held(line, mode) && !special => {
                        Step::new(Effect::Allow, text, "", "sandbox")
                    }
                    None => self.by_mode(Row::OtherShell, mode, text, line.reason.clone()),
                };
                step.rule = line.keys.as_deref().map(rules::text_of_keys);
                step
            }
        }
    }
}

impl PermissionGate {
    /// Whether a command line is known to only look.
    pub fn only_looks(&self, command: &str, workdir: &Path) -> bool {
        let setting = shell::Setting { places: &self.places, suspect_path: &self.suspect_path };
        shell::judge(command, workdir, &setting).class == Class::ReadOnly
    }

    /// Whether the sandbox stands in for a question: the line was understood, the user wants it so,
    /// and writes in the workspace run unasked anyway.
    fn is_held(&self, line: &Judgement, mode: Mode) -> bool {
        let understood = line.class == Class::Other && line.simple;
        self.held && mode == Mode::AcceptEdits && !self.careful && understood
    }
}

/// The rule that closes a line: by a command in it, or by a file that it touches.
fn spoken_of<'r>(rules: &'r [Rule], line: &Judgement) -> Option<&'r Rule> {
    rules.iter().find(|rule| {
        line.views.iter().any(|command| rule.forbids(command))
            || line.touches.iter().filter(|(_, usage)| *usage != Use::Look).any(|(path, usage)| {
                let real = rules::resolved(path);
                // What a command of unknown effect names is asked for elsewhere, not refused.
                let certain = !line.named.contains(path);
                let spoken =
                    |covers: fn(&Rule, &Path) -> bool| covers(rule, &real) || covers(rule, path);
                let edit = *usage == Use::Write && certain && spoken(Rule::covers_edit);
                spoken(Rule::covers_read) || edit
            })
    })
}

/// A question because a rule wants one each time: nothing may remember its answer.
fn asked_by(rule: Option<&Rule>, mut step: Step) -> Step {
    let Some(rule) = rule else { return step };
    step.rule = None;
    if step.effect == Effect::Allow {
        step.effect = Effect::Ask;
        step.reason = format!("the ask rule `{}` wants a question each time", rule.text());
        step.by = format!("ask rule {}", rule.text());
    }
    step
}

fn allowed_by(rule: &Rule) -> String {
    format!("allow rule {}", rule.text())
}

/// What the model is told after a refusal.
fn denial(steps: &[Step]) -> String {
    let step = steps.iter().find(|step| step.effect == Effect::Deny);
    let (reason, by) = step.map_or(("not allowed", "the rules"), |s| (&s.reason, &s.by));
    let cause = match by.strip_prefix("mode ") {
        Some(mode) => format!("this {reason}, which {mode} mode refuses"),
        None => reason.to_owned(),
    };
    format!(
        "{cause}. Do not try to reach the same result in another way; go on without it or ask the \
         user"
    )
}

fn approval(request: GateRequest<'_>, steps: &[Step]) -> Approval {
    let danger = steps.iter().any(|step| step.danger);
    let asking: Vec<&Step> = steps.iter().filter(|step| step.effect == Effect::Ask).collect();
    let reason = asking.first().map(|step| step.reason.clone()).unwrap_or_default();
    let list: Option<Vec<&str>> = asking.iter().map(|step| step.rule.as_deref()).collect();
    let rule = list.filter(|_| !danger).map(|mut rules| {
        rules.dedup();
        rules.join(", ")
    });
    let mut parts: Vec<String> = steps.iter().flat_map(|step| &step.parts).cloned().collect();
    if parts.len() > MAX_PARTS {
        let more = parts.len() - MAX_PARTS;
        parts.truncate(MAX_PARTS);
        parts.push(format!("… {more} more"));
    }
    Approval {
        call: request.call.clone(),
        preview: request.preview.cloned(),
        reason,
        parts,
        rule: rule.filter(|text| !text.is_empty()),
        danger,
    }
}
