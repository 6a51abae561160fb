//! Snapshot tests of the e-mails of accounts, in both languages.

use super::*;

/// Returns the subject, the plain text, and the inner part of the HTML.
fn both(email: &OutgoingEmail) -> String {
    let page = email.html().unwrap();
    let inner = page.split_once("<div ").and_then(|(_, rest)| rest.split_once(">\n")).unwrap().1;
    let inner = inner.rsplit_once("\n</div>").unwrap().0.replace("margin:16px 0; ", "");
    format!("{}\n\n{}\n{inner}", email.subject, email.text())
}

#[test]
fn letters_in_english() {
    let emails = [
        code("ada@example.org", Language::En, "482913", CodePurpose::ConfirmAccount, 10),
        code("ada@example.org", Language::De, "482913", CodePurpose::ResetPassword, 10),
        has_account("ada@example.org", Language::Auto),
    ];
    let all = emails.iter().map(both).collect::<Vec<_>>().join("\n---\n");
    insta::assert_snapshot!(all, @r#"
    Your Colloquy confirmation code

    Enter this code to confirm your e-mail address:

    482913

    The code is valid for 10 minutes. If you did not request it, you can ignore this e-mail.

    <p style="white-space:pre-line">Enter this code to confirm your e-mail address:</p>
    <p dir="ltr" style="font-family:Consolas,Menlo,monospace; font-size:28px; letter-spacing:4px; text-align:center">482913</p>
    <p style="white-space:pre-line">The code is valid for 10 minutes. If you did not request it, you can ignore this e-mail.</p>
    ---
    Your Colloquy password reset code

    Enter this code to choose a new password:

    482913

    The code is valid for 10 minutes. If you did not request it, you can ignore this e-mail.

    <p style="white-space:pre-line">Enter this code to choose a new password:</p>
    <p dir="ltr" style="font-family:Consolas,Menlo,monospace; font-size:28px; letter-spacing:4px; text-align:center">482913</p>
    <p style="white-space:pre-line">The code is valid for 10 minutes. If you did not request it, you can ignore this e-mail.</p>
    ---
    You already have a Colloquy account

    Someone, possibly you, tried to register this e-mail address with Colloquy, but it already has an account. Sign in with your password, or reset it. If it was not you, you can ignore this e-mail.

    <p style="white-space:pre-line">Someone, possibly you, tried to register this e-mail address with Colloquy, but it already has an account. Sign in with your password, or reset it. If it was not you, you can ignore this e-mail.</p>
    "#);
}

#[test]
fn letters_in_arabic() {
    let emails = [
        code("ada@example.org", Language::Ar, "482913", CodePurpose::ConfirmAccount, 10),
        code("ada@example.org", Language::Ar, "482913", CodePurpose::ResetPassword, 10),
        has_account("ada@example.org", Language::Ar),
    ];
    let all = emails.iter().map(both).collect::<Vec<_>>().join("\n---\n");
    insta::assert_snapshot!(all, @r#"
    رمز تأكيد حسابك في Colloquy

    أدخل هذا الرمز لتأكيد عنوان بريدك الإلكتروني:

    482913

    مدة صلاحية الرمز بالدقائق: 10. إن لم تطلبه فيمكنك تجاهل هذه الرسالة.

    <p style="white-space:pre-line">أدخل هذا الرمز لتأكيد عنوان بريدك الإلكتروني:</p>
    <p dir="ltr" style="font-family:Consolas,Menlo,monospace; font-size:28px; letter-spacing:4px; text-align:center">482913</p>
    <p style="white-space:pre-line">مدة صلاحية الرمز بالدقائق: 10. إن لم تطلبه فيمكنك تجاهل هذه الرسالة.</p>
    ---
    رمز إعادة تعيين كلمة مرورك في Colloquy

    أدخل هذا الرمز لاختيار كلمة مرور جديدة:

    482913

    مدة صلاحية الرمز بالدقائق: 10. إن لم تطلبه فيمكنك تجاهل هذه الرسالة.

    <p style="white-space:pre-line">أدخل هذا الرمز لاختيار كلمة مرور جديدة:</p>
    <p dir="ltr" style="font-family:Consolas,Menlo,monospace; font-size:28px; letter-spacing:4px; text-align:center">482913</p>
    <p style="white-space:pre-line">مدة صلاحية الرمز بالدقائق: 10. إن لم تطلبه فيمكنك تجاهل هذه الرسالة.</p>
    ---
    لديك حساب بالفعل في Colloquy

    حاول شخص ما، ربما أنت، تسجيل عنوان البريد الإلكتروني هذا في Colloquy، وله حساب بالفعل. سجّل الدخول بكلمة مرورك أو أعد تعيينها. إن لم تكن أنت من فعل ذلك فيمكنك تجاهل هذه الرسالة.

    <p style="white-space:pre-line">حاول شخص ما، ربما أنت، تسجيل عنوان البريد الإلكتروني هذا في Colloquy، وله حساب بالفعل. سجّل الدخول بكلمة مرورك أو أعد تعيينها. إن لم تكن أنت من فعل ذلك فيمكنك تجاهل هذه الرسالة.</p>
    "#);
    for email in emails {
        assert!(email.html().unwrap().contains(r#"dir="rtl""#));
    }
}
