//! Sounds that are made here, decoded and told apart; and, where COLLOQUY_TEST_MODELS names a folder of models, transcribed.

use std::fs::File;
use std::io::{Seek, Write};

use complexity::assert_linear;
use whisper::RATE;

use super::sound::Sound;

/// A WAV file of 16-bit samples.
fn wav(rate: u32, channels: u16, samples: &[i16]) -> File {
    let bytes = u32::try_from(samples.len() * 2).unwrap();
    let mut wav = Vec::new();
    wav.extend(b"RIFF");
    wav.extend((36 + bytes).to_le_bytes());
    wav.extend(b"WAVEfmt ");
    wav.extend(16_u32.to_le_bytes());
    wav.extend(1_u16.to_le_bytes());
    wav.extend(channels.to_le_bytes());
    wav.extend(rate.to_le_bytes());
    wav.extend((rate * u32::from(channels) * 2).to_le_bytes());
    wav.extend((channels * 2).to_le_bytes());
    wav.extend(16_u16.to_le_bytes());
    wav.extend(b"data");
    wav.extend(bytes.to_le_bytes());
    wav.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&wav).unwrap();
    file.rewind().unwrap();
    file
}

fn tone(rate: u32, seconds: f64, hertz: f64) -> Vec<i16> {
    let samples = (f64::from(rate) * seconds) as u32;
    let angle = |n: u32| std::f64::consts::TAU * hertz * f64::from(n) / f64::from(rate);
    (0..samples).map(|n| (angle(n).sin() * 8000.0) as i16).collect()
}

fn all(file: File) -> Vec<f32> {
    let mut sound = Sound::open(file).unwrap();
    std::iter::from_fn(|| sound.next()).flatten().collect()
}

#[test]
fn every_rate_becomes_the_same_tone_at_the_same_time() {
    let wanted = all(wav(16_000, 1, &tone(16_000, 2.0, 440.0)));
    assert_eq!(wanted.len(), 2 * RATE);
    for rate in [8000, 22_050, 44_100, 48_000] {
        let found = all(wav(rate, 1, &tone(rate, 2.0, 440.0)));
        assert!(found.len().abs_diff(2 * RATE) < 3, "{rate}: {}", found.len());
        let middle = RATE / 2..RATE * 3 / 2;
        let furthest = middle.map(|at| (found[at] - wanted[at]).abs()).fold(0.0, f32::max);
        assert!(furthest < 0.02, "{rate}: {furthest}");
    }
}

#[test]
fn sound_is_decoded_in_proportion_to_its_length() {
    let second = tone(44_100, 1.0, 440.0);
    for channels in [1, 2] {
        let name = format!("{channels} channels");
        assert_linear(&name, 2, |n| second.repeat(n), |samples| all(wav(44_100, channels, samples)));
    }
}

#[test]
fn samples_stay_within_their_bounds() {
    let loudest: Vec<i16> = (0..8000).map(|n: i32| if n * n % 7 < 3 { i16::MAX } else { i16::MIN }).collect();
    assert!(all(wav(8000, 1, &loudest)).iter().all(|sample| (-1.0..=1.0).contains(sample)));
}

#[test]
fn channels_are_mixed() {
    let left = tone(16_000, 1.0, 440.0);
    let both: Vec<i16> = left.iter().flat_map(|sample| [*sample, 0]).collect();
    let (mono, mixed) = (all(wav(16_000, 1, &left)), all(wav(16_000, 2, &both)));
    assert_eq!(mono.len(), mixed.len());
    assert!(mono.iter().zip(&mixed).all(|(mono, mixed)| (mono / 2.0 - mixed).abs() < 1e-4));
}

#[test]
fn what_is_no_sound_is_an_error() {
    for bytes in [&b""[..], b"RIFF", b"hello, this is no recording at all, only a sentence"] {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        assert!(Sound::open(file).is_err());
    }
}
