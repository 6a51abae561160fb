//! Durations of files whose bytes are written here.

use std::fs::File;
use std::io::{Seek, Write};

use complexity::assert_linear;

use super::duration::duration_ms;

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

/// A WAV file of 16-bit mono samples at 8 kHz.
fn wav(samples: u32) -> Vec<u8> {
    let bytes = samples * 2;
    let mut wav = Vec::new();
    wav.extend(b"RIFF");
    wav.extend((36 + bytes).to_le_bytes());
    wav.extend(b"WAVEfmt ");
    wav.extend(16_u32.to_le_bytes());
    wav.extend([1, 0, 1, 0]);
    wav.extend(8000_u32.to_le_bytes());
    wav.extend(16_000_u32.to_le_bytes());
    wav.extend([2, 0, 16, 0]);
    wav.extend(b"data");
    wav.extend(bytes.to_le_bytes());
    wav.resize(wav.len() + bytes as usize, 0);
    wav
}

#[test]
fn a_header_that_names_the_duration_is_believed() {
    assert_eq!(duration_ms(file(&wav(12_000))), Ok(Some(1500)));
}

#[test]
fn what_is_no_media_is_an_error_and_ends() {
    for bytes in [&b""[..], b"RIFF", b"hello, this is no recording at all, only a sentence", &[0; 100_000]] {
        assert!(duration_ms(file(bytes)).is_err(), "{} bytes", bytes.len());
    }
}

/// Frames of MPEG audio without a header that counts them: 128 kbit/s at 44.1 kHz.
fn frames(n: usize) -> Vec<u8> {
    let mut frame = b"\xff\xfb\x90\x64".to_vec();
    frame.resize(417, 0);
    frame.repeat(n)
}

#[test]
fn a_file_is_measured_in_proportion_to_its_packets() {
    assert_linear("frames", 500, frames, |bytes| duration_ms(file(bytes)));
    assert_linear("samples", 50_000, |n| wav(u32::try_from(n).unwrap()), |bytes| duration_ms(file(bytes)));
    for piece in [&b"RIFF"[..], b"OggS", b"\x1a\x45\xdf\xa3", b"\0\0\0\x08free", b"ID3\x04\0\0\0\0\0\0", b"\xff\xfb"] {
        let name = piece.escape_ascii().to_string();
        assert_linear(&name, 1_000, |n| piece.repeat(n), |bytes| duration_ms(file(bytes)));
    }
}
