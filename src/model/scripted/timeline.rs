//! A turn of the script as a list of stream events, each with the wait in front of it. Pure: the
//! same turn gives the same list.

use std::time::Duration;

use serde_json::{Map, Value};

use super::Pace;
use super::position::Position;
use super::script::{Script, ScriptedCall, Step};
use crate::kernel::message::{CallId, Stop, ToolCall, Usage};
use crate::kernel::ports::{Request, StreamEvent};

/// Fastest wait before a piece, in microseconds: 120 pieces a second.
const FASTEST_US: u64 = 8_333;
/// What the slowest wait has on top: 60 pieces a second.
const SPREAD_US: u64 = 8_333;
/// Wait until the service answers at all.
const OPENING: Duration = Duration::from_millis(350);
/// Longest piece in characters; English tokens have about four.
const PIECE: usize = 8;
/// Bytes of English text in one token.
const BYTES_PER_TOKEN: usize = 4;

/// One event and the wait in front of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cue {
    /// How long to wait first.
    pub after: Duration,
    /// What to send.
    pub event: StreamEvent,
}

/// The wait from the request to the first event.
pub fn opening(pace: Pace) -> Duration {
    match pace {
        Pace::Natural => OPENING,
        Pace::Instant => Duration::ZERO,
    }
}

/// An estimate of what a service would count for this request, in tokens.
pub fn input_tokens(request: &Request) -> u64 {
    let system: usize = request.system.iter().map(|block| block.text.len()).sum();
    let tools: usize = request
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + tool.schema.to_string().len())
        .sum();
    let history = serde_json::to_string(&request.messages).map_or(0, |text| text.len());
    ((system + tools + history) / BYTES_PER_TOKEN) as u64
}

/// All events of the answer that is due at `position`.
pub fn cues(script: &Script, position: &Position<'_>, input: u64, pace: Pace) -> Vec<Cue> {
    let mut player = Player::new(position, pace);
    player.push(StreamEvent::Start);
    player.push(StreamEvent::Usage(Usage { input, ..Usage::default() }));
    for words in &position.heard {
        player.text(&script.heard.replace("{said}", words));
    }
    player.next_block();
    for step in &position.turn.steps {
        player.step(step);
    }
    player.finish(input)
}

/// The report that is asked for when tools are off: what the script has shown so far.
pub fn report(position: &Position<'_>, input: u64, pace: Pace) -> Vec<Cue> {
    let mut player = Player::new(position, pace);
    player.push(StreamEvent::Start);
    player.push(StreamEvent::Usage(Usage { input, ..Usage::default() }));
    player.text(&format!(
        "The demo stops here after {} answers, since a limit on model calls is reached. **Done:** \
         the steps above. **Open:** the rest of the script. Write \"continue\" to go on.",
        position.answers
    ));
    player.finish(input)
}

/// Collects the events of one answer.
struct Player<'a> {
    position: &'a Position<'a>,
    pace: Pace,
    cues: Vec<Cue>,
    wait: Duration,
    /// Block under way.
    index: usize,
    /// Whether the block under way holds text.
    open: bool,
    calls: usize,
    pieces: u64,
}

impl<'a> Player<'a> {
    fn new(position: &'a Position<'a>, pace: Pace) -> Self {
        let wait = Duration::ZERO;
        Self { position, pace, cues: Vec::new(), wait, index: 0, open: false, calls: 0, pieces: 0 }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Text(text) => self.text(&text.replace("{said}", &self.position.prompt)),
            Step::Thinking(text) => self.thinking(text),
            Step::Call(call) => self.call(call),
            Step::Repeat(repeat) => {
                for n in 1..=repeat.times {
                    self.text(&repeat.text.replace("{n}", &n.to_string()));
                }
            }
            Step::Pause(millis) => self.pause(Duration::from_millis(*millis)),
        }
    }

    fn text(&mut self, text: &str) {
        for piece in pieces(text) {
            let event = StreamEvent::TextDelta { index: self.index, text: piece.to_owned() };
            self.piece(event);
        }
        self.open = true;
    }

    fn thinking(&mut self, text: &str) {
        self.next_block();
        for piece in pieces(text) {
            let event = StreamEvent::ThinkingDelta { index: self.index, text: piece.to_owned() };
            self.piece(event);
        }
        self.open = true;
        self.next_block();
    }

    fn call(&mut self, call: &ScriptedCall) {
        self.next_block();
        let index = self.index;
        self.piece(StreamEvent::CallStart { index, name: call.tool.clone() });
        for piece in pieces(&Value::Object(call.args.clone()).to_string()) {
            self.piece(StreamEvent::CallDelta { index, bytes: piece.len() });
        }
        let call = self.complete(&call.tool, call.args.clone());
        self.push(StreamEvent::CallComplete { index, call });
        self.open = true;
        self.next_block();
    }

    fn complete(&mut self, name: &str, args: Map<String, Value>) -> ToolCall {
        self.calls += 1;
        let id = CallId(format!("demo_{}_{}", self.position.answers + 1, self.calls));
        ToolCall { id, name: name.to_owned(), args, invalid: None, opaque: None }
    }

    /// Closes the block under way, when there is one.
    fn next_block(&mut self) {
        self.index += usize::from(self.open);
        self.open = false;
    }

    /// An event that counts as a piece of output and takes its time.
    fn piece(&mut self, event: StreamEvent) {
        self.pieces += 1;
        self.pause(Duration::from_micros(FASTEST_US + unevenness(self.pieces)));
        self.push(event);
    }

    fn pause(&mut self, wait: Duration) {
        if self.pace == Pace::Natural {
            self.wait += wait;
        }
    }

    fn push(&mut self, event: StreamEvent) {
        self.cues.push(Cue { after: std::mem::take(&mut self.wait), event });
    }

    fn finish(mut self, input: u64) -> Vec<Cue> {
        let usage = Usage { input, output: self.pieces, ..Usage::default() };
        self.push(StreamEvent::Usage(usage));
        let stop = if self.calls > 0 { Stop::ToolUse } else { Stop::EndTurn };
        self.push(StreamEvent::Done(stop));
        self.cues
    }
}

/// Something between 0 and the spread that differs from piece to piece, without chance.
fn unevenness(piece: u64) -> u64 {
    // Knuth's multiplicative hash; the high bits are well mixed.
    (piece.wrapping_mul(2_654_435_761) >> 7) % (SPREAD_US + 1)
}

/// Cuts text into pieces the size of tokens: at blanks, and inside long words.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, tail) = rest.split_at(piece_end(rest));
        rest = tail;
        Some(piece)
    })
}

/// A blank starts a new piece, as in the vocabularies of real models.
fn piece_end(text: &str) -> usize {
    let mut chars = text.char_indices().enumerate().skip(1);
    let end = chars.find(|(count, (_, c))| *count >= PIECE || c.is_whitespace());
    end.map_or(text.len(), |(_, (at, _))| at)
}
