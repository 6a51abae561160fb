//! How the server starts, and when it refuses to.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::support::patience::Patience;
use crate::support::server::refusal;
use crate::support::{Kind, Server, ServerSetup};

on_both! {
    async fn a_server_that_nobody_has_an_account_on_says_how_to_begin(setup: ServerSetup) {
        // It is said before the server is ready, after its addresses.
        let printed = async |server: &Server| {
            let patience = Patience::of_seconds(60);
            while server.client().get("/health/ready").await.status != 200 {
                patience.pause(|| "it is never ready".to_owned()).await;
            }
            std::fs::read_to_string(server.log.with_extension("out")).unwrap()
        };
        let server = setup.start(&[]);
        let said = printed(&server).await;
        assert!(said.starts_with("Colloquy listens on http://"), "{said}");
        assert!(said.contains("create-user --email ADDRESS") && said.contains("login-link"), "{said}");
        assert!(said.contains(&server.data.join("outbox").display().to_string()), "{said}");
        server.user().await;
        server.kill();
        let server = setup.start(&[]);
        let said = printed(&server).await;
        assert!(!said.contains("create-user") && said.contains("outbox"), "{said}");
    }

    async fn a_second_server_on_the_same_database_is_refused_with_an_explanation(setup: ServerSetup) {
        let server = setup.start(&[]);
        let (status, said) = setup.refused(&[]);
        assert_eq!(status.code(), Some(1), "{said}");
        let what = if setup.kind == Kind::Sqlite { "is using" } else { "is using this PostgreSQL database" };
        assert!(said.contains("another server") && said.contains(what) && said.contains("stop it first"), "{said}");
        server.client().get("/health/ready").await.is(200);
        server.kill();
        setup.start(&[]);
    }
}

#[test]
fn all_invalid_settings_are_reported_at_once() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_colloquy"));
    command.arg("serve").current_dir(&setup.data).envs([
        ("COLLOQUY__DATABASE__URL", "mysql://somewhere"),
        ("COLLOQUY__DATABASE__COLOUR", "blue"),
        ("COLLOQUY__LOG__FORMAT", "xml"),
        ("COLLOQUY__ACCOUNTS__CODE_TRIES", "0"),
    ]);
    let (status, said) = refusal(command);
    assert_eq!(status.code(), Some(2));
    insta::assert_snapshot!(said, @"
    The settings are invalid:
      database.colour: unknown setting (config/default.toml lists all settings)
      database.url: this must begin with sqlite://, postgres:// or postgresql://
      accounts.code_tries: this must be 1 to 100
      log.format: this must be auto, text or json
    ");
    assert!(!setup.data.join("data").exists(), "nothing was made");
}

#[test]
fn settings_from_a_file_that_is_not_there_are_refused() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_colloquy"));
    command.args(["serve", "--config", "nowhere.toml"]).current_dir(&setup.data);
    let (status, said) = refusal(command);
    assert_eq!(status.code(), Some(2));
    assert!(said.contains("nowhere.toml"), "{said}");
}

#[test]
fn an_unreachable_database_is_reported_without_its_password() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let (status, said) = setup.refused(&[("DATABASE_URL", "postgres://ada:s3cret@127.0.0.1:1/x")]);
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(!said.is_empty() && !said.contains("s3cret"), "{said}");
}

#[test]
fn a_listen_address_in_use_is_reported() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let (status, said) = setup.refused(&[("COLLOQUY__SERVER__LISTEN", &address)]);
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains(&address), "{said}");
}

#[test]
fn without_settings_everything_is_stored_in_the_folder_data() {
    let setup = ServerSetup::new(Kind::Sqlite).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_colloquy"));
    // All defaults except the ports: a developer may have a server on the usual ones.
    command.args(["serve", "--listen", "127.0.0.1:0"]).env("COLLOQUY__INTERNAL__LISTEN", "127.0.0.1:0");
    command.env_remove("DATABASE_URL").current_dir(&setup.data);
    let server = setup.begin_with(command);
    server.wait_until_ready();
    let data = setup.data.join("data");
    for made in ["colloquy.sqlite", "keys/access-1.key", "keys/secret.key"] {
        assert!(data.join(made).is_file(), "{made}");
    }
    let mode = std::fs::metadata(data.join("keys")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(server.public.ip().is_loopback() && server.internal.ip().is_loopback());
}
