//! Command line types: what was typed, nothing more. Meaning (defaults, config, environment) is
//! added later, in this order: flag, environment, config.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;
use clap::{Parser, Subcommand};

use crate::app::service::Launch;
use crate::headless::Format;
use crate::kernel::command::Mode;

/// The two ways to call it.
const USAGE: &str =
    "codebot [OPTIONS] [PROMPT]\n       codebot [OPTIONS] doctor\n       codebot [OPTIONS] setup";

/// What stands at the end of `--help`.
const AFTER_HELP: &str = "\
Examples:
  codebot                            open the screen in this directory
  codebot \"explain src/main.rs\"      open it and ask at once
  git diff | codebot -p \"review\"     answer on stdout, no screen
  codebot --demo                     try it without a model, offline

Exit codes of -p: 0 done, 1 error, 2 usage, 3 a call was denied because nobody could be asked,
4 turn cap reached, 5 provider or key, 130 interrupted.";

/// A full-screen terminal coding assistant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
#[command(name = "codebot", version, after_help = AFTER_HELP, override_usage = USAGE)]
pub struct Cli {
    /// What to ask first; with -p, text piped to stdin is added to it
    pub prompt: Option<String>,

    /// Print the answer and exit; nobody can be asked, so what would ask is denied
    #[arg(short, long)]
    pub print: bool,

    /// Go on with the newest session of this directory
    #[arg(short = 'c', long = "continue")]
    pub resume: bool,

    /// Model, for example anthropic/claude-sonnet-4-5 or ollama/qwen3
    #[arg(short, long, value_name = "PROVIDER/MODEL")]
    pub model: Option<String>,

    /// How much may happen without asking
    #[arg(long, value_name = "MODE", value_parser = mode_parser())]
    pub permission_mode: Option<Wished>,

    /// What -p prints [default: text]
    #[arg(long, value_name = "FORMAT", requires = "print", value_parser = format_parser())]
    pub output_format: Option<Format>,

    /// Most model answers in one run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_turns: Option<u32>,

    /// A further folder that counts as workspace; may be repeated
    #[arg(long, value_name = "DIR")]
    pub add_dir: Vec<PathBuf>,

    /// Draw in the normal screen, line by line
    #[arg(long)]
    pub no_alt_screen: bool,

    /// Leave the mouse to the terminal
    #[arg(long)]
    pub no_mouse: bool,

    /// Play a scripted demo in a throw-away project; needs no model and no network
    #[arg(long, conflicts_with = "model")]
    pub demo: bool,

    /// Another config file than the user's own
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Work in this directory
    #[arg(short = 'C', long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,

    /// Another task than a conversation.
    #[command(subcommand)]
    pub command: Option<Task>,
}

/// What else the program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub enum Task {
    /// Check config, keys, terminal, sandbox and programs, and say what to do
    Doctor,
    /// Choose a provider, try its key, pick a model; then open the screen
    Setup,
}

impl Cli {
    /// The part of the command line that the application acts on.
    pub fn launch(&self) -> Launch {
        Launch {
            cwd: self.cwd.clone(),
            model: self.model.clone(),
            mode: match self.permission_mode {
                Some(Wished::Mode(mode)) => Some(mode),
                Some(Wished::Plan) | None => None,
            },
            plan: self.permission_mode == Some(Wished::Plan),
            config: self.config.clone(),
            add_dirs: self.add_dir.clone(),
            resume: self.resume,
            setup: self.command == Some(Task::Setup),
            demo: self.demo,
            interactive: !self.print,
            max_turns: self.max_turns,
        }
    }
}

/// What `--permission-mode` may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wished {
    /// That mode.
    Mode(Mode),
    /// Planning, in the mode of the settings.
    Plan,
}

fn mode_parser() -> impl clap::builder::TypedValueParser<Value = Wished> {
    let names = Mode::ALL.map(Mode::name).into_iter().chain(["plan"]);
    PossibleValuesParser::new(names)
        .map(|name| Mode::from_name(&name).map_or(Wished::Plan, Wished::Mode))
}

fn format_parser() -> impl clap::builder::TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name))
        .map(|name| Format::from_name(&name).unwrap_or_default())
}
