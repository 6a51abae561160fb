//! The container of a recording, recognized by its first bytes.

use actors::meeting::RecordingMimeType;

/// How many bytes decide.
pub const DECISIVE_BYTES: usize = 64;

/// Whether content that begins like this is of the declared type; `None` if these are too few bytes to decide.
#[must_use]
pub fn agrees(declared: RecordingMimeType, first: &[u8]) -> Option<bool> {
    let decides = |needed: usize, agrees: bool| (first.len() >= needed).then_some(agrees);
    let at = |offset: usize, magic: &[u8]| first.get(offset..).is_some_and(|rest| rest.starts_with(magic));
    match declared {
        RecordingMimeType::AudioWebm | RecordingMimeType::VideoWebm => {
            let is_webm = first.windows(4).take(DECISIVE_BYTES).any(|window| window == b"webm");
            match (decides(4, at(0, b"\x1a\x45\xdf\xa3"))?, is_webm) {
                (true, false) => decides(DECISIVE_BYTES, false),
                (agrees, _) => Some(agrees),
            }
        }
        RecordingMimeType::AudioOgg => decides(4, at(0, b"OggS")),
        RecordingMimeType::AudioMp4 | RecordingMimeType::VideoMp4 => decides(8, at(4, b"ftyp")),
        // An ID3 tag, or a frame of MPEG audio whose layer is not reserved.
        RecordingMimeType::AudioMpeg => {
            let is_frame = matches!(first, [0xff, second, ..] if second & 0xe0 == 0xe0 && second & 0x06 != 0);
            decides(3, at(0, b"ID3") || is_frame)
        }
        RecordingMimeType::AudioWav => decides(12, (at(0, b"RIFF") || at(0, b"RF64")) && at(8, b"WAVE")),
        RecordingMimeType::AudioFlac => decides(4, at(0, b"fLaC")),
        // No recording is declared as a transcript.
        RecordingMimeType::TextVtt | RecordingMimeType::Subrip => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use actors::meeting::RecordingMimeType;
    use strum::VariantArray;

    use super::agrees;

    fn beginning(of: RecordingMimeType) -> Vec<u8> {
        match of {
            RecordingMimeType::AudioWebm | RecordingMimeType::VideoWebm => {
                b"\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\xf7\x81\x01B\xf2\x81\x04B\xf3\x81\x08B\x82\x84webm".to_vec()
            }
            RecordingMimeType::AudioOgg => b"OggS\0\x02\0\0\0\0\0\0\0\0".to_vec(),
            RecordingMimeType::AudioMp4 | RecordingMimeType::VideoMp4 => b"\0\0\0\x24ftypmp42\0\0\0\0".to_vec(),
            RecordingMimeType::AudioMpeg => b"ID3\x04\0\0\0\0\0\0\0\0\0\0".to_vec(),
            RecordingMimeType::AudioWav => b"RIFF\x24\0\0\0WAVEfmt ".to_vec(),
            RecordingMimeType::AudioFlac => b"fLaC\0\0\0\x22\0\0\0\0\0\0".to_vec(),
            RecordingMimeType::TextVtt | RecordingMimeType::Subrip => Vec::new(),
        }
    }

    fn recorded() -> impl Iterator<Item = &'static RecordingMimeType> {
        RecordingMimeType::VARIANTS.iter().filter(|declared| declared.has_sound())
    }

    #[test]
    fn each_type_is_told_from_each_other() {
        for declared in recorded() {
            for of in recorded() {
                let mut content = beginning(*of);
                content.resize(100, 0);
                let same = beginning(*declared) == beginning(*of);
                assert_eq!(agrees(*declared, &content), Some(same), "{declared} and {of}");
            }
            for text in [
                "<!DOCTYPE html><html><body>this is a page and no recording at all, whatever it claims".as_bytes(),
                &[0; 64],
            ] {
                assert_eq!(agrees(*declared, text), Some(false), "{declared}");
            }
        }
    }

    #[test]
    fn too_few_bytes_decide_nothing() {
        for declared in recorded() {
            assert_eq!(agrees(*declared, b""), None, "{declared}");
            let first = beginning(*declared);
            assert_ne!(agrees(*declared, first.get(..2).unwrap()), Some(false), "{declared}");
        }
    }

    #[test]
    fn a_frame_of_mpeg_audio_needs_no_tag() {
        assert_eq!(agrees(RecordingMimeType::AudioMpeg, b"\xff\xfb\x90\x64"), Some(true));
        // AAC in ADTS is not MPEG layer 3.
        assert_eq!(agrees(RecordingMimeType::AudioMpeg, b"\xff\xf1\x50\x80"), Some(false));
    }
}
