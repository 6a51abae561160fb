//! From a window that was heard to phrases: one token after another, by Whisper's rules for times.
//!
//! The most likely token is taken first. If the result can't be right (unlikely, or the same words again and again), the
//! window is decoded again with some chance in it, more of it each time, and the likeliest result is kept.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::network::Network;
use super::sound::{Heard, Phrase, RATE, WINDOW};
use super::tokens::Vocabulary;

/// Samples between two times that the model can name.
const TICK: usize = RATE / 50;
/// The most tokens of a window.
const MAX_TOKENS: usize = 220;
/// The first words of a window begin within its first second.
const FIRST_TIMES: usize = 50;
/// As OpenAI's own decoder has them: above this probability of silence nothing was said, unless the words are likelier
/// than this; words less likely, or more repetitive, are decoded again.
const NO_SPEECH: f32 = 0.6;
/// Ours, from what the models say to noise and music, and to speech that can hardly be understood (the figures' recordings):
/// where silence is that likely, words have to be likelier; where no try went well, silence is believed sooner; and what
/// is less likely than the last was never said.
const SURE_OF_SILENCE: f32 = 0.65;
const UNLIKELY_IN_SILENCE: f32 = -0.8;
const NO_SPEECH_AFTER_ALL: f32 = 0.5;
const NEVER_SAID: f32 = -1.15;
const UNLIKELY: f32 = -1.0;
const REPETITIVE: f32 = 2.4;
/// The chance in each try; 0 takes the most likely token.
const TEMPERATURES: [f32; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];

/// The tokens of a window, each with the logarithm of its probability.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decoded {
    tokens: Vec<(u32, f32)>,
}

/// One try.
struct Try {
    tokens: Vec<(u32, f32)>,
    /// The mean of the logarithms of the probabilities, with the end's.
    mean: f32,
    silence: f32,
    is_repetitive: bool,
}

impl Try {
    fn is_silence(&self) -> bool {
        (self.silence > NO_SPEECH && self.mean < UNLIKELY)
            || (self.silence > SURE_OF_SILENCE && self.mean < UNLIKELY_IN_SILENCE)
    }

    /// For the best of all tries.
    fn is_invented(&self) -> bool {
        !self.is_good() && (self.silence > NO_SPEECH_AFTER_ALL || self.mean < NEVER_SAID)
    }

    fn is_good(&self) -> bool {
        self.mean >= UNLIKELY && !self.is_repetitive
    }
}

/// Returns the language that is most likely spoken in the window, and its probability.
pub fn language(network: &mut Network, tokens: &Vocabulary) -> (String, f32) {
    network.restart();
    let scores = network.step(tokens.start);
    let score = |token: u32| scores.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY);
    let all: Vec<f32> = tokens.languages_by_token().map(|(token, _)| score(token)).collect();
    let likeliest = tokens.languages_by_token().max_by(|(a, _), (b, _)| score(*a).total_cmp(&score(*b)));
    match likeliest {
        Some((token, code)) => (code.to_owned(), (score(token) - log_sum(&all)).exp()),
        None => (tokens.languages().first().cloned().unwrap_or_default(), 1.0),
    }
}

/// Decodes the window that the network heard, of which the first `length` samples are sound. `None`: the network computes
/// no probabilities.
pub fn decode(network: &mut Network, tokens: &Vocabulary, prompt: &[u32], length: usize) -> Option<Decoded> {
    let mut best: Option<Try> = None;
    for (nth, temperature) in TEMPERATURES.into_iter().enumerate() {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ ((length as u64) << 8 | nth as u64));
        let found = attempt(network, tokens, prompt, temperature, &mut random)?;
        if found.is_silence() {
            return Some(Decoded::default());
        }
        let is_good = found.is_good();
        // Chance alone makes words less likely: people do repeat themselves, and then the first try was right.
        if is_good || best.as_ref().is_none_or(|best| found.mean > best.mean) {
            best = Some(found);
        }
        if is_good {
            break;
        }
    }
    let said = best.filter(|best| !best.is_invented());
    Some(Decoded { tokens: said.map(|said| said.tokens).unwrap_or_default() })
}

fn attempt(
    network: &mut Network,
    tokens: &Vocabulary,
    prompt: &[u32],
    temperature: f32,
    random: &mut Random,
) -> Option<Try> {
    network.restart();
    let (mut scores, mut silence) = (Vec::new(), 0.0);
    for token in prompt {
        scores = network.step(*token);
        if *token == tokens.start {
            let of = scores.get(tokens.no_speech as usize).copied().unwrap_or(f32::NEG_INFINITY);
            silence = (of - log_sum(&scores)).exp();
        }
    }
    let mut found: Vec<(u32, f32)> = Vec::new();
    let (mut total, mut count, mut is_repetitive) = (0.0, 0.0, false);
    loop {
        if !scores.iter().all(|score| score.is_finite()) {
            return None;
        }
        apply_rules(&mut scores, &found, tokens);
        let sum = log_sum(&scores);
        let chosen = if temperature > 0.0 { random.choose(&scores, temperature) } else { likeliest(&scores) };
        let Some(score) = scores.get(chosen as usize).filter(|score| score.is_finite()) else { break };
        let likelihood = score - sum;
        total += likelihood;
        count += 1.0;
        if chosen == tokens.end || found.len() >= MAX_TOKENS || network.room() <= 1 {
            break;
        }
        found.push((chosen, likelihood));
        if let Some(keep) = repetition(&found, tokens) {
            found.truncate(keep);
            is_repetitive = true;
            break;
        }
        scores = network.step(chosen);
    }
    let text = tokens.text(found.iter().map(|(token, _)| *token).filter(|token| *token < tokens.end));
    is_repetitive |= compression(&text) > REPETITIVE;
    Some(Try { mean: if count > 0.0 { total / count } else { 0.0 }, tokens: found, silence, is_repetitive })
}

/// How many times smaller a text becomes by compression: more for one that repeats itself.
fn compression(text: &str) -> f32 {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
    match packed.write_all(text.as_bytes()).and_then(|()| packed.finish()) {
        // With the header and checksum of zlib, for which the limit was chosen.
        Ok(packed) => text.len() as f32 / (packed.len() + 6) as f32,
        Err(_) => 0.0,
    }
}

/// Rules out what may not come next: times come in pairs and never go back, the first one is within the first second, and a
/// time comes where all times together are likelier than any word.
fn apply_rules(scores: &mut [f32], found: &[(u32, f32)], tokens: &Vocabulary) {
    const NEVER: f32 = f32::NEG_INFINITY;
    let zero = tokens.first_time as usize;
    if scores.len() <= zero + FIRST_TIMES {
        return;
    }
    let rule_out = |scores: &mut [f32], all: &[u32]| {
        for token in all {
            if let Some(score) = scores.get_mut(*token as usize) {
                *score = NEVER;
            }
        }
    };
    rule_out(scores, &tokens.never);
    let is_time = |back: usize| {
        found.len().checked_sub(back).and_then(|at| found.get(at)).is_some_and(|(token, _)| *token >= tokens.first_time)
    };
    let (words, times) = scores.split_at_mut(zero);
    if found.is_empty() {
        words.fill(NEVER);
        times.iter_mut().skip(FIRST_TIMES + 1).for_each(|score| *score = NEVER);
        return;
    }
    if found.len() == 1 {
        rule_out(words, &tokens.not_first);
    }
    if is_time(1) {
        if found.len() < 2 || is_time(2) {
            times.fill(NEVER);
        } else {
            // After the end of a phrase comes the beginning of the next, or the end.
            words.iter_mut().take(tokens.end as usize).for_each(|score| *score = NEVER);
        }
    }
    if let Some((latest, _)) = found.iter().rev().find(|(token, _)| *token >= tokens.first_time) {
        // A phrase ends later than it begins.
        let is_closed = is_time(1) && !is_time(2);
        let least = (latest - tokens.first_time) as usize + usize::from(!is_closed);
        times.iter_mut().take(least).for_each(|score| *score = NEVER);
    }
    let likeliest_word = words.iter().copied().fold(NEVER, f32::max);
    if log_sum(times) > likeliest_word {
        words.fill(NEVER);
    }
}

/// If the words end in four copies of one phrase of three or more tokens, or in eight of a shorter one, returns how many
/// tokens there are up to the end of the first copy.
fn repetition(found: &[(u32, f32)], tokens: &Vocabulary) -> Option<usize> {
    let words: Vec<(usize, u32)> = found
        .iter()
        .enumerate()
        .map(|(at, (token, _))| (at, *token))
        .filter(|(_, token)| *token < tokens.end)
        .collect();
    (1..=words.len() / 4).find_map(|period| {
        let copies = if period < 3 { 8 } else { 4 };
        let from = words.len().checked_sub(period.checked_mul(copies)?)?;
        let (repeated, original) = (words.get(from + period..)?, words.get(from..)?);
        let is_same = repeated.iter().zip(original).all(|((_, one), (_, other))| one == other);
        is_same.then(|| original.get(period).map(|(at, _)| *at)).flatten()
    })
}

/// Cuts the tokens of a window into phrases, and tells how far the window is done: up to the beginning of a phrase that its
/// end cuts off, else up to its end.
pub fn split(decoded: &Decoded, tokens: &Vocabulary, length: usize, is_last: bool) -> Heard {
    let all = &decoded.tokens;
    let (mut segments, mut begun, mut first) = (Vec::new(), None, 0);
    let phrase = |from: usize, to: usize, part: &[(u32, f32)]| {
        let text = tokens.text(part.iter().map(|(token, _)| *token));
        let mean = part.iter().map(|(_, likelihood)| *likelihood).sum::<f32>() / part.len().max(1) as f32;
        Phrase { start: from, end: to, text, confidence: mean.exp().clamp(0.0, 1.0) }
    };
    for (at, (token, _)) in all.iter().enumerate().filter(|(_, (token, _))| *token >= tokens.first_time) {
        let time = ((token - tokens.first_time) as usize * TICK).min(length);
        match begun {
            Some(from) if at > first => {
                segments.push(phrase(from, time, all.get(first..at).unwrap_or_default()));
                begun = None;
            }
            _ => begun = Some(time),
        }
        first = at + 1;
    }
    let mut used = length;
    if let Some(from) = begun {
        let rest = all.get(first..).unwrap_or_default();
        // A phrase without words was begun because more is said; one with words may be cut off by the end.
        let goes_on = if rest.is_empty() { from + RATE / 2 < length } else { !is_last && length == WINDOW };
        if goes_on && !segments.is_empty() && from >= RATE {
            used = from;
        } else if !rest.is_empty() {
            segments.push(phrase(from, length, rest));
        }
    }
    segments.retain(|segment| !segment.text.is_empty());
    Heard { segments, used }
}

fn likeliest(scores: &[f32]) -> u32 {
    let best = scores.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
    best.map_or(u32::MAX, |(token, _)| u32::try_from(token).unwrap_or(u32::MAX))
}

/// The logarithm of the sum of the powers of e.
fn log_sum(scores: &[f32]) -> f32 {
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if !most.is_finite() {
        return most;
    }
    most + scores.iter().filter(|score| **score > most - 20.0).map(|score| (score - most).exp()).sum::<f32>().ln()
}

/// A generator of random numbers (splitmix64) that gives the same ones for the same window: results can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 40) as f32 / (1_u64 << 24) as f32
    }

    /// Chooses a token, each with its probability at this temperature.
    fn choose(&mut self, scores: &[f32], temperature: f32) -> u32 {
        let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let power = |score: f32| ((score - most) / temperature).exp();
        let mut left = self.next() * scores.iter().map(|score| power(*score)).sum::<f32>();
        for (token, score) in scores.iter().enumerate() {
            left -= power(*score);
            if left < 0.0 {
                return u32::try_from(token).unwrap_or(u32::MAX);
            }
        }
        likeliest(scores)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tests::few;
    use super::*;

    fn decoded(tokens: &[u32]) -> Decoded {
        Decoded { tokens: tokens.iter().map(|token| (*token, -0.1)).collect() }
    }

    fn time(tenths: u32) -> u32 {
        few().first_time + tenths * 5
    }

    fn spans(heard: &Heard) -> Vec<(usize, usize, &str)> {
        heard.segments.iter().map(|one| (one.start * 10 / RATE, one.end * 10 / RATE, one.text.as_str())).collect()
    }

    #[test]
    fn a_phrase_that_the_window_cuts_off_is_left_to_the_next_one() {
        let all = decoded(&[time(0), 2, 4, time(20), time(20), 4, time(200), time(200), 2]);
        let heard = split(&all, &few(), WINDOW, false);
        assert_eq!(spans(&heard), [(0, 20, "ab ab"), (20, 200, "ab")]);
        assert_eq!(heard.used, 20 * RATE);
        assert!((heard.segments[0].confidence - (-0.1_f32).exp()).abs() < 1e-6);
        // Nothing follows: then it is all there is.
        let heard = split(&all, &few(), WINDOW, true);
        assert_eq!((spans(&heard)[2], heard.used), ((200, 300, "ab"), WINDOW));
    }

    #[test]
    fn one_phrase_without_an_end_is_kept_so_that_nothing_is_lost() {
        let heard = split(&decoded(&[time(0), 2, 4]), &few(), WINDOW, false);
        assert_eq!((spans(&heard), heard.used), (vec![(0, 300, "ab ab")], WINDOW));
        let heard = split(&decoded(&[time(0), 2, time(20), time(20)]), &few(), 25 * RATE, true);
        assert_eq!((spans(&heard), heard.used), (vec![(0, 20, "ab")], 2 * RATE));
        let heard = split(&decoded(&[]), &few(), 5 * RATE, false);
        assert_eq!((spans(&heard), heard.used), (vec![], 5 * RATE));
    }

    #[test]
    fn times_come_in_pairs_and_never_go_back() {
        let tokens = few();
        let allowed = |found: &[u32]| {
            let mut scores = vec![0.0; tokens.first_time as usize + 1501];
            scores[2] = 30.0;
            apply_rules(&mut scores, &decoded(found).tokens, &tokens);
            (0..).zip(scores).filter(|(_, score)| score.is_finite()).map(|(token, _)| token).collect::<Vec<u32>>()
        };
        assert_eq!(allowed(&[]), (time(0)..=time(10)).collect::<Vec<_>>());
        assert!(allowed(&[time(0)]).iter().all(|token| *token < tokens.first_time));
        let after = allowed(&[time(0), 2, time(4)]);
        assert!(after.iter().all(|token| *token >= time(4) || *token == tokens.end), "{after:?}");
        assert!(!allowed(&[time(0), 2]).contains(&time(0)));
        // What is never text.
        assert!(!allowed(&[time(0)]).contains(&5));
    }

    #[test]
    fn what_is_said_to_noise_is_not_believed() {
        let found =
            |mean: f32, silence: f32, is_repetitive: bool| Try { tokens: Vec::new(), mean, silence, is_repetitive };
        // Clear speech; the words of one who can hardly be understood; one who says the same again and again.
        for heard in [found(-0.3, 0.0, false), found(-1.1, 0.2, false), found(-0.6, 0.3, true), found(-0.3, 0.9, false)]
        {
            assert!(!heard.is_silence() && !heard.is_invented(), "{} {}", heard.mean, heard.silence);
        }
        // Noise, a bell, a violin, music.
        for silence in [found(-1.6, 0.95, false), found(-0.9, 0.92, false), found(-0.97, 0.69, false)] {
            assert!(silence.is_silence(), "{} {}", silence.mean, silence.silence);
        }
        for invented in [found(-0.5, 0.55, true), found(-1.25, 0.52, false), found(-1.4, 0.09, false)] {
            assert!(!invented.is_silence() && invented.is_invented(), "{} {}", invented.mean, invented.silence);
        }
    }

    #[test]
    fn repetitions_are_cut_to_one_copy() {
        let tokens = few();
        let mut found = vec![6, 5];
        (0..4).for_each(|_| found.extend([1, 2, 3]));
        assert_eq!(repetition(&decoded(&found).tokens, &tokens), Some(5));
        assert_eq!(repetition(&decoded(&found[..13]).tokens, &tokens), None);
        assert_eq!(repetition(&decoded(&[2; 8]).tokens, &tokens), Some(1));
        assert_eq!(repetition(&decoded(&[2; 7]).tokens, &tokens), None);
        assert!(compression(&"the same words ".repeat(20)) > REPETITIVE);
        assert!(compression("The order was shipped on Tuesday, and paid for with a card.") < 1.5);
    }

    #[test]
    fn chance_follows_the_probabilities_and_can_be_repeated() {
        let scores = [0.0, 2.0_f32.ln(), f32::NEG_INFINITY, 5.0_f32.ln()];
        let draw = |seed: u64| {
            let mut random = Random(seed);
            let mut counts = [0_i32; 4];
            (0..8000).for_each(|_| counts[random.choose(&scores, 1.0) as usize] += 1);
            counts
        };
        let counts = draw(7);
        assert_eq!(counts[2], 0);
        for (count, share) in [(counts[0], 1), (counts[1], 2), (counts[3], 5)] {
            assert!((count - share * 1000).abs() < 150, "{counts:?}");
        }
        assert_eq!(draw(7), counts);
        assert!((log_sum(&scores) - 8.0_f32.ln()).abs() < 1e-6);
    }
}
