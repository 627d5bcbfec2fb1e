//! Keeps rarely used tools out of requests until the model looks for them. Wraps any toolbox: what
//! comes from outside is deferred when there is much of it, and `find_tools` finds it again. With
//! nothing deferred the wrapper is not there.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::json;

use crate::kernel::command::HunkChoice;
use crate::kernel::error::ToolError;
use crate::kernel::event::Preview;
use crate::kernel::found::{self, FIND_TOOLS};
use crate::kernel::message::{CallId, ToolCall};
use crate::kernel::ports::{
    Access, CallContext, Capability, Interrupt, ToolOutcome, ToolSpec, ToolTraits, Toolbox,
};

/// More tools from outside than this are deferred.
pub const MANY_TOOLS: usize = 20;
/// Most tools of one answer.
const MOST: usize = 8;
/// Shortest word that counts, in bytes: one Han character has three.
const SHORTEST: usize = 3;
/// How tools from outside are named.
const OUTSIDE: &str = "mcp__";

const DESCRIPTION: &str = include_str!("../../assets/tools/find_tools.md");

/// A toolbox some of whose tools have to be found.
#[derive(Debug)]
pub struct Deferring {
    inner: Arc<dyn Toolbox>,
    most: usize,
}

impl Deferring {
    /// Defers the tools from outside when there are more than `most`.
    pub fn new(inner: Arc<dyn Toolbox>, most: usize) -> Self {
        Self { inner, most }
    }

    fn defers(&self, specs: &[ToolSpec]) -> bool {
        specs.iter().any(|spec| spec.deferred)
            || specs.iter().filter(|spec| is_outside(spec)).count() > self.most
    }

    fn is_mine(&self, name: &str) -> bool {
        name == FIND_TOOLS && self.defers(&self.inner.specs())
    }

    /// The deferred tools that fit the words best.
    fn find(&self, query: &str) -> String {
        let specs = self.specs();
        let query = query.to_lowercase();
        // Shorter words stand in nearly every name.
        let words: Vec<&str> = query.split_whitespace().filter(|w| w.len() >= SHORTEST).collect();
        let mut hits: Vec<(usize, &ToolSpec)> = specs
            .iter()
            .filter(|spec| spec.deferred)
            .map(|spec| (score(spec, &words), spec))
            .filter(|(score, _)| *score > 0)
            .collect();
        // Stable: equal ones keep the order of the list.
        hits.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        if hits.is_empty() {
            let names: Vec<&str> =
                specs.iter().filter(|spec| spec.deferred).map(|spec| spec.name.as_str()).collect();
            return format!("Nothing fits. There are: {}", names.join(", "));
        }
        let lines: Vec<String> = hits
            .iter()
            .take(MOST)
            .map(|(_, spec)| found::line(&spec.name, &spec.description))
            .collect();
        format!("These tools can be called from now on:\n{}", lines.join("\n"))
    }
}

fn is_outside(spec: &ToolSpec) -> bool {
    spec.name.starts_with(OUTSIDE)
}

/// How well a tool fits: its name weighs more than its description.
fn score(spec: &ToolSpec, words: &[&str]) -> usize {
    let (name, text) = (spec.name.to_lowercase(), spec.description.to_lowercase());
    let one = |word: &&str| {
        10 * usize::from(name == **word)
            + 3 * usize::from(name.contains(*word))
            + usize::from(text.contains(*word))
    };
    words.iter().map(one).sum()
}

impl Toolbox for Deferring {
    fn specs(&self) -> Arc<[ToolSpec]> {
        let specs = self.inner.specs();
        if !self.defers(&specs) {
            return specs;
        }
        let many = specs.iter().filter(|spec| is_outside(spec)).count() > self.most;
        let deferred = |spec: &ToolSpec| spec.deferred || many && is_outside(spec);
        let all = specs.iter().map(|spec| ToolSpec { deferred: deferred(spec), ..spec.clone() });
        let finder = ToolSpec {
            name: FIND_TOOLS.to_owned(),
            description: DESCRIPTION.trim_end().to_owned(),
            schema: json!({
                "type": "object",
                "properties": {"query": {"type": "string", "description": "a few words"}},
                "required": ["query"],
                "additionalProperties": false,
            }),
            deferred: false,
        };
        all.chain([finder]).collect()
    }

    fn traits(&self, name: &str) -> Option<ToolTraits> {
        if self.is_mine(name) {
            return Some(ToolTraits::new(Capability::Internal, true, Interrupt::Finish));
        }
        self.inner.traits(name)
    }

    fn validate(&self, call: &ToolCall) -> Result<(), String> {
        if !self.is_mine(&call.name) {
            return self.inner.validate(call);
        }
        match call.args.get("query").and_then(serde_json::Value::as_str) {
            Some(query) if !query.trim().is_empty() => Ok(()),
            _ => Err("query is missing: say in a few words what the tool should do".to_owned()),
        }
    }

    fn access(&self, call: &ToolCall) -> Vec<Access> {
        if self.is_mine(&call.name) { Vec::new() } else { self.inner.access(call) }
    }

    fn preview<'a>(
        &'a self,
        call: &'a ToolCall,
    ) -> BoxFuture<'a, Result<Option<Preview>, ToolError>> {
        if self.is_mine(&call.name) {
            return Box::pin(std::future::ready(Ok(None)));
        }
        self.inner.preview(call)
    }

    fn cache_key(&self, call: &ToolCall) -> Option<String> {
        if self.is_mine(&call.name) { None } else { self.inner.cache_key(call) }
    }

    fn fingerprint<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Option<String>> {
        self.inner.fingerprint(call)
    }

    fn choose(&self, id: &CallId, hunks: Vec<HunkChoice>) {
        self.inner.choose(id, hunks);
    }

    fn run(&self, call: ToolCall, context: CallContext) -> BoxFuture<'_, ToolOutcome> {
        if !self.is_mine(&call.name) {
            return self.inner.run(call, context);
        }
        let query = call.args.get("query").and_then(serde_json::Value::as_str).unwrap_or_default();
        Box::pin(std::future::ready(ToolOutcome::ok(self.find(query))))
    }
}
