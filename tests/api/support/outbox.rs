//! The e-mails that the server writes to its outbox folder.

use std::fs;
use std::path::Path;

use mail_parser::{MessageParser, MimeHeaders};

use super::patience::Patience;

/// Returns the e-mails to an address, oldest first, each as subject, blank line and text.
pub fn mails(data: &Path, email: &str) -> Vec<String> {
    files(data, email).iter().map(|file| readable(&fs::read(file).unwrap())).collect()
}

fn files(data: &Path, email: &str) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(data.join("outbox")).into_iter().flatten().flatten();
    let end = format!("-{email}.eml");
    let mut files: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|file| file.file_name().is_some_and(|name| name.to_string_lossy().ends_with(&end)))
        .collect();
    files.sort();
    files
}

fn readable(mail: &[u8]) -> String {
    let mail = MessageParser::default().parse(mail).unwrap();
    format!("{}\n\n{}", mail.subject().unwrap(), mail.body_text(0).unwrap())
}

/// Waits until there are at least `count` e-mails to an address and returns the newest. Panics after 20 s.
pub async fn wait_for(data: &Path, email: &str, count: usize) -> String {
    let patience = Patience::of_seconds(20);
    loop {
        let mut found = mails(data, email);
        if found.len() >= count {
            return found.pop().unwrap();
        }
        patience.pause(|| format!("{} of {count} mails to {email} came", found.len())).await;
    }
}

/// Returns the value of `#token=` in the link of an e-mail.
pub fn token_in(mail: &str) -> Option<String> {
    let (_, after) = mail.split_once("#token=")?;
    Some(after.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect())
}

/// Returns the confirmation code in an e-mail: six digits that are alone on a line.
pub fn code_in(mail: &str) -> Option<String> {
    let is_code = |line: &&str| line.len() == 6 && line.bytes().all(|byte| byte.is_ascii_digit());
    mail.lines().map(str::trim).find(is_code).map(str::to_owned)
}

/// Returns the calendar parts of the e-mails to an address, oldest first, with folded lines joined.
pub fn calendars(data: &Path, email: &str) -> Vec<String> {
    let is_calendar = |part: &&mail_parser::MessagePart<'_>| {
        part.content_type().is_some_and(|kind| kind.ctype() == "text" && kind.subtype() == Some("calendar"))
    };
    let entry = |file: &std::path::PathBuf| {
        let bytes = fs::read(file).unwrap();
        let mail = MessageParser::default().parse(&bytes).unwrap();
        let part = mail.parts.iter().find(is_calendar)?;
        Some(String::from_utf8_lossy(part.contents()).replace("\r\n ", "").replace("\r\n", "\n"))
    };
    files(data, email).iter().filter_map(entry).collect()
}

/// Returns the value of `#invitation=` in the link of an e-mail.
pub fn invitation_in(mail: &str) -> Option<String> {
    let (_, after) = mail.split_once("#invitation=")?;
    Some(after.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect())
}
