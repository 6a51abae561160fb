//! Connections to PostgreSQL: the URL of the settings, and TLS.
//!
//! ```text
//!  sslmode=disable, prefer, allow or absent   plain text
//!  sslmode=require, verify-full               TLS; the certificate and the host name are verified
//! ```
//! `sslrootcert=FILE` names the only authorities that are trusted; without it, or with `system`, these are the ones of the
//! operating system. libpq's `require` encrypts without verifying anybody, which protects from nobody who can redirect
//! the connection; here it is the same as `verify-full`. Deliberately absent: client certificates, and falling back from
//! TLS to plain text.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use diesel::{ConnectionError, ConnectionResult};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::OpenError;
use super::conn::PgConn;

const MODE: &str = "sslmode";
const ROOTS: &str = "sslrootcert";
/// The value of `sslrootcert` that names the authorities of the operating system.
const SYSTEM: &str = "system";

/// Where and how to connect. Clones share the TLS configuration.
#[derive(Clone)]
pub(super) struct Connector {
    config: Config,
    tls: Option<MakeRustlsConnect>,
}

impl Connector {
    /// Parses a URL; `limit` is the time limit of connecting, and after which an unacknowledged packet ends a connection.
    pub(super) fn of(url: &str, limit: Duration) -> Result<Self, OpenError> {
        // The URL may contain a password, and some messages of its parser quote it.
        let invalid = || OpenError("the database's URL is not a valid postgres:// URL".to_owned());
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let is_ours = |pair: &&str| [MODE, ROOTS].contains(&pair.split('=').next().unwrap_or_default());
        let rest: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty() && !is_ours(pair)).collect();
        let value = |name: &str| {
            let mut pairs = url::form_urlencoded::parse(query.as_bytes());
            pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
        };
        let mut config: Config = format!("{base}?{}", rest.join("&")).parse().map_err(|_| invalid())?;
        config.connect_timeout(limit).tcp_user_timeout(limit);
        let tls = match value(MODE).as_deref() {
            None | Some("disable" | "prefer" | "allow") => None,
            Some("require" | "verify-full") => {
                config.ssl_mode(SslMode::Require);
                Some(MakeRustlsConnect::new(tls(value(ROOTS).as_deref())?))
            }
            Some(other) => {
                return Err(OpenError(format!(
                    "the database's URL has sslmode={other}: use disable, require or verify-full"
                )));
            }
        };
        if tls.is_none() {
            config.ssl_mode(SslMode::Disable);
        }
        Ok(Self { config, tls })
    }

    /// Opens a connection for queries of Diesel.
    pub(super) async fn connect(&self) -> ConnectionResult<PgConn> {
        let bad = |error: tokio_postgres::Error| ConnectionError::BadConnection(said(&error));
        match &self.tls {
            Some(tls) => {
                let (client, connection) = self.config.connect(tls.clone()).await.map_err(bad)?;
                PgConn::try_from_client_and_connection(client, connection).await
            }
            None => {
                let (client, connection) = self.config.connect(NoTls).await.map_err(bad)?;
                PgConn::try_from_client_and_connection(client, connection).await
            }
        }
    }

    /// Opens a connection for COPY, which Diesel doesn't have. It ends with the client.
    pub(super) async fn client(&self) -> Result<Client, OpenError> {
        let away = |error: tokio_postgres::Error| OpenError(format!("PostgreSQL can't be reached: {}", said(&error)));
        match &self.tls {
            Some(tls) => {
                let (client, connection) = self.config.connect(tls.clone()).await.map_err(away)?;
                drop(drive(connection));
                Ok(client)
            }
            None => {
                let (client, connection) = self.config.connect(NoTls).await.map_err(away)?;
                drop(drive(connection));
                Ok(client)
            }
        }
    }

    /// The first host that is reached over a network in plain text.
    pub(super) fn plain_text_host(&self) -> Option<&str> {
        if self.tls.is_some() {
            return None;
        }
        self.config.get_hosts().iter().find_map(|host| match host {
            Host::Tcp(name) => (!is_this_machine(name)).then_some(name.as_str()),
            Host::Unix(_) => None,
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "it ends with its client, and no task waits for it")]
fn drive<S>(connection: tokio_postgres::Connection<tokio_postgres::Socket, S>) -> JoinHandle<()>
where
    S: tokio_postgres::tls::TlsStream + Unpin + Send + 'static,
{
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to PostgreSQL ended");
        }
    })
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns an error with its causes: the first sentence alone is often only "error connecting to server".
fn said(error: &tokio_postgres::Error) -> String {
    let mut said = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let next = error.to_string();
        if !said.contains(&next) {
            said = format!("{said}: {next}");
        }
        cause = error.source();
    }
    said
}

fn tls(roots: Option<&str>) -> Result<ClientConfig, OpenError> {
    let unusable = |why: String| OpenError(format!("TLS to the database can't be set up: {why}"));
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(error.to_string()))?;
    let Some(file) = roots.filter(|file| *file != SYSTEM) else {
        let verified = builder.with_platform_verifier().map_err(|error| unusable(error.to_string()))?;
        return Ok(verified.with_no_client_auth());
    };
    let unreadable = |why: String| unusable(format!("{ROOTS} {file}: {why}"));
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unreadable(error.to_string()))? {
        let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
        store.add(certificate).map_err(|error| unreadable(error.to_string()))?;
    }
    if store.is_empty() {
        return Err(unreadable("there is no certificate in this file".to_owned()));
    }
    Ok(builder.with_root_certificates(store).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Connector;

    fn of(url: &str) -> Result<Connector, String> {
        Connector::of(url, Duration::from_secs(2)).map_err(|error| error.0)
    }

    #[test]
    fn plain_text_over_a_network_is_known_and_not_on_this_machine() {
        let host = |url: &str| of(url).unwrap().plain_text_host().map(str::to_owned);
        assert_eq!(host("postgres://a:b@db.example.com/c").as_deref(), Some("db.example.com"));
        assert_eq!(host("postgres://a@10.0.0.7:5432/c?sslmode=prefer").as_deref(), Some("10.0.0.7"));
        assert_eq!(host("postgres://a@localhost,db.example.com/c").as_deref(), Some("db.example.com"));
        for here in ["localhost", "127.0.0.1:5433", "[::1]", "%2Fvar%2Frun%2Fpostgresql"] {
            assert_eq!(host(&format!("postgres://a@{here}/c")), None, "{here}");
        }
        assert_eq!(host("postgres://a@db.example.com/c?sslmode=require&sslrootcert=system"), None);
    }

    #[test]
    fn an_unusable_url_is_refused_without_its_password() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("none.pem");
        std::fs::write(&file, "no certificate").unwrap();
        let with = |query: &str| of(&format!("postgres://a:hush@db.example.com/c?{query}")).err().unwrap();
        let cases = [
            ("sslmode=verify-ca".to_owned(), "use disable, require or verify-full"),
            ("sslmode=require&sslrootcert=/none/such.pem".to_owned(), "sslrootcert /none/such.pem"),
            (format!("sslmode=require&sslrootcert={}", file.display()), "there is no certificate in this file"),
            ("connect_timeout=hush".to_owned(), "not a valid postgres:// URL"),
        ];
        for (query, expected) in cases {
            let said = with(&query);
            assert!(said.contains(expected) && !said.contains("hush"), "{query}: {said}");
        }
    }
}
