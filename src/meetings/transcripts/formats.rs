//! The formats of a transcript: JSON in the envelope, or a file that players and people read.

use actix_web::http::header::{ContentDisposition, DispositionParam, DispositionType};
use actix_web::{HttpRequest, HttpResponse};

use super::model::{Transcript, TranscriptSegment};
use crate::http::answer::{Answer, AnswerDescribed, CountedAnswer, FileSchema};
use crate::http::budget::Share;
use crate::http::enumeration::wire_enum;
use crate::http::envelope::Reply;
use crate::http::error::ApiError;

wire_enum! {
    /// The format of a transcript.
    #[derive(Default)]
    pub enum TranscriptFormat {
        #[default]
        Json,
        /// `WebVTT` subtitles, with the speakers as voices.
        Vtt,
        /// `SubRip` subtitles.
        Srt,
        /// One line for each segment: when, who, what.
        Text,
    }
}

/// A transcript in the format that was asked for.
pub struct TranscriptInFormat {
    pub transcript: Transcript,
    pub format: TranscriptFormat,
    pub share: Share,
}

impl Answer for TranscriptInFormat {
    fn describe() -> AnswerDescribed {
        AnswerDescribed {
            files: vec!["text/vtt", "application/x-subrip", "text/plain"],
            file: FileSchema::Text,
            headers: &["Content-Disposition"],
            ..Reply::<Transcript>::describe()
        }
    }

    fn respond(mut self, request: &HttpRequest, message: &'static str) -> Result<HttpResponse, ApiError> {
        let (content_type, ending, text) = match self.format {
            TranscriptFormat::Json => {
                let reply = Reply::ok(self.transcript);
                return CountedAnswer { reply, share: self.share }.respond(request, message);
            }
            TranscriptFormat::Vtt => ("text/vtt; charset=utf-8", "vtt", vtt(&self.transcript)),
            TranscriptFormat::Srt => ("application/x-subrip; charset=utf-8", "srt", srt(&self.transcript)),
            TranscriptFormat::Text => ("text/plain; charset=utf-8", "txt", text(&self.transcript)),
        };
        self.share.grow_to(text.len())?;
        let name = format!("transcript-{}-v{}.{ending}", self.transcript.recording_id, self.transcript.version);
        let parameters = vec![DispositionParam::Filename(name)];
        let attachment = ContentDisposition { disposition: DispositionType::Attachment, parameters };
        let body = self.share.with(text.into_bytes());
        Ok(HttpResponse::Ok().content_type(content_type).insert_header(attachment).body(body))
    }
}

fn vtt(transcript: &Transcript) -> String {
    let cue = |segment: &TranscriptSegment| {
        let (from, to) = (time(segment.start_ms, '.'), time(segment.end_ms, '.'));
        format!("{from} --> {to}\n<v {}>{}\n\n", escaped(&segment.speaker.name), escaped(&segment.text))
    };
    let cues: String = transcript.segments.iter().map(cue).collect();
    format!("WEBVTT\n\n{cues}")
}

fn srt(transcript: &Transcript) -> String {
    let cue = |(number, segment): (usize, &TranscriptSegment)| {
        let (from, to) = (time(segment.start_ms, ','), time(segment.end_ms, ','));
        format!("{number}\n{from} --> {to}\n{}: {}\n\n", line(&segment.speaker.name), line(&segment.text))
    };
    (1..).zip(&transcript.segments).map(cue).collect()
}

fn text(transcript: &Transcript) -> String {
    let said = |segment: &TranscriptSegment| {
        let seconds = segment.start_ms / 1000;
        let at = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        format!("[{at}] {}: {}\n", line(&segment.speaker.name), line(&segment.text))
    };
    transcript.segments.iter().map(said).collect()
}

/// `hh:mm:ss`, the mark of the fraction, and milliseconds.
fn time(ms: u64, mark: char) -> String {
    format!("{:02}:{:02}:{:02}{mark}{:03}", ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000)
}

/// On one line: an empty line would end the cue.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// On one line, without what `WebVTT` reads as a tag or an arrow.
fn escaped(text: &str) -> String {
    line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use actors::ids::Id;

    use super::super::model::Speaker;
    use super::*;

    fn transcript() -> Transcript {
        let segment = |index: u32, start_ms: u64, name: &str, text: &str| TranscriptSegment {
            recording_id: Id::generate(),
            index,
            start_ms,
            end_ms: start_ms + 1_500,
            speaker: Speaker { participant_id: None, name: name.to_owned() },
            text: text.to_owned(),
            confidence: 0.9,
            heard_text: None,
            corrected_by_id: None,
            corrected_at: None,
        };
        Transcript {
            recording_id: Id::generate(),
            version: 2,
            language: None,
            engine: "embedded".to_owned(),
            model: "whisper-base".to_owned(),
            segments: vec![
                segment(0, 0, "Ada", "A & B -->\n\n<i>now</i>"),
                segment(1, 3_661_042, "Speaker 1", "Goodbye."),
            ],
            has_sound: true,
        }
    }

    #[test]
    fn a_text_can_neither_end_its_cue_nor_be_read_as_a_tag() {
        let wanted = "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\n<v Ada>A &amp; B --&gt; &lt;i&gt;now&lt;/i&gt;\n\n\
                      01:01:01.042 --> 01:01:02.542\n<v Speaker 1>Goodbye.\n\n";
        assert_eq!(vtt(&transcript()), wanted);
    }

    #[test]
    fn subtitles_are_numbered_from_one_and_lines_say_who_speaks() {
        let wanted = "1\n00:00:00,000 --> 00:00:01,500\nAda: A & B --> <i>now</i>\n\n\
                      2\n01:01:01,042 --> 01:01:02,542\nSpeaker 1: Goodbye.\n\n";
        assert_eq!(srt(&transcript()), wanted);
        assert_eq!(text(&transcript()), "[00:00:00] Ada: A & B --> <i>now</i>\n[01:01:01] Speaker 1: Goodbye.\n");
    }
}
