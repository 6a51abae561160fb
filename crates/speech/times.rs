//! Where phrases begin and end, by voice activity: the recogniser's own times lie up to a second within pauses. And what it
//! left out.

use whisper::{Phrase, RATE};

use super::activity::FRAME;

/// A frame with this score is speech.
const SPEECH: f32 = 0.5;
/// Shorter pauses are within words: closed lips.
const SHORTEST_PAUSE: usize = RATE * 16 / 100 / FRAME;
/// A pause as long as this is between sentences.
const LONG_PAUSE: usize = RATE * 8 / 10 / FRAME;
/// How far a time may be from the pause that it means.
const REACH: usize = RATE * 4 / 10 / FRAME;
/// Speech of this length between two phrases was left out.
const LEAST_MISSED: usize = RATE * 8 / 10;
/// So much speech has at least so many bytes of text in each second; people say two or three times as much, in every
/// language's letters. Else the recogniser skipped some of it.
const LEAST_TO_TELL: usize = RATE * 3 / 2;
const LEAST_BYTES_PER_SECOND: usize = 5;

/// The scores of frames, of which the first begins at a sample.
#[derive(Clone, Copy)]
pub struct ScoredFrames<'a> {
    pub base: usize,
    pub scores: &'a [f32],
}

impl ScoredFrames<'_> {
    const fn frame(&self, sample: usize) -> usize {
        sample.saturating_sub(self.base) / FRAME
    }

    /// Samples of speech in a part.
    pub fn speech(&self, from: usize, to: usize) -> usize {
        let part = self.scores.get(self.frame(from)..self.frame(to).min(self.scores.len())).unwrap_or_default();
        part.iter().filter(|score| **score >= SPEECH).count() * FRAME
    }

    /// Moves the beginnings and ends of phrases, whose times are samples as those of the frames, to the edges of pauses.
    pub fn move_to_pauses(&self, phrases: &mut [Phrase]) {
        let pauses = self.pauses();
        let mut earliest = 0;
        for at in 0..phrases.len() {
            let (before, rest) = phrases.split_at_mut(at);
            let Some(phrase) = rest.first_mut() else { return };
            if let Some((_, to)) = self.nearest(&pauses, phrase.start).filter(|(_, to)| *to < phrase.end)
                && to >= earliest
            {
                phrase.start = to;
            }
            earliest = phrase.start + FRAME;
            if let Some(last) = before.last_mut() {
                last.end = last.end.min(phrase.start).max(last.start);
            }
        }
        let mut latest = usize::MAX;
        for phrase in phrases.iter_mut().rev() {
            let pause = self.nearest(&pauses, phrase.end);
            if let Some((from, _)) = pause.filter(|(from, _)| *from > phrase.start && *from <= latest) {
                phrase.end = from;
            }
            latest = phrase.start;
        }
    }

    /// Returns the pause that a time means: one within reach, rather a longer one than a nearer one, since phrases end in
    /// longer pauses than words.
    fn nearest(&self, pauses: &[(usize, usize)], sample: usize) -> Option<(usize, usize)> {
        let frame = self.frame(sample);
        let distance = |(from, to): &(usize, usize)| from.saturating_sub(frame).max(frame.saturating_sub(*to));
        let length = |(from, to): &(usize, usize)| (to - from).min(LONG_PAUSE);
        let within = pauses.iter().filter(|pause| distance(pause) <= REACH);
        let meant = within.min_by_key(|pause| distance(pause) + (LONG_PAUSE - length(pause)) / 2);
        meant.map(|(from, to)| (self.base + from * FRAME, self.base + to * FRAME))
    }

    /// The pauses as ranges of frames. What is before the first frame and behind the last one is not known, so a pause at
    /// either may be longer than it looks.
    fn pauses(&self) -> Vec<(usize, usize)> {
        let (mut pauses, mut begun) = (Vec::new(), 0);
        for (at, score) in self.scores.iter().copied().chain([1.0]).enumerate() {
            if score >= SPEECH {
                let is_at_edge = begun == 0 || at == self.scores.len();
                if at >= begun + SHORTEST_PAUSE || (at > begun && is_at_edge) {
                    pauses.push((begun, at));
                }
                begun = at + 1;
            }
        }
        pauses
    }

    /// Returns parts of `from..to` with more speech than their text: between phrases, and in phrases with too little text.
    /// None is nearly all of it: to hear the same again changes nothing.
    pub fn missed(&self, phrases: &[Phrase], from: usize, to: usize) -> Vec<(usize, usize)> {
        let mut missed: Vec<(usize, usize)> = Vec::new();
        let mut add = |from: usize, to: usize| match missed.last_mut() {
            Some(last) if from <= last.1 + FRAME => last.1 = to,
            _ => missed.push((from, to)),
        };
        let mut done = from;
        for phrase in phrases {
            if self.speech(done, phrase.start) >= LEAST_MISSED {
                add(done, phrase.start);
            }
            let speech = self.speech(phrase.start, phrase.end);
            if speech >= LEAST_TO_TELL && phrase.text.len() * RATE < LEAST_BYTES_PER_SECOND * speech {
                add(phrase.start, phrase.end);
            }
            done = phrase.end;
        }
        if self.speech(done, to) >= LEAST_MISSED {
            add(done, to);
        }
        missed.retain(|part| (part.1 - part.0) * 10 < to.saturating_sub(from) * 9);
        missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrase(start: usize, end: usize, text: &str) -> Phrase {
        Phrase { start: start * FRAME, end: end * FRAME, text: text.to_owned(), confidence: 0.9 }
    }

    fn times(phrases: &[Phrase]) -> Vec<(usize, usize)> {
        phrases.iter().map(|one| (one.start / FRAME, one.end / FRAME)).collect()
    }

    /// Speech in frames 20 to 100, 150 to 300 (with closed lips in between), and 320 to 400, of 500.
    fn scores() -> Vec<f32> {
        let mut scores = vec![0.1; 500];
        for (from, to) in [(20, 100), (150, 200), (204, 300), (320, 400)] {
            scores[from..to].fill(0.9);
        }
        scores
    }

    #[test]
    fn phrases_begin_and_end_where_speech_does() {
        let frames = ScoredFrames { base: 0, scores: &scores() };
        // Each end in the pause behind it, or in what is said next.
        let mut phrases = [phrase(0, 130, "a"), phrase(130, 310, "b"), phrase(325, 480, "c")];
        frames.move_to_pauses(&mut phrases);
        assert_eq!(times(&phrases), [(20, 100), (150, 300), (320, 400)]);
        let mut phrases = [phrase(10, 165, "a"), phrase(165, 290, "b")];
        frames.move_to_pauses(&mut phrases);
        assert_eq!(times(&phrases), [(20, 100), (150, 300)]);
        // Two phrases without a pause between them meet where the recogniser says.
        let mut phrases = [phrase(150, 240, "a"), phrase(240, 300, "b")];
        frames.move_to_pauses(&mut phrases);
        assert_eq!(times(&phrases), [(150, 240), (240, 300)]);
    }

    #[test]
    fn no_time_is_moved_past_another() {
        let frames = ScoredFrames { base: 0, scores: &scores() };
        let mut phrases = [phrase(105, 110, "a"), phrase(112, 114, "b"), phrase(410, 490, "c")];
        frames.move_to_pauses(&mut phrases);
        assert!(phrases.iter().all(|one| one.start <= one.end), "{:?}", times(&phrases));
        assert!(phrases.is_sorted_by_key(|one| one.start), "{:?}", times(&phrases));
        let mut phrases = [phrase(3, 4, "a")];
        ScoredFrames { base: 0, scores: &[] }.move_to_pauses(&mut phrases);
        assert_eq!(times(&phrases), [(3, 4)]);
    }

    #[test]
    fn speech_without_text_was_missed() {
        let frames = ScoredFrames { base: 0, scores: &scores() };
        let (said, all) = ("a sentence of a usual length", 500 * FRAME);
        let in_frames = |missed: Vec<(usize, usize)>| -> Vec<(usize, usize)> {
            missed.into_iter().map(|(from, to)| (from / FRAME, to / FRAME)).collect()
        };
        let heard = [phrase(20, 100, said), phrase(320, 400, said)];
        assert_eq!(in_frames(frames.missed(&heard, 0, all)), [(100, 320)]);
        // A phrase over all that speech, with too little text for it.
        let heard = [phrase(20, 100, said), phrase(150, 300, "P."), phrase(320, 400, said)];
        assert_eq!(in_frames(frames.missed(&heard, 0, all)), [(150, 300)]);
        let heard = [phrase(20, 100, said), phrase(150, 300, said), phrase(320, 400, said)];
        assert_eq!(frames.missed(&heard, 0, all), []);
        // Nothing at all was heard: it was no speech.
        assert_eq!(frames.missed(&[], 0, all), []);
    }
}
