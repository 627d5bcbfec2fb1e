//! Rules over facts, rules of work and the profile.

use codebot::kernel::message::Timestamp;
use codebot::memory::extract::{Found, parse};
use codebot::memory::facts::{Category, Fact, Facts};
use codebot::memory::procedures::Procedures;
use codebot::memory::secrets::masked;
use codebot::memory::{profile, words};

const DAY: i64 = 24 * 3600 * 1000;

fn at(days: i64) -> Timestamp {
    Timestamp(days * DAY)
}

fn learn(facts: &mut Facts, content: &str, category: Category) -> Vec<String> {
    facts.remember(content, category, 0.8, "user", at(0)).replaced
}

/// scenario F05: what is told, and in which order.
#[test]
fn active_facts_come_by_confidence_then_by_last_use() {
    let mut facts = Facts::default();
    for n in 0..20_i64 {
        facts.facts.push(Fact {
            id: format!("f{n}"),
            content: format!("fact {n}"),
            confidence: [0.9, 0.7, 0.5, 0.2][n as usize % 4],
            last_used: at(n),
            superseded_by: (n == 0).then(|| "f1".to_owned()),
            ..Fact::default()
        });
    }
    let told: Vec<&str> = facts.active(at(20)).iter().map(|fact| fact.id.as_str()).collect();
    assert_eq!(told[..5], ["f16", "f12", "f8", "f4", "f17"]);
    assert!(!told.contains(&"f0") && !told.contains(&"f3"), "superseded or below 0.3: {told:?}");
    assert_eq!(told.len(), 14);
}

/// scenario F06: what is about something else stays.
#[test]
fn unrelated_facts_stay_active() {
    let mut facts = Facts::default();
    let all = [
        "uses the fish shell on the laptop",
        "uses the vim editor for commit messages",
        "the staging database runs on port 5433",
        "the release branch is called stable",
        "deploys happen on Tuesday with make deploy",
    ];
    for content in all {
        assert_eq!(learn(&mut facts, content, Category::Knowledge), Vec::<String>::new());
    }
    assert_eq!(facts.active(at(1)).len(), all.len());
}

/// scenario F07: a change of mind takes the old fact's place; forgetting it brings the old one back.
#[test]
fn a_contradiction_supersedes_inside_its_category_and_can_be_taken_back() {
    let mut facts = Facts::default();
    learn(&mut facts, "prefers tabs", Category::Preference);
    learn(&mut facts, "prefers tabs", Category::Decision);
    let later = "no longer prefers tabs, spaces instead";
    assert_eq!(facts.facts.len(), 1, "the same words are one fact");
    assert_eq!(learn(&mut facts, later, Category::Knowledge), Vec::<String>::new());
    let made = facts.remember(later, Category::Preference, 0.8, "user", at(1));
    assert!(made.known, "said in another category before");
    facts.forget(&made.id);
    let made = facts.remember(later, Category::Preference, 0.8, "user", at(1));
    assert_eq!((made.id.as_str(), made.replaced.as_slice()), ("f3", &["f1".to_owned()][..]));
    assert_eq!(facts.facts[0].superseded_by.as_deref(), Some("f3"), "the link is kept");
    facts.forget("f3");
    assert_eq!(facts.active(at(1))[0].content, "prefers tabs");
}

#[test]
fn han_text_is_compared_in_pairs_and_an_update_word_lowers_the_bar() {
    assert!(words::replaces("不再用制表符缩进代码", "用制表符缩进代码"));
    assert!(!words::replaces("部署在周二进行", "用制表符缩进代码"));
    assert!(words::replaces("now deploys on friday", "deploys on tuesday with make friday"));
    assert!(!words::replaces("likes tea", "likes coffee"));
}

#[test]
fn a_doubtful_fact_that_nobody_uses_is_put_away_after_ninety_days() {
    let mut facts = Facts::default();
    facts.remember("maybe likes emacs", Category::Preference, 0.4, "session", at(0));
    facts.remember("likes vim keys", Category::Preference, 0.6, "session", at(0));
    facts.age(at(90));
    assert_eq!(facts.active(at(90)).len(), 2);
    facts.age(at(91));
    assert_eq!(facts.facts[0].superseded_by.as_deref(), Some("age"));
    assert_eq!(facts.active(at(91)).len(), 1);
}

#[test]
fn facts_are_found_by_their_words() {
    let mut facts = Facts::default();
    learn(&mut facts, "the staging database runs on port 5433", Category::Knowledge);
    learn(&mut facts, "prefers short answers", Category::Preference);
    let found = facts.search("which port has the database?", at(1));
    assert_eq!(found.len(), 1);
    assert!(found[0].content.contains("5433"));
    assert_eq!(facts.search("", at(1)).len(), 2);
}

/// scenario F09: a rule that is given again is one entry that counts more.
#[test]
fn the_same_rule_twice_counts_and_comes_first() {
    let mut rules = Procedures::default();
    rules.add("run the linter before a commit", "", at(0));
    rules.add("write a test first", "for a bug", at(1));
    rules.add("Run the linter  before a commit", "", at(2));
    let sorted = rules.sorted();
    assert_eq!(sorted.len(), 2);
    assert_eq!((sorted[0].rule.as_str(), sorted[0].hits), ("run the linter before a commit", 1));
    assert_eq!(sorted[1].line(), "write a test first (when: for a bug)");
}

/// scenario F10: a point on the same matter is replaced, another one is added.
#[test]
fn the_profile_merges_similar_points_and_adds_others() {
    let page = profile::merge("", "preferences", "likes short answers").unwrap();
    let page =
        profile::merge(&page, "Preferences", "likes long answers, no short answers").unwrap();
    assert!(!page.contains("- likes short answers\n"), "{page}");
    let page = profile::merge(&page, "Preferences", "writes Rust").unwrap();
    let page = page.replace("## Working style", "## Working style\nmy own line");
    let page = profile::merge(&page, "Working style", "tests first").unwrap();
    let told = profile::told(&page).unwrap();
    assert_eq!(
        told,
        "## Preferences\n- likes long answers, no short answers\n- writes Rust\n## Working style\n\
         my own line\n- tests first"
    );
    assert_eq!(profile::told(&profile::template()), None);
    assert!(profile::merge(&page, "Salary", "much").unwrap_err().contains("About, Preferences"));
}

#[test]
fn what_looks_like_a_key_is_not_remembered() {
    let shown = masked("the api key is sk-live1234567890 and the password: hunter2x9 works");
    assert_eq!(shown, "the api key is [secret] and the password: [secret] works");
    assert_eq!(masked("TOKEN=abcdefgh1234 make"), "TOKEN=[secret] make");
    let plain = "the token parser lives in src/parser.rs and prefers tabs";
    assert_eq!(masked(plain), plain);
}

#[test]
fn an_answer_is_read_line_by_line_and_prose_is_passed_over() {
    let found = parse(
        "Here is what I found:\n\
         {\"kind\":\"fact\",\"content\":\"uses nix\",\"category\":\"preference\",\"confidence\":1.0}\n\
         {\"kind\":\"rule\",\"rule\":\"run make lint\"}\n\
         {\"kind\":\"fact\",\"content\":\" \"}\n\
         {\"kind\":\"weather\"}",
    );
    assert_eq!(
        found,
        [
            Found::Fact {
                content: "uses nix".into(),
                category: Category::Preference,
                confidence: 0.8
            },
            Found::Rule { rule: "run make lint".into(), context: String::new() },
        ]
    );
}
