//! The e-mails of accounts, in English and Arabic. A code stands alone on its line.

use crate::jobs::mail::{Block, OutgoingEmail};

use super::model::{CodePurpose, Language};

pub fn code(email: &str, language: Language, code: &str, purpose: CodePurpose, minutes: u64) -> OutgoingEmail {
    let (subject, sentence, rest) = match (language, purpose) {
        (Language::Ar, CodePurpose::ConfirmAccount) => (
            "رمزك في Colloquy",
            "أكّد عنوان بريدك الإلكتروني بهذا الرمز:",
            format!("الرمز صالح لمدة {minutes} دقيقة. إن لم تطلبه فلا يلزمك فعل أي شيء."),
        ),
        (Language::Ar, CodePurpose::ResetPassword) => (
            "رمزك لاختيار كلمة مرور جديدة",
            "اختر كلمة مرور جديدة بهذا الرمز:",
            format!("الرمز صالح لمدة {minutes} دقيقة. إن لم تطلبه فلا يلزمك فعل أي شيء."),
        ),
        (_, purpose) => {
            let (subject, sentence) = match purpose {
                CodePurpose::ConfirmAccount => {
                    ("Your code for Colloquy", "Confirm your e-mail address with this code:")
                }
                CodePurpose::ResetPassword => {
                    ("Your code to choose a new password", "Choose a new password with this code:")
                }
            };
            let rest =
                format!("It is good for {minutes} minutes. If you did not ask for it, you need not do anything.");
            (subject, sentence, rest)
        }
    };
    let blocks = vec![Block::Text(sentence.to_owned()), Block::Code(code.to_owned()), Block::Text(rest)];
    OutgoingEmail {
        to: email.to_owned(),
        tongue: language.tongue(),
        subject: subject.to_owned(),
        blocks,
        calendar: None,
    }
}

/// Notifies the owner of an account that its password was changed.
pub fn password_changed(email: &str, language: Language) -> OutgoingEmail {
    let (subject, text) = match language {
        Language::Ar => (
            "تغيّرت كلمة مرورك",
            "اختيرت كلمة مرور جديدة لحسابك في Colloquy، وانتهت جميع جلساته. إن لم تكن أنت فاختر كلمة مرور جديدة فورًا وتأكد \
             من أن بريدك الإلكتروني لك وحدك.",
        ),
        _ => (
            "Your password was changed",
            "A new password was chosen for your account at Colloquy, and all its sessions have ended. If it was not you, \
             choose a new password at once, and see to it that your mailbox is yours alone.",
        ),
    };
    notice(email, language, subject, text)
}

/// Notifies the owner of an account that it was linked to an account at an external log-in provider.
pub fn login_linked(email: &str, language: Language) -> OutgoingEmail {
    let (subject, text) = match language {
        Language::Ar => (
            "طريقة جديدة لتسجيل الدخول",
            "يمكن الآن تسجيل الدخول إلى حسابك في Colloquy عبر حساب خارجي له هذا العنوان. إن لم تكن أنت فاختر كلمة مرور جديدة \
             وتأكد من أن بريدك الإلكتروني لك وحدك.",
        ),
        _ => (
            "A new way to log in",
            "Your account at Colloquy can now also be opened by a log-in elsewhere that has this address. If it was not \
             you, choose a new password, and see to it that your mailbox is yours alone.",
        ),
    };
    notice(email, language, subject, text)
}

fn notice(email: &str, language: Language, subject: &str, text: &str) -> OutgoingEmail {
    let blocks = vec![Block::Text(text.to_owned())];
    OutgoingEmail {
        to: email.to_owned(),
        tongue: language.tongue(),
        subject: subject.to_owned(),
        blocks,
        calendar: None,
    }
}

/// Notifies the owner of an account that its address was registered again. Only the owner learns that the account
/// exists.
pub fn has_account(email: &str, language: Language) -> OutgoingEmail {
    let (subject, text) = match language {
        Language::Ar => (
            "لديك حساب بالفعل",
            "حاول شخص ما، ربما أنت، تسجيل هذا العنوان في Colloquy، وله حساب بالفعل: سجّل الدخول بكلمة مرورك أو اختر كلمة \
             مرور جديدة. إن لم تكن أنت فلا يلزمك فعل أي شيء.",
        ),
        _ => (
            "You have an account already",
            "Somebody, perhaps you, tried to register this address with Colloquy. It has an account already: log in \
             with your password, or choose a new one. If it was not you, you need not do anything.",
        ),
    };
    notice(email, language, subject, text)
}

#[cfg(test)]
mod tests;
