//! TLS to PostgreSQL: the real server, with certificates of the test's own.

use std::time::Duration;

use crate::backup::{restore, run};
use crate::support::postgres::Cluster;
use crate::support::{ServerSetup, certificates};

/// The same setup with more in its database's URL.
fn with(setup: &ServerSetup, more: &str) -> String {
    format!("{}&{more}", setup.url.as_deref().unwrap())
}

#[test]
fn the_database_is_reached_over_tls_and_a_wrong_certificate_or_host_is_refused() {
    let Some(cluster) = Cluster::start().unwrap() else { return };
    let mut setup = ServerSetup::on(&cluster);
    let Some(mine) = certificates::make(&setup.data.join("certificates")) else { return };
    let Some(another) = certificates::make(&setup.data.join("others")) else { return };
    cluster.require_tls(&mine.certificate, &mine.key).unwrap();
    let plain = setup.url.clone().unwrap();
    let elsewhere = plain.replace("@127.0.0.1:", "@db.example:");
    let (trusted, untrusted) = (mine.ca.display(), another.ca.display());
    let verified = with(&setup, &format!("sslmode=verify-full&sslrootcert={trusted}"));
    let refused = [
        (plain, "no encryption"),
        (with(&setup, "sslmode=disable"), "no encryption"),
        (with(&setup, &format!("sslmode=verify-full&sslrootcert={untrusted}")), "invalid peer certificate"),
        (with(&setup, &format!("sslmode=require&sslrootcert={untrusted}")), "invalid peer certificate"),
        // Of an authority that the operating system doesn't know.
        (with(&setup, "sslmode=require"), "invalid peer certificate"),
        (
            format!("{elsewhere}&hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert={trusted}"),
            "certificate not valid for name \"db.example\"",
        ),
        (with(&setup, "sslmode=verify-ca"), "use disable, require or verify-full"),
    ];
    for (url, words) in refused {
        let (status, said) = setup.refused(&[("DATABASE_URL", url.as_str())]);
        assert!(!status.success() && said.contains(words), "{url}: {said}");
    }

    setup.url = Some(verified);
    let server = setup.start(&[]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ada = runtime.block_on(server.user());
    let encrypted = "SELECT count(*), bool_and(s.ssl) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) \
        WHERE a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()";
    let counted = cluster.sql(encrypted).unwrap();
    let (count, all) = counted.split_once('|').unwrap();
    assert!(count.parse::<u32>().unwrap() > 0 && all == "t", "{counted}");
    assert!(!server.read_log().contains("plain text"));

    // A backup and a restore use the same connection.
    let archive = setup.data.join("backup.tar.gz");
    run(&setup, &[], &["backup", archive.to_str().unwrap()]).done();
    let mut other = ServerSetup::on(&cluster);
    other.url = Some(with(&other, &format!("sslmode=require&sslrootcert={trusted}")));
    restore(&other, &archive, &[]).done();
    drop(server);
    let server = other.start(&[]);
    runtime.block_on(async { ada.at(&server).client.get("/api/profile").await.is(200) });
}

#[test]
fn plain_text_to_another_machine_is_said_in_the_log_and_to_this_one_is_not() {
    let Some(setup) = ServerSetup::new(crate::support::Kind::Postgres) else { return };
    let line = "the database is reached in plain text";
    let mut server = setup.start(&[]);
    assert!(!server.read_log().contains(line));
    server.terminate();
    assert!(server.wait(Duration::from_secs(30)).is_some());
    let url = setup.url.as_deref().unwrap().replace("@127.0.0.1:", "@db.example:");
    let url = format!("{url}&hostaddr=127.0.0.1");
    let server = setup.start(&[("DATABASE_URL", url.as_str())]);
    let log = server.read_log();
    assert!(
        log.lines().any(|said| said.contains(line) && said.contains("db.example") && said.contains("WARN")),
        "{log}"
    );
}
