//! The only way in which this room writes into the buffer: clipped, clean, in roles. A row outside
//! the buffer is no error, it is not drawn.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::kernel::command::Mode;
use crate::ui::text::role::Role;
use crate::ui::text::{sanitize, width};

pub use crate::ui::text::number::{short_number, short_time};
use crate::ui::theme::Theme;

/// A piece of a row.
#[derive(Clone, Debug)]
pub struct Piece {
    role: Role,
    text: String,
    bold: bool,
}

impl Piece {
    /// Text in a role; control characters are taken out.
    pub fn new(role: Role, text: impl AsRef<str>) -> Self {
        let text = sanitize::clean_line(text.as_ref()).into_owned();
        Self { role, text, bold: false }
    }

    /// The same in bold.
    #[must_use]
    pub fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    /// Cells it takes.
    pub fn width(&self) -> usize {
        width::width(&self.text)
    }
}

/// A buffer with the styles to paint it.
#[derive(Debug)]
pub struct Canvas<'a> {
    buf: &'a mut Buffer,
    theme: &'a Theme,
}

impl<'a> Canvas<'a> {
    /// Paints into `buf`.
    pub fn new(buf: &'a mut Buffer, theme: &'a Theme) -> Self {
        Self { buf, theme }
    }

    /// The buffer, for others that draw.
    pub fn buffer(&mut self) -> &mut Buffer {
        self.buf
    }

    /// Blanks an area.
    pub fn clear(&mut self, area: Rect) {
        let area = area.intersection(self.buf.area);
        for y in area.y..area.bottom() {
            for x in area.x..area.right() {
                self.buf[(x, y)].reset();
            }
        }
    }

    /// Writes pieces into row `row` of `area`; what does not fit is cut with `…`. Returns the
    /// columns used.
    pub fn row(&mut self, area: Rect, row: usize, pieces: &[Piece]) -> u16 {
        let Some(line) = line_of(area, row) else { return 0 };
        let line = line.intersection(self.buf.area);
        if line.is_empty() {
            return 0;
        }
        let mut x = line.x;
        for piece in pieces {
            let room = usize::from(line.right() - x);
            if room == 0 {
                break;
            }
            let text = width::truncate(&piece.text, room);
            let mut style = self.theme.style(piece.role);
            if piece.bold {
                style = style.add_modifier(Modifier::BOLD);
            }
            let (end, _) = self.buf.set_stringn(x, line.y, &text, room, style);
            x = end;
        }
        x - line.x
    }

    /// Writes pieces so that they end at the right edge.
    pub fn row_right(&mut self, area: Rect, row: usize, pieces: &[Piece]) {
        let wide: usize = pieces.iter().map(Piece::width).sum();
        let wide = u16::try_from(wide).unwrap_or(u16::MAX).min(area.width);
        let area = Rect { x: area.right() - wide, width: wide, ..area };
        self.row(area, row, pieces);
    }

    /// A horizontal line over row `row`.
    pub fn rule(&mut self, area: Rect, row: usize, role: Role) {
        self.row(area, row, &[Piece::new(role, "─".repeat(usize::from(area.width)))]);
    }

    /// Lays a role's background over row `row`.
    pub fn highlight(&mut self, area: Rect, row: usize, role: Role) {
        if let Some(line) = line_of(area, row) {
            let style: Style = self.theme.style(role);
            self.buf.set_style(line.intersection(self.buf.area), style);
        }
    }
}

fn line_of(area: Rect, row: usize) -> Option<Rect> {
    let row = u16::try_from(row).ok().filter(|row| *row < area.height)?;
    Some(Rect { y: area.y.checked_add(row)?, height: 1, ..area })
}

/// The role of a permission mode.
pub fn mode_role(mode: Mode) -> Role {
    match mode {
        Mode::Strict => Role::ModeStrict,
        Mode::Balanced => Role::ModeBalanced,
        Mode::AcceptEdits => Role::ModeAcceptEdits,
        Mode::Trust => Role::ModeTrust,
    }
}
