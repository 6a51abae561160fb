//! How a server starts, and when it refuses to.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::support::server::refusal;
use crate::support::{Kind, Place};

on_both! {
    async fn a_second_server_on_the_same_database_is_refused_in_words(place: Place) {
        let server = place.start(&[]);
        let (status, said) = place.refused(&[]);
        assert_eq!(status.code(), Some(1), "{said}");
        let what = if place.kind == Kind::Sqlite { "works on" } else { "works on this PostgreSQL database" };
        assert!(said.contains("another server") && said.contains(what) && said.contains("stop it first"), "{said}");
        server.client().get("/health/ready").await.is(200);
        server.kill();
        place.start(&[]);
    }
}

#[test]
fn settings_that_are_wrong_are_told_all_at_once() {
    let place = Place::new(Kind::Sqlite).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_colloquy"));
    command.arg("serve").current_dir(&place.data).envs([
        ("COLLOQUY__DATABASE__URL", "mysql://somewhere"),
        ("COLLOQUY__DATABASE__COLOUR", "blue"),
        ("COLLOQUY__LOG__FORMAT", "xml"),
        ("COLLOQUY__ACCOUNTS__CODE_TRIES", "0"),
    ]);
    let (status, said) = refusal(command);
    assert_eq!(status.code(), Some(2));
    insta::assert_snapshot!(said, @"
    The settings can't be used:
      database.colour: there is no such setting (config/default.toml has them all)
      database.url: this must begin with sqlite://, postgres:// or postgresql://
      accounts.code_tries: this must be 1 to 100
      log.format: this must be auto, text or json
    ");
    assert!(!place.data.join("data").exists(), "nothing was made");
}

#[test]
fn settings_from_a_file_that_is_not_there_are_refused() {
    let place = Place::new(Kind::Sqlite).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_colloquy"));
    command.args(["serve", "--config", "nowhere.toml"]).current_dir(&place.data);
    let (status, said) = refusal(command);
    assert_eq!(status.code(), Some(2));
    assert!(said.contains("nowhere.toml"), "{said}");
}

#[test]
fn a_database_that_can_not_be_reached_is_told_without_its_password() {
    let place = Place::new(Kind::Sqlite).unwrap();
    let (status, said) = place.refused(&[("DATABASE_URL", "postgres://ada:s3cret@127.0.0.1:1/x")]);
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(!said.is_empty() && !said.contains("s3cret"), "{said}");
}

#[test]
fn an_address_that_is_taken_is_told() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let place = Place::new(Kind::Sqlite).unwrap();
    let (status, said) = place.refused(&[("COLLOQUY__SERVER__LISTEN", &address)]);
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains(&address), "{said}");
}

#[test]
fn without_any_setting_all_is_kept_in_the_folder_data() {
    let place = Place::new(Kind::Sqlite).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_colloquy"));
    // But for the ports: a developer may have a server on the usual ones.
    command.args(["serve", "--listen", "127.0.0.1:0"]).env("COLLOQUY__INTERNAL__LISTEN", "127.0.0.1:0");
    command.env_remove("DATABASE_URL").current_dir(&place.data);
    let server = place.begin_with(command);
    server.wait_until_ready();
    let data = place.data.join("data");
    for made in ["colloquy.sqlite", "keys/access-1.key", "keys/secret.key"] {
        assert!(data.join(made).is_file(), "{made}");
    }
    let mode = std::fs::metadata(data.join("keys")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(server.public.ip().is_loopback() && server.internal.ip().is_loopback());
}
