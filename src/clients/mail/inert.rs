//! Neutralizes text for e-mails: mail programs turn none of it into a link, and it does not change the direction of
//! other text.
//!
//! Mail programs turn whatever looks like an address into a link, so a name such as `https://evil.example` in an e-mail
//! would become a link that this server seems to offer. The address is broken by brackets instead:
//! `https[:]//evil[.]example`. Invisible characters would not do: IDNA normalization of names drops them, and a user
//! who copies the text does not notice them.

/// First Strong Isolate: isolates the text up to [`END`] from the direction of the surrounding text.
const ISOLATE: char = '\u{2068}';
const END: char = '\u{2069}';

/// URI schemes that begin an address without `//`.
const SCHEMES: [&str; 12] =
    ["mailto", "tel", "sms", "callto", "facetime", "skype", "xmpp", "sip", "geo", "javascript", "data", "file"];

/// Makes a name or title that a user chose safe to embed in text that this server writes: without control characters,
/// on one line, and isolated in its direction.
#[must_use]
pub fn isolated(text: &str) -> String {
    format!("{ISOLATE}{}{END}", stripped(text).replace('\n', " "))
}

/// Removes control characters, both terminal controls and those that change the text direction. Line endings become
/// `\n`.
pub fn stripped(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace(['\r', '\u{2028}', '\u{2029}', '\u{85}'], "\n");
    lines.chars().filter(|c| !is_bidi_control(*c) && (*c == '\n' || *c == '\t' || !c.is_control())).collect()
}

/// Removes characters that change the text direction, except isolates; closes isolates that are left open, and removes
/// closing characters without an opening one.
pub fn balanced(text: &str) -> String {
    let mut open = 0_usize;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ISOLATE => open += 1,
            END if open == 0 => continue,
            END => open -= 1,
            // Directional marks, which have no end, affect only the neighbouring punctuation.
            '\u{200e}' | '\u{200f}' | '\u{61c}' => {}
            c if is_bidi_control(c) => continue,
            _ => {}
        }
        out.push(c);
    }
    out.extend(std::iter::repeat_n(END, open));
    out
}

const fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Breaks every part of a text that could be read as an address.
pub fn inert(text: &str) -> String {
    let text = balanced(text);
    let mut broken = String::with_capacity(text.len());
    let mut before = None;
    for (at, c) in text.char_indices() {
        let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
        match c {
            ':' if begins_address(&text, at, rest) => broken.push_str("[:]"),
            '.' | '\u{3002}' | '\u{ff0e}' | '\u{ff61}' if before.is_some_and(is_of_name) && goes_on(rest) => {
                broken.push_str("[.]");
            }
            // A UNC path to another machine: some programs access it as soon as the text is displayed.
            '\\' if rest.starts_with('\\') => broken.push_str("[\\]"),
            c => broken.push(c),
        }
        before = Some(c);
    }
    broken
}

fn begins_address(text: &str, at: usize, rest: &str) -> bool {
    let head = text.get(..at).unwrap_or_default();
    let word = head.rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let goes_on = rest.chars().next().is_some_and(|c| !c.is_whitespace());
    rest.starts_with("//") || goes_on && SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Whether a domain name such as `evil.example` could continue here: with two characters, as every top-level domain has
/// at least two.
fn goes_on(rest: &str) -> bool {
    let mut next = rest.chars();
    next.next().is_some_and(is_of_name) && next.next().is_some_and(is_of_name)
}

/// Whether a character may belong to a domain name. Any non-ASCII character may be part of one, or may be dropped from
/// one by normalization.
fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || !c.is_ascii() && !c.is_whitespace()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_are_broken_where_one_sees_it() {
        for (given, broken) in [
            ("https://evil.example/a?b=c.de", "https[:]//evil[.]example/a?b=c[.]de"),
            ("www.evil.example", "www[.]evil[.]example"),
            ("ada@evil.example", "ada@evil[.]example"),
            ("MAILTO:ada@x", "MAILTO[:]ada@x"),
            ("\\\\evil\\share", "[\\]\\evil\\share"),
            ("evil。example", "evil[.]example"),
            ("evil.\u{200b}example", "evil[.]\u{200b}example"),
            ("مثال.إختبار", "مثال[.]إختبار"),
        ] {
            assert_eq!(inert(given), broken);
        }
    }

    #[test]
    fn sentences_stay_as_they_are() {
        for unchanged in
            ["It is 5.5 m. Then: go on (e.g. here)...", "Note: at 10:30, hotel:2, data:", "أكّد عنوان بريدك."]
        {
            assert_eq!(inert(unchanged), unchanged);
        }
    }

    #[test]
    fn what_others_wrote_turns_nothing_around() {
        assert_eq!(isolated("a\u{202e}b\u{2069}c\r\nd\u{7}"), "\u{2068}abc d\u{2069}");
        assert_eq!(balanced("\u{2069}\u{202e}a\u{2068}b\u{2068}"), "a\u{2068}b\u{2068}\u{2069}\u{2069}");
    }

    proptest! {
        #[test]
        fn nothing_that_looks_like_an_address_is_left(text in "(\\PC|[.:/\\\\a-z]){0,40}") {
            let signs: Vec<char> = inert(&text).chars().collect();
            for part in signs.windows(4) {
                prop_assert!(part[..3] != [':', '/', '/'], "{:?}", text);
                let is_domain = part[1] == '.' && [part[0], part[2], part[3]].into_iter().all(is_of_name);
                prop_assert!(!is_domain, "{:?}", text);
                prop_assert!(part[..2] != ['\\', '\\'], "{:?}", text);
            }
        }
    }
}
