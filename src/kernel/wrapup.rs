//! The last turn of a chat that does not come to an end by itself: tools stay in the request but
//! may not be called, and the model reports what is done, what blocks it and what it needs. If it
//! says nothing twice, a fixed text stands in: no run ends with a dead string.

use super::event::{Event, WrapReason};
use super::message::{AssistantMessage, Block, Message, MessageId, Stop, Usage};
use super::run::Run;
use super::stop::Exit;

const REFLECTION: &str = include_str!("../../assets/prompts/reflection.md");
const REFLECTION_AGAIN: &str = include_str!("../../assets/prompts/reflection_again.md");
const WRAP_UP: &str = include_str!("../../assets/prompts/wrap_up.md");
const WRAP_UP_AGAIN: &str = include_str!("../../assets/prompts/wrap_up_again.md");

/// Asks the model to think about what it keeps doing.
pub(crate) fn reflection(signature: &str) -> String {
    REFLECTION.trim_end().replace("{signature}", signature)
}

/// Tells it that it did the same again.
pub(crate) fn reflection_again(signature: &str) -> String {
    REFLECTION_AGAIN.trim_end().replace("{signature}", signature)
}

/// Why the chat is wrapped up, one sentence.
pub(crate) fn why(reason: WrapReason) -> &'static str {
    match reason {
        WrapReason::MaxIters => "the calls planned for this request are used up.",
        WrapReason::Stuck => "the same calls were repeated without progress.",
        WrapReason::MaxTurns => "the limit on model calls of one run is reached.",
    }
}

impl Run {
    /// Makes the report. The chat is over afterwards.
    pub(super) async fn wrap_up(&mut self, reason: WrapReason) -> Result<(), Exit> {
        self.begin_turn().await;
        self.emitter.send(Event::WrapUp { reason }).await;
        self.wrapping = true;
        let reported = self.report(reason).await;
        self.wrapping = false;
        self.reminder = None;
        reported?;
        self.summary.wrap = Some(reason);
        self.end_turn().await;
        Ok(())
    }

    async fn report(&mut self, reason: WrapReason) -> Result<(), Exit> {
        let asks = [WRAP_UP.trim_end().replace("{reason}", why(reason)), WRAP_UP_AGAIN.into()];
        for ask in asks {
            self.reminder = Some(ask.trim_end().to_owned());
            if self.report_once().await? {
                return Ok(());
            }
        }
        self.commit_fixed(reason).await
    }

    /// Commits a text of our own in the model's place.
    async fn commit_fixed(&mut self, reason: WrapReason) -> Result<(), Exit> {
        let text = format!(
            "Stopped after {} model calls: {} The model gave no report. Write \"continue\" to go on.",
            self.turn,
            why(reason)
        );
        let (id, at): (MessageId, _) = (self.next_message_id(), self.now());
        self.emitter.send(Event::MessageStart { id: id.clone() }).await;
        self.summary.text.clone_from(&text);
        let (model, blocks) = (self.model.model.clone(), vec![Block::text(text)]);
        let (stop, usage) = (Stop::EndTurn, Usage::default());
        let message = AssistantMessage { id, at, model, blocks, stop, usage };
        self.commit(Message::Assistant(message)).await?;
        Ok(())
    }
}
