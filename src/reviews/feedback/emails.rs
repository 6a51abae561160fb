//! The e-mail that tells what became of feedback, in English and Arabic. Text that users wrote is quoted, except the
//! name of the project in the subject.

use super::model::{Feedback, StakeholderFeedbackStatus};
use crate::jobs::mail::{EmailBlock, EmailKind, Locale, OutgoingEmail};
use crate::reviews::stakeholder_dashboard::model::FeedbackTargetType;

/// Builds the e-mail about feedback that was resolved or rejected.
#[must_use]
pub fn decided(feedback: &Feedback, to: String, locale: Locale, project: &str) -> OutgoingEmail {
    let is_resolved = feedback.status == StakeholderFeedbackStatus::Resolved;
    let about = about(locale, feedback);
    let (subject, text, own, note) = match (locale, is_resolved) {
        (Locale::English, true) => (
            format!("Your feedback on {about} was resolved: “{project}”"),
            format!("Your feedback on {about} was resolved."),
            "You wrote:",
            "Answer of the project:",
        ),
        (Locale::English, false) => (
            format!("Your feedback on {about} was not taken up: “{project}”"),
            format!("Your feedback on {about} was not taken up."),
            "You wrote:",
            "Answer of the project:",
        ),
        (Locale::Arabic, true) => (
            format!("تمت معالجة ملاحظتك على {about}: «{project}»"),
            format!("تمت معالجة ملاحظتك على {about}."),
            "كتبت:",
            "رد المشروع:",
        ),
        (Locale::Arabic, false) => (
            format!("لم تُعتمد ملاحظتك على {about}: «{project}»"),
            format!("لم تُعتمد ملاحظتك على {about}."),
            "كتبت:",
            "رد المشروع:",
        ),
    };
    let label = match locale {
        Locale::English => "Project",
        Locale::Arabic => "المشروع",
    };
    let mut blocks = vec![
        EmailBlock::Text(text),
        EmailBlock::Quote(format!("{label}: {project}")),
        EmailBlock::Text(own.to_owned()),
        EmailBlock::Quote(feedback.comment.clone()),
    ];
    if let Some(answer) = &feedback.resolution_note {
        blocks.extend([EmailBlock::Text(note.to_owned()), EmailBlock::Quote(answer.clone())]);
    }
    OutgoingEmail { kind: EmailKind::FeedbackDecided, to, locale, subject, blocks, calendar: None }
}

/// The code of the item, or the summary.
fn about(locale: Locale, feedback: &Feedback) -> String {
    match (&feedback.target.item, locale) {
        (Some((_, code)), _) => code.clone(),
        (None, Locale::English) if feedback.target.target_type == FeedbackTargetType::Summary => {
            "the summary".to_owned()
        }
        (None, Locale::English) => "an item".to_owned(),
        (None, Locale::Arabic) => "الملخص".to_owned(),
    }
}
