//! A new account: registered, confirmed with the code from the outbox, logged in.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use super::answer::{Registered, Session};
use super::caller::Caller;

/// Mails are written by a job that is woken at once.
const MAIL: Duration = Duration::from_secs(20);

pub struct Account {
    pub email: String,
    pub password: String,
    pub full_name: String,
}

impl Account {
    /// With a password that nobody else on this machine knows.
    pub fn named(full_name: &str, email: &str) -> Self {
        let password = format!("demo-{:016x}", rand::random::<u64>());
        Self { email: email.to_owned(), password, full_name: full_name.to_owned() }
    }

    /// Registers, reads the code in the mail, confirms with it.
    ///
    /// # Errors
    /// In words.
    pub async fn open(&self, caller: &Caller, data: &Path) -> Result<(), String> {
        let form = json!({ "email": self.email, "password": self.password, "fullName": self.full_name });
        let registered: Registered = caller.post("/api/auth/register", &form).await?;
        let code = self.mailed_code(data).await?;
        let form = json!({ "registrationId": registered.registration_id, "email": self.email, "code": code });
        let _: Session = caller.post("/api/auth/confirm-account", &form).await?;
        Ok(())
    }

    /// # Errors
    /// In words.
    pub async fn log_in(&self, caller: &Caller) -> Result<Session, String> {
        caller.post("/api/auth/login", &json!({ "email": self.email, "password": self.password })).await
    }

    async fn mailed_code(&self, data: &Path) -> Result<String, String> {
        let began = Instant::now();
        loop {
            if let Some(code) = code_for(&self.email, &data.join("outbox")) {
                return Ok(code);
            }
            if began.elapsed() > MAIL {
                return Err(format!("No mail with a code came to {} within {} s.", self.email, MAIL.as_secs()));
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// The code of the first mail to somebody: six digits alone on a line.
fn code_for(email: &str, outbox: &Path) -> Option<String> {
    let end = format!("-{email}.eml");
    let mut mails = std::fs::read_dir(outbox).ok()?.flatten().map(|entry| entry.path());
    let mail = mails.find(|path| path.to_string_lossy().ends_with(&end))?;
    let is_code = |line: &&str| line.len() == 6 && line.bytes().all(|byte| byte.is_ascii_digit());
    std::fs::read_to_string(mail).ok()?.lines().map(str::trim).find(is_code).map(str::to_owned)
}
