//! Passwords for `colloquy admin`: read from standard input, or generated.

use std::io::Read;

use colloquy::accounts::model::TypedPassword;
use colloquy::http::fields::Field;
use colloquy::keys::random;

#[derive(clap::Args)]
pub struct PromptedPassword {
    /// Read the password (one line) from standard input; without this option, a password is generated and printed once
    #[arg(long)]
    password_stdin: bool,
}

pub enum Password {
    Given(String),
    Drawn(String),
}

/// Maximum length of the input, in bytes; longer than any typed password.
const MOST_BYTES: u64 = 8 * 1024;
/// Letters and digits of generated passwords, without those that are easily confused.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

impl PromptedPassword {
    /// # Errors
    /// Returns a message when no password can be read or generated, or when it is not acceptable.
    pub fn have(&self) -> Result<Password, String> {
        if !self.password_stdin {
            return draw().map(Password::Drawn);
        }
        let mut text = String::new();
        let read = std::io::stdin().lock().take(MOST_BYTES).read_to_string(&mut text);
        read.map_err(|error| format!("No password could be read from standard input: {error}."))?;
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let typed = TypedPassword::parse(&serde_json::Value::from(line));
        typed.map(|typed| Password::Given(typed.0)).map_err(|wrong| format!("The password: {}", wrong.message))
    }
}

/// Generates 24 characters out of 32: 120 bits.
fn draw() -> Result<String, String> {
    let drawn = random::<24>().map_err(|error| format!("The system has no chance to give: {error}."))?;
    let letters = drawn.iter().filter_map(|byte| LETTERS.get(usize::from(byte % 32)).copied().map(char::from));
    let letters: Vec<char> = letters.collect();
    let groups: Vec<String> = letters.chunks(6).map(|group| group.iter().collect()).collect();
    Ok(groups.join("-"))
}

impl Password {
    pub fn text(&self) -> &str {
        match self {
            Self::Given(text) | Self::Drawn(text) => text,
        }
    }

    /// Prints the password if it was generated; the user knows one that was given.
    pub fn print_if_drawn(&self) {
        if let Self::Drawn(text) = self {
            println!("Password: {text}");
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn drawn_passwords_differ_and_may_be_chosen() {
        let drawn: std::collections::HashSet<String> = (0..100).map(|_| super::draw().unwrap()).collect();
        assert_eq!(drawn.len(), 100);
        for password in drawn {
            assert_eq!(password.len(), 27, "{password}");
            assert_eq!(colloquy::passwords::acceptable(&password, &["ada@example.org"]), Ok(()), "{password}");
        }
    }
}
