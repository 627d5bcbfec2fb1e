//! Holds the output of a command in bounded memory: its beginning, its end, counts, and a capped
//! file with everything once it grows above what the model is shown.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use crate::kernel::message::CallId;

use super::clean::Cleaner;
use super::mask::Mask;
use super::output;

/// Bytes of the end that stay in memory.
const TAIL_BYTES: usize = 64 * 1024;
/// Bytes of an unfinished line that are held back, so that a carriage return can still replace it.
const OPEN_LINE_BYTES: usize = 64 * 1024;
/// Bytes of a saved output.
const FILE_BYTES: u64 = 10 * 1024 * 1024;
/// Lines of a progress report.
const REPORT_LINES: usize = 20;
/// Bytes of a progress report.
const REPORT_BYTES: usize = 4096;

/// Where a long output is saved.
#[derive(Clone, Debug)]
pub struct Spill {
    /// The folder.
    pub dir: PathBuf,
    /// The call it belongs to.
    pub id: CallId,
}

/// The output of one command.
#[derive(Debug)]
pub struct Capture {
    mask: Arc<Mask>,
    cleaner: Cleaner,
    spill: Spill,
    file: Option<Saved>,
    head: String,
    tail: String,
    raw_bytes: u64,
    text_bytes: u64,
    lines: u64,
}

#[derive(Debug)]
struct Saved {
    result: io::Result<PathBuf>,
    file: Option<File>,
    bytes: u64,
}

impl Capture {
    /// An empty output.
    pub fn new(mask: Arc<Mask>, spill: Spill) -> Self {
        Self {
            mask,
            spill,
            cleaner: Cleaner::default(),
            file: None,
            head: String::new(),
            tail: String::new(),
            raw_bytes: 0,
            text_bytes: 0,
            lines: 0,
        }
    }

    /// Bytes as the command wrote them.
    pub fn raw_bytes(&self) -> u64 {
        self.raw_bytes
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.raw_bytes += bytes.len() as u64;
        self.cleaner.push(bytes);
        let lines = self.cleaner.take_lines();
        self.store(&lines);
        if self.cleaner.open_line().len() > OPEN_LINE_BYTES {
            let keep = self.mask.open_end(self.cleaner.open_line());
            let piece = self.cleaner.take_all_but(keep);
            self.store(&piece);
        }
    }

    /// The newest output: whole lines and the one being written, in some 4 KB.
    pub fn report(&self) -> String {
        let open = self.cleaner.open_line();
        let open = &open[..open.len() - self.mask.open_end(open)];
        let open = output::tail(open, REPORT_BYTES / 4);
        let open = self.mask.apply(open).unwrap_or_else(|| open.to_owned());
        let room = REPORT_BYTES - open.len();
        let wanted = if open.is_empty() { REPORT_LINES } else { REPORT_LINES - 1 };
        let window = &self.tail[output::ceil(&self.tail, self.tail.len().saturating_sub(room))..];
        let body = window.strip_suffix('\n').unwrap_or(window);
        let line = body.rmatch_indices('\n').nth(wanted - 1).map(|(at, _)| at + 1);
        let start = line.unwrap_or_else(|| first_whole_line(window, self.tail.len()));
        format!("{}{open}", &window[start..])
    }

    /// Everything arrived: the text for the model.
    pub fn finish(self) -> String {
        self.finish_saved().0
    }

    /// The same, with the file that holds all of it when the text does not.
    pub fn finish_saved(mut self) -> (String, Option<PathBuf>) {
        self.finish_lines();
        let saved = self.file.as_ref().and_then(|saved| saved.result.as_ref().ok().cloned());
        let lossy = self.cleaner.is_lossy();
        let mut text = match self.close_file() {
            None => std::mem::take(&mut self.head),
            Some(saved) => {
                let lines = output::count(self.lines, "line");
                let all = output::size(self.text_bytes);
                output::ends(&self.head, &self.tail, &format!("{lines}, {all} in all; {saved}"))
            }
        };
        if lossy {
            close_line(&mut text);
            text.push_str("[some bytes are not UTF-8 and are shown as \u{fffd}]\n");
        }
        (text, saved)
    }

    /// Saves everything to a file from now on, whatever its size, what has come so far included.
    ///
    /// # Errors
    /// The system's words, when there can be no file; the output is followed all the same.
    pub fn keep_file(&mut self) -> Result<PathBuf, String> {
        let saved = self.file.get_or_insert_with(|| {
            let mut saved = Saved::create(&self.spill);
            saved.write(&self.head);
            saved
        });
        saved.result.as_ref().cloned().map_err(ToString::to_string)
    }

    /// Everything arrived and is in its file: beginning and end in so many characters.
    pub fn finish_short(mut self, head: usize, tail: usize) -> String {
        self.finish_lines();
        let cut = self.text_bytes > output::LIMIT as u64;
        let _said_elsewhere = self.close_file();
        let whole = self.head.trim_end();
        if !cut && whole.chars().count() <= head + tail {
            return whole.to_owned();
        }
        let end = if cut { self.tail.trim_end() } else { whole };
        format!("{} […] {}", output::head(whole, head), output::tail(end, tail))
    }

    fn finish_lines(&mut self) {
        self.cleaner.finish();
        let rest = self.cleaner.take_all_but(0);
        self.store(&rest);
    }

    fn store(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let masked = self.mask.apply(text);
        let text = masked.as_deref().unwrap_or(text);
        self.text_bytes += text.len() as u64;
        self.lines += text.bytes().filter(|b| *b == b'\n').count() as u64;
        if self.file.is_some() || self.text_bytes > output::LIMIT as u64 {
            self.save(text);
        }
        if self.head.len() < output::LIMIT {
            let room = output::LIMIT - self.head.len();
            self.head.push_str(&text[..output::floor(text, room)]);
        }
        self.tail.push_str(&text[output::ceil(text, text.len().saturating_sub(TAIL_BYTES))..]);
        if self.tail.len() > 2 * TAIL_BYTES {
            let cut = output::ceil(&self.tail, self.tail.len() - TAIL_BYTES);
            self.tail.drain(..cut);
        }
    }

    /// Appends to the file; the first time it is created with all that came before.
    fn save(&mut self, text: &str) {
        let saved = self.file.get_or_insert_with(|| {
            let mut saved = Saved::create(&self.spill);
            saved.write(&self.head);
            saved
        });
        saved.write(text);
    }

    fn close_file(&mut self) -> Option<String> {
        let mut saved = self.file.take()?;
        if saved.bytes > FILE_BYTES {
            let left_out = saved.bytes - FILE_BYTES;
            let note = format!("\n[… {} are not kept here …]\n", output::size(left_out));
            saved.append(note.as_bytes());
            saved.append(output::tail(&self.tail, output::TAIL_CHARS).as_bytes());
            let kept = output::size(FILE_BYTES);
            return Some(format!("{}; only the first {kept}", output::saved_as(&saved.result)));
        }
        Some(output::saved_as(&saved.result))
    }
}

impl Saved {
    fn create(spill: &Spill) -> Self {
        match output::create(&spill.dir, "bash", &spill.id) {
            Ok((path, file)) => Self { result: Ok(path), file: Some(file), bytes: 0 },
            Err(error) => Self { result: Err(error), file: None, bytes: 0 },
        }
    }

    fn write(&mut self, text: &str) {
        let room = FILE_BYTES.saturating_sub(self.bytes) as usize;
        self.bytes += text.len() as u64;
        let piece = &text[..output::floor(text, room)];
        self.append(piece.as_bytes());
    }

    fn append(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        if let Err(error) = file.write_all(bytes) {
            self.file = None;
            self.result = Err(error);
        }
    }
}

/// Ends the last line of a text that a note will follow.
pub fn close_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Where the first whole line of a window on a longer text begins.
fn first_whole_line(window: &str, whole: usize) -> usize {
    if window.len() == whole {
        return 0;
    }
    window.find('\n').map_or(0, |at| at + 1)
}
