//! When to draw: on request only, at most once per 16 ms (a key press once per 1 ms). A request while a frame is owed is the
//! same frame, so a backlog never builds up.

use std::time::Duration;

use tokio::time::Instant;

/// Shortest time between two frames: 60 per second.
pub const INTERVAL: Duration = Duration::from_millis(16);
/// Shortest time between two frames that only show more of a stream: 30 per second read as smooth
/// and stay within the 50 ms that the screen may be behind.
pub const CALM_INTERVAL: Duration = Duration::from_millis(33);
/// How long a key press waits at most when a frame was drawn a moment ago: next to nothing, since
/// people feel it; the interval only keeps a flood of single keys from drawing without end.
pub const KEY_INTERVAL: Duration = Duration::from_millis(1);

/// Remembers whether and when a frame is owed.
#[derive(Debug, Default)]
pub struct FrameClock {
    last: Option<Instant>,
    due: Option<Instant>,
}

impl FrameClock {
    /// The model or a tool said more; its frame may wait a little longer, so that a fast stream
    /// costs little.
    pub fn request_calm(&mut self, now: Instant) {
        self.owe(now, CALM_INTERVAL);
    }

    /// Something changed; a frame is owed.
    pub fn request(&mut self, now: Instant) {
        self.owe(now, INTERVAL);
    }

    /// A key changed something; its frame comes sooner.
    pub fn request_soon(&mut self, now: Instant) {
        self.owe(now, KEY_INTERVAL);
    }

    fn owe(&mut self, now: Instant, interval: Duration) {
        let at = self.last.map_or(now, |last| now.max(last + interval));
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }

    /// When the owed frame may be drawn; `None` means no timer is needed.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Whether a frame should be drawn now.
    pub fn is_due(&self, now: Instant) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    /// The owed frame was drawn; `now` is taken after drawing, so that a slow terminal leaves room
    /// for input.
    pub fn drawn(&mut self, now: Instant) {
        self.last = Some(now);
        self.due = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_request_is_due_at_once_and_later_ones_wait_for_the_interval() {
        let start = Instant::now();
        let mut frames = FrameClock::default();
        assert_eq!(frames.due(), None);
        frames.request(start);
        assert!(frames.is_due(start));
        frames.drawn(start);
        assert_eq!(frames.due(), None);
        frames.request(start + Duration::from_millis(1));
        assert_eq!(frames.due(), Some(start + INTERVAL));
        frames.request_soon(start + Duration::from_millis(1));
        assert_eq!(frames.due(), Some(start + KEY_INTERVAL));
        frames.request(start + Duration::from_millis(2));
        assert_eq!(frames.due(), Some(start + KEY_INTERVAL));
    }
}
