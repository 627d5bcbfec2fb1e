//! The commands of daily work that only look, each with the flags that are known to keep it so.
//! What is missing here asks; when in doubt leave a flag out.

use super::flags::{Operands, Spec};
use super::scripts;

/// Builtins of the shell, which no file in `PATH` can replace.
pub const BUILTINS: [&str; 13] = [
    "cd", "echo", "printf", "pwd", "true", "false", ":", "test", "[", "type", "command", "exit",
    "set",
];

/// Tools that a version manager often stands before, which then reads files of the project.
pub const MANAGED: [&str; 12] = [
    "cargo", "rustc", "rustup", "python", "python3", "pip", "pip3", "node", "npm", "go", "java",
    "ruby",
];

const fn row(name: &'static str, flags: &'static str, operands: Operands) -> Spec {
    Spec { name, flags, operands, harmless: false }
}

const fn safe(name: &'static str, flags: &'static str, operands: Operands) -> Spec {
    Spec { name, flags, operands, harmless: true }
}

use Operands::{
    AtMost, Checked, Look, None, PatternLook, PatternRead, Read, ScriptRead, Text, Version,
};

/// All rows except those with an own grammar (`find`, `test`, `git`, `cd`).
pub const TABLE: &[Spec] = &[
    safe(
        "ls",
        "-aAbBcCdfFghGhiIklLmnNopqQrRsStTuUvwxXZ1 -I= -w= --all --almost-all --author --color? --directory --classify? --full-time --group-directories-first --human-readable --inode --numeric-uid-gid --recursive --reverse --size --sort= --time= --time-style= --hide= --ignore= --no-group --si",
        Look,
    ),
    safe(
        "cat",
        "-AbeEnstTuv --number --show-all --number-nonblank --squeeze-blank --show-ends --show-tabs",
        Read,
    ),
    safe("head", "-qvz -n= -c= -# --lines= --bytes= --quiet --verbose", Read),
    safe("tail", "-qvz -n= -c= -# --lines= --bytes= --quiet --verbose", Read),
    safe("wc", "-clmLw --bytes --chars --lines --words --max-line-length", Look),
    safe("tac", "-b", Read),
    safe("rev", "", Read),
    safe("nl", "-b= -s= -w= -n= -v=", Read),
    safe("fold", "-bs -w=", Read),
    safe("expand", "-i -t=", Read),
    safe("paste", "-sz -d= --serial --delimiters=", Read),
    safe("comm", "-123 --output-delimiter=", Read),
    safe("cmp", "-bls -n= -i=", Read),
    safe("join", "-a= -e= -i -j= -o= -t= -v= -1= -2=", Read),
    safe("column", "-tx -s= -c= -o= -N= --table --separator=", Read),
    safe(
        "cut",
        "-szn -b= -c= -d= -f= --bytes= --characters= --delimiter= --fields= --only-delimited --complement --output-delimiter=",
        Read,
    ),
    safe("tr", "-cCdst --complement --delete --squeeze-repeats --truncate-set1", Text),
    safe(
        "grep",
        "-acEFGhHiILlnoPqrsTvwxzZbU -A= -B= -C= -D= -d= -e= -m= -# --after-context= --before-context= --context= --binary-files= --color? --colour? --count --exclude= --exclude-dir= --extended-regexp --files-with-matches --files-without-match --fixed-strings --ignore-case --include= --invert-match --line-number --line-regexp --max-count= --no-filename --no-messages --null --only-matching --perl-regexp --quiet --recursive --regexp= --silent --text --with-filename --word-regexp --byte-offset --line-buffered",
        PatternRead,
    ),
    safe(
        "egrep",
        "-acEhHiILlnoqrsvwx -A= -B= -C= -e= -m= --color? --include= --exclude= --exclude-dir=",
        PatternRead,
    ),
    safe(
        "fgrep",
        "-acEhHiILlnoqrsvwx -A= -B= -C= -e= -m= --color? --include= --exclude= --exclude-dir=",
        PatternRead,
    ),
    row(
        "rg",
        "-acFHIilNnoPpqSsUuvwx0 -A= -B= -C= -d= -E= -e= -g= -m= -M= -r= -t= -T= --after-context= --before-context= --context= --case-sensitive --color= --colors= --column --count --count-matches --crlf --debug --encoding= --engine= --field-match-separator= --files --files-with-matches --files-without-match --fixed-strings --glob= --glob-case-insensitive --heading --hidden --iglob= --ignore-case --include-zero --invert-match --json --line-number --line-regexp --max-columns= --max-count= --max-depth= --max-filesize= --multiline --multiline-dotall --no-config --no-filename --no-heading --no-ignore --no-ignore-vcs --no-line-number --no-messages --null --one-file-system --only-matching --passthru --pcre2 --pretty --quiet --regexp= --replace= --smart-case --sort= --sortr= --stats --text --threads= --trim --type= --type-list --type-not= --unrestricted --vimgrep --with-filename --word-regexp --version",
        PatternRead,
    ),
    row(
        "fd",
        "-HIugisapF0 -d= -t= -e= -E= -c= -S= -j= --hidden --no-ignore --unrestricted --glob --ignore-case --case-sensitive --absolute-path --full-path --fixed-strings --max-depth= --min-depth= --type= --extension= --exclude= --color= --size= --changed-within= --changed-before= --max-results= --print0",
        PatternLook,
    ),
    row(
        "fdfind",
        "-HIugisapF0 -d= -t= -e= -E= -c= -S= -j= --hidden --no-ignore --glob --max-depth= --type= --extension= --exclude= --color=",
        PatternLook,
    ),
    row(
        "sort",
        "-bcCdfghiMmnrRsuVz -k= -t= --reverse --unique --numeric-sort --general-numeric-sort --human-numeric-sort --version-sort --ignore-case --key= --field-separator= --check? --stable --month-sort --zero-terminated",
        Read,
    ),
    row(
        "uniq",
        "-cdDiuz -f= -s= -w= --count --repeated --unique --ignore-case --skip-fields= --skip-chars= --check-chars=",
        AtMost(1),
    ),
    row(
        "sed",
        "-nErsuz --quiet --silent --regexp-extended --separate --unbuffered --null-data --posix",
        ScriptRead(scripts::sed),
    ),
    row(
        "jq",
        "-rcesSnMCaj --raw-output --compact-output --exit-status --slurp --sort-keys --null-input --monochrome-output --color-output --ascii-output --join-output --tab",
        ScriptRead(scripts::jq),
    ),
    row(
        "diff",
        "-abBcdEiNpqstTuwyZ -U= -C= -W= -I= -x= --brief --color? --unified? --context? --ignore-all-space --ignore-blank-lines --ignore-case --ignore-space-change --minimal --new-file --report-identical-files --side-by-side --strip-trailing-cr --suppress-common-lines --text --width= --label= --exclude= --no-dereference",
        Read,
    ),
    safe("stat", "-fLt -c= --format= --printf= --dereference --file-system --terse", Look),
    row(
        "file",
        "-bhikLNnprs0 --brief --mime --mime-type --mime-encoding --dereference --no-dereference --extension",
        Look,
    ),
    safe(
        "du",
        "-0abchHkLlmsSx -d= -t= -B= --all --apparent-size --bytes --total --human-readable --max-depth= --summarize --si --exclude= --one-file-system --inodes --time? --threshold=",
        Look,
    ),
    safe(
        "df",
        "-ahHiklPT -B= -t= -x= --all --human-readable --inodes --local --portability --print-type --total --si --output?",
        Look,
    ),
    row(
        "tree",
        "-acdDfFghiJnNpqQrstuvxXC -I= -L= -P= --dirsfirst --filelimit= --gitignore --inodes --noreport --prune --sort= --du --si --matchdirs --ignore-case",
        Look,
    ),
    safe("basename", "-az -s= --multiple --suffix= --zero", Text),
    safe("dirname", "-z --zero", Text),
    safe(
        "realpath",
        "-eLmPqsz --relative-to= --relative-base= --canonicalize-existing --canonicalize-missing --no-symlinks",
        Look,
    ),
    safe(
        "readlink",
        "-efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline",
        Look,
    ),
    safe("pwd", "-LP", None),
    safe("true", "", Text),
    safe("false", "", Text),
    safe(":", "", Text),
    safe("which", "-as --all", Text),
    safe("type", "-aptPf", Text),
    row("command", "-vV", Operands::ListOnly(&["-v", "-V"])),
    row("exit", "", Checked(scripts::number)),
    row("set", "-euxo", Checked(scripts::set_word)),
    row("pip", "-V --version", Version),
    row("pip3", "-V --version", Version),
    row("java", "--version", Version),
    row("make", "--version", Version),
    row("ruby", "--version", Version),
    safe("seq", "-w -f= -s= --separator= --equal-width", Text),
    row("sleep", "", Checked(scripts::number)),
    row(
        "date",
        "-uIR -d= --date= --utc --universal --iso-8601? --rfc-3339= --rfc-email",
        Checked(scripts::date_format),
    ),
    row("cal", "-13jmsy", Checked(scripts::number)),
    row("uname", "-amnioprsv --all --kernel-name --machine --release --operating-system", None),
    row("arch", "", None),
    row("nproc", "--all", None),
    row("uptime", "-ps", None),
    row("whoami", "", None),
    row("groups", "", None),
    row("id", "-gGnru", Text),
    row("hostname", "-fsiIdA", None),
    row("free", "-bghkmtvw", None),
    row("tty", "-s", None),
    row("locale", "-a", None),
    row("ps", "-AaefFljx -C= -p= -u= --no-headers --forest", Checked(scripts::ps_letters)),
    row("pgrep", "-afilnox -u=", Text),
    row("md5sum", "-btz --tag", Read),
    row("sha1sum", "-btz --tag", Read),
    row("sha256sum", "-btz --tag", Read),
    row("sha512sum", "-btz --tag", Read),
    row("b2sum", "-btz --tag", Read),
    row("cksum", "", Read),
    safe("od", "-abcdfhioxv -A= -j= -N= -t= -w=", Read),
    safe("hexdump", "-bcCdovx -n= -s=", Read),
    row("xxd", "-abceipu -c= -g= -l= -s= -o=", AtMost(1)),
    safe("strings", "-af -n= -t= --all --bytes=", Read),
    safe("base64", "-di -w= --decode --wrap= --ignore-garbage", Read),
    row("cargo", "-Vv --version --list", Version),
    row("rustc", "-Vv --version --verbose", Version),
    row("python", "-VV --version", Version),
    row("python3", "-VV --version", Version),
    row("node", "-v --version", Version),
    row("npm", "-v --version", Version),
    row("go", "", Checked(scripts::version_word)),
    row("gcc", "--version", Version),
    row("cc", "--version", Version),
    row("clang", "--version", Version),
    row("cmake", "--version", Version),
];

/// Rows for `name sub`; the operands follow the sub-command.
pub const SUBCOMMANDS: &[(&str, Spec)] = &[
    (
        "cargo",
        row(
            "tree",
            "-adefip -e= -i= -p= --all-features --no-default-features --features= --depth= --duplicates --edges= --format= --invert= --locked --no-dedupe --offline --frozen --package= --prefix= --workspace --target= --charset=",
            None,
        ),
    ),
    (
        "cargo",
        row(
            "metadata",
            "--no-deps --format-version= --offline --locked --frozen --all-features --no-default-features --features=",
            None,
        ),
    ),
    ("cargo", row("pkgid", "", None)),
    ("cargo", row("version", "-v --verbose", None)),
    (
        "npm",
        row(
            "ls",
            "-al --all --depth= --json --long --parseable --prod --dev --omit= --include=",
            Text,
        ),
    ),
    (
        "npm",
        row(
            "list",
            "-al --all --depth= --json --long --parseable --prod --dev --omit= --include=",
            Text,
        ),
    ),
    ("rustup", row("show", "", Checked(scripts::rustup_word))),
];
