//! Groups the points of voices: those of one person are near each other.
//!
//! Points that follow each other without a change are a stretch. Stretches are merged as long as two groups are near each
//! other on average; a voice is a group with enough speech. Then each point goes to the nearest voice, where a change of
//! the voice between two points has its price. The work is bounded: only the longest stretches decide what voices there are.

use voices::VoicePoint;

/// Points that are this near to those before them belong to their stretch.
const SAME_STRETCH: f32 = 0.66;
/// Groups whose points are nearer to each other than this on average are one voice.
const SAME_VOICE: f32 = 0.60;
/// The least speech of a voice, in looks of .8 s.
const MIN_LOOKS: usize = 6;
/// How many stretches decide what voices there are.
const MAX_STRETCHES: usize = 1_500;
/// The price of a change of the voice: within speech, and at a pause.
const CHANGE: f32 = 0.12;
const CHANGE_AT_PAUSE: f32 = 0.05;

/// The point of a part of the sound.
pub struct HeardPoint {
    pub point: VoicePoint,
    /// Whether there is no pause between it and the one before.
    pub continues: bool,
}

/// Points of one voice, as far as is known: their sum and their number.
#[derive(Clone)]
struct VoiceGroup {
    sum: Vec<f32>,
    count: usize,
}

impl VoiceGroup {
    fn of(point: &VoicePoint) -> Self {
        Self { sum: point.clone(), count: 1 }
    }

    fn add(&mut self, sum: &[f32], count: usize) {
        self.sum.iter_mut().zip(sum).for_each(|(own, other)| *own += other);
        self.count += count;
    }

    /// The mean of the cosines between the points of both.
    #[expect(clippy::cast_precision_loss, reason = "there are some 50,000 points at most")]
    fn nearness(&self, other: &Self) -> f32 {
        dot(&self.sum, &other.sum) / (self.count * other.count) as f32
    }

    /// The cosine between a point and the middle of the group.
    fn cosine(&self, point: &VoicePoint) -> f32 {
        dot(&self.sum, point) / dot(&self.sum, &self.sum).sqrt().max(1e-12)
    }
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Returns the group of each point.
pub fn grouped(points: &[HeardPoint]) -> Vec<usize> {
    let mut stretches = stretches(points);
    stretches.sort_by_key(|stretch| std::cmp::Reverse(stretch.count));
    stretches.truncate(MAX_STRETCHES);
    let voices = voices(merged(stretches));
    paths(points, &voices)
}

fn stretches(points: &[HeardPoint]) -> Vec<VoiceGroup> {
    let mut stretches: Vec<VoiceGroup> = Vec::new();
    for HeardPoint { point, continues } in points {
        match stretches.last_mut().filter(|last| *continues && last.cosine(point) >= SAME_STRETCH) {
            Some(last) => last.add(point, 1),
            None => stretches.push(VoiceGroup::of(point)),
        }
    }
    stretches
}

/// Merges the nearest two groups, again and again, as long as they are near enough.
fn merged(mut groups: Vec<VoiceGroup>) -> Vec<VoiceGroup> {
    // For each group the nearest one behind it.
    let nearest = |groups: &[VoiceGroup], at: usize| {
        let (own, behind) = groups.get(at..)?.split_first()?;
        let near = behind.iter().enumerate().map(|(away, other)| (at + 1 + away, own.nearness(other)));
        near.max_by(|one, other| one.1.total_cmp(&other.1))
    };
    let mut best: Vec<Option<(usize, f32)>> = (0..groups.len()).map(|at| nearest(&groups, at)).collect();
    loop {
        let pairs = best.iter().enumerate().filter_map(|(at, best)| best.map(|(other, near)| (at, other, near)));
        let Some((one, other, near)) = pairs.max_by(|a, b| a.2.total_cmp(&b.2)) else { return groups };
        if near < SAME_VOICE {
            return groups;
        }
        // The last group takes the place of the one that goes.
        let gone = groups.swap_remove(other);
        best.swap_remove(other);
        if let Some(group) = groups.get_mut(one) {
            group.add(&gone.sum, gone.count);
        }
        let moved = groups.len();
        for at in 0..groups.len() {
            let is_stale = at == one
                || at == other
                || best.get(at).copied().flatten().is_some_and(|(to, _)| to == one || to == other || to == moved);
            let found = if is_stale {
                nearest(&groups, at)
            } else {
                // Only what changed can be nearer than what was nearest.
                let changed = [one, other].into_iter().filter(|&to| to > at);
                let near = changed.filter_map(|to| Some((to, groups.get(at)?.nearness(groups.get(to)?))));
                near.chain(best.get(at).copied().flatten()).max_by(|a, b| a.1.total_cmp(&b.1))
            };
            if let Some(slot) = best.get_mut(at) {
                *slot = found;
            }
        }
    }
}

/// The groups with enough speech; if there is none, the largest.
fn voices(groups: Vec<VoiceGroup>) -> Vec<VoiceGroup> {
    let largest = groups.iter().map(|group| group.count).max().unwrap_or_default();
    groups.into_iter().filter(|group| group.count >= MIN_LOOKS.min(largest)).collect()
}

/// Returns the voices that points are nearest to, where each change has its price: of all ways, the best one.
fn paths(points: &[HeardPoint], voices: &[VoiceGroup]) -> Vec<usize> {
    let mut scores = vec![0.0_f32; voices.len()];
    let mut from: Vec<Vec<usize>> = Vec::with_capacity(points.len());
    for HeardPoint { point, continues } in points {
        let price = if *continues { CHANGE } else { CHANGE_AT_PAUSE };
        let best = best_of(&scores);
        let highest = scores.get(best).copied().unwrap_or_default();
        let mut came = Vec::with_capacity(voices.len());
        for (at, (score, voice)) in scores.iter_mut().zip(voices).enumerate() {
            let is_change = highest - price > *score;
            came.push(if is_change { best } else { at });
            *score = if is_change { highest - price } else { *score } + voice.cosine(point);
        }
        from.push(came);
    }
    let mut at = best_of(&scores);
    let mut path: Vec<usize> = from
        .iter()
        .rev()
        .map(|came| {
            let here = at;
            at = came.get(at).copied().unwrap_or(at);
            here
        })
        .collect();
    path.reverse();
    path
}

fn best_of(scores: &[f32]) -> usize {
    scores.iter().enumerate().max_by(|one, other| one.1.total_cmp(other.1)).map_or(0, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// A point near the axis of a voice; no two are equal.
    fn point(voice: usize, number: usize) -> VoicePoint {
        let mut point = vec![0.0; 256];
        point[voice] = 1.0;
        point[100 + number % 150] += 0.4;
        point[60 + number % 37] += 0.2;
        let length = dot(&point, &point).sqrt();
        point.iter().map(|value| value / length).collect()
    }

    fn heard(voices: &[usize]) -> Vec<HeardPoint> {
        let heard =
            |(number, voice): (usize, &usize)| HeardPoint { point: point(*voice, number), continues: number % 5 != 0 };
        voices.iter().enumerate().map(heard).collect()
    }

    /// Whether the same points are together.
    fn is_same(found: &[usize], wanted: &[usize]) -> bool {
        found.len() == wanted.len()
            && (0..found.len()).all(|a| (0..a).all(|b| (found[a] == found[b]) == (wanted[a] == wanted[b])))
    }

    #[test]
    fn each_voice_is_one_group() {
        for voices in [1, 2, 4] {
            let wanted: Vec<usize> = (0..120).map(|at| at / 5 % voices).collect();
            let found = grouped(&heard(&wanted));
            assert!(is_same(&found, &wanted), "{voices} voices: {found:?}");
        }
        assert!(grouped(&[]).is_empty());
        assert_eq!(grouped(&heard(&[3])), [0]);
    }

    #[test]
    fn a_single_look_like_nobody_is_no_voice() {
        let mut wanted = vec![0; 60];
        wanted[20] = 9;
        assert!(grouped(&heard(&wanted)).iter().all(|group| *group == 0));
    }

    #[test]
    fn merging_is_the_same_as_looking_at_all_pairs_each_time() {
        let slow = |mut groups: Vec<VoiceGroup>| loop {
            let pairs = (0..groups.len()).flat_map(|a| (a + 1..groups.len()).map(move |b| (a, b)));
            let near = pairs.map(|(a, b)| (a, b, groups[a].nearness(&groups[b])));
            match near.max_by(|one, other| one.2.total_cmp(&other.2)) {
                Some((a, b, near)) if near >= SAME_VOICE => {
                    let gone = groups.swap_remove(b);
                    groups[a].add(&gone.sum, gone.count);
                }
                _ => return groups.len(),
            }
        };
        for seed in 1..30 {
            let of = |at: usize| VoiceGroup::of(&point(at * seed * 7 % 5, at * seed));
            let groups: Vec<VoiceGroup> = (0..40).map(of).collect();
            assert_eq!(merged(groups.clone()).len(), slow(groups));
        }
    }

    #[test]
    fn twelve_hours_are_grouped_in_seconds() {
        let voices: Vec<usize> = (0..54_000).map(|at| at / 3 % 17).collect();
        let began = Instant::now();
        let found = grouped(&heard(&voices));
        assert_eq!(found.len(), voices.len());
        // A bound, not a measurement: it would be hours if it grew with the square.
        assert!(began.elapsed().as_secs() < 120, "{:?}", began.elapsed());
    }
}
