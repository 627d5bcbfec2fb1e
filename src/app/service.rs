//! What front ends get: a [`Handle`] that takes requests and two channels that bring back loop
//! events and news of the application. Front ends know this file and the kernel's words, nothing
//! below.

use std::path::PathBuf;

use tokio::sync::mpsc;

use crate::kernel::command::{Command, Mode};
use crate::kernel::event::Event;
use crate::kernel::message::{CallId, Message};
use crate::kernel::ports::{Effort, ModelInfo};
use crate::kernel::question::{Question, Replies};

pub use super::listing::{Entry, ListKind, Listing, Offer, Pick, Verb};

/// What was asked for on the command line, independent of the front end.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub struct Launch {
    /// Where to work; the current directory when absent.
    pub cwd: Option<PathBuf>,
    /// `provider/model`, when given.
    pub model: Option<String>,
    /// Permission mode, when given.
    pub mode: Option<Mode>,
    /// Begin with planning.
    pub plan: bool,
    /// Another config file than the user's.
    pub config: Option<PathBuf>,
    /// Further folders that count as workspace.
    pub add_dirs: Vec<PathBuf>,
    /// Go on with the newest session of the directory.
    pub resume: bool,
    /// Begin with the set-up, whatever is set up already.
    pub setup: bool,
    /// Use the scripted model in a throw-away sample workspace.
    pub demo: bool,
    /// Whether somebody can be asked; without, ask means deny.
    pub interactive: bool,
    /// Cap on turns of a run.
    pub max_turns: Option<u32>,
}

/// A request of a front end.
#[derive(Clone, Debug)]
pub enum Request {
    /// For the loop.
    Loop(Command),
    /// Ends the session and starts an empty one with the same settings.
    NewSession,
    /// Asks for [`Update::Jobs`].
    Jobs,
    /// Asks for [`Update::Context`].
    Context,
    /// Asks for [`Update::List`] of that kind.
    List(ListKind),
    /// Does something with an entry of a list.
    Pick(Pick),
    /// Exchanges a model by its reference, from the next request on.
    Model {
        /// `provider/model`; `none` takes the small one away.
        reference: String,
        /// The one for side work instead of the main one.
        small: bool,
    },
    /// How hard the model thinks, `None` for its own default.
    Effort(Option<Effort>),
    /// Answers [`Update::Question`].
    Reply {
        /// The call that asks.
        id: CallId,
        /// What the person says.
        replies: Replies,
    },
    /// Asks for [`Update::Setup`] with the providers that take a key, or that one.
    Login(Option<String>),
    /// Forgets the stored key of that provider.
    Logout(String),
    /// Undoes the last rewind.
    Redo,
    /// Remembers a line at once.
    Remember(String),
    /// Forgets what was remembered that way last.
    ForgetLast,
    /// The text of [`Update::Edit`] as the user left it.
    Edited {
        /// Where it belongs.
        id: EditId,
        /// The text.
        text: String,
    },
    /// Takes one of the offers of [`Update::Setup`].
    Setup(SetupChoice),
    /// Ends everything: aborts the run, stops processes, closes the journal.
    Shutdown,
}

/// News of the application.
#[derive(Clone, Debug)]
pub enum Update {
    /// A session is open; prompts are taken from now on.
    Ready(Box<Ready>),
    /// There is no usable model; these are the ways on. Local servers may be added by a second
    /// `Setup` when the probes come back.
    Setup(Setup),
    /// Another model answers from the next request on, or the same one with another effort.
    Model {
        /// The model.
        info: Box<ModelInfo>,
        /// How hard it thinks.
        effort: Option<Effort>,
    },
    /// The conversation went back to an earlier turn, or forth again.
    Rewound {
        /// All of it as it is now.
        history: Vec<Message>,
        /// The words that began what is gone; the front end owns them now. Empty for none.
        draft: String,
    },
    /// The model asks the person. Answered by [`Request::Reply`].
    Question {
        /// The call that asks.
        id: CallId,
        /// What it asks; at least one.
        questions: Vec<Question>,
    },
    /// A question is no longer open.
    QuestionClosed {
        /// The call that asked.
        id: CallId,
    },
    /// A set-up that was under way is over, without another session.
    SetupDone,
    /// The git branch of the workspace, when known.
    Branch(Option<String>),
    /// The background jobs of the session, oldest first: whenever one starts or ends, and when
    /// asked for.
    Jobs(Vec<JobLine>),
    /// Where the tokens of the context go.
    Context(ContextReport),
    /// A list that was asked for, or the one that follows from a pick.
    List(Listing),
    /// The slash commands that skills make, sorted by name: once a session, and when they change.
    Skills(Vec<SkillLine>),
    /// A text for the user's editor; [`Request::Edited`] brings it back.
    Edit {
        /// Where it belongs.
        id: EditId,
        /// The text as it is.
        text: String,
    },
    /// A line for people.
    Notice {
        /// How bad it is.
        level: Level,
        /// One line that names the thing and the remedy.
        text: String,
    },
    /// The application can't go on (broken config, unreadable directory).
    Failed(Failure),
    /// Everything is closed; the last update.
    Closed,
}

/// A slash command that a skill makes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillLine {
    /// Without the slash.
    pub name: String,
    /// How the rest is written, for people; may be empty.
    pub args: String,
    /// One line for people.
    pub help: String,
}

/// Where an edited text belongs: an entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditId {
    /// The list.
    pub kind: ListKind,
    /// [`Entry::id`].
    pub entry: String,
}

/// A background job as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLine {
    /// Its number, unique in the session.
    pub id: String,
    /// The command line.
    pub command: String,
    /// For example `running` or `failed: exit code 3`.
    pub status: String,
    /// Whether it goes on.
    pub running: bool,
    /// Milliseconds it has been running, or ran.
    pub elapsed_ms: u64,
    /// Bytes it has written.
    pub bytes: u64,
}

/// Where the tokens of the next request go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextReport {
    /// Tokens of the whole window.
    pub window: u64,
    /// Tokens in use.
    pub used: u64,
    /// Tokens that may still be used.
    pub free: u64,
    /// Tokens kept free for the answer.
    pub reserve: u64,
    /// The tokens in use by source, in the order of the request.
    pub sources: Vec<(&'static str, u64)>,
    /// What made the view smaller, one line each, and what it saved.
    pub steps: Vec<(String, u64)>,
}

/// An open session.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The model.
    pub model: ModelInfo,
    /// The permission mode.
    pub mode: Mode,
    /// The workspace, as shown to people (home shortened to `~`).
    pub workspace: String,
    /// Session id for `-r`.
    pub session: String,
    /// History of a resumed session; empty for a new one.
    pub history: Vec<Message>,
    /// How hard the model thinks; `None` for its own default.
    pub effort: Option<Effort>,
    /// Whether only looking and the plan are allowed.
    pub planning: bool,
    /// Whether the model is the scripted one.
    pub demo: bool,
    /// What holds commands in, one line.
    pub sandbox: String,
}

/// How bad a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Good to know.
    Info,
    /// Needs a look.
    Warning,
    /// Something did not work.
    Error,
}

/// Ways on when there is no usable model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// Why, one line.
    pub reason: String,
    /// Local model servers that answered.
    pub servers: Vec<LocalServer>,
    /// Providers that take a key.
    pub providers: Vec<ProviderOffer>,
    /// Models of a provider whose key was taken; with them nothing else is offered.
    pub models: Vec<String>,
    /// Whether the scripted demo is offered.
    pub demo: bool,
    /// Something is being looked up; offers come with the next set-up.
    pub busy: bool,
}

/// A local model server that answered a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// For example `Ollama`.
    pub label: String,
    /// Base URL.
    pub base_url: String,
    /// `provider/model` references it serves.
    pub models: Vec<String>,
}

/// A provider that can be set up with a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderOffer {
    /// Config name, for example `anthropic`.
    pub name: String,
    /// For people, for example `Anthropic`.
    pub label: String,
    /// Environment variable that would also do.
    pub key_env: String,
    /// `provider/model` used when none is configured.
    pub default_model: String,
}

/// A choice in the set-up panel.
#[derive(Clone, PartialEq, Eq)]
pub enum SetupChoice {
    /// The scripted demo.
    Demo,
    /// Nothing: the panel was closed.
    Cancel,
    /// This model.
    Model(String),
    /// A pasted key for a provider; stored in the user's config with mode 0600.
    Key {
        /// Config name of the provider.
        provider: String,
        /// The key, trimmed.
        key: String,
    },
}

impl std::fmt::Debug for SetupChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Demo => f.write_str("Demo"),
            Self::Cancel => f.write_str("Cancel"),
            Self::Model(model) => write!(f, "Model({model})"),
            // A key never reaches a log.
            Self::Key { provider, .. } => write!(f, "Key({provider})"),
        }
    }
}

/// Why the application could not start, with its exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// One or more lines that name the thing and the remedy.
    pub message: String,
    /// 1 error, 2 usage or config, 5 provider.
    pub exit_code: u8,
}

/// Sends requests; clones reach the same application. Never blocks.
#[derive(Clone, Debug)]
pub struct Handle {
    requests: mpsc::UnboundedSender<Request>,
}

impl Handle {
    /// A handle and the end that the application reads.
    pub fn channel() -> (Self, mpsc::UnboundedReceiver<Request>) {
        let (requests, receiver) = mpsc::unbounded_channel();
        (Self { requests }, receiver)
    }

    /// Sends a command to the loop. Ignored after shutdown.
    pub fn send(&self, command: Command) {
        self.request(Request::Loop(command));
    }

    /// Sends a request. Ignored after shutdown.
    pub fn request(&self, request: Request) {
        let _closed = self.requests.send(request);
    }
}

/// A running application as a front end sees it.
#[derive(Debug)]
pub struct Front {
    /// Takes requests.
    pub handle: Handle,
    /// Loop events; bounded (128): a live run waits for a slow front end.
    pub events: mpsc::Receiver<Event>,
    /// News of the application; unbounded, few.
    pub updates: mpsc::UnboundedReceiver<Update>,
}
