//! The e-mail that invites somebody to review a project's results, in English and Arabic. Text that users wrote is
//! quoted, except names: the sentence and the subject contain those of the inviter and the project.

use actors::time::Time;

use super::model::{ProjectReviewPermission, ReviewInvitation};
use crate::jobs::mail::{EmailBlock, EmailKind, Locale, OutgoingEmail, isolated};

/// Builds the e-mail of an invitation. `url` has the token in its fragment.
#[must_use]
pub fn invitation(
    invitation: &ReviewInvitation,
    locale: Locale,
    project: &str,
    inviter: &str,
    url: String,
) -> OutgoingEmail {
    let inviter = inviter_of(locale, inviter);
    let (who, until) = (isolated(inviter), when(locale, invitation.expires_at));
    let may = permission(locale, invitation.permission);
    let (subject, invited, quoted, from, label, rest) = match locale {
        Locale::Arabic => (
            format!("دعوة من {inviter} إلى مراجعة متطلبات «{project}»"),
            format!("تلقيت دعوة من {who} إلى مراجعة متطلبات المشروع التالي. {may}"),
            format!("المشروع: {project}\nالداعي: {inviter}"),
            format!("رسالة من {who}:"),
            "عرض المتطلبات:",
            format!(
                "الرابط صالح حتى {until} وهو خاص بك، فلا تشاركه مع أحد. إن لم تعرف المرسل فيمكنك تجاهل هذه الرسالة."
            ),
        ),
        Locale::English => (
            format!("{inviter} invited you to review the requirements of “{project}”"),
            format!("{who} invited you to review the requirements of the following project. {may}"),
            format!("Project: {project}\nInvited by: {inviter}"),
            format!("Message from {who}:"),
            "View the requirements:",
            format!(
                "The link is valid until {until} and only for you: do not share it. If you do not know the sender, you \
                 can ignore this e-mail."
            ),
        ),
    };
    let mut blocks = vec![EmailBlock::Text(invited), EmailBlock::Quote(quoted)];
    if let Some(message) = &invitation.message {
        blocks.extend([EmailBlock::Text(from), EmailBlock::Quote(message.clone())]);
    }
    blocks.push(EmailBlock::Link { label: label.to_owned(), url });
    blocks.push(EmailBlock::Text(rest));
    let kind = EmailKind::ReviewInvitation;
    OutgoingEmail { kind, to: invitation.email.clone(), locale, subject, blocks, calendar: None }
}

/// Returns the inviter's name, or a general term if the account was deleted.
fn inviter_of(locale: Locale, inviter: &str) -> &str {
    match locale {
        _ if !inviter.is_empty() => inviter,
        Locale::Arabic => "أحد أعضاء المشروع",
        Locale::English => "A project member",
    }
}

const fn permission(locale: Locale, permission: ProjectReviewPermission) -> &'static str {
    use ProjectReviewPermission::{Approver, Commenter, Viewer};
    match (locale, permission) {
        (Locale::English, Viewer) => "You can read them.",
        (Locale::English, Commenter) => "You can read them and comment on them.",
        (Locale::English, Approver) => "You can read them, comment on them, and say whether you agree.",
        (Locale::Arabic, Viewer) => "يمكنك قراءتها.",
        (Locale::Arabic, Commenter) => "يمكنك قراءتها والتعليق عليها.",
        (Locale::Arabic, Approver) => "يمكنك قراءتها والتعليق عليها وإبداء موافقتك أو عدمها.",
    }
}

fn when(locale: Locale, time: Time) -> String {
    match locale {
        Locale::English => time.utc().format("%-d %B %Y, %H:%M UTC").to_string(),
        Locale::Arabic => isolated(&time.utc().format("%Y-%m-%d %H:%M UTC").to_string()),
    }
}
