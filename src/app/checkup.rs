//! Gathers what `codebot doctor` reports: looks at places, settings, keys (present or not, never
//! their values), local servers and programs. Starts nothing and changes nothing but an empty
//! state folder.

use crate::config::env::Env;
use crate::config::load::{self, Flags};
use crate::config::paths::Paths;
use crate::config::schema::SandboxMode;
use crate::model::providers::{PROVIDERS, ProviderRow};
use crate::model::resolve;

use super::doctor::{
    ConfigFact, ConfigState, DoctorFacts, ProviderFact, SandboxFact, TerminalFact, probe_folder,
    programs,
};
use super::fence;
use super::ground::Ground;
use super::service::{Failure, Launch};
use super::setup;

/// Everything for the report. `size` and `is_terminal` describe the terminal the report goes to.
///
/// # Errors
/// When not even the places of the user are known.
pub async fn gather(
    launch: &Launch,
    size: Option<(u16, u16)>,
    is_terminal: bool,
) -> Result<DoctorFacts, Failure> {
    let env = Env::of_process();
    let failed = |error: crate::config::error::ConfigError| Failure {
        message: error.to_string(),
        exit_code: 2,
    };
    let paths = Paths::find(&env).map_err(failed)?.with_config_file(launch.config.clone());
    let ground = Ground::gather(launch);
    let lookup = |name: &str| env.var(name);
    let (model, servers, providers) = match &ground {
        Ok(ground) => (model(ground), setup::servers(ground).await, provider_facts(ground)),
        Err(failure) => (Some(Err(failure.message.clone())), Vec::new(), Vec::new()),
    };
    let path = env.var("PATH").map(std::ffi::OsString::from);
    let wanted = ground.as_ref().map_or(SandboxMode::Auto, |g| g.settings.config.sandbox.mode);
    let (active, text) = fence::report(wanted);
    Ok(DoctorFacts {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        configs: configs(&paths, launch, &env, ground.as_ref().ok()),
        model,
        providers,
        servers,
        terminal: TerminalFact::gather(&lookup, size, is_terminal),
        sandbox: SandboxFact { active, text },
        sessions: probe_folder(&paths.state_dir, paths.state_dir.display().to_string()),
        programs: programs(path.as_deref()),
    })
}

fn model(ground: &Ground) -> Option<Result<String, String>> {
    let config = &ground.settings.config;
    let env = |name: &str| ground.env.var(name);
    match resolve::resolve(config.model.as_deref(), &env, &config.providers, &config.models) {
        Ok(connection) => Some(Ok(connection.model_ref().to_string())),
        Err(resolve::ResolveError::NoModel) => None,
        Err(error) => Some(Err(error.to_string())),
    }
}

fn provider_facts(ground: &Ground) -> Vec<ProviderFact> {
    let configured = &ground.settings.config.providers;
    let set = |name: &&str| ground.env.var(name).is_some();
    let has_key = |row: &ProviderRow| {
        let own = configured.get(row.name);
        let own_env = own.and_then(|provider| provider.api_key_env.as_deref());
        own.is_some_and(|provider| provider.api_key.is_some())
            || own_env.is_some_and(|name| set(&name))
            || row.key_env.iter().chain(row.bearer_env).any(set)
    };
    let rows = PROVIDERS.iter().filter(|row| row.needs_key);
    rows.map(|row| ProviderFact {
        name: row.name.to_owned(),
        key_env: row.key_env.first().copied().unwrap_or_default().to_owned(),
        has_key: has_key(row),
    })
    .collect()
}

/// The user's file and, where there are some, the project's.
fn configs(paths: &Paths, launch: &Launch, env: &Env, ground: Option<&Ground>) -> Vec<ConfigFact> {
    let user = &paths.config_file;
    let state = if user.exists() {
        let flags = Flags { config: launch.config.clone(), ..Flags::default() };
        match load::load(paths, None, env, &flags) {
            Ok(loaded) if loaded.warnings.is_empty() => ConfigState::Read,
            Ok(loaded) => ConfigState::Warnings(loaded.warnings),
            Err(error) => ConfigState::Broken(error.to_string()),
        }
    } else {
        ConfigState::Absent
    };
    let mut facts = vec![ConfigFact { path: user.display().to_string(), state }];
    if let Some(ground) = ground {
        let project =
            [Paths::project_file(&ground.workspace), Paths::project_local_file(&ground.workspace)];
        facts.extend(
            project.into_iter().filter(|file| file.exists()).map(|file| ConfigFact {
                path: file.display().to_string(),
                state: ConfigState::Read,
            }),
        );
    }
    facts
}
