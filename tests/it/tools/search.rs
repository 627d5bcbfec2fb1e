//! `grep`, `glob` and `ls`.

use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use codebot::kernel::message::{CallStatus, Detail};
use codebot::kernel::ports::{CallContext, ProgressSink, Toolbox};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{Desk, call, detail, text};

#[tokio::test]
async fn matches_are_grouped_by_file_with_line_numbers() {
    let desk = Desk::new();
    desk.put("b.rs", "one\nfn two() {}\n");
    desk.put("a.rs", "fn one() {}\n");
    let outcome = desk.call("grep", json!({"pattern": r"fn \w+"})).await;
    assert_eq!(text(&outcome), "2 matches in 2 files\na.rs\n1: fn one() {}\nb.rs\n2: fn two() {}");
    assert_eq!(detail(&outcome), Detail::Hits { total: 2, shown: 2 });
}

#[tokio::test]
async fn context_case_glob_and_files_only() {
    let desk = Desk::new();
    desk.put("src/a.rs", "1\n2\nNeedle\n4\n5\n6\n7\nneedle\n");
    desk.put("src/a.md", "needle\n");
    let args = json!({"pattern": "needle", "glob": "*.rs", "context": 1, "ignore_case": true});
    assert_eq!(
        desk.ok("grep", args).await,
        "2 matches in 1 file\nsrc/a.rs\n2- 2\n3: Needle\n4- 4\n--\n7- 7\n8: needle"
    );
    let args = json!({"pattern": "needle", "files_only": true});
    assert_eq!(desk.ok("grep", args).await, "2 files with matches\nsrc/a.md\nsrc/a.rs");
    let args = json!({"pattern": "needle", "glob": "src/*.md"});
    assert_eq!(desk.ok("grep", args).await, "1 match in 1 file\nsrc/a.md\n1: needle");
    let args = json!({"pattern": "needle", "path": "src/a.md"});
    assert_eq!(desk.ok("grep", args).await, "1 match in 1 file\nsrc/a.md\n1: needle");
    assert!(desk.ok("grep", json!({"pattern": "absent"})).await.starts_with("no matches in 2"));
}

/// scenario 211
#[tokio::test]
async fn a_pattern_that_looks_like_an_option_is_a_pattern() {
    let desk = Desk::new();
    desk.put("a.txt", "rg --pre=x file\nrm -f it\n");
    assert!(desk.ok("grep", json!({"pattern": "--pre=x"})).await.contains("1: rg --pre=x"));
    assert!(desk.ok("grep", json!({"pattern": "-f"})).await.contains("2: rm -f"));
}

#[tokio::test]
async fn an_invalid_pattern_and_a_missing_path_are_clear_errors() {
    let desk = Desk::new();
    desk.put("src/a.txt", "");
    let error = desk.fails("grep", json!({"pattern": "a("})).await;
    assert!(error.contains("not a valid regular expression"), "{error}");
    let error = desk.fails("glob", json!({"pattern": "a{b"})).await;
    assert!(error.contains("pattern is not valid"), "{error}");
    let error = desk.fails("grep", json!({"pattern": "a", "path": "scr"})).await;
    assert!(error.contains("NotFound"), "{error}");
    desk.fails("ls", json!({"path": "src/a.txt"})).await;
}

/// case C35
#[tokio::test]
async fn link_loops_end_and_every_file_is_found_once() {
    let desk = Desk::new();
    desk.put("sub/a.rs", "x\n");
    symlink("..", desk.path("sub/loop")).unwrap();
    symlink("self", desk.path("self")).unwrap();
    let started = Instant::now();
    assert_eq!(desk.ok("glob", json!({"pattern": "**/*.rs"})).await, "1 file\nsub/a.rs");
    assert!(desk.ok("grep", json!({"pattern": "x"})).await.starts_with("1 match in 1 file"));
    assert!(started.elapsed() < Duration::from_secs(2));
}

/// case C37
#[tokio::test]
async fn ignore_files_count_without_git_and_explicit_paths_are_searched() {
    let desk = Desk::new();
    desk.put("node_modules/p/x.js", "needle");
    desk.put("src/x.js", "needle");
    desk.put(".gitignore", "build/\n");
    desk.put("build/x.js", "needle");
    desk.put(".hidden/x.js", "needle");
    desk.put("nested/.gitignore", "skip.js\n");
    desk.put("nested/skip.js", "needle");
    desk.put("nested/keep.js", "needle");
    desk.put(".git/x.js", "needle");
    desk.put("Cargo.toml", "");
    desk.put("target/x.js", "needle");
    desk.put("docs/target/x.js", "needle");
    let found = "3 files\ndocs/target/x.js\nnested/keep.js\nsrc/x.js";
    assert_eq!(desk.ok("glob", json!({"pattern": "**/*.js"})).await, found);
    assert_eq!(desk.ok("glob", json!({"pattern": "*.js"})).await, found);
    assert!(
        desk.ok("grep", json!({"pattern": "needle"})).await.starts_with("3 matches in 3 files")
    );
    for path in ["node_modules", "node_modules/p", "build", ".hidden", ".git", "target"] {
        let text = desk.ok("grep", json!({"pattern": "needle", "path": path})).await;
        assert!(text.starts_with("1 match in 1 file"), "{path}: {text}");
        let text = desk.ok("glob", json!({"pattern": "**/*.js", "path": path})).await;
        assert!(text.starts_with("1 file\n"), "{path}: {text}");
    }
    let text = desk.ok("glob", json!({"pattern": "**/*.js", "path": "nested"})).await;
    assert_eq!(text, "1 file\nnested/keep.js");
    let text = desk.ok("glob", json!({"pattern": "build/*.js"})).await;
    assert_eq!(text, "1 file\nbuild/x.js");
    let text = desk.ok("glob", json!({"pattern": "**/.hidden/*.js"})).await;
    assert_eq!(text, "1 file\n.hidden/x.js");
}

#[tokio::test]
async fn an_ignore_file_above_the_workspace_does_not_count() {
    let desk = Desk::new();
    desk.put("../.gitignore", "*\n");
    desk.put("a.txt", "x\n");
    assert_eq!(desk.ok("glob", json!({"pattern": "*.txt"})).await, "1 file\na.txt");
}

/// case C38
#[tokio::test]
async fn a_huge_line_is_clipped_around_the_match_and_matches_are_capped_with_a_count() {
    let desk = Desk::new();
    let half = "语x".repeat(500_000);
    desk.put("long.js", format!("{half}needle{half}"));
    desk.put("many.txt", "needle\n".repeat(50_000));
    let outcome = desk.call("grep", json!({"pattern": "needle"})).await;
    let shown = text(&outcome);
    assert!(shown.len() < 10_000, "{}", shown.len());
    assert!(shown.starts_with("50001 matches in 2 files\nthe first 41 follow"), "{shown}");
    assert!(shown.contains("…") && shown.contains("needle语"), "{shown}");
    assert!(shown.contains("[40 of 50000 matches in this file]"), "{shown}");
    let outcome = desk.call("grep", json!({"pattern": "needle", "path": "many.txt"})).await;
    assert_eq!(detail(&outcome), Detail::Hits { total: 50_000, shown: 100 });
}

#[tokio::test]
async fn glob_is_capped_at_200_with_a_total_and_in_path_order() {
    let desk = Desk::new();
    for n in 0..230 {
        desk.put(&format!("f{n:03}.txt"), "");
    }
    let outcome = desk.call("glob", json!({"pattern": "*.txt"})).await;
    assert!(text(&outcome).starts_with("230 files match, the first 200 follow"));
    assert_eq!(detail(&outcome), Detail::Hits { total: 230, shown: 200 });
    let names: Vec<String> = text(&outcome).lines().skip(1).map(str::to_owned).collect();
    assert!(names.is_sorted() && names.len() == 200);
}

#[tokio::test]
async fn glob_patterns_keep_to_their_folder() {
    let desk = Desk::new();
    for name in ["src/mod.rs", "src/a/mod.rs", "src/a/b.ts", "mod.rs"] {
        desk.put(name, "");
    }
    assert_eq!(desk.ok("glob", json!({"pattern": "src/mod.rs"})).await, "1 file\nsrc/mod.rs");
    assert_eq!(desk.ok("glob", json!({"pattern": "src/*.rs"})).await, "1 file\nsrc/mod.rs");
    assert_eq!(
        desk.ok("glob", json!({"pattern": "src/**/*.{rs,ts}"})).await,
        "3 files\nsrc/a/b.ts\nsrc/a/mod.rs\nsrc/mod.rs"
    );
    let absolute = format!("{}/src/*.rs", desk.path("").display());
    assert_eq!(desk.ok("glob", json!({"pattern": absolute})).await, "1 file\nsrc/mod.rs");
    assert_eq!(desk.ok("glob", json!({"pattern": "*.go"})).await, "no files match");
}

#[tokio::test]
async fn dollar_matches_before_crlf_and_patterns_may_span_lines() {
    let desk = Desk::new();
    desk.put("a.txt", "foo\r\nbar\r\n");
    assert_eq!(
        desk.ok("grep", json!({"pattern": "foo$"})).await,
        "1 match in 1 file\na.txt\n1: foo"
    );
    desk.put("a.txt", "foo\nbar\n");
    assert_eq!(
        desk.ok("grep", json!({"pattern": "foo\\nbar"})).await,
        "1 match in 1 file\na.txt\n1: foo\n2: bar"
    );
}

#[tokio::test]
async fn binary_files_are_passed_over_and_utf16_is_searched() {
    let desk = Desk::new();
    desk.put("a.bin", b"\0\0needle\n");
    let mut utf16 = vec![0xff, 0xfe];
    utf16.extend("needle\n".encode_utf16().flat_map(u16::to_le_bytes));
    desk.put("u.txt", utf16);
    assert_eq!(
        desk.ok("grep", json!({"pattern": "needle"})).await,
        "1 match in 1 file\nu.txt\n1: needle"
    );
}

#[tokio::test]
async fn a_folder_lists_folders_first_then_files_with_sizes_and_link_targets() {
    let desk = Desk::new();
    desk.put("z/x", "");
    desk.put("a.txt", "hello");
    desk.put(".env", "");
    symlink("a.txt", desk.path("link")).unwrap();
    let outcome = desk.call("ls", json!({})).await;
    assert_eq!(text(&outcome), ".: 4 entries\nz/\n.env  0 bytes\na.txt  5 bytes\nlink -> a.txt");
    assert_eq!(detail(&outcome), Detail::Hits { total: 4, shown: 4 });
}

#[tokio::test]
async fn devices_and_pipes_are_not_searched() {
    let desk = Desk::new();
    let fifo = desk.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    desk.put("a.txt", "x");
    for path in ["/dev/zero", "fifo"] {
        let error = desk.fails("grep", json!({"pattern": "x", "path": path})).await;
        assert!(error.contains("NotAFile"), "{error}");
    }
    assert!(desk.ok("grep", json!({"pattern": "x"})).await.starts_with("1 match"));
}

#[tokio::test]
async fn a_workspace_reached_through_a_link_is_searched() {
    let desk = Desk::with(|config| {
        let link = config.workspace.with_file_name("link");
        symlink(&config.workspace, &link).unwrap();
        config.workspace = link;
    });
    desk.put("sub/a.rs", "x\n");
    assert_eq!(desk.ok("glob", json!({"pattern": "*.rs"})).await, "1 file\nsub/a.rs");
    assert_eq!(desk.ok("glob", json!({"pattern": "sub/*.rs"})).await, "1 file\nsub/a.rs");
    assert!(
        desk.ok("grep", json!({"pattern": "x", "path": "sub"})).await.contains("sub/a.rs\n1: x")
    );
    desk.edit("sub/a.rs", "x", "y").await;
    assert_eq!(desk.text("sub/a.rs"), "y\n");
}

#[tokio::test]
async fn a_cancelled_search_ends_at_once() {
    let desk = Desk::new();
    desk.put("a.txt", "x");
    let cancel = CancellationToken::new();
    cancel.cancel();
    for (name, args) in [
        ("grep", json!({"pattern": "x", "path": "/"})),
        ("glob", json!({"pattern": "**/*", "path": "/usr"})),
        ("ls", json!({})),
        ("read", json!({"file_path": "a.txt"})),
    ] {
        let context = CallContext::new(cancel.clone(), ProgressSink::none());
        let outcome = desk.tools.run(call(name, args), context).await;
        assert_eq!(outcome.status, CallStatus::Cancelled);
    }
}

/// scenario 212
#[tokio::test]
async fn a_result_above_30_kb_is_saved_and_its_ends_are_shown() {
    let desk = Desk::new();
    for n in 0..100 {
        desk.put(&format!("f{n:02}.txt"), format!("needle {}\n", "w".repeat(390)));
    }
    let shown = desk.ok("grep", json!({"pattern": "needle", "context": 3})).await;
    assert!(
        shown.starts_with("100 matches in 100 files") && shown.chars().count() < 2500,
        "{shown}"
    );
    let path = shown.split("saved as ").nth(1).unwrap().split(',').next().unwrap();
    let saved = std::fs::read_to_string(path).unwrap();
    assert!(saved.len() > 30_000 && saved.contains("f99.txt"));
}

#[tokio::test]
async fn closed_files_are_passed_over_unless_they_are_named() {
    let desk = Desk::with(|config| {
        config.closed = codebot::tools::Closed::new(|path| {
            path.ends_with("server.key")
                || path.components().any(|part| part.as_os_str() == "vault")
        });
    });
    desk.put("server.key", "needle\n");
    desk.put("vault/x", "needle\n");
    desk.put("a.txt", "needle\n");
    let out = desk.ok("grep", json!({"pattern": "needle"})).await;
    assert!(out.starts_with("1 match in 1 file\na.txt\n1: needle\n[2 files that may"), "{out}");
    let out = desk.ok("grep", json!({"pattern": "needle", "files_only": true})).await;
    assert!(!out.contains("server.key"), "{out}");
    for named in ["server.key", "vault", "vault/x"] {
        let out = desk.ok("grep", json!({"pattern": "needle", "path": named})).await;
        assert!(out.starts_with("1 match") && !out.contains("passed over"), "{out}");
    }
}
