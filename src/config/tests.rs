//! Tests of the layers and of the error messages for wrong settings.

use std::collections::HashMap;

use super::{Config, Overrides};

fn layered(environment: &[(&str, &str)]) -> Result<Config, Vec<String>> {
    let environment: HashMap<_, _> =
        environment.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Config::layered(None, environment, &Overrides::default())
}

#[test]
fn the_defaults_stand_alone() {
    let config = layered(&[]).unwrap();
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.internal.listen.to_string(), "127.0.0.1:9464");
}

#[test]
fn the_environment_counts_over_the_file_and_the_file_over_the_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.toml");
    std::fs::write(&file, "[database]\nconnections = 3\nqueue = 3\n").unwrap();
    let environment = HashMap::from([("COLLOQUY__DATABASE__QUEUE".to_owned(), "5".to_owned())]);
    let config = Config::layered(Some(&file), environment, &Overrides::default()).unwrap();
    assert_eq!((config.database.connections, config.database.queue), (3, 5));
}

#[test]
fn database_url_is_an_alias_that_the_long_name_beats() {
    let config = layered(&[("DATABASE_URL", "postgres://a/b")]).unwrap();
    assert_eq!(config.database.url, "postgres://a/b");
    let config = layered(&[("DATABASE_URL", "postgres://a/b"), ("COLLOQUY__DATABASE__URL", "sqlite://c")]).unwrap();
    assert_eq!(config.database.url, "sqlite://c");
}

#[test]
fn all_faults_are_told_at_once_in_words() {
    let faults = layered(&[
        ("COLLOQUY__DATABASE__CONNECTIONS", "many"),
        ("COLLOQUY__DATABASE__COLOUR", "blue"),
        ("COLLOQUY__ELSEWHERE__X", "1"),
    ])
    .unwrap_err();
    assert!(faults.iter().any(|fault| fault.starts_with("database.connections: ")), "{faults:?}");
    assert!(faults.iter().any(|fault| fault.starts_with("database.colour: ")), "{faults:?}");
    assert!(faults.iter().any(|fault| fault.starts_with("elsewhere: ")), "{faults:?}");
    let faults = layered(&[("COLLOQUY__DATABASE__URL", "mysql://x"), ("COLLOQUY__LOG__FORMAT", "xml")]).unwrap_err();
    assert_eq!(faults.len(), 2, "{faults:?}");
}

#[test]
fn a_language_model_is_set_with_its_name_and_whose_texts_it_gets() {
    let own = [("COLLOQUY__LLM__URL", "http://127.0.0.1:11434/v1"), ("COLLOQUY__LLM__MODEL", "m")];
    let config = layered(&own).unwrap();
    let project = "0189a0f0-0000-7000-8000-00000000000a";
    assert_eq!(config.engines(project), ["embedded"], "nobody's, unless the operator says so");
    let with = |projects: &'static str, engine: &'static str| {
        layered(&[own[0], own[1], ("COLLOQUY__LLM__PROJECTS", projects), ("COLLOQUY__ANALYSIS__ENGINE", engine)])
            .unwrap()
    };
    let named = "0189a0f0-0000-7000-8000-000000000001, 0189A0F0-0000-7000-8000-00000000000A";
    assert_eq!(with("all", "fallback").engines(project), ["fallback", "embedded", "llm"], "the default is first");
    assert_eq!(with(named, "llm").engines(project), ["llm", "embedded", "fallback"]);
    assert_eq!(with(named, "llm").engines("0189a0f0-0000-7000-8000-000000000002"), ["embedded"]);
    for (wrong, setting) in [
        (vec![("COLLOQUY__ANALYSIS__ENGINE", "llm")], "analysis.engine"),
        (vec![("COLLOQUY__LLM__URL", "http://127.0.0.1/v1")], "llm.model"),
        (vec![own[0], own[1], ("COLLOQUY__LLM__PROJECTS", "some")], "llm.projects"),
        (vec![own[1], ("COLLOQUY__LLM__URL", "ftp://127.0.0.1/v1")], "llm.url"),
        (vec![("COLLOQUY__LLM__CALLS_AT_ONCE", "0")], "llm.calls_at_once"),
    ] {
        let faults = layered(&wrong).unwrap_err();
        assert!(faults.len() == 1 && faults[0].starts_with(setting), "{faults:?}");
    }
}

#[test]
fn a_media_server_is_set_as_a_whole_or_not_at_all() {
    let whole = [
        ("COLLOQUY__LIVEKIT__URL", "wss://media.example.org"),
        ("COLLOQUY__LIVEKIT__API_KEY", "key"),
        ("COLLOQUY__LIVEKIT__API_SECRET", "a-secret-that-has-32-characters-x"),
    ];
    layered(&whole).unwrap();
    for left_out in 0..whole.len() {
        let mut half = whole.to_vec();
        half.remove(left_out);
        let faults = layered(&half).unwrap_err();
        assert!(faults[0].contains("set all of them or none"), "{faults:?}");
    }
    let mut bad = whole.to_vec();
    bad.extend([
        ("COLLOQUY__LIVEKIT__API_SECRET", "a-short-secret"),
        ("COLLOQUY__LIVEKIT__URL", "ftp://media.example.org"),
        ("COLLOQUY__LIVEKIT__API_URL", "http://somebody:else@livekit:7880"),
    ]);
    let faults = layered(&bad).unwrap_err();
    assert_eq!(faults.len(), 3, "{faults:?}");
    assert!(faults.iter().all(|fault| !fault.contains("a-short-secret") && !fault.contains("somebody")), "{faults:?}");
    let shown = format!("{:?}", layered(&whole).unwrap());
    assert!(!shown.contains("a-secret-that"), "{shown}");
}

#[test]
fn the_development_keys_of_the_media_server_are_the_same_on_both_sides_and_good_enough() {
    let compose = include_str!("../../docker-compose.yml");
    let set = |name: &str| {
        let line = compose.lines().find_map(|line| line.trim().strip_prefix(&format!("{name}: ")));
        line.unwrap_or_else(|| panic!("docker-compose.yml doesn't set {name}")).to_owned()
    };
    let names = ["URL", "API_URL", "API_KEY", "API_SECRET"].map(|name| format!("COLLOQUY__LIVEKIT__{name}"));
    let given = names.each_ref().map(|name| (name.as_str(), set(name)));
    layered(&given.each_ref().map(|(name, value)| (*name, value.as_str()))).unwrap();
    let [_, _, (_, key), (_, secret)] = given;
    let livekit = include_str!("../../config/livekit.yaml");
    assert!(livekit.contains(&format!("\n  {key}: {secret}\n")), "config/livekit.yaml has no such key");
    assert!(livekit.contains(&format!("\n  api_key: {key}\n")), "webhooks are signed with another key");
}

#[test]
fn a_class_of_limits_may_be_changed_in_part_and_never_to_nonsense() {
    let config = layered(&[("COLLOQUY__LIMITS__LOGINS__MOST", "3")]).unwrap();
    assert_eq!((config.limits.logins.most, config.limits.logins.seconds), (3, 60));
    let faults = layered(&[("COLLOQUY__LIMITS__LOGINS__SECONDS", "0"), ("COLLOQUY__LIMITS__CALLS__SECONDS", "86401")]);
    assert_eq!(
        faults.unwrap_err(),
        ["limits.calls.seconds: this must be 1 to 86400", "limits.logins.seconds: this must be 1 to 86400"]
    );
    let faults = layered(&[("COLLOQUY__LIMITS__INVITATION_MAILS_OF_ADDRESS__SECONDS", "0")]);
    assert_eq!(faults.unwrap_err(), ["limits.invitation_mails_of_address.seconds: this must be 1 to 86400"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.toml");
    std::fs::write(&file, "[limits]\ncalls = { most = 0 }\n").unwrap();
    let config = Config::layered(Some(&file), HashMap::new(), &Overrides::default()).unwrap();
    assert_eq!((config.limits.calls.most, config.limits.calls.seconds), (0, 60));
}

#[test]
fn a_log_in_provider_needs_an_address_once_it_is_on() {
    let off = layered(&[("COLLOQUY__GOOGLE__DISCOVERY_URL", "x")]);
    assert!(off.is_ok());
    let on = layered(&[("COLLOQUY__GOOGLE__CLIENT_ID", "me"), ("COLLOQUY__GOOGLE__DISCOVERY_URL", "x")]).unwrap_err();
    assert_eq!(on, ["google.discovery_url: this must be an http or https address"]);
}

#[test]
fn speech_models_are_below_the_data_unless_a_folder_is_named() {
    let config = layered(&[("COLLOQUY__SERVER__DATA", "/srv/colloquy")]).unwrap();
    assert_eq!(config.models_folder(), std::path::Path::new("/srv/colloquy/models"));
    let config = layered(&[("COLLOQUY__SPEECH__MODELS", "/srv/models")]).unwrap();
    assert_eq!(config.models_folder(), std::path::Path::new("/srv/models"));
    let faults = layered(&[
        ("COLLOQUY__SPEECH__MODEL", "../elsewhere"),
        ("COLLOQUY__SPEECH__ENGINE", "steam"),
        ("COLLOQUY__SPEECH__MEMORY_MIB", "1"),
    ]);
    assert_eq!(
        faults.unwrap_err(),
        [
            "speech.model: this must be the name of a model, such as whisper-tiny.en",
            "speech.engine: this must be embedded, http or none",
            "speech.memory_mib: this must be at least 128"
        ]
    );
}

#[test]
fn a_speech_service_needs_an_address_and_a_model() {
    let faults = layered(&[
        ("COLLOQUY__SPEECH__ENGINE", "http"),
        ("COLLOQUY__SPEECH__SERVICE_URL", "ftp://speech.example"),
        ("COLLOQUY__SPEECH__SERVICE_MODEL", ""),
        ("COLLOQUY__SPEECH__SERVICE_SECONDS", "0"),
        ("COLLOQUY__SPEECH__LONGEST_SECONDS", "59"),
    ]);
    assert_eq!(
        faults.unwrap_err(),
        [
            "speech.service_url: this must be the http or https address of the speech service",
            "speech.service_model: name the model of the speech service",
            "speech.service_seconds: this must be between 1 and 3600",
            "speech.longest_seconds: this must be between 60 and 86400"
        ]
    );
    let url = "https://speech.example/v1/audio/transcriptions";
    let key = ("COLLOQUY__SPEECH__SERVICE_KEY", "sk-secret");
    let config = layered(&[("COLLOQUY__SPEECH__ENGINE", "http"), ("COLLOQUY__SPEECH__SERVICE_URL", url), key]).unwrap();
    assert_eq!(config.speech.default_model(), "whisper-1");
    assert!(!format!("{config:?}").contains("sk-secret"));
}

#[test]
fn a_remote_pipeline_needs_an_address_and_a_key() {
    assert_eq!(layered(&[]).unwrap().pipeline.mode, "embedded");
    let faults = layered(&[("COLLOQUY__PIPELINE__MODE", "remote"), ("COLLOQUY__PIPELINE__KEY", "short")]).unwrap_err();
    assert_eq!(
        faults,
        [
            "pipeline.url: this must be the address of the pipeline service, such as http://pipeline:9465",
            "pipeline.key: this must have at least 32 visible ASCII characters"
        ]
    );
    let key = ("COLLOQUY__PIPELINE__KEY", "a-service-key-of-thirty-six-letters-");
    let faults = layered(&[
        ("COLLOQUY__PIPELINE__MODE", "elsewhere"),
        ("COLLOQUY__PIPELINE__URL", "http://somebody:else@pipeline:9465"),
        ("COLLOQUY__PIPELINE__STORE_BYTES", "1"),
        key,
    ]);
    let faults = faults.unwrap_err();
    assert_eq!(faults.len(), 3, "{faults:?}");
    assert!(faults.iter().all(|fault| !fault.contains("somebody")), "{faults:?}");
    let config =
        layered(&[("COLLOQUY__PIPELINE__MODE", "remote"), ("COLLOQUY__PIPELINE__URL", "http://pipeline:9465"), key]);
    assert!(!format!("{:?}", config.unwrap()).contains("a-service-key"));
}
