//! Transcript reader for WebVTT and SRT: what was said, by which speaker and when.
//!
//! Consecutive cues of one speaker are joined by a space into one paragraph, so that a sentence may span cues; another
//! speaker or a pause of five seconds starts a new one. Names are properties of the cue and not part of the text. If no
//! cue has a `<v Name>` tag, a `Name:` before the words counts as a speaker if the name occurs so in at least two cues,
//! or if at least half of the cues have such a name.

use std::collections::HashMap;
use std::sync::LazyLock;

use chrono::NaiveDate;
use regex::Regex;

use super::draft::{CUES, TextDraft, more_than};
use super::source::{BlockKind, CueOrigin, SourceText, Unreadable};

/// Milliseconds. A longer pause ends a paragraph even if the speaker stays the same.
pub const PAUSE_MS: u64 = 5_000;
/// How many lines at the beginning may hold the note with the date.
const HEAD_LINES: usize = 60;

/// What was said in one cue of a transcript.
#[derive(Debug, Clone)]
pub struct CueText {
    pub start_ms: u64,
    pub end_ms: u64,
    pub speaker: Option<String>,
    pub words: String,
    /// The source that it was taken from, in a transcript that is woven from several.
    pub origin: Option<CueOrigin>,
}

impl CueText {
    /// Whether this cue directly follows `last` in the paragraph of one speaker.
    fn continues(&self, last: &Self) -> bool {
        let is_next = match (&last.origin, &self.origin) {
            (Some(last_origin), Some(own)) => {
                let next_offset = last_origin.start_offset + last.words.chars().count() + 1;
                last_origin.source_id == own.source_id && next_offset == own.start_offset
            }
            (None, None) => true,
            _ => false,
        };
        is_next && last.speaker == self.speaker && self.start_ms.saturating_sub(last.end_ms) < PAUSE_MS
    }
}

/// Reads either format: they differ in the header, the decimal mark and the tags, and each of these is recognised where
/// it occurs.
///
/// # Errors
/// `TooLarge` past a limit of [`TextDraft`].
pub fn read(text: &str) -> Result<SourceText, Unreadable> {
    let text = text.trim_start_matches('\u{feff}');
    let mut spoken = spoken(text);
    if spoken.len() > CUES {
        return Err(more_than(CUES, "cues"));
    }
    if spoken.iter().all(|cue| cue.speaker.is_none()) {
        extract_names(&mut spoken);
    }
    let mut source = written(spoken)?;
    source.set_date(noted_date(text));
    Ok(source)
}

/// Returns the day of the meeting, where a note before the first cue has it: `NOTE Date: 2026-03-02`.
fn noted_date(text: &str) -> Option<NaiveDate> {
    let before_cues = text.lines().take(HEAD_LINES).take_while(|line| timing(line).is_none());
    let mut dates = before_cues.filter_map(|line| {
        let line = line.trim().trim_start_matches("NOTE ").trim_start();
        let value = line.strip_prefix("Date:").or_else(|| line.strip_prefix("date:"))?;
        NaiveDate::parse_from_str(value.trim().get(..10)?, "%Y-%m-%d").ok()
    });
    dates.next()
}

/// Writes the text of a transcript whose cues are known.
///
/// # Errors
/// `TooLarge` past a limit of [`TextDraft`].
pub fn written(spoken: Vec<CueText>) -> Result<SourceText, Unreadable> {
    let mut draft = TextDraft::default();
    let mut last: Option<CueText> = None;
    for cue in spoken {
        if last.as_ref().is_some_and(|last| cue.continues(last)) {
            draft.append(" ", &cue.words);
        } else {
            draft.block(BlockKind::Paragraph, &cue.words);
        }
        let end = draft.last_block().map_or(0, |block| block.end_offset);
        let start = end.saturating_sub(cue.words.chars().count());
        draft.cue(start, (cue.start_ms, cue.end_ms), cue.speaker.clone(), cue.origin.clone());
        last = Some(cue);
    }
    draft.finish()
}

fn spoken(text: &str) -> Vec<CueText> {
    let mut cues = Vec::new();
    let mut time: Option<(u64, u64)> = None;
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        // One cue above the limit is enough to be rejected.
        if cues.len() > CUES {
            break;
        }
        if let Some(found) = timing(line) {
            close(time.replace(found), &mut lines, &mut cues);
        } else if line.trim().is_empty() {
            close(time.take(), &mut lines, &mut cues);
        } else if time.is_some() {
            lines.push(line);
        }
    }
    cues
}

/// Ends a cue. Lines without a timing before them (header, NOTE, STYLE, cue numbers) are never added to `lines`.
fn close(time: Option<(u64, u64)>, lines: &mut Vec<&str>, cues: &mut Vec<CueText>) {
    let text = std::mem::take(lines).join("\n");
    let Some((start_ms, end_ms)) = time else { return };
    for (speaker, words) in by_speaker(&text) {
        if !words.is_empty() {
            cues.push(CueText { start_ms, end_ms, speaker, words, origin: None });
        }
    }
}

/// Parses `00:01:02.345 --> 00:01:05,000 align:start`, hours optional.
fn timing(line: &str) -> Option<(u64, u64)> {
    let (start, rest) = line.split_once("-->")?;
    Some((milliseconds(start.trim())?, milliseconds(rest.split_whitespace().next()?)?))
}

fn milliseconds(stamp: &str) -> Option<u64> {
    let (clock, fraction) = stamp.split_once(['.', ','])?;
    let fraction: u64 = fraction.get(..3)?.parse().ok()?;
    let mut seconds: u64 = 0;
    for part in clock.split(':') {
        seconds = seconds.checked_mul(60)?.checked_add(part.parse().ok()?)?;
    }
    seconds.checked_mul(1000)?.checked_add(fraction)
}

/// Splits the words of a cue by its `<v Name>` tags; removes other tags and resolves entities.
fn by_speaker(text: &str) -> Vec<(Option<String>, String)> {
    let mut parts = vec![(None, String::new())];
    let mut rest = text;
    while let Some((before, tagged)) = rest.split_once('<') {
        push(&mut parts, before);
        // No tag contains the start of another: searching further, again and again, would take quadratic time.
        let end = tagged.find(['<', '>']).filter(|end| tagged.as_bytes().get(*end) == Some(&b'>'));
        let tag = end.and_then(|end| tagged.get(..end));
        let name = tag.and_then(speaker_name);
        match tag {
            Some(tag) if name.is_some() || is_tag(tag) => rest = tagged.get(tag.len() + 1..).unwrap_or_default(),
            _ => {
                push(&mut parts, "<");
                rest = tagged;
            }
        }
        if let Some(name) = name {
            parts.push((Some(name), String::new()));
        }
    }
    push(&mut parts, rest);
    let cleaned = |(speaker, words): (Option<String>, String)| {
        let words = super::draft::printable(&resolved(&words));
        (speaker, words.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    parts.into_iter().map(cleaned).collect()
}

fn push(parts: &mut [(Option<String>, String)], words: &str) {
    if let Some((_, text)) = parts.last_mut() {
        text.push_str(words);
    }
}

/// Returns the name of a `v Name` or `v.loud Name` tag.
fn speaker_name(tag: &str) -> Option<String> {
    let (kind, name) = tag.split_once(char::is_whitespace)?;
    let is_voice_tag = kind == "v" || kind.starts_with("v.");
    let name = resolved(name).split_whitespace().collect::<Vec<_>>().join(" ");
    (is_voice_tag && !name.is_empty()).then_some(name)
}

/// Whether this is a tag of VTT or SRT, or a VTT time stamp within a cue; the `<` of `a < b` starts none.
fn is_tag(tag: &str) -> bool {
    let name = tag.trim_start_matches('/').split(|c: char| c.is_whitespace() || c == '.').next().unwrap_or_default();
    ["b", "i", "u", "c", "v", "ruby", "rt", "lang", "font"].contains(&name) || milliseconds(tag).is_some()
}

fn resolved(words: &str) -> String {
    if !words.contains('&') {
        return words.to_owned();
    }
    let spaces = words.replace("&nbsp;", " ").replace("&lrm;", "\u{200e}").replace("&rlm;", "\u{200f}");
    spaces.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Moves the name of `Name: words` to the speaker, for names that are used as such.
fn extract_names(cues: &mut [CueText]) {
    let mut uses: HashMap<String, usize> = HashMap::new();
    for cue in cues.iter() {
        if let Some((name, _)) = named(&cue.words) {
            *uses.entry(name.to_owned()).or_default() += 1;
        }
    }
    let most_are_named = uses.values().sum::<usize>() * 2 >= cues.len();
    // A name is often written only where the speaker changes: cues without one continue with the last speaker.
    let mut speaking: Option<String> = None;
    for cue in cues {
        let found = named(&cue.words).map(|(name, words)| (name.to_owned(), words.to_owned()));
        if let Some((name, words)) = found
            && (most_are_named || uses.get(&name).is_some_and(|count| *count >= 2))
        {
            speaking = Some(name);
            cue.words = words;
        }
        cue.speaker.clone_from(&speaking);
    }
}

/// Divides `Name: words`, unless the word before the colon is not the name of a person.
pub fn named(words: &str) -> Option<(&str, &str)> {
    static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^(?:-\s*|>>\s*)?(\p{Lu}[\p{L}\p{M}\d.'’()-]*(?: [\p{L}\p{M}\d.'’()-]+){0,4}):\s+(\S.*)$").ok()
    });
    const NOT_NAMES: [&str; 12] = [
        "note",
        "decision",
        "action",
        "action item",
        "question",
        "risk",
        "example",
        "so",
        "also",
        "and",
        "agenda",
        "summary",
    ];
    let found = NAME.as_ref()?.captures(words)?;
    let (name, words) = (found.get(1)?.as_str(), found.get(2)?.as_str());
    (!NOT_NAMES.contains(&name.to_lowercase().as_str())).then_some((name, words))
}
