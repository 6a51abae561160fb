//! The e-mails of meeting invitations, in English and Arabic. Text that users wrote is quoted: it can't be mistaken for
//! ours, and nothing in it becomes a link.

use actors::meeting::Meeting;
use actors::time::Time;

use crate::jobs::mail::{Block, Calendar, Locale, OutgoingEmail};

/// The data that these e-mails have in common.
pub struct InvitationEmail<'a> {
    pub to: &'a str,
    pub tongue: Locale,
    pub meeting: &'a Meeting,
    pub project: &'a str,
    pub inviter: &'a str,
    pub calendar: Calendar,
}

/// Builds the e-mail that invites a user or guest to a meeting. `url` has the token in its fragment.
#[must_use]
pub fn invitation(words: InvitationEmail<'_>, message: Option<&str>, url: String, until: Time) -> OutgoingEmail {
    let until = when(until);
    let (subject, asked, label, rest) = match words.tongue {
        Locale::Arabic => (
            "دُعيت إلى اجتماع في Colloquy",
            "طُلب منك حضور اجتماع.",
            "اطّلع على الدعوة وانضم:",
            format!("الرابط صالح حتى {until} وهو لك وحدك: لا تعطه لغيرك. إن لم تعرف صاحب الدعوة فلا يلزمك فعل أي شيء."),
        ),
        Locale::English => (
            "You are invited to a meeting in Colloquy",
            "You are asked to a meeting.",
            "See the invitation and join:",
            format!(
                "The link is good until {until} and for you alone: do not pass it on. If you do not know who asks, you \
                 need not do anything."
            ),
        ),
    };
    let mut blocks = vec![Block::Text(asked.to_owned()), Block::Quote(facts(&words))];
    blocks.extend(message.map(|message| Block::Quote(message.to_owned())));
    blocks.push(Block::Link { label: label.to_owned(), url });
    blocks.push(Block::Text(rest));
    letter(words, subject, blocks)
}

/// Builds the e-mail about a meeting whose title or time has changed.
#[must_use]
pub fn changed(words: InvitationEmail<'_>, join_url: String) -> OutgoingEmail {
    let (subject, changed, label) = match words.tongue {
        Locale::Arabic => (
            "تغيّر اجتماع دُعيت إليه في Colloquy",
            "تغيّر عنوان اجتماع دُعيت إليه أو وقته. هو الآن:",
            "صفحة الاجتماع (تُقبل الدعوة من الرابط الذي أُرسل معها):",
        ),
        Locale::English => (
            "A meeting that you are invited to has changed",
            "A meeting that you are invited to has another title or time. It is now:",
            "The meeting's page (an invitation is accepted by the link that came with it):",
        ),
    };
    let blocks = vec![
        Block::Text(changed.to_owned()),
        Block::Quote(facts(&words)),
        Block::Link { label: label.to_owned(), url: join_url },
    ];
    letter(words, subject, blocks)
}

/// Builds the e-mail about a meeting that was cancelled.
#[must_use]
pub fn cancelled(words: InvitationEmail<'_>, reason: Option<&str>) -> OutgoingEmail {
    let (subject, cancelled) = match words.tongue {
        Locale::Arabic => ("أُلغي اجتماع دُعيت إليه في Colloquy", "أُلغي اجتماع دُعيت إليه:"),
        Locale::English => {
            ("A meeting that you were invited to is cancelled", "A meeting that you were invited to is cancelled:")
        }
    };
    let mut blocks = vec![Block::Text(cancelled.to_owned()), Block::Quote(facts(&words))];
    blocks.extend(reason.map(|reason| Block::Quote(reason.to_owned())));
    letter(words, subject, blocks)
}

fn letter(words: InvitationEmail<'_>, subject: &str, blocks: Vec<Block>) -> OutgoingEmail {
    let InvitationEmail { to, tongue, calendar, .. } = words;
    OutgoingEmail { to: to.to_owned(), tongue, subject: subject.to_owned(), blocks, calendar: Some(calendar) }
}

fn facts(InvitationEmail { tongue, meeting, project, inviter, .. }: &InvitationEmail<'_>) -> String {
    let (title, at) = (&meeting.title, when(meeting.scheduled_at));
    match tongue {
        Locale::Arabic => format!("الاجتماع: {title}\nالموعد: {at}\nالمشروع: {project}\nالداعي: {inviter}"),
        Locale::English => format!("Meeting: {title}\nTime: {at}\nProject: {project}\nInvited by: {inviter}"),
    }
}

/// Formats a time so that it reads the same in both languages.
fn when(time: Time) -> String {
    time.utc().format("%Y-%m-%d %H:%M UTC").to_string()
}
