//! Carrying out what a change of state asked for: requests, clipboard, editor, history file,
//! suspend. Nothing here blocks the screen but what has the terminal for itself.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use super::shell::{Shell, Sign};
use super::store::{Effect, Exit, Msg};
use super::{editor, history_file};
use crate::app::service::{Level, Request, Update};

/// How long closing may take when the terminal is gone.
const GONE: Duration = Duration::from_millis(1500);
/// How long a stop may take to reach all threads.
const STOP: Duration = Duration::from_millis(100);

impl Shell {
    pub(super) async fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Request(request) => self.front.handle.request(request),
            // A terminal that can't be written to is noticed by the next frame.
            Effect::Copy(text) => drop(self.screen.copy(&text)),
            Effect::Redraw => self.screen.invalidate(),
            Effect::Bell => drop(self.screen.bell()),
            Effect::Editor(text) => self.edit(text, Msg::Edited).await,
            Effect::EditEntry(id, text) => {
                self.edit(text, |edited| Msg::EditedEntry(id, edited)).await;
            }
            Effect::SaveHistory(text) => self.save_history(text),
            Effect::Suspend => self.suspend().await,
            Effect::Leave(exit) => self.exit = Some(exit),
        }
    }

    /// Reads earlier prompts; they come as a message.
    pub(super) fn load_history(&self) {
        let Some(path) = self.options.history_path.clone() else { return };
        let messages = self.messages.clone();
        tokio::task::spawn_blocking(move || {
            let msg = match history_file::load(&path) {
                Ok(entries) => Msg::History(entries),
                Err(error) => Msg::Notice(Level::Warning, history_file::complaint(&path, &error)),
            };
            let _closing = messages.send(msg);
        });
    }

    fn save_history(&self, text: String) {
        let Some(path) = self.options.history_path.clone() else { return };
        let messages = self.messages.clone();
        tokio::task::spawn_blocking(move || {
            if let Err(error) = history_file::append(&path, &text) {
                let text = history_file::complaint(&path, &error);
                let _closing = messages.send(Msg::Notice(Level::Warning, text));
            }
        });
    }

    /// Gives the terminal to the editor. What the run reports meanwhile is taken in, not drawn.
    async fn edit(&mut self, text: String, told: impl FnOnce(Result<String, String>) -> Msg) {
        self.reader.pause();
        self.screen.release();
        let command = self.options.editor.clone().unwrap_or_else(|| "vi".to_owned());
        let edited = self.beside_events(editor::edit(&command, &text)).await;
        let retaken = self.screen.retake();
        self.reader.resume();
        if retaken.is_err() {
            self.exit = Some(self.hang_up().await);
            return;
        }
        if let Some(edited) = edited {
            for effect in self.change(told(edited)) {
                if let Effect::Request(request) = effect {
                    self.front.handle.request(request);
                }
            }
        }
        let _none = self.change(Msg::Resumed);
    }

    /// Waits for `work` while following the run; `None` when the program has to end first.
    async fn beside_events<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(work);
        loop {
            let msg = tokio::select! {
                done = &mut work => return Some(done),
                Some(event) = self.front.events.recv() => Msg::Event(event),
                Some(news) = self.front.updates.recv() => Msg::Update(news),
                sign = self.signals.next() => match sign {
                    Sign::Terminate | Sign::HangUp => Msg::Terminate(143),
                    // Meant for the editor.
                    Sign::Interrupt | Sign::Resumed | Sign::Resized => continue,
                },
            };
            for effect in self.change(msg) {
                match effect {
                    Effect::Request(request) => self.front.handle.request(request),
                    Effect::Leave(exit) => {
                        self.exit = Some(exit);
                        return None;
                    }
                    _ => {}
                }
            }
        }
    }

    /// Stops the program as the shell expects it. Without a shell that could continue it the stop
    /// is ignored by the system, and the screen comes back at once.
    async fn suspend(&mut self) {
        self.reader.pause();
        self.screen.release();
        let _refused = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
        // The stop may reach this thread a moment later.
        tokio::select! {
            _ = self.signals.next() => {}
            () = sleep(STOP) => {}
        }
        let retaken = self.screen.retake();
        self.reader.resume();
        if retaken.is_err() {
            self.exit = Some(self.hang_up().await);
        }
        let _none = self.change(Msg::Resumed);
    }

    /// The terminal is gone: ends the application and waits for it a moment.
    pub(super) async fn hang_up(&mut self) -> Exit {
        self.front.handle.request(Request::Shutdown);
        let deadline = Instant::now() + GONE;
        let closed = async {
            loop {
                tokio::select! {
                    news = self.front.updates.recv() => match news {
                        None | Some(Update::Closed) => break,
                        Some(_) => {}
                    },
                    Some(_) = self.front.events.recv() => {}
                }
            }
        };
        let _late = timeout_at(deadline, closed).await;
        Exit { code: 129, error: None }
    }
}
