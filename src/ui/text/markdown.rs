//! Markdown of one piece as rows: headings, paragraphs, lists, quotes, nested code, tables, rules.
//! Line ends of the source stay line ends. Nothing here fails: what is no Markdown is text.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::code::{self, Colours};
use super::role::{Ink, Role};
use super::row::{Line, Row};
use super::table::Table;
use super::{sanitize, wrap};

const BAR: &str = "▎ ";

/// The rows of `source`, which stands at `base` of the whole text.
pub fn render(source: &str, base: u32, columns: usize, colours: &mut dyn Colours) -> Vec<Row> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer {
        source,
        base,
        columns: columns.max(1),
        colours,
        rows: Vec::new(),
        line: Line::default(),
        inks: vec![Ink::new(Role::Text)],
        containers: Vec::new(),
        gap: false,
        links: Vec::new(),
        table: None,
        cells: Vec::new(),
        code: None,
    };
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        writer.event(event, range);
    }
    writer.flush();
    writer.rows
}

#[derive(Debug)]
enum Container {
    List {
        next: Option<u64>,
        loose: bool,
    },
    Item {
        /// The mark, until a row has shown it.
        mark: Option<Line>,
        width: usize,
    },
    Quote,
}

/// A nested code block being collected.
struct Code {
    lang: String,
    text: String,
    /// Start of each text chunk in `text` and its place in the source.
    places: Vec<(usize, u32)>,
}

struct Writer<'a> {
    source: &'a str,
    base: u32,
    columns: usize,
    colours: &'a mut dyn Colours,
    rows: Vec<Row>,
    line: Line,
    inks: Vec<Ink>,
    containers: Vec<Container>,
    /// Whether a blank row is due before the next block.
    gap: bool,
    /// Open links: where their text begins in the line, and their target.
    links: Vec<(usize, String)>,
    table: Option<Table>,
    cells: Vec<Line>,
    code: Option<Code>,
}

impl Writer<'_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, &range),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.code.is_some() => self.code_text(&text, range.start),
            Event::Text(text) => self.text(&text, &range),
            Event::Code(text) => {
                let quote = range.len().saturating_sub(text.len()) / 2;
                let ink = Ink { role: Role::Code, shape: self.ink().shape };
                self.styled(&text, ink, range.start + quote);
            }
            Event::Html(text) | Event::InlineHtml(text) => self.html(&text, range.start),
            Event::SoftBreak | Event::HardBreak => self.line_break(),
            Event::Rule => self.rule(),
            Event::TaskListMarker(done) => self.task(done),
            // Switched off: these never come, their source is text.
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.text(&text, &range)
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Paragraph => self.paragraph(),
            Tag::Heading { level, .. } => {
                self.flush();
                let shape = match level {
                    HeadingLevel::H1 => Ink::BOLD | Ink::UNDERLINE,
                    HeadingLevel::H2 | HeadingLevel::H3 => Ink::BOLD,
                    _ => Ink::BOLD | Ink::ITALIC,
                };
                self.inks.push(Ink::new(Role::Heading).with(shape));
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.containers.push(Container::Quote);
                self.inks.push(Ink::new(Role::Quote));
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                let lang = match kind {
                    CodeBlockKind::Fenced(info) => code::language(&info).to_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                let lang = sanitize::clean_line(&lang).into_owned();
                self.code = Some(Code { lang, text: String::new(), places: Vec::new() });
            }
            Tag::List(next) => self.list(next),
            Tag::Item => self.item(),
            Tag::Table(aligns) => {
                self.flush();
                self.table = Some(Table { aligns, ..Table::default() });
            }
            Tag::TableHead => self.inks.push(self.ink().with(Ink::BOLD)),
            Tag::Emphasis => self.inks.push(self.ink().with(Ink::ITALIC)),
            Tag::Strong => self.inks.push(self.ink().with(Ink::BOLD)),
            Tag::Strikethrough => self.inks.push(self.ink().with(Ink::STRIKE)),
            Tag::Link { dest_url, .. } => {
                self.open_link(&dest_url, self.ink().shape | Ink::UNDERLINE);
            }
            Tag::Image { dest_url, .. } => {
                self.line.push("image: ", Ink::new(Role::Dim), self.base + range.start as u32);
                self.open_link(&dest_url, self.ink().shape);
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => {
                self.flush();
                self.gap = true;
            }
            TagEnd::Heading(_) => {
                self.flush();
                self.inks.pop();
                self.gap = true;
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.containers.pop();
                self.inks.pop();
                self.gap = true;
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::HtmlBlock => {
                self.flush();
                self.gap = true;
            }
            TagEnd::List(_) => {
                self.flush();
                self.containers.pop();
                self.gap = true;
            }
            TagEnd::Item => self.end_item(),
            TagEnd::Table => self.end_table(),
            TagEnd::TableCell => self.cells.push(std::mem::take(&mut self.line)),
            TagEnd::TableHead => {
                self.inks.pop();
                let cells = std::mem::take(&mut self.cells);
                if let Some(table) = &mut self.table {
                    table.head = cells;
                }
            }
            TagEnd::TableRow => {
                let cells = std::mem::take(&mut self.cells);
                if let Some(table) = &mut self.table {
                    table.body.push(cells);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.inks.pop();
            }
            TagEnd::Link | TagEnd::Image => self.close_link(),
            _ => {}
        }
    }

    fn ink(&self) -> Ink {
        self.inks.last().copied().unwrap_or_default()
    }

    /// Appends text; what the parser decoded (entities) passes the door again.
    fn text(&mut self, text: &str, range: &Range<usize>) {
        let ink = self.ink();
        if self.source.get(range.clone()) == Some(text) {
            self.line.push(text, ink, self.base + range.start as u32);
        } else {
            let text: Cow<'_, str> = sanitize::clean_line(text);
            self.line.push(&text, ink, self.base + range.start as u32);
        }
    }

    fn styled(&mut self, text: &str, ink: Ink, at: usize) {
        self.line.push(&sanitize::clean_line(text), ink, self.base + at as u32);
    }

    fn html(&mut self, text: &str, at: usize) {
        let mut start = at;
        for part in text.split_inclusive('\n') {
            let words = part.trim_end_matches('\n');
            self.styled(words, Ink::new(Role::Dim), start);
            if words.len() < part.len() {
                self.line_break();
            }
            start += part.len();
        }
    }

    fn line_break(&mut self) {
        if self.table.is_some() {
            self.line.add(" ", Role::Text);
        } else {
            self.flush();
        }
    }

    fn paragraph(&mut self) {
        self.flush();
        let inside = self.containers.len().checked_sub(2);
        if let Some(Container::List { loose, .. }) =
            inside.and_then(|index| self.containers.get_mut(index))
        {
            *loose = true;
        }
    }

    fn list(&mut self, next: Option<u64>) {
        let nested = matches!(self.containers.last(), Some(Container::Item { .. }));
        let text = !self.line.is_empty();
        self.flush();
        if nested && text {
            self.gap = false;
        }
        self.containers.push(Container::List { next, loose: false });
    }

    fn item(&mut self) {
        self.flush();
        let depth = self.containers.iter().filter(|c| matches!(c, Container::List { .. })).count();
        let mark = match self.containers.last_mut() {
            Some(Container::List { next: Some(number), .. }) => {
                let mark = format!("{number}. ");
                *number += 1;
                mark
            }
            _ => ["• ", "◦ ", "▪ "][depth.saturating_sub(1) % 3].to_owned(),
        };
        let width = super::width::width(&mark);
        let mark = Some(Line::of(&mark, Role::Marker));
        self.containers.push(Container::Item { mark, width });
    }

    /// The box of a task stands in place of the list mark.
    fn task(&mut self, done: bool) {
        let (shape, role) = if done { ("☑ ", Role::Success) } else { ("☐ ", Role::Dim) };
        match self.containers.last_mut() {
            Some(Container::Item { mark: mark @ Some(_), width }) => {
                *mark = Some(Line::of(shape, role));
                *width = 2;
            }
            _ => self.line.add(shape, role),
        }
    }

    fn end_item(&mut self) {
        self.flush();
        if matches!(self.containers.last(), Some(Container::Item { mark: Some(_), .. })) {
            // An empty item still shows its mark.
            self.emit(&Line::default());
        }
        self.containers.pop();
        self.gap = matches!(self.containers.last(), Some(Container::List { loose: true, .. }));
    }

    fn open_link(&mut self, target: &str, shape: u8) {
        self.links.push((self.line.text.len(), sanitize::clean_line(target).into_owned()));
        self.inks.push(Ink { role: Role::Link, shape });
    }

    fn close_link(&mut self) {
        self.inks.pop();
        let Some((start, target)) = self.links.pop() else { return };
        let shown = self.line.text.get(start..).unwrap_or_default();
        let same = shown == target || target.strip_prefix("mailto:") == Some(shown);
        if !same && !target.is_empty() {
            self.line.add(&format!(" ({target})"), Role::Dim);
        }
    }

    fn rule(&mut self) {
        self.flush();
        let (first, _) = self.leads(false);
        let room = self.columns.saturating_sub(first.width()).max(1);
        self.emit(&Line::of(&"─".repeat(room), Role::Rule));
        self.gap = true;
    }

    fn code_text(&mut self, text: &str, at: usize) {
        let place = self.base + at as u32;
        if let Some(code) = &mut self.code {
            code.places.push((code.text.len(), place));
            code.text.push_str(&sanitize::clean(text));
        }
    }

    fn end_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        self.blank_if_due();
        let (first, rest) = self.leads(true);
        let mut lead = first;
        if !code.lang.is_empty() {
            self.rows.push(code::header(&code.lang, self.columns, &lead));
            lead = rest.clone();
        }
        let coloured =
            if code.lang.is_empty() { None } else { self.colours.colours(&code.lang, &code.text) };
        let (mut at, mut next) = (0, 0);
        let (mut from, mut place) = (0, self.base);
        for (number, line) in code.text.split_inclusive('\n').enumerate() {
            while let Some((start, src)) = code.places.get(next).filter(|(start, _)| *start <= at) {
                (from, place) = (*start, *src);
                next += 1;
            }
            let words = line.trim_end_matches('\n');
            let inks = coloured.as_ref().and_then(|block| block.lines.get(number));
            let src = place + (at - from) as u32;
            code::line_rows(
                words,
                src,
                inks.map(|line| &**line),
                self.columns,
                &lead,
                &mut self.rows,
            );
            lead = rest.clone();
            at += line.len();
        }
        self.gap = true;
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let (first, rest) = self.leads(false);
        let room = self.columns.saturating_sub(first.width().max(rest.width())).max(1);
        for line in table.lines(room) {
            self.emit(&line);
        }
        self.gap = true;
    }

    /// Wraps the line under way, if there is one.
    fn flush(&mut self) {
        if self.line.is_empty() {
            return;
        }
        let line = std::mem::take(&mut self.line);
        for (start, _) in &mut self.links {
            *start = 0;
        }
        self.emit(&line);
    }

    fn emit(&mut self, line: &Line) {
        self.blank_if_due();
        let (first, rest) = self.leads(true);
        wrap::soft(line, self.columns, &first, &rest, &mut self.rows);
    }

    fn blank_if_due(&mut self) {
        if !std::mem::take(&mut self.gap) || self.rows.is_empty() {
            return;
        }
        let mut lead = Line::default();
        let bars = self.containers.iter().filter(|c| matches!(c, Container::Quote)).count();
        if bars > 0 {
            // Bars keep their columns; the marks of this row are not used up.
            let (_, rest) = self.leads(false);
            lead = rest;
            let kept = lead.text.trim_end().len();
            let mut short = Line::default();
            short.append(&lead, 0..kept);
            lead = short;
        }
        self.rows.push(Row::new(lead));
    }

    /// What stands in front of the first and of the other rows; `take` uses the list marks up.
    /// Deep nesting stops indenting at half the width.
    fn leads(&mut self, take: bool) -> (Line, Line) {
        let limit = self.columns / 2;
        let (mut first, mut rest) = (Line::default(), Line::default());
        let mut used = 0;
        for container in &mut self.containers {
            let (mark, wide) = match container {
                Container::List { .. } => continue,
                Container::Quote => (None, 2),
                Container::Item { mark, width } => {
                    (if take { mark.take() } else { mark.clone() }, *width)
                }
            };
            let is_quote = matches!(container, Container::Quote);
            if used + wide > limit {
                continue;
            }
            used += wide;
            if is_quote {
                first.add(BAR, Role::Rule);
                rest.add(BAR, Role::Rule);
                continue;
            }
            match mark {
                Some(mark) => first.append(&mark, 0..mark.text.len()),
                None => first.add(&" ".repeat(wide), Role::Text),
            }
            rest.add(&" ".repeat(wide), Role::Text);
        }
        (first, rest)
    }
}
