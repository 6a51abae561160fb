//! Conversations of voices that take turns: how many are told apart, and how much of the speech goes to the wrong one.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use serde_json::Value;
use speech::{TurnsRequest, VoiceTurn, turns};

use super::cost;
use super::sounds::{Chance, MadeSound, RATE, pink};

/// Seconds of each conversation.
const SECONDS: usize = 300;

/// Finds the turns in a file in this process; prints a line of JSON for each, and one with what it cost.
pub fn find(model: &str, file: &str) {
    let found = turns(File::open(file).expect("a file"), &TurnsRequest { model: model.into() }, |_| true);
    for turn in found.expect("turns") {
        println!("{}", serde_json::to_string(&turn).expect("JSON"));
    }
    println!("{}", cost());
}

/// A conversation, and whose voice each utterance is.
struct MadeConversation {
    sound: MadeSound,
    speakers: Vec<usize>,
}

impl MadeConversation {
    /// Turns of one to three sentences, with short pauses.
    fn of(voices: &[&str], texts: &[&str], seed: u64) -> Self {
        let (mut sound, mut speakers, mut chance) = (MadeSound::default(), Vec::new(), Chance(seed));
        let (mut texts, mut speaker) = (texts.iter().cycle(), 0);
        while sound.samples.len() < SECONDS * RATE {
            for _ in 0..=(chance.share() * 2.99) as usize {
                sound.say(voices[speaker], texts.next().expect("texts"), 150 + (chance.share() * 500.0) as usize);
                speakers.push(speaker);
            }
            let others = voices.len().saturating_sub(1).max(1);
            speaker = (speaker + 1 + (chance.share() * others as f32 * 0.99) as usize) % voices.len();
        }
        Self { sound, speakers }
    }

    /// Returns the share of the speech that is not of the voice which is most often found for its speaker; each voice is
    /// one speaker's.
    fn wrong(&self, found: &[VoiceTurn], voices: usize) -> f64 {
        let most = found.iter().map(|turn| turn.voice as usize).max().unwrap_or_default();
        let mut shares = vec![vec![0_usize; most + 1]; voices];
        let mut all = 0;
        for (utterance, speaker) in self.sound.utterances.iter().zip(&self.speakers) {
            for ms in (utterance.start * 1000 / RATE..utterance.end * 1000 / RATE).step_by(10) {
                let behind = found.partition_point(|turn| turn.start_ms <= ms as u64);
                let turn = behind.checked_sub(1).map(|at| found[at]).filter(|turn| turn.end_ms > ms as u64);
                shares[*speaker][turn.map_or(0, |turn| turn.voice as usize)] += 1;
                all += 1;
            }
        }
        let mut right = 0;
        for _ in 0..voices {
            let pairs = (0..voices).flat_map(|speaker| (1..=most).map(move |voice| (speaker, voice)));
            let Some((speaker, voice)) = pairs.max_by_key(|(speaker, voice)| shares[*speaker][*voice]) else { break };
            right += shares[speaker][voice];
            shares[speaker].fill(0);
            shares.iter_mut().for_each(|of_speaker| of_speaker[voice] = 0);
        }
        1.0 - right as f64 / f64::from(all.max(1))
    }
}

pub fn measure(model: &str) {
    let all = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/samples/speech/figures.txt");
    let all = fs::read_to_string(all).expect("the texts");
    let english = all.lines().take_while(|line| *line != "[de]");
    let texts: Vec<&str> = english.filter(|line| !line.is_empty() && !line.starts_with('[')).collect();
    println!("{:<40} {:>6} {:>6} {:>6} {:>8} {:>6}", model, "voices", "found", "wrong", "cpu s/s", "MiB");
    let conversations: [(&str, &[&str]); 9] = [
        ("one person, a woman", &["flite:slt"]),
        ("one person, a man", &["flite:rms"]),
        ("two people", &["flite:slt", "flite:rms"]),
        ("two men", &["flite:rms", "flite:awb"]),
        ("three people", &["flite:slt", "flite:rms", "flite:awb"]),
        ("four, one an old robot", &["flite:slt", "flite:rms", "flite:awb", "flite:kal16"]),
        ("two robots", &["en-us", "en-us+f2"]),
        ("two robots, women", &["en-us+f2", "en-gb+f4"]),
        ("five, two of them robots", &["flite:slt", "flite:rms", "flite:awb", "en-us", "en-gb+f4"]),
    ];
    for (seed, (name, voices)) in (21..).zip(conversations) {
        let conversation = MadeConversation::of(voices, &texts, seed);
        show(model, name, &conversation, voices.len());
        if name.ends_with("people") {
            let sound = conversation.sound.with_noise(&pink(60), 10.0);
            let noisy = MadeConversation { sound, speakers: conversation.speakers };
            show(model, &format!("{name}, noise of 10 dB"), &noisy, voices.len());
        }
    }
}

fn show(model: &str, name: &str, conversation: &MadeConversation, voices: usize) {
    let file = std::env::temp_dir().join(format!("speech-turns-{}.wav", std::process::id()));
    conversation.sound.write(&file);
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    let output = command.args(["turns", model]).arg(&file).stderr(Stdio::inherit()).output().expect("a child process");
    fs::remove_file(&file).expect("the file is there");
    assert!(output.status.success(), "{name}: no turns");
    let lines = String::from_utf8(output.stdout).expect("lines of JSON");
    let mut found: Vec<VoiceTurn> = Vec::new();
    let (mut seconds, mut peak) = (0.0, 0.0);
    for line in lines.lines() {
        let value: Value = serde_json::from_str(line).expect("JSON");
        match value.get("processorSeconds").and_then(Value::as_f64) {
            Some(spent) => {
                seconds = spent;
                peak = value.get("peakKib").and_then(Value::as_f64).unwrap_or_default() / 1024.0;
            }
            None => found.push(serde_json::from_value(value).expect("a turn")),
        }
    }
    let told = found.iter().map(|turn| turn.voice).max().unwrap_or_default();
    let wrong = conversation.wrong(&found, voices);
    let cost = seconds / conversation.sound.seconds();
    println!("{name:<40} {voices:>6} {told:>6} {wrong:>6.3} {cost:>8.4} {peak:>6.0}");
}
