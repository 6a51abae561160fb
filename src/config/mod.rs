//! Settings in layers: default.toml (in the binary), then a file, then the environment, then the command line.
//!
//! All errors are reported at once.

mod check;
mod client_address;
pub mod origin;
mod secret_files;
mod settings;

use std::path::Path;

use config::{Config as Layers, Environment, File, FileFormat, Value, ValueKind};

pub use settings::{
    Accounts, Analysis, Application, Class, Config, Database, Exports, Github, Google, Hidden, Http, Internal, Jira,
    Limits, Livekit, Llm, Log, Mail, Meetings, Pipeline, Quotas, S3, Server, Sockets, Speech, Storage, Trackers,
};

/// The default and the documentation of every setting.
pub const DEFAULTS: &str = include_str!("../../config/default.toml");

/// The environment variables of the settings that are lists.
const LISTS: [&str; 3] = ["COLLOQUY__HTTP__TRUSTED_PROXIES", "COLLOQUY__HTTP__ORIGINS", "COLLOQUY__TRACKERS__ORIGINS"];

/// Settings that are given on the command line; they take precedence over all other layers.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    pub settings: Vec<(&'static str, String)>,
}

impl Config {
    /// Reads and checks the settings of all layers.
    ///
    /// # Errors
    /// Returns a message for every error: unknown settings, values of the wrong type or out of range.
    pub fn read(file: Option<&Path>, overrides: &Overrides) -> Result<Self, Vec<String>> {
        let is_ours = |name: &str| name.starts_with("COLLOQUY__") || name.starts_with(secret_files::DATABASE_URL);
        let environment = std::env::vars().filter(|(name, _)| is_ours(name));
        Self::layered(file, environment.collect(), overrides)
    }

    /// Like [`Config::read`], with the given environment.
    ///
    /// # Errors
    /// Those of [`Config::read`].
    pub fn layered(
        file: Option<&Path>,
        mut environment: std::collections::HashMap<String, String>,
        overrides: &Overrides,
    ) -> Result<Self, Vec<String>> {
        let known = defaults()?;
        secret_files::read(&mut environment, |variable| is_text(&known, variable))?;
        if let Some(url) = environment.remove(secret_files::DATABASE_URL) {
            environment.entry("COLLOQUY__DATABASE__URL".to_owned()).or_insert(url);
        }
        // An empty variable counts as unset: parsed, it would become a list of one empty string.
        environment
            .retain(|name, value| !(value.is_empty() && LISTS.iter().any(|list| name.eq_ignore_ascii_case(list))));
        let texts = take_texts(&mut environment, &known);
        let environment = Environment::with_prefix("COLLOQUY")
            .prefix_separator("__")
            .separator("__")
            .list_separator(",")
            .with_list_parse_key("http.trusted_proxies")
            .with_list_parse_key("http.origins")
            .with_list_parse_key("trackers.origins")
            .try_parsing(true)
            .source(Some(environment));
        let mut layers = Layers::builder().add_source(File::from_str(DEFAULTS, FileFormat::Toml));
        if let Some(file) = file {
            layers = layers.add_source(File::from(file).format(FileFormat::Toml));
        }
        layers = layers.add_source(environment);
        for (name, text) in texts {
            layers = layers.set_override(name, text).map_err(|error| vec![error.to_string()])?;
        }
        for (name, value) in &overrides.settings {
            layers = layers.set_override(*name, value.as_str()).map_err(|error| vec![error.to_string()])?;
        }
        let layers = layers.build().map_err(|error| vec![error.to_string()])?;
        let mut faults = unknown(&layers)?;
        let config: Self = match layers.try_deserialize() {
            Ok(config) => config,
            Err(error) => {
                faults.push(error.to_string());
                return Err(faults);
            }
        };
        faults.extend(check::faults(&config));
        if faults.is_empty() { Ok(config) } else { Err(faults) }
    }
}

fn defaults() -> Result<Layers, Vec<String>> {
    let known = Layers::builder().add_source(File::from_str(DEFAULTS, FileFormat::Toml)).build();
    known.map_err(|error| vec![error.to_string()])
}

/// Returns the name of the setting of an environment variable.
fn name_of(variable: &str) -> Option<String> {
    variable.strip_prefix("COLLOQUY__").map(|name| name.to_lowercase().replace("__", "."))
}

/// Whether a variable is one of a setting that is a string.
fn is_text(known: &Layers, variable: &str) -> bool {
    let default = name_of(variable).and_then(|name| known.get::<Value>(&name).ok());
    default.is_some_and(|value| matches!(value.kind, ValueKind::String(_)))
}

/// Removes the string settings from an environment and returns them by setting name. Parsed as a number, a password
/// such as 007 would change.
fn take_texts(environment: &mut std::collections::HashMap<String, String>, known: &Layers) -> Vec<(String, String)> {
    let texts = environment.extract_if(|variable, _| is_text(known, variable));
    texts.filter_map(|(variable, text)| Some((name_of(&variable)?, text))).collect()
}

/// Returns a message for every setting that default.toml does not have, or has with another type.
fn unknown(layers: &Layers) -> Result<Vec<String>, Vec<String>> {
    let known = defaults()?;
    let mut faults = Vec::new();
    compare("", &known.cache, &layers.cache, &mut faults);
    Ok(faults)
}

fn compare(name: &str, known: &Value, given: &Value, faults: &mut Vec<String>) {
    match (&known.kind, &given.kind) {
        (ValueKind::Table(known), ValueKind::Table(given)) => {
            let mut names: Vec<_> = given.keys().collect();
            names.sort();
            for key in names {
                let inner = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                match (known.get(key), given.get(key)) {
                    (Some(known), Some(given)) => compare(&inner, known, given, faults),
                    _ => faults.push(format!("{inner}: unknown setting (config/default.toml lists all settings)")),
                }
            }
        }
        (ValueKind::I64(_), _) if given.clone().into_uint().is_err() => {
            faults.push(format!("{name}: this must be a whole number, not {given}"));
        }
        (ValueKind::Array(_), _) if given.clone().into_array().is_err() => {
            faults.push(format!("{name}: this must be a list, not {given}"));
        }
        (ValueKind::String(_), ValueKind::Table(_) | ValueKind::Array(_)) => {
            faults.push(format!("{name}: this must be a string"));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
