//! A new account: registered, confirmed with the code from the outbox, logged in.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use super::answer::{RegisteredAnswer, SessionAnswer};
use super::caller::ApiClient;

/// How long to wait for the e-mail with the code. A job that is started at once writes it.
const MAIL: Duration = Duration::from_secs(20);

pub struct ClientAccount {
    pub email: String,
    pub password: String,
    pub full_name: String,
}

impl ClientAccount {
    /// Creates the data of an account with a random password, so that no other user of the machine can log in.
    pub fn named(full_name: &str, email: &str) -> Self {
        let password = format!("demo-{:016x}", rand::random::<u64>());
        Self { email: email.to_owned(), password, full_name: full_name.to_owned() }
    }

    /// Registers the account, reads the code from the e-mail, and confirms the account with it.
    ///
    /// # Errors
    /// Returns a message if a call fails or no e-mail arrives within `MAIL`.
    pub async fn open(&self, caller: &ApiClient, data: &Path) -> Result<(), String> {
        let form = json!({ "email": self.email, "password": self.password, "fullName": self.full_name });
        let registered: RegisteredAnswer = caller.post("/api/auth/register", &form).await?;
        let code = self.mailed_code(data).await?;
        let form = json!({ "registrationId": registered.registration_id, "email": self.email, "code": code });
        let _: SessionAnswer = caller.post("/api/auth/confirm-account", &form).await?;
        Ok(())
    }

    /// Logs in.
    ///
    /// # Errors
    /// Returns a message if the call fails.
    pub async fn log_in(&self, caller: &ApiClient) -> Result<SessionAnswer, String> {
        caller.post("/api/auth/login", &json!({ "email": self.email, "password": self.password })).await
    }

    async fn mailed_code(&self, data: &Path) -> Result<String, String> {
        let began = Instant::now();
        loop {
            if let Some(code) = code_for(&self.email, &data.join("outbox")) {
                return Ok(code);
            }
            if began.elapsed() > MAIL {
                return Err(format!("No e-mail with a code was sent to {} within {} s.", self.email, MAIL.as_secs()));
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Returns the code from the first e-mail to an address: six digits alone on a line.
fn code_for(email: &str, outbox: &Path) -> Option<String> {
    let end = format!("-{email}.eml");
    let mut mails = std::fs::read_dir(outbox).ok()?.flatten().map(|entry| entry.path());
    let mail = mails.find(|path| path.to_string_lossy().ends_with(&end))?;
    let is_code = |line: &&str| line.len() == 6 && line.bytes().all(|byte| byte.is_ascii_digit());
    std::fs::read_to_string(mail).ok()?.lines().map(str::trim).find(is_code).map(str::to_owned)
}
