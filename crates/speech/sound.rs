//! The sound of a media file, as 16 kHz mono samples, read little by little.
//!
//! Containers and most codecs are Symphonia's; Opus, which browsers record, has a decoder of its own. A file that ends in
//! the middle of a packet, as one does whose recorder was killed, ends there.

use std::fs::File;

use audioadapter_buffers::direct::InterleavedSlice;
use ropus::{Channels, DecodeMode, Decoder as OpusDecoder};
use rubato::{Fft, FixedSync, Resampler};
use symphonia::core::codecs::CodecParameters;
use symphonia::core::codecs::audio::well_known::CODEC_ID_OPUS;
use symphonia::core::codecs::audio::{AudioCodecParameters, AudioDecoder, AudioDecoderOptions};
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, FormatReader, Track};
use symphonia::core::io::{MediaSourceStream, MediaSourceStreamOptions};
use symphonia::core::meta::MetadataOptions;
use symphonia::core::packet::Packet;
use symphonia::core::units::TimeBase;
use whisper::RATE;

/// Frames that the resampler takes at once.
const CHUNK: usize = 4096;
/// The longest Opus packet: 120 ms.
const OPUS_PACKET: usize = RATE * 120 / 1000;
/// A packet this much later than the samples before it end is preceded by silence, so that times stay right.
const GAP: usize = RATE / 5;
/// A decoder needs so much before a place to be right at it.
const LEAD: usize = RATE / 5;
/// The most silence that is filled in at once, in samples; a longer gap is a wrong time stamp.
const MAX_GAP: usize = RATE * 60 * 60 * 12;

/// The decoded sound of a file.
pub struct Sound {
    reader: Box<dyn FormatReader>,
    track: u32,
    time_base: Option<TimeBase>,
    decoder: PacketDecoder,
    /// Samples given out so far.
    given: usize,
    /// Silence that is still to be given out.
    silence: usize,
    pending: Vec<f32>,
    /// A packet that was read, and is not decoded yet.
    ahead: Option<Packet>,
    has_ended: bool,
}

enum PacketDecoder {
    Opus { decoder: Box<OpusDecoder>, samples: Vec<f32> },
    Other { decoder: Box<dyn AudioDecoder>, interleaved: Vec<f32>, resampler: Option<Box<Resampling>> },
}

impl Sound {
    /// Opens the first audio track of a file.
    ///
    /// # Errors
    /// Returns a message if the file is in none of the supported containers or codecs, or has no sound.
    pub fn open(file: File) -> Result<Self, String> {
        let source = MediaSourceStream::new(Box::new(file), MediaSourceStreamOptions::default());
        let probe = symphonia::default::get_probe();
        let found = probe.probe(&Hint::new(), source, FormatOptions::default(), MetadataOptions::default());
        let reader = found.map_err(|error| error.to_string())?;
        let with_sound = |track: &&Track| matches!(track.codec_params, Some(CodecParameters::Audio(_)));
        let track = reader.tracks().iter().find(with_sound).ok_or("the file has no sound")?;
        let (id, time_base) = (track.id, track.time_base);
        let Some(CodecParameters::Audio(codec)) = &track.codec_params else {
            return Err("no codec is named".to_owned());
        };
        let decoder = PacketDecoder::of(codec)?;
        let (pending, silence) = (Vec::new(), 0);
        Ok(Self { reader, track: id, time_base, decoder, given: 0, silence, pending, ahead: None, has_ended: false })
    }

    /// Leaves out what is before a sample, as far as that can be done without decoding it. Returns which sample comes
    /// next: that one, or an earlier one.
    pub fn skip_to(&mut self, sample: usize) -> usize {
        while self.ahead.is_none() && !self.has_ended {
            let Some(packet) = self.packet() else { break };
            match self.sample_of(&packet) {
                Some(at) if at + LEAD < sample => self.given = at,
                at => {
                    self.given = at.unwrap_or(self.given);
                    self.ahead = Some(packet);
                }
            }
        }
        self.given
    }

    /// Returns the next packet of the track. What can't be read ends what can.
    fn packet(&mut self) -> Option<Packet> {
        loop {
            match self.reader.next_packet() {
                Ok(Some(packet)) if packet.track_id != self.track => {}
                Ok(Some(packet)) => return Some(packet),
                Ok(None) | Err(_) => {
                    self.has_ended = true;
                    return None;
                }
            }
        }
    }

    /// Returns the next samples; `None` at the end.
    pub fn next(&mut self) -> Option<Vec<f32>> {
        loop {
            if self.silence > 0 {
                let some = self.silence.min(RATE);
                self.silence -= some;
                return Some(self.give(vec![0.0; some]));
            }
            if !self.pending.is_empty() {
                let pending = std::mem::take(&mut self.pending);
                return Some(self.give(pending));
            }
            if self.has_ended {
                return None;
            }
            let Some(packet) = self.ahead.take().or_else(|| self.packet()) else {
                self.pending = self.decoder.end();
                continue;
            };
            let (at, expected) = (self.sample_of(&packet), self.given + self.decoder.held());
            self.pending = self.decoder.decode(&packet);
            if let Some(at) = at
                && at > expected + GAP
                && at - expected < MAX_GAP
            {
                self.silence = at - expected;
            }
        }
    }

    /// What a codec or the resampler lets overshoot, and what a file has instead of numbers, is cut.
    fn give(&mut self, mut samples: Vec<f32>) -> Vec<f32> {
        self.given += samples.len();
        for sample in &mut samples {
            *sample = if sample.is_finite() { sample.clamp(-1.0, 1.0) } else { 0.0 };
        }
        samples
    }

    /// Returns the place of a packet's first sample, by its time stamp.
    fn sample_of(&self, packet: &Packet) -> Option<usize> {
        let time = self.time_base?.calc_time(packet.pts)?;
        usize::try_from(time.as_millis()).ok()?.checked_mul(RATE / 1000)
    }
}

impl PacketDecoder {
    fn of(codec: &AudioCodecParameters) -> Result<Self, String> {
        if codec.codec == CODEC_ID_OPUS {
            // A decoder of one channel mixes two of them down, and gives any rate that Opus knows.
            let rate = u32::try_from(RATE).map_err(|error| error.to_string())?;
            let decoder = OpusDecoder::new(rate, Channels::Mono).map_err(|error| error.to_string())?;
            return Ok(Self::Opus { decoder: Box::new(decoder), samples: vec![0.0; OPUS_PACKET] });
        }
        let codecs = symphonia::default::get_codecs();
        let decoder = codecs.make_audio_decoder(codec, &AudioDecoderOptions::default());
        let decoder = decoder.map_err(|error| error.to_string())?;
        Ok(Self::Other { decoder, interleaved: Vec::new(), resampler: None })
    }

    /// A packet that can't be decoded is skipped: the time stamp of the next one tells how long it was.
    fn decode(&mut self, packet: &Packet) -> Vec<f32> {
        match self {
            Self::Opus { decoder, samples } => {
                let count = decoder.decode_float(&packet.data, samples, DecodeMode::Normal).unwrap_or_default();
                samples.get(..count).unwrap_or_default().to_vec()
            }
            Self::Other { decoder, interleaved, resampler } => {
                let decoded = match decoder.decode(packet) {
                    Ok(decoded) => decoded,
                    Err(_) => return Vec::new(),
                };
                let (rate, channels) = (decoded.spec().rate(), decoded.spec().channels().count().max(1));
                decoded.copy_to_vec_interleaved(interleaved);
                #[expect(clippy::cast_precision_loss, reason = "a file has a few channels")]
                let mixed = interleaved.chunks_exact(channels).map(|all| all.iter().sum::<f32>() / channels as f32);
                let mono: Vec<f32> = mixed.collect();
                if rate as usize == RATE {
                    return mono;
                }
                if resampler.as_ref().is_none_or(|resampler| resampler.rate != rate) {
                    *resampler = Resampling::from(rate).map(Box::new);
                }
                resampler.as_mut().map(|resampler| resampler.take(&mono)).unwrap_or_default()
            }
        }
    }

    /// Samples that were decoded and are not given out yet.
    fn held(&self) -> usize {
        match self {
            Self::Other { resampler: Some(resampler), .. } => resampler.held(),
            Self::Opus { .. } | Self::Other { .. } => 0,
        }
    }

    fn end(&mut self) -> Vec<f32> {
        match self {
            Self::Other { resampler: Some(resampler), .. } => resampler.end(),
            Self::Opus { .. } | Self::Other { .. } => Vec::new(),
        }
    }
}

/// Turns samples of another rate into samples at [`RATE`], without the resampler's own delay.
struct Resampling {
    rate: u32,
    resampler: Fft<f32>,
    waiting: Vec<f32>,
    /// Samples of the delay that are still to be left out.
    delay: usize,
    taken: usize,
    given: usize,
}

impl Resampling {
    fn from(rate: u32) -> Option<Self> {
        let resampler = Fft::new(rate as usize, RATE, CHUNK, 1, FixedSync::Input).ok()?;
        Some(Self { rate, delay: resampler.output_delay(), resampler, waiting: Vec::new(), taken: 0, given: 0 })
    }

    fn take(&mut self, samples: &[f32]) -> Vec<f32> {
        self.taken += samples.len();
        self.resample(samples)
    }

    fn resample(&mut self, samples: &[f32]) -> Vec<f32> {
        self.waiting.extend_from_slice(samples);
        let mut out = Vec::new();
        while let Some(done) = self.chunk() {
            let left_out = self.delay.min(done.len());
            self.delay -= left_out;
            out.extend(done.into_iter().skip(left_out));
        }
        self.given += out.len();
        out
    }

    /// Resamples what fills a chunk.
    fn chunk(&mut self) -> Option<Vec<f32>> {
        let needed = self.resampler.input_frames_next();
        let chunk = InterleavedSlice::new(self.waiting.get(..needed)?, 1, needed).ok()?;
        let done = self.resampler.process(&chunk, None).ok()?;
        self.waiting.drain(..needed);
        Some(done.take_data())
    }

    fn held(&self) -> usize {
        (self.taken * RATE / self.rate as usize).saturating_sub(self.given)
    }

    /// Returns the rest.
    fn end(&mut self) -> Vec<f32> {
        let rest = self.held();
        let mut out = Vec::new();
        while out.len() < rest {
            let more = self.resample(&vec![0.0; CHUNK]);
            if more.is_empty() && self.delay == 0 {
                break;
            }
            out.extend(more);
        }
        out.truncate(rest);
        out
    }
}
