//! From chunks to findings: the questions in their order, and what becomes of the answers.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use actors::run::AnalysisType;
use serde_json::Value;

use super::super::super::chat::{Chat, NoCompletion};
use super::super::super::loop_control::{Halted, LoopControl};
use super::super::corpus::Corpus;
use super::super::exclusions::is_retracted;
use super::super::find::{completed, is_candidate};
use super::super::{Engine, Extraction, Finding, FindingKind, Judgement};
use super::answer::{Elements, Proposed};
use super::chunks::{SourceChunk, chunks};
use super::prompts::Claim;
use super::quotes::{Located, QuoteFinder, Tier};
use super::statement::reliable;
use super::tally::ModelTally;
use super::verify::{self, verify};
use super::{Llm, answer, prompts, schema};

/// Questions that are handed over together. If none of them is answered, no more are asked.
const TOGETHER: usize = 8;
/// Characters of an item in the source's own words.
const MAX_OWN_WORDS_LENGTH: usize = 600;
/// How much less sure an item is whose quote was found but for a few words, or that no verdict confirms.
const DOUBT: f64 = 0.85;

/// The text of an answer, and whether it ended in the middle.
pub type AnswerText = Result<(String, bool), NoCompletion>;

/// Asks the model of one run.
pub struct Questions<'a> {
    llm: &'a Llm,
    /// How often it has asked: each time is a phase of the progress.
    phase: Cell<usize>,
    /// Why no more questions are asked.
    lasting: RefCell<Option<NoCompletion>>,
}

impl Questions<'_> {
    pub fn chat(&self, schema_name: &str, system: &str, user: String, schema: Value) -> Chat {
        Chat {
            model: self.llm.usage.name.clone(),
            system: system.to_owned(),
            user,
            schema_name: schema_name.to_owned(),
            schema,
            answer_tokens: self.llm.usage.answer_tokens,
        }
    }

    /// Returns the answers in the order of the chats. Once a whole group fails, or a failure is lasting, the others are not
    /// asked any more, and have the same failure.
    pub fn ask(
        &self,
        chats: &[Chat],
        tally: &mut ModelTally,
        control: &LoopControl,
    ) -> Result<Vec<AnswerText>, Halted> {
        let phase = self.phase.replace(self.phase.get() + 1);
        let mut answers = Vec::with_capacity(chats.len());
        let mut gave_up: Option<NoCompletion> = self.lasting.borrow().clone();
        for group in chats.chunks(TOGETHER) {
            control.report(permille(phase, answers.len(), chats.len()), 1_000)?;
            if let Some(failure) = &gave_up {
                answers.extend(group.iter().map(|_| Err(failure.clone())));
                continue;
            }
            let given: Vec<AnswerText> =
                self.llm.model.complete(group, control)?.into_iter().map(|answer| tally.text(answer)).collect();
            let failures: Vec<&NoCompletion> = given.iter().filter_map(|answer| answer.as_ref().err()).collect();
            let is_away = failures.len() == group.len();
            gave_up = failures.iter().find(|failure| is_away || failure.is_lasting()).map(|failure| (*failure).clone());
            if let Some(failure) = failures.iter().find(|failure| failure.is_lasting()) {
                self.lasting.replace(Some((*failure).clone()));
            }
            answers.extend(given);
        }
        // A model that answers fewer than it was asked.
        let missing = chats.len().saturating_sub(answers.len());
        answers.extend((0..missing).map(|_| Err(NoCompletion::Invalid("answers are missing".to_owned()))));
        Ok(answers)
    }
}

/// Where the phases begin and end, in permille: parts, parts once more, quotes once more, verdicts.
const PHASES: [usize; 5] = [0, 700, 750, 850, 1_000];

/// Returns the progress when some questions of a phase are answered.
fn permille(phase: usize, done: usize, all: usize) -> usize {
    let bound = |phase: usize| PHASES.get(phase).copied().unwrap_or(1_000);
    let (from, to) = (bound(phase), bound(phase + 1));
    from + (to - from) * done.min(all) / all.max(1)
}

/// An item whose quote stands in its chunk.
struct Candidate {
    kind: FindingKind,
    located: Located,
    judged: Judgement,
    confidence: f64,
    /// What the quoted sentences say.
    quoted: String,
    /// What the sentences say that the item has in place of the model's words, and which these are beside the first one.
    own_words: String,
    own_also: Vec<usize>,
    /// The model's words, if they can be relied on so far.
    statement: Option<String>,
}

impl Candidate {
    /// Returns the quoted sentences that its own words leave over.
    fn beyond_own(&self) -> impl Iterator<Item = usize> {
        self.located.also.iter().copied().filter(|at| !self.own_also.contains(at))
    }
}

pub fn extract(
    llm: &Llm,
    corpus: &Corpus,
    analysis: AnalysisType,
    control: &LoopControl,
) -> Result<Extraction, Halted> {
    let chunks = chunks(corpus, llm.usage.chunk_characters, control)?;
    let questions = Questions { llm, phase: Cell::new(0), lasting: RefCell::default() };
    let mut tally = ModelTally::of(&llm.usage.name, chunks.len());
    let proposed = proposed(&questions, &chunks, analysis, &mut tally, control)?;
    let unanswered: BTreeSet<usize> = chunks
        .iter()
        .zip(&proposed)
        .filter(|(_, proposed)| proposed.is_none())
        .flat_map(|(chunk, _)| chunk.sentences.iter().copied())
        .collect();
    let candidates = located(&questions, corpus, &chunks, proposed, &mut tally, control)?;
    let left_over: Vec<usize> = candidates.iter().flat_map(Candidate::beyond_own).collect();
    let mut findings = verified(&questions, candidates, &mut tally, control)?;
    // What a quote of several paragraphs leaves over is nothing that the model judged by itself.
    let kept: BTreeSet<usize> =
        findings.iter().flat_map(|finding| finding.also.iter().copied().chain([finding.sentence])).collect();
    let left_over: BTreeSet<usize> = left_over.into_iter().filter(|at| !kept.contains(at)).collect();
    tally.left_over(left_over.len());
    let open: BTreeSet<usize> = unanswered.union(&left_over).copied().collect();
    if llm.falls_back && !open.is_empty() {
        let by_rules = llm.embedded.find(corpus, control)?;
        findings.extend(by_rules.into_iter().filter(|finding| open.contains(&finding.sentence)));
    }
    findings.sort_by_key(|finding| finding.sentence);
    let mut seen = BTreeSet::new();
    findings.retain(|finding| seen.insert((finding.kind, finding.sentence, finding.statement.clone())));
    Ok(Extraction { findings, report: tally.report(llm.falls_back) })
}

/// Returns what the model proposes for each chunk; `None` where it gave no usable answer. An answer that is none is asked
/// for once more.
fn proposed(
    questions: &Questions<'_>,
    chunks: &[SourceChunk],
    analysis: AnalysisType,
    tally: &mut ModelTally,
    control: &LoopControl,
) -> Result<Vec<Option<Vec<Proposed>>>, Halted> {
    let chat = |chunk: &SourceChunk, is_repeated| {
        let glossary = prompts::glossary(&questions.llm.embedded.terms, chunk);
        let system = prompts::find(glossary.is_some());
        let material = prompts::part(chunk, glossary.as_deref(), is_repeated);
        questions.chat("items", &system, material, schema::items(analysis))
    };
    let chats: Vec<Chat> = chunks.iter().map(|chunk| chat(chunk, false)).collect();
    let first = questions.ask(&chats, tally, control)?;
    let mut read: Vec<Option<Elements<Proposed>>> = Vec::with_capacity(chunks.len());
    let mut again = Vec::new();
    for (at, answer) in first.into_iter().enumerate() {
        let found = answer.map(|(text, is_cut)| (answer::items(&text), is_cut));
        match found {
            Ok((Some(elements), is_cut)) => read.push(Some(Elements { is_cut: elements.is_cut || is_cut, ..elements })),
            Ok((None, _)) => {
                again.push(at);
                read.push(None);
            }
            Err(_) => read.push(None),
        }
    }
    let chats: Vec<Chat> = again.iter().filter_map(|at| chunks.get(*at)).map(|chunk| chat(chunk, true)).collect();
    for (at, answer) in again.iter().zip(questions.ask(&chats, tally, control)?) {
        let Ok((text, is_cut)) = answer else { continue };
        match (answer::items(&text), read.get_mut(*at)) {
            (Some(elements), Some(place)) => *place = Some(Elements { is_cut: elements.is_cut || is_cut, ..elements }),
            _ => tally.fail(NoCompletion::Invalid("it is not the JSON that was asked for".to_owned())),
        }
    }
    let mut all = Vec::with_capacity(read.len());
    for elements in read {
        control.check()?;
        let Some(Elements { elements, invalid, is_cut }) = elements else {
            tally.leave_unanswered();
            all.push(None);
            continue;
        };
        let wanted: Vec<Proposed> = elements.into_iter().filter(|item| item.kind.is_wanted(analysis)).collect();
        tally.invalid(invalid);
        if is_cut {
            tally.cut();
        }
        all.push(Some(wanted));
    }
    Ok(all)
}

/// Finds the quotes in their chunks. Those that are not there are asked for once more, and then dropped.
fn located(
    questions: &Questions<'_>,
    corpus: &Corpus,
    chunks: &[SourceChunk],
    proposed: Vec<Option<Vec<Proposed>>>,
    tally: &mut ModelTally,
    control: &LoopControl,
) -> Result<Vec<Candidate>, Halted> {
    let mut candidates = Vec::new();
    let mut missing: Vec<(usize, Vec<Proposed>)> = Vec::new();
    for (at, (chunk, proposed)) in chunks.iter().zip(proposed).enumerate() {
        let finder = QuoteFinder::new(corpus, chunk);
        let mut lost = Vec::new();
        for item in proposed.unwrap_or_default() {
            control.check()?;
            match finder.find(&item.quote) {
                Some(found) => candidates.extend(candidate(corpus, item, found, false, tally)),
                None => lost.push(item),
            }
        }
        if !lost.is_empty() {
            missing.push((at, lost));
        }
    }
    let chats: Vec<Chat> = missing
        .iter()
        .filter_map(|(at, lost)| {
            let quotes: Vec<&str> = lost.iter().map(|item| item.quote.as_str()).collect();
            let user = prompts::quotes_again(chunks.get(*at)?, &quotes);
            Some(questions.chat("quotes", prompts::QUOTE_AGAIN, user, schema::quotes()))
        })
        .collect();
    let answers = questions.ask(&chats, tally, control)?;
    for ((at, lost), answer) in missing.into_iter().zip(answers) {
        let Some(finder) = chunks.get(at).map(|chunk| QuoteFinder::new(corpus, chunk)) else { continue };
        let quotes = answer.ok().and_then(|(text, _)| answer::quotes(&text)).map(|found| found.elements);
        let quotes: BTreeMap<usize, String> = quotes.unwrap_or_default().into_iter().collect();
        for (place, item) in lost.into_iter().enumerate() {
            control.check()?;
            match quotes.get(&(place + 1)).and_then(|quote| finder.find(quote)) {
                Some(found) => candidates.extend(candidate(corpus, item, found, true, tally)),
                None => tally.metrics.quotes.dropped += 1,
            }
        }
    }
    Ok(candidates)
}

fn candidate(
    corpus: &Corpus,
    item: Proposed,
    mut located: Located,
    is_retried: bool,
    tally: &mut ModelTally,
) -> Option<Candidate> {
    tally.found(located.tier, is_retried);
    let mut places: Vec<usize> = [located.sentence].into_iter().chain(located.also.iter().copied()).collect();
    places.sort_unstable();
    let sentences: Vec<_> = places.iter().filter_map(|at| corpus.sentence(*at)).collect();
    // Nothing that addresses a machine is in a chunk; whatever a later change sends, nothing comes from there.
    if sentences.len() != places.len() || !sentences.iter().all(|sentence| is_candidate(sentence)) {
        tally.metrics.unsupported += 1;
        return None;
    }
    // What its speaker took back is nothing, also if the model did not notice.
    if is_retracted(corpus, located.sentence) {
        tally.metrics.unsupported += 1;
        return None;
    }
    let mut quoted = sentences.iter().map(|sentence| sentence.words.as_str()).collect::<Vec<_>>().join(" ");
    let bare = quoted.clone();
    // Sentences of several paragraphs or turns belong together in the words of the model alone.
    let block = corpus.sentence(located.sentence).map(|sentence| sentence.block);
    let slot = corpus.slot(located.sentence);
    let is_beside = |at: usize| corpus.slot(at) == slot && corpus.sentence(at).map(|sentence| sentence.block) == block;
    let own: Vec<usize> = places.iter().copied().filter(|at| is_beside(*at)).collect();
    let own_words = own.iter().filter_map(|at| corpus.sentence(*at)).map(|sentence| sentence.words.as_str());
    let mut own_words = own_words.collect::<Vec<_>>().join(" ");
    let mut own_also: Vec<usize> = own.into_iter().filter(|at| *at != located.sentence).collect();
    // A list's item is read with what leads into it.
    if let ([sentence], [at]) = (sentences.as_slice(), places.as_slice())
        && let Some((lead, statement)) = completed(corpus, sentence, *at)
    {
        quoted = format!("{} {quoted}", corpus.sentence(lead).map(|lead| lead.words.as_str()).unwrap_or_default());
        own_words = statement;
        located.also.push(lead);
        own_also.push(lead);
    }
    let own_words: String = own_words.chars().take(MAX_OWN_WORDS_LENGTH).collect();
    let is_own = |statement: &String| [own_words.as_str(), bare.as_str()].contains(&statement.as_str());
    let statement = reliable(&item.statement, &quoted).filter(|statement| !is_own(statement));
    let Proposed { kind, judged, confidence, .. } = item;
    let confidence = if located.tier == Tier::Fuzzy { confidence * DOUBT } else { confidence };
    Some(Candidate { kind, located, judged, confidence, quoted, own_words, own_also, statement })
}

/// Has the model's own words verified, and returns the findings.
fn verified(
    questions: &Questions<'_>,
    candidates: Vec<Candidate>,
    tally: &mut ModelTally,
    control: &LoopControl,
) -> Result<Vec<Finding>, Halted> {
    let claim = |candidate: &Candidate| {
        let statement = candidate.statement.clone()?;
        Some(Claim { quote: candidate.quoted.clone(), statement })
    };
    let claims: Vec<Claim> = candidates.iter().filter_map(claim).collect();
    let mut verdicts = verify(questions, &claims, tally, control)?.into_iter();
    let mut findings = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        control.check()?;
        let Candidate { kind, located, judged, confidence, quoted: _, own_words, own_also, statement } = candidate;
        let is_stated = statement.is_some();
        let verdict = if is_stated { verdicts.next() } else { None };
        let (statement, also, confidence) = match (statement, verdict) {
            (Some(_), Some(verify::Support::Unsupported)) => {
                tally.metrics.unsupported += 1;
                continue;
            }
            (Some(statement), Some(verify::Support::Supported)) => (statement, located.also, confidence),
            (Some(_), _) => (own_words, own_also, confidence * DOUBT),
            (None, _) => (own_words, own_also, confidence),
        };
        tally.metrics.in_own_words += u32::from(!is_stated || confidence_is_doubted(verdict));
        let judged = (kind == FindingKind::Requirement).then_some(judged);
        let confidence = (confidence * 100.0).round() / 100.0;
        findings.push(Finding { kind, sentence: located.sentence, also, statement, confidence, judged });
    }
    Ok(findings)
}

fn confidence_is_doubted(verdict: Option<verify::Support>) -> bool {
    verdict != Some(verify::Support::Supported)
}
