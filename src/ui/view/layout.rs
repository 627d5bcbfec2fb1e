//! Where things stand: from the bottom up the footer and the composer (or a panel instead of them),
//! the queue, the run line; the transcript gets the rest.

use ratatui::layout::Rect;

use super::overlay;
use crate::ui::store::Store;
use crate::ui::store::focus::{Focus, focus};
use crate::ui::store::keys::MARK;

/// Below this many columns or rows only a notice is shown.
pub const MIN: (u16, u16) = (20, 5);

/// Most rows of the composer.
const COMPOSER_ROWS: u16 = 10;

/// The areas; one that is not shown is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Regions {
    /// Whether there is room for no more than a notice.
    pub tiny: bool,
    /// The conversation.
    pub transcript: Rect,
    /// What the run does.
    pub run: Rect,
    /// Messages that wait.
    pub queue: Rect,
    /// The menu of commands.
    pub menu: Rect,
    /// The panel in place of composer and footer.
    pub panel: Rect,
    /// Line over the composer.
    pub top_rule: Rect,
    /// The composer with its mark.
    pub composer: Rect,
    /// Line under the composer.
    pub bottom_rule: Rect,
    /// The footer.
    pub footer: Rect,
}

/// Cuts rows off the bottom.
struct Stack {
    left: Rect,
}

impl Stack {
    fn take(&mut self, rows: u16) -> Rect {
        let rows = rows.min(self.left.height);
        self.left.height -= rows;
        Rect { y: self.left.bottom(), height: rows, ..self.left }
    }
}

/// The areas for this state.
pub fn regions(store: &Store, area: Rect) -> Regions {
    let mut regions = Regions::default();
    if area.width < MIN.0 || area.height < MIN.1 {
        regions.tiny = true;
        return regions;
    }
    let mut stack = Stack { left: area };
    match focus(store) {
        Focus::Approval | Focus::Setup | Focus::Overlay => {
            let most = (u32::from(area.height) * 2 / 3) as u16;
            regions.panel = stack.take(overlay::height(store, area.width).min(most));
        }
        Focus::Composer | Focus::Closing => composer(store, area, &mut stack, &mut regions),
    }
    // On a low screen the conversation keeps at least one row.
    let spare = |stack: &Stack| stack.left.height > 1;
    if (!store.queue.is_empty() || !store.pending.is_empty()) && spare(&stack) {
        regions.queue = stack.take(1);
    }
    if (store.activity.is_busy() || store.closing_since().is_some()) && spare(&stack) {
        regions.run = stack.take(1);
    }
    regions.transcript = stack.left;
    regions
}

fn composer(store: &Store, area: Rect, stack: &mut Stack, regions: &mut Regions) {
    let rules = u16::from(area.height >= 8);
    regions.footer = stack.take(1);
    regions.bottom_rule = stack.take(rules);
    let rows = store.composer.rows(area.width.saturating_sub(MARK)).len();
    let most = COMPOSER_ROWS.min(area.height / 2).max(1);
    regions.composer = stack.take(u16::try_from(rows).unwrap_or(u16::MAX).clamp(1, most));
    regions.top_rule = stack.take(rules);
    let menu = store.menu.rows(store.composer.slash_word()).len();
    let room = stack.left.height.saturating_sub(2);
    regions.menu = stack.take(u16::try_from(menu).unwrap_or(u16::MAX).min(room));
}
