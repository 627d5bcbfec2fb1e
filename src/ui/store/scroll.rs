//! Where the reader is: at the end, following what comes, or at a place in the text. A place is a
//! cell and a byte in it, never a row, so it survives every resize. Movements by rows are noted
//! here and carried out by the layout, which knows the rows; [`Scroll::settle`] takes the result.

use super::transcript::{CellId, CellKind, Transcript};

/// A place in the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The cell at the top of the screen.
    pub cell: CellId,
    /// The byte of its source that the top row shows.
    pub offset: u32,
    /// Which of the rows that begin at that byte, counted from 0 (blank rows and marks share the
    /// byte of the text below them); clamped after a resize.
    pub nth: u16,
}

/// What the screen shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Position {
    /// The end; new content moves it.
    #[default]
    Latest,
    /// A fixed place; new content does not move it.
    At(Anchor),
}

/// What the layout found out about a movement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// The place of the top row.
    pub top: Option<Anchor>,
    /// Whether the last row is on screen.
    pub at_end: bool,
    /// Whether everything fits on the screen.
    pub fits: bool,
}

/// The reader's place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scroll {
    position: Position,
    /// Rows to move from there, down when positive.
    pending: isize,
    /// Lines that had come in when the reader left the end.
    mark: u64,
    /// The place of the top row at the last frame.
    top: Option<Anchor>,
    /// Kept in place by [`Scroll::hold`]; the next frame shows whether that was needed.
    held: bool,
}

impl Scroll {
    /// Where the reader is.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Rows still to move, down when positive.
    pub fn pending(&self) -> isize {
        self.pending
    }

    /// Whether the screen follows what comes.
    pub fn is_latest(&self) -> bool {
        self.position == Position::Latest && self.pending >= 0
    }

    /// Moves by rows, down when positive.
    pub fn lines(&mut self, rows: isize) {
        self.pending = self.pending.saturating_add(rows);
    }

    /// Moves by pages of a screen of that height, keeping one row in sight.
    pub fn pages(&mut self, pages: isize, height: u16) {
        self.lines(pages.saturating_mul(isize::from(height.saturating_sub(1).max(1) as i16)));
    }

    /// To the first row.
    pub fn home(&mut self, transcript: &Transcript) {
        if let Some(first) = transcript.cells().first() {
            self.go(Anchor { cell: first.id, offset: 0, nth: 0 }, transcript);
        }
    }

    /// To the end, following from now on.
    pub fn end(&mut self) {
        *self = Self { top: self.top, ..Self::default() };
    }

    /// Keeps what is on screen where it is while something in it grows, as a cell that is opened
    /// by a click. When the end still fits on the screen afterwards, it is followed as before.
    pub fn hold(&mut self, transcript: &Transcript) {
        if self.position == Position::Latest
            && let Some(top) = self.top
        {
            self.go(top, transcript);
            self.held = true;
        }
    }

    /// To the next (`forward`) or the previous message of the user.
    pub fn turn(&mut self, forward: bool, transcript: &Transcript) {
        let cells = transcript.cells();
        let here = match self.position {
            Position::Latest => cells.len(),
            Position::At(anchor) => transcript.place(anchor.cell),
        };
        let is_user = |place: &usize| matches!(cells[*place].kind, CellKind::User { .. });
        let found = if forward {
            (here.saturating_add(1)..cells.len()).find(is_user)
        } else {
            (0..here.min(cells.len())).rev().find(is_user)
        };
        match found {
            Some(place) => self.go(Anchor { cell: cells[place].id, offset: 0, nth: 0 }, transcript),
            None if forward => self.end(),
            None => self.home(transcript),
        }
    }

    /// To a place.
    pub fn go(&mut self, anchor: Anchor, transcript: &Transcript) {
        if self.position == Position::Latest {
            self.mark = transcript.lines();
        }
        self.position = Position::At(anchor);
        self.pending = 0;
        self.held = false;
    }

    /// Takes the place the layout arrived at. Without a movement the anchor stays as it is, so
    /// that a resize there and back ends where it began.
    pub fn settle(&mut self, settled: &Settled, transcript: &Transcript) {
        let moved = std::mem::take(&mut self.pending);
        self.top = settled.top;
        if std::mem::take(&mut self.held) && settled.at_end {
            self.end();
        }
        if moved == 0 {
            return;
        }
        if settled.fits || (moved > 0 && settled.at_end) {
            self.end();
        } else if let Some(top) = settled.top {
            self.go(top, transcript);
        }
    }

    /// Lines that came in since the reader left the end.
    pub fn unseen(&self, transcript: &Transcript) -> u64 {
        match self.position {
            Position::Latest => 0,
            Position::At(_) => transcript.lines().saturating_sub(self.mark),
        }
    }
}
