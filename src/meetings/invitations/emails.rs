//! The e-mails of meeting invitations, in English and Arabic. Text that users wrote is quoted, except the inviter's
//! name in sentences and that name and the title in subjects. Nothing in it becomes a link.

use actors::meeting::Meeting;
use actors::time::Time;
use chrono::Datelike;

use crate::jobs::mail::{Calendar, EmailBlock, EmailKind, Locale, OutgoingEmail, isolated};

/// Monday first.
const ARABIC_DAYS: [&str; 7] = ["الاثنين", "الثلاثاء", "الأربعاء", "الخميس", "الجمعة", "السبت", "الأحد"];
const ARABIC_MONTHS: [&str; 12] =
    ["يناير", "فبراير", "مارس", "أبريل", "مايو", "يونيو", "يوليو", "أغسطس", "سبتمبر", "أكتوبر", "نوفمبر", "ديسمبر"];

/// The data that these e-mails have in common.
pub struct InvitationEmail<'a> {
    pub to: &'a str,
    pub locale: Locale,
    pub meeting: &'a Meeting,
    pub project: &'a str,
    pub inviter: &'a str,
    pub calendar: Calendar,
}

/// Builds the e-mail that invites a user or guest to a meeting. `url` has the token in its fragment.
#[must_use]
pub fn invitation(words: InvitationEmail<'_>, message: Option<&str>, url: String, until: Time) -> OutgoingEmail {
    let InvitationEmail { locale, meeting, .. } = words;
    let (title, at, until) =
        (&meeting.title, when(locale, meeting, meeting.scheduled_at), when(locale, meeting, until));
    let inviter = inviter_of(&words);
    let who = isolated(inviter);
    let (subject, invited, from, label, rest) = match locale {
        Locale::Arabic => (
            format!("دعوة من {inviter} إلى الاجتماع «{title}»، {at}"),
            format!("تلقيت دعوة من {who} إلى الاجتماع التالي:"),
            format!("رسالة من {who}:"),
            "عرض الدعوة والانضمام:",
            format!(
                "الرابط صالح حتى {until} وهو خاص بك، فلا تشاركه مع أحد. إن لم تعرف المرسل فيمكنك تجاهل هذه الرسالة."
            ),
        ),
        Locale::English => (
            format!("{inviter} invited you to “{title}” on {at}"),
            format!("{who} invited you to the following meeting:"),
            format!("Message from {who}:"),
            "View the invitation and join:",
            format!(
                "The link is valid until {until} and only for you: do not share it. If you do not know the sender, you \
                 can ignore this e-mail."
            ),
        ),
    };
    let mut blocks = vec![EmailBlock::Text(invited), EmailBlock::Quote(facts(&words))];
    if let Some(message) = message {
        blocks.extend([EmailBlock::Text(from), EmailBlock::Quote(message.to_owned())]);
    }
    blocks.push(EmailBlock::Link { label: label.to_owned(), url });
    blocks.push(EmailBlock::Text(rest));
    email(EmailKind::MeetingInvitation, words, subject, blocks)
}

/// Builds the e-mail about a meeting whose title or time has changed.
#[must_use]
pub fn changed(words: InvitationEmail<'_>, join_url: String) -> OutgoingEmail {
    let InvitationEmail { locale, meeting, .. } = words;
    let (title, at) = (&meeting.title, when(locale, meeting, meeting.scheduled_at));
    let (subject, changed, label) = match locale {
        Locale::Arabic => (
            format!("تغيّر الاجتماع: «{title}»، {at}"),
            "تغيّر عنوان اجتماع دُعيت إليه أو موعده. التفاصيل الحالية:",
            "صفحة الاجتماع (لقبول الدعوة استخدم الرابط الوارد في رسالة الدعوة):",
        ),
        Locale::English => (
            format!("Meeting changed: “{title}” on {at}"),
            "The title or time of a meeting that you are invited to has changed. The current details are:",
            "Meeting page (to accept the invitation, use the link in the invitation e-mail):",
        ),
    };
    let blocks = vec![
        EmailBlock::Text(changed.to_owned()),
        EmailBlock::Quote(facts(&words)),
        EmailBlock::Link { label: label.to_owned(), url: join_url },
    ];
    email(EmailKind::MeetingChanged, words, subject, blocks)
}

/// Builds the e-mail about a meeting that was cancelled.
#[must_use]
pub fn cancelled(words: InvitationEmail<'_>, reason: Option<&str>) -> OutgoingEmail {
    let InvitationEmail { locale, meeting, .. } = words;
    let (title, at) = (&meeting.title, when(locale, meeting, meeting.scheduled_at));
    let (subject, cancelled, label) = match locale {
        Locale::Arabic => (format!("أُلغي الاجتماع: «{title}»، {at}"), "أُلغي الاجتماع التالي الذي دُعيت إليه:", "السبب:"),
        Locale::English => (
            format!("Meeting cancelled: “{title}” on {at}"),
            "The following meeting that you were invited to was cancelled:",
            "Reason:",
        ),
    };
    let mut blocks = vec![EmailBlock::Text(cancelled.to_owned()), EmailBlock::Quote(facts(&words))];
    if let Some(reason) = reason {
        blocks.extend([EmailBlock::Text(label.to_owned()), EmailBlock::Quote(reason.to_owned())]);
    }
    email(EmailKind::MeetingCancelled, words, subject, blocks)
}

fn email(kind: EmailKind, words: InvitationEmail<'_>, subject: String, blocks: Vec<EmailBlock>) -> OutgoingEmail {
    let InvitationEmail { to, locale, calendar, .. } = words;
    OutgoingEmail { kind, to: to.to_owned(), locale, subject, blocks, calendar: Some(calendar) }
}

/// Returns the inviter's name, or a general term if the account was deleted.
fn inviter_of<'a>(words: &InvitationEmail<'a>) -> &'a str {
    match words.locale {
        _ if !words.inviter.is_empty() => words.inviter,
        Locale::Arabic => "أحد أعضاء المشروع",
        Locale::English => "A project member",
    }
}

fn facts(words: &InvitationEmail<'_>) -> String {
    let InvitationEmail { locale, meeting, project, .. } = words;
    let (title, at, inviter) = (&meeting.title, when(*locale, meeting, meeting.scheduled_at), inviter_of(words));
    match locale {
        Locale::Arabic => format!("الاجتماع: {title}\nالموعد: {at}\nالمشروع: {project}\nالداعي: {inviter}"),
        Locale::English => format!("Meeting: {title}\nTime: {at}\nProject: {project}\nInvited by: {inviter}"),
    }
}

/// Formats a time at the offset of the meeting's own time, with the day of the week.
fn when(locale: Locale, meeting: &Meeting, time: Time) -> String {
    let offset = meeting.scheduled_offset;
    let time = offset.local(time);
    match locale {
        Locale::English => format!("{} {offset}", time.format("%A %-d %B %Y, %H:%M")),
        Locale::Arabic => {
            let day = ARABIC_DAYS.get(time.weekday().num_days_from_monday() as usize).copied().unwrap_or_default();
            let month = ARABIC_MONTHS.get(time.month0() as usize).copied().unwrap_or_default();
            let clock = isolated(&format!("{} {offset}", time.format("%H:%M")));
            format!("{day} {} {month} {}، {clock}", time.day(), time.year())
        }
    }
}
