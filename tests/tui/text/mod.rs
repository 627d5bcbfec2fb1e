//! Text handling below the screen: cleaning, wrapping, Markdown, colours, diffs, themes.

mod diff;
mod highlight;
mod markdown;
mod sanitize;
mod theme;
mod wrap;
