//! How much a chat is thought to need, judged from the user's words alone, and how many model
//! calls that allows before somebody looks up. Pure: words and the last tier in, a route out.
//!
//! A signal of real work always wins over a rule for quick looks, and length decides only when
//! neither speaks. Words of one alphabet are matched whole ("run" is not in "prune"); Chinese has
//! no word borders, so its signals match anywhere.

use super::event::Tier;

/// Model calls of the fast tier; not configurable, since more would not be fast.
pub const FAST_CALLS: u32 = 2;

/// Most characters of a short request.
const SHORT: usize = 80;

/// English words of real work, in lower case and with their usual endings.
const WORK: &[&str] = &[
    "fix",
    "fixes",
    "fixed",
    "rename",
    "test",
    "tests",
    "build",
    "run",
    "commit",
    "implement",
    "refactor",
    "debug",
    "write",
    "create",
    "add",
    "delete",
    "remove",
    "change",
    "update",
    "edit",
    "install",
    "deploy",
    "merge",
    "migrate",
    "upgrade",
    "optimize",
    "compile",
    "rebase",
    "rewrite",
    "replace",
    "move",
    "patch",
    "revert",
    "lint",
    "format",
];

/// Chinese words of real work.
const WORK_ZH: &[&str] = &[
    "修改",
    "重命名",
    "跑测试",
    "提交",
    "修复",
    "实现",
    "重构",
    "编译",
    "构建",
    "运行",
    "部署",
    "测试",
    "调试",
    "删除",
    "添加",
    "新增",
    "创建",
    "编写",
    "安装",
    "合并",
    "升级",
    "优化",
    "迁移",
    "替换",
    "执行",
    "回滚",
];

/// Words that only ask to go on.
const GO_ON: &[&str] = &[
    "continue",
    "go on",
    "go ahead",
    "carry on",
    "keep going",
    "proceed",
    "resume",
    "next",
    "yes",
    "ok",
    "okay",
    "继续",
    "接着",
    "接着做",
    "请继续",
    "好的",
    "好",
    "下一步",
    "可以",
    "是的",
];

/// How chats are routed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteConfig {
    /// Whether a chat that used up its calls and is not stuck gets more. True; otherwise its last
    /// call is spent on a report.
    pub escalate: bool,
    /// Model calls of a medium chat, 4.
    pub medium: u32,
    /// Model calls of a full chat, 10.
    pub full: u32,
    /// What counts as a quick look. None by default.
    pub fast: Vec<FastRule>,
    /// Tools of the fast tier besides those of its rule; an empty list means all.
    pub fast_tools: Vec<String>,
    /// Whether later prompts may be fast too, at the price of the cached prefix. False.
    pub fast_later: bool,
}

impl Default for RouteConfig {
    fn default() -> Self {
        Self {
            escalate: true,
            medium: 4,
            full: 10,
            fast: Vec::new(),
            fast_tools: Vec::new(),
            fast_later: false,
        }
    }
}

impl RouteConfig {
    /// Model calls of a chat of that tier.
    pub fn budget(&self, tier: Tier) -> u32 {
        match tier {
            Tier::Fast => FAST_CALLS,
            Tier::Medium => self.medium.max(1),
            Tier::Full => self.full.max(1),
        }
    }
}

/// Words of a quick look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FastRule {
    /// The whole request in lower case; `*` stands for anything.
    pub pattern: String,
    /// Tools that such a request needs.
    pub tools: Vec<String>,
}

/// What was decided and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The tier.
    pub tier: Tier,
    /// The reason in a word or two, for people.
    pub rule: String,
    /// Tools of the matching fast rule.
    pub tools: Vec<String>,
}

/// What the router knows besides the words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// The user fixed the tier.
    pub pin: Option<Tier>,
    /// The tier of the chat before.
    pub previous: Option<Tier>,
    /// It is the first prompt of the session.
    pub is_first: bool,
}

/// The route of these words. Without words (the run is only continued) the tier stays.
pub fn choose(words: Option<&str>, past: Past, config: &RouteConfig) -> Route {
    let route = |tier, rule: &str| Route { tier, rule: rule.to_owned(), tools: Vec::new() };
    if let Some(tier) = past.pin {
        return route(tier, "pinned");
    }
    let text = words.unwrap_or_default().trim().to_lowercase();
    let goes_on = words.is_none() || is_go_on(&text);
    if let Some(tier) = past.previous.filter(|_| goes_on) {
        return route(tier, "continued");
    }
    if let Some(signal) = signal(&text) {
        return route(Tier::Full, &format!("signal {signal}"));
    }
    let may_be_fast = past.is_first || config.fast_later;
    if let Some(rule) = config.fast.iter().find(|rule| may_be_fast && fits(&rule.pattern, &text)) {
        let tools = rule.tools.clone();
        return Route { tier: Tier::Fast, rule: format!("fast rule {}", rule.pattern), tools };
    }
    if text.chars().count() <= SHORT {
        return route(Tier::Medium, "short request");
    }
    route(Tier::Full, "long request")
}

/// The tier after this one; full stays full.
pub fn above(tier: Tier) -> Tier {
    match tier {
        Tier::Fast => Tier::Medium,
        Tier::Medium | Tier::Full => Tier::Full,
    }
}

fn is_go_on(text: &str) -> bool {
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
    GO_ON.contains(&bare)
}

/// The first word of real work.
fn signal(text: &str) -> Option<&'static str> {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
    let english = words.find_map(|word| WORK.iter().find(|signal| **signal == word));
    english.or_else(|| WORK_ZH.iter().find(|signal| text.contains(**signal))).copied()
}

/// Whether the text is the pattern, in which `*` stands for anything.
fn fits(pattern: &str, text: &str) -> bool {
    let pattern = pattern.trim().to_lowercase();
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut left) = text.strip_prefix(head) else { return false };
    let mut pieces = rest.split('*').peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return left.ends_with(piece);
        }
        match left.find(piece) {
            Some(at) => left = &left[at + piece.len()..],
            None => return false,
        }
    }
    true
}
