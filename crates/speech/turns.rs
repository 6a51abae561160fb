//! Tells the voices in a recording apart: who speaks when, without knowing who it is.
//!
//! ```text
//! scores ─► spans of speech ─► looks of 1.6 s, one each .8 s ─► points ─► stretches of one voice ─► voices ─► turns
//! ```
//! The recording is decoded twice, so that its samples need not be held: first to find the speech, then to hear it. The
//! points are those of people's voices: they leave this process in no form.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use voices::{SAMPLES, VoiceEncoder};
use whisper::RATE;

use super::Untranscribed;
use super::activity::{Activity, FRAME, spans};
use super::hearing::millis_of;
use super::sound::Sound;
use super::voice_groups::{HeardPoint, grouped};

/// Between two looks at the speech.
const STEP: usize = SAMPLES / 2;
/// Spans of speech begin and end with so much that is none.
const QUIET: usize = RATE / 5;
/// A shorter span tells nothing of a voice.
const SHORTEST: usize = RATE / 2;
/// How many sounds pass the network at once.
const AT_ONCE: usize = 32;
/// The most looks: twelve hours of speech.
const MAX_LOOKS: usize = 12 * 3600 * RATE / STEP;

/// What is needed to tell voices apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnsRequest {
    /// The folder of the model.
    pub model: PathBuf,
}

/// A time in which one voice speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VoiceTurn {
    pub start_ms: u64,
    pub end_ms: u64,
    /// From 1, in the order in which they are heard first.
    pub voice: u32,
}

/// A part of the sound that is looked at for its voice: `from` up to `to`, for what is nearest to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    from: usize,
    to: usize,
    /// What it tells the voice of: looks overlap, these do not.
    begins: usize,
    ends: usize,
    /// Whether it goes on where the look before ends.
    continues: bool,
}

/// Finds the turns in a file in this process, in the order of their times; they do not overlap. `looked` is told how far
/// it is, in milliseconds, until it returns false.
///
/// # Errors
/// The file can't be read, or the model not be used.
pub fn turns(
    mut file: File,
    request: &TurnsRequest,
    mut looked: impl FnMut(u64) -> bool,
) -> Result<Vec<VoiceTurn>, Untranscribed> {
    let unreadable = |error: std::io::Error| Untranscribed::Unreadable(error.to_string());
    let again = file.try_clone().map_err(unreadable)?;
    let encoder = VoiceEncoder::open(&request.model).map_err(|error| Untranscribed::Model(error.to_string()))?;
    let looks = looks(&speech(&mut Sound::open(again).map_err(Untranscribed::Unreadable)?));
    file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
    let mut sound = LookedAt::new(Sound::open(file).map_err(Untranscribed::Unreadable)?);
    let mut points = Vec::with_capacity(looks.len());
    for looks in looks.chunks(AT_ONCE) {
        let sounds: Vec<Vec<f32>> = looks.iter().map(|look| sound.samples(look.from, look.to)).collect();
        let sounds: Vec<&[f32]> = sounds.iter().map(Vec::as_slice).collect();
        let heard = encoder.points(&sounds).into_iter().zip(looks);
        points.extend(heard.map(|(point, look)| HeardPoint { point, continues: look.continues }));
        if !looked(looks.last().map_or(0, |look| millis_of(look.ends))) {
            return Ok(Vec::new());
        }
    }
    Ok(turns_of(&looks, &grouped(&points)))
}

/// Returns the spans of speech of a sound, in samples.
fn speech(sound: &mut Sound) -> Vec<(usize, usize)> {
    let (mut activity, mut scores) = (Activity::new(), Vec::new());
    while let Some(more) = sound.next() {
        scores.extend(activity.scores(&more));
    }
    spans(&scores).into_iter().map(|(from, to)| (from * FRAME, to * FRAME)).collect()
}

fn looks(spans: &[(usize, usize)]) -> Vec<Look> {
    let mut looks = Vec::new();
    for &(from, to) in spans {
        let (begin, end) = (from + QUIET, to.saturating_sub(QUIET).max(from + QUIET));
        if end - begin < SHORTEST {
            continue;
        }
        let count = (end - begin).saturating_sub(SAMPLES).div_ceil(STEP) + 1;
        for at in 0..count {
            let look_from = if at + 1 == count { end.saturating_sub(SAMPLES).max(begin) } else { begin + at * STEP };
            let look_to = (look_from + SAMPLES).min(end);
            // Halfway between the middles of neighbours.
            let begins = looks.last().filter(|_| at > 0).map_or(from, |last: &Look| {
                usize::midpoint(usize::midpoint(last.from, last.to), usize::midpoint(look_from, look_to))
            });
            if let Some(last) = looks.last_mut().filter(|_| at > 0) {
                last.ends = begins;
            }
            looks.push(Look { from: look_from, to: look_to, begins, ends: to, continues: at > 0 });
        }
        if looks.len() >= MAX_LOOKS {
            break;
        }
    }
    looks
}

/// A sound whose parts are asked for in their order.
struct LookedAt {
    sound: Sound,
    base: usize,
    samples: Vec<f32>,
}

impl LookedAt {
    const fn new(sound: Sound) -> Self {
        Self { sound, base: 0, samples: Vec::new() }
    }

    fn samples(&mut self, from: usize, to: usize) -> Vec<f32> {
        let done = from.saturating_sub(self.base).min(self.samples.len());
        self.samples.drain(..done);
        self.base += done;
        while self.base + self.samples.len() < to {
            let Some(more) = self.sound.next() else { break };
            let before = from.saturating_sub(self.base + self.samples.len()).min(more.len());
            if self.samples.is_empty() {
                self.base += before;
                self.samples.extend_from_slice(more.get(before..).unwrap_or_default());
            } else {
                self.samples.extend(more);
            }
        }
        let end = to.saturating_sub(self.base).min(self.samples.len());
        self.samples.get(from.saturating_sub(self.base).min(end)..end).unwrap_or_default().to_vec()
    }
}

/// Joins what one voice says without a pause of another.
fn turns_of(looks: &[Look], groups: &[usize]) -> Vec<VoiceTurn> {
    let (mut turns, mut known): (Vec<VoiceTurn>, Vec<usize>) = (Vec::new(), Vec::new());
    for (look, group) in looks.iter().zip(groups) {
        let place = known.iter().position(|one| one == group).unwrap_or_else(|| {
            known.push(*group);
            known.len() - 1
        });
        let voice = u32::try_from(place + 1).unwrap_or(u32::MAX);
        let (start_ms, end_ms) = (millis_of(look.begins), millis_of(look.ends));
        match turns.last_mut() {
            Some(last) if last.voice == voice => last.end_ms = end_ms,
            _ => turns.push(VoiceTurn { start_ms, end_ms, voice }),
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_cover_each_span_without_a_gap_and_end_where_it_ends() {
        let second = RATE;
        let spans = [(0, second / 3), (second, 2 * second), (3 * second, 10 * second)];
        let looks = looks(&spans);
        assert!(
            looks.iter().all(|look| look.from < look.to && look.to - look.from <= SAMPLES && look.begins < look.ends)
        );
        assert!(looks.windows(2).all(|pair| pair[0].from <= pair[1].from && pair[0].ends <= pair[1].begins));
        assert!(looks.windows(2).all(|pair| !pair[1].continues || pair[0].ends == pair[1].begins));
        let (first, rest) = looks.split_first().unwrap();
        assert_eq!((first.begins, first.ends), spans[1], "the first span is too short");
        assert_eq!((rest[0].begins, rest[rest.len() - 1].ends), spans[2]);
        assert_eq!(rest[rest.len() - 1].to, 10 * second - QUIET);
    }

    #[test]
    fn voices_are_numbered_as_they_are_heard_and_their_turns_joined() {
        let look = |at: usize| Look { from: 0, to: 0, begins: at * RATE, ends: (at + 1) * RATE, continues: true };
        let looks: Vec<Look> = (0..4).map(look).collect();
        let turn = |start_ms, end_ms, voice| VoiceTurn { start_ms, end_ms, voice };
        let wanted = [turn(0, 2_000, 1), turn(2_000, 3_000, 2), turn(3_000, 4_000, 1)];
        assert_eq!(turns_of(&looks, &[7, 7, 3, 7]), wanted);
        assert_eq!(turns_of(&[], &[]), []);
    }
}
