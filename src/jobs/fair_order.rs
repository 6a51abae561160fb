//! Chooses which jobs of a kind start: those of the key with the fewest running, and among equals by turn.

use std::collections::HashMap;

use actors::ids::Id;

use super::Job;
use super::store::OfKey;

/// Chooses `most` due jobs, in the order in which they start. `running` holds how many jobs of each key run already.
pub fn choose(due: Vec<OfKey>, mut running: HashMap<String, usize>, most: usize) -> Vec<(String, Id<Job>)> {
    let mut waiting: Vec<_> =
        due.into_iter().map(|of_key| (of_key.fair_key, of_key.ids.into_iter().peekable())).collect();
    let mut chosen = Vec::new();
    while chosen.len() < most {
        let left = waiting.iter_mut().filter_map(|(key, ids)| ids.peek().is_some().then_some((key, ids)));
        let least = left.min_by_key(|(key, _)| running.get(*key).copied().unwrap_or(0));
        let Some((key, ids)) = least else { break };
        if let Some(id) = ids.next() {
            *running.entry(key.clone()).or_default() += 1;
            chosen.push((key.clone(), id));
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(due: &[(&str, usize)], running: &[(&str, usize)], most: usize) -> Vec<String> {
        let of_key = |(key, count): &(&str, usize)| OfKey {
            fair_key: (*key).to_owned(),
            ids: (0..*count).map(|_| Id::generate()).collect(),
        };
        let running = running.iter().map(|(key, count)| ((*key).to_owned(), *count)).collect();
        choose(due.iter().map(of_key).collect(), running, most).into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn each_key_gets_one_before_any_gets_two_and_no_permit_stays_unused() {
        assert_eq!(chosen(&[("a", 9), ("b", 1), ("c", 9)], &[], 5), ["a", "b", "c", "a", "c"]);
        assert_eq!(chosen(&[("a", 9)], &[], 3), ["a", "a", "a"]);
        assert_eq!(chosen(&[("a", 1)], &[], 3), ["a"]);
    }

    #[test]
    fn a_key_with_a_running_job_waits_for_one_without() {
        assert_eq!(chosen(&[("a", 9), ("b", 9)], &[("a", 1)], 1), ["b"]);
        assert_eq!(chosen(&[("a", 9), ("b", 9)], &[("a", 1)], 3), ["b", "a", "b"]);
    }
}
