//! The program: parses the command line and hands over to the screen, to the headless front end
//! or to the doctor.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::Parser as _;
use codebot::app::preferences::Preferences;
use codebot::app::{checkup, doctor, harness, system};
use codebot::cli::{Cli, Task};
use codebot::ui::theme::Theme;
use codebot::{headless, ui};

/// Exit code for a call that can't be carried out as it stands.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let cli = Cli::parse();
    ui::crash::install_hook();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("codebot")
        .enable_all()
        .build();
    let code = match runtime {
        Ok(runtime) => {
            let code = runtime.block_on(run(&cli));
            // A blocked file system call must not keep the program from ending.
            runtime.shutdown_timeout(std::time::Duration::from_millis(100));
            code
        }
        Err(error) => complain(&format!("cannot start: {error}"), 1),
    };
    ExitCode::from(code)
}

async fn run(cli: &Cli) -> u8 {
    #[cfg(unix)]
    system::outlive_file_limit();
    if let Some(Task::Doctor) = cli.command {
        return examine(cli).await;
    }
    if cli.print {
        return print(cli).await;
    }
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return complain(
            "no terminal here: use codebot -p \"your prompt\" without a screen",
            USAGE,
        );
    }
    let launch = cli.launch();
    let options = screen_options(cli, &Preferences::read(&launch));
    let front = harness::launch(launch);
    let outcome = match ui::run(front, options).await {
        Ok(outcome) => outcome,
        Err(error) => return complain(&format!("cannot use this terminal: {error}"), 1),
    };
    let _closed = io::stdout().write_all(outcome.farewell.as_bytes());
    match outcome.error {
        Some(error) => complain(&error, outcome.code),
        None => outcome.code,
    }
}

fn screen_options(cli: &Cli, preferences: &Preferences) -> ui::UiOptions {
    ui::UiOptions {
        alt_screen: preferences.ui.alt_screen && !cli.no_alt_screen,
        mouse: preferences.ui.mouse && !cli.no_mouse,
        first_prompt: cli.prompt.clone(),
        history_path: preferences.history.clone(),
        reduced_motion: preferences.ui.reduced_motion,
        theme: Theme::chosen(&preferences.ui.theme, |name| preferences.var(name)),
        editor: preferences.editor.clone(),
        ..ui::UiOptions::default()
    }
}

async fn print(cli: &Cli) -> u8 {
    let stdin = (!io::stdin().is_terminal()).then(io::stdin);
    let waiting = || {
        complain("reading the prompt from stdin; end it with Ctrl+D", 0);
    };
    match headless::prompt::gather_patiently(cli.prompt.as_deref(), stdin, waiting) {
        Ok(prompt) => {
            let front = harness::launch(cli.launch());
            let format = cli.output_format.unwrap_or_default();
            headless::run(front, headless::Options { prompt, format }).await
        }
        Err(error) => complain(&error.to_string(), USAGE),
    }
}

async fn examine(cli: &Cli) -> u8 {
    let size = crossterm::terminal::size().ok();
    match checkup::gather(&cli.launch(), size, io::stdout().is_terminal()).await {
        Ok(facts) => {
            let _closed = io::stdout().write_all(doctor::report(&facts).as_bytes());
            u8::from(doctor::has_failures(&facts))
        }
        Err(failure) => complain(&failure.message, failure.exit_code),
    }
}

/// Says why on stderr, where a closed pipe does not matter, and gives the exit code back.
fn complain(message: &str, code: u8) -> u8 {
    let _closed = writeln!(io::stderr(), "codebot: {message}");
    code
}
