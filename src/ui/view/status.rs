//! The run line above the composer and the footer below it.

use ratatui::layout::Rect;

use super::cell::retry::in_seconds;
use super::paint::{Canvas, Piece, mode_role, short_number, short_time};
use crate::kernel::message::Usage;
use crate::ui::store::Store;
use crate::ui::store::activity::{Run, SPINNER_MS};
use crate::ui::text::role::Role;
use crate::ui::text::width::width;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// What the run does, for how long and at what cost.
pub fn run_line(store: &Store, area: Rect, canvas: &mut Canvas<'_>) {
    if store.closing_since().is_some() {
        let text = "stopping… ctrl+c ends it at once";
        canvas.row(area, 0, &[Piece::new(Role::Warning, text)]);
        return;
    }
    let activity = &store.activity;
    if activity.run() == Run::Idle {
        return;
    }
    if store.approvals.shown().is_some() {
        canvas.row(area, 0, &[Piece::new(Role::Warning, "? Waiting for you")]);
        return;
    }
    let mut pieces = vec![Piece::new(Role::Accent, format!("{} ", spinner(store)))];
    if let Some(wait) = activity.retry() {
        let left = in_seconds(wait.until_ms.saturating_sub(store.now_ms));
        let text = format!("Retry {}/{}{left} · r tries now", wait.attempt, wait.max);
        pieces.push(Piece::new(Role::Warning, text));
    } else {
        pieces.push(Piece::new(Role::Text, format!("{}…", activity.doing())));
    }
    let room = usize::from(area.width).saturating_sub(wide(&pieces));
    pieces.push(Piece::new(Role::Dim, rest(store, room)));
    canvas.row(area, 0, &pieces);
}

/// Time, tokens and the way to stop, of these what fits: the way to stop goes last.
fn rest(store: &Store, room: usize) -> String {
    let activity = &store.activity;
    let time = format!(" · {}", short_time(activity.elapsed_ms(store.now_ms)));
    let tokens = tokens(activity.usage()).map(|tokens| format!(" · {tokens}")).unwrap_or_default();
    let todos = store.todos.count().map(|(done, all)| format!(" · todos {done}/{all}"));
    let todos = todos.unwrap_or_default();
    let stop = if activity.run() == Run::Stopping { "" } else { " · esc stops" };
    let ways = [
        format!("{time}{tokens}{todos}{stop}"),
        format!("{time}{todos}{stop}"),
        format!("{time}{stop}"),
        stop.to_owned(),
    ];
    ways.into_iter().find(|way| width(way) <= room).unwrap_or_default()
}

fn spinner(store: &Store) -> &'static str {
    if store.reduced_motion {
        return "●";
    }
    SPINNER[(store.now_ms / SPINNER_MS) as usize % SPINNER.len()]
}

fn tokens(usage: Usage) -> Option<String> {
    (usage != Usage::default())
        .then(|| format!("↑{} ↓{}", short_number(usage.total_input()), short_number(usage.output)))
}

/// Mode and hint on the left; model, tokens, context, cost, branch on the right. Parts that do not
/// fit are dropped, the least important first.
pub fn footer(store: &Store, area: Rect, canvas: &mut Canvas<'_>) {
    let status = &store.status;
    let mode = Piece::new(mode_role(status.mode), format!("⏵ {}", status.mode.name()));
    let hint = match status.hint_at(store.now_ms) {
        Some(hint) => Piece::new(Role::Warning, format!("  {hint}")),
        None => Piece::new(Role::Dim, "  shift+tab"),
    };
    let mut left = vec![mode, hint];
    if status.planning {
        left.insert(1, Piece::new(Role::Accent, " · plan"));
    }
    let room = usize::from(area.width);
    let parts = kept(parts(store), room.saturating_sub(wide(&left) + 2));
    if parts.is_empty() && status.hint_at(store.now_ms).is_none() && wide(&left) > room {
        left.pop();
    }
    canvas.row(area, 0, &left);
    let mut right = Vec::new();
    for (index, part) in parts.into_iter().enumerate() {
        if index > 0 {
            right.push(Piece::new(Role::Faint, " · "));
        }
        right.push(part);
    }
    canvas.row_right(area, 0, &right);
}

fn wide(pieces: &[Piece]) -> usize {
    pieces.iter().map(Piece::width).sum()
}

/// Parts from left to right with their importance, 0 the highest.
fn parts(store: &Store) -> Vec<(u8, Piece)> {
    let status = &store.status;
    let mut parts = Vec::new();
    let mut add = |importance, text: String| {
        parts.push((importance, Piece::new(Role::Dim, text)));
    };
    if status.demo {
        add(0, "demo · scripted".to_owned());
    } else if let Some(model) = &status.model {
        add(1, model.model.model.clone());
        if let Some(effort) = status.effort {
            add(2, effort.name().to_owned());
        }
    } else {
        add(1, "starting…".to_owned());
    }
    if let Some(tier) = status.pinned {
        add(1, format!("route {}", tier.name()));
    }
    if let Some(jobs) = store.jobs.label() {
        add(0, format!("⚙ {jobs}"));
    }
    if let Some(tokens) = tokens(status.usage) {
        let cached = match status.usage.cache_read {
            0 => String::new(),
            tokens => format!(" ⚡{}", short_number(tokens)),
        };
        add(5, format!("{tokens}{cached}"));
    }
    if let Some(percent) = status.context_percent() {
        add(2, format!("ctx {percent}%"));
    }
    if let Some(cost) = status.cost {
        add(3, format!("${cost:.2}"));
    }
    if let Some(branch) = &status.branch {
        add(4, format!("⎇ {branch}"));
    }
    parts
}

/// Drops the least important parts until the rest fits.
fn kept(mut parts: Vec<(u8, Piece)>, room: usize) -> Vec<Piece> {
    let needs = |parts: &[(u8, Piece)]| {
        parts.iter().map(|(_, piece)| piece.width() + 3).sum::<usize>().saturating_sub(3)
    };
    while needs(&parts) > room {
        let Some(least) = parts
            .iter()
            .enumerate()
            .max_by_key(|(_, (importance, _))| *importance)
            .map(|(at, _)| at)
        else {
            break;
        };
        parts.remove(least);
    }
    parts.into_iter().map(|(_, piece)| piece).collect()
}
