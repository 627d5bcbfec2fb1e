//! Text without state or widgets: cleaning, width, wrapping, Markdown, colours, diffs.
