//! Where things stand: from the bottom up the footer and the composer (or a panel instead of them),
//! the queue, the run line; the transcript gets the rest.

use ratatui::layout::Rect;

use super::{overlay, welcome};
use crate::ui::store::focus::{Focus, focus};
use crate::ui::store::keys::MARK;
use crate::ui::store::overlay::most_rows;
use crate::ui::store::{Store, remember};

/// Below this many columns or rows only a notice is shown.
pub const MIN: (u16, u16) = (20, 5);

/// Most rows of the composer.
const COMPOSER_ROWS: u16 = 10;
/// Rows that lines of the application need under the card.
const UNDER_CARD: u16 = 4;

/// The areas; one that is not shown is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Regions {
    /// Whether there is room for no more than a notice.
    pub tiny: bool,
    /// What this is and how to begin, as long as nothing was said.
    pub card: Rect,
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

impl Regions {
    /// The line that separates the conversation from what is under it; empty on a low screen.
    pub fn rule(&self) -> Rect {
        if self.panel.is_empty() { self.top_rule } else { Rect { height: 1, ..self.panel } }
    }
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
        Focus::Approval | Focus::Question | Focus::Setup | Focus::Overlay => {
            regions.panel =
                stack.take(overlay::height(store, area.width).min(most_rows(area.height)));
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
    share(store, stack.left, &mut regions);
    regions
}

/// Shares what is left between the card and the conversation.
fn share(store: &Store, left: Rect, regions: &mut Regions) {
    if store.transcript.is_empty() {
        regions.card = left;
        regions.transcript = Rect { y: left.bottom(), height: 0, ..left };
        return;
    }
    let card = welcome::height(store, left.width);
    let shown = store.transcript.is_only_notices() && card + UNDER_CARD <= left.height;
    let height = if shown { card } else { 0 };
    regions.card = Rect { height, ..left };
    regions.transcript = Rect { y: left.y + height, height: left.height - height, ..left };
}

fn composer(store: &Store, area: Rect, stack: &mut Stack, regions: &mut Regions) {
    let rules = u16::from(area.height >= 8);
    regions.footer = stack.take(1);
    regions.bottom_rule = stack.take(rules);
    let rows = store.composer.rows(area.width.saturating_sub(MARK)).len();
    let most = COMPOSER_ROWS.min(area.height / 2).max(1);
    regions.composer = stack.take(u16::try_from(rows).unwrap_or(u16::MAX).clamp(1, most));
    regions.top_rule = stack.take(rules);
    let menu = store.menu.rows(store.composer.slash_word(), &store.skills).len();
    let menu = menu.max(usize::from(remember::is_written(store)));
    let room = stack.left.height.saturating_sub(2);
    regions.menu = stack.take(u16::try_from(menu).unwrap_or(u16::MAX).min(room));
}
