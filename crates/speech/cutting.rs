//! Cuts the sound of a file into pieces: those with speech, for a speech service, or the one between two times.

use std::fs::File;

use serde::{Deserialize, Serialize};
use whisper::RATE;

use super::Untranscribed;
use super::hearing::{SoundBuffer, millis_of, samples_of};
use super::sound::Sound;

/// The longest piece, in milliseconds.
pub const MAX_PIECE_MS: u64 = 5 * 60 * 1000;

/// Which pieces are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum CutRequest {
    /// All speech from a time on, cut in pauses into pieces of at most this length.
    Speech { from_ms: u64, longest_ms: u64 },
    /// What is heard between two times.
    Excerpt { from_ms: u64, to_ms: u64 },
}

/// A piece of a sound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoundPiece {
    pub from_ms: u64,
    /// Where it ends; everything before was given out, or is no speech.
    pub to_ms: u64,
    /// A WAV file of 16 kHz, mono, 16 bits; empty if there is no speech.
    pub wav: Vec<u8>,
}

/// Cuts a file in this process, and gives each piece to `give`, until that returns false.
///
/// # Errors
/// The file can't be read.
pub fn cut(file: File, request: CutRequest, mut give: impl FnMut(SoundPiece) -> bool) -> Result<(), Untranscribed> {
    let mut sound = Sound::open(file).map_err(Untranscribed::Unreadable)?;
    match request {
        CutRequest::Speech { from_ms, longest_ms } => {
            let mut heard = SoundBuffer::at(samples_of(from_ms), samples_of(longest_ms.min(MAX_PIECE_MS)).max(RATE));
            while let Some(window) = heard.next(&mut sound) {
                let samples = if window.speech == 0 { &[] } else { heard.samples(window.from, window.to) };
                let wav = if samples.is_empty() { Vec::new() } else { wav(&filled(samples)) };
                if window.speech > 0 {
                    heard.cursor = window.to;
                }
                let piece = SoundPiece { from_ms: millis_of(window.from), to_ms: millis_of(heard.cursor), wav };
                if !give(piece) {
                    break;
                }
            }
        }
        CutRequest::Excerpt { from_ms, to_ms } => {
            let (from, to) = (samples_of(from_ms), samples_of(to_ms.min(from_ms.saturating_add(MAX_PIECE_MS))));
            let samples = excerpt(&mut sound, from, to);
            let wav = if samples.is_empty() { Vec::new() } else { wav(&samples) };
            give(SoundPiece { from_ms, to_ms: millis_of(from + samples.len()), wav });
        }
    }
    Ok(())
}

/// Fills a short piece with silence up to a second: services refuse shorter ones.
fn filled(samples: &[f32]) -> Vec<f32> {
    let mut filled = samples.to_vec();
    filled.resize(samples.len().max(RATE), 0.0);
    filled
}

fn excerpt(sound: &mut Sound, from: usize, to: usize) -> Vec<f32> {
    let mut at = sound.skip_to(from);
    let mut samples = Vec::new();
    while at < to {
        let Some(more) = sound.next() else { break };
        let (begin, end) = (from.saturating_sub(at).min(more.len()), (to - at).min(more.len()));
        samples.extend_from_slice(more.get(begin..end).unwrap_or_default());
        at += more.len();
    }
    samples
}

/// A WAV file of these samples.
fn wav(samples: &[f32]) -> Vec<u8> {
    let bytes = u32::try_from(samples.len() * 2).unwrap_or(u32::MAX);
    #[expect(clippy::cast_possible_truncation, reason = "the rate is 16,000")]
    let rate = RATE as u32;
    let mut wav = Vec::with_capacity(44 + samples.len() * 2);
    wav.extend(b"RIFF");
    wav.extend(bytes.saturating_add(36).to_le_bytes());
    // 16 bytes of format: PCM, one channel.
    wav.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    wav.extend(rate.to_le_bytes());
    wav.extend((rate * 2).to_le_bytes());
    // 2 bytes a sample, 16 bits.
    wav.extend(b"\x02\0\x10\0data");
    wav.extend(bytes.to_le_bytes());
    #[expect(clippy::cast_possible_truncation, reason = "a sample is between -1 and 1")]
    wav.extend(samples.iter().flat_map(|sample| ((sample * 32767.0).round() as i16).to_le_bytes()));
    wav
}
