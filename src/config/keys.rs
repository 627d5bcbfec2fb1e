//! The registry of configuration keys: what the documentation is made from and what an unknown key
//! is compared with.

/// Who may set a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every layer.
    Any,
    /// The user only; in a project file it is ignored with a warning.
    User,
    /// A project file may only make it stricter.
    Stricter,
    /// What a project file says is off until the user agrees to it with `/trust`.
    Trusted,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct KeyDoc {
    /// Its dotted name; `*` stands for a name of the user's choice.
    pub key: &'static str,
    /// What a value looks like.
    pub kind: &'static str,
    /// What holds without it.
    pub default: &'static str,
    /// Who may set it.
    pub scope: Scope,
    /// What it does, one sentence.
    pub doc: &'static str,
}

const fn key(
    key: &'static str,
    kind: &'static str,
    default: &'static str,
    scope: Scope,
    doc: &'static str,
) -> KeyDoc {
    KeyDoc { key, kind, default, scope, doc }
}

/// All keys, in the order of the documentation.
pub const KEYS: &[KeyDoc] = &[
    key(
        "model",
        "provider/model",
        "the provider that has a key",
        Scope::Any,
        "The model to talk to.",
    ),
    key(
        "small_model",
        "provider/model",
        "the main model",
        Scope::Any,
        "The model for side work and fast requests.",
    ),
    key(
        "effort",
        "off | low | medium | high | max",
        "the model's own",
        Scope::Any,
        "How hard the model thinks before it answers.",
    ),
    key(
        "permission_mode",
        "strict | balanced | accept-edits | trust",
        "balanced",
        Scope::Stricter,
        "How much may happen without asking.",
    ),
    key("log", "filter", "off", Scope::User, "What the log file records, for example `debug`."),
    key(
        "providers.*.kind",
        "anthropic | openai-chat | openai-responses | gemini | demo",
        "the built-in row",
        Scope::User,
        "Which dialect the service speaks.",
    ),
    key("providers.*.base_url", "URL", "the built-in row", Scope::User, "Where the service is."),
    key("providers.*.api_key", "text", "none", Scope::User, "The key itself."),
    key(
        "providers.*.api_key_env",
        "name",
        "the built-in row",
        Scope::User,
        "The environment variable that holds the key.",
    ),
    key("providers.*.headers.*", "text", "none", Scope::User, "A further request header."),
    key(
        "providers.*.reasoning_replay",
        "true | false",
        "off for unknown servers",
        Scope::User,
        "Whether the model's reasoning text is sent back to it.",
    ),
    key("models.*.context_window", "tokens", "the catalogue", Scope::User, "Size of the context."),
    key("models.*.max_output", "tokens", "the catalogue", Scope::User, "Longest answer."),
    key(
        "models.*.price_in",
        "US dollars",
        "the catalogue",
        Scope::User,
        "Price of a million input tokens.",
    ),
    key("models.*.vision", "true | false", "the catalogue", Scope::User, "Whether it sees images."),
    key(
        "models.*.thinking",
        "list",
        "the catalogue",
        Scope::User,
        "What the service takes for the efforts off, low, medium, high and max: tokens or words.",
    ),
    key(
        "models.*.price_out",
        "US dollars",
        "the catalogue",
        Scope::User,
        "Price of a million output tokens.",
    ),
    key(
        "permissions.allow",
        "list of rules",
        "[]",
        Scope::Trusted,
        "What runs without a question.",
    ),
    key(
        "permissions.ask",
        "list of rules",
        "[]",
        Scope::Any,
        "What asks each time, whatever else is remembered or allowed; the lists of all files add up.",
    ),
    key(
        "permissions.deny",
        "list of rules",
        "[]",
        Scope::Any,
        "What never runs; the lists of all files add up.",
    ),
    key(
        "permissions.roots",
        "list of folders",
        "[]",
        Scope::Trusted,
        "Further folders that count as workspace.",
    ),
    key("limits.max_turns", "number", "200", Scope::Any, "Most model calls of one run."),
    key(
        "limits.wrap_at_cap",
        "true | false",
        "true",
        Scope::Any,
        "Whether the last model call is spent on a report.",
    ),
    key("limits.max_tokens", "number", "none", Scope::Any, "Most tokens of one run, in and out."),
    key(
        "limits.max_cost",
        "US dollars",
        "none",
        Scope::Any,
        "Most money of one run, where the price is known.",
    ),
    key(
        "limits.max_minutes",
        "number",
        "none",
        Scope::Any,
        "Most minutes of one run, without the time spent waiting for you.",
    ),
    key(
        "route.escalate",
        "true | false",
        "true",
        Scope::Any,
        "Whether a request that used up its model calls and still moves gets more.",
    ),
    key("route.medium", "number", "4", Scope::Any, "Model calls of a short request."),
    key("route.full", "number", "10", Scope::Any, "Model calls of a long request."),
    key(
        "route.fast",
        "list of texts",
        "[]",
        Scope::Any,
        "Whole requests that are a quick look; `*` stands for anything.",
    ),
    key("retry.max_retries", "number", "3", Scope::Any, "Attempts after a failed model call."),
    key(
        "retry.continue_partial",
        "true | false",
        "true",
        Scope::Any,
        "Whether a broken answer whose tools had begun is kept and continued.",
    ),
    key(
        "tools.start",
        "stream | read_only | after_message",
        "stream",
        Scope::Any,
        "When a completed call may start.",
    ),
    key("tools.max_concurrency", "number", "4", Scope::Any, "Most calls beside each other."),
    key(
        "tools.bash_timeout_s",
        "seconds",
        "120",
        Scope::Any,
        "When a command is stopped that names no limit of its own.",
    ),
    key(
        "web.allow_hosts",
        "list of hosts",
        "none",
        Scope::User,
        "Hosts on this machine or in private networks that may be fetched from: `name`, `name:port`, `*.domain`.",
    ),
    key(
        "web.search_url",
        "address",
        "no search",
        Scope::User,
        "A search service that answers in JSON, with `{query}` where the query goes.",
    ),
    key(
        "web.search_key_env",
        "name",
        "no key",
        Scope::User,
        "The environment variable that holds the key of the search service.",
    ),
    key(
        "web.search_header",
        "name",
        "Authorization: Bearer",
        Scope::User,
        "The header that carries that key, for example `X-Subscription-Token`.",
    ),
    key(
        "sandbox.mode",
        "auto | on | off",
        "auto",
        Scope::User,
        "Whether commands are held in: where the system can, always, or never.",
    ),
    key(
        "sandbox.auto_allow",
        "true | false",
        "false",
        Scope::User,
        "Whether accept-edits runs commands of the workspace unasked while the sandbox is on.",
    ),
    key(
        "sandbox.network",
        "true | false",
        "false",
        Scope::User,
        "Whether commands in the sandbox may reach other machines.",
    ),
    key(
        "sandbox.write",
        "list of folders",
        "[]",
        Scope::User,
        "Further folders that commands in the sandbox may change; `~/` stands for your home.",
    ),
    key(
        "context.result_tokens",
        "tokens",
        "20000",
        Scope::Any,
        "Most that the model sees of one result; the rest loses its middle.",
    ),
    key(
        "context.results_tokens",
        "tokens",
        "100000",
        Scope::Any,
        "Most that the model sees of all results; the largest old ones are cleared above it.",
    ),
    key(
        "prompt.dynamic",
        "system_tail | turn_context",
        "system_tail",
        Scope::Any,
        "Where the facts of the session stand: in a system block, or in front of your words.",
    ),
    key(
        "memory.enabled",
        "true | false",
        "true",
        Scope::User,
        "Whether anything is remembered over sessions, and told.",
    ),
    key(
        "memory.extract",
        "true | false",
        "false",
        Scope::User,
        "Whether the small model looks through conversations for what is worth remembering.",
    ),
    key(
        "background.wake",
        "true | false",
        "false",
        Scope::User,
        "Whether the end of a background task starts a run while nothing else runs.",
    ),
    key("ui.theme", "name", "auto", Scope::Any, "Colours; `auto` follows the terminal."),
    key("ui.mouse", "true | false", "true", Scope::Any, "Whether wheel, click and drag are used."),
    key(
        "ui.alt_screen",
        "true | false",
        "true",
        Scope::Any,
        "Whether the alternate screen is used.",
    ),
    key("ui.reduced_motion", "true | false", "false", Scope::Any, "No moving signs."),
];

/// All keys as a Markdown table for the documentation.
pub fn markdown() -> String {
    let head = "| key | value | default | set by | meaning |\n|---|---|---|---|---|\n";
    let row = |doc: &KeyDoc| {
        let set_by = match doc.scope {
            Scope::Any => "anyone",
            Scope::User => "you only",
            Scope::Stricter => "a project only stricter",
            Scope::Trusted => "a project with your trust",
        };
        let kind = doc.kind.replace('|', "\\|");
        format!("| `{}` | {kind} | {} | {set_by} | {} |\n", doc.key, doc.default, doc.doc)
    };
    KEYS.iter().map(row).fold(head.to_owned(), |table, row| table + &row)
}

/// The row of a dotted path. Tables on the way to a key have none.
pub fn find(path: &[&str]) -> Option<&'static KeyDoc> {
    KEYS.iter().find(|doc| matches(doc, path, true))
}

/// Whether keys lie below this path.
pub fn is_table(path: &[&str]) -> bool {
    KEYS.iter().any(|doc| matches(doc, path, false))
}

/// With `whole`, whether the path is the key; without, whether it is a table above it.
fn matches(doc: &KeyDoc, path: &[&str], whole: bool) -> bool {
    let mut parts = doc.key.split('.');
    let all = path.iter().all(|name| parts.next().is_some_and(|part| part == "*" || part == *name));
    all && parts.next().is_none() == whole
}

/// The known key nearest to an unknown one, when one is near enough to be meant.
pub fn nearest(path: &[&str]) -> Option<String> {
    let given = path.join(".");
    let last = path.last().copied().unwrap_or_default();
    KEYS.iter()
        .map(|doc| {
            let own = filled(doc.key, path);
            let name = own.rsplit('.').next().unwrap_or_default();
            // The right name in the wrong table counts as near too.
            let distance = distance(&given, &own).min(distance(last, name) + 1);
            (distance, own)
        })
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, own)| *distance <= (own.len() / 3).max(2))
        .map(|(_, own)| own)
}

/// A key with the user's own names in place of `*`.
fn filled(key: &str, path: &[&str]) -> String {
    let part = |(index, part): (usize, &str)| match path.get(index) {
        Some(own) if part == "*" => (*own).to_owned(),
        _ => part.to_owned(),
    };
    key.split('.').enumerate().map(part).collect::<Vec<_>>().join(".")
}

/// Insertions, deletions and changes of a character between two texts.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
