//! The e-mails of project invitations, in English and Arabic. Text written by users is quoted, so that it cannot pass
//! for text of this service.

use super::model::Invitation;
use crate::access::role::ProjectRole;
use crate::accounts::model::Language;
use crate::jobs::mail::{Block, Locale, OutgoingEmail};

/// The contents of an invitation e-mail.
pub struct ProjectInvitationEmail<'a> {
    pub language: Language,
    pub project: &'a str,
    pub inviter: &'a str,
    /// The link, with the token in its fragment.
    pub url: String,
    pub days: u32,
}

pub fn invitation(invitation: &Invitation, words: ProjectInvitationEmail<'_>) -> OutgoingEmail {
    let ProjectInvitationEmail { language, project, inviter, url, days } = words;
    let tongue = language.tongue();
    let role = role(tongue, invitation.role);
    let (subject, asked, quoted, label, rest) = match tongue {
        Locale::Arabic => (
            "دُعيت إلى مشروع في Colloquy",
            format!("طُلب منك الانضمام إلى مشروع بصفة {role}."),
            format!("المشروع: {project}\nالداعي: {inviter}"),
            "اطّلع على الدعوة واقبلها:",
            format!("الرابط صالح لمدة {days} أيام ولهذا العنوان وحده. إن لم تعرف صاحب الدعوة فلا يلزمك فعل أي شيء."),
        ),
        Locale::English => (
            "You are invited to a project in Colloquy",
            format!("You are asked to join a project as {role}."),
            format!("Project: {project}\nInvited by: {inviter}"),
            "See the invitation and accept it:",
            format!(
                "The link is good for {days} days and for this address alone. If you do not know who asks, you need not \
                 do anything."
            ),
        ),
    };
    let blocks =
        vec![Block::Text(asked), Block::Quote(quoted), Block::Link { label: label.to_owned(), url }, Block::Text(rest)];
    OutgoingEmail { to: invitation.email.clone(), tongue, subject: subject.to_owned(), blocks, calendar: None }
}

const fn role(tongue: Locale, role: ProjectRole) -> &'static str {
    match (tongue, role) {
        (Locale::English, ProjectRole::Owner) => "an owner",
        (Locale::English, ProjectRole::Manager) => "a manager",
        (Locale::English, ProjectRole::Analyst) => "an analyst",
        (Locale::English, ProjectRole::Stakeholder) => "a stakeholder",
        (Locale::Arabic, ProjectRole::Owner) => "مالك",
        (Locale::Arabic, ProjectRole::Manager) => "مدير",
        (Locale::Arabic, ProjectRole::Analyst) => "محلل",
        (Locale::Arabic, ProjectRole::Stakeholder) => "صاحب مصلحة",
    }
}
