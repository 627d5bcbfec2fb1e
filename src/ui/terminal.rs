//! The terminal's state: one guard enters full screen and gives everything back in the right order
//! on every way out (return, error, panic, signal, suspend). All bytes go through one buffered
//! writer; a draw is one synchronized update.

use std::fs::File;
use std::io::{self, BufWriter, Write, stdout};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    SetTitle, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, queue};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::present::Presenter;

/// Press, drag and SGR coordinates; not every motion.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";
/// The terminal's own stack of titles.
const TITLE_PUSH: &str = "\x1b[22;2t";
const TITLE_POP: &str = "\x1b[23;2t";

/// Bits of [`STATE`], one for each thing to give back.
mod bit {
    pub(super) const RAW: u8 = 1;
    pub(super) const ALT: u8 = 2;
    pub(super) const MOUSE: u8 = 4;
    pub(super) const MODES: u8 = 8;
    pub(super) const KEYS: u8 = 16;
    pub(super) const TITLE: u8 = 32;
}

/// What is switched on now. Global because the panic hook has no other way to know.
static STATE: AtomicU8 = AtomicU8::new(0);
/// Whether a restore is under way or done, so that it happens once.
static ACTIVE: AtomicBool = AtomicBool::new(false);

/// What to switch on.
#[derive(Clone, Copy, Debug)]
pub struct Modes {
    /// The alternate screen.
    pub alt_screen: bool,
    /// Mouse reports.
    pub mouse: bool,
    /// The window's title.
    pub title: bool,
}

type Writer = BufWriter<File>;

/// The terminal while it is ours; dropping it gives it back.
#[derive(Debug)]
pub struct Screen {
    presenter: Presenter<Writer>,
    modes: Modes,
    title: String,
}

impl Screen {
    /// Takes the terminal: raw mode first, so that an early key is not echoed.
    pub fn enter(modes: Modes) -> io::Result<Self> {
        let file = File::from(stdout().as_fd().try_clone_to_owned()?);
        let writer = BufWriter::with_capacity(64 * 1024, file);
        take(modes)?;
        Ok(Self { presenter: Presenter::new(writer), modes, title: String::new() })
    }

    /// Columns and rows now; 0×0 when the terminal does not say.
    pub fn size() -> (u16, u16) {
        crossterm::terminal::size().unwrap_or((0, 0))
    }

    /// Draws one frame and puts the hardware cursor where `draw` says, or hides it.
    pub fn draw(
        &mut self,
        draw: impl FnOnce(Rect, &mut Buffer) -> Option<Position>,
    ) -> io::Result<()> {
        let (width, height) = Self::size();
        queue!(self.presenter.writer(), BeginSynchronizedUpdate)?;
        let drawn = self.presenter.draw(Rect { x: 0, y: 0, width, height }, draw);
        let ended = queue!(self.presenter.writer(), EndSynchronizedUpdate);
        let flushed = self.presenter.writer().flush();
        drawn?;
        ended.and(flushed)
    }

    /// Asks for keys with modifiers; terminals that do not know it ignore it.
    pub fn push_key_flags(&mut self) -> io::Result<()> {
        let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES;
        queue!(self.presenter.writer(), PushKeyboardEnhancementFlags(flags))?;
        self.presenter.writer().flush()?;
        STATE.fetch_or(bit::KEYS, Ordering::SeqCst);
        Ok(())
    }

    /// Makes the next frame draw every cell.
    pub fn invalidate(&mut self) {
        self.presenter.invalidate();
    }

    /// Sets the window's title when it changed. `title` must be clean.
    pub fn set_title(&mut self, title: &str) -> io::Result<()> {
        if !self.modes.title || self.title == title {
            return Ok(());
        }
        title.clone_into(&mut self.title);
        queue!(self.presenter.writer(), SetTitle(title))?;
        self.presenter.writer().flush()
    }

    /// Asks the terminal to put `text` on the clipboard.
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        queue!(self.presenter.writer(), CopyToClipboard::to_clipboard_from(text))?;
        self.presenter.writer().flush()
    }

    /// Rings.
    pub fn bell(&mut self) -> io::Result<()> {
        queue!(self.presenter.writer(), Print('\u{7}'))?;
        self.presenter.writer().flush()
    }

    /// Gives the terminal back for a while; [`Screen::retake`] takes it again.
    pub fn release(&mut self) {
        restore();
    }

    /// Takes the terminal again after [`Screen::release`].
    pub fn retake(&mut self) -> io::Result<()> {
        take(self.modes)?;
        self.push_key_flags()?;
        let title = std::mem::take(&mut self.title);
        self.invalidate();
        self.set_title(&title)
    }

    /// Sets everything again after a stop from outside, in case the shell changed it meanwhile.
    pub fn reassert(&mut self) -> io::Result<()> {
        disable_raw_mode()?;
        enable_raw_mode()?;
        let mut bytes = Vec::with_capacity(64);
        screen_bytes(self.modes, &mut bytes)?;
        self.invalidate();
        write_out(&bytes)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _best_effort = self.presenter.writer().flush();
        restore();
    }
}

fn take(modes: Modes) -> io::Result<()> {
    enable_raw_mode()?;
    let mut on = bit::RAW | bit::MODES;
    let mut bytes = Vec::with_capacity(128);
    if modes.title {
        on |= bit::TITLE;
        queue!(bytes, Print(TITLE_PUSH))?;
    }
    if modes.alt_screen {
        on |= bit::ALT;
    }
    if modes.mouse {
        on |= bit::MOUSE;
    }
    STATE.store(on, Ordering::SeqCst);
    ACTIVE.store(true, Ordering::SeqCst);
    let written = screen_bytes(modes, &mut bytes).and_then(|()| write_out(&bytes));
    if written.is_err() {
        restore();
    }
    written
}

/// What switches the modes on; harmless when they are on.
fn screen_bytes(modes: Modes, bytes: &mut Vec<u8>) -> io::Result<()> {
    if modes.alt_screen {
        queue!(bytes, EnterAlternateScreen)?;
    }
    queue!(bytes, EnableBracketedPaste, EnableFocusChange)?;
    if modes.mouse {
        queue!(bytes, Print(MOUSE_ON))?;
    }
    Ok(())
}

/// Gives back everything that is on: mouse, paste, focus, keys, cursor, screen, title, raw mode.
/// Does nothing the second time. Errors are ignored: there is nobody left to tell.
pub fn restore() {
    if !ACTIVE.swap(false, Ordering::SeqCst) {
        return;
    }
    let on = STATE.swap(0, Ordering::SeqCst);
    let mut bytes = Vec::with_capacity(128);
    let _infallible = restore_bytes(on, &mut bytes);
    let _gone = write_out(&bytes);
    if on & bit::RAW != 0 {
        let _gone = disable_raw_mode();
    }
}

fn restore_bytes(on: u8, bytes: &mut Vec<u8>) -> io::Result<()> {
    queue!(bytes, EndSynchronizedUpdate)?;
    if on & bit::MOUSE != 0 {
        queue!(bytes, Print(MOUSE_OFF))?;
    }
    if on & bit::MODES != 0 {
        queue!(bytes, DisableBracketedPaste, DisableFocusChange)?;
    }
    if on & bit::KEYS != 0 {
        queue!(bytes, PopKeyboardEnhancementFlags)?;
    }
    queue!(bytes, cursor::Show)?;
    if on & bit::ALT != 0 {
        queue!(bytes, LeaveAlternateScreen)?;
    } else {
        queue!(bytes, Print("\r\n"))?;
    }
    if on & bit::TITLE != 0 {
        queue!(bytes, Print(TITLE_POP))?;
    }
    Ok(())
}

fn write_out(bytes: &[u8]) -> io::Result<()> {
    let mut file = File::from(stdout().as_fd().try_clone_to_owned()?);
    file.write_all(bytes)
}
