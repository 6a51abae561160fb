//! The e-mails of the profile, in English and Arabic: notifications that an owner gets about every such change.

use actors::language::Language;

use crate::accounts::emails::notice;
use crate::accounts::model::Account;
use crate::jobs::mail::{EmailKind, OutgoingEmail};

pub fn password_changed(account: &Account) -> OutgoingEmail {
    let (subject, text) = match account.language {
        Language::Ar => (
            "تم تغيير كلمة مرورك",
            "تم تغيير كلمة مرور حسابك في Colloquy، وأُنهيت جميع الجلسات الأخرى. إن لم تكن أنت من فعل ذلك فأعد تعيين كلمة \
             المرور فورًا عبر «نسيت كلمة المرور».",
        ),
        _ => (
            "Your password was changed",
            "The password of your Colloquy account was changed, and all other sessions were ended. If you did not do this, \
             reset your password immediately with “Forgot my password”.",
        ),
    };
    notice(EmailKind::PasswordChanged, &account.email, account.language, subject, text)
}

pub fn account_deleted(account: &Account) -> OutgoingEmail {
    let (subject, text) = match account.language {
        Language::Ar => (
            "تم حذف حسابك في Colloquy",
            "تم حذف حسابك في Colloquy مع جميع البيانات التي تخصك وحدك. يبقى ما أضفته إلى مشاريع الآخرين فيها دون اسمك. \
             هذه آخر رسالة تصلك من Colloquy.",
        ),
        _ => (
            "Your Colloquy account was deleted",
            "Your Colloquy account was deleted, together with all data that belonged to you alone. Content that you added to \
             other people's projects remains there, without your name. This is the last e-mail that you will receive \
             from Colloquy.",
        ),
    };
    notice(EmailKind::AccountDeleted, &account.email, account.language, subject, text)
}
