//! The plan overlay: while it is on, a call may look and may write the plan, whatever the mode, a
//! rule or an earlier answer says. It only ever takes away.

use std::sync::atomic::Ordering;

use super::PermissionGate;
use super::decide::Step;
use super::mode::Effect;
use super::paths::Place;
use super::sensitive::Use;
use super::shell::Class;
use crate::kernel::command::EXIT_PLAN;
use crate::kernel::event::{Approval, Preview};
use crate::kernel::ports::{Access, Capability, GateRequest, Verdict};

const PLANNING: &str = "is no look, and while planning only looking and the plan file are allowed: \
                        work the plan out and show it with exit_plan_mode";

/// Tools of our own that only look, ask or keep notes of the session.
const LISTED: [&str; 8] = [
    "ask_user",
    "todo_write",
    "task_list",
    "task_output",
    "find_tools",
    "skill",
    "memory_read",
    "memory_search",
];

impl PermissionGate {
    /// Whether the overlay is on.
    pub fn is_planning(&self) -> bool {
        self.planning.load(Ordering::Acquire)
    }

    /// Turns the overlay on or off; the next decision sees it.
    pub fn plan(&self, on: bool) {
        self.planning.store(on, Ordering::Release);
    }

    /// What the model is told with every request while the overlay is on.
    pub(super) fn plan_reminder(&self) -> String {
        let file = self.plan_file.as_ref().map_or_else(String::new, |path| {
            format!(" You may keep the plan in {} while you work on it.", path.display())
        });
        format!(
            "Plan mode is on: look, search and ask, change nothing. Calls that change something \
             are refused.{file} When the plan is complete, show it with {EXIT_PLAN}; the user \
             decides about it there."
        )
    }

    /// The question that shows a plan; a refusal when there is no planning to end.
    pub(super) fn shown_plan(&self, request: GateRequest<'_>) -> Option<Verdict> {
        if request.call.name != EXIT_PLAN {
            return None;
        }
        if !self.is_planning() {
            let reason = "plan mode is off: there is nothing to leave; go on with the work";
            return Some(Verdict::Deny { reason: reason.to_owned() });
        }
        let text = request.call.args.get("plan").and_then(|plan| plan.as_str());
        let preview = Preview::Plan { text: text.unwrap_or_default().to_owned() };
        Some(Verdict::Ask(Approval {
            call: request.call.clone(),
            preview: Some(preview),
            reason: "the plan is ready".to_owned(),
            parts: Vec::new(),
            rule: None,
            danger: false,
        }))
    }

    /// What the overlay says of a call that names nothing it touches.
    pub(super) fn about_plan(&self, request: GateRequest<'_>) -> Option<Step> {
        let harmless = match request.traits.capability {
            Capability::Read | Capability::Delegate => true,
            Capability::Internal => LISTED.contains(&request.call.name.as_str()),
            Capability::Write | Capability::Shell | Capability::Network => false,
        };
        let refused = self.is_planning() && request.access.is_empty() && !harmless;
        refused.then(|| Self::unplanned(request.call.name.clone()))
    }

    /// What the overlay leaves of a step.
    pub(super) fn in_plan(&self, access: &Access, step: Step) -> Step {
        if step.effect == Effect::Deny || !self.is_planning() || self.looks(access) {
            return step;
        }
        Self::unplanned(match access {
            Access::Read(path) | Access::Write(path) => self.places.shown(path),
            Access::Shell { command, .. } => command.clone(),
            Access::Network(address) => address.clone(),
            Access::Unconfined => "a command outside the sandbox".to_owned(),
        })
    }

    fn looks(&self, access: &Access) -> bool {
        match access {
            Access::Read(_) => true,
            Access::Write(path) => self.places.place(path, Use::Write) == Place::InternalWrite,
            // Looking something up is a look; the mode has its say.
            Access::Network(_) => true,
            Access::Unconfined => false,
            Access::Shell { command, workdir } => {
                self.line(command, workdir).class == Class::ReadOnly
            }
        }
    }

    fn unplanned(part: String) -> Step {
        Step::new(Effect::Deny, part, PLANNING, "plan mode")
    }
}
