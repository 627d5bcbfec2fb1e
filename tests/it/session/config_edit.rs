//! Saving a key from the set-up panel.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use codebot::config::edit::save_provider_key;
use codebot::config::env::Env;
use codebot::config::load::{Flags, load};

use super::config::Home;

fn saved(home: &Home, provider: &str, model: Option<&str>) -> String {
    save_provider_key(&home.paths(), provider, "sk-1", model).unwrap();
    let loaded = load(&home.paths(), None, &Env::default(), &Flags::default()).unwrap();
    assert_eq!(loaded.config.providers[provider].api_key.as_deref(), Some("sk-1"));
    fs::read_to_string(home.paths().config_file).unwrap()
}

/// case F16
#[test]
fn a_first_key_makes_a_file_that_only_its_owner_reads() {
    let home = Home::new();
    let text = saved(&home, "anthropic", Some("anthropic/m"));
    assert_eq!(text, "model = \"anthropic/m\"\n\n[providers.anthropic]\napi_key = \"sk-1\"\n");
    let mode = fs::metadata(home.paths().config_file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn comments_and_other_keys_stay() {
    let home = Home::new();
    home.user(
        "# mine\nmodel = \"anthropic/old\" # liked\n\n[ui] # screen\nmouse = false\n\n\
         [providers.anthropic]\napi_key = \"old\" # from work\nbase_url = \"https://x\"\n",
    );
    let text = saved(&home, "anthropic", Some("anthropic/new"));
    assert_eq!(
        text,
        "# mine\nmodel = \"anthropic/old\" # liked\n\n[ui] # screen\nmouse = false\n\n\
         [providers.anthropic]\napi_key = \"sk-1\" # from work\nbase_url = \"https://x\"\n"
    );
    // A model of another provider would not become usable by this key.
    let text = saved(&home, "openai", Some("openai/m"));
    assert!(text.contains("model = \"openai/m\" # liked"), "{text}");
    assert!(text.ends_with("[providers.openai]\napi_key = \"sk-1\"\n"), "{text}");
}

#[test]
fn inline_tables_and_a_readable_file_are_dealt_with() {
    let home = Home::new();
    home.user("providers = { a = { base_url = \"https://x\" } }\n");
    fs::set_permissions(home.paths().config_file, fs::Permissions::from_mode(0o644)).unwrap();
    saved(&home, "a", None);
    saved(&home, "b", None);
    let mode = fs::metadata(home.paths().config_file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_broken_file_is_not_touched() {
    let home = Home::new();
    for text in ["model = [\n", "providers = 3\n", "[providers]\na = 1\n"] {
        home.user(text);
        let error = save_provider_key(&home.paths(), "a", "sk-1", None).unwrap_err();
        assert!(error.place.ends_with("config.toml"), "{error}");
        assert_eq!(fs::read_to_string(home.paths().config_file).unwrap(), text);
    }
}

#[test]
fn a_linked_config_file_stays_a_link() {
    let home = Home::new();
    let file = home.paths().config_file;
    let real = file.with_file_name("dotfile.toml");
    fs::write(&real, "# dot\n").unwrap();
    std::os::unix::fs::symlink(&real, &file).unwrap();
    saved(&home, "a", None);
    assert!(fs::symlink_metadata(&file).unwrap().is_symlink());
    let text = fs::read_to_string(&real).unwrap();
    assert_eq!(text, "# dot\n\n[providers.a]\napi_key = \"sk-1\"\n");
}
