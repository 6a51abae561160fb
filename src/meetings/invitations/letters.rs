//! The mails of invitations to meetings, in English and Arabic. What people wrote themselves is quoted: it can't pass for ours,
//! and nothing in it is a link.

use actors::meeting::Meeting;
use actors::time::Time;

use crate::jobs::mail::{Block, Calendar, Letter, Tongue};

/// What these letters are made of.
pub struct Words<'a> {
    pub to: &'a str,
    pub tongue: Tongue,
    pub meeting: &'a Meeting,
    pub project: &'a str,
    pub inviter: &'a str,
    pub calendar: Calendar,
}

/// Asks somebody to a meeting. `url` has the token in its fragment.
#[must_use]
pub fn invitation(words: Words<'_>, message: Option<&str>, url: String, until: Time) -> Letter {
    let until = when(until);
    let (subject, asked, label, rest) = match words.tongue {
        Tongue::Arabic => (
            "دُعيت إلى اجتماع في Colloquy",
            "طُلب منك حضور اجتماع.",
            "اطّلع على الدعوة وانضم:",
            format!("الرابط صالح حتى {until} وهو لك وحدك: لا تعطه لغيرك. إن لم تعرف صاحب الدعوة فلا يلزمك فعل أي شيء."),
        ),
        Tongue::English => (
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

/// The meeting has another title or time.
#[must_use]
pub fn changed(words: Words<'_>, join_url: String) -> Letter {
    let (subject, changed, label) = match words.tongue {
        Tongue::Arabic => (
            "تغيّر اجتماع دُعيت إليه في Colloquy",
            "تغيّر عنوان اجتماع دُعيت إليه أو وقته. هو الآن:",
            "صفحة الاجتماع (تُقبل الدعوة من الرابط الذي أُرسل معها):",
        ),
        Tongue::English => (
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

/// The meeting was called off.
#[must_use]
pub fn cancelled(words: Words<'_>, reason: Option<&str>) -> Letter {
    let (subject, cancelled) = match words.tongue {
        Tongue::Arabic => ("أُلغي اجتماع دُعيت إليه في Colloquy", "أُلغي اجتماع دُعيت إليه:"),
        Tongue::English => {
            ("A meeting that you were invited to is cancelled", "A meeting that you were invited to is cancelled:")
        }
    };
    let mut blocks = vec![Block::Text(cancelled.to_owned()), Block::Quote(facts(&words))];
    blocks.extend(reason.map(|reason| Block::Quote(reason.to_owned())));
    letter(words, subject, blocks)
}

fn letter(words: Words<'_>, subject: &str, blocks: Vec<Block>) -> Letter {
    let Words { to, tongue, calendar, .. } = words;
    Letter { to: to.to_owned(), tongue, subject: subject.to_owned(), blocks, calendar: Some(calendar) }
}

fn facts(Words { tongue, meeting, project, inviter, .. }: &Words<'_>) -> String {
    let (title, at) = (&meeting.title, when(meeting.scheduled_at));
    match tongue {
        Tongue::Arabic => format!("الاجتماع: {title}\nالموعد: {at}\nالمشروع: {project}\nالداعي: {inviter}"),
        Tongue::English => format!("Meeting: {title}\nTime: {at}\nProject: {project}\nInvited by: {inviter}"),
    }
}

/// In a form that is read alike in both languages.
fn when(time: Time) -> String {
    time.utc().format("%Y-%m-%d %H:%M UTC").to_string()
}
