//! The way out of a run: sends events on the bounded channel and knows when not to wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio_util::sync::CancellationToken;

use super::event::Event;
use super::ports::Clock;
use super::state::Shared;

/// How long a structural event waits for a reader once the run was aborted.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(2);

/// Sends events of one run.
#[derive(Clone, Debug)]
pub(crate) struct Emitter {
    events: mpsc::Sender<Event>,
    abort: CancellationToken,
    clock: Arc<dyn Clock>,
    /// The reader let an event wait for [`LAST_WORDS`]; later ones are only offered.
    deaf: Arc<AtomicBool>,
}

impl Emitter {
    pub(crate) fn new(
        events: mpsc::Sender<Event>,
        abort: CancellationToken,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { events, abort, clock, deaf: Arc::default() }
    }

    /// Sends `event`. Waits for a slow reader while the run is live.
    pub(crate) async fn send(&self, event: Event) {
        let lossy = matches!(event, Event::MessageDelta { .. } | Event::ToolProgress { .. });
        if let Some(permit) = self.permit(lossy).await {
            permit.send(event);
        }
    }

    /// Sends the state of the queues as it is when there is room, so that an older state can never
    /// follow a newer one.
    pub(crate) async fn send_queue(&self, shared: &Shared) {
        if let Some(permit) = self.permit(false).await {
            let state = shared.lock();
            permit.send(Event::Queue { items: state.queues.items() });
        }
    }

    /// A sink that offers an event and drops it when there is no room.
    pub(crate) fn offer(&self) -> mpsc::WeakSender<Event> {
        self.events.downgrade()
    }

    /// Room for the last event of the run. `None` when the reader is gone or stays deaf.
    pub(crate) async fn reserve_last(&self) -> Option<mpsc::OwnedPermit<Event>> {
        let reserve = self.events.clone().reserve_owned();
        tokio::select! {
            biased;
            permit = reserve => permit.ok(),
            () = self.abort.cancelled() => None,
        }
    }

    /// The same after the run: waits a bounded time.
    pub(crate) async fn reserve_late(&self) -> Option<mpsc::OwnedPermit<Event>> {
        let reserve = self.events.clone().reserve_owned();
        tokio::select! {
            biased;
            permit = reserve => permit.ok(),
            () = self.clock.sleep(LAST_WORDS) => None,
        }
    }

    async fn permit(&self, lossy: bool) -> Option<mpsc::Permit<'_, Event>> {
        match self.events.try_reserve() {
            Ok(permit) => return Some(permit),
            Err(TrySendError::Closed(())) => {
                // Nobody is left to watch or to answer: the run must not go on by itself.
                self.abort.cancel();
                return None;
            }
            Err(TrySendError::Full(())) => {}
        }
        if !self.abort.is_cancelled() {
            tokio::select! {
                biased;
                permit = self.events.reserve() => return permit.ok(),
                () = self.abort.cancelled() => {}
            }
        }
        if lossy || self.deaf.load(Ordering::Relaxed) {
            return None;
        }
        tokio::select! {
            biased;
            permit = self.events.reserve() => permit.ok(),
            () = self.clock.sleep(LAST_WORDS) => {
                self.deaf.store(true, Ordering::Relaxed);
                None
            }
        }
    }
}
