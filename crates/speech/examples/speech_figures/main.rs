//! Measures speech recognition: word errors, processor time, memory, times, and what is heard where nobody speaks.
//!
//! usage: cargo run --release -p speech --example `speech_figures` -- MODEL_FOLDER [SET...]
//!
//! The recordings are made here, from tests/samples/speech/figures.txt by eSpeak NG, and by the Flite in Debian's ffmpeg
//! (both have to be installed); and those of Debian's pocketsphinx-testdata, if that is installed. Each one is transcribed in
//! a process of its own, whose processor time includes the loading of the model. WORDS=1 in the environment shows every word
//! that was misheard, and RECORDINGS names a folder in which the recordings are kept.
//!
//! `-- MODEL_FOLDER turns` measures how well voices are told apart, by the model speaker-ge2e.
//!
//! WER: substituted, missing and additional words per word that was said, after both were spelled alike (see `words.rs`).

#![expect(clippy::expect_used, reason = "a program to measure with: it ends at the first error")]
#![expect(clippy::indexing_slicing, reason = "as above")]

mod conversations;
mod sounds;
mod words;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use speech::{HeardBatch, HeardSegment, SpeechRequest, transcribe};

use sounds::{Chance, MadeSound, RATE, babble, brown, pink, white, write_wav};
use words::{align, words};

const SETS: [&str; 10] =
    ["voices", "robots", "accents", "noise", "clips", "unbroken", "languages", "silence", "talk", "onsets"];
/// Set that is measured only if it is asked for, since it takes long.
const HOUR: &str = "hour";
/// Voices made of recordings of people (one a Scot), by Flite.
const HUMAN: [&str; 3] = ["flite:slt", "flite:rms", "flite:awb"];
/// Voices that are computed from rules, by eSpeak NG, and one of the oldest of Flite: harder to understand, for people too.
const ROBOTS: [&str; 9] =
    ["flite:kal16", "en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-us-nyc", "en-us+f2", "en-us+m3", "en-gb+f4"];
/// Accents further from those that the models heard most: the Caribbean, Lancaster, the West Midlands.
const ACCENTS: [&str; 3] = ["en-029", "en-gb-x-gbclan", "en-gb-x-gbcwmd"];
const LANGUAGES: [(&str, &str); 7] =
    [("de", "de"), ("fr", "fr-fr"), ("es", "es"), ("it", "it"), ("pt", "pt"), ("nl", "nl"), ("pl", "pl")];
const CLIPS: &str = "/usr/share/pocketsphinx/test/data";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["hear", model, file, language] => hear(model, file, language),
        ["turns", model, file] => conversations::find(model, file),
        [model, "turns"] if Path::new(model).is_dir() => conversations::measure(model),
        [model, sets @ ..] if Path::new(model).is_dir() => {
            let measurement = Measurement::of(model);
            let sets = if sets.is_empty() { &SETS[..] } else { sets };
            sets.iter().for_each(|set| measurement.of_set(set));
        }
        _ => eprintln!("usage: speech_figures MODEL_FOLDER [SET...]; sets: {} {HOUR}", SETS.join(" ")),
    }
}

/// Transcribes a file in this process; prints a line of JSON for each batch, and one with what it cost.
fn hear(model: &str, file: &str, language: &str) {
    let language = Some(language.to_owned()).filter(|language| language != "-");
    let request = SpeechRequest {
        model_name: String::new(),
        model: model.into(),
        language,
        from_ms: 0,
        hint: std::env::var("HINT").ok(),
    };
    let outcome = transcribe(File::open(file).expect("a file"), &request, |batch| {
        println!("{}", serde_json::to_string(&batch).expect("JSON"));
        true
    });
    outcome.expect("a transcript");
    println!("{}", cost());
}

/// What this process cost so far.
fn cost() -> Value {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number of KiB");
    json!({"processorSeconds": ticks / 100.0, "peakKib": peak})
}

/// What was heard in a file, and what that cost.
struct HeardFile {
    segments: Vec<HeardSegment>,
    language: Option<String>,
    processor_seconds: f64,
    peak_mib: f64,
}

impl HeardFile {
    fn text(&self) -> String {
        self.segments.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}

/// Words and errors so far.
#[derive(Default, Clone, Copy)]
struct WordTally {
    words: usize,
    errors: usize,
    seconds: f64,
    processor_seconds: f64,
}

impl WordTally {
    fn add(&mut self, other: Self) {
        self.words += other.words;
        self.errors += other.errors;
        self.seconds += other.seconds;
        self.processor_seconds += other.processor_seconds;
    }

    fn show(&self, what: &str) {
        let rate = self.errors as f64 / self.words.max(1) as f64;
        let cost = self.processor_seconds / self.seconds;
        println!("{what:<34} {:7.1} {:6} {:6} {rate:7.4} {cost:8.4}", self.seconds, self.words, self.errors);
    }
}

struct Measurement {
    model: String,
    folder: PathBuf,
    texts: String,
}

impl Measurement {
    fn of(model: &str) -> Self {
        let own = || std::env::temp_dir().join(format!("speech-figures-{}", std::process::id()));
        let folder = std::env::var_os("RECORDINGS").map_or_else(own, PathBuf::from);
        fs::create_dir_all(&folder).expect("a folder for the recordings");
        let texts = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/samples/speech/figures.txt");
        println!("{:<34} {:>7} {:>6} {:>6} {:>7} {:>8}", model, "s", "words", "errors", "WER", "cpu s/s");
        Self { model: model.to_owned(), folder, texts: fs::read_to_string(texts).expect("the texts") }
    }

    fn of_set(&self, set: &str) {
        match set {
            "voices" => self.voices(&HUMAN, "voices like people's"),
            "robots" => self.voices(&ROBOTS, "robots"),
            "accents" => self.voices(&ACCENTS, "accents of robots"),
            "noise" => self.noise(),
            "clips" => self.clips(),
            "unbroken" => self.unbroken(),
            "languages" => self.languages(),
            "silence" => self.silence(),
            "talk" => _ = self.talk("talk", 600),
            "onsets" => self.onsets(),
            HOUR => {
                let heard = self.talk("an hour of talk", 3600);
                println!("{:<34} {:.0} MiB at most", "", heard.peak_mib);
            }
            other => println!("no set is called {other}"),
        }
    }

    /// Returns the lines of a section.
    fn section(&self, name: &str) -> Vec<String> {
        let begin = format!("[{name}]");
        let lines = self.texts.lines().skip_while(|line| *line != begin).skip(1);
        lines.take_while(|line| !line.starts_with('[')).filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    fn sections(&self) -> Vec<String> {
        ["meeting", "numbers", "names"].iter().flat_map(|name| self.section(name)).collect()
    }

    fn heard(&self, file: &Path, language: &str, hint: Option<&str>) -> HeardFile {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["hear", &self.model]).arg(file).arg(language).stderr(Stdio::inherit());
        if let Some(hint) = hint {
            command.env("HINT", hint);
        }
        let output = command.output().expect("a child process");
        assert!(output.status.success(), "{} is not transcribed", file.display());
        let lines = String::from_utf8(output.stdout).expect("lines of JSON");
        let mut outcome = HeardFile { segments: Vec::new(), language: None, processor_seconds: 0.0, peak_mib: 0.0 };
        for line in lines.lines() {
            let value: Value = serde_json::from_str(line).expect("JSON");
            if let Some(seconds) = value.get("processorSeconds").and_then(Value::as_f64) {
                outcome.processor_seconds = seconds;
                outcome.peak_mib = value.get("peakKib").and_then(Value::as_f64).unwrap_or_default() / 1024.0;
            } else {
                let batch: HeardBatch = serde_json::from_value(value).expect("a batch");
                outcome.segments.extend(batch.segments);
                outcome.language = batch.language.or(outcome.language);
            }
        }
        outcome
    }

    fn heard_recording(&self, name: &str, recording: &MadeSound, language: &str) -> HeardFile {
        let file = self.folder.join(format!("{}.wav", name.replace([' ', ',', ':'], "_")));
        recording.write(&file);
        let outcome = self.heard(&file, language, None);
        if std::env::var_os("RECORDINGS").is_none() {
            fs::remove_file(file).expect("the file is there");
        }
        outcome
    }

    /// Transcribes a recording, and counts its errors.
    fn tally(&self, name: &str, recording: &MadeSound, language: &str) -> (WordTally, HeardFile) {
        let outcome = self.heard_recording(name, recording, language);
        (counted(&recording.text(), &outcome, recording.seconds(), language), outcome)
    }

    fn voices(&self, voices: &[&str], together: &str) {
        let mut all = WordTally::default();
        let mut by_section =
            [("meeting", WordTally::default()), ("numbers", WordTally::default()), ("names", WordTally::default())];
        for voice in voices {
            let mut of_voice = WordTally::default();
            for (section, so_far) in &mut by_section {
                let (tally, _) = self.tally(&format!("{voice} {section}"), &self.spoken(voice, section), "en");
                so_far.add(tally);
                of_voice.add(tally);
            }
            of_voice.show(voice);
            all.add(of_voice);
        }
        for (section, tally) in by_section {
            tally.show(&format!("{together}: {section}"));
        }
        all.show(together);
    }

    /// A section, spoken by one voice with pauses.
    fn spoken(&self, voice: &str, section: &str) -> MadeSound {
        let mut recording = MadeSound::default();
        recording.pause(400);
        for (nth, text) in self.section(section).iter().enumerate() {
            recording.say(voice, text, 300 + nth * 370 % 900);
        }
        recording
    }

    /// Noise at three levels behind two voices.
    fn noise(&self) {
        let texts = self.section("meeting");
        let talking =
            babble(&["en-us+f3", "en-gb+m5", "en-us+m1", "en-gb+f1", "en-us+m7", "en-gb-x-rp+f5"], &texts, 60);
        let noises = [("white", white(60)), ("pink", pink(60)), ("brown", brown(60)), ("babble", talking)];
        let voices = ["flite:slt", "flite:rms", "en-us"].map(|voice| self.spoken(voice, "meeting"));
        for decibels in [20_i16, 10, 5] {
            let mut all = WordTally::default();
            for (name, noise) in &noises {
                let mut of_noise = WordTally::default();
                for voice in &voices {
                    let noisy = voice.with_noise(noise, f32::from(decibels));
                    of_noise.add(self.tally(&format!("{name} {decibels}"), &noisy, "en").0);
                }
                of_noise.show(&format!("{name} noise, {decibels} dB"));
                all.add(of_noise);
            }
            all.show(&format!("all noise, {decibels} dB"));
        }
    }

    fn clips(&self) {
        if !Path::new(CLIPS).is_dir() {
            return println!("SKIPPED: pocketsphinx-testdata is not installed");
        }
        for set in ["librivox/transcription", "cards/cards.transcription"] {
            let mut all = WordTally::default();
            let file = Path::new(CLIPS).join(set);
            for line in fs::read_to_string(&file).expect("transcripts").lines() {
                let (text, name) = line.rsplit_once('(').expect("a text and the name of its file");
                let text = text.replace("<s>", "").replace("</s>", "");
                let clip = file.with_file_name(format!("{}.wav", name.trim_end_matches([')', ' '])));
                all.add(self.clip(&clip, &text));
            }
            all.show(&format!("clips: {}", set.split('/').next().unwrap_or_default()));
        }
        let mut all = WordTally::default();
        for (name, text) in
            [("goforward.raw", "go forward ten meters"), ("tidigits/dhd.2934z.raw", "two nine three four zero")]
        {
            let file = self.folder.join("clip.wav");
            write_wav(&file, 16_000, &fs::read(Path::new(CLIPS).join(name)).expect("a clip"));
            all.add(self.clip(&file, text));
        }
        all.show("clips: commands");
    }

    fn clip(&self, file: &Path, text: &str) -> WordTally {
        let outcome = self.heard(file, "en", None);
        // 16 kHz and two bytes a sample, all of them.
        let seconds = fs::metadata(file).expect("a clip").len() as f64 / 32_000.0;
        counted(text, &outcome, seconds, "en")
    }

    /// Somebody who never pauses, so that windows end between two words, or in one.
    fn unbroken(&self) {
        let text = self.section("unbroken").join(" ");
        let mut all = WordTally::default();
        for voice in ["flite:slt", "flite:rms", "en-us", "en-gb-x-rp"] {
            let mut recording = MadeSound::default();
            (0..3).for_each(|_| recording.say(voice, &text, 0));
            all.add(self.tally("unbroken", &recording, "en").0);
        }
        all.show("without a pause, four voices");
    }

    /// Other languages: detected, and asked for.
    fn languages(&self) {
        for (code, voice) in LANGUAGES {
            let recording = self.spoken(voice, code);
            let (detected, outcome) = self.tally(code, &recording, "-");
            let (asked, _) = self.tally(code, &recording, code);
            detected.show(&format!("{code}, detected {}", outcome.language.as_deref().unwrap_or("nothing")));
            asked.show(&format!("{code}, asked for"));
        }
    }

    fn silence(&self) {
        let outcome = self.heard_recording("silence", &sounds::room_without_speech(), "en");
        println!(
            "{:<34} {:7.1} {} segments, {:.4} cpu s/s",
            "noise and music",
            600.0,
            outcome.segments.len(),
            outcome.processor_seconds / 600.0
        );
        for one in &outcome.segments {
            println!("    {:.1}: {} ({:.2})", one.start_ms as f64 / 1000.0, one.text, one.confidence);
        }
    }

    /// All voices in turn, with short pauses.
    fn talk(&self, name: &str, seconds: usize) -> HeardFile {
        let (texts, mut recording, mut chance) = (self.sections(), MadeSound::default(), Chance(7));
        for (nth, text) in texts.iter().cycle().enumerate() {
            if recording.samples.len() >= seconds * RATE {
                break;
            }
            // Another voice than in the round before.
            let voice = voice(nth + nth / texts.len());
            recording.say(voice, text, 200 + (chance.share() * 1000.0) as usize);
        }
        let (tally, outcome) = self.tally(name, &recording, "en");
        tally.show(name);
        outcome
    }

    /// Thirty minutes of utterances with pauses of many lengths: how far the times of segments are from the truth.
    fn onsets(&self) {
        let (texts, mut recording, mut chance) = (self.sections(), MadeSound::default(), Chance(11));
        recording.pause(3000);
        for (nth, text) in texts.iter().cycle().enumerate() {
            if recording.samples.len() >= 1800 * RATE {
                break;
            }
            let long = if nth % 7 == 6 { 20_000.0 } else { 4000.0 };
            recording.say(voice(nth), text, 400 + (chance.share() * long) as usize);
        }
        let floor = recording.with_noise(&pink(60), 40.0);
        let (tally, outcome) = self.tally("onsets", &floor, "en");
        tally.show("thirty minutes with pauses");
        let last = recording.seconds() - 300.0;
        for (name, from) in [("all", 0.0), ("last five minutes", last)] {
            for (which, errors) in ["begin", "end"].into_iter().zip(time_errors(&recording, &outcome, from)) {
                show_times(&format!("    {name}, where segments {which}"), errors);
            }
        }
    }
}

/// Voices in turn: as often one of recordings as one of rules.
fn voice(nth: usize) -> &'static str {
    if nth.is_multiple_of(2) { HUMAN[nth / 2 % HUMAN.len()] } else { ROBOTS[nth / 2 % ROBOTS.len()] }
}

fn counted(text: &str, outcome: &HeardFile, seconds: f64, language: &str) -> WordTally {
    let is_english = language == "en";
    let (said, heard) = (words(text, is_english), words(&outcome.text(), is_english));
    let found = align(&said, &heard);
    if std::env::var_os("WORDS").is_some() && !found.different.is_empty() {
        println!("    {}", found.different.join(" "));
    }
    WordTally { words: said.len(), errors: found.errors, seconds, processor_seconds: outcome.processor_seconds }
}

/// How many milliseconds the beginnings and the ends of segments are behind the truth, from a second on: where a segment's
/// first word is the first of an utterance, and its last word the last of one.
fn time_errors(recording: &MadeSound, outcome: &HeardFile, from: f64) -> [Vec<i64>; 2] {
    let (mut said, mut begins, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for one in &recording.utterances {
        let first = said.len();
        said.extend(words(&one.text, true));
        begins.resize(said.len(), None);
        ends.resize(said.len(), None);
        begins[first] = Some(one.start);
        ends[said.len() - 1] = Some(one.end);
    }
    let (mut heard, mut firsts, mut lasts) = (Vec::new(), Vec::new(), Vec::new());
    for one in &outcome.segments {
        let first = heard.len();
        heard.extend(words(&one.text, true));
        firsts.resize(heard.len(), None);
        lasts.resize(heard.len(), None);
        if heard.len() > first {
            firsts[first] = Some(one.start_ms);
            lasts[heard.len() - 1] = Some(one.end_ms);
        }
    }
    let mut errors = [Vec::new(), Vec::new()];
    let millis = |samples: usize| (samples * 1000 / RATE) as i64;
    for (i, j) in align(&said, &heard).same {
        for (errors, (truth, found)) in errors.iter_mut().zip([(begins[i], firsts[j]), (ends[i], lasts[j])]) {
            if let (Some(truth), Some(found)) = (truth, found)
                && truth as f64 >= from * RATE as f64
            {
                errors.push(found as i64 - millis(truth));
            }
        }
    }
    errors
}

fn show_times(name: &str, mut errors: Vec<i64>) {
    errors.sort_by_key(|error| error.abs());
    let Some(most) = errors.last() else { return println!("{name}: none") };
    let of = |share: usize| errors[(errors.len() - 1) * share / 100];
    let beyond = errors.iter().filter(|error| error.abs() > 300).count();
    println!(
        "{name:<44} {:4} times, off by {} ms (median), {} ms (95 of 100), {most} ms (most); {beyond} by more than 300 ms",
        errors.len(),
        of(50),
        of(95),
    );
}
