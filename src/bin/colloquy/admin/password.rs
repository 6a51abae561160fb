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
    Provided(String),
    Generated(String),
}

/// Maximum length of the input, in bytes; longer than any typed password.
const MAX_BYTES: u64 = 8 * 1024;
/// Letters and digits of generated passwords, without those that are easily confused.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

impl PromptedPassword {
    /// # Errors
    /// Returns a message when no password can be read or generated, or when it is not acceptable.
    pub fn have(&self) -> Result<Password, String> {
        if !self.password_stdin {
            return generate().map(Password::Generated);
        }
        let mut text = String::new();
        let read = std::io::stdin().lock().take(MAX_BYTES).read_to_string(&mut text);
        read.map_err(|error| format!("No password could be read from standard input: {error}."))?;
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let typed = TypedPassword::parse(&serde_json::Value::from(line));
        typed.map(|typed| Password::Provided(typed.0)).map_err(|wrong| format!("The password: {}", wrong.message))
    }
}

/// Generates 24 characters out of 32: 120 bits.
fn generate() -> Result<String, String> {
    let generated = random::<24>().map_err(|error| format!("The system's random number generator failed: {error}."))?;
    let characters = generated.iter().filter_map(|byte| ALPHABET.get(usize::from(byte % 32)).copied().map(char::from));
    let characters: Vec<char> = characters.collect();
    let groups: Vec<String> = characters.chunks(6).map(|group| group.iter().collect()).collect();
    Ok(groups.join("-"))
}

impl Password {
    pub fn text(&self) -> &str {
        match self {
            Self::Provided(text) | Self::Generated(text) => text,
        }
    }

    /// Prints the password if it was generated; the user knows one that was given.
    pub fn print_if_generated(&self) {
        if let Self::Generated(text) = self {
            println!("Password: {text}");
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn drawn_passwords_differ_and_may_be_chosen() {
        let generated: std::collections::HashSet<String> = (0..100).map(|_| super::generate().unwrap()).collect();
        assert_eq!(generated.len(), 100);
        for password in generated {
            assert_eq!(password.len(), 27, "{password}");
            assert_eq!(colloquy::passwords::acceptable(&password, &["ada@example.org"]), Ok(()), "{password}");
        }
    }
}
