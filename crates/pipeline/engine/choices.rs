//! Alternatives of which a sentence names one: formats, days, colours, ways to log in.
//!
//! Two demands for the same with different alternatives contradict each other, unless one of them adds to the other.

use std::sync::LazyLock;

use regex::Regex;

use super::lexicon::pattern;
use super::tokens::tokens;

/// An alternative that a sentence names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Choice {
    /// What it is an alternative of.
    group: usize,
    /// Which one it is.
    pub name: &'static str,
}

/// Says that something comes on top of something else.
static ADDED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(also|too|as well|in addition|additionally|besides|both|either|further|other|another|",
        r"alternatively|optionally|more|moreover|plus)\b"
    ))
});

/// The groups; a member is its words, the first one is its name. Words of two parts are looked for as pairs.
const GROUPS: &[&[&[&str]]] = &[
    &[
        &["PDF", "pdf", "pdfs"],
        &["CSV", "csv"],
        &["Excel", "excel", "xlsx"],
        &["JSON", "json"],
        &["XML", "xml"],
        &["HTML", "html"],
        &["Word", "docx"],
    ],
    &[
        &["a password", "password", "passwords"],
        &["a PIN", "pin", "pins"],
        &["a fingerprint", "fingerprint", "fingerprints", "biometrics"],
        &["single sign-on", "sso", "single sign"],
        &["a badge", "badge", "badges"],
        &["a passkey", "passkey", "passkeys"],
    ],
    &[
        &["e-mail", "email", "e mail", "mail", "emails", "mails"],
        &["text message", "sms", "text message", "texts"],
        &["telephone", "phone call", "by phone", "telephone"],
        &["letter", "letter", "letters", "by post"],
        &["push message", "push", "push message"],
        &["fax", "fax"],
    ],
    &[
        &["Windows", "windows"],
        &["Linux", "linux"],
        &["macOS", "macos"],
        &["Android", "android"],
        &["iOS", "ios", "iphone", "iphones"],
    ],
    &[
        &["PostgreSQL", "postgresql", "postgres"],
        &["MySQL", "mysql"],
        &["MariaDB", "mariadb"],
        &["Oracle", "oracle"],
        &["SQLite", "sqlite"],
        &["MongoDB", "mongodb"],
        &["SQL Server", "sql server"],
    ],
    &[
        &["the cloud", "cloud", "saas"],
        &["own servers", "premises", "premise", "own servers", "own server", "our servers", "our server", "in house"],
    ],
    &[
        &["every hour", "hourly", "every hour"],
        &["every day", "daily", "nightly", "every day", "every night", "every evening", "every morning"],
        &["every week", "weekly", "every week", "each week"],
        &["every month", "monthly", "every month", "each month"],
        &["every quarter", "quarterly", "every quarter"],
        &["every year", "yearly", "annually", "every year"],
    ],
    &[
        &["Monday", "monday", "mondays"],
        &["Tuesday", "tuesday", "tuesdays"],
        &["Wednesday", "wednesday", "wednesdays"],
        &["Thursday", "thursday", "thursdays"],
        &["Friday", "friday", "fridays"],
        &["Saturday", "saturday", "saturdays"],
        &["Sunday", "sunday", "sundays"],
    ],
    &[
        &["January", "january"],
        &["February", "february"],
        &["March", "march"],
        &["April", "april"],
        &["June", "june"],
        &["July", "july"],
        &["August", "august"],
        &["September", "september"],
        &["October", "october"],
        &["November", "november"],
        &["December", "december"],
    ],
    &[
        &["red", "red"],
        &["green", "green"],
        &["blue", "blue"],
        &["yellow", "yellow"],
        &["orange", "orange"],
        &["black", "black"],
        &["white", "white"],
        &["grey", "grey", "gray"],
        &["amber", "amber"],
    ],
    &[&["automatically", "automatically", "automatic", "by itself"], &["by hand", "manually", "manual", "by hand"]],
    &[
        &["English", "english"],
        &["German", "german"],
        &["French", "french"],
        &["Spanish", "spanish"],
        &["Italian", "italian"],
        &["Dutch", "dutch"],
        &["Arabic", "arabic"],
        &["Turkish", "turkish"],
    ],
    &[
        &["by name", "alphabetical", "alphabetically", "by name"],
        &["by date", "chronological", "chronologically", "by date", "newest first", "oldest first"],
    ],
    &[&["newest first", "newest first", "latest first"], &["oldest first", "oldest first", "earliest first"]],
    &[
        &["the morning", "morning"],
        &["noon", "noon"],
        &["the evening", "evening"],
        &["the night", "midnight", "night", "overnight"],
    ],
    &[
        &["Java", "java"],
        &["Python", "python"],
        &["Rust", "rust"],
        &["PHP", "php"],
        &["Kotlin", "kotlin"],
        &["TypeScript", "typescript"],
        &["Go", "golang"],
    ],
    &[&["on paper", "paper", "printed"], &["digital", "digital", "digitally", "electronic", "electronically"]],
    &[
        &["a browser", "browser", "web page", "web app", "website"],
        &["an app", "native", "native app", "mobile app", "phone app"],
        &["a desktop program", "desktop"],
    ],
    &[&["left", "left"], &["right", "right"]],
    &[&["light", "light mode", "light theme"], &["dark", "dark mode", "dark theme"]],
    &[&["cash", "cash"], &["card", "card", "cards", "cashless"]],
    &[&["Euro", "euro", "euros"], &["dollar", "dollar", "dollars"], &["pound", "pounds"], &["franc", "francs"]],
    &[&["public", "public", "publicly", "everybody", "everyone", "anybody", "anyone"], &["some only", "only"]],
    &[&["portrait", "portrait"], &["landscape", "landscape"]],
    &[&["gross", "gross"], &["net", "net"]],
    &[
        &["metric", "metric", "celsius", "kilometres", "kilograms"],
        &["imperial", "imperial", "fahrenheit", "miles", "pounds"],
    ],
    &[&["encrypted", "encrypted"], &["plain", "unencrypted", "plain text", "in clear"]],
    &[&["deleted", "deleted", "erased", "removed"], &["kept", "kept", "archived", "retained"]],
    &[&["open source", "open source"], &["proprietary", "proprietary", "commercial"]],
];

/// Returns what a sentence in lower case names, each group and name once, in their order.
pub fn choices(lower: &str) -> Vec<Choice> {
    let words: Vec<&str> = tokens(lower).collect();
    let pairs: Vec<String> = words.windows(2).map(|pair| pair.join(" ")).collect();
    let mut found = Vec::new();
    for (group, members) in GROUPS.iter().enumerate() {
        for member in *members {
            let mut forms = member.iter();
            let Some(name) = forms.next() else { continue };
            let is_named = forms.any(|form| {
                if form.contains(' ') { pairs.iter().any(|pair| pair == form) } else { words.contains(form) }
            });
            if is_named {
                found.push(Choice { group, name });
            }
        }
    }
    found
}

/// Whether a sentence in lower case adds to what is known.
pub fn is_addition(lower: &str) -> bool {
    ADDED.is_match(lower)
}

/// Returns two alternatives of one group of which each stands in one list alone.
pub fn opposed(one: &[Choice], other: &[Choice]) -> Option<(&'static str, &'static str)> {
    one.iter().find_map(|first| {
        let of_group = |choices: &[Choice]| choices.iter().filter(|choice| choice.group == first.group).count();
        let second = other.iter().find(|choice| choice.group == first.group && choice.name != first.name)?;
        (of_group(one) == 1 && of_group(other) == 1).then_some((first.name, second.name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_alternative_against_another_is_opposed() {
        let opposed = |one: &str, other: &str| opposed(&choices(one), &choices(other));
        assert_eq!(opposed("exports are csv files", "exports are pdfs"), Some(("CSV", "PDF")));
        assert_eq!(opposed("a reminder by text message", "a reminder by e-mail"), Some(("text message", "e-mail")));
        assert_eq!(
            opposed("the report goes out weekly", "the report goes out every month"),
            Some(("every week", "every month"))
        );
        assert_eq!(opposed("exports are csv and pdf", "exports are pdf"), None);
        assert_eq!(opposed("it prints a list", "it prints a map"), None);
        assert!(is_addition("it is also sent by fax") && !is_addition("it is sent by fax"));
    }
}
