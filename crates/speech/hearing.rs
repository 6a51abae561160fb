//! Transcribes a sound window by window.
//!
//! A window begins where speech begins and is at most 30 s long for the recogniser. It ends in a pause where there is
//! one, so that no word is cut; else where the recogniser's last complete segment ends.

use std::fs::File;

use whisper::{HearError, Options, Phrase, RATE, WINDOW, Whisper};

use super::activity::{Activity, FRAME, spans};
use super::sound::Sound;
use super::times::ScoredFrames;
use super::{HeardBatch, HeardSegment, SpeechRequest, Untranscribed};

/// A pause this long ends a window anywhere: what follows would be silence for the most part.
const LONG_PAUSE: usize = RATE * 3;
/// A pause between words: at least so many frames with less than this score.
const SHORTEST_PAUSE: usize = RATE / 5 / FRAME;
const PAUSE_SCORE: f32 = 0.35;
/// The least speech by which a language is detected for the whole recording.
const TO_DETECT: usize = RATE * 4;
/// A segment with less speech in it than this share was invented.
const MIN_SPEECH: f32 = 0.2;
/// How many parts of a window are heard once more, and how much around each.
const MAX_REPEATS: usize = 3;
const MARGIN: usize = RATE / 5;
/// What is heard only then has to be this likely.
const SURE_AGAIN: f32 = 0.35;
/// The language, where the speech is too short to tell it.
const FALLBACK: &str = "en";
/// How much sound without speech one batch covers at most.
const QUIET: usize = RATE * 60;

/// Transcribes a file in this process, and gives each batch to `give`, until that returns false.
///
/// # Errors
/// The file can't be read, or the model not be used.
pub fn transcribe(
    file: File,
    request: &SpeechRequest,
    mut give: impl FnMut(HeardBatch) -> bool,
) -> Result<(), Untranscribed> {
    let mut sound = Sound::open(file).map_err(Untranscribed::Unreadable)?;
    let unusable = |error: &dyn std::fmt::Display| Untranscribed::Model(error.to_string());
    let whisper = &mut Whisper::open(&request.model).map_err(|error| unusable(&error))?;
    let mut heard = SoundBuffer::at(samples_of(request.from_ms), WINDOW);
    let mut language = request.language.clone();
    if !whisper.is_multilingual() {
        language = whisper.languages().first().cloned();
    }
    while let Some(window) = heard.next(&mut sound) {
        let segments = match window.speech {
            0 => Vec::new(),
            speech => {
                let samples = heard.samples(window.from, window.to);
                if language.is_none() {
                    let (detected, _) = whisper.detect_language(samples);
                    // Of a few words alone it is not told for the rest.
                    if speech >= TO_DETECT {
                        language = Some(detected);
                    }
                }
                let options = Options {
                    language: language.as_deref().unwrap_or(FALLBACK),
                    prompt: request.hint.as_deref(),
                    is_last: window.ends_in_pause,
                };
                let (phrases, used) = heard.hear(whisper, &window, &options).map_err(|error| unusable(&error))?;
                heard.cursor = window.from + used.max(FRAME);
                let segment = |phrase: Phrase| HeardSegment {
                    start_ms: millis_of(phrase.start),
                    end_ms: millis_of(phrase.end.max(phrase.start)),
                    text: phrase.text,
                    confidence: phrase.confidence,
                };
                phrases.into_iter().map(segment).collect()
            }
        };
        let done_ms = millis_of(heard.cursor);
        if !give(HeardBatch { done_ms, language: language.clone(), segments, is_final: true }) {
            return Ok(());
        }
    }
    Ok(())
}

pub(super) const fn samples_of(ms: u64) -> usize {
    (ms as usize).saturating_mul(RATE / 1000)
}

pub(super) const fn millis_of(samples: usize) -> u64 {
    (samples / (RATE / 1000)) as u64
}

/// The part of a sound that was read and is not transcribed yet.
pub(super) struct SoundBuffer {
    activity: Activity,
    /// Where `samples` and `scores` begin; a multiple of [`FRAME`].
    base: usize,
    samples: Vec<f32>,
    scores: Vec<f32>,
    /// Everything before is done.
    pub cursor: usize,
    /// The longest window.
    longest: usize,
}

/// What is transcribed next.
pub(super) struct SpeechWindow {
    pub from: usize,
    pub to: usize,
    /// Samples of speech in it; 0 if there is none: then nothing of it is transcribed.
    pub speech: usize,
    ends_in_pause: bool,
}

impl SoundBuffer {
    pub fn at(cursor: usize, longest: usize) -> Self {
        Self { activity: Activity::new(), base: 0, samples: Vec::new(), scores: Vec::new(), cursor, longest }
    }

    /// Returns the next window; `None` at the end of the sound.
    pub fn next(&mut self, sound: &mut Sound) -> Option<SpeechWindow> {
        loop {
            let has_more = self.fill(sound);
            let window = self.next_window(has_more);
            if window.is_some() || !has_more {
                return window;
            }
        }
    }

    fn end(&self) -> usize {
        self.base + self.samples.len()
    }

    /// Reads until a window can be decided. Returns false at the end of the sound.
    fn fill(&mut self, sound: &mut Sound) -> bool {
        self.forget();
        // A window, and what decides where it ends.
        while self.end() < self.cursor + self.longest + LONG_PAUSE {
            let Some(more) = sound.next() else { return false };
            self.scores.extend(self.activity.scores(&more));
            self.samples.extend(more);
            if self.end() < self.cursor {
                self.forget();
            }
        }
        true
    }

    /// Drops what is done.
    fn forget(&mut self) {
        let done = (self.cursor.min(self.end()).saturating_sub(self.base) / FRAME).min(self.scores.len());
        self.scores.drain(..done);
        self.samples.drain(..done * FRAME);
        self.base += done * FRAME;
    }

    /// Returns the next window, and moves on over what is no speech. `None`: nothing is left.
    fn next_window(&mut self, has_more: bool) -> Option<SpeechWindow> {
        let end = self.end();
        if self.cursor >= end {
            return None;
        }
        let sample = |frame: usize| (self.base + frame * FRAME).min(end);
        let spans: Vec<(usize, usize)> =
            spans(&self.scores).into_iter().map(|(from, to)| (sample(from), sample(to))).collect();
        let mut spans = spans.into_iter().filter(|(_, to)| *to > self.cursor).peekable();
        let Some(&(begin, _)) = spans.peek() else {
            // Speech may begin in the very last frames.
            let keep = if has_more { LONG_PAUSE } else { 0 };
            return self.skip(end.saturating_sub(keep));
        };
        if begin > self.cursor + QUIET {
            return self.skip(begin);
        }
        let from = begin.max(self.cursor);
        let limit = (from + self.longest).min(end);
        let (mut to, mut ends_in_pause, mut speech, mut last) = (limit, !has_more && limit == end, 0, from);
        for (begin, until) in spans {
            if begin >= limit {
                // It ends in the pause before this.
                (to, ends_in_pause) = (last.max(from + FRAME), true);
                break;
            }
            if begin > last && begin - last >= LONG_PAUSE {
                (to, ends_in_pause) = (last, true);
                break;
            }
            speech += until.min(limit) - begin.max(from);
            last = until.min(limit);
        }
        if to == limit && last < limit {
            (to, ends_in_pause) = (last, true);
        } else if let Some(pause) = self.last_pause(from + self.longest / 3 * 2, to).filter(|_| !ends_in_pause) {
            (to, ends_in_pause) = (pause, true);
        }
        Some(SpeechWindow { from, to, speech, ends_in_pause })
    }

    /// Returns the middle of the longest pause between words in a part of the sound.
    fn last_pause(&self, from: usize, to: usize) -> Option<usize> {
        let frame = |at: usize| at.saturating_sub(self.base) / FRAME;
        let scores = self.scores.get(frame(from)..frame(to).min(self.scores.len()))?;
        let (mut longest, mut begun) = (None, 0);
        for (at, score) in scores.iter().enumerate() {
            if *score >= PAUSE_SCORE {
                begun = at + 1;
            } else if longest.is_none_or(|(_, length)| at + 1 - begun > length) {
                longest = Some((begun, at + 1 - begun));
            }
        }
        let (at, length) = longest.filter(|(_, length)| *length >= SHORTEST_PAUSE)?;
        Some(self.base + (frame(from) + at + length / 2) * FRAME)
    }

    fn skip(&mut self, to: usize) -> Option<SpeechWindow> {
        if to <= self.cursor {
            return None;
        }
        let from = std::mem::replace(&mut self.cursor, to);
        Some(SpeechWindow { from, to, speech: 0, ends_in_pause: true })
    }

    /// Transcribes a window; and once more, on their own, parts whose speech was skipped. Returns phrases, whose times are
    /// those of the whole sound, and how much of the window is done.
    fn hear(
        &self,
        whisper: &mut Whisper,
        window: &SpeechWindow,
        options: &Options<'_>,
    ) -> Result<(Vec<Phrase>, usize), HearError> {
        let (mut phrases, used) = self.hear_part(whisper, window.from, window.to, options)?;
        let alone = Options { is_last: true, ..*options };
        let missed = self.frames().missed(&phrases, window.from, window.from + used);
        for (from, to) in missed.into_iter().take(MAX_REPEATS) {
            let (begin, end) = (from.saturating_sub(MARGIN).max(window.from), (to + MARGIN).min(window.to));
            let (again, _) = self.hear_part(whisper, begin, end, &alone)?;
            let is_within = |phrase: &Phrase| phrase.start >= from && phrase.end <= to;
            let length = |phrases: &[Phrase]| phrases.iter().map(|phrase| phrase.text.len()).sum::<usize>();
            let (replaced, kept): (Vec<_>, Vec<_>) = phrases.iter().cloned().partition(is_within);
            let is_sure = again.iter().all(|phrase| phrase.confidence >= SURE_AGAIN);
            if is_sure && length(&again) > length(&replaced) {
                phrases = kept;
                phrases.extend(again);
                phrases.sort_by_key(|phrase| phrase.start);
                self.frames().move_to_pauses(&mut phrases);
            }
        }
        Ok((phrases, used))
    }

    fn hear_part(
        &self,
        whisper: &mut Whisper,
        from: usize,
        to: usize,
        options: &Options<'_>,
    ) -> Result<(Vec<Phrase>, usize), HearError> {
        let heard = whisper.transcribe(self.samples(from, to), options)?;
        let whole = |phrase: Phrase| Phrase { start: from + phrase.start, end: from + phrase.end, ..phrase };
        let mut phrases: Vec<Phrase> = heard.segments.into_iter().map(whole).collect();
        phrases.retain(|one| !one.text.is_empty() && self.share_of_speech(one.start, one.end) >= MIN_SPEECH);
        self.frames().move_to_pauses(&mut phrases);
        phrases.retain(|phrase| phrase.end > phrase.start);
        Ok((phrases, heard.used))
    }

    fn frames(&self) -> ScoredFrames<'_> {
        ScoredFrames { base: self.base, scores: &self.scores }
    }

    pub fn samples(&self, from: usize, to: usize) -> &[f32] {
        self.samples.get(from - self.base..to - self.base).unwrap_or_default()
    }

    /// Returns how much of a part is speech, from 0 to 1.
    fn share_of_speech(&self, from: usize, to: usize) -> f32 {
        let frame = |at: usize| at.saturating_sub(self.base) / FRAME;
        let scores = self.scores.get(frame(from)..(frame(to) + 1).min(self.scores.len())).unwrap_or_default();
        if scores.is_empty() {
            return 0.0;
        }
        #[expect(clippy::cast_precision_loss, reason = "a segment has a few thousand frames")]
        let share = scores.iter().filter(|score| **score >= 0.5).count() as f32 / scores.len() as f32;
        share
    }
}
