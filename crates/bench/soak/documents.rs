//! Hostile documents that cost more than in proportion to their size, or once did.

use api_client::sources::SampleFile;

/// Returns the documents, each small enough to be accepted.
pub fn hostile() -> Vec<SampleFile> {
    let file = |name: &str, content: String| SampleFile { name: name.to_owned(), content: content.into_bytes() };
    let sentences = "The system shall answer. ".repeat(2_000);
    let srt: String = (1..60_000).map(|cue| format!("{cue}\n00:00:01,000 --> 00:00:02,000\nA: x\n\n")).collect();
    let speakers: String =
        (1..20_000).map(|cue| format!("{cue}\n00:00:01,000 --> 00:00:02,000\nSpeaker {cue}: yes\n\n")).collect();
    let attributes: String = (0..100_000).map(|number| format!(" a{number}=1")).collect();
    vec![
        file("dots.txt", ".".repeat(150_000)),
        file("spaced-dots.txt", ". ".repeat(200_000)),
        file("heading.md", format!("# {}\n\n{sentences}", "word ".repeat(60_000))),
        file(
            "nested.md",
            (0..2_000).map(|at| format!("{} {}\n\ntext\n\n", "#".repeat(at % 6 + 1), "h".repeat(200))).collect(),
        ),
        file("lead.md", format!("{}:\n\n{}", "lead ".repeat(20_000), "- item\n".repeat(20_000))),
        SampleFile { name: "cycle.pdf".to_owned(), content: cyclic_pdf() },
        file("cues.srt", srt),
        file("speakers.srt", speakers),
        file("attributes.html", format!("<html><body><p{attributes}>x</p></body></html>")),
        file("angles.html", "<".repeat(200_000)),
        file("deep.html", format!("{}x", "<div>".repeat(50_000))),
        file("angles.vtt", format!("WEBVTT\n\n00:01.000 --> 00:02.000\n{}\n", "<".repeat(200_000))),
    ]
}

/// Makes a PDF whose page tree contains a cycle.
fn cyclic_pdf() -> Vec<u8> {
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1/Parent 3 0 R>>",
        "<</Type/Pages/Kids[2 0 R]/Count 1/Parent 2 0 R>>",
    ];
    let mut pdf = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(pdf.len());
        pdf.push_str(&format!("{} 0 obj{object}endobj\n", number + 1));
    }
    let table = pdf.len();
    pdf.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    for place in places {
        pdf.push_str(&format!("{place:010} 00000 n \n"));
    }
    pdf.push_str(&format!("trailer<</Size {}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF", objects.len() + 1));
    pdf.into_bytes()
}
