//! Sends e-mail over SMTP: one connection per e-mail, with a timeout for each step.
//!
//! ```text
//! connect, EHLO ─► STARTTLS, EHLO ─► AUTH ─► MAIL ─► RCPT ─► DATA ─► the e-mail ─► QUIT
//! └──── a failure concerns the mail server or this server ───────┘  └ a failure concerns this e-mail ───────┘
//! ```
//! So a wrong password delays e-mails and loses none. Where STARTTLS is configured and the mail server does not offer
//! it, nothing is sent in clear text.

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use lettre::message::Mailbox;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail as MailFrom, Rcpt};
use lettre::transport::smtp::extension::ClientId;

use super::message::message;
use super::{EmailInTransit, Mail, SendError};

/// How the connection to the mail server is secured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    /// Clear text until STARTTLS, which the mail server must offer.
    StartTls,
    /// TLS from the first byte.
    Tls,
    /// Clear text.
    None,
}

impl Security {
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "STARTTLS" => Some(Self::StartTls),
            "TLS" => Some(Self::Tls),
            "NONE" => Some(Self::None),
            _ => None,
        }
    }
}

pub struct SmtpSettings {
    pub host: String,
    pub port: u16,
    pub security: Security,
    /// User name and password.
    pub credentials: Option<(String, String)>,
    /// The sender of every e-mail, as a mailbox such as `Name <a@b.example>`.
    pub from: String,
    /// Timeout for each step of an SMTP session.
    pub limit: Duration,
    /// A PEM file with a certificate to trust in addition to those of the system.
    pub ca_file: Option<PathBuf>,
}

pub struct Smtp {
    host: String,
    port: u16,
    security: Security,
    tls: Option<TlsParameters>,
    credentials: Option<Credentials>,
    from: Mailbox,
    hello: ClientId,
    limit: Duration,
}

/// The failure of one SMTP step.
struct Trouble {
    step: &'static str,
    /// The reply code of the mail server, if it replied.
    code: Option<u16>,
    why: String,
}

impl Smtp {
    /// # Errors
    /// Returns a message when the sender is not a mailbox, the certificate file can't be read, or TLS can't be set up.
    pub fn new(settings: SmtpSettings) -> Result<Self, String> {
        let SmtpSettings { host, port, security, credentials, from, limit, ca_file } = settings;
        let from: Mailbox = from.parse().map_err(|error| format!("mail.from: {error}"))?;
        let tls = match security {
            Security::None => None,
            Security::StartTls | Security::Tls => Some(tls(&host, ca_file)?),
        };
        let domain = from.email.domain();
        let hello = if domain.contains('.') { ClientId::Domain(domain.to_owned()) } else { ClientId::default() };
        let credentials = credentials.map(|(user, password)| Credentials::new(user, password));
        Ok(Self { host, port, security, tls, credentials, from, hello, limit })
    }

    /// Opens a connection, secures it as configured, and authenticates.
    async fn connect(&self) -> Result<AsyncSmtpConnection, Trouble> {
        let from_the_start = self.tls.clone().filter(|_| self.security == Security::Tls);
        let server = (self.host.as_str(), self.port);
        let connecting =
            AsyncSmtpConnection::connect_tokio1(server, Some(self.limit), &self.hello, from_the_start, None);
        let mut line = self.step("connecting", connecting).await?;
        if let Some(tls) = self.tls.clone().filter(|_| self.security == Security::StartTls) {
            self.step("STARTTLS", line.starttls(tls, &self.hello)).await?;
        }
        if let Some(credentials) = &self.credentials {
            self.step("AUTH", line.auth(&[Mechanism::Plain, Mechanism::Login], credentials)).await?;
        }
        Ok(line)
    }

    async fn step<T>(
        &self,
        step: &'static str,
        work: impl Future<Output = Result<T, lettre::transport::smtp::Error>>,
    ) -> Result<T, Trouble> {
        match tokio::time::timeout(self.limit, work).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => {
                Err(Trouble { step, code: error.status().map(u16::from), why: one_line(&error.to_string()) })
            }
            Err(_late) => Err(Trouble { step, code: None, why: format!("no answer within {:?}", self.limit) }),
        }
    }
}

#[async_trait]
impl Mail for Smtp {
    async fn send(&self, sending: &EmailInTransit<'_>) -> Result<(), SendError> {
        let message = message(sending, &self.from).map_err(SendError::Refused)?;
        let (envelope, bytes) = (message.envelope(), message.formatted());
        let mut line = self.connect().await.map_err(Trouble::about_us)?;
        let sender = envelope.from().cloned();
        self.step("MAIL", line.command(MailFrom::new(sender, Vec::new()))).await.map_err(Trouble::about_us)?;
        let sent = async {
            for to in envelope.to() {
                self.step("RCPT", line.command(Rcpt::new(to.clone(), Vec::new()))).await?;
            }
            self.step("DATA", line.command(Data)).await?;
            self.step("end of DATA", line.message(&bytes)).await
        };
        let sent = sent.await.map_err(Trouble::about_the_email);
        // The reply to the e-mail counts, whether QUIT succeeds or not.
        let _ = self.step("QUIT", line.quit()).await;
        sent.map(|_accepted| ())
    }
}

impl Trouble {
    fn about_us(self) -> SendError {
        SendError::Unavailable(self.to_string())
    }

    fn about_the_email(self) -> SendError {
        match self.code {
            // The mail server closes the session, or requires authentication first.
            None | Some(421 | 530 | 534 | 535 | 538) => SendError::Unavailable(self.to_string()),
            Some(400..=499) => SendError::Later(self.to_string()),
            Some(_) => SendError::Refused(self.to_string()),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.step, self.why)
    }
}

/// Makes the reply of a mail server fit for the log: one line of at most 300 characters.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect()
}

fn tls(host: &str, ca_file: Option<PathBuf>) -> Result<TlsParameters, String> {
    let mut builder = TlsParameters::builder(host.to_owned());
    if let Some(file) = ca_file {
        let fault = |why: &dyn fmt::Display| format!("mail.ca_file: {}: {why}", file.display());
        let pem = std::fs::read(&file).map_err(|error| fault(&error))?;
        let certificate = Certificate::from_pem(&pem).map_err(|error| fault(&error))?;
        builder = builder.add_root_certificate(certificate);
    }
    builder.build().map_err(|error| format!("TLS to the mail server can't be set up: {error}"))
}
