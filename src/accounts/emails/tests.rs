//! Snapshot tests of the e-mails of accounts, in both languages.

use super::*;

/// Returns the subject, the plain text, and the inner part of the HTML.
fn both(letter: &OutgoingEmail) -> String {
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
    insta::assert_snapshot!(all, @r#"
    Your code for Colloquy

    Confirm your e-mail address with this code:

    482913

    It is good for 10 minutes. If you did not ask for it, you need not do anything.

    <p style="white-space:pre-line">Confirm your e-mail address with this code:</p>
    <p dir="ltr" style="font-family:Consolas,Menlo,monospace; font-size:28px; letter-spacing:4px; text-align:center">482913</p>
    <p style="white-space:pre-line">It is good for 10 minutes. If you did not ask for it, you need not do anything.</p>
    ---
    Your code to choose a new password

    Choose a new password with this code:

    482913

    It is good for 10 minutes. If you did not ask for it, you need not do anything.

    <p style="white-space:pre-line">Choose a new password with this code:</p>
    <p dir="ltr" style="font-family:Consolas,Menlo,monospace; font-size:28px; letter-spacing:4px; text-align:center">482913</p>
    <p style="white-space:pre-line">It is good for 10 minutes. If you did not ask for it, you need not do anything.</p>
    ---
    You have an account already

    Somebody, perhaps you, tried to register this address with Colloquy. It has an account already: log in with your password, or choose a new one. If it was not you, you need not do anything.

    <p style="white-space:pre-line">Somebody, perhaps you, tried to register this address with Colloquy. It has an account already: log in with your password, or choose a new one. If it was not you, you need not do anything.</p>
    "#);
}

#[test]
fn letters_in_arabic() {
    let letters = [
        code("ada@example.org", Language::Ar, "482913", CodePurpose::ConfirmAccount, 10),
        code("ada@example.org", Language::Ar, "482913", CodePurpose::ResetPassword, 10),
        has_account("ada@example.org", Language::Ar),
    ];
    let all = letters.iter().map(both).collect::<Vec<_>>().join("\n---\n");
    insta::assert_snapshot!(all, @r#"
    رمزك في Colloquy

    أكّد عنوان بريدك الإلكتروني بهذا الرمز:

    482913

    الرمز صالح لمدة 10 دقيقة. إن لم تطلبه فلا يلزمك فعل أي شيء.

    <p style="white-space:pre-line">أكّد عنوان بريدك الإلكتروني بهذا الرمز:</p>
    <p dir="ltr" style="font-family:Consolas,Menlo,monospace; font-size:28px; letter-spacing:4px; text-align:center">482913</p>
    <p style="white-space:pre-line">الرمز صالح لمدة 10 دقيقة. إن لم تطلبه فلا يلزمك فعل أي شيء.</p>
    ---
    رمزك لاختيار كلمة مرور جديدة

    اختر كلمة مرور جديدة بهذا الرمز:

    482913

    الرمز صالح لمدة 10 دقيقة. إن لم تطلبه فلا يلزمك فعل أي شيء.

    <p style="white-space:pre-line">اختر كلمة مرور جديدة بهذا الرمز:</p>
    <p dir="ltr" style="font-family:Consolas,Menlo,monospace; font-size:28px; letter-spacing:4px; text-align:center">482913</p>
    <p style="white-space:pre-line">الرمز صالح لمدة 10 دقيقة. إن لم تطلبه فلا يلزمك فعل أي شيء.</p>
    ---
    لديك حساب بالفعل

    حاول شخص ما، ربما أنت، تسجيل هذا العنوان في Colloquy، وله حساب بالفعل: سجّل الدخول بكلمة مرورك أو اختر كلمة مرور جديدة. إن لم تكن أنت فلا يلزمك فعل أي شيء.

    <p style="white-space:pre-line">حاول شخص ما، ربما أنت، تسجيل هذا العنوان في Colloquy، وله حساب بالفعل: سجّل الدخول بكلمة مرورك أو اختر كلمة مرور جديدة. إن لم تكن أنت فلا يلزمك فعل أي شيء.</p>
    "#);
    for letter in letters {
        assert!(letter.html().unwrap().contains(r#"dir="rtl""#));
    }
}
