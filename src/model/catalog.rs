//! What is known about models: context window, output cap, prices, sight. The table is an asset;
//! only the section of the model in use is parsed, and only when somebody asks.

use serde::Deserialize;

use super::connection::Connection;
use crate::config::schema::{Dose, ModelConfig};
use crate::kernel::message::ModelRef;
use crate::kernel::ports::{ModelInfo, Price};

/// The catalogue: one `["provider/model"]` section each.
const CATALOG: &str = include_str!("../../assets/models.toml");

/// Context assumed for an unknown model of a remote service, in tokens.
pub const ASSUMED_WINDOW: u64 = 128_000;

/// Context assumed for an unknown model of a local server, in tokens.
pub const ASSUMED_LOCAL_WINDOW: u64 = 32_000;

/// Output cap assumed for an unknown model, in tokens.
pub const ASSUMED_OUTPUT: u64 = 8192;

/// One section of the catalogue. Prices in US dollars per million tokens.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    context_window: u64,
    max_output: u64,
    #[serde(default)]
    vision: bool,
    price_in: Option<f64>,
    price_out: Option<f64>,
    price_cache_read: Option<f64>,
    price_cache_write: Option<f64>,
    #[serde(default)]
    thinking: Vec<Dose>,
}

impl Row {
    /// Where a service names no price for its cache, cached input costs what input costs.
    fn price(&self) -> Option<Price> {
        let (input, output) = (self.price_in?, self.price_out?);
        Some(Price {
            input,
            output,
            cache_read: self.price_cache_read.unwrap_or(input),
            cache_write: self.price_cache_write.unwrap_or(input),
        })
    }
}

/// Facts about the model of a connection.
pub fn info_of(connection: &Connection) -> ModelInfo {
    info(&connection.model_ref(), connection.is_loopback(), &connection.overrides)
}

/// What is known of a model, corrected by the config; stated assumptions where nothing is.
pub fn info(model: &ModelRef, local: bool, overrides: &ModelConfig) -> ModelInfo {
    let row = find(&model.provider, &model.model);
    let assumed = if local { ASSUMED_LOCAL_WINDOW } else { ASSUMED_WINDOW };
    let window = row.as_ref().map_or(assumed, |row| row.context_window);
    let output = row.as_ref().map_or(ASSUMED_OUTPUT, |row| row.max_output);
    ModelInfo {
        model: model.clone(),
        context_window: overrides.context_window.unwrap_or(window),
        max_output: overrides.max_output.unwrap_or(output),
        price: price(row.as_ref(), local, overrides),
        vision: overrides.vision.unwrap_or(row.as_ref().is_some_and(|row| row.vision)),
    }
}

/// What a model takes for each level of thinking, lowest first; empty when it takes none.
pub fn thinking(model: &ModelRef) -> Vec<Dose> {
    find(&model.provider, &model.model).map(|row| row.thinking).unwrap_or_default()
}

fn price(row: Option<&Row>, local: bool, overrides: &ModelConfig) -> Option<Price> {
    let known = row.and_then(Row::price).or(local.then_some(Price::default()));
    if overrides.price_in.is_none() && overrides.price_out.is_none() {
        return known;
    }
    let base = known.unwrap_or_default();
    let input = overrides.price_in.unwrap_or(base.input);
    // The services' cache prices are fractions of the input price; keep the fraction.
    let scale = if base.input > 0.0 { input / base.input } else { 1.0 };
    let scaled = |cache: f64| if base.input > 0.0 { cache * scale } else { input };
    Some(Price {
        input,
        output: overrides.price_out.unwrap_or(base.output),
        cache_read: scaled(base.cache_read),
        cache_write: scaled(base.cache_write),
    })
}

/// Whether the catalogue lists that model under that provider.
pub fn lists(provider: &str, model: &str) -> bool {
    let provider = listed_as(provider);
    section(&format!("{provider}/{model}")).is_some()
        || undated(model).is_some_and(|model| section(&format!("{provider}/{model}")).is_some())
}

/// All `provider/model` names, in the table's order.
pub fn names() -> impl Iterator<Item = &'static str> {
    CATALOG.lines().filter_map(|line| line.strip_prefix("[\"")?.strip_suffix("\"]"))
}

/// The name under which the models of a provider stand in the table: the same models may be asked
/// in two formats.
fn listed_as(provider: &str) -> &str {
    if provider == "openai-responses" { "openai" } else { provider }
}

fn find(provider: &str, model: &str) -> Option<Row> {
    let provider = listed_as(provider);
    let mut candidates = vec![format!("{provider}/{model}")];
    if let Some(model) = undated(model) {
        candidates.push(format!("{provider}/{model}"));
    }
    if provider == "openrouter" {
        // Routers list other providers' models: `vendor/model`, versions with dots, `:variant`.
        let plain = model.split(':').next().unwrap_or(model);
        candidates.extend([plain.to_owned(), plain.replace('.', "-")]);
    }
    let section = candidates.iter().find_map(|name| section(name))?;
    match toml::from_str(section) {
        Ok(row) => Some(row),
        Err(error) => {
            tracing::error!(%error, "broken catalogue section");
            None
        }
    }
}

/// The text of one section, without its header.
fn section(name: &str) -> Option<&'static str> {
    let header = format!("[\"{name}\"]\n");
    let at = CATALOG.find(&header)? + header.len();
    let rest = CATALOG.get(at..)?;
    rest.get(..rest.find("\n[").map_or(rest.len(), |end| end + 1))
}

/// The name without a trailing date (`-20250929`, `-2025-08-07`) or `-latest`.
fn undated(model: &str) -> Option<&str> {
    let is_date = |tail: &str, shape: &str| {
        tail.len() == shape.len()
            && tail.bytes().zip(shape.bytes()).all(|(byte, shape)| match shape {
                b'0' => byte.is_ascii_digit(),
                _ => byte == shape,
            })
    };
    let cut = |shape: &str| {
        let at = model.len().checked_sub(shape.len())?;
        is_date(model.get(at..)?, shape).then(|| model.get(..at)).flatten()
    };
    model.strip_suffix("-latest").or_else(|| cut("-00000000")).or_else(|| cut("-0000-00-00"))
}
