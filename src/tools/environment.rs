//! The environment of commands: nothing in it can open an editor, a pager or a question, and the
//! keys of model providers are not in it.

use std::process::Command;

/// What every command gets. Git's editor says why it fails; other programs run theirs without a
/// shell, so for them it is `false`. Git asks nobody when its askpass is empty.
const SET: [(&str, &str); 19] = [
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("BAT_PAGER", "cat"),
    ("DELTA_PAGER", "cat"),
    ("EDITOR", "false"),
    ("VISUAL", "false"),
    ("GIT_EDITOR", NO_EDITOR),
    ("GIT_SEQUENCE_EDITOR", NO_EDITOR),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", ""),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("GCM_INTERACTIVE", "never"),
    ("CODEBOT", "1"),
];

const NO_EDITOR: &str = "sh -c 'echo \"no editor here: give the text with a flag such as -m or --no-edit\" >&2; exit 1' --";

/// Variables that would bring colour or a terminal back, or that make the shell read folders and
/// patterns in another way than whoever judged the command line.
const REMOVED: [&str; 9] = [
    "FORCE_COLOR",
    "CLICOLOR_FORCE",
    "GPG_TTY",
    "SSH_TTY",
    "CDPATH",
    "GLOBIGNORE",
    "SHELLOPTS",
    "BASHOPTS",
    "POSIXLY_CORRECT",
];

/// Beginnings of the key variables of model providers.
const PROVIDERS: [&str; 32] = [
    "AI21",
    "ANTHROPIC",
    "ARK",
    "AZURE",
    "AZURE_OPENAI",
    "CEREBRAS",
    "CLAUDE_CODE_OAUTH",
    "COHERE",
    "DASHSCOPE",
    "DEEPINFRA",
    "DEEPSEEK",
    "FIREWORKS",
    "GEMINI",
    "GOOGLE",
    "GOOGLE_GENERATIVE_AI",
    "GROQ",
    "KIMI",
    "LITELLM",
    "MINIMAX",
    "MISTRAL",
    "MOONSHOT",
    "NOVITA",
    "NVIDIA",
    "OPENAI",
    "OPENROUTER",
    "PERPLEXITY",
    "QWEN",
    "SILICONFLOW",
    "TOGETHER",
    "XAI",
    "ZAI",
    "ZHIPU",
];

/// Ends of these variables.
const KINDS: [&str; 6] =
    ["_API_KEY", "_API_TOKEN", "_AUTH_TOKEN", "_TOKEN", "_ACCESS_TOKEN", "_API_KEYS"];

/// What is set and what is taken away.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    secret: Vec<String>,
}

impl Environment {
    /// Takes these variables away too.
    pub fn new(secret: Vec<String>) -> Self {
        Self { secret }
    }

    /// Prepares a command.
    pub fn apply(&self, command: &mut Command) {
        for provider in PROVIDERS {
            for kind in KINDS {
                command.env_remove(format!("{provider}{kind}"));
            }
        }
        for name in REMOVED {
            command.env_remove(name);
        }
        for name in self.secret.iter().filter(|name| is_name(name)) {
            command.env_remove(name);
        }
        command.envs(SET);
    }
}

/// Other names make the standard library panic or fail.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}
