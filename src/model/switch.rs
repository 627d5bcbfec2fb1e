//! A place for a model that can be exchanged while a session lasts, and how hard it thinks. Whoever
//! holds the place asks through it; a request is made by one model from beginning to end.

use std::sync::{Arc, PoisonError, RwLock};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::kernel::error::{ModelError, ModelErrorKind};
use crate::kernel::ports::{Effort, InForce, Model, ModelInfo, ModelStream, Request};

/// The place.
#[derive(Debug)]
pub struct Switch {
    voice: RwLock<Voice>,
}

/// Who is in it.
#[derive(Clone, Debug, Default)]
struct Voice {
    model: Option<Arc<dyn Model>>,
    effort: Option<Effort>,
}

/// A model that is asked to think so hard unless the request says otherwise.
#[derive(Debug)]
struct Thinking {
    model: Arc<dyn Model>,
    effort: Effort,
}

impl Switch {
    /// A place for this model; for nobody without one.
    pub fn new(model: Option<Arc<dyn Model>>, effort: Option<Effort>) -> Self {
        Self { voice: RwLock::new(Voice { model, effort }) }
    }

    /// Puts another model into it, for the next request. How hard it thinks stays.
    pub fn set_model(&self, model: Option<Arc<dyn Model>>) {
        self.voice.write().unwrap_or_else(PoisonError::into_inner).model = model;
    }

    /// From the next request on: how hard it thinks, `None` for the model's own default.
    pub fn set_effort(&self, effort: Option<Effort>) {
        self.voice.write().unwrap_or_else(PoisonError::into_inner).effort = effort;
    }

    /// How hard it is asked to think.
    pub fn effort(&self) -> Option<Effort> {
        self.voice().effort
    }

    /// Who is in the place.
    pub fn model(&self) -> Option<Arc<dyn Model>> {
        self.voice().model
    }

    fn voice(&self) -> Voice {
        self.voice.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Model for Switch {
    /// Of the model in the place; of none that anybody knows without one.
    fn info(&self) -> ModelInfo {
        self.voice().model.map(|model| model.info()).unwrap_or_default()
    }

    fn in_force(&self) -> InForce {
        match self.voice() {
            Voice { model: None, .. } => InForce::Nobody,
            Voice { model: Some(model), effort: None } => InForce::Other(model),
            Voice { model: Some(model), effort: Some(effort) } => {
                InForce::Other(Arc::new(Thinking { model, effort }))
            }
        }
    }

    fn stream(&self, request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let InForce::Other(model) = self.in_force() else { return nobody() };
        async move { model.stream(request).await }.boxed()
    }

    fn complete(&self, request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let InForce::Other(model) = self.in_force() else { return nobody() };
        async move { model.complete(request).await }.boxed()
    }
}

fn nobody() -> BoxFuture<'static, Result<ModelStream, ModelError>> {
    let line = "no model is chosen; /model shows those that can be";
    std::future::ready(Err(ModelError::new(ModelErrorKind::InvalidRequest, line))).boxed()
}

impl Thinking {
    fn with(&self, mut request: Request) -> Request {
        request.effort = request.effort.or(Some(self.effort));
        request
    }
}

impl Model for Thinking {
    fn info(&self) -> ModelInfo {
        self.model.info()
    }

    fn stream(&self, request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        self.model.stream(self.with(request))
    }

    fn complete(&self, request: Request) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        self.model.complete(self.with(request))
    }
}
