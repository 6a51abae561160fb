//! Tests of complete messages, parsed by an independent MIME parser, with hostile input in every field.

use actors::time::Time;
use lettre::message::Mailbox;
use mail_parser::{Message, MessageParser, MimeHeaders};

use super::message::message;
use super::{
    Calendar, DevOutbox, EmailBlock, EmailInTransit, EmailKind, Locale, Mail, OutgoingEmail, SendError, isolated,
};

const CALENDAR: &str = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n";

fn email(blocks: Vec<EmailBlock>) -> OutgoingEmail {
    OutgoingEmail {
        kind: EmailKind::Unknown,
        to: "ada@example.org".to_owned(),
        locale: Locale::English,
        subject: "A subject".to_owned(),
        blocks,
        calendar: None,
    }
}

fn sending(email: &OutgoingEmail) -> EmailInTransit<'_> {
    let written_at = Time::from_millis(1_764_000_000_000).unwrap();
    EmailInTransit { email, id: "0199-job", written_at, request: "a-call\r\nBcc: eve@evil.example" }
}

fn formatted(email: &OutgoingEmail) -> Result<Vec<u8>, String> {
    let from: Mailbox = "Colloquy <post@colloquy.example>".parse().unwrap();
    message(&sending(email), &from).map(|message| message.formatted())
}

fn parsed(bytes: &[u8]) -> Message<'_> {
    MessageParser::default().parse(bytes).unwrap()
}

#[test]
fn a_letter_is_a_text_and_a_page_with_what_mail_programs_want_to_know() {
    let bytes =
        formatted(&email(vec![EmailBlock::Text("Hello.".to_owned()), EmailBlock::Code("482913".to_owned())])).unwrap();
    let raw = String::from_utf8(bytes.clone()).unwrap();
    assert!(raw.is_ascii() && raw.lines().all(|line| line.len() <= 78), "{raw}");
    assert!(raw.lines().any(|line| line == "482913"), "a code stands alone on a line of the raw mail");
    let mail = parsed(&bytes);
    assert_eq!(mail.message_id(), Some("0199-job@colloquy.example"));
    assert_eq!(mail.date().unwrap().to_timestamp(), 1_764_000_000);
    assert_eq!(mail.header_raw("Auto-Submitted").unwrap().trim(), "auto-generated");
    assert_eq!(mail.header_raw("X-Request-Id").unwrap().trim(), "a-callBcc:eve@evil.example");
    assert!(mail.bcc().is_none());
    assert_eq!(mail.content_type().unwrap().subtype(), Some("alternative"));
    assert_eq!(mail.body_text(0).unwrap().replace("\r\n", "\n"), "Hello.\n\n482913\n");
    assert!(mail.body_html(0).unwrap().contains(">482913<"));
    assert_eq!(mail.attachment_count(), 0);
    assert_eq!(
        bytes,
        formatted(&email(vec![EmailBlock::Text("Hello.".to_owned()), EmailBlock::Code("482913".to_owned())])).unwrap()
    );
}

#[test]
fn a_calendar_is_there_for_programs_and_for_people() {
    let calendar = Calendar { method: "REQUEST".to_owned(), text: CALENDAR.to_owned() };
    let bytes = formatted(&OutgoingEmail { calendar: Some(calendar), ..email(Vec::new()) }).unwrap();
    let mail = parsed(&bytes);
    assert_eq!(mail.content_type().unwrap().subtype(), Some("mixed"));
    let kinds: Vec<String> = mail
        .parts
        .iter()
        .map(|part| part.content_type().unwrap())
        .map(|kind| format!("{}/{}", kind.ctype(), kind.subtype().unwrap()))
        .collect();
    assert_eq!(
        kinds,
        ["multipart/mixed", "multipart/alternative", "text/plain", "text/html", "text/calendar", "application/ics"]
    );
    let read = mail.parts[4].content_type().unwrap();
    assert_eq!((read.attribute("method"), read.attribute("charset")), (Some("REQUEST"), Some("utf-8")));
    assert_eq!(mail.parts[5].attachment_name(), Some("invite.ics"));
    for part in &mail.parts[4..] {
        assert_eq!(part.contents(), CALENDAR.as_bytes());
    }
    for method in ["", "REQUEST\r\nBcc: eve@evil.example", "request; x=y"] {
        let calendar = Calendar { method: method.to_owned(), text: CALENDAR.to_owned() };
        formatted(&OutgoingEmail { calendar: Some(calendar), ..email(Vec::new()) }).unwrap_err();
    }
}

#[test]
fn no_subject_and_no_address_adds_a_header() {
    for line_end in ["\r\n", "\n", "\r", "\u{2028}", "\u{85}", "\0"] {
        let subject = format!("Hello{line_end}Bcc: eve@evil.example{line_end}{line_end}A body مرحبا");
        let bytes = formatted(&OutgoingEmail { subject, ..email(Vec::new()) }).unwrap();
        let mail = parsed(&bytes);
        assert_eq!(mail.subject(), Some("Hello Bcc: eve@evil[.]example A body مرحبا"));
        assert!(mail.bcc().is_none() && mail.body_text(0).unwrap().trim().is_empty());
        let to = format!("ada@example.org{line_end}Bcc: eve@evil.example");
        formatted(&OutgoingEmail { to, ..email(Vec::new()) }).unwrap_err();
    }
    for to in ["ada@example.org, eve@evil.example", "Ada <ada@example.org>", "ada", ""] {
        formatted(&OutgoingEmail { to: to.to_owned(), ..email(Vec::new()) }).unwrap_err();
    }
}

#[test]
fn what_others_wrote_is_neither_markup_nor_a_link_nor_turned_around() {
    let hostile = [
        "<img src=x onerror=alert(1)>",
        "</bdi></blockquote><a href=\"https://evil.example\">",
        "https://evil.example/a",
        "www.evil.example",
        "\u{202e}elpmaxe.live",
        "\u{2069}\u{2069}out",
        "mailto:eve@evil.example",
        "{{ 7 * 7 }}",
        "482913",
    ];
    for text in hostile {
        let blocks = vec![
            EmailBlock::Quote(text.to_owned()),
            EmailBlock::Text(format!("{} invites you.", isolated(text))),
            EmailBlock::Text(text.to_owned()),
            EmailBlock::Link { label: text.to_owned(), url: "https://colloquy.example/join?token=a&b=%22".to_owned() },
        ];
        let email = OutgoingEmail { subject: format!("{text} invites you"), ..email(blocks) };
        let bytes = formatted(&email).unwrap();
        let mail = parsed(&bytes);
        let (text_part, page) = (mail.body_text(0).unwrap(), mail.body_html(0).unwrap());
        for wrong in ["<img", "<a href=\"https://evil", "</bdi></blockquote><"] {
            assert!(!page.contains(wrong), "{page}");
        }
        assert_eq!(page.matches("<a ").count(), 1, "{page}");
        let own = "https://colloquy.example/join?token=a&b=%22";
        for part in [text_part.replace(own, ""), page.replace(&own.replace('&', "&#38;"), "")] {
            assert!(!part.contains("://") && !part.contains("evil.example"), "{part}");
            assert!(!part.chars().any(|c| matches!(c, '\u{202a}'..='\u{202e}')), "{part}");
            let signs = |sign| part.matches(sign).count();
            assert_eq!(signs('\u{2068}'), signs('\u{2069}'), "{part}");
        }
        assert!(text_part.starts_with("> \u{2068}"), "{text_part}");
        assert!(!mail.subject().unwrap().contains('\u{202e}') && !mail.subject().unwrap().contains("://"));
    }
}

#[test]
fn a_link_leads_to_the_web_and_nowhere_else() {
    for url in
        ["javascript:alert(1)", "data:text/html,x", "/join", "https://a.example/\r\nx", "https://a.example/\"x y"]
    {
        let refused =
            formatted(&email(vec![EmailBlock::Link { label: "x".to_owned(), url: url.to_owned() }])).unwrap_err();
        assert!(refused.ends_with("is not an http or https URL") && refused.len() < 60, "{refused}");
    }
}

#[test]
fn a_letter_in_arabic_goes_from_right_to_left() {
    let arabic = OutgoingEmail { locale: Locale::Arabic, ..email(vec![EmailBlock::Text("مرحبا.".to_owned())]) };
    let bytes = formatted(&arabic).unwrap();
    let page = parsed(&bytes).body_html(0).unwrap().into_owned();
    assert!(page.contains(r#"<html lang="ar" dir="rtl">"#) && page.contains("text-align:right"), "{page}");
    assert!(page.contains("مرحبا."));
}

#[tokio::test]
async fn a_letter_that_is_put_into_the_outbox_again_is_there_once() {
    let folder = tempfile::tempdir().unwrap();
    let outbox = DevOutbox::at(folder.path().join("outbox"), "Colloquy <post@colloquy.example>").unwrap();
    let first = email(vec![EmailBlock::Code("482913".to_owned())]);
    let second = email(vec![EmailBlock::Code("482914".to_owned())]);
    for email in [&first, &second, &first, &second] {
        outbox.send(&sending(email)).await.unwrap();
    }
    assert_eq!(std::fs::read_dir(folder.path().join("outbox")).unwrap().count(), 2);
    let nowhere = OutgoingEmail { to: "ada".to_owned(), ..first };
    assert!(matches!(outbox.send(&sending(&nowhere)).await, Err(SendError::Refused(_))));
}
