//! Mails, as the server leaves them in its outbox.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The texts of the mails to an address, oldest first.
pub fn mails(data: &Path, email: &str) -> Vec<String> {
    let entries = fs::read_dir(data.join("outbox")).into_iter().flatten().flatten();
    let end = format!("-{email}.eml");
    let mut files: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|file| file.file_name().is_some_and(|name| name.to_string_lossy().ends_with(&end)))
        .collect();
    files.sort();
    files.iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

/// Waits for the mail that makes `count` of them, and gives the newest.
pub async fn wait_for(data: &Path, email: &str, count: usize) -> String {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let mut found = mails(data, email);
        if found.len() >= count {
            return found.pop().unwrap();
        }
        assert!(Instant::now() < deadline, "{} of {count} mails to {email} came", found.len());
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
}

/// A mail as it reads once its transfer encodings are undone, each where its part's head names it.
pub fn readable(mail: &str) -> String {
    let mut encoding = String::new();
    let paragraphs = mail.replace("\r\n", "\n");
    let read = paragraphs.split("\n\n").map(|paragraph| {
        let named = paragraph.lines().find_map(|line| line.strip_prefix("Content-Transfer-Encoding: "));
        if let Some(named) = named {
            named.trim().clone_into(&mut encoding);
            return paragraph.to_owned();
        }
        match encoding.as_str() {
            "base64" => unpacked(paragraph),
            "quoted-printable" => unquoted(paragraph),
            _ => paragraph.to_owned(),
        }
    });
    read.collect::<Vec<_>>().join("\n\n")
}

fn unpacked(paragraph: &str) -> String {
    use base64::Engine;
    let packed: String = paragraph.lines().take_while(|line| !line.starts_with("--")).collect();
    let bytes = base64::engine::general_purpose::STANDARD.decode(packed).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn unquoted(paragraph: &str) -> String {
    let soft = paragraph.replace("=\n", "");
    let mut bytes = Vec::new();
    let mut rest = soft.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'=').then(|| after.get(..2)).flatten();
        match escaped.and_then(|digits| hex::decode(digits).ok()) {
            Some(byte) => {
                bytes.extend(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// The token of the link in a mail.
pub fn token_in(mail: &str) -> Option<String> {
    let text = readable(mail);
    let (_, after) = text.split_once("#token=")?;
    Some(after.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect())
}

/// The code of a mail: it stands alone on a line.
pub fn code_in(mail: &str) -> Option<String> {
    let is_code = |line: &&str| line.len() == 6 && line.bytes().all(|byte| byte.is_ascii_digit());
    readable(mail).lines().map(str::trim).find(is_code).map(str::to_owned)
}
