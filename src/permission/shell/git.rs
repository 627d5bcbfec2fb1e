//! git: which calls only look, and which ones destroy. Only known sub-commands with known flags
//! pass; global options that change where git looks or what it runs do not.

use super::flags::{Operands, Spec, Touch, matches};
use super::lex::Word;

const LOG: &str = "-pstuwzLE -n= -L= -S= -G= -U= -M -C -i -# --oneline --stat? --patch --no-patch --graph --decorate? --no-decorate --all --branches? --tags? --remotes? --author= --committer= --grep= --all-match --invert-grep --since= --until= --after= --before= --name-only --name-status --no-merges --merges --format= --pretty? --abbrev-commit --abbrev? --no-abbrev-commit --date= --follow --reverse --first-parent --shortstat --numstat --dirstat? --summary --no-color --color? --max-count= --skip= --unified= --word-diff? --ignore-all-space --ignore-space-change --ignore-blank-lines --diff-filter= --find-renames? --topo-order --date-order --no-ext-diff --no-textconv --raw --minimal --patience --histogram --left-right --cherry-pick --cherry-mark --merge-base --pickaxe-regex --pickaxe-all --show-signature --no-notes --source --full-history --simplify-by-decoration --no-renames --no-prefix --relative? --exit-code --quiet --check --compact-summary --binary --full-index --no-walk? --ignore-case --extended-regexp --fixed-strings --boundary --cc -c -m -b -q -h";

const fn row(name: &'static str, flags: &'static str, operands: Operands) -> Spec {
    Spec { name, flags, operands, harmless: false }
}

const LIST: &[&str] =
    &["--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"];

/// Sub-commands that only look.
const TABLE: [Spec; 23] = [
    row(
        "status",
        "-abnlosuvz --short --branch --show-stash --porcelain? --long --verbose --untracked-files? --ignored? --ahead-behind --no-ahead-behind --column? --no-column --renames --no-renames",
        Operands::Git,
    ),
    row("log", LOG, Operands::Git),
    row(
        "diff",
        "-pstuwzRab -U= -S= -G= -M -C --cached --staged --stat? --name-only --name-status --numstat --shortstat --summary --patch --no-patch --no-color --color? --color-words? --word-diff? --unified= --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-space-at-eol --diff-filter= --find-renames? --no-ext-diff --no-textconv --raw --minimal --patience --histogram --merge-base --exit-code --quiet --check --compact-summary --no-renames --no-prefix --relative? --binary --function-context --dirstat? --diff-algorithm= --pickaxe-regex --abbrev? --full-index",
        Operands::Git,
    ),
    row("show", LOG, Operands::Git),
    row(
        "branch",
        "-arv --all --remotes --verbose --list --show-current --contains= --no-contains= --merged --no-merged --points-at= --sort= --format= --color? --no-color --column? --no-column --abbrev? --ignore-case -i",
        Operands::ListOnly(LIST),
    ),
    row(
        "tag",
        "-il -n --list --contains= --no-contains= --merged --no-merged --points-at= --sort= --format= --column? --color?",
        Operands::ListOnly(&["--list", "-l"]),
    ),
    row(
        "rev-parse",
        "-q --abbrev-ref? --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --verify --short? --symbolic --symbolic-full-name --quiet --all --branches? --tags? --remotes? --revs-only --show-superproject-working-tree",
        Operands::Git,
    ),
    row(
        "ls-files",
        "-cdmoksuztv --cached --deleted --modified --others --ignored --stage --unmerged --killed --exclude-standard --exclude= --full-name --error-unmatch --abbrev? --eol --directory",
        Operands::Git,
    ),
    row(
        "ls-tree",
        "-drtlz --name-only --name-status --long --full-name --full-tree --abbrev? --format=",
        Operands::Git,
    ),
    row(
        "blame",
        "-bcefhklnpstw -L= -M -C --porcelain --line-porcelain --since= --date= --abbrev= --show-name --show-number --show-email --root",
        Operands::Git,
    ),
    row("remote", "-v --verbose", Operands::None),
    row(
        "describe",
        "--all --tags --contains --abbrev= --candidates= --exact-match --long --match= --exclude= --always --first-parent --dirty? --broken?",
        Operands::Git,
    ),
    row(
        "shortlog",
        "-sne --summary --numbered --email --no-merges --merges --since= --until= --after= --before= --author= --group= --all -c",
        Operands::Git,
    ),
    row(
        "grep",
        "-aiIwvhHEGPFnlLcopWz -A= -B= -C= -e= -m= --text --ignore-case --word-regexp --invert-match --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --files-with-matches --files-without-match --count --only-matching --show-function --function-context --color? --no-color --break --heading --max-depth= --and --or --not --cached --untracked --name-only --column --quiet --max-count= --all-match",
        Operands::Git,
    ),
    row("cat-file", "-etps --batch-check?", Operands::Git),
    row(
        "rev-list",
        "-n= -# --count --all --max-count= --since= --until= --no-merges --merges --first-parent --left-right --reverse --objects --author= --grep= --branches? --tags? --topo-order",
        Operands::Git,
    ),
    row("merge-base", "-a --all --is-ancestor --octopus --independent --fork-point", Operands::Git),
    row(
        "for-each-ref",
        "--format= --sort= --count= --contains= --merged? --no-merged? --points-at=",
        Operands::Text,
    ),
    row(
        "show-ref",
        "-dhqs --head --heads --tags --verify --hash? --quiet --dereference",
        Operands::Text,
    ),
    row("check-ignore", "-qvn --verbose --quiet --non-matching --no-index", Operands::Git),
    row("count-objects", "-vH --verbose --human-readable", Operands::None),
    row("version", "", Operands::None),
    row("name-rev", "--name-only --tags --always", Operands::Text),
];

/// A call that only looks: the files it touches and the folder given with `-C`.
///
/// # Errors
/// Why the call is not known to be harmless.
pub fn read_only(args: &[Word]) -> Result<(Vec<Touch<'_>>, Option<&Word>), &'static str> {
    let mut at = 0;
    let mut folder = None;
    while let Some(word) = args.get(at) {
        match word.text.as_str() {
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" => at += 1,
            "-C" if folder.is_none() => {
                folder = Some(args.get(at + 1).ok_or("has a flag without its value")?);
                at += 2;
            }
            "--version" => return Ok((Vec::new(), folder)),
            text if text.starts_with('-') => return Err("uses a global option of git"),
            _ => break,
        }
    }
    let sub = args.get(at).ok_or("has no git sub-command")?;
    if folder.is_some_and(|f| f.pattern.is_some()) || sub.pattern.is_some() {
        return Err("has a pattern in the place of a name");
    }
    let rest = &args[at + 1..];
    let touches = match sub.text.as_str() {
        "stash" => stash(rest)?,
        "worktree" | "reflog" | "remote" if rest.len() > 1 || !is_listing(&sub.text, rest) => {
            return Err("runs a git sub-command that is not known to only look");
        }
        "worktree" | "reflog" => Vec::new(),
        "grep" => grep(rest)?,
        name => {
            let spec = TABLE.iter().find(|spec| spec.name == name);
            matches(spec.ok_or("runs a git sub-command that is not known to only look")?, rest)?
        }
    };
    Ok((touches, folder))
}

fn is_listing(sub: &str, rest: &[Word]) -> bool {
    let first = rest.first().map(|w| w.text.as_str());
    match sub {
        "worktree" => first == Some("list"),
        "reflog" => matches!(first, None | Some("show")),
        _ => matches!(first, None | Some("-v" | "--verbose" | "show")) && first != Some("show"),
    }
}

fn stash(rest: &[Word]) -> Result<Vec<Touch<'_>>, &'static str> {
    const ROW: Spec = row("stash", LOG, Operands::Git);
    match rest.split_first() {
        Some((first, more)) if matches!(first.text.as_str(), "list" | "show") => {
            matches(&ROW, more)
        }
        _ => Err("changes the stash"),
    }
}

/// The first operand of `git grep` is a pattern, not a path.
fn grep(rest: &[Word]) -> Result<Vec<Touch<'_>>, &'static str> {
    let spec = TABLE.iter().find(|spec| spec.name == "grep").ok_or("is not known")?;
    let touches = matches(spec, rest)?;
    let given = rest.iter().any(|w| w.text == "-e");
    Ok(touches.into_iter().skip(usize::from(!given)).collect())
}

/// What a call would destroy, or `None`. `args` are read loosely.
pub fn danger(args: &[String]) -> Option<&'static str> {
    const VALUED: [&str; 7] =
        ["-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path"];
    let mut at = 0;
    while let Some(arg) = args.get(at).filter(|a| a.starts_with('-')) {
        at += if VALUED.contains(&arg.as_str()) { 2 } else { 1 };
    }
    let sub = args.get(at)?;
    let rest = &args[at + 1..];
    let flag = |short: &str, long: &str| super::danger::has_flag(rest, short, long);
    let dry = flag("n", "dry-run");
    match sub.as_str() {
        "push" if !dry || rest.iter().any(|a| a == "-f") => push(rest),
        "reset" if flag("", "hard") => Some("throws away uncommitted work"),
        "clean" if flag("f", "force") && !dry => Some("deletes untracked files"),
        "checkout" | "switch" if flag("f", "force") || flag("", "discard-changes") => {
            Some("throws away uncommitted work")
        }
        "checkout" if rest.iter().any(|a| a == "--" || a == ".") => {
            Some("throws away uncommitted work")
        }
        "restore" if !flag("S", "staged") || flag("W", "worktree") => {
            Some("throws away uncommitted work")
        }
        "branch" if rest.iter().any(|a| a == "-D") => Some("deletes a branch that is not merged"),
        "stash" if rest.first().is_some_and(|a| a == "drop" || a == "clear") => {
            Some("throws away stashed work")
        }
        "filter-branch" | "filter-repo" => Some("rewrites the history"),
        "reflog" | "worktree" if rest.first().is_some_and(|a| a == "expire" || a == "delete") => {
            Some("removes the way back to lost commits")
        }
        _ => None,
    }
}

fn push(rest: &[String]) -> Option<&'static str> {
    let flag = |short: &str, long: &str| super::danger::has_flag(rest, short, long);
    let forced = flag("f", "force-with-lease")
        || flag("", "force-if-includes")
        || rest.iter().any(|a| a.starts_with('+'));
    if forced {
        return Some("overwrites the history of a remote");
    }
    let deletes = flag("d", "delete")
        || flag("", "mirror")
        || flag("", "prune")
        || rest.iter().any(|a| a.starts_with(':') && a.len() > 1);
    deletes.then_some("deletes branches of a remote")
}
