//! From references, environment and config to a connection.

use std::collections::BTreeMap;

use codebot::config::schema::{ModelConfig, ProviderConfig};
use codebot::model::connection::{is_loopback, normalise_base_url, ollama_url};
use codebot::model::{Connection, Kind, PROVIDERS, ResolveError, connect, resolve};

type Config = BTreeMap<String, ProviderConfig>;

fn with(
    reference: Option<&str>,
    env: &[(&str, &str)],
    config: &Config,
) -> Result<Connection, ResolveError> {
    let lookup =
        |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    resolve(reference, &lookup, config, &BTreeMap::new())
}

fn found(reference: Option<&str>, env: &[(&str, &str)]) -> Connection {
    with(reference, env, &Config::new()).unwrap()
}

fn problem(reference: Option<&str>, env: &[(&str, &str)]) -> String {
    with(reference, env, &Config::new()).unwrap_err().to_string()
}

fn section(name: &str, change: impl FnOnce(&mut ProviderConfig)) -> Config {
    let mut config = ProviderConfig::default();
    change(&mut config);
    Config::from([(name.to_owned(), config)])
}

#[test]
fn a_reference_names_provider_and_model() {
    let connection = found(Some("anthropic/claude-opus-4-1"), &[("ANTHROPIC_API_KEY", " sk-1\n")]);
    assert_eq!((connection.kind, connection.model.as_str()), (Kind::Anthropic, "claude-opus-4-1"));
    assert_eq!(connection.base_url, "https://api.anthropic.com");
    assert_eq!(connection.key.unwrap().expose(), "sk-1");
    let routed =
        found(Some("openrouter/anthropic/claude-sonnet-4.5"), &[("OPENROUTER_API_KEY", "k")]);
    assert_eq!(routed.model, "anthropic/claude-sonnet-4.5");
}

#[test]
fn without_a_reference_the_provider_with_a_key_is_taken() {
    let connection = found(None, &[("DEEPSEEK_API_KEY", "k")]);
    assert_eq!(
        (connection.provider.as_str(), connection.model.as_str()),
        ("deepseek", "deepseek-flash")
    );
    assert!(connection.reasoning_replay);
    // Several keys: the order of the table.
    let both = found(None, &[("GROQ_API_KEY", "k"), ("OPENAI_API_KEY", "k")]);
    assert_eq!(both.provider, "openai");
    // Blank variables are no keys.
    assert!(problem(None, &[("OPENAI_API_KEY", " ")]).starts_with("no model is set up"));
    let config = section("own", |config| {
        config.kind = Some("openai-chat".into());
        config.base_url = Some("https://llm.example".into());
        config.api_key = Some("k".into());
    });
    let error = with(None, &[], &config).unwrap_err();
    assert_eq!(error, ResolveError::NoDefaultModel { provider: "own".into() });
    assert_eq!(error.to_string(), "which model of own? write own/<model>");
}

#[test]
fn a_bare_model_name_finds_its_provider() {
    let keys = [("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")];
    assert_eq!(found(Some("gpt-4o"), &keys).provider, "openai");
    assert_eq!(found(Some("claude-sonnet-4-5-20250929"), &keys).provider, "anthropic");
    assert_eq!(found(Some("never-heard-of"), &keys).provider, "anthropic");
    assert_eq!(found(Some("openai"), &keys).model, "gpt-5.1");
}

#[test]
fn errors_name_the_remedy() {
    assert_eq!(
        problem(Some("anthropic/x"), &[]),
        "anthropic needs a key: set ANTHROPIC_API_KEY, or paste one in the set-up panel of codebot"
    );
    assert_eq!(
        problem(Some("antropic/x"), &[]),
        "unknown provider antropic; did you mean anthropic?"
    );
    assert_eq!(
        problem(Some("acme/x"), &[]),
        "unknown provider acme; add [providers.acme] to the config file or use a known one"
    );
    assert_eq!(problem(Some("ollama"), &[]), "which model of ollama? write ollama/<model>");
    let kind = section("own", |config| config.kind = Some("grpc".into()));
    assert_eq!(
        with(Some("own/m"), &[], &kind).unwrap_err().to_string(),
        "provider own: unknown kind \"grpc\"; use \"anthropic\", \"openai-chat\", \
         \"openai-responses\", \"gemini\""
    );
    let no_url = section("own", |config| config.kind = Some("openai-chat".into()));
    assert!(with(Some("own/m"), &[], &no_url).unwrap_err().to_string().contains("has no base_url"));
    let bad = section("openai", |config| {
        config.base_url = Some("ftp://x".into());
        config.api_key = Some("k".into());
    });
    assert!(matches!(with(Some("openai/m"), &[], &bad), Err(ResolveError::BadBaseUrl { .. })));
    let empty_env = section("openai", |config| config.api_key_env = Some("MY_KEY".into()));
    assert_eq!(
        with(Some("openai/m"), &[], &empty_env).unwrap_err(),
        ResolveError::NoKey { provider: "openai".into(), env: "MY_KEY".into() }
    );
}

#[test]
fn config_wins_over_the_environment() {
    let config = section("openai", |config| {
        config.base_url = Some("https://gateway.example/openai/".into());
        config.api_key_env = Some("GATEWAY_KEY".into());
        config.headers = [("X-A".to_owned(), "b".to_owned())].into();
        config.reasoning_replay = Some(true);
    });
    let env = [("OPENAI_API_KEY", "a"), ("GATEWAY_KEY", "b"), ("OPENAI_BASE_URL", "http://c")];
    let connection = with(Some("openai/m"), &env, &config).unwrap();
    assert_eq!(connection.base_url, "https://gateway.example/openai/v1");
    assert_eq!(connection.key.as_ref().unwrap().expose(), "b");
    assert_eq!(connection.headers, [("X-A".to_owned(), "b".to_owned())]);
    assert!(connection.reasoning_replay);
}

#[test]
fn the_environment_sets_addresses_and_tokens() {
    let env = [("ANTHROPIC_AUTH_TOKEN", "t"), ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9/v1/")];
    let connection = found(Some("anthropic"), &env);
    assert!(connection.bearer);
    assert_eq!(connection.base_url, "http://127.0.0.1:9");
    assert_eq!(
        found(Some("openai"), &[("OPENAI_API_BASE", "http://localhost:9")]).base_url,
        "http://localhost:9/v1"
    );
    let local = found(Some("ollama/qwen3"), &[("OLLAMA_HOST", "0.0.0.0")]);
    assert_eq!((local.base_url.as_str(), local.key), ("http://127.0.0.1:11434/v1", None));
}

#[test]
fn addresses_are_taken_as_people_write_them() {
    for text in [
        "https://h/v1",
        "https://h/v1/",
        "https://h",
        "https://h/",
        "https://h/v1/chat/completions",
    ] {
        assert_eq!(normalise_base_url(text, Kind::OpenAiChat).unwrap(), "https://h/v1", "{text}");
    }
    for text in
        ["https://h/v1", "https://h/v1/", "https://h", "https://h//", "https://h/v1/messages"]
    {
        assert_eq!(normalise_base_url(text, Kind::Anthropic).unwrap(), "https://h", "{text}");
    }
    for text in ["https://h/api/paas/v4", "https://h/v1beta/openai"] {
        assert_eq!(normalise_base_url(text, Kind::OpenAiChat).unwrap(), text);
    }
    assert_eq!(
        normalise_base_url("localhost:80", Kind::OpenAiChat).unwrap(),
        "http://localhost:80/v1"
    );
    for text in ["", "ftp://h", "http://", "not an address"] {
        assert_eq!(normalise_base_url(text, Kind::OpenAiChat), None, "{text}");
    }
    for (text, url) in [
        ("127.0.0.1:5", "http://127.0.0.1:5"),
        (":5", "http://127.0.0.1:5"),
        ("5", "http://127.0.0.1:5"),
        ("box", "http://box:11434"),
        ("https://box", "https://box:443"),
        ("http://0.0.0.0:7/", "http://127.0.0.1:7"),
    ] {
        assert_eq!(ollama_url(text), url, "{text}");
    }
    assert!(is_loopback("http://[::1]:9/v1") && is_loopback("http://localhost:1"));
    assert!(!is_loopback("http://127.example:1") && !is_loopback("https://api.openai.com"));
}

#[test]
fn every_row_of_the_table_can_be_used() {
    for row in PROVIDERS {
        let env: Vec<(&str, &str)> = row.key_env.iter().map(|name| (*name, "k")).collect();
        let reference = format!("{}/some-model", row.name);
        let connection = found(Some(&reference), &env);
        assert_eq!((connection.kind, connection.model.as_str()), (row.kind, "some-model"));
        assert_eq!(row.needs_key, !row.key_env.is_empty(), "{}", row.name);
        // Cheap and without a runtime.
        assert_eq!(connect(connection).info().model.to_string(), reference);
    }
}

#[test]
fn model_sections_correct_the_catalogue() {
    let correction =
        ModelConfig { context_window: Some(9), price_out: Some(2.5), ..ModelConfig::default() };
    let models = BTreeMap::from([("openai/gpt-4o".to_owned(), correction)]);
    let lookup = |name: &str| (name == "OPENAI_API_KEY").then(|| "k".to_owned());
    let connection = resolve(Some("openai/gpt-4o"), &lookup, &Config::new(), &models).unwrap();
    let info = connect(connection).info();
    assert_eq!((info.context_window, info.max_output), (9, 16_384));
    assert!((info.price.unwrap().output - 2.5).abs() < 1e-9);
}

#[test]
fn gemini_takes_either_key_and_names_the_one_it_took() {
    let both = [("GOOGLE_API_KEY", "google"), ("GEMINI_API_KEY", "gemini")];
    let connection = found(Some("gemini"), &both);
    assert_eq!((connection.kind, connection.model.as_str()), (Kind::Gemini, "gemini-3.5-flash"));
    assert_eq!(connection.key.unwrap().expose(), "gemini");
    assert_eq!(connection.key_env, "GEMINI_API_KEY");
    assert_eq!(connection.base_url, "https://generativelanguage.googleapis.com");
    let other = found(Some("gemini-2.5-pro"), &both[..1]);
    assert_eq!(other.key.unwrap().expose(), "google");
    assert_eq!((other.provider.as_str(), other.key_env.as_str()), ("gemini", "GOOGLE_API_KEY"));
    for url in ["http://h:1", "http://h:1/", "h:1/v1beta", "http://h:1/v1beta/models/"] {
        let base = [("GEMINI_API_KEY", "k"), ("GOOGLE_GEMINI_BASE_URL", url)];
        assert_eq!(found(Some("gemini"), &base).base_url, "http://h:1", "{url}");
    }
}
