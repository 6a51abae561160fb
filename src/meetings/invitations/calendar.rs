//! The calendar entry of a meeting (RFC 5545), as it is sent to one invitee. Its UID belongs to the meeting and never
//! changes, and its SEQUENCE is the meeting's version: in whatever order e-mails arrive, calendars keep the newest
//! entry.

use std::time::Duration;

use actors::ids::Id;
use actors::meeting::{Meeting, MeetingRole};
use actors::time::Time;
use icalendar::{Component, Event, EventLike, EventStatus, Property};

use crate::jobs::mail::Calendar;

/// The assumed duration of a meeting: meetings have no planned end.
const LENGTH: Duration = Duration::from_secs(3600);

/// The data of a calendar entry.
#[derive(Debug, Clone, Copy)]
pub struct CalendarEntry<'a> {
    pub meeting: &'a Meeting,
    /// The URL of the page for joining. It contains no invitation token, because calendars are shared.
    pub join_url: &'a str,
    /// The sender of our e-mails, as `Name <address>`.
    pub from: &'a str,
    pub inviter: &'a str,
    pub email: &'a str,
    pub name: Option<&'a str>,
    pub role: MeetingRole,
    pub accepted: bool,
    pub now: Time,
}

/// Builds the entry of a meeting that takes place (METHOD:REQUEST).
#[must_use]
pub fn request(entry: CalendarEntry<'_>) -> Calendar {
    written("REQUEST", EventStatus::Confirmed, entry)
}

/// Builds the entry of a cancelled meeting (METHOD:CANCEL).
#[must_use]
pub fn cancel(entry: CalendarEntry<'_>) -> Calendar {
    written("CANCEL", EventStatus::Cancelled, entry)
}

fn written(method: &str, status: EventStatus, entry: CalendarEntry<'_>) -> Calendar {
    let CalendarEntry { meeting, join_url, from, inviter, email, name, role, accepted, now } = entry;
    let host = url::Url::parse(join_url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    let (starts, ends) = (meeting.scheduled_at.utc(), (meeting.scheduled_at + LENGTH).utc());
    let mut organizer = Property::new("ORGANIZER", format!("mailto:{}", address(from)));
    organizer.add_parameter("CN", &plain(inviter));
    let mut attendee = Property::new("ATTENDEE", format!("mailto:{email}"));
    attendee
        .add_parameter("CN", &plain(name.unwrap_or(email)))
        .add_parameter("ROLE", if role == MeetingRole::Observer { "OPT-PARTICIPANT" } else { "REQ-PARTICIPANT" })
        .add_parameter("PARTSTAT", if accepted { "ACCEPTED" } else { "NEEDS-ACTION" })
        .add_parameter("RSVP", "TRUE");
    let event = Event::new()
        .uid(&uid(meeting.id, &host))
        .sequence(u32::try_from(meeting.version).unwrap_or(u32::MAX))
        .timestamp(now.utc())
        .starts(starts)
        .ends(ends)
        .summary(&one_line(&meeting.title))
        .url(join_url)
        .append_property(organizer.done())
        .append_multi_property(attendee.done())
        .status(status)
        .done();
    let mut calendar = icalendar::Calendar::empty();
    for (key, value) in
        [("VERSION", "2.0"), ("PRODID", "-//Colloquy//Meetings//EN"), ("CALSCALE", "GREGORIAN"), ("METHOD", method)]
    {
        calendar.append_property((key, value));
    }
    calendar.push(event);
    Calendar { method: method.to_owned(), text: calendar.to_string() }
}

fn uid(id: Id<Meeting>, host: &str) -> String {
    format!("{id}@{host}")
}

/// Returns the address in `Name <address>`.
fn address(from: &str) -> &str {
    from.rsplit_once('<').map_or(from, |(_, address)| address.trim_end_matches(['>', ' '])).trim()
}

/// Returns a name as a parameter value, which has no escape syntax: without quotes and control characters.
fn plain(name: &str) -> String {
    one_line(name).replace('"', "")
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use actors::meeting::{ConsentPolicy, MeetingDraft};

    use super::*;

    fn meeting(title: &str) -> Meeting {
        let now = Time::from_millis(1_767_225_600_000).unwrap();
        let draft = MeetingDraft {
            id: "0189a0f0-0000-7000-8000-000000000001".parse().unwrap(),
            project_id: Id::generate(),
            title: title.to_owned(),
            description: String::new(),
            scheduled_at: now.into(),
            consent_policy: ConsentPolicy::All,
            created_by: Id::generate(),
            host: Id::generate(),
            host_name: "Ada".to_owned(),
            host_email: None,
        };
        Meeting::schedule(draft, now)
    }

    fn entry<'a>(meeting: &'a Meeting, name: &'a str) -> CalendarEntry<'a> {
        CalendarEntry {
            meeting,
            join_url: "https://app.colloquy.test/meetings/1/join",
            from: "Colloquy <colloquy@colloquy.test>",
            inviter: "Ada \"the\nfirst\" Lovelace; countess",
            email: "ben@example.org",
            name: Some(name),
            role: MeetingRole::Participant,
            accepted: false,
            now: meeting.created_at,
        }
    }

    /// Returns the lines after unfolding.
    fn lines(calendar: &Calendar) -> Vec<String> {
        calendar.text.replace("\r\n ", "").split_terminator("\r\n").map(str::to_owned).collect()
    }

    #[test]
    fn an_entry_says_when_who_and_where() {
        let meeting = meeting("Discovery");
        insta::assert_snapshot!(lines(&request(entry(&meeting, "Ben"))).join("\n"), @r#"
        BEGIN:VCALENDAR
        VERSION:2.0
        PRODID:-//Colloquy//Meetings//EN
        CALSCALE:GREGORIAN
        METHOD:REQUEST
        BEGIN:VEVENT
        DTEND:20260101T010000Z
        DTSTAMP:20260101T000000Z
        DTSTART:20260101T000000Z
        ORGANIZER;CN="Ada the first Lovelace; countess":mailto:colloquy@colloquy.test
        SEQUENCE:1
        STATUS:CONFIRMED
        SUMMARY:Discovery
        UID:0189a0f0-0000-7000-8000-000000000001@app.colloquy.test
        URL:https://app.colloquy.test/meetings/1/join
        ATTENDEE;CN=Ben;PARTSTAT=NEEDS-ACTION;ROLE=REQ-PARTICIPANT;RSVP=TRUE:mailto:ben@example.org
        END:VEVENT
        END:VCALENDAR
        "#);
    }

    #[test]
    fn a_cancelled_one_says_so_under_the_same_uid() {
        let meeting = meeting("Discovery");
        let (asked, gone) = (lines(&request(entry(&meeting, "Ben"))), lines(&cancel(entry(&meeting, "Ben"))));
        let different: Vec<_> = gone.iter().filter(|line| !asked.contains(line)).map(String::as_str).collect();
        assert_eq!(different, ["METHOD:CANCEL", "STATUS:CANCELLED"]);
    }

    #[test]
    fn whatever_somebody_wrote_stays_text_on_its_own_line() {
        let title = "A; b, c\\ \u{85}end:VCALENDAR\u{2028}".repeat(8);
        let meeting = meeting(&title);
        let calendar = request(entry(&meeting, "Ben\r\nATTACH:https://evil.example\",x"));
        for line in calendar.text.split_terminator("\r\n") {
            assert!(line.len() <= 75 && !line.contains(['\r', '\n']), "{line}");
        }
        let lines = lines(&calendar);
        assert_eq!(lines.iter().filter(|line| line.starts_with("END:")).count(), 2, "{lines:#?}");
        assert!(!lines.iter().any(|line| line.starts_with("ATTACH")), "{lines:#?}");
        let summary = lines.iter().find_map(|line| line.strip_prefix("SUMMARY:")).unwrap();
        assert!(summary.starts_with("A\\; b\\, c\\\\ "), "{summary}");
    }
}
