//! The duration of a media file, from its header or, where that has none, from the times of its packets.

use std::collections::HashMap;
use std::fs::File;

use symphonia::core::errors::Error;
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, FormatReader, Track};
use symphonia::core::io::{MediaSourceStream, MediaSourceStreamOptions};
use symphonia::core::meta::MetadataOptions;
use symphonia::core::units::Timestamp;

/// Returns the duration of a file in milliseconds; `None` if it has no content. A file that ends in the middle of a
/// packet lasts until that packet.
///
/// # Errors
/// Returns a message if the file is in none of the supported containers.
pub fn duration_ms(file: File) -> Result<Option<u64>, String> {
    let source = MediaSourceStream::new(Box::new(file), MediaSourceStreamOptions::default());
    let probe = symphonia::default::get_probe();
    let found = probe.probe(&Hint::new(), source, FormatOptions::default(), MetadataOptions::default());
    let mut reader = found.map_err(|error| error.to_string())?;
    let tracks: Vec<Track> = reader.tracks().to_vec();
    let declared: Option<Vec<u64>> = tracks.iter().map(declared_ms).collect();
    match declared.and_then(|all| all.into_iter().max()) {
        Some(longest) => Ok(Some(longest)),
        None => Ok(by_packets(&mut *reader, &tracks)),
    }
}

/// What the header says of a track; a recorder that writes while it records leaves it at zero.
fn declared_ms(track: &Track) -> Option<u64> {
    let duration = track.duration.filter(|duration| duration.get() > 0)?;
    millis(track, Timestamp::new(i64::try_from(duration.get()).ok()?))
}

fn by_packets(reader: &mut dyn FormatReader, tracks: &[Track]) -> Option<u64> {
    // A file may have many tracks: no packet looks through them.
    let tracks: HashMap<u32, &Track> = tracks.iter().map(|track| (track.id, track)).collect();
    let mut latest = None;
    loop {
        let packet = match reader.next_packet() {
            Ok(Some(packet)) => packet,
            // What can't be read ends what can.
            Ok(None) | Err(Error::IoError(_) | Error::DecodeError(_)) => return latest,
            Err(_) => return latest,
        };
        let Some(track) = tracks.get(&packet.track_id) else { continue };
        let ends = packet.pts.get().saturating_add_unsigned(packet.dur.get());
        latest = latest.max(millis(track, Timestamp::new(ends)));
    }
}

fn millis(track: &Track, at: Timestamp) -> Option<u64> {
    let time = track.time_base?.calc_time(at)?;
    u64::try_from(time.as_millis()).ok()
}
