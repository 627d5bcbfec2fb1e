//! Takes out of a text what looks like a key before it is remembered. Known secret values are hidden
//! by whoever knows them; this finds the unknown ones by their form. It would rather lose a word.

/// What stands in for a secret.
const REPLACEMENT: &str = "[secret]";
/// How keys of well-known services begin.
const BEGINNINGS: [&str; 12] = [
    "sk-",
    "sk_",
    "pk_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
];
/// Words after which a value is a secret.
const NAMES: [&str; 9] =
    ["password", "passwd", "passphrase", "secret", "token", "api_key", "apikey", "api-key", "密码"];
/// Shortest word of mixed letters and digits that is taken for a key.
const LONG: usize = 32;
/// Shortest value of a name above, and shortest key with a known beginning.
const SHORT: usize = 8;

/// The text without what looks like a secret.
pub fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut named = false;
    let mut rest = text;
    while !rest.is_empty() {
        let space = rest.len() - rest.trim_start().len();
        out.push_str(&rest[..space]);
        rest = &rest[space..];
        let word = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
        rest = &rest[word.len()..];
        let (name, value) = split(word);
        let follows = named && value.chars().count() >= SHORT && !value.is_empty();
        let assigned = !name.is_empty() && is_name(name) && value.len() >= SHORT;
        if follows && has_digit_or_sign(value) || assigned || is_key(value) {
            out.push_str(name);
            out.push_str(REPLACEMENT);
        } else {
            out.push_str(word);
        }
        // `password is x`, `password: x`: the name holds over such a joint.
        let joint = matches!(word, "is" | "=" | ":" | "was" | "是");
        named = joint && named || is_name(word) && value.is_empty() || is_name(value);
    }
    out
}

/// `name=value` or `name:value` apart; the name keeps its sign. A word without one is a value.
fn split(word: &str) -> (&str, &str) {
    match word.find(['=', ':']) {
        Some(at) if !word[at + 1..].starts_with("//") => word.split_at(at + 1),
        _ => ("", word),
    }
}

fn is_name(word: &str) -> bool {
    let lower = word.to_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric());
    NAMES.iter().any(|name| bare.ends_with(name))
}

fn has_digit_or_sign(value: &str) -> bool {
    value.trim_end_matches(['.', ',']).chars().any(|c| !c.is_alphabetic())
}

fn is_key(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    if bare.len() >= SHORT && BEGINNINGS.iter().any(|start| bare.starts_with(start)) {
        return true;
    }
    let plain = bare.chars().all(|c| c.is_ascii_alphanumeric() || "_-+/=.".contains(c));
    let has = |of: fn(&char) -> bool| bare.chars().any(|c| of(&c));
    bare.len() >= LONG
        && plain
        && !bare.contains('/')
        && has(char::is_ascii_digit)
        && has(char::is_ascii_alphabetic)
}
