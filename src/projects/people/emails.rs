//! The e-mails of project invitations, in English and Arabic. Text written by users is quoted, except names: the
//! sentence and the subject contain those of the inviter and the project.

use actors::language::Language;

use super::model::InvitationToProject;
use crate::access::role::ProjectRole;
use crate::jobs::mail::{EmailBlock, EmailKind, Locale, OutgoingEmail, isolated};

/// The contents of an invitation e-mail.
pub struct ProjectInvitationEmail<'a> {
    pub language: Language,
    pub project: &'a str,
    pub inviter: &'a str,
    /// The link, with the token in its fragment.
    pub url: String,
    pub days: u32,
}

pub fn invitation(invitation: &InvitationToProject, words: ProjectInvitationEmail<'_>) -> OutgoingEmail {
    let ProjectInvitationEmail { language, project, inviter, url, days } = words;
    let locale = language.into();
    let role = role(locale, invitation.role);
    let who = isolated(inviter);
    let (subject, invited, quoted, label, rest) = match locale {
        Locale::Arabic => (
            format!("دعوة من {inviter} إلى مشروع «{project}»"),
            format!("تلقيت دعوة من {who} للانضمام إلى المشروع التالي بصفة {role}:"),
            format!("المشروع: {project}\nالداعي: {inviter}"),
            "عرض الدعوة وقبولها:",
            format!("الرابط صالح لمدة {days} أيام ولهذا العنوان فقط. إن لم تعرف المرسل فيمكنك تجاهل هذه الرسالة."),
        ),
        Locale::English => (
            format!("{inviter} invited you to the project “{project}”"),
            format!("{who} invited you to join the following project as {role}:"),
            format!("Project: {project}\nInvited by: {inviter}"),
            "View and accept the invitation:",
            format!(
                "The link is valid for {days} days and only for this e-mail address. If you do not know the sender, you \
                 can ignore this e-mail."
            ),
        ),
    };
    let blocks = vec![
        EmailBlock::Text(invited),
        EmailBlock::Quote(quoted),
        EmailBlock::Link { label: label.to_owned(), url },
        EmailBlock::Text(rest),
    ];
    let kind = EmailKind::ProjectInvitation;
    OutgoingEmail { kind, to: invitation.email.clone(), locale, subject, blocks, calendar: None }
}

const fn role(locale: Locale, role: ProjectRole) -> &'static str {
    match (locale, role) {
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
