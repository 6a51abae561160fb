//! Reads the JSON of a request, source by source: however many there are, one of them is in memory at a time.

use std::cell::Cell;
use std::fmt;
use std::io::{self, Read};

use pipeline::{SourceKind, UnreadableSource};
use readers::{CueText, Format, SourceText, written};
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::model::{JobSource, SourceContent};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::reason::Reason;

/// The most sources of a request.
pub const MAX_SOURCES: usize = 500;
/// The longest id and name of a source, in characters.
const MAX_NAME_LENGTH: usize = 300;
/// The most bytes of a glossary: a thousand entries with the longest names and meanings have fewer.
const MAX_GLOSSARY_BYTES: usize = 16 * 1024 * 1024;
/// The most unknown keys that an answer names.
const MAX_UNKNOWN: usize = 20;

/// A source to analyse, with exactly one of `text`, `segments`, `content` and `unreadable`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(rename_all = "camelCase")]
pub struct PipelineSource {
    /// Returned in what is found in it.
    #[schema(min_length = 1, max_length = 300)]
    id: String,
    kind: KindName,
    /// The source's name in warnings and citations.
    #[schema(min_length = 1, max_length = 300)]
    name: String,
    /// Plain text.
    text: Option<String>,
    /// What was said.
    segments: Option<Vec<PipelineSegment>>,
    /// A text with its structure, as a document's reader gives it.
    content: Option<SourceText>,
    /// Why there is no text; it becomes a warning.
    unreadable: Option<UnreadableText>,
}

/// The kind of a source, in any case.
#[derive(Clone, Copy, ToSchema)]
#[schema(as = SourceKind, value_type = SourceKind)]
struct KindName(SourceKind);

impl<'de> Deserialize<'de> for KindName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map(Self).map_err(|_| de::Error::custom("kind must be DOCUMENT or RECORDING"))
    }
}

/// What somebody said.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(rename_all = "camelCase")]
pub struct PipelineSegment {
    /// Milliseconds from the beginning of the recording.
    start_ms: u64,
    /// End in milliseconds since the beginning of the recording.
    end_ms: u64,
    /// The name of the speaker; null if unknown.
    speaker: Option<String>,
    /// The words of the segment.
    text: String,
}

/// Why a source has no text.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = UnreadableSource, rename_all = "camelCase")]
pub struct UnreadableText {
    /// Names the reason, in PascalCase.
    #[schema(example = "Unreadable")]
    code: String,
    /// Why it could not be read, in a sentence for people.
    message: String,
}

/// Takes the content of each source as it is read: its place, and the bytes of its file.
pub type SourceSink<'a> = dyn FnMut(usize, &SourceContent, &[u8]) -> io::Result<()> + 'a;

/// The request without the contents of its sources.
pub struct ReadRequest {
    /// All other keys.
    pub values: Map<String, Value>,
    /// `None` if the key is absent.
    pub sources: Option<Vec<JobSource>>,
}

/// Reads a request.
///
/// # Errors
/// 400 for what is no JSON, 422 for what is not acceptable, 503 if a source can't be stored.
pub fn read(body: impl Read, keep: &mut SourceSink<'_>) -> Result<ReadRequest, ApiError> {
    let (refused, place) = (Cell::new(None), Cell::new(None));
    let mut reader = serde_json::Deserializer::from_reader(body);
    let mut visitor = RequestVisitor { keep, refused: &refused, place: &place };
    let read = reader.deserialize_map(&mut visitor).and_then(|read| reader.end().map(|()| read));
    let error = match (read, refused.take()) {
        (_, Some(refused)) => return Err(refused),
        (Ok(read), None) => return Ok(read),
        (Err(error), None) => error,
    };
    let field = place.get().map_or_else(|| "sources".to_owned(), |place| format!("sources[{place}]"));
    Err(match error.classify() {
        serde_json::error::Category::Io => ApiError::unavailable(error),
        serde_json::error::Category::Data if place.get().is_some() => {
            let is_unknown = error.to_string().starts_with("unknown field");
            let reason = if is_unknown { Reason::UnknownKey } else { Reason::InvalidValue };
            ApiError::field(&field, reason, error.to_string())
        }
        serde_json::error::Category::Data => {
            ApiError::with_message(Code::BAD_REQUEST, "The body must be a JSON object.")
        }
        _ => ApiError::with_message(Code::BAD_REQUEST, format!("The body is not JSON: {error}.")),
    })
}

struct RequestVisitor<'a, 'b> {
    keep: &'a mut SourceSink<'b>,
    /// What ends the reading although the JSON is good.
    refused: &'a Cell<Option<ApiError>>,
    /// The source that is being read.
    place: &'a Cell<Option<usize>>,
}

impl RequestVisitor<'_, '_> {
    /// Returns the glossary, whose text is measured before anything is made of it.
    fn glossary<E: de::Error>(&self, raw: &RawValue) -> Result<Value, E> {
        if raw.get().len() > MAX_GLOSSARY_BYTES {
            let message = format!("A glossary has at most {MAX_GLOSSARY_BYTES} bytes.");
            return Err(self.refuse(ApiError::field("glossary", Reason::TooLong, message)));
        }
        serde_json::from_str(raw.get()).map_err(E::custom)
    }

    fn refuse<E: de::Error>(&self, refused: ApiError) -> E {
        self.refused.set(Some(refused));
        E::custom("refused")
    }
}

impl<'de> Visitor<'de> for &mut RequestVisitor<'_, '_> {
    type Value = ReadRequest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ReadRequest, A::Error> {
        let mut request = ReadRequest { values: Map::new(), sources: None };
        while let Some(key) = map.next_key::<String>()? {
            let is_repeated = request.values.contains_key(&key) || (key == "sources" && request.sources.is_some());
            if is_repeated {
                return Err(self.refuse(ApiError::field(&key, Reason::Repeated, Reason::Repeated.sentence())));
            }
            match key.as_str() {
                "sources" => {
                    request.sources = Some(map.next_value_seed(SourcesSeed(self))?);
                    self.place.set(None);
                }
                "jobId" | "analysisType" | "language" => drop(request.values.insert(key, map.next_value()?)),
                "glossary" => {
                    let glossary = self.glossary(&map.next_value::<Box<RawValue>>()?)?;
                    request.values.insert(key, glossary);
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    if request.values.len() < MAX_UNKNOWN {
                        request.values.insert(key, Value::Null);
                    }
                }
            }
        }
        Ok(request)
    }
}

struct SourcesSeed<'a, 'b, 'c>(&'a mut RequestVisitor<'b, 'c>);

impl<'de> DeserializeSeed<'de> for SourcesSeed<'_, '_, '_> {
    type Value = Vec<JobSource>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<JobSource>, D::Error> {
        self.0.place.set(Some(0));
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for SourcesSeed<'_, '_, '_> {
    type Value = Vec<JobSource>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<JobSource>, A::Error> {
        let visitor = self.0;
        let mut sources: Vec<JobSource> = Vec::new();
        while let Some(source) = list.next_element::<PipelineSource>()? {
            let place = sources.len();
            if place >= MAX_SOURCES {
                let message = format!("At most {MAX_SOURCES} sources are allowed.");
                return Err(visitor.refuse(ApiError::field("sources", Reason::TooLong, message)));
            }
            let (source, bytes) = source.kept().map_err(|(field, reason, message)| {
                visitor.refuse(ApiError::field(&format!("sources[{place}].{field}"), reason, message))
            })?;
            (visitor.keep)(place, &source.content, &bytes)
                .map_err(|error| visitor.refuse(ApiError::unavailable(error)))?;
            sources.push(source);
            visitor.place.set(Some(place + 1));
        }
        Ok(sources)
    }
}

type SourceFault = (&'static str, Reason, String);

impl PipelineSource {
    /// Returns the source and the bytes of its file, which are none if it is unreadable.
    fn kept(self) -> Result<(JobSource, Vec<u8>), SourceFault> {
        let Self { id, kind, name, text, segments, content, unreadable } = self;
        check_name("id", &id)?;
        check_name("name", &name)?;
        let given = [text.is_some(), segments.is_some(), content.is_some(), unreadable.is_some()];
        if given.iter().filter(|given| **given).count() != 1 {
            let message = "Give exactly one of text, segments, content and unreadable.".to_owned();
            return Err(("text", Reason::InvalidValue, message));
        }
        let json = |text: &SourceText| {
            serde_json::to_vec(text).map_err(|error| ("content", Reason::InvalidValue, error.to_string()))
        };
        let (content, bytes) = match (text, segments, content, unreadable) {
            (Some(text), ..) => (SourceContent::Document { format: Format::Text.name().to_owned() }, text.into_bytes()),
            (_, Some(segments), ..) => {
                let text = written(segments.into_iter().map(PipelineSegment::cue).collect());
                let text = text.map_err(|unreadable| ("segments", Reason::TooLong, unreadable.message))?;
                (SourceContent::Text, json(&text)?)
            }
            (_, _, Some(content), _) => (SourceContent::Text, json(&content)?),
            (_, _, _, unreadable) => {
                let UnreadableText { code, message } =
                    unreadable.unwrap_or_else(|| UnreadableText { code: String::new(), message: String::new() });
                check_name("unreadable.code", &code)?;
                (SourceContent::Unreadable(UnreadableSource { code, message }), Vec::new())
            }
        };
        Ok((JobSource { id, kind: kind.0, name, content }, bytes))
    }
}

impl PipelineSegment {
    fn cue(self) -> CueText {
        CueText {
            start_ms: self.start_ms,
            end_ms: self.end_ms.max(self.start_ms),
            speaker: self.speaker,
            words: self.text.split_whitespace().collect::<Vec<_>>().join(" "),
            origin: None,
        }
    }
}

/// # Errors
/// The text is empty, too long, or holds control characters.
pub fn check_name(field: &'static str, text: &str) -> Result<(), SourceFault> {
    let length = text.chars().count();
    if text.trim().is_empty() {
        return Err((field, Reason::TooShort, Reason::TooShort.sentence().to_owned()));
    }
    if length > MAX_NAME_LENGTH {
        return Err((field, Reason::TooLong, Reason::TooLong.sentence().to_owned()));
    }
    if text.chars().any(char::is_control) {
        return Err((field, Reason::InvalidValue, "Control characters are not allowed.".to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_all(body: &str) -> Result<(ReadRequest, Vec<Vec<u8>>), ApiError> {
        let mut kept = Vec::new();
        let request = read(body.as_bytes(), &mut |_, _, bytes: &[u8]| {
            kept.push(bytes.to_vec());
            Ok(())
        })?;
        Ok((request, kept))
    }

    #[test]
    fn each_form_of_a_source_is_kept_as_its_file() {
        let text = written(vec![]).unwrap();
        let body = json!({"jobId": "x", "sources": [
            {"id": "a", "kind": "document", "name": "a.txt", "text": "It must ring."},
            {"id": "b", "kind": "RECORDING", "name": "Talk", "segments": [
                {"startMs": 0, "endMs": 9, "speaker": "Ada", "text": "It must stop."},
            ]},
            {"id": "c", "kind": "DOCUMENT", "name": "c.md", "content": text},
            {"id": "d", "kind": "DOCUMENT", "name": "d.pdf", "unreadable": {"code": "Torn", "message": "It is torn."}},
        ]});
        let (request, kept) = read_all(&body.to_string()).unwrap();
        let sources = request.sources.unwrap();
        assert_eq!(sources.len(), 4);
        assert_eq!(kept[0], b"It must ring.");
        let spoken: SourceText = serde_json::from_slice(&kept[1]).unwrap();
        assert_eq!((spoken.text.as_str(), spoken.cues[0].speaker.as_deref()), ("It must stop.", Some("Ada")));
        assert_eq!(serde_json::from_slice::<SourceText>(&kept[2]).unwrap(), text);
        assert_eq!(
            sources[3].content,
            SourceContent::Unreadable(UnreadableSource { code: "Torn".into(), message: "It is torn.".into() })
        );
        assert_eq!(request.values["jobId"], "x");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let source = |extra: &str| {
            format!(r#"{{"sources":[{{"id":"a","kind":"DOCUMENT","name":"a","text":"x"}},{{{extra}}}]}}"#)
        };
        let wrong = [
            (source(r#""id":"b","kind":"SONG","name":"b","text":"x""#), 422, "sources[1]"),
            (source(r#""id":"b","kind":"DOCUMENT","name":"b""#), 422, "sources[1].text"),
            (source(r#""id":"b","kind":"DOCUMENT","name":"b","text":"x","segments":[]"#), 422, "sources[1].text"),
            (source(r#""id":" ","kind":"DOCUMENT","name":"b","text":"x""#), 422, "sources[1].id"),
            (source(r#""id":"b","kind":"DOCUMENT","name":"b","text":"x","colour":1"#), 422, "sources[1]"),
            (source(r#""id":"b","id":"b","kind":"DOCUMENT","name":"b","text":"x""#), 422, "sources[1]"),
            (source(r#""id":"b","kind":"DOCUMENT","name":"b","content":{"text":7}"#), 422, "sources[1]"),
            (r#"{"sources":[],"sources":[]}"#.to_owned(), 422, "sources"),
            (r#"{"sources":7}"#.to_owned(), 422, "sources"),
            ("[1]".to_owned(), 400, ""),
            ("{".to_owned(), 400, ""),
            (r#"{"sources":[{"id":"#.to_owned(), 400, ""),
            (r"{} {}".to_owned(), 400, ""),
        ];
        for (body, status, field) in wrong {
            let refused = read_all(&body).err().unwrap_or_else(|| panic!("{body} is taken"));
            assert_eq!(refused.code.status, status, "{body}: {refused}");
            if status == 422 {
                let fault = serde_json::to_value(&refused.faults[0]).unwrap();
                assert!(fault["field"].as_str().unwrap().starts_with(field), "{body}: {fault}");
            }
        }
    }
}
