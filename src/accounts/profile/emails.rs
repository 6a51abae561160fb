//! The e-mails of the profile, in English and Arabic: notifications that an owner gets about every such change.

use crate::accounts::model::{Account, Language};
use crate::jobs::mail::{Block, OutgoingEmail};

pub fn password_changed(account: &Account) -> OutgoingEmail {
    let (subject, text) = match account.language {
        Language::Ar => (
            "تم تغيير كلمة مرورك",
            "تم تغيير كلمة مرور حسابك في Colloquy، وانتهت جميع الجلسات الأخرى. إن لم تكن أنت من فعل ذلك فاختر كلمة مرور \
             جديدة فورًا عبر «نسيت كلمة المرور».",
        ),
        _ => (
            "Your password was changed",
            "The password of your account with Colloquy was changed, and every other session has ended. If it was not \
             you, choose a new one at once, with \"forgot my password\".",
        ),
    };
    letter(account, subject, text)
}

pub fn account_deleted(account: &Account) -> OutgoingEmail {
    let (subject, text) = match account.language {
        Language::Ar => (
            "تم حذف حسابك",
            "تم حذف حسابك في Colloquy مع كل ما يخصك وحدك. ما أضفته إلى مشاريع الآخرين يبقى لهم دون اسمك. هذه آخر رسالة \
             تصلك منا.",
        ),
        _ => (
            "Your account was deleted",
            "Your account with Colloquy was deleted, and with it all that was yours alone. What you added to the \
             projects of others stays theirs, without your name. This is the last mail you get from us.",
        ),
    };
    letter(account, subject, text)
}

fn letter(account: &Account, subject: &str, text: &str) -> OutgoingEmail {
    OutgoingEmail {
        to: account.email.clone(),
        tongue: account.language.tongue(),
        subject: subject.to_owned(),
        blocks: vec![Block::Text(text.to_owned())],
        calendar: None,
    }
}
