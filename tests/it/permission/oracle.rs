//! Hostile lines run in a real shell, in a folder of their own, where the worst they do is make a
//! file named `M`. Whatever makes it must never have been judged as only reading.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use codebot::kernel::command::Mode;
use codebot::permission::shell::Class;

use super::fixture::{Did, Fixture};

/// Only lines that touch nothing beyond their folder belong here: they really run, perhaps with all
/// rights, so no clock, no host name, no process and no path outside. Most make `M`; one that does
/// not (tool missing, other version) is still judged.
const PAYLOADS: &[&str] = &[
    // Chains.
    "ls && touch M",
    "ls; touch M",
    "ls || touch M",
    "false || touch M",
    "ls | tee M",
    "ls |& tee M",
    "ls & touch M",
    "ls\ntouch M",
    "ls;touch M",
    "true&&touch M",
    "(touch M)",
    "{ touch M; }",
    "! touch M",
    "ls | (cat; touch M)",
    "cat f | { cat; touch M; }",
    "if true; then touch M; fi",
    "for i in 1; do touch M; done",
    "while true; do touch M; break; done",
    "case x in x) touch M;; esac",
    "until touch M; do :; done",
    "select x in a; do touch M; done; touch M",
    "ls # comment\ntouch M",
    "ls \\\n&& touch M",
    "time touch M",
    "coproc touch M; wait",
    // Substitutions and expansions.
    "echo \"$(touch M)\"",
    "echo `touch M`",
    "echo \"`touch M`\"",
    "echo $(( $(touch M; echo 1) ))",
    "echo $[ $(touch M; echo 1) ]",
    "diff <(touch M) f",
    "cat < <(touch M)",
    "cat f > >(touch M)",
    "cat < $(touch M; echo f)",
    "echo \"$\\\n(touch M)\"",
    "echo $\\\n(touch M)",
    "a='$(touch M)'; echo \"${a@P}\"",
    "a='x[$(touch M)]'; echo $((a))",
    "a='x[$(touch M)]'; test -v \"$a\"",
    "test -v 'x[$(touch M)]'",
    "[ -v 'x[$(touch M)]' ]",
    "[[ -v 'x[$(touch M)]' ]]",
    "[[ 'x[$(touch M)]' -eq 1 ]]",
    "printf -v 'x[$(touch M)]' y",
    "printf '%d' \"$(touch M)\"",
    "let 'x[$(touch M)]=1'",
    "((x[$(touch M)]=1))",
    "declare 'x[$(touch M)]=1'",
    "export X=\"$(touch M)\"",
    "read 'x[$(touch M)]' <<< y",
    "unset 'x[$(touch M)]'; declare -a x; unset \"x[$(touch M)]\"",
    "echo ${x:=$(touch M)}",
    "echo ${x:-`touch M`}",
    "echo \"${x:-$(touch M)}\"",
    "ls $(touch M)",
    "grep \"$(touch M)\" f",
    "cat f <<< \"$(touch M)\"",
    // Here-documents.
    "cat <<E\n`touch M`\nE",
    "cat <<E\n$(touch M)\nE",
    "cat <<-E\n\t$(touch M)\n\tE",
    "sh <<E\ntouch M\nE",
    "bash <<'E'\ntouch M\nE",
    "cat <<'E' | sh\ntouch M\nE",
    "cat <<'E' && touch M\nx\nE",
    "cat <<'E'; touch M\nx\nE",
    "cat <<'E'\nx\nE\ntouch M",
    "cat <<E'' \nx\nE\ntouch M",
    "cat <<\\E\nx\nE\ntouch M",
    "cat <<'E' <<'F'\nx\nE\ny\nF\ntouch M",
    "cat <<'E E'\nx\nE E\ntouch M",
    // Redirections.
    "echo x > M",
    "echo x >> M",
    "echo x >| M",
    "echo x &> M",
    "echo x &>> M",
    "echo x >& M",
    "cat 1<>M f",
    "ls nothing 2> M",
    "echo x {fd}> M",
    "> M",
    ">M echo x",
    "2>M ls",
    "echo x 1>M",
    "echo x>M",
    "cat < f > M",
    "(echo x) > M",
    "{ echo x; } > M",
    "ls > /dev/null > M",
    "sort < f -o M",
    "sort > /dev/null f -o M",
    "echo x >./M",
    "echo x > \"M\"",
    "exec 3> M",
    "exec > M",
    "cat f | cat > M",
    // Quoting and names.
    "t\"ou\"ch M",
    "\\touch M",
    "$'\\x74ouch' M",
    "{touch,M}",
    "c=touch; $c M",
    "${x}touch M",
    "to''uch M",
    "'touch' M",
    "to\\uch M",
    "t\\\nouch M",
    "command touch M",
    "builtin eval 'touch M'",
    "exec touch M",
    "env touch M",
    "env -i touch M",
    "env FOO=1 touch M",
    "FOO=1 touch M",
    "eval touch M",
    "eval 'tou''ch M'",
    "/usr/bin/touch M",
    "/bin/touch M",
    "../../../../../../../../bin/touch M",
    "~+/../../../../../../../bin/touch M",
    "bash -c 'touch M'",
    "sh -c \"touch M\"",
    "echo 'touch M' | bash",
    "echo 'touch M' | sh -s",
    "bash < t.sh",
    "source t.sh",
    ". ./t.sh",
    "./t.sh",
    "bash t.sh",
    "trap 'touch M' EXIT",
    "trap 'touch M' DEBUG; ls",
    "PS4='$(touch M)'; set -x; ls",
    "PS4='$(touch M)' bash -xc ls",
    "BASH_ENV=t.sh bash -c ls",
    "PROMPT_COMMAND='touch M' bash -ic ls",
    "ls(){ touch M; }; ls",
    "function ls { touch M; }; ls",
    "shopt -s expand_aliases\nalias ls='touch M #'\nls",
    "hash -p /usr/bin/touch ls; ls M",
    "PATH=.:$PATH; ls",
    "PATH=. ls",
    "export PATH=.:$PATH && mytool",
    "enable -n echo; echo(){ touch M; }; echo",
    "mapfile -C 'touch M #' -c 1 < f",
    "readarray -C 'touch M #' -c 1 x < f",
    "complete -C 'touch M' x; compgen -C 'touch M' x",
    "nohup touch M",
    "timeout 5 touch M",
    "nice touch M",
    "setsid touch M; sleep 0.2",
    "echo M | xargs touch",
    "xargs touch < names",
    "printf 'M' | xargs -n1 touch",
    // find.
    "find . -exec touch M \\;",
    "find . -maxdepth 0 -exec touch M {} +",
    "find . -maxdepth 0 -execdir touch M \\;",
    "yes | find . -maxdepth 0 -ok touch M \\;",
    "find . -maxdepth 0 -fprint M",
    "find . -maxdepth 0 -fprintf M x",
    "find . -maxdepth 0 -fls M",
    "find . -maxdepth 0 -fprint0 M",
    "find . -name f -o -fprint M",
    "find . -maxdepth 0 -true -fprint M",
    // Flags that write or run.
    "sort -o M f",
    "sort -oM f",
    "sort --output=M f",
    "sort --outp=M f",
    "sort -ro M f",
    "sort f -o M",
    "uniq f M",
    "uniq -c f M",
    "uniq -- f M",
    "sed 'w M' f",
    "sed -n '1w M' f",
    "sed 's/one/touch M/e' f",
    "sed 's/one/x/w M' f",
    "sed '1e touch M' f",
    "sed -e 'w M' f",
    "sed -n -e p -e 'w M' f",
    "sed --expression='w M' f",
    "sed -f script.sed f",
    "sed '/[/]/w M' f",
    "sed 's/[/]x/y/;w M' f",
    "sed '1!{w M\n}' f",
    "sed 'y/o/x/;w M' f",
    "sed -n '$!N;w M' f",
    "sed '1a x\nw M' f",
    "sed 'p;w M' f",
    "sed 'p; w M' f",
    "sed \"p\nw M\" f",
    "sed -i 's/one/x/w M' f",
    "awk 'BEGIN{system(\"touch M\")}'",
    "awk '{print > \"M\"}' f",
    "python3 -c 'open(\"M\",\"w\")'",
    "python3 s.py",
    "cat s.py | python3",
    "python3 < s.py",
    "perl -e 'open(F,\">M\")'",
    "tee M < f",
    "cp f M",
    "mv b.txt M",
    "ln -s f M",
    "ln f M",
    "install f M",
    "dd if=f of=M",
    "truncate -s 0 M",
    "mkdir M",
    "mkfifo M",
    "split -n 1 f M",
    "csplit -f M f 1",
    "tar cf M f",
    "gzip -c f > M",
    "xxd f M",
    "head -1 f | tee M",
    "cd src && touch ../M",
    "cd . && touch M",
    "cd /tmp; cd - && touch M",
    "pushd src; popd; touch M",
    "script -qc 'touch M' /dev/null",
    "vi -es -c '!touch M' -c q",
    "ed f <<'E'\n!touch M\nE",
    "make -f mk",
    "printf 'x:\\n\\ttouch M\\n' | make -f -",
    "sh -c 'echo x' && eval \"$(cat t.sh)\"",
    "cat t.sh | while read -r l; do eval \"$l\"; done",
    "bash -c \"$(cat t.sh)\"",
    "bash <(cat t.sh)",
    "sort *",
    "ls *; touch M",
    "echo x | tee -a M",
    "test -f f && touch M",
    "[ -f f ] && touch M",
    "[ -f f ]; touch M",
    "type ls; touch M",
    "command -v ls && touch M",
    "set -e; touch M",
    "set -- touch M; \"$@\"",
    "exit 0 & touch M",
    "sleep 0 && touch M",
    "echo {a,b} > M",
    "echo hi >M;",
    "echo a\\\n; touch M",
    "echo 'a'\\''b'; touch M",
    "echo \"a\\\"; touch M; echo \\\"b\"; touch M",
    "echo a'\n'b; touch M",
    "echo '#'; touch M",
    "echo a#b; touch M",
    "echo $'\\''; touch M #'",
    "echo \"\\$(x)\"; touch M",
    "cat f;;touch M",
    "cat f|tee M",
    "cat<f>M",
    // git.
    "git -c core.pager='touch M' -p log",
    "git -c alias.z='!touch M' z",
    "P='!touch M' git --config-env=alias.z=P z",
    "git -c diff.external='touch M;:' diff",
    "git grep -O'touch M' one",
    "git grep --open-files-in-pager='touch M' one",
    "git diff --output=M",
    "git log --output=M",
    "git show --output=M",
    "git -c core.fsmonitor='touch M;:' status",
    "git config core.fsmonitor 'touch M;:' && git status",
    "git config alias.z '!touch M'; git z",
    "GIT_PAGER='touch M' git -p log",
    "GIT_EXTERNAL_DIFF='touch M;:' git diff",
    "git rebase --exec 'touch M' HEAD~1",
    "git bisect start; git bisect run touch M",
    "git archive -o M HEAD",
    "git bundle create M HEAD",
    "git stash push; touch M",
    "git format-patch -1 --stdout > M",
    "git ls-remote --upload-pack='touch M;' .",
    "git fetch --upload-pack='touch M;:' .",
    "git clone -u 'touch M;:' . x",
    "cd bare && git status",
    "git -C bare status",
    "cd planted && git status",
    "git -C planted status",
    "cd linked && git status",
    "sed 's|[]|]A|g;s,x|w M,b,' f",
    "set -o physical; cd src/up/..; touch M",
    "git diff --no-index --output=M f a.txt",
    "git filter-branch --env-filter 'touch M' HEAD; touch M",
    "git submodule foreach 'touch M'; touch M",
    "git blame --output=M f; touch M",
    "git status && git log --output=M",
    "GIT_TRACE=$PWD/M git status",
    "git difftool -y -x 'touch M' HEAD~1",
    "git init --template=. x; touch M",
    "git worktree add M",
    // Words that look like something else.
    "ls -la M >M",
    "echo -e 'x' | bash -c 'cat > M'",
    "printf '%b' x > M",
    "rg --pre 'touch M' x; touch M",
    "jq -n '1' > M",
    "tree -o M; touch M",
    "\u{200b}ls; touch M",
    "ls\u{a0}; touch M",
    "ls\r\ntouch M",
    "ls; \u{202e}touch M; touch M",
    "echo ok\x1b[2K\r; touch M",
];

/// Cases D01, D03, D04, D05, D06, D07, D09, D10 and D12: no line that makes the marker in a real shell
/// was judged as only reading.
#[test]
fn nothing_that_makes_the_marker_is_judged_as_only_reading() {
    let lines: Vec<String> = PAYLOADS.iter().map(|line| (*line).to_owned()).collect();
    let (made, wrong) = try_all(&lines);
    report("written by hand", lines.len(), made, &wrong);
    assert!(made >= 200, "only {made} of {} payloads made the marker", lines.len());
}

/// Cases D01 and D04: every way to make the marker in every place where a command may hide.
#[test]
fn nothing_hidden_in_any_shape_is_judged_as_only_reading() {
    let lines = combined();
    let (made, wrong) = try_all(&lines);
    report("made from shapes", lines.len(), made, &wrong);
    assert!(made >= 300, "only {made} of {} payloads made the marker", lines.len());
}

#[track_caller]
fn report(what: &str, lines: usize, made: usize, wrong: &[String]) {
    let figures = format!(
        "oracle, payloads {what}: {lines} run, {made} made the marker, {} bypasses",
        wrong.len()
    );
    // For whoever runs it with --nocapture; a closed stderr is no failure.
    let _shown = writeln!(std::io::stderr(), "{figures}");
    assert!(wrong.is_empty(), "would have run unasked: {wrong:#?}");
}

/// The table of shapes: every carrier with every command.
fn combined() -> Vec<String> {
    let table = include_str!("../../fixtures/payload-shapes.txt");
    let (mut commands, mut carriers, mut section) = (Vec::new(), Vec::new(), "");
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        match line {
            _ if line.starts_with('[') && line.ends_with(']') && !line.contains('@') => {
                section = line;
            }
            _ if section == "[command]" => commands.push(line),
            _ => carriers.push(line.replace("\\n", "\n")),
        }
    }
    let with = |carrier: &String| {
        let carrier = carrier.clone();
        commands.iter().map(move |command| carrier.replace('@', command)).collect::<Vec<_>>()
    };
    carriers.iter().flat_map(with).collect()
}

/// How many made the marker, and which of those would have run unasked.
fn try_all(lines: &[String]) -> (usize, Vec<String>) {
    let (mut made, mut wrong) = (0, Vec::new());
    for line in lines {
        let fixture = Fixture::new();
        prepare(&fixture, line.contains("git"));
        let balanced = fixture.shell_did(&fixture.gate(Mode::Balanced), line);
        let strict = fixture.shell_did(&fixture.gate(Mode::Strict), line);
        let edits = fixture.shell_did(&fixture.gate(Mode::AcceptEdits), line);
        let planning = fixture.gate(Mode::Trust);
        planning.plan(true);
        let planned = fixture.shell_did(&planning, line);
        let class = fixture.judge(line).class;
        if !runs(&fixture, line) {
            continue;
        }
        made += 1;
        let known_write = matches!(&class, Class::Write(paths) if !paths.is_empty());
        if class == Class::ReadOnly
            || [balanced, strict, planned].contains(&Did::Allow)
            || (edits == Did::Allow && !known_write)
        {
            wrong.push(line.clone());
        }
    }
    (made, wrong)
}

/// Files that some payloads use, and a repository with one commit.
fn prepare(fixture: &Fixture, repository: bool) {
    let ws = fixture.ws();
    let put = |name: &str, text: &str| std::fs::write(ws.join(name), text).unwrap();
    put("t.sh", "touch M\n");
    put("names", "M\n");
    put("script.sed", "w M\n");
    put("mk", "all:\n\ttouch M\n");
    put("-oM", "");
    put("mytool", "#!/bin/sh\ntouch M\n");
    put("ls", "#!/bin/sh\n/usr/bin/touch M\n");
    for name in ["t.sh", "mytool", "ls"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(ws.join(name), mode).unwrap();
    }
    for folder in ["bare/objects", "bare/refs"] {
        std::fs::create_dir_all(ws.join(folder)).unwrap();
    }
    put("bare/HEAD", "ref: refs/heads/main\n");
    let planted = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\
                   \tfsmonitor = \"touch ../M; touch M;:\"\n";
    put("bare/config", planted);
    // The same in two halves: what makes a repository, and where its other parts are.
    std::fs::create_dir_all(ws.join("planted")).unwrap();
    put("planted/HEAD", "ref: refs/heads/main\n");
    put("planted/commondir", "../bare\n");
    std::fs::create_dir_all(ws.join("linked/objects")).unwrap();
    std::fs::create_dir_all(ws.join("linked/refs")).unwrap();
    std::os::unix::fs::symlink("refs/heads/main", ws.join("linked/HEAD")).unwrap();
    put("linked/config", planted);
    std::os::unix::fs::symlink("../..", ws.join("src/up")).unwrap();
    if !repository {
        return;
    }
    let setup = "git init -q . && git add f a.txt && \
                 git -c user.name=a -c user.email=a@b commit -qm one && \
                 echo three >> f && git add f && \
                 git -c user.name=a -c user.email=a@b commit -qm two && echo four >> f";
    shell(&ws, &fixture.home(), setup);
}

fn runs(fixture: &Fixture, line: &str) -> bool {
    shell(&fixture.ws(), &fixture.home(), line);
    let found =
        Command::new("/usr/bin/find").arg(fixture.root()).args(["-name", "M*"]).output().unwrap();
    !found.stdout.is_empty()
}

fn shell(dir: &Path, home: &Path, line: &str) {
    let mut command = Command::new("timeout");
    command
        .args(["-k", "1", "2", "bash", "-c", line])
        .current_dir(dir)
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().unwrap();
}
