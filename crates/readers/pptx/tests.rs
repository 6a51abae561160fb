//! Tests of presentations: slides in order, what is beside them or hidden, hostile files.

use super::super::source::BlockKind;
use super::super::tests::{blocks, reason, zipped};
use super::super::{Format, SourceText, UnreadableReason, read};

fn shape(text: &str, inner: &str) -> String {
    format!("<p:sp><p:nvSpPr><p:cNvPr id=\"1\"/>{inner}</p:nvSpPr><p:txBody>{}</p:txBody></p:sp>", paragraph(text))
}

fn paragraph(text: &str) -> String {
    format!("<a:p><a:r><a:t>{text}</a:t></a:r></a:p>")
}

fn titled(title: &str, shapes: &str) -> String {
    slide(&format!("{}{shapes}", shape(title, "<p:ph type=\"title\"/>")))
}

fn slide(shapes: &str) -> String {
    format!("<p:sld><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>")
}

/// Builds a presentation of these slides, listed in the reverse order of their names.
fn deck(slides: &[&str], more: &[(&str, &str)]) -> Vec<u8> {
    let entries = |of: &dyn Fn(usize) -> String| (0..slides.len()).rev().map(of).collect::<String>();
    let list = entries(&|at| format!("<p:sldId id=\"{}\" r:id=\"r{at}\"/>", 256 + at));
    let relations =
        entries(&|at| format!("<Relationship Id=\"r{at}\" Type=\"x/slide\" Target=\"slides/slide{at}.xml\"/>"));
    let presentation =
        format!("<p:presentation><p:sldIdLst>{list}</p:sldIdLst><p:sldSz cx=\"1000\" cy=\"500\"/></p:presentation>");
    let relations = format!("<Relationships>{relations}</Relationships>");
    let names: Vec<String> = (0..slides.len()).map(|at| format!("ppt/slides/slide{at}.xml")).collect();
    let mut parts = vec![
        ("[Content_Types].xml", "<Types/>"),
        ("ppt/presentation.xml", presentation.as_str()),
        ("ppt/_rels/presentation.xml.rels", relations.as_str()),
    ];
    parts.extend(names.iter().map(String::as_str).zip(slides.iter().copied()));
    parts.extend_from_slice(more);
    zipped(&parts)
}

fn of(bytes: &[u8]) -> SourceText {
    read(Format::Pptx, bytes).unwrap()
}

#[test]
fn slides_are_pages_in_the_order_in_which_they_are_shown() {
    let second = titled("Last", &shape("Body.", "<p:ph idx=\"1\"/>"));
    let notes = format!(
        "<p:notes>{}{}</p:notes>",
        shape("7", "<p:ph type=\"sldNum\"/>"),
        shape("Say it slowly.", "<p:ph type=\"body\"/>")
    );
    let relations =
        r#"<Relationships><Relationship Id="n" Type="x/notesSlide" Target="../notesSlides/n.xml"/></Relationships>"#;
    let more = [("ppt/slides/_rels/slide0.xml.rels", relations), ("ppt/notesSlides/n.xml", notes.as_str())];
    let source = of(&deck(&[&second, &slide(&shape("No title.", "")), &slide("")], &more));
    let expected = [
        (BlockKind::Heading, "Slide 2"),
        (BlockKind::Paragraph, "No title."),
        (BlockKind::Heading, "Last"),
        (BlockKind::ListItem, "Body."),
        (BlockKind::Heading, "Notes"),
        (BlockKind::Paragraph, "Say it slowly."),
    ];
    assert_eq!(blocks(&source), expected);
    let pages: Vec<(u32, usize, usize)> =
        source.pages.iter().map(|page| (page.page, page.start_offset, page.end_offset)).collect();
    assert_eq!(pages, [(1, 0, 0), (2, 0, 20), (3, 20, source.text.chars().count())]);
    assert_eq!(source.sections.iter().map(|section| section.level).collect::<Vec<_>>(), [1, 1, 2]);
}

#[test]
fn tables_bullets_breaks_and_fields_are_read() {
    let cell =
        |text: &str, attributes: &str| format!("<a:tc{attributes}><a:txBody>{}</a:txBody></a:tc>", paragraph(text));
    let table = format!(
        "<p:graphicFrame><a:graphic><a:tbl><a:tr>{}{}</a:tr><a:tr>{}{}</a:tr></a:tbl></a:graphic></p:graphicFrame>",
        cell("Id", ""),
        cell("Wish", ""),
        cell("1", " gridSpan=\"2\""),
        cell("covered", " hMerge=\"1\""),
    );
    let text = "<p:sp><p:txBody><a:p><a:pPr><a:buChar char=\"•\"/></a:pPr><a:r><a:t>An \
        item</a:t></a:r></a:p><a:p><a:r><a:t>One</a:t></a:r><a:br/><a:r><a:t>two &amp; &#51;</a:t></a:r><a:fld \
        type=\"slidenum\"><a:t>9</a:t></a:fld></a:p></p:txBody></p:sp>";
    let footer = shape("Harbour", "<p:ph type=\"ftr\"/>");
    let source = of(&deck(&[&titled("B", &footer), &titled("A", &format!("{table}{text}{footer}"))], &[]));
    let expected = [
        (BlockKind::Heading, "A"),
        (BlockKind::TableRow, "Id | Wish"),
        (BlockKind::Paragraph, "1"),
        (BlockKind::ListItem, "An item"),
        (BlockKind::Paragraph, "One\ntwo & 3"),
        (BlockKind::Boilerplate, "Harbour"),
        (BlockKind::Heading, "B"),
    ];
    assert_eq!(blocks(&source), expected);
}

#[test]
fn what_is_not_shown_is_left_out_and_counted() {
    let at = |x: i32, text: &str| {
        format!(
            "<p:sp><p:spPr><a:xfrm><a:off x=\"{x}\" y=\"0\"/><a:ext cx=\"50\" cy=\"50\"/></a:xfrm></p:spPr><p:txBody>{}</p:txBody></p:sp>",
            paragraph(text)
        )
    };
    let hidden = format!(
        "<p:sp><p:nvSpPr><p:cNvPr id=\"1\" hidden=\"1\"/></p:nvSpPr><p:txBody>{}</p:txBody></p:sp>",
        paragraph("hidden")
    );
    // In the group, 0 is the middle of the slide and 10 its width.
    let group = format!(
        "<p:grpSp><p:grpSpPr><a:xfrm><a:off x=\"500\" y=\"0\"/><a:ext cx=\"1000\" cy=\"100\"/><a:chOff x=\"0\" \
            y=\"0\"/><a:chExt cx=\"10\" cy=\"100\"/></a:xfrm></p:grpSpPr>{}{}</p:grpSp>",
        at(1, "grouped"),
        at(6, "pushed")
    );
    let run = |look: &str, text: &str| format!("<a:r><a:rPr>{look}</a:rPr><a:t>{text}</a:t></a:r>");
    let runs = format!(
        "<p:sp><p:txBody><a:p>{}{}{}</a:p></p:txBody></p:sp>",
        run("<a:noFill/>", "clear"),
        run("<a:solidFill><a:srgbClr val=\"000000\"><a:alpha val=\"0\"/></a:srgbClr></a:solidFill>", "thin"),
        run("<a:ln><a:noFill/></a:ln>", "solid"),
    );
    let first =
        titled("A", &format!("{}{}{}{hidden}{group}{runs}", at(900, "inside"), at(1_001, "right"), at(-51, "left")));
    let second = slide(&shape("slide", "")).replace("<p:sld>", "<p:sld show=\"0\">");
    let source = of(&deck(&[&second, &first], &[]));
    assert_eq!(source.text, "A\n\ninside\n\ngrouped\n\nsolid");
    assert_eq!(source.hidden_characters, "rightlefthiddenpushedclearthinslide".len());
    assert_eq!(source.pages.len(), 1);
}

/// A shape at this x with what it is filled with and a run of this look.
fn at(x: i32, fill: &str, look: &str, text: &str) -> String {
    format!(
        "<p:sp><p:spPr><a:xfrm><a:off x=\"{x}\" y=\"0\"/><a:ext cx=\"50\" \
            cy=\"50\"/></a:xfrm>{fill}</p:spPr><p:txBody><a:p><a:r><a:rPr>{look}</a:rPr><a:t>{text}</a:t></a:r></a:p>\
            </p:txBody></p:sp>"
    )
}

const WHITE: &str = "<a:solidFill><a:srgbClr val=\"FFFFFF\"/></a:solidFill>";
const DARK: &str = "<a:solidFill><a:schemeClr val=\"accent1\"/></a:solidFill>";

/// Returns the text of white letters that is shown on a slide, its layout and its master.
fn shown(slide: &str, layout: &str, master: &str) -> String {
    let relation = |kind: &str| {
        format!("<Relationships><Relationship Id=\"a\" Type=\"x/{kind}\" Target=\"../{kind}.xml\"/></Relationships>")
    };
    let (of_slide, of_layout) = (relation("slideLayout"), relation("slideMaster"));
    let more = [
        ("ppt/slides/_rels/slide0.xml.rels", of_slide.as_str()),
        ("ppt/slideLayout.xml", layout),
        ("ppt/_rels/slideLayout.xml.rels", &of_layout.replace("../", "")),
        ("ppt/slideMaster.xml", master),
    ];
    of(&deck(&[slide], &more)).text
}

#[test]
fn white_letters_are_hidden_where_nothing_is_painted() {
    let white = at(100, "", WHITE, "white");
    let plain = "<p:sldLayout/>";
    let on = |shapes: &str| shown(&slide(&format!("{shapes}{white}")), plain, "<p:sldMaster/>");
    let picture = |x: i32| {
        format!(
            "<p:pic><p:spPr><a:xfrm><a:off x=\"{x}\" y=\"0\"/><a:ext cx=\"50\" cy=\"50\"/></a:xfrm></p:spPr></p:pic>"
        )
    };
    assert_eq!(on(""), "");
    assert_eq!(on(&picture(300)), "");
    assert_eq!(on(&picture(120)), "Slide 1\n\nwhite");
    assert_eq!(on(&at(120, DARK, "", "")), "Slide 1\n\nwhite");
    assert_eq!(on(&at(120, WHITE, "", "")), "");
    assert_eq!(on(&at(120, "<a:noFill/>", "", "")), "");
    // A turned bar may reach further than its place says; a shape without a place of its own may be anywhere.
    assert_eq!(on(&at(300, DARK, "", "").replace("<a:xfrm>", "<a:xfrm rot=\"5400000\">")), "Slide 1\n\nwhite");
    assert_eq!(on("<p:sp><p:style><a:fillRef idx=\"1\"/></p:style></p:sp>"), "Slide 1\n\nwhite");
    // What is in front of the letters counts too, and so do the shapes of the layout and the master.
    let bare = slide(&white);
    assert_eq!(shown(&slide(&format!("{white}{}", picture(100))), plain, plain), "Slide 1\n\nwhite");
    assert_eq!(shown(&bare, &format!("<p:sldLayout>{}</p:sldLayout>", picture(90)), plain), "Slide 1\n\nwhite");
    assert_eq!(shown(&bare, plain, &format!("<p:sldMaster>{}</p:sldMaster>", picture(90))), "Slide 1\n\nwhite");
    assert_eq!(shown(&bare, plain, &format!("<p:sldMaster>{}</p:sldMaster>", picture(400))), "");
}

#[test]
fn white_letters_are_shown_on_other_backgrounds_and_where_they_have_an_outline() {
    let white = slide(&at(100, "", WHITE, "white"));
    let background = |inner: &str| format!("<p:sldMaster><p:bg>{inner}</p:bg></p:sldMaster>");
    let on = |master: &str| shown(&white, "<p:sldLayout/>", master);
    let reference = |at: &str, colour: &str| {
        background(&format!("<p:bgRef idx=\"{at}\"><a:schemeClr val=\"{colour}\"/></p:bgRef>"))
    };
    assert_eq!(on(&reference("1001", "bg1")), "");
    assert_eq!(on(&reference("1001", "tx1")), "Slide 1\n\nwhite");
    assert_eq!(on(&reference("1003", "bg1")), "Slide 1\n\nwhite");
    assert_eq!(on(&background(&format!("<p:bgPr>{WHITE}</p:bgPr>"))), "");
    assert_eq!(on(&background("<p:bgPr><a:blipFill/></p:bgPr>")), "Slide 1\n\nwhite");
    assert_eq!(on("<p:sldMaster><p:clrMap bg1=\"dk1\"/></p:sldMaster>"), "Slide 1\n\nwhite");
    let own = white.replace("<p:spTree>", "<p:bg><p:bgPr><a:gradFill/></p:bgPr></p:bg><p:spTree>");
    assert_eq!(shown(&own, "<p:sldLayout/>", &reference("1001", "bg1")), "Slide 1\n\nwhite");
    for (look, is_shown) in [
        ("<a:solidFill><a:schemeClr val=\"bg1\"/></a:solidFill>", false),
        ("<a:solidFill><a:sysClr val=\"window\" lastClr=\"FFFFFF\"/></a:solidFill><a:effectLst/>", false),
        ("<a:solidFill><a:schemeClr val=\"bg1\"><a:lumMod val=\"50000\"/></a:schemeClr></a:solidFill>", true),
        ("<a:solidFill><a:srgbClr val=\"FFFF00\"/></a:solidFill>", true),
        ("<a:highlight><a:srgbClr val=\"FFFFFF\"/></a:highlight>", true),
        (&format!("{WHITE}<a:highlight><a:srgbClr val=\"000000\"/></a:highlight>"), true),
        (&format!("<a:ln><a:noFill/></a:ln>{WHITE}"), false),
        (&format!("<a:ln>{DARK}</a:ln>{WHITE}"), true),
        (&format!("<a:ln>{DARK}</a:ln><a:noFill/>"), true),
        (&format!("{WHITE}<a:effectLst><a:outerShdw/></a:effectLst>"), true),
    ] {
        let text = shown(&slide(&at(100, "", look, "white")), "<p:sldLayout/>", "<p:sldMaster/>");
        assert_eq!(!text.is_empty(), is_shown, "{look}");
    }
    // The head of a table, and notes.
    let table = format!(
        "<p:graphicFrame><a:tbl><a:tr><a:tc><a:p><a:r><a:rPr>{WHITE}</a:rPr><a:t>white</a:t></a:r></a:p></a:tc></a:tr></a:tbl></p:graphicFrame>"
    );
    assert_eq!(shown(&slide(&table), "<p:sldLayout/>", "<p:sldMaster/>"), "Slide 1\n\nwhite");
}

#[test]
fn hostile_presentations_are_refused_or_bounded() {
    let refused = |bytes: &[u8]| reason(read(Format::Pptx, bytes));
    assert_eq!(refused(&deck(&[&slide(&shape("&x;", ""))], &[])), UnreadableReason::Damaged);
    assert_eq!(refused(&deck(&[&"<p:grpSp>".repeat(100_000)], &[])), UnreadableReason::Damaged);
    assert_eq!(refused(&deck(&[&slide(&"<p:sp/>".repeat(1_000_000))], &[])), UnreadableReason::TooLarge);
    let whole = deck(&[&slide("")], &[]);
    assert_eq!(refused(&whole[..whole.len() / 2]), UnreadableReason::Damaged);
    assert_eq!(refused(&zipped(&[("ppt/presentation.xml", "<workbook/>")])), UnreadableReason::Damaged);
    // A slide that is listed often is shown once; notes that refer to the slide are no notes.
    let relations = r#"<Relationships><Relationship Id="n" Type="x/notesSlide" Target="../slides/slide0.xml"/><Relationship Id="d" Type="x/diagramData" Target="slide0.xml"/></Relationships>"#;
    let list = "<p:sldId r:id=\"r0\"/>".repeat(50_000);
    let frame = "<p:graphicFrame><dgm:relIds r:dm=\"d\"/></p:graphicFrame>";
    let presentation = format!("<p:presentation><p:sldIdLst>{list}</p:sldIdLst></p:presentation>");
    let itself = titled("Once", frame);
    let parts = [
        ("ppt/presentation.xml", presentation.as_str()),
        (
            "ppt/_rels/presentation.xml.rels",
            "<Relationships><Relationship Id=\"r0\" Type=\"x/slide\" Target=\"slides/slide0.xml\"/></Relationships>",
        ),
        ("ppt/slides/slide0.xml", &itself),
        ("ppt/slides/_rels/slide0.xml.rels", relations),
    ];
    assert_eq!(of(&zipped(&parts)).text, "Once");
    // A diagram that a slide names ten thousand times unpacks to more than is read.
    let data = format!("<dgm:pt><dgm:t>{}</dgm:t></dgm:pt>", paragraph(&"word ".repeat(5_000)));
    let often = slide(&frame.repeat(10_000));
    let parts = [
        parts[0],
        parts[1],
        ("ppt/slides/slide0.xml", often.as_str()),
        (
            "ppt/slides/_rels/slide0.xml.rels",
            "<Relationships><Relationship Id=\"d\" Type=\"x/diagramData\" Target=\"data.xml\"/></Relationships>",
        ),
        ("ppt/slides/data.xml", &data),
    ];
    assert_eq!(refused(&zipped(&parts)), UnreadableReason::TooLarge);
}
