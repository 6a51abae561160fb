//! Lessons for the heads out of marked documents, and the training of heads with thresholds.

use std::sync::Arc;

use pipeline::engine::find::{self, FindingRoute};
use pipeline::engine::heads::{
    self, CorpusContext, Features, LinearHead, OrderCues, RelationHead, Sight, TrainedHeads, features_alone,
    features_of, likeliest_kind, of_order, of_pair, of_requirement, softmax,
};
use pipeline::engine::sameness::{fingerprints, pairs};
use pipeline::engine::{Corpus, FindingKind, Indexer, PreparedSentence, Texts};
use pipeline::glossary::ProjectTerms;
use pipeline::loop_control::{Halted, LoopControl};
use pipeline::request::{Bounds, CancelToken};

use super::calibrating::{JudgedFinding, calibration};
use super::corpus::MarkedProject;
use super::marked::{MarkLabel, SourceMark};
use super::relation_training::train_relations;
use super::reliability::ConfidenceClaim;
use super::training::{Lesson, train};

/// Buckets of the head of kinds and of the head of types.
const BUCKETS: (usize, usize) = (1 << 16, 1 << 14);
const ORDER_BUCKETS: usize = 1 << 15;
/// How much an order to a machine counts in training.
const ORDER: f32 = 2.0;
/// How many sentences too many are as bad as an order that is missed, where little and where much of an order is seen.
const MISSED_ORDER: [f32; 2] = [5.0, 20.0];
/// How much a sentence without its surroundings counts.
const ALONE: f32 = 0.5;
/// Parts that the corpus is divided into, by project, to choose thresholds.
const PARTS: usize = 5;
/// How much a sentence counts for the thresholds of the other medium.
const OTHER_MEDIUM: f64 = 0.35;
/// How much less than the best F1 is as good. Heads that were trained on some projects are too cautious about rare kinds in
/// others.
const NEARLY: f64 = 0.01;

/// The lessons of one project.
#[derive(Debug, Clone, Default)]
pub struct Lessons {
    kinds: Vec<Lesson>,
    types: Vec<Lesson>,
    /// With whether much of an order is seen.
    orders: Vec<(Lesson, bool)>,
    relations: Vec<(Sight, usize)>,
    /// How many pairs of requirements are marked as alike and as opposed, whether they are among the lessons or not.
    related: [usize; 2],
    /// Sentences in their context.
    sentences: Vec<SentenceLesson>,
    /// Of the sentences in the form of a user story, whether they are marked as a requirement.
    stories: Vec<bool>,
}

/// A sentence in its context, of which the heads judge.
#[derive(Debug, Clone)]
struct SentenceLesson {
    features: Features,
    is_speech: bool,
    class: usize,
    /// How it may become an item.
    route: Option<FindingRoute>,
    /// A decision that is taken back later. What is found of such is left out again, mostly.
    is_taken_back: bool,
}

/// Returns the lessons of a project.
#[must_use]
pub fn lessons(project: &MarkedProject) -> Lessons {
    let mut lessons = Lessons::default();
    // Nothing cancels this.
    let _halted = fill(project, &mut lessons);
    lessons
}

fn fill(project: &MarkedProject, lessons: &mut Lessons) -> Result<(), Halted> {
    let control = LoopControl::new(CancelToken::new());
    let mut texts = Texts::default();
    for document in &project.documents {
        texts.open(Arc::new(document.text.source.clone()));
    }
    let texts = Arc::new(texts);
    let mut indexer = Indexer::new(Bounds::default(), 0, &control);
    for slot in 0..project.documents.len() {
        if let Some(text) = texts.get(slot) {
            indexer.add(slot, text)?;
        }
    }
    let index = indexer.finish();
    let places: Vec<(usize, usize, usize)> =
        index.sentences.iter().map(|sentence| (sentence.slot, sentence.start, sentence.end)).collect();
    // What is an order is learnt too, so that here it is known from the marks.
    let corpus = Corpus::new(texts, index, |_| None, &control)?;
    let context = CorpusContext::new(&corpus, &control)?;
    let mut demands: Vec<(&SourceMark, usize, String)> = Vec::new();
    for (at, sentence) in corpus.sentences().iter().enumerate() {
        let Some(&(slot, start, end)) = places.get(at) else { continue };
        let marks = project.documents.get(slot).map_or([].as_slice(), |document| document.text.marks.as_slice());
        let mark = marks.iter().filter(|mark| mark.covers(start, end)).max_by_key(|mark| mark.shared(start, end));
        let label = mark.map(|mark| mark.label);
        let is_order = label == Some(MarkLabel::Order);
        let cues = OrderCues::of(sentence);
        let weight = if is_order { ORDER } else { 1.0 };
        let lesson = Lesson { features: of_order(sentence, &cues), class: usize::from(is_order), weight };
        lessons.orders.push((lesson, cues.is_likely()));
        let route = find::route(&corpus, &context, at, sentence);
        if route == Some(FindingRoute::Story) && !is_order {
            lessons.stories.push(label.is_some_and(|label| label.requirement().is_some()));
        }
        if !find::is_candidate(sentence) || matches!(label, Some(MarkLabel::Order | MarkLabel::Story)) {
            continue;
        }
        let class = class_of(label);
        let features = features_of(&corpus, &context, at);
        lessons.sentences.push(SentenceLesson {
            features: features.clone(),
            is_speech: sentence.is_spoken(),
            class,
            route,
            is_taken_back: label == Some(MarkLabel::Reversed),
        });
        lessons.kinds.push(Lesson { features, class, weight: 1.0 });
        lessons.kinds.push(Lesson { features: features_alone(sentence), class, weight: ALONE });
        if let Some(class) = mark.and_then(type_of) {
            let section = corpus.section(at).unwrap_or_default().to_lowercase();
            let statement = statement_of(sentence);
            if let Some(mark) = mark.filter(|mark| demands.last().is_none_or(|(last, ..)| *last != *mark)) {
                demands.push((mark, slot, statement.to_owned()));
            }
            let features = of_requirement(statement, &section, corpus.common_words(at));
            lessons.types.push(Lesson { features, class, weight: 1.0 });
            let features = of_requirement(statement, "", None);
            lessons.types.push(Lesson { features, class, weight: ALONE });
        }
    }
    relate(&demands, lessons, &control)
}

/// Adds the lessons on how a project's requirements relate to each other.
fn relate(
    demands: &[(&SourceMark, usize, String)],
    lessons: &mut Lessons,
    control: &LoopControl,
) -> Result<(), Halted> {
    let fingerprints =
        fingerprints(&ProjectTerms::default(), demands.iter().map(|(_, _, statement)| statement.as_str()), control)?;
    let names = |at: usize, name: &str, other: usize| {
        let id = demands.get(other).and_then(|(mark, ..)| mark.attribute("id"));
        id.is_some_and(|id| demands.get(at).is_some_and(|(mark, ..)| mark.ids(name).any(|known| known == id)))
    };
    let marked = |name: &str| demands.iter().map(|(mark, ..)| mark.ids(name).count()).sum::<usize>();
    lessons.related = [marked("dup"), marked("conf")];
    for pair in pairs(&fingerprints, control)? {
        let (Some(one), Some(other)) = (fingerprints.get(pair.one), fingerprints.get(pair.other)) else { continue };
        let either = |name: &str| names(pair.one, name, pair.other) || names(pair.other, name, pair.one);
        let class = match (either("dup"), either("conf")) {
            (true, _) => heads::ALIKE,
            (_, true) => heads::OPPOSED,
            _ => 0,
        };
        let slot = |at: usize| demands.get(at).map(|(_, slot, _)| *slot);
        lessons.relations.push((of_pair(&pair, one, other, slot(pair.one) == slot(pair.other)), class));
    }
    Ok(())
}

fn statement_of(sentence: &PreparedSentence) -> &str {
    &sentence.words
}

fn class_of(label: Option<MarkLabel>) -> usize {
    let kind = match label {
        None | Some(MarkLabel::Order | MarkLabel::More) => None,
        Some(MarkLabel::Action) => Some(FindingKind::ActionItem),
        Some(MarkLabel::Decision | MarkLabel::Reversed) => Some(FindingKind::Decision),
        Some(MarkLabel::Question) => Some(FindingKind::OpenQuestion),
        Some(MarkLabel::Risk) => Some(FindingKind::Risk),
        Some(_) => Some(FindingKind::Requirement),
    };
    heads::KINDS.iter().position(|known| *known == kind).unwrap_or(0)
}

fn type_of(mark: &SourceMark) -> Option<usize> {
    let wanted = mark.label.requirement()?;
    heads::TYPES.iter().position(|known| *known == wanted)
}

/// Trains heads on lessons. The thresholds are chosen on projects that the judged sentence's project is not among.
#[must_use]
pub fn trained(lessons: &[Lessons]) -> TrainedHeads {
    let mut judged: Vec<(&SentenceLesson, Vec<f32>)> = Vec::new();
    for part in 0..PARTS {
        let head = kinds_of(lessons.iter().enumerate().filter(|(at, _)| at % PARTS != part).map(|(_, lesson)| lesson));
        let own = lessons.iter().skip(part).step_by(PARTS).flat_map(|lesson| &lesson.sentences);
        judged.extend(own.map(|sentence| (sentence, head.scores(&sentence.features))));
    }
    let kinds = kinds_of(lessons.iter());
    let types: Vec<Lesson> = lessons.iter().flat_map(|lessons| lessons.types.iter().cloned()).collect();
    let types = train(&types, heads::TYPES.len(), BUCKETS.1);
    let probabilities: Vec<(Vec<f32>, bool, usize)> =
        judged.iter().map(|(sentence, scores)| (softmax(scores), sentence.is_speech, sentence.class)).collect();
    let mut thresholds = [[0.5; 5]; 2];
    for (is_speech, of_medium) in [false, true].into_iter().zip(&mut thresholds) {
        for (class, threshold) in (1..).zip(of_medium) {
            *threshold = best_threshold(&probabilities, is_speech, class);
        }
    }
    let (orders, order_thresholds) = orders_of(lessons);
    let relations = relations_of(lessons);
    let stories = lessons.iter().flat_map(|lesson| &lesson.stories).map(|is_right| JudgedFinding::story(*is_right));
    let found = judged.iter().filter_map(|(sentence, scores)| sentence.judged(scores, &thresholds));
    let calibration = calibration(&found.chain(stories).collect::<Vec<_>>());
    TrainedHeads { kinds, types, orders, order_thresholds, relations, thresholds, calibration }
}

/// Returns what heads claim of the sentences of a project that they find something in, by kind, and whether it holds.
#[must_use]
pub fn claims(heads: &TrainedHeads, lessons: &Lessons) -> Vec<(FindingKind, ConfidenceClaim)> {
    let judged = lessons
        .sentences
        .iter()
        .filter_map(|sentence| sentence.judged(&heads.kinds.scores(&sentence.features), &heads.thresholds));
    let stories = lessons.stories.iter().map(|is_right| JudgedFinding::story(*is_right));
    judged.chain(stories).map(|judged| judged.claim(&heads.calibration)).collect()
}

impl SentenceLesson {
    /// Returns what is found in the sentence by these scores, if it is anything that counts.
    fn judged(&self, scores: &[f32], thresholds: &[[f32; 5]; 2]) -> Option<JudgedFinding> {
        let Some(FindingRoute::Judged { is_plain_demand }) = self.route else { return None };
        let is_of = |kind| heads::KINDS.get(self.class) == Some(&Some(kind));
        match likeliest_kind(scores, thresholds.get(usize::from(self.is_speech))?) {
            Some((FindingKind::Decision, _)) if self.is_taken_back => None,
            Some((kind, log_odds)) => Some(JudgedFinding::by_heads(kind, log_odds, is_of(kind))),
            None => is_plain_demand.then(|| JudgedFinding::demand(is_of(FindingKind::Requirement))),
        }
    }
}

/// Trains the head of orders. Its thresholds are the best ones on projects that it was not trained on, where an order that is
/// missed counts as much as [`MISSED_ORDER`] sentences that are none.
fn orders_of(lessons: &[Lessons]) -> (LinearHead, [f32; 2]) {
    let trained_on = |is_among: &dyn Fn(usize) -> bool| {
        let among = lessons.iter().enumerate().filter(|(at, _)| is_among(*at));
        let orders: Vec<Lesson> =
            among.flat_map(|(_, lessons)| lessons.orders.iter().map(|(lesson, _)| lesson.clone())).collect();
        train(&orders, 2, ORDER_BUCKETS)
    };
    let mut judged: Vec<(f32, bool, bool)> = Vec::new();
    for part in 0..PARTS {
        let head = trained_on(&|at| at % PARTS != part);
        let own = lessons.iter().skip(part).step_by(PARTS);
        for (lesson, is_likely) in own.flat_map(|lessons| &lessons.orders) {
            judged.push((
                head.probabilities(&lesson.features).get(1).copied().unwrap_or(0.0),
                lesson.class == 1,
                *is_likely,
            ));
        }
    }
    let cost = |threshold: f32, among: bool| {
        let [plain, likely] = MISSED_ORDER;
        let missed = if among { likely } else { plain };
        let wrong = |(likely, is_order, _): &(f32, bool, bool)| match (*likely >= threshold, is_order) {
            (false, true) => missed,
            (true, false) => 1.0,
            _ => 0.0,
        };
        judged.iter().filter(|(.., is_likely)| *is_likely == among).map(wrong).sum::<f32>()
    };
    let steps = (1..=60_u8).map(|step| 0.5 * (f32::from(step) * -0.1).exp());
    let best = |among: bool| {
        let least = |best: (f32, f32), step| if cost(step, among) < best.1 { (step, cost(step, among)) } else { best };
        steps.clone().fold((0.5, f32::INFINITY), least).0
    };
    (trained_on(&|_| true), [best(false), best(true)])
}

/// Trains the head of relations, with the thresholds of the best F1 on projects that it was not trained on.
fn relations_of(lessons: &[Lessons]) -> RelationHead {
    let trained_on = |is_among: &dyn Fn(usize) -> bool| {
        let among = lessons.iter().enumerate().filter(|(at, _)| is_among(*at));
        let relations: Vec<(Sight, usize)> = among.flat_map(|(_, lessons)| lessons.relations.iter().copied()).collect();
        train_relations(&relations)
    };
    let mut judged: Vec<(Vec<f32>, usize)> = Vec::new();
    for part in 0..PARTS {
        let head = trained_on(&|at| at % PARTS != part);
        let pairs = lessons.iter().skip(part).step_by(PARTS).flat_map(|lessons| &lessons.relations);
        judged.extend(pairs.map(|(sight, class)| (head.probabilities(sight), *class)));
    }
    let threshold = |class: usize| {
        let expected: usize = lessons.iter().filter_map(|lessons| lessons.related.get(class - 1)).sum();
        let f1 = |threshold: f32| {
            let is_found =
                |probabilities: &Vec<f32>| probabilities.get(class).is_some_and(|likely| *likely >= threshold);
            let found = judged.iter().filter(|(probabilities, _)| is_found(probabilities));
            let (found, right) = found
                .fold((0_u32, 0_u32), |(found, right), (_, truth)| (found + 1, right + u32::from(*truth == class)));
            2.0 * f64::from(right)
                / (f64::from(found) + f64::from(u32::try_from(expected).unwrap_or(u32::MAX))).max(1.0)
        };
        let steps = (1..=32_u8).map(|step| f32::from(step) * 0.025);
        steps.fold((0.5, 0.0), |best: (f32, f64), step| if f1(step) > best.1 { (step, f1(step)) } else { best }).0
    };
    let mut head = trained_on(&|_| true);
    head.thresholds = [threshold(heads::ALIKE), threshold(heads::OPPOSED)];
    head
}

fn kinds_of<'a>(lessons: impl Iterator<Item = &'a Lessons>) -> LinearHead {
    let kinds: Vec<Lesson> = lessons.flat_map(|lessons| lessons.kinds.iter().cloned()).collect();
    train(&kinds, heads::KINDS.len(), BUCKETS.0)
}

/// Returns the middle one of the thresholds, and a lower one for a rare kind, from .025 to .7, whose F1 for a class is
/// nearly the best. The other medium has a say too: one alone has few sentences of a rare kind.
fn best_threshold(judged: &[(Vec<f32>, bool, usize)], is_speech: bool, class: usize) -> f32 {
    let mut tried = Vec::new();
    for threshold in (1..=28_u8).map(|step| f32::from(step) * 0.025) {
        let (mut found, mut expected, mut right) = (0.0_f64, 0.0_f64, 0.0_f64);
        for (probabilities, spoken, truth) in judged {
            let weight = if *spoken == is_speech { 1.0 } else { OTHER_MEDIUM };
            let is_found = probabilities.get(class).is_some_and(|probability| *probability >= threshold);
            found += if is_found { weight } else { 0.0 };
            expected += if *truth == class { weight } else { 0.0 };
            right += if is_found && *truth == class { weight } else { 0.0 };
        }
        tried.push((threshold, if found + expected > 0.0 { 2.0 * right / (found + expected) } else { 0.0 }));
    }
    let best = tried.iter().fold(0.0, |best: f64, (_, f1)| best.max(*f1));
    tried.retain(|(_, f1)| *f1 >= best - NEARLY);
    tried.get(tried.len() / if class == 1 { 2 } else { 4 }).map_or(0.5, |(threshold, _)| *threshold)
}
