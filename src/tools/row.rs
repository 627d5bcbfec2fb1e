//! A row of the table of tools: a tool without its types, and what the table says of its results.
//! Which tools there are stands in the table itself.

use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::bench::Bench;
use super::policy::{Length, Reuse};
use super::{Job, Tool, schema};
use crate::kernel::error::ToolError;
use crate::kernel::event::Preview;
use crate::kernel::message::CallId;
use crate::kernel::ports::{Access, ToolOutcome, ToolTraits};

/// What a preview comes to.
pub(super) type PreviewFuture<'a> = BoxFuture<'a, Result<Option<Preview>, ToolError>>;

/// One row of the table: a tool without its types.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) traits: ToolTraits,
    pub(super) description: &'static str,
    /// What becomes of a long result.
    pub(super) length: Length,
    /// Whether and how long a result may answer the same question again.
    pub(super) reuse: Reuse,
    pub(super) schema: fn() -> Value,
    pub(super) access: fn(&Bench, &Value) -> Vec<Access>,
    pub(super) preview: for<'a> fn(&'a Bench, &'a CallId, Value) -> PreviewFuture<'a>,
    pub(super) run: for<'a> fn(&'a Bench, Value, Job) -> BoxFuture<'a, ToolOutcome>,
}

impl Row {
    pub(super) const fn of<T: Tool + 'static>(
        name: &'static str,
        traits: ToolTraits,
        description: &'static str,
    ) -> Self {
        Self {
            name,
            traits,
            description,
            length: Length::Cap,
            reuse: Reuse::Never,
            schema: schema::of::<T::Args>,
            access: |bench, args| {
                parse::<T::Args>(args.clone())
                    .map_or_else(|_| Vec::new(), |args| T::access(bench, &args))
            },
            preview: |bench, id, args| {
                Box::pin(async move { T::preview(bench, id, parse(args)?).await })
            },
            run: |bench, args, job| {
                Box::pin(async move {
                    match parse(args) {
                        Ok(args) => T::run(bench, args, job).await,
                        Err(error) => ToolOutcome::failed(&error),
                    }
                })
            },
        }
    }

    /// The result may answer the same question again.
    pub(super) const fn reusable(mut self, reuse: Reuse) -> Self {
        self.reuse = reuse;
        self
    }

    /// Another way with long results than to cap them.
    pub(super) const fn when_long(mut self, length: Length) -> Self {
        self.length = length;
        self
    }
}

fn parse<T: DeserializeOwned>(args: Value) -> Result<T, ToolError> {
    serde_json::from_value(args)
        .map_err(|error| ToolError::new("InvalidArguments", error.to_string()))
}
