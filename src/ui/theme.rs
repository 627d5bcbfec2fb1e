//! Semantic roles of the screen and their styles; themes are files in `assets/themes`. Colours are
//! brought down to what the terminal can (24 bit, 256, 16, none); shapes always stay, and no
//! meaning hangs on a colour alone.

use ratatui::style::{Color, Modifier, Style};
use toml::{Table, Value};

pub use super::text::role::{Ink, Role};

const DARK: &str = include_str!("../../assets/themes/dark.toml");
const LIGHT: &str = include_str!("../../assets/themes/light.toml");
const ANSI: &str = include_str!("../../assets/themes/ansi.toml");

/// The themes that come with the program: name and source.
pub const BUILTIN: &[(&str, &str)] = &[("dark", DARK), ("light", LIGHT), ("ansi", ANSI)];

/// How many colours the terminal has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Depth {
    /// 24 bit.
    True,
    /// 256.
    #[default]
    Indexed,
    /// 16.
    Ansi,
    /// None (`NO_COLOR`).
    Mono,
}

impl Depth {
    /// Reads the usual variables through `get`: `NO_COLOR`, `COLORTERM`, `TERM`.
    pub fn detect(get: impl Fn(&str) -> Option<String>) -> Self {
        let term = get("TERM").unwrap_or_default();
        let color = get("COLORTERM").unwrap_or_default();
        if get("NO_COLOR").is_some_and(|value| !value.is_empty()) || term == "dumb" {
            Self::Mono
        } else if color == "truecolor" || color == "24bit" || term.ends_with("-direct") {
            Self::True
        } else if term.contains("256") || color == "yes" {
            Self::Indexed
        } else if term.is_empty() || term == "linux" || term.starts_with("vt") {
            Self::Ansi
        } else if ["kitty", "alacritty", "foot", "ghostty"].iter().any(|name| term.contains(name)) {
            Self::True
        } else {
            Self::Ansi
        }
    }
}

/// A style for every role.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    styles: Vec<Style>,
    id: u64,
}

/// A theme file that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("theme {name}: {message}")]
pub struct ThemeError {
    /// The theme.
    pub name: String,
    /// What is wrong with it.
    pub message: String,
}

impl Default for Theme {
    fn default() -> Self {
        Self::named("dark", Depth::True)
    }
}

impl Theme {
    /// The theme for the setting `ui.theme`, in the colours that the terminal has. `auto` follows
    /// `COLORFGBG`, whose last number is the background as one of the 16 colours; where it is
    /// missing or no number it means `dark`. Variables are read through `get`.
    pub fn chosen(setting: &str, get: impl Fn(&str) -> Option<String>) -> Self {
        let depth = Depth::detect(&get);
        if setting != "auto" {
            return Self::named(setting, depth);
        }
        let colours = get("COLORFGBG").unwrap_or_default();
        let background = colours.rsplit(';').next().and_then(|last| last.trim().parse::<u8>().ok());
        // 7 and 15 are the whites, 9 to 14 bright colours; 8 is a dark grey.
        let is_light = matches!(background, Some(7 | 9..=15));
        Self::named(if is_light { "light" } else { "dark" }, depth)
    }

    /// A theme that comes with the program; unknown names give `dark`. With 16 colours every one
    /// of them is `ansi`, which uses the terminal's own.
    pub fn named(name: &str, depth: Depth) -> Self {
        let name = if depth == Depth::Ansi { "ansi" } else { name };
        let source = BUILTIN.iter().find(|(known, _)| *known == name).map_or(DARK, |row| row.1);
        Self::parse(name, source, depth).unwrap_or_else(|_| Self::plain())
    }

    /// The theme of that source: a table `roles` from role name to colour or to a table with
    /// `fg`, `bg`, `bold`, `dim`, `italic`, `underline`, `reversed`. Colours are `#rrggbb`, a
    /// name of the 16, or `default`.
    pub fn parse(name: &str, source: &str, depth: Depth) -> Result<Self, ThemeError> {
        let wrong = |message: String| ThemeError { name: name.to_owned(), message };
        let table: Table =
            source.parse().map_err(|error: toml::de::Error| wrong(error.message().to_owned()))?;
        let mut styles = Self::plain().styles;
        let roles = table.get("roles").and_then(Value::as_table);
        let roles = roles.ok_or_else(|| wrong("the table [roles] is missing".to_owned()))?;
        for (key, value) in roles {
            let role = Role::ALL.iter().find(|role| role.key() == key);
            let role = role.ok_or_else(|| wrong(format!("unknown role {key}")))?;
            let style = style(value).ok_or_else(|| wrong(format!("{key} is no style")))?;
            if let Some(slot) = styles.get_mut(*role as usize) {
                *slot = lowered(style, depth);
            }
        }
        let id = source.len() as u64 * 31 + depth as u64;
        Ok(Self { styles, id })
    }

    /// Terminal defaults for everything.
    fn plain() -> Self {
        Self { styles: vec![Style::new(); Role::ALL.len()], id: 0 }
    }

    /// Tells themes apart for caches.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    /// The style of a role with shapes.
    pub fn ink(&self, ink: Ink) -> Style {
        const SHAPES: [(u8, Modifier); 4] = [
            (Ink::BOLD, Modifier::BOLD),
            (Ink::ITALIC, Modifier::ITALIC),
            (Ink::UNDERLINE, Modifier::UNDERLINED),
            (Ink::STRIKE, Modifier::CROSSED_OUT),
        ];
        let mut style = self.style(ink.role);
        for (shape, modifier) in SHAPES {
            if ink.shape & shape != 0 {
                style = style.add_modifier(modifier);
            }
        }
        style
    }
}

fn style(value: &Value) -> Option<Style> {
    if let Some(name) = value.as_str() {
        return Some(Style::new().fg(color(name)?));
    }
    let mut style = Style::new();
    for (key, value) in value.as_table()? {
        style = match key.as_str() {
            "fg" => style.fg(color(value.as_str()?)?),
            "bg" => style.bg(color(value.as_str()?)?),
            "bold" => shaped(style, value, Modifier::BOLD)?,
            "dim" => shaped(style, value, Modifier::DIM)?,
            "italic" => shaped(style, value, Modifier::ITALIC)?,
            "underline" => shaped(style, value, Modifier::UNDERLINED)?,
            "reversed" => shaped(style, value, Modifier::REVERSED)?,
            _ => return None,
        };
    }
    Some(style)
}

fn shaped(style: Style, value: &Value, modifier: Modifier) -> Option<Style> {
    Some(if value.as_bool()? { style.add_modifier(modifier) } else { style })
}

fn color(name: &str) -> Option<Color> {
    if let Some(hex) = name.strip_prefix('#') {
        let number = u32::from_str_radix(hex, 16).ok().filter(|_| hex.len() == 6)?;
        return Some(Color::from_u32(number));
    }
    let color = match name {
        "default" => Color::Reset,
        "black" => Color::Black,
        "red" => Color::Red,
        "green" => Color::Green,
        "yellow" => Color::Yellow,
        "blue" => Color::Blue,
        "magenta" => Color::Magenta,
        "cyan" => Color::Cyan,
        "gray" => Color::Gray,
        "bright-black" => Color::DarkGray,
        "bright-red" => Color::LightRed,
        "bright-green" => Color::LightGreen,
        "bright-yellow" => Color::LightYellow,
        "bright-blue" => Color::LightBlue,
        "bright-magenta" => Color::LightMagenta,
        "bright-cyan" => Color::LightCyan,
        "white" => Color::White,
        _ => return None,
    };
    Some(color)
}

/// The style as far as the terminal can show it.
fn lowered(mut style: Style, depth: Depth) -> Style {
    if depth == Depth::Mono {
        // A background is the whole meaning of selections; without colours they are reversed.
        let marked = style.fg.is_some() && style.bg.is_some();
        style.fg = None;
        style.bg = None;
        return if marked { style.add_modifier(Modifier::REVERSED) } else { style };
    }
    style.fg = style.fg.map(|color| nearest(color, depth));
    style.bg = style.bg.map(|color| nearest(color, depth));
    style
}

fn nearest(color: Color, depth: Depth) -> Color {
    let Color::Rgb(r, g, b) = color else { return color };
    match depth {
        Depth::True => color,
        Depth::Indexed => Color::Indexed(indexed(r, g, b)),
        Depth::Ansi | Depth::Mono => ansi(r, g, b),
    }
}

/// The nearest of the colour cube and the grey ramp (entries 16 to 255).
fn indexed(r: u8, g: u8, b: u8) -> u8 {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let step = |value: u8| {
        let near = |i: &usize| STEPS[*i].abs_diff(value);
        (0..6).min_by_key(near).unwrap_or(0)
    };
    let [red, green, blue] = [step(r), step(g), step(b)];
    let cube = distance((r, g, b), (STEPS[red], STEPS[green], STEPS[blue]));
    let mean = (u16::from(r) + u16::from(g) + u16::from(b)) / 3;
    let ramp = (mean.saturating_sub(3) / 10).min(23) as u8;
    let grey = 8 + ramp * 10;
    if distance((r, g, b), (grey, grey, grey)) < cube {
        return 232 + ramp;
    }
    (16 + 36 * red + 6 * green + blue) as u8
}

fn ansi(r: u8, g: u8, b: u8) -> Color {
    const PALETTE: [(Color, (u8, u8, u8)); 16] = [
        (Color::Black, (0, 0, 0)),
        (Color::Red, (170, 0, 0)),
        (Color::Green, (0, 170, 0)),
        (Color::Yellow, (170, 85, 0)),
        (Color::Blue, (0, 0, 170)),
        (Color::Magenta, (170, 0, 170)),
        (Color::Cyan, (0, 170, 170)),
        (Color::Gray, (170, 170, 170)),
        (Color::DarkGray, (85, 85, 85)),
        (Color::LightRed, (255, 85, 85)),
        (Color::LightGreen, (85, 255, 85)),
        (Color::LightYellow, (255, 255, 85)),
        (Color::LightBlue, (85, 85, 255)),
        (Color::LightMagenta, (255, 85, 255)),
        (Color::LightCyan, (85, 255, 255)),
        (Color::White, (255, 255, 255)),
    ];
    let near = PALETTE.iter().min_by_key(|(_, rgb)| distance((r, g, b), *rgb));
    near.map_or(Color::Reset, |(color, _)| *color)
}

fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    let square = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    square(a.0, b.0) + square(a.1, b.1) + square(a.2, b.2)
}
