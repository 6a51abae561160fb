//! Tests of mails: headers, quotations, parts, charsets, hostile files.

use complexity::processor_time;

use super::super::source::BlockKind;
use super::super::tests::{blocks, reason};
use super::super::{Format, SourceText, UnreadableReason, read};

const HEAD: &str = "From: Ana <ana@x.example>\r\nSubject: Export\r\nDate: Mon, 2 Mar 2026 23:30:00 -0500\r\n";

fn of(headers: &str, body: &str) -> SourceText {
    read(Format::Eml, format!("{HEAD}{headers}\r\n{body}").as_bytes()).unwrap()
}

/// Returns the blocks behind the headers.
fn body(source: &SourceText) -> Vec<(BlockKind, &str)> {
    blocks(source).split_off(3)
}

#[test]
fn the_headers_are_readable_and_the_day_is_that_of_the_sender() {
    let source = of(
        "To: Bo <bo@x.example>, =?utf-8?q?Zo=C3=AB?= <z@x.example>\r\nCc: team: a@x.example, b@x.example;\r\n",
        "Hello.",
    );
    let expected = [
        (BlockKind::Heading, "Export"),
        (BlockKind::Boilerplate, "From: Ana <ana@x.example>"),
        (BlockKind::Boilerplate, "To: Bo <bo@x.example>, Zoë <z@x.example>"),
        (BlockKind::Boilerplate, "Cc: a@x.example, b@x.example"),
        (BlockKind::Boilerplate, "Date: 2026-03-02 23:30 -05:00"),
        (BlockKind::Paragraph, "Hello."),
    ];
    assert_eq!(blocks(&source), expected);
    assert_eq!(source.date, chrono::NaiveDate::from_ymd_opt(2026, 3, 2));
    let undated = read(Format::Eml, b"From: a@b\nDate: yesterday\n\nHello.").unwrap();
    assert_eq!((undated.date, undated.text.as_str()), (None, "Mail without a subject\n\nFrom: a@b\n\nHello."));
    for year in ["65535", "10000", "0", "99999999999999999999"] {
        let mail = format!("From: a@b\nDate: Mon, 2 Mar {year} 10:00:00 +0000\n\nHello.");
        let date = read(Format::Eml, mail.as_bytes()).unwrap().date;
        assert!(date.is_none_or(|date| date.to_string().len() == 10), "{year}: {date:?}");
    }
}

#[test]
fn quotations_attributions_and_signatures_are_told_from_what_is_said() {
    let source = of(
        "",
        "We need an export.\r\n\r\nOn 1 March 2026, Bo wrote:\r\n> As CSV?\r\n> Or\r\n>\r\n>> Both, said Cy.\r\n\r\n\
            1. First\r\n2. Second\r\n\r\n-- \r\nAna\r\nHarbour\r\n",
    );
    let expected = [
        (BlockKind::Paragraph, "We need an export."),
        (BlockKind::Boilerplate, "On 1 March 2026, Bo wrote:"),
        (BlockKind::Quote, "As CSV?"),
        (BlockKind::Quote, "Or"),
        (BlockKind::Quote, "Both, said Cy."),
        (BlockKind::ListItem, "1. First"),
        (BlockKind::ListItem, "2. Second"),
        (BlockKind::Boilerplate, "Ana\nHarbour"),
    ];
    assert_eq!(body(&source), expected);
    let ruled = format!("Above.\n\n--\n{}", "A line under the rule.\n".repeat(20));
    assert!(body(&of("", &ruled)).iter().all(|(kind, _)| *kind == BlockKind::Paragraph));
}

#[test]
fn flowed_lines_are_joined() {
    let text = "The export must \r\ncome as \r\nCSV.\r\n\r\n> It must \r\n> be fast.\r\n -- no signature \r\nhere\r\n";
    let source = of("Content-Type: text/plain; format=flowed\r\n", text);
    let expected = [
        (BlockKind::Paragraph, "The export must come as CSV."),
        (BlockKind::Quote, "It must be fast."),
        (BlockKind::Paragraph, "-- no signature here"),
    ];
    assert_eq!(body(&source), expected);
    let joined = of("Content-Type: text/plain; format=flowed; delsp=yes\r\n", "予約 \r\nは\r\n");
    assert_eq!(body(&joined), [(BlockKind::Paragraph, "予約は")]);
}

#[test]
fn of_several_forms_the_plain_text_is_read_and_attachments_are_named() {
    let html = "Content-Type: text/html\r\n\r\n<p>In <b>HTML</b>.</p>\r\n";
    let alternative = |first: &str| format!("--b\r\n{first}--b\r\n{html}--b--\r\n");
    let kind = "Content-Type: multipart/alternative; boundary=b\r\n";
    assert_eq!(body(&of(kind, &alternative("\r\nPlain.\r\n"))), [(BlockKind::Paragraph, "Plain.")]);
    assert_eq!(body(&of(kind, &alternative("\r\n \r\n"))), [(BlockKind::Paragraph, "In HTML.")]);
    let mixed = format!(
        "--b\r\n{html}--b\r\nContent-Type: image/png; name=x.png\r\nContent-Disposition: attachment\r\n\r\nxx\r\n\
            --b\r\nContent-Type: image/png\r\nContent-ID: <a>\r\n\r\nyy\r\n--b\r\nContent-Type: application/pdf\r\n\
            Content-Disposition: attachment; filename*=utf-8''%C3%9Cbersicht.pdf\r\n\r\nzz\r\n--b\r\nContent-Type: \
            message/rfc822\r\n\r\nSubject: Inner\r\nDate: Sun, 1 Mar 2026 10:00:00 +0000\r\n\r\nForwarded.\r\n\
            --b--\r\nepilogue"
    );
    let source = of("Content-Type: multipart/mixed; boundary=\"b\"\r\n", &mixed);
    let expected = [
        (BlockKind::Paragraph, "In HTML."),
        (BlockKind::Boilerplate, "Attachment: x.png (image/png)"),
        (BlockKind::Boilerplate, "Attachment: Übersicht.pdf (application/pdf)"),
        (BlockKind::Heading, "Inner"),
        (BlockKind::Boilerplate, "Date: 2026-03-01 10:00 +00:00"),
        (BlockKind::Paragraph, "Forwarded."),
    ];
    assert_eq!(body(&source), expected);
    assert_eq!(source.date.unwrap().to_string(), "2026-03-02");
    assert_eq!(source.sections.iter().map(|section| section.level).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn encodings_and_charsets_are_resolved() {
    for (headers, text) in [
        ("Content-Transfer-Encoding: base64\r\nContent-Type: text/plain; charset=utf-8\r\n", "R3LDvMOfZSE=\r\n"),
        (
            "Content-Transfer-Encoding: Quoted-Printable\r\nContent-Type: text/plain; charset=iso-8859-1\r\n",
            "Gr=FC=\r\n=DFe!\r\n",
        ),
        ("Content-Type: text/plain; charset=\"unknown\"\r\n", "Grüße!\r\n"),
        ("Content-Type: text/plain; charset=utf-7\r\n", "Gr+APwA3w-e!\r\n"),
        ("Content-Transfer-Encoding: base64\r\n", "Grüße!\r\n"),
    ] {
        assert_eq!(body(&of(headers, text)), [(BlockKind::Paragraph, "Grüße!")], "{headers}");
    }
    let bare = read(Format::Eml, b"Subject: Gr\xfc\xdfe\nFrom: J\xfcrgen <j@x.example>\n\nHello.").unwrap();
    assert_eq!(bare.text, "Grüße\n\nFrom: Jürgen <j@x.example>\n\nHello.");
    let hidden = of("Content-Type: text/html\r\n", "<p>Seen.</p><p hidden>Not seen.</p>");
    assert_eq!((body(&hidden), hidden.hidden_characters), (vec![(BlockKind::Paragraph, "Seen.")], 8));
}

#[test]
fn hostile_mails_are_refused_or_bounded() {
    let refused =
        |headers: &str, body: &str| reason(read(Format::Eml, format!("{HEAD}{headers}\r\n{body}").as_bytes()));
    assert_eq!(reason(read(Format::Eml, b"")), UnreadableReason::Damaged);
    assert_eq!(reason(read(Format::Eml, b"no headers at all")), UnreadableReason::Damaged);
    let mixed = "Content-Type: multipart/mixed; boundary=b\r\n";
    assert_eq!(refused(mixed, &"--b\r\n\r\nx\r\n".repeat(2_000)), UnreadableReason::TooLarge);
    let within = "Content-Type: message/rfc822\r\n\r\nSubject: x\r\n".repeat(100_000);
    assert_eq!(reason(read(Format::Eml, within.as_bytes())), UnreadableReason::Damaged);
    let nested: String = (0..5_000)
        .map(|at| format!("--b{at}\r\nContent-Type: multipart/mixed; boundary=b{}\r\n\r\n", at + 1))
        .collect();
    assert_eq!(refused("Content-Type: multipart/mixed; boundary=b0\r\n", &nested), UnreadableReason::Damaged);
    for encrypted in [
        "Content-Type: multipart/encrypted; boundary=b\r\n",
        "Content-Type: application/pkcs7-mime; smime-type=enveloped-data\r\n",
    ] {
        assert_eq!(refused(encrypted, "--b\r\n\r\nx\r\n--b--"), UnreadableReason::Encrypted);
    }
    // Parts that nobody reads count too: of each of these only one is chosen.
    let chosen =
        format!("--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n{}", "--c\r\n\r\nx\r\n".repeat(9));
    assert_eq!(refused(mixed, &chosen.repeat(200)), UnreadableReason::TooLarge);
    assert_eq!(body(&of(mixed, &chosen.repeat(90))).len(), 90);
    // Broken off in the middle of a part, and divided by nothing.
    assert_eq!(body(&of(mixed, "--b\r\n\r\nBroken off"))[0].1, "Broken off");
    assert_eq!(body(&of(mixed, "Not divided."))[0].1, "Not divided.");
    assert_eq!(body(&of("Content-Type: multipart/mixed\r\n", "Not divided."))[0].1, "Not divided.");
}

/// The headers of a part are what a mail costs: no more of them are parsed than a mail may have, however many it has.
#[test]
fn a_mail_of_too_many_parts_is_refused_before_they_are_parsed() {
    let mail = |alternatives: usize, parts: usize| {
        let kind = "--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n";
        let parts = "--c\r\nContent-Type: text/plain\r\n\r\nx\r\n".repeat(parts);
        let parts = format!("{kind}{parts}").repeat(alternatives);
        format!("{HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n{parts}").into_bytes()
    };
    let cost = |bytes: &[u8]| {
        let before = processor_time();
        let read = read(Format::Eml, bytes);
        (processor_time() - before, read)
    };
    let (allowed, fine) = (0..3).map(|_| cost(&mail(30, 30))).min_by_key(|(time, _)| *time).unwrap();
    fine.unwrap();
    for (alternatives, parts) in [(250, 250), (500, 1_000), (998, 60), (1, 62_500)] {
        let bytes = mail(alternatives, parts);
        // As many bytes in one part, which are looked through for boundaries and not parsed.
        let attached =
            format!("{HEAD}Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\nContent-Type: a/b\r\n\r\n");
        let attached = [attached.as_bytes(), &bytes].concat();
        let best = |bytes: &[u8]| (0..3).map(|_| cost(bytes)).min_by_key(|(time, _)| *time).unwrap();
        let ((time, refused), (looking, _)) = (best(&bytes), best(&attached));
        assert_eq!(reason(refused), UnreadableReason::TooLarge);
        let most = (allowed + looking) * 3;
        assert!(
            time < most,
            "{alternatives} of {parts}: {time:?}, and {allowed:?} for as many as are allowed, {looking:?}"
        );
    }
}
