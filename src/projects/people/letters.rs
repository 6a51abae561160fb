//! The mails of invitations to a project, in English and Arabic. What people wrote themselves is quoted: it can't pass
//! for ours.

use super::model::Invitation;
use crate::access::role::ProjectRole;
use crate::accounts::model::Language;
use crate::jobs::mail::{Block, Letter, Tongue};

/// What an invitation's mail is made of.
pub struct Words<'a> {
    pub language: Language,
    pub project: &'a str,
    pub inviter: &'a str,
    /// With the token in its fragment.
    pub url: String,
    pub days: u32,
}

pub fn invitation(invitation: &Invitation, words: Words<'_>) -> Letter {
    let Words { language, project, inviter, url, days } = words;
    let tongue = language.tongue();
    let role = role(tongue, invitation.role);
    let (subject, asked, quoted, label, rest) = match tongue {
        Tongue::Arabic => (
            "دُعيت إلى مشروع في Colloquy",
            format!("طُلب منك الانضمام إلى مشروع بصفة {role}."),
            format!("المشروع: {project}\nالداعي: {inviter}"),
            "اطّلع على الدعوة واقبلها:",
            format!("الرابط صالح لمدة {days} أيام ولهذا العنوان وحده. إن لم تعرف صاحب الدعوة فلا يلزمك فعل أي شيء."),
        ),
        Tongue::English => (
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
    Letter { to: invitation.email.clone(), tongue, subject: subject.to_owned(), blocks, calendar: None }
}

const fn role(tongue: Tongue, role: ProjectRole) -> &'static str {
    match (tongue, role) {
        (Tongue::English, ProjectRole::Owner) => "an owner",
        (Tongue::English, ProjectRole::Manager) => "a manager",
        (Tongue::English, ProjectRole::Analyst) => "an analyst",
        (Tongue::English, ProjectRole::Stakeholder) => "a stakeholder",
        (Tongue::Arabic, ProjectRole::Owner) => "مالك",
        (Tongue::Arabic, ProjectRole::Manager) => "مدير",
        (Tongue::Arabic, ProjectRole::Analyst) => "محلل",
        (Tongue::Arabic, ProjectRole::Stakeholder) => "صاحب مصلحة",
    }
}
