//! Themes and what the terminal can show of them.

use codebot::ui::theme::{BUILTIN, Depth, Ink, Role, Theme};
use ratatui::style::{Color, Modifier};

#[test]
fn every_theme_of_the_program_names_every_role() {
    for (name, source) in BUILTIN {
        Theme::parse(name, source, Depth::True).expect(name);
        for role in Role::ALL {
            let entry = format!("\n{} = ", role.key());
            assert!(source.contains(&entry), "{name} lacks {}", role.key());
        }
    }
}

#[test]
fn colours_come_down_to_what_the_terminal_has() {
    let rgb = Theme::named("dark", Depth::True).style(Role::Error).fg;
    assert!(matches!(rgb, Some(Color::Rgb(..))));
    let indexed = Theme::named("dark", Depth::Indexed).style(Role::Error).fg;
    assert!(matches!(indexed, Some(Color::Indexed(16..))));
    assert_eq!(Theme::named("dark", Depth::Ansi).style(Role::Error).fg, Some(Color::Red));
    for role in Role::ALL {
        let style = Theme::named("dark", Depth::Mono).style(*role);
        assert_eq!((style.fg, style.bg), (None, None));
    }
}

#[test]
fn shapes_survive_without_colours() {
    let theme = Theme::named("dark", Depth::Mono);
    let style = theme.ink(Ink::new(Role::Text).with(Ink::BOLD));
    assert!(style.add_modifier.contains(Modifier::BOLD));
    assert!(theme.style(Role::Selection).add_modifier.contains(Modifier::REVERSED));
}

#[test]
fn the_environment_tells_the_depth() {
    let depth = |pairs: &'static [(&str, &str)]| {
        Depth::detect(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    };
    assert_eq!(depth(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), Depth::True);
    assert_eq!(depth(&[("TERM", "xterm-256color")]), Depth::Indexed);
    assert_eq!(depth(&[("TERM", "xterm")]), Depth::Ansi);
    assert_eq!(depth(&[("TERM", "xterm-kitty"), ("NO_COLOR", "1")]), Depth::Mono);
    assert_eq!(depth(&[("TERM", "xterm-kitty")]), Depth::True);
}

#[test]
fn the_automatic_theme_follows_the_background_that_the_terminal_names() {
    let chosen = |setting: &str, colours: Option<&str>| {
        let colours = colours.map(str::to_owned);
        Theme::chosen(setting, move |name| match name {
            "COLORFGBG" => colours.clone(),
            "COLORTERM" => Some("truecolor".to_owned()),
            _ => None,
        })
    };
    let [dark, light] = ["dark", "light"].map(|name| Theme::named(name, Depth::True));
    for colours in [None, Some(""), Some("15;0"), Some("7;8"), Some("15;default"), Some("x")] {
        assert_eq!(chosen("auto", colours), dark, "{colours:?}");
    }
    for colours in ["0;15", "0;default;15", "0;7", "8;11"] {
        assert_eq!(chosen("auto", Some(colours)), light, "{colours}");
    }
    assert_eq!(chosen("dark", Some("0;15")), dark, "a setting wins");
}

#[test]
fn a_broken_theme_file_says_what_is_wrong() {
    let wrong = |source: &str| Theme::parse("mine", source, Depth::True).unwrap_err().to_string();
    assert_eq!(wrong("[roles]\nnope = \"red\""), "theme mine: unknown role nope");
    assert_eq!(wrong("[roles]\ntext = \"reddish\""), "theme mine: text is no style");
    assert_eq!(wrong("a = 1"), "theme mine: the table [roles] is missing");
}
