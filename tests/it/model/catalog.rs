//! The model catalogue.

use codebot::config::schema::ModelConfig;
use codebot::kernel::message::ModelRef;
use codebot::kernel::ports::ModelInfo;
use codebot::model::{PROVIDERS, catalog};

fn info(reference: &str, local: bool) -> ModelInfo {
    let (provider, model) = reference.split_once('/').unwrap();
    let model = ModelRef { provider: provider.to_owned(), model: model.to_owned() };
    catalog::info(&model, local, &ModelConfig::default())
}

#[test]
fn every_row_can_be_read_and_makes_sense() {
    let names: Vec<&str> = catalog::names().collect();
    assert!(names.len() >= 25, "{}", names.len());
    for name in names {
        let info = info(name, false);
        let price = info.price.unwrap_or_else(|| panic!("{name} has no price"));
        assert!(info.context_window >= 32_000 && info.context_window <= 12_000_000, "{name}");
        assert!(info.max_output >= 4096 && info.max_output <= info.context_window, "{name}");
        assert!(price.input > 0.0 && price.output >= price.input, "{name}");
        assert!(price.cache_read <= price.input, "{name}");
    }
}

#[test]
fn default_models_are_listed() {
    for row in PROVIDERS.iter().filter(|row| row.needs_key && row.name != "openrouter") {
        assert!(catalog::lists(row.name, row.default_model), "{}/{}", row.name, row.default_model);
    }
}

#[test]
fn dates_and_routes_find_the_same_row() {
    let plain = info("anthropic/claude-sonnet-4-5", false);
    let same = |other: ModelInfo| {
        assert_eq!(
            (other.context_window, other.max_output),
            (plain.context_window, plain.max_output)
        );
        assert_eq!(other.price, plain.price);
        assert!(other.vision);
    };
    same(info("anthropic/claude-sonnet-4-5-20250929", false));
    same(info("openrouter/anthropic/claude-sonnet-4.5", false));
    same(info("openrouter/anthropic/claude-sonnet-4.5:nitro", false));
}

#[test]
fn unknown_models_work_with_stated_assumptions() {
    let remote = info("openai/unheard-of-1", false);
    assert_eq!((remote.context_window, remote.max_output, remote.price), (128_000, 8192, None));
    let local = info("ollama/qwen3:8b", true);
    assert_eq!((local.context_window, local.max_output), (32_000, 8192));
    assert_eq!(local.price.map(|price| price.input.to_bits()), Some(0.0_f64.to_bits()));
}
