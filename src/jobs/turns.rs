//! Chooses which jobs of a kind start: those of the key with the fewest running, and among equals by turn.

use std::collections::HashMap;

use actors::ids::Id;

use super::Job;
use super::store::OfKey;

/// Chooses `most` due jobs, in the order in which they start. `under_way` holds how many jobs of each key run already.
pub fn deal(due: Vec<OfKey>, mut under_way: HashMap<String, usize>, most: usize) -> Vec<(String, Id<Job>)> {
    let mut hands: Vec<_> =
        due.into_iter().map(|of_key| (of_key.fair_key, of_key.ids.into_iter().peekable())).collect();
    let mut dealt = Vec::new();
    while dealt.len() < most {
        let waiting = hands.iter_mut().filter_map(|(key, ids)| ids.peek().is_some().then_some((key, ids)));
        let least = waiting.min_by_key(|(key, _)| under_way.get(*key).copied().unwrap_or(0));
        let Some((key, ids)) = least else { break };
        if let Some(id) = ids.next() {
            *under_way.entry(key.clone()).or_default() += 1;
            dealt.push((key.clone(), id));
        }
    }
    dealt
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dealt(due: &[(&str, usize)], under_way: &[(&str, usize)], most: usize) -> Vec<String> {
        let of_key = |(key, count): &(&str, usize)| OfKey {
            fair_key: (*key).to_owned(),
            ids: (0..*count).map(|_| Id::generate()).collect(),
        };
        let under_way = under_way.iter().map(|(key, count)| ((*key).to_owned(), *count)).collect();
        deal(due.iter().map(of_key).collect(), under_way, most).into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn each_key_gets_one_before_any_gets_two_and_no_place_stays_empty() {
        assert_eq!(dealt(&[("a", 9), ("b", 1), ("c", 9)], &[], 5), ["a", "b", "c", "a", "c"]);
        assert_eq!(dealt(&[("a", 9)], &[], 3), ["a", "a", "a"]);
        assert_eq!(dealt(&[("a", 1)], &[], 3), ["a"]);
    }

    #[test]
    fn who_has_one_under_way_waits_for_who_has_none() {
        assert_eq!(dealt(&[("a", 9), ("b", 9)], &[("a", 1)], 1), ["b"]);
        assert_eq!(dealt(&[("a", 9), ("b", 9)], &[("a", 1)], 3), ["b", "a", "b"]);
    }
}
