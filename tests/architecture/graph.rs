//! Graphs of names, their circles, and the order in which the fewest arrows run back up.

use std::collections::{BTreeMap, BTreeSet};

/// Who imports whom.
#[derive(Default)]
pub struct Graph(pub BTreeMap<String, BTreeSet<String>>);

/// Circles of more nodes are put in order step by step, not in the best of all orders.
const EXACT: usize = 16;

impl Graph {
    pub fn add(&mut self, from: &str) {
        self.0.entry(from.to_owned()).or_default();
    }

    pub fn connect(&mut self, from: &str, to: &str) {
        if from != to {
            self.0.entry(from.to_owned()).or_default().insert(to.to_owned());
        }
    }

    pub fn arrows(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }

    fn reached(&self, from: &str) -> BTreeSet<&str> {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(node) = next.pop() {
            for to in self.0.get(node).into_iter().flatten() {
                if seen.insert(to.as_str()) {
                    next.push(to);
                }
            }
        }
        seen
    }

    /// The largest sets of nodes that all reach each other.
    pub fn circles(&self) -> Vec<Vec<&str>> {
        let reached: BTreeMap<&str, _> = self.0.keys().map(|node| (node.as_str(), self.reached(node))).collect();
        let mut circles = BTreeSet::new();
        for (node, seen) in &reached {
            if seen.contains(node) {
                let is_in = |other: &&str| reached.get(other).is_some_and(|back| back.contains(node));
                circles.insert(seen.iter().copied().filter(is_in).collect::<Vec<_>>());
            }
        }
        circles.into_iter().collect()
    }

    /// The arrows that run back up in the order in which the fewest do.
    pub fn up(&self) -> Vec<(&str, &str)> {
        let mut up = Vec::new();
        for circle in self.circles() {
            let order = if circle.len() <= EXACT { self.best_order(&circle) } else { self.some_order(&circle) };
            let place = |node: &str| order.iter().position(|one| *one == node);
            for from in &circle {
                let to = self.0[*from].iter().filter(|to| place(to) > place(from));
                up.extend(to.map(|to| (*from, to.as_str())));
            }
        }
        up
    }

    /// From the bottom: each node imports as few as can be of those after it. Tries all subsets, not all orders.
    fn best_order<'a>(&self, circle: &[&'a str]) -> Vec<&'a str> {
        let bit = |node: &str| circle.iter().position(|one| *one == node).map_or(0, |at| 1_usize << at);
        let imports: Vec<usize> =
            circle.iter().map(|node| self.0[*node].iter().map(|to| bit(to)).fold(0, |all, one| all | one)).collect();
        let all = (1_usize << circle.len()) - 1;
        let mut best = vec![(u32::MAX, 0); all + 1];
        best[0].0 = 0;
        for below in 0..all {
            for (at, imports) in imports.iter().enumerate().filter(|(at, _)| below & (1 << at) == 0) {
                let up = best[below].0 + (imports & !below & !(1 << at)).count_ones();
                let next = below | (1 << at);
                if up < best[next].0 {
                    best[next] = (up, at);
                }
            }
        }
        let (mut order, mut rest) = (Vec::new(), all);
        while rest != 0 {
            order.push(circle[best[rest].1]);
            rest &= !(1 << best[rest].1);
        }
        order.reverse();
        order
    }

    /// From the bottom: the next one is always one that imports the fewest of those that are left.
    fn some_order<'a>(&self, circle: &[&'a str]) -> Vec<&'a str> {
        let (mut left, mut order): (BTreeSet<&str>, Vec<&str>) = (circle.iter().copied().collect(), Vec::new());
        while !left.is_empty() {
            let count = |node: &&&str| self.0[**node].iter().filter(|to| left.contains(to.as_str())).count();
            let next = *left.iter().min_by_key(count).unwrap();
            left.remove(next);
            order.extend(circle.iter().find(|one| **one == next));
        }
        order
    }

    /// How many floors the nodes stand on, each above all that it imports.
    pub fn floors(&self) -> usize {
        let up: BTreeSet<_> = self.up().into_iter().collect();
        let mut floors: BTreeMap<&str, usize> = BTreeMap::new();
        while floors.len() < self.0.len() {
            let before = floors.len();
            for (node, imports) in &self.0 {
                let down = imports.iter().filter(|to| !up.contains(&(node.as_str(), to.as_str())));
                let below: Option<Vec<usize>> = down.map(|to| floors.get(to.as_str()).copied()).collect();
                if let Some(below) = below {
                    floors.insert(node, below.into_iter().max().unwrap_or(0) + 1);
                }
            }
            assert!(floors.len() > before, "nodes that only others are imported by: {:?}", self.0);
        }
        floors.into_values().max().unwrap_or(0)
    }
}

#[test]
fn of_a_circle_only_the_arrow_that_has_to_runs_back_up() {
    let mut graph = Graph::default();
    for (from, to) in [("b", "a"), ("c", "a"), ("c", "b"), ("a", "c"), ("d", "c")] {
        graph.add(to);
        graph.connect(from, to);
    }
    assert_eq!(graph.circles(), [vec!["a", "b", "c"]]);
    assert_eq!((graph.up(), graph.floors(), graph.arrows()), (vec![("a", "c")], 4, 5));
    assert_eq!(graph.some_order(&["a", "b", "c"]).len(), 3);
}
