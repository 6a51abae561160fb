//! Secrets from files: `COLLOQUY__MAIL__PASSWORD_FILE=/run/secrets/mail` is the content of that file as `mail.password`, without
//! the newline at its end. It works for every setting that is a text, and for `DATABASE_URL`.

use std::collections::HashMap;

const SUFFIX: &str = "_FILE";
pub(super) const DATABASE_URL: &str = "DATABASE_URL";

/// Replaces the variables that name files by those with their contents. `is_text` says whether a variable is one of a setting that is
/// a text.
///
/// # Errors
/// Returns a message for each file that can't be read, and for each setting that is given in both ways.
pub(super) fn read(
    environment: &mut HashMap<String, String>,
    is_text: impl Fn(&str) -> bool,
) -> Result<(), Vec<String>> {
    let is_named = |name: &str| name == DATABASE_URL || is_text(name);
    let mut names: Vec<String> = environment.keys().filter(|name| !is_text(name)).cloned().collect();
    names.sort();
    let mut faults = Vec::new();
    for variable in names {
        let Some(name) = variable.strip_suffix(SUFFIX).filter(|name| is_named(name)) else { continue };
        let file = environment.remove(&variable).unwrap_or_default();
        if environment.contains_key(name) {
            faults.push(format!("{name} and {variable} are both set"));
            continue;
        }
        match std::fs::read_to_string(&file) {
            Ok(text) => {
                let text = text.strip_suffix('\n').unwrap_or(&text);
                environment.insert(name.to_owned(), text.strip_suffix('\r').unwrap_or(text).to_owned());
            }
            Err(error) => faults.push(format!("{variable}: {file} can't be read: {error}")),
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use crate::config::{Config, Overrides};

    fn layered(environment: &[(&str, &str)]) -> Result<Config, Vec<String>> {
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Config::layered(None, environment.collect::<HashMap<_, _>>(), &Overrides::default())
    }

    #[test]
    fn a_secret_is_the_content_of_its_file_without_the_last_newline() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let (password, url) = (file("password", "007 \n"), file("url", "postgres://a:b@127.0.0.1/c\r\n"));
        let named = [
            ("COLLOQUY__MAIL__USER", "ada"),
            ("COLLOQUY__MAIL__PASSWORD_FILE", password.as_str()),
            ("DATABASE_URL_FILE", url.as_str()),
        ];
        let config = layered(&named).unwrap();
        assert_eq!(config.mail.password.reveal(), "007 ");
        assert_eq!(config.database.url, "postgres://a:b@127.0.0.1/c");
        // A setting whose own name ends so is what it says.
        let own = layered(&[("COLLOQUY__MAIL__CA_FILE", password.as_str())]).unwrap();
        assert_eq!(own.mail.ca_file.to_str(), Some(password.as_str()));
    }

    #[test]
    fn files_that_are_missing_and_secrets_that_are_given_twice_are_refused_without_their_values() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("password");
        std::fs::write(&file, "hush-1").unwrap();
        let faults = layered(&[
            ("COLLOQUY__MAIL__PASSWORD", "hush-2"),
            ("COLLOQUY__MAIL__PASSWORD_FILE", file.to_str().unwrap()),
            ("COLLOQUY__S3__SECRET_KEY_FILE", "/none/such"),
            ("COLLOQUY__NOTHING__SUCH_FILE", "/none"),
        ]);
        let faults = faults.unwrap_err();
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert_eq!(faults[0], "COLLOQUY__MAIL__PASSWORD and COLLOQUY__MAIL__PASSWORD_FILE are both set");
        assert!(faults[1].starts_with("COLLOQUY__S3__SECRET_KEY_FILE: /none/such can't be read: "), "{faults:?}");
        let unknown = layered(&[("COLLOQUY__NOTHING__SUCH_FILE", "/none")]).unwrap_err();
        assert!(unknown[0].contains("unknown setting"), "{unknown:?}");
    }
}
