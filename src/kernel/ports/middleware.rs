//! Things that stand around the running of a tool: they see the call, may answer in the tool's
//! place, and see what came of it. [`Wrapped`] is a toolbox with some of them; the first is the
//! outermost. Results used a second time do not pass through them: nothing runs then.

use std::fmt::Debug;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Access, CallContext, ToolOutcome, ToolSpec, ToolTraits, Toolbox};
use crate::kernel::error::ToolError;
use crate::kernel::event::Preview;
use crate::kernel::message::{Block, CallStatus, ToolCall};

/// Stands around the running of tools.
pub trait Middleware: Send + Sync + Debug {
    /// Answers the call: by [`Onward::run`], or in the tool's place. Ends soon after
    /// `context.cancel` fires, as a tool does.
    fn around<'a>(
        &'a self,
        call: ToolCall,
        context: CallContext,
        onward: Onward<'a>,
    ) -> BoxFuture<'a, ToolOutcome>;
}

/// The way on to the tool, through what stands between.
#[derive(Clone, Copy, Debug)]
pub struct Onward<'a> {
    between: &'a [Arc<dyn Middleware>],
    tools: &'a dyn Toolbox,
}

impl<'a> Onward<'a> {
    /// What the call would touch.
    pub fn access(&self, call: &ToolCall) -> Vec<Access> {
        self.tools.access(call)
    }

    /// Runs the rest.
    pub fn run(self, call: ToolCall, context: CallContext) -> BoxFuture<'a, ToolOutcome> {
        match self.between.split_first() {
            Some((next, between)) => {
                next.around(call, context, Onward { between, tools: self.tools })
            }
            None => self.tools.run(call, context),
        }
    }
}

impl ToolOutcome {
    /// A refusal in the tool's place; no failure of the tool.
    pub fn refused(reason: &str) -> Self {
        Self::new(CallStatus::Denied, vec![Block::text(format!("Refused: {reason}"))])
    }
}

/// A toolbox whose calls run through middlewares.
#[derive(Debug)]
pub struct Wrapped {
    tools: Arc<dyn Toolbox>,
    around: Vec<Arc<dyn Middleware>>,
}

impl Wrapped {
    /// `tools` inside of `around`, the first one outermost.
    pub fn new(tools: Arc<dyn Toolbox>, around: Vec<Arc<dyn Middleware>>) -> Self {
        Self { tools, around }
    }
}

impl Toolbox for Wrapped {
    fn specs(&self) -> Arc<[ToolSpec]> {
        self.tools.specs()
    }

    fn traits(&self, name: &str) -> Option<ToolTraits> {
        self.tools.traits(name)
    }

    fn validate(&self, call: &ToolCall) -> Result<(), String> {
        self.tools.validate(call)
    }

    fn access(&self, call: &ToolCall) -> Vec<Access> {
        self.tools.access(call)
    }

    fn preview<'a>(
        &'a self,
        call: &'a ToolCall,
    ) -> BoxFuture<'a, Result<Option<Preview>, ToolError>> {
        self.tools.preview(call)
    }

    fn cache_key(&self, call: &ToolCall) -> Option<String> {
        self.tools.cache_key(call)
    }

    fn fingerprint<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Option<String>> {
        self.tools.fingerprint(call)
    }

    fn run(&self, call: ToolCall, context: CallContext) -> BoxFuture<'_, ToolOutcome> {
        Onward { between: &self.around, tools: self.tools.as_ref() }.run(call, context)
    }
}
