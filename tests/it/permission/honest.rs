//! Ordinary command lines with the verdict in every mode: what people do all day must not ask.

use codebot::kernel::command::Mode;

use super::fixture::{Did, Fixture};

/// Lines and their verdicts in strict, balanced, accept-edits and trust: `a`llow, as`k`, `d`eny.
const LINES: &[(&str, &str)] = &[
    ("ls", "aaaa"),
    ("ls -la", "aaaa"),
    ("ls -la src docs", "aaaa"),
    ("ls *.txt", "aaaa"),
    ("ls 2>&1", "aaaa"),
    ("ls 2>/dev/null", "aaaa"),
    ("ls >/dev/null 2>&1", "aaaa"),
    ("ls &>/dev/null", "aaaa"),
    ("ls nothing 2>&-", "aaaa"),
    ("echo problem >&2", "aaaa"),
    ("pwd", "aaaa"),
    ("cat f", "aaaa"),
    ("cat -n src/main.rs", "aaaa"),
    ("cat < f", "aaaa"),
    ("cat f a.txt | head -20", "aaaa"),
    ("head -n 5 f", "aaaa"),
    ("head -5 f", "aaaa"),
    ("tail -20 f", "aaaa"),
    ("tail -n +3 f", "aaaa"),
    ("wc -l f src/main.rs", "aaaa"),
    ("sed -n '1,40p' src/main.rs", "aaaa"),
    ("sed -n 5p f", "aaaa"),
    ("sed 's/one/two/g' f", "aaaa"),
    ("grep -rn 'fn main' src", "aaaa"),
    ("grep -E 'a|b;c' f", "aaaa"),
    ("grep -rn --include=*.rs main .", "aaaa"),
    ("grep -n \"^one$\" f", "aaaa"),
    ("grep -c one f || true", "aaaa"),
    ("rg -n main src", "aaaa"),
    ("rg --files -g '*.rs'", "aaaa"),
    ("find . -name '*.rs' -maxdepth 2", "aaaa"),
    ("find src -type f -name '*.rs' -not -path '*/target/*'", "aaaa"),
    ("find . \\( -name '*.md' -o -name '*.rs' \\) -print", "aaaa"),
    ("find . -type f | wc -l", "aaaa"),
    ("sort f | uniq -c | sort -rn | head", "aaaa"),
    ("cut -d: -f1 f", "aaaa"),
    ("tr a-z A-Z < f", "aaaa"),
    ("diff f a.txt", "aaaa"),
    ("diff -u f a.txt", "aaaa"),
    ("stat -c '%s %n' f", "aaaa"),
    ("file f", "aaaa"),
    ("du -sh .", "aaaa"),
    ("df -h", "aaaa"),
    ("tree -L 2", "aaaa"),
    ("echo hello", "aaaa"),
    ("echo 'rm -rf /'", "aaaa"),
    ("echo \"a && b\"", "aaaa"),
    ("printf '%s\\n' one two", "aaaa"),
    ("true", "aaaa"),
    ("test -f f && echo yes || echo no", "aaaa"),
    ("[ -d src ] && ls src", "aaaa"),
    ("which cargo git", "aaaa"),
    ("command -v rg", "aaaa"),
    ("type ls", "aaaa"),
    ("basename src/main.rs .rs", "aaaa"),
    ("dirname src/main.rs", "aaaa"),
    ("realpath src/main.rs", "aaaa"),
    ("date", "aaaa"),
    ("date +%Y-%m-%d", "aaaa"),
    ("uname -a", "aaaa"),
    ("whoami", "aaaa"),
    ("git status", "aaaa"),
    ("git status --short --branch", "aaaa"),
    ("git --no-pager log --oneline -10", "aaaa"),
    ("git log -p", "aaaa"),
    ("git log --oneline --graph --all -n 20", "aaaa"),
    ("git log --since='2 weeks ago' -- src", "aaaa"),
    ("git diff", "aaaa"),
    ("git diff --stat HEAD~1..HEAD", "aaaa"),
    ("git diff --cached --name-only", "aaaa"),
    ("git diff --stat | grep rs | head -5", "aaaa"),
    ("git show HEAD", "aaaa"),
    ("git show HEAD:src/main.rs", "aaaa"),
    ("git show HEAD@{1} --stat", "aaaa"),
    ("git branch --list", "aaaa"),
    ("git branch -a", "aaaa"),
    ("git branch --show-current", "aaaa"),
    ("git rev-parse --abbrev-ref HEAD", "aaaa"),
    ("git ls-files", "aaaa"),
    ("git blame -L 1,5 f", "aaaa"),
    ("git remote -v", "aaaa"),
    ("git stash list", "aaaa"),
    ("git describe --tags --always", "aaaa"),
    ("git shortlog -sn", "aaaa"),
    ("git grep -n main -- src", "aaaa"),
    ("git -C src status", "aaaa"),
    ("cargo --version", "aaaa"),
    ("cargo tree -d", "aaaa"),
    ("cargo metadata --no-deps --format-version 1", "aaaa"),
    ("npm ls --depth=0", "aaaa"),
    ("python3 --version", "aaaa"),
    ("node -v && npm -v", "aaaa"),
    ("go version", "aaaa"),
    ("cd src && ls", "aaaa"),
    ("cd src && cat main.rs && cd ..", "aaaa"),
    ("cd src; ls", "aaaa"),
    ("(cd src && pwd) && cat f", "aaaa"),
    ("ls && pwd && cat f", "aaaa"),
    ("ls\npwd", "aaaa"),
    ("ls -la \\\n  src", "aaaa"),
    ("cat <<'E'\n$(touch M)\nE", "aaaa"),
    ("cat <<E\nplain text\nE", "aaaa"),
    ("grep one <<< 'one two'", "aaaa"),
    ("! grep -q x f", "aaaa"),
    ("{ ls; cat f; } | head", "aaaa"),
    ("echo é 中 😀", "aaaa"),
    ("jq '.name' f", "aaaa"),
    ("sha256sum f", "aaaa"),
    ("sleep 1 && ls", "aaaa"),
    ("set -euo pipefail; ls | head", "aaaa"),
    ("ls # show them", "aaaa"),
    ("cat 'docs/guide.md'", "aaaa"),
    // Writes through redirections.
    ("echo x > src/new.txt", "kkaa"),
    ("cat f >> a.txt", "kkaa"),
    ("cat > src/x.rs <<'E'\nfn x() {}\nE", "kkaa"),
    // Anything else.
    ("cargo test", "dkka"),
    ("cargo build --release 2>&1 | tail -20", "dkka"),
    ("npm install", "dkka"),
    ("npm run build", "dkka"),
    ("make", "dkka"),
    ("pytest -q", "dkka"),
    ("mkdir -p src/a", "dkka"),
    ("touch src/a", "dkka"),
    ("cp f g", "dkka"),
    ("mv f g", "dkka"),
    ("rm f", "dkka"),
    ("rm -f f", "dkka"),
    ("rm -- -rf", "dkka"),
    ("chmod 755 f", "dkka"),
    ("git add -A", "dkka"),
    ("git commit -m 'one two'", "dkka"),
    ("git checkout main", "dkka"),
    ("git branch topic", "dkka"),
    ("git push", "dkka"),
    ("git clean -n", "dkka"),
    ("curl https://example.org/env/.env", "dkka"),
    ("python3 s.py", "dkka"),
    ("./run.sh", "dkka"),
    ("echo $HOME", "dkka"),
    ("for f in *.txt; do cat $f; done", "dkka"),
    ("awk '{print $1}' f", "dkka"),
    ("sleep 100 &", "dkka"),
    ("FOO=1 cargo test", "dkka"),
    // Daily work with the usual tools.
    ("cargo check --all-targets", "dkka"),
    ("cargo clippy --all-targets -- -D warnings", "dkka"),
    ("cargo fmt --check", "dkka"),
    ("cargo add serde", "dkka"),
    ("cargo doc --no-deps && ls target", "dkka"),
    ("rustc --version", "aaaa"),
    ("npm test -- --watch=false", "dkka"),
    ("npm ci && npm run lint", "dkka"),
    ("npx tsc --noEmit", "dkka"),
    ("node --version", "aaaa"),
    ("go build ./...", "dkka"),
    ("go test ./... -run TestX -v", "dkka"),
    ("go env GOPATH", "dkka"),
    ("python3 -m pytest tests -k slow", "dkka"),
    ("python3 -m venv .venv", "dkka"),
    ("pip install -r requirements.txt", "dkka"),
    ("make -j4 test", "dkka"),
    ("docker ps -a", "dkka"),
    ("docker build -t x .", "dkka"),
    ("docker compose up -d", "dkka"),
    ("tar czf a.tgz src", "dkka"),
    ("git fetch origin", "dkka"),
    ("git pull --rebase", "dkka"),
    ("git stash push -m wip", "dkka"),
    ("git switch -c topic", "dkka"),
    ("git merge topic", "dkka"),
    ("git rebase main", "dkka"),
    ("git cherry-pick abc123", "dkka"),
    ("git tag v1.0", "dkka"),
    ("git log --format='%h %s' -5 | cat", "aaaa"),
    ("git diff HEAD~3 -- src | wc -l", "aaaa"),
    ("git show --stat HEAD | tail -5", "aaaa"),
    ("git status --porcelain | cut -c4- | sort", "aaaa"),
    ("git ls-files | grep rs | xargs wc -l", "dkka"),
    ("cat f | sort | uniq -c | sort -rn | head -3", "aaaa"),
    ("grep -rn TODO src | wc -l", "aaaa"),
    ("rg -l main src | head", "aaaa"),
    ("find . -name '*.md' | sort", "aaaa"),
    ("head -1 f; tail -1 f", "aaaa"),
    ("wc -l src/main.rs docs/guide.md | tail -1", "aaaa"),
    ("ls -1 src | wc -l", "aaaa"),
    ("jq -r '.a[]' f | sort -u", "aaaa"),
    ("diff -u f a.txt | head -20", "aaaa"),
    ("test -d src && echo yes", "aaaa"),
    ("cat f 2>/dev/null || echo none", "aaaa"),
    // Outside the workspace, private, dangerous.
    ("ls /", "kkkk"),
    ("cat /etc/hostname", "kkkk"),
    ("cd .. && ls", "kkkk"),
    ("cat ../home/x", "kkkk"),
    ("cat .env", "kkkk"),
    ("cat ~/.ssh/id_rsa", "kkkk"),
    ("git -C /usr status", "kkkk"),
    ("echo x > ../y", "kkkk"),
    ("cp f /usr/x", "dkkk"),
    ("rm -rf src", "dkka"),
    ("git push -f", "dkka"),
    ("git reset --hard", "dkka"),
    ("rm -rf /", "dkkk"),
];

#[test]
fn honest_lines_get_their_verdict_in_every_mode() {
    let fixture = Fixture::new();
    let mut wrong = Vec::new();
    for (mode, column) in Mode::ALL.into_iter().zip(0..) {
        let gate = fixture.gate(mode);
        for (line, want) in LINES {
            let want = match want.as_bytes()[column] {
                b'a' => Did::Allow,
                b'k' => Did::Ask,
                _ => Did::Deny,
            };
            let got = fixture.shell_did(&gate, line);
            if got != want {
                let why = fixture.judge(line);
                wrong.push(format!(
                    "{line:?} in {}: {got:?}, wanted {want:?} ({:?} {} {:?} {:?})",
                    mode.name(),
                    why.class,
                    why.reason,
                    why.outside,
                    why.sensitive
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let free = LINES.iter().filter(|(_, want)| *want == "aaaa").count();
    println!("honest lines: {}, of them free of questions in every mode: {}", LINES.len(), free);
    assert!(LINES.len() >= 150);
}

/// Case D02: chains whose every part is harmless run unasked.
#[test]
fn chains_of_harmless_parts_do_not_ask() {
    let fixture = Fixture::new();
    let gate = fixture.gate(Mode::Balanced);
    for line in [
        "git diff --stat | grep rs | head -5",
        "cd src && ls",
        "ls 2>&1",
        "ls 2>/dev/null",
        "grep -E 'a|b;c' f",
    ] {
        assert_eq!(fixture.shell_did(&gate, line), Did::Allow, "{line}");
    }
}

#[test]
fn a_judgement_takes_less_than_its_budget() {
    let fixture = Fixture::new();
    let places = codebot::permission::paths::Places::new(
        &[fixture.ws()],
        Some(&fixture.home()),
        &[],
        &[],
        &[],
    );
    let setting = codebot::permission::shell::Setting { places: &places, suspect_path: &[] };
    let start = std::time::Instant::now();
    let rounds = 5;
    for _ in 0..rounds {
        for (line, _) in LINES {
            codebot::permission::shell::judge(line, &fixture.ws(), &setting);
        }
    }
    let each = start.elapsed() / (rounds * LINES.len() as u32);
    // 200 µs is the budget of an optimised build; this one is not.
    assert!(each.as_micros() < 2000, "{each:?} for one line");
}
