//! The e-mails of accounts, in English and Arabic. A code stands alone on its line.

use actors::language::Language;

use super::model::CodePurpose;
use crate::jobs::mail::{EmailBlock, EmailKind, OutgoingEmail};

pub fn code(email: &str, language: Language, code: &str, purpose: CodePurpose, minutes: u64) -> OutgoingEmail {
    let (subject, sentence, rest) = match (language, purpose) {
        (Language::Ar, CodePurpose::ConfirmAccount) => (
            "رمز تأكيد حسابك في Colloquy",
            "أدخل هذا الرمز لتأكيد عنوان بريدك الإلكتروني:",
            format!("مدة صلاحية الرمز بالدقائق: {minutes}. إن لم تطلبه فيمكنك تجاهل هذه الرسالة."),
        ),
        (Language::Ar, CodePurpose::ResetPassword) => (
            "رمز إعادة تعيين كلمة مرورك في Colloquy",
            "أدخل هذا الرمز لاختيار كلمة مرور جديدة:",
            format!("مدة صلاحية الرمز بالدقائق: {minutes}. إن لم تطلبه فيمكنك تجاهل هذه الرسالة."),
        ),
        (_, purpose) => {
            let (subject, sentence) = match purpose {
                CodePurpose::ConfirmAccount => {
                    ("Your Colloquy confirmation code", "Enter this code to confirm your e-mail address:")
                }
                CodePurpose::ResetPassword => {
                    ("Your Colloquy password reset code", "Enter this code to choose a new password:")
                }
            };
            let rest = format!(
                "The code is valid for {minutes} minutes. If you did not request it, you can ignore this e-mail."
            );
            (subject, sentence, rest)
        }
    };
    let blocks = vec![EmailBlock::Text(sentence.to_owned()), EmailBlock::Code(code.to_owned()), EmailBlock::Text(rest)];
    let kind = match purpose {
        CodePurpose::ConfirmAccount => EmailKind::ConfirmationCode,
        CodePurpose::ResetPassword => EmailKind::PasswordResetCode,
    };
    written(kind, email, language, subject, blocks)
}

/// Notifies the owner of an account that its password was changed.
pub fn password_changed(email: &str, language: Language) -> OutgoingEmail {
    let (subject, text) = match language {
        Language::Ar => (
            "تم تغيير كلمة مرورك",
            "تم تعيين كلمة مرور جديدة لحسابك في Colloquy، وأُنهيت جميع جلساته. إن لم تكن أنت من فعل ذلك فأعد تعيين كلمة \
             المرور فورًا وتأكد من أن أحدًا غيرك لا يمكنه الوصول إلى بريدك الإلكتروني.",
        ),
        _ => (
            "Your password was changed",
            "A new password was set for your Colloquy account, and all its sessions were ended. If you did not do this, reset \
             your password immediately and make sure that nobody else has access to your mailbox.",
        ),
    };
    notice(EmailKind::PasswordChanged, email, language, subject, text)
}

/// Notifies the owner of an account that it was linked to an account at an external log-in provider.
pub fn login_linked(email: &str, language: Language) -> OutgoingEmail {
    let (subject, text) = match language {
        Language::Ar => (
            "طريقة جديدة لتسجيل الدخول إلى حسابك في Colloquy",
            "يمكن الآن تسجيل الدخول إلى حسابك في Colloquy أيضًا عبر حساب خارجي له عنوان البريد الإلكتروني هذا. إن لم تكن \
             أنت من فعل ذلك فأعد تعيين كلمة المرور وتأكد من أن أحدًا غيرك لا يمكنه الوصول إلى بريدك الإلكتروني.",
        ),
        _ => (
            "New sign-in method for your Colloquy account",
            "An external account with this e-mail address can now also be used to sign in to your Colloquy account. If you \
             did not do this, reset your password and make sure that nobody else has access to your mailbox.",
        ),
    };
    notice(EmailKind::LoginLinked, email, language, subject, text)
}

/// Writes an e-mail of one text.
pub fn notice(kind: EmailKind, email: &str, language: Language, subject: &str, text: &str) -> OutgoingEmail {
    written(kind, email, language, subject, vec![EmailBlock::Text(text.to_owned())])
}

fn written(kind: EmailKind, email: &str, language: Language, subject: &str, blocks: Vec<EmailBlock>) -> OutgoingEmail {
    let subject = subject.to_owned();
    OutgoingEmail { kind, to: email.to_owned(), locale: language.into(), subject, blocks, calendar: None }
}

/// Notifies the owner of an account that its address was registered again. Only the owner learns that the account
/// exists.
pub fn has_account(email: &str, language: Language) -> OutgoingEmail {
    let (subject, text) = match language {
        Language::Ar => (
            "لديك حساب بالفعل في Colloquy",
            "حاول شخص ما، ربما أنت، تسجيل عنوان البريد الإلكتروني هذا في Colloquy، وله حساب بالفعل. سجّل الدخول بكلمة \
             مرورك أو أعد تعيينها. إن لم تكن أنت من فعل ذلك فيمكنك تجاهل هذه الرسالة.",
        ),
        _ => (
            "You already have a Colloquy account",
            "Someone, possibly you, tried to register this e-mail address with Colloquy, but it already has an account. Sign \
             in with your password, or reset it. If it was not you, you can ignore this e-mail.",
        ),
    };
    notice(EmailKind::AlreadyRegistered, email, language, subject, text)
}

#[cfg(test)]
mod tests;
