//! Skills: where they are read from, which the user's words call for, how arguments get in.

use std::fs;
use std::path::Path;

use codebot::skill::expand::{Piece, expand};
use codebot::skill::load::{Folder, Holds, Skills, Source, stamp};
use codebot::skill::select::{CHARS, excerpt, lines, relevant, stands_in};

fn folder(path: &Path, source: Source) -> Folder {
    Folder { path: path.to_owned(), source, holds: Holds::Skills }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn skill(name: &str, head: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: about {name}\n{head}\n---\n{body}\n")
}

#[test]
fn the_bundled_skills_are_whole_and_short() {
    let skills = Skills::load(&[]);
    let names: Vec<&str> = skills.all().iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["debug", "init", "refactor", "review"]);
    assert!(skills.warnings.is_empty());
    for skill in skills.all() {
        assert!(skill.body.chars().count() <= CHARS, "{}", skill.name);
        assert!(skill.by_user && skill.by_model && !skill.triggers.is_empty());
    }
    assert_eq!(skills.find("review").unwrap().allowed.len(), 4);
}

#[test]
fn the_project_wins_over_the_user_over_the_bundled_and_broken_ones_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let (project, user) = (dir.path().join("p"), dir.path().join("u"));
    write(&project.join("review/SKILL.md"), &skill("review", "", "the project's way"));
    write(&project.join("broken.md"), "---\nname: broken\n---\nno description\n");
    write(&project.join("flag.md"), &skill("flag", "user-invocable: perhaps", "x"));
    write(&project.join("empty.md"), &skill("empty", "", ""));
    write(&user.join("review.md"), &skill("review", "", "the user's way"));
    write(&user.join("ship/SKILL.md"), &skill("ship", "context: fork\nmodel: a/b", "ship it"));
    let folders = [folder(&project, Source::Project), folder(&user, Source::User)];
    let skills = Skills::load(&folders);
    assert_eq!(skills.find("review").unwrap().body, "the project's way");
    let ship = skills.find("ship").unwrap();
    assert!(ship.fork && ship.source == Source::User);
    assert_eq!(ship.model.as_deref(), Some("a/b"));
    assert_eq!(skills.warnings.len(), 3, "{:?}", skills.warnings);
    assert!(skills.warnings.iter().all(|line| line.lines().count() == 1));
    let before = stamp(&folders);
    write(&user.join("new.md"), &skill("new", "", "x"));
    assert_ne!(before, stamp(&folders));
}

/// scenario F12: a skill that was generated can't take the name of one of ours, and a draft is
/// told to nobody before it is kept.
#[test]
fn generated_skills_named_like_ours_are_refused_and_drafts_wait() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("debug.md"), &skill("debug", "generated: true", "mine"));
    write(&dir.path().join("notes.md"), &skill("notes", "generated: true\ndraft: true", "x"));
    let skills = Skills::load(&[folder(dir.path(), Source::User)]);
    assert_ne!(skills.find("debug").unwrap().body, "mine");
    assert!(skills.warnings[0].contains("name of a bundled skill"), "{:?}", skills.warnings);
    assert!(skills.find("notes").is_none());
    assert!(skills.all().iter().any(|skill| skill.name == "notes" && skill.draft));
    assert!(!lines(&skills).iter().any(|line| line.starts_with("notes")));
    write(&dir.path().join("notes.md"), &skill("notes", "generated: true", "x"));
    assert!(Skills::load(&[folder(dir.path(), Source::User)]).find("notes").is_some());
}

/// scenario F11: three skills at most, each of bounded length.
#[test]
fn a_trigger_brings_at_most_three_skills_of_bounded_length() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..5 {
        let head = format!("triggers: [deploy{}]", " now".repeat(n % 2));
        write(
            &dir.path().join(format!("s{n}.md")),
            &skill(&format!("s{n}"), &head, &"x".repeat(5000)),
        );
    }
    write(
        &dir.path().join("quiet.md"),
        &skill("quiet", "trigger: deploy\ndisable-model-invocation: true", "x"),
    );
    let skills = Skills::load(&[folder(dir.path(), Source::User)]);
    let found = relevant(&skills, "please Deploy now, and hurry");
    let names: Vec<&str> = found.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["s1", "s3", "s0"], "the longest trigger first");
    assert!(found.iter().all(|skill| excerpt(skill).chars().count() <= CHARS));
    assert!(relevant(&skills, "redeployment").is_empty());
    assert!(stands_in("部署", "请部署一下") && stands_in("c++", "my c++ code"));
    let told = lines(&skills);
    assert!(told.is_sorted() && told.contains(&"s0: about s0".to_owned()));
    assert!(!told.iter().any(|line| line.starts_with("quiet")));
}

#[test]
fn commands_are_named_by_their_file_and_are_the_users_alone() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("ship.md"), "# Ship it\nDo $1 then $ARGUMENTS");
    let commands =
        Folder { path: dir.path().to_owned(), source: Source::User, holds: Holds::Commands };
    let skills = Skills::load(&[commands]);
    let ship = skills.find("ship").unwrap();
    assert_eq!(ship.description, "Ship it");
    assert!(ship.by_user && !ship.by_model);
}

#[test]
fn arguments_go_where_they_are_wanted_and_bring_nothing_of_their_own() {
    let text = |body: &str, args: &str| match expand(body, args).as_slice() {
        [Piece::Text(text)] => text.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        text("fix $1 in $2 ($ARGUMENTS)", "bug \"my file\""),
        "fix bug in my file (bug \"my file\")"
    );
    assert_eq!(text("costs $10 and $x", ""), "costs $10 and $x");
    assert_eq!(text("look", "here"), "look\n\nArguments: here");
    assert_eq!(text("say $1", "'$2 !`rm x`'"), "say $2 !`rm x`");
    assert_eq!(
        expand("on !`git branch` now", ""),
        [Piece::Text("on ".into()), Piece::Shell("git branch".into()), Piece::Text(" now".into())]
    );
}
