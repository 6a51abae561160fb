//! The mails of accounts, as text. A code stands alone on its line.

use crate::jobs::mail::Letter;

use super::model::CodePurpose;

pub fn code(email: &str, code: &str, purpose: CodePurpose, minutes: u64) -> Letter {
    let (subject, sentence) = match purpose {
        CodePurpose::ConfirmAccount => ("Your code for Colloquy", "Confirm your e-mail address with this code:"),
        CodePurpose::ResetPassword => ("Your code to choose a new password", "Choose a new password with this code:"),
    };
    Letter {
        to: email.to_owned(),
        subject: subject.to_owned(),
        text: format!(
            "{sentence}\n\n{code}\n\nIt is good for {minutes} minutes. If you did not ask for it, you need not do anything.\n"
        ),
    }
}

/// For somebody who registered an address that has an account: its owner alone learns of it.
pub fn has_account(email: &str) -> Letter {
    Letter {
        to: email.to_owned(),
        subject: "You have an account already".to_owned(),
        text: "Somebody, perhaps you, tried to register this address with Colloquy. It has an account already: log in \
               with your password, or choose a new one. If it was not you, you need not do anything.\n"
            .to_owned(),
    }
}
