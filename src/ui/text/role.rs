//! What a piece of the screen means. A theme gives every role a style; no other file names a
//! colour.

macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident = $key:literal,)*) => {
        /// A meaning on screen; its name in theme files is the snake case of the variant.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Role {
            $($(#[$doc])* $name,)*
        }

        impl Role {
            /// All roles in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The name in theme files.
            pub fn key(self) -> &'static str {
                match self {
                    $(Self::$name => $key,)*
                }
            }
        }
    };
}

roles! {
    /// Ordinary text.
    #[default]
    Text = "text",
    /// Less important text.
    Dim = "dim",
    /// Least important text: guides, counters.
    Faint = "faint",
    /// What leads the eye: marks, selected items.
    Accent = "accent",
    /// Worked.
    Success = "success",
    /// Needs a look.
    Warning = "warning",
    /// Failed.
    Error = "error",
    /// Good to know.
    Info = "info",
    /// Could destroy much.
    Danger = "danger",
    /// The user's words.
    User = "user",
    /// Background of the user's words.
    UserFill = "user_fill",
    /// The mark in front of the user's words and the composer.
    Prompt = "prompt",
    /// Example text of an empty field.
    Placeholder = "placeholder",
    /// Reasoning.
    Thinking = "thinking",
    /// A tool's name.
    Tool = "tool",
    /// A tool's main argument.
    ToolTitle = "tool_title",
    /// A tool's output.
    Output = "output",
    /// Markdown headings.
    Heading = "heading",
    /// Inline code.
    Code = "code",
    /// Code in blocks.
    CodeText = "code_text",
    /// Background of code blocks.
    CodeFill = "code_fill",
    /// Link texts.
    Link = "link",
    /// Quoted text.
    Quote = "quote",
    /// List marks.
    Marker = "marker",
    /// Table lines and rules.
    Rule = "rule",
    /// Line numbers.
    Gutter = "gutter",
    /// Added lines.
    Added = "added",
    /// Background of added lines.
    AddedFill = "added_fill",
    /// Changed words in added lines.
    AddedWord = "added_word",
    /// Removed lines.
    Removed = "removed",
    /// Background of removed lines.
    RemovedFill = "removed_fill",
    /// Changed words in removed lines.
    RemovedWord = "removed_word",
    /// Code: keywords.
    Keyword = "keyword",
    /// Code: strings.
    Literal = "literal",
    /// Code: comments.
    Comment = "comment",
    /// Code: numbers and constants.
    Number = "number",
    /// Code: functions.
    Function = "function",
    /// Code: types.
    Type = "type",
    /// Code: variables and parameters.
    Variable = "variable",
    /// Code: operators and punctuation.
    Punctuation = "punctuation",
    /// Code: attributes, macros, decorators.
    Attribute = "attribute",
    /// Panel borders.
    Border = "border",
    /// Panel titles.
    Title = "title",
    /// Background of the selected entry or text.
    Selection = "selection",
    /// Background of search hits.
    Match = "match",
    /// Keys in hints.
    Key = "key",
    /// Permission mode `strict`.
    ModeStrict = "mode_strict",
    /// Permission mode `balanced`.
    ModeBalanced = "mode_balanced",
    /// Permission mode `accept-edits`.
    ModeAcceptEdits = "mode_accept_edits",
    /// Permission mode `trust`.
    ModeTrust = "mode_trust",
}

/// How a piece of text is written: its meaning and its shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ink {
    /// What it means.
    pub role: Role,
    /// Shape, a sum of the constants of this type.
    pub shape: u8,
}

impl Ink {
    /// Bold.
    pub const BOLD: u8 = 1;
    /// Italic.
    pub const ITALIC: u8 = 2;
    /// Underlined.
    pub const UNDERLINE: u8 = 4;
    /// Struck through.
    pub const STRIKE: u8 = 8;

    /// Plain shape.
    pub const fn new(role: Role) -> Self {
        Self { role, shape: 0 }
    }

    /// Adds shapes.
    #[must_use]
    pub const fn with(self, shape: u8) -> Self {
        Self { role: self.role, shape: self.shape | shape }
    }
}

impl From<Role> for Ink {
    fn from(role: Role) -> Self {
        Self::new(role)
    }
}
