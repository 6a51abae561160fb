//! Each letter of accounts as it is read, in both languages.

use super::*;

/// The text, and of the page what is between the frames.
fn both(letter: &Letter) -> String {
    let page = letter.html().unwrap();
    let inner = page.split_once("<div ").and_then(|(_, rest)| rest.split_once(">\n")).unwrap().1;
    let inner = inner.rsplit_once("\n</div>").unwrap().0.replace("margin:16px 0; ", "");
    format!("{}\n\n{}\n{inner}", letter.subject, letter.text())
}

#[test]
fn letters_in_english() {
    let letters = [
        code("ada@example.org", Language::En, "482913", CodePurpose::ConfirmAccount, 10),
        code("ada@example.org", Language::De, "482913", CodePurpose::ResetPassword, 10),
        has_account("ada@example.org", Language::Auto),
    ];
    let all = letters.iter().map(both).collect::<Vec<_>>().join("\n---\n");
    insta::assert_snapshot!(all, @"");
}

#[test]
fn letters_in_arabic() {
    let letters = [
        code("ada@example.org", Language::Ar, "482913", CodePurpose::ConfirmAccount, 10),
        code("ada@example.org", Language::Ar, "482913", CodePurpose::ResetPassword, 10),
        has_account("ada@example.org", Language::Ar),
    ];
    let all = letters.iter().map(both).collect::<Vec<_>>().join("\n---\n");
    insta::assert_snapshot!(all, @"");
    for letter in letters {
        assert!(letter.html().unwrap().contains(r#"dir="rtl""#));
    }
}
