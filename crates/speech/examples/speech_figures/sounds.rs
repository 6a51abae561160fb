//! Sounds that are made here, the same ones each time: speech by eSpeak NG, noise, music, and recordings of them.

use std::f32::consts::TAU;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Samples per second: eSpeak NG's.
pub const RATE: usize = 22_050;

/// A generator of random numbers (splitmix64).
pub struct Chance(pub u64);

impl Chance {
    /// From -1 to 1.
    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }

    /// From 0 to 1.
    pub fn share(&mut self) -> f32 {
        f32::midpoint(self.next(), 1.0)
    }
}

/// What was said when: the samples in which it can be heard.
pub struct Utterance {
    pub text: String,
    pub start: usize,
    pub end: usize,
}

/// A recording whose words are known.
#[derive(Default)]
pub struct MadeSound {
    pub samples: Vec<f32>,
    pub utterances: Vec<Utterance>,
}

impl MadeSound {
    /// Adds what somebody says, and a pause.
    pub fn say(&mut self, voice: &str, text: &str, pause_ms: usize) {
        let spoken = speech(voice, text);
        let start = self.samples.len();
        self.samples.extend(spoken);
        self.utterances.push(Utterance { text: text.to_owned(), start, end: self.samples.len() });
        self.pause(pause_ms);
    }

    pub fn pause(&mut self, ms: usize) {
        self.samples.resize(self.samples.len() + ms * RATE / 1000, 0.0);
    }

    pub fn text(&self) -> String {
        self.utterances.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    pub fn seconds(&self) -> f64 {
        self.samples.len() as f64 / RATE as f64
    }

    /// The same with noise, whose energy is so many decibels below that of what is said.
    pub fn with_noise(&self, noise: &[f32], decibels: f32) -> Self {
        let spoken: Vec<f32> =
            self.utterances.iter().flat_map(|one| &self.samples[one.start..one.end]).copied().collect();
        let factor = energy(&spoken) / energy(noise) * 10_f32.powf(-decibels / 20.0);
        let noise = noise.iter().cycle();
        let samples = self.samples.iter().zip(noise).map(|(sample, noise)| sample + noise * factor).collect();
        let copy = |one: &Utterance| Utterance { text: one.text.clone(), start: one.start, end: one.end };
        Self { samples, utterances: self.utterances.iter().map(copy).collect() }
    }

    /// Writes a WAV file of 16-bit samples, made softer if it would be too loud.
    pub fn write(&self, file: &Path) {
        let loudest = self.samples.iter().fold(0.9_f32, |most, sample| most.max(sample.abs()));
        let factor = 0.9 * 32_767.0 / loudest;
        let samples: Vec<u8> =
            self.samples.iter().flat_map(|sample| ((sample * factor) as i16).to_le_bytes()).collect();
        write_wav(file, RATE, &samples);
    }
}

/// Writes a WAV file of 16-bit mono samples, which are given as bytes.
pub fn write_wav(file: &Path, rate: usize, samples: &[u8]) {
    let mut wav = Vec::with_capacity(samples.len() + 44);
    let number = |value: usize| u32::try_from(value).expect("a file of less than 4 GiB").to_le_bytes();
    wav.extend(b"RIFF");
    wav.extend(number(36 + samples.len()));
    wav.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    wav.extend(number(rate));
    wav.extend(number(rate * 2));
    wav.extend(b"\x02\0\x10\0data");
    wav.extend(number(samples.len()));
    wav.extend(samples);
    fs::write(file, wav).expect("room for a recording");
}

/// What a voice says, without the silence around it: one of eSpeak NG, or of Flite, which is in Debian's ffmpeg.
pub fn speech(voice: &str, text: &str) -> Vec<f32> {
    let mut command = match voice.strip_prefix("flite:") {
        Some(voice) => {
            let filter = format!("flite=voice={voice}:text='{}'", text.replace('\'', "").replace(':', " "));
            let mut command = Command::new("ffmpeg");
            command.args(["-loglevel", "error", "-f", "lavfi", "-i", &filter, "-ac", "1", "-ar", "22050"]);
            command.args(["-bitexact", "-f", "wav", "-map_metadata", "-1", "-"]);
            command
        }
        None => {
            let mut command = Command::new("espeak-ng");
            command.args(["-v", voice, "-s", "150", "--stdout", text]);
            command
        }
    };
    let spoken = command.output().expect("espeak-ng and ffmpeg, which have to be installed").stdout;
    let samples = spoken.get(44..).expect("a WAV file").as_chunks::<2>().0.iter();
    let samples: Vec<f32> = samples.map(|bytes| f32::from(i16::from_le_bytes(*bytes)) / 32_768.0).collect();
    let step = RATE / 200;
    let energies: Vec<f32> = samples.chunks(step).map(energy).collect();
    let audible = energies.iter().fold(0.0_f32, |most, energy| most.max(*energy)) * 0.02;
    let first = energies.iter().position(|energy| *energy > audible).unwrap_or_default();
    let last = energies.iter().rposition(|energy| *energy > audible).unwrap_or_default();
    samples[first * step..((last + 1) * step).min(samples.len())].to_vec()
}

/// The root of the mean square.
pub fn energy(samples: &[f32]) -> f32 {
    (samples.iter().map(|sample| sample * sample).sum::<f32>() / samples.len().max(1) as f32).sqrt()
}

pub fn white(seconds: usize) -> Vec<f32> {
    let mut chance = Chance(1);
    (0..seconds * RATE).map(|_| chance.next()).collect()
}

/// Noise with the same energy in each octave (Kellet's filter).
pub fn pink(seconds: usize) -> Vec<f32> {
    const POLES: [(f32, f32); 6] = [
        (0.998_86, 0.055_517_9),
        (0.993_32, 0.075_075_9),
        (0.969, 0.153_852),
        (0.866_5, 0.310_485_6),
        (0.55, 0.532_952_2),
        (-0.761_6, -0.016_898),
    ];
    let (mut chance, mut states) = (Chance(2), [0.0_f32; 6]);
    let mut next = || {
        let white = chance.next();
        for (state, (pole, gain)) in states.iter_mut().zip(POLES) {
            *state = pole * *state + gain * white;
        }
        states.iter().sum::<f32>() + white * 0.5362
    };
    (0..seconds * RATE).map(|_| next() * 0.1).collect()
}

pub fn brown(seconds: usize) -> Vec<f32> {
    let (mut chance, mut state) = (Chance(3), 0.0);
    (0..seconds * RATE)
        .map(|_| {
            state = 0.998 * state + 0.03 * chance.next();
            state
        })
        .collect()
}

/// Several people who talk at once, so that nobody can be understood.
pub fn babble(voices: &[&str], texts: &[String], seconds: usize) -> Vec<f32> {
    let mut all = vec![0.0; seconds * RATE];
    for (nth, voice) in voices.iter().enumerate() {
        let mut spoken = Vec::new();
        let mut texts = texts.iter().rev().skip(nth * 3).chain(texts);
        while spoken.len() < all.len() {
            let Some(text) = texts.next() else { break };
            spoken.extend(speech(voice, text));
            spoken.resize(spoken.len() + RATE / 5, 0.0);
        }
        all.iter_mut().zip(spoken).for_each(|(all, spoken)| *all += spoken);
    }
    all
}

/// The hum of the mains and its overtones, beating slowly, as a fan or a fridge does.
fn hum(seconds: usize) -> Vec<f32> {
    let wave = |n: usize| {
        let t = n as f32 / RATE as f32;
        let overtones: f32 = (1..8_u8).map(|k| (TAU * 50.0 * f32::from(k) * t).sin() / f32::from(k * k)).sum();
        overtones * 0.3 * 0.3_f32.mul_add((TAU * 0.7 * t).sin(), 1.0)
    };
    (0..seconds * RATE).map(wave).collect()
}

/// Keys of a keyboard, and doors: short bursts of noise.
fn clicks(seconds: usize) -> Vec<f32> {
    let (mut chance, mut all) = (Chance(4), vec![0.0; seconds * RATE]);
    let mut at = 0;
    while at < all.len() {
        let (loud, length) = (0.2 + 0.6 * chance.share(), RATE / 200 + (chance.share() * RATE as f32 / 50.0) as usize);
        for (n, sample) in all.iter_mut().skip(at).take(length).enumerate() {
            *sample += loud * chance.next() * (-4.0 * n as f32 / length as f32).exp();
        }
        at += RATE / 12 + (chance.share() * RATE as f32 * 0.4) as usize;
    }
    all
}

/// A melody of plucked strings over held chords, with a drum.
fn music(seconds: usize) -> Vec<f32> {
    const CHORDS: [[f32; 3]; 4] =
        [[220.0, 277.2, 329.6], [196.0, 246.9, 293.7], [174.6, 220.0, 261.6], [164.8, 207.7, 246.9]];
    let (mut chance, mut all) = (Chance(5), vec![0.0_f32; seconds * RATE]);
    for (beat, begin) in (0..all.len()).step_by(RATE / 2).enumerate() {
        let chord = CHORDS[beat / 4 % 4];
        // A plucked string (Karplus and Strong): a burst that wanders around a ring.
        let note = chord[(chance.share() * 2.99) as usize] * 2.0;
        let mut ring: Vec<f32> = (0..(RATE as f32 / note) as usize).map(|_| chance.next() * 0.5).collect();
        for n in 0..RATE {
            let Some(sample) = all.get_mut(begin + n) else { break };
            let (here, next) = (n % ring.len(), (n + 1) % ring.len());
            *sample += ring[here];
            ring[here] = f32::midpoint(ring[here], ring[next]) * 0.996;
        }
        for (n, sample) in all.iter_mut().skip(begin).take(RATE / 2).enumerate() {
            let t = (begin + n) as f32 / RATE as f32;
            *sample +=
                chord.iter().map(|hertz| (TAU * hertz * t).sin() + 0.4 * (TAU * 2.0 * hertz * t).sin()).sum::<f32>()
                    * 0.1;
            let since = n as f32 / RATE as f32;
            *sample += 0.5 * (TAU * (60.0 + 80.0 * (-30.0 * since).exp()) * since).sin() * (-12.0 * since).exp();
        }
    }
    all
}

/// A bowed string that plays a scale with vibrato: the music that is most like a voice.
fn bowed(seconds: usize) -> Vec<f32> {
    const SCALE: [f32; 6] = [293.7, 329.6, 370.0, 392.0, 440.0, 370.0];
    let (mut phase, mut soft) = (0.0_f32, 0.0);
    (0..seconds * RATE)
        .map(|n| {
            let t = n as f32 / RATE as f32;
            let note = SCALE[n / (RATE * 3 / 4) % SCALE.len()];
            phase = (phase + note * 0.01_f32.mul_add((TAU * 5.5 * t).sin(), 1.0) / RATE as f32).fract();
            soft += 0.25 * (phase - 0.5 - soft);
            soft
        })
        .collect()
}

/// A telephone that rings: two tones, two seconds of each six.
fn ringing(seconds: usize) -> Vec<f32> {
    let wave = |n: usize| {
        let t = n as f32 / RATE as f32;
        if t % 6.0 < 2.0 { 0.3 * ((TAU * 440.0 * t).sin() + (TAU * 480.0 * t).sin()) } else { 0.0 }
    };
    (0..seconds * RATE).map(wave).collect()
}

/// Ten minutes in a room in which nobody speaks: a minute of each noise, some with another behind it, and of music.
pub fn room_without_speech() -> MadeSound {
    let softly = |all: Vec<f32>, factor: f32| all.into_iter().map(move |sample| sample * factor);
    let both = |one: Vec<f32>, other: Vec<f32>| one.into_iter().zip(other).map(|(one, other)| one + other).collect();
    let parts: [Vec<f32>; 10] = [
        softly(white(60), 0.05).collect(),
        pink(60),
        brown(60),
        hum(60),
        both(clicks(60), softly(pink(60), 0.1).collect()),
        music(60),
        both(softly(music(60), 0.3).collect(), softly(pink(60), 0.5).collect()),
        both(ringing(60), softly(hum(60), 0.2).collect()),
        both(softly(clicks(60), 0.5).collect(), softly(music(60), 0.1).collect()),
        both(bowed(60), softly(pink(60), 0.1).collect()),
    ];
    MadeSound { samples: parts.concat(), utterances: Vec::new() }
}
