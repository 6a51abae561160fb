//! Verifies every quote against the text of its document, by its offsets, or the transcript of its recording, by its
//! times, as any client of the API can.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use colloquy::analysis::dashboard::model::ResultsDashboard;
use colloquy::analysis::items::model::SourceReference;
use colloquy::projects::documents::model::DocumentText;

use api_client::answer::{SegmentAnswer, TranscriptAnswer};
use api_client::caller::ApiClient;

/// The result of the verification.
pub struct Checked {
    pub quotes: usize,
    pub items: usize,
    /// A description of every quote that does not match.
    pub faults: Vec<String>,
}

/// Verifies all quotes of a dashboard; `transcript` is that of its only recording.
///
/// # Errors
/// Returns a message if the text of a document can't be loaded.
pub async fn quotes(
    caller: &ApiClient,
    project_id: &str,
    dashboard: &ResultsDashboard,
    transcript: Option<&TranscriptAnswer>,
) -> Result<Checked, String> {
    let items = items(dashboard);
    let mut texts = HashMap::new();
    let version = |source: &SourceReference| Some((source.document_id?, source.version));
    for (id, number) in items.iter().flat_map(|(_, sources)| *sources).filter_map(version) {
        if let Entry::Vacant(place) = texts.entry((id, number)) {
            let path = format!("/api/projects/{project_id}/documents/{id}/text?version={number}");
            place.insert(Readable::of(caller.get(&path).await?));
        }
    }
    let mut checked = Checked { quotes: 0, items: items.len(), faults: Vec::new() };
    for (code, sources) in items {
        if sources.is_empty() {
            checked.faults.push(format!("{code} has no source."));
        }
        for source in sources {
            checked.quotes += 1;
            let text = version(source).and_then(|version| texts.get(&version));
            let spoken = transcript.filter(|_| source.recording_id.is_some());
            let fault = match (text, spoken) {
                (Some(text), _) => text.fault_of(source),
                (None, Some(transcript)) => fault_of_spoken(transcript, source),
                (None, None) => Some("its source is unknown".to_owned()),
            };
            checked.faults.extend(fault.map(|fault| format!("{code}: {fault}: \"{}\"", source.quote)));
        }
    }
    Ok(checked)
}

/// Returns all items with their codes and sources.
fn items(dashboard: &ResultsDashboard) -> Vec<(&str, &[SourceReference])> {
    let mut items = Vec::new();
    macro_rules! take {
        ($($list:ident)*) => {$(
            items.extend(dashboard.$list.iter().map(|item| (item.code.as_str(), item.sources.as_slice())));
        )*};
    }
    take!(requirements user_stories risks open_questions action_items decisions);
    items
}

/// A text that can be sliced by character offsets.
struct Readable {
    of: DocumentText,
    /// The byte offset of each character, and of the end.
    begins: Vec<usize>,
}

impl Readable {
    fn of(of: DocumentText) -> Self {
        let begins = of.text.char_indices().map(|(at, _)| at).chain([of.text.len()]).collect();
        Self { of, begins }
    }

    /// Describes what is wrong with a source; returns `None` if its quote stands at its offsets, and on its page.
    fn fault_of(&self, source: &SourceReference) -> Option<String> {
        let (start, end) = (source.start_offset, source.end_offset);
        let place = self.begins.get(start).zip(self.begins.get(end));
        let stands = place.and_then(|(start, end)| self.of.text.get(*start..*end));
        if stands != Some(source.quote.as_str()) {
            return Some(format!("the text at {start}–{end} is different"));
        }
        let page = source.page?;
        let on_it = self.of.pages.iter().find(|found| found.page == page).is_some_and(|found| {
            (found.start_offset..found.end_offset).contains(&(start as u64)) && end as u64 <= found.end_offset
        });
        (!on_it).then(|| format!("{start}–{end} is not on page {page}"))
    }
}

/// Describes what is wrong with a source; returns `None` if its quote is what its speaker says from its start to its end.
fn fault_of_spoken(transcript: &TranscriptAnswer, source: &SourceReference) -> Option<String> {
    let (Some(start_ms), Some(end_ms)) = (source.start_ms, source.end_ms) else {
        return Some("it has no time".to_owned());
    };
    let is_within = |segment: &&SegmentAnswer| start_ms <= segment.start_ms && segment.end_ms <= end_ms;
    let within: Vec<&SegmentAnswer> = transcript.segments.iter().filter(is_within).collect();
    if within.iter().any(|segment| Some(&segment.speaker.name) != source.speaker.as_ref()) {
        return Some("somebody else speaks".to_owned());
    }
    let said = within.iter().map(|segment| segment.text.as_str()).collect::<Vec<_>>().join(" ");
    (!said.contains(&source.quote)).then(|| format!("from {start_ms} to {end_ms} ms something else is said"))
}

#[cfg(test)]
mod tests {
    use api_client::answer::SpeakerAnswer;
    use pipeline::SourceKind;

    use super::*;
    use colloquy::projects::documents::model::DocumentPage;

    fn source(quote: &str, start_offset: usize, page: Option<u32>) -> SourceReference {
        SourceReference {
            kind: SourceKind::Document,
            document_id: None,
            recording_id: None,
            version: 1,
            quote: quote.to_owned(),
            page,
            section: None,
            start_offset,
            end_offset: start_offset + quote.chars().count(),
            start_ms: None,
            end_ms: None,
            speaker: None,
        }
    }

    #[test]
    fn a_quote_stands_at_its_characters_and_on_its_page_or_is_a_fault() {
        let page = |page, start_offset, end_offset| DocumentPage { page, start_offset, end_offset };
        let text = Readable::of(DocumentText {
            text: "Äpfel müssen.\nBirnen".to_owned(),
            pages: vec![page(1, 0, 14), page(2, 14, 20)],
            reader_version: String::new(),
        });
        assert_eq!(text.fault_of(&source("müssen.", 6, Some(1))), None);
        assert_eq!(text.fault_of(&source("Birnen", 14, Some(2))), None);
        assert_eq!(text.fault_of(&source("Birnen", 14, None)), None);
        for wrong in [
            source("Birnen", 13, Some(2)),
            source("Birnen", 14, Some(1)),
            source("müssen.\nBirnen", 6, Some(1)),
            source("Birnen und", 14, None),
            source("x", usize::MAX - 1, None),
        ] {
            assert!(text.fault_of(&wrong).is_some(), "{wrong:?}");
        }
    }

    #[test]
    fn what_was_said_is_said_by_its_speaker_at_its_time_or_is_a_fault() {
        let segment = |start_ms, name: &str, text: &str| SegmentAnswer {
            start_ms,
            end_ms: start_ms + 900,
            speaker: SpeakerAnswer { name: name.to_owned() },
            text: text.to_owned(),
        };
        let segments = vec![
            segment(0, "Ada", "Good."),
            segment(1000, "Ada", "The system must"),
            segment(2000, "Ada", "hold, and more."),
            segment(3000, "Eve", "No."),
        ];
        let transcript = TranscriptAnswer { model: String::new(), segments };
        let said = |quote: &str, start_ms, end_ms, speaker: &str| {
            let times = (Some(start_ms), Some(end_ms), Some(speaker.to_owned()));
            let source =
                SourceReference { start_ms: times.0, end_ms: times.1, speaker: times.2, ..source(quote, 0, None) };
            fault_of_spoken(&transcript, &source)
        };
        assert_eq!(said("The system must hold", 1000, 2900, "Ada"), None);
        assert!(said("The system must hold", 0, 1900, "Ada").is_some());
        assert!(said("The system must hold", 1000, 2900, "Eve").is_some());
        assert!(said("No.", 1000, 3900, "Ada").is_some());
        assert!(fault_of_spoken(&transcript, &source("Good.", 0, None)).is_some());
    }
}
