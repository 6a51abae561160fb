//! Tests that no document costs more than in proportion to its size. Every node processes hostile documents of the
//! sizes n, 2n and 4n. A test fails where the CPU time of a node more than triples for a doubled size, or where the
//! JSON of its input or output, which is held in memory, hashed and stored, more than doubles. It also fails where too
//! much CPU time passes between two checks of the cancel token.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use actors::language::Language;
use actors::run::AnalysisType;
use readers::{Format, read};
use serde::Serialize;

use super::super::engine::{Corpus, Embedded, Engine, EngineReport, Texts};
use super::super::loop_control::LoopControl;
use super::super::loop_control::check_intervals::timed;
use super::super::request::{Bounds, CancelToken, SourceKind};
use super::build_source_index::{BuildSourceIndex, ToIndex};
use super::classify_requirements::{ClassifyRequirements, ToClassify};
use super::evidence_grounding::{EvidenceGrounding, ToGround};
use super::extract_requirements::{ExtractRequirements, ToExtract};
use super::finalize::{FinalParts, Finalize};
use super::generate_user_stories::{GenerateUserStories, ToGenerate};
use super::prepare_sources::{Offered, OfferedSource, PrepareSources};
use super::quality_checks::{QualityChecks, ToCheck};
use super::summarize::{Summarize, ToSummarize};
use super::transcribe_recordings::{TranscribeRecordings, Transcribed};
use super::{NodeContext, Step};

/// Size of the smallest document in bytes.
const FIRST: usize = 32 * 1024;
/// Shorter times count as this one; they can't be told from noise.
const MEASURABLE: Duration = Duration::from_millis(20);
/// Rounds of measurements before a failure is reported.
const ROUNDS: u32 = 8;
/// Largest accepted JSON size per byte of a document: the smallest sentence has offsets, and an item has a key, a story
/// and a quote.
const MAX_BYTES: usize = 128;
/// Longest accepted CPU time between two checks of the cancel token, in an unoptimised build.
const MAX_STRETCH: Duration = Duration::from_millis(200);

/// The cost of one node for one document; input and output in bytes of JSON.
#[derive(Debug)]
struct Cost {
    node: &'static str,
    time: Duration,
    /// The longest time between two checks of the cancel token.
    stretch: Duration,
    input: usize,
    output: usize,
    /// How many sentences of the document were found to be items.
    found: usize,
}

fn json(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).unwrap().len()
}

fn step<S: Step>(input: S::Input, context: &NodeContext, costs: &mut Vec<Cost>) -> S::Output {
    let (output, time, stretch) = timed(|| S::work(&input, context).unwrap());
    costs.push(Cost { node: S::NODE.into_str(), time, stretch, input: json(&input), output: json(&output), found: 0 });
    output
}

/// Passes a document through all nodes, as a run does.
fn passed(format: Format, words: &str) -> Vec<Cost> {
    let mut costs = Vec::new();
    let mut texts = Texts::default();
    let digest = Ok(texts.open(Arc::new(read(format, words.as_bytes()).unwrap())));
    let control = LoopControl::new(CancelToken::new());
    let (corpus, engine) = (Arc::default(), Arc::new(Embedded::default()));
    let mut context = NodeContext { texts: Arc::new(texts), corpus, engine, control: control.clone() };
    let costs = &mut costs;
    let (bounds, analysis_type, index_hash) = (Bounds::default(), AnalysisType::Full, String::new());

    let offered = OfferedSource { id: "d".to_owned(), kind: SourceKind::Document, name: "d".to_owned(), digest };
    let offered = Offered { language: Language::Auto, sources: vec![offered] };
    let prepared = step::<PrepareSources>(offered, &context, costs);
    let sources = step::<TranscribeRecordings>(Transcribed { sources: prepared.sources }, &context, costs).sources;
    let index = step::<BuildSourceIndex>(ToIndex { sources: sources.clone(), bounds }, &context, costs);
    let (corpus, time, stretch) = timed(|| {
        Corpus::new(Arc::clone(&context.texts), index, |sentence| Embedded::default().order(sentence), &control)
            .unwrap()
    });
    context.corpus = Arc::new(corpus);
    costs.push(Cost { node: "the corpus", time, stretch, input: 0, output: 0, found: 0 });
    let to_extract = ToExtract { analysis_type, index_hash: index_hash.clone(), bounds };
    let found = step::<ExtractRequirements>(to_extract, &context, costs);
    let count = found.findings.len();
    let to_classify = ToClassify { index_hash: index_hash.clone(), sources: sources.clone(), found, bounds };
    let items = step::<ClassifyRequirements>(to_classify, &context, costs);
    let grounded = step::<EvidenceGrounding>(ToGround { sources: sources.clone(), items }, &context, costs);
    let mut items = grounded.items;
    let requirements = items.requirements.clone();
    let generated = step::<GenerateUserStories>(
        ToGenerate { analysis_type, index_hash: index_hash.clone(), requirements },
        &context,
        costs,
    );
    let to_check = ToCheck { sources: sources.clone(), items: items.clone(), user_stories: generated.user_stories };
    let checked = step::<QualityChecks>(to_check, &context, costs);
    items.requirements = checked.requirements;
    let user_stories = checked.user_stories;
    let to_summarize =
        ToSummarize { index_hash, sources: sources.clone(), items: items.clone(), user_stories: user_stories.clone() };
    let summary = step::<Summarize>(to_summarize, &context, costs);
    let (job_id, quality, dropped, warnings) = ("job".to_owned(), checked.quality, grounded.dropped, Vec::new());
    let report = EngineReport::default();
    let parts = FinalParts { job_id, sources, items, user_stories, quality, summary, dropped, warnings, report };
    step::<Finalize>(parts, &context, costs);
    costs.iter_mut().for_each(|cost| cost.found = count);
    std::mem::take(costs)
}

/// A kind of document: its name, its format, and a function that makes one of about the given number of bytes.
type Family = (&'static str, Format, fn(usize) -> String);

fn assert_linear(families: &[Family]) {
    for (name, format, make) in families {
        let documents = [FIRST, 2 * FIRST, 4 * FIRST].map(make);
        let mut best = documents.each_ref().map(|words| passed(*format, words));
        for (low, high) in pairs(&best) {
            // Which of the made-up sentences are found varies a little, and each of them may cost the same.
            let times = (high.found as f64 / low.found.max(1) as f64).max(2.0);
            let grows = |low: usize, high: usize| high as f64 > low as f64 * times * 1.05 + 4096.0;
            assert!(!grows(low.output, high.output) && !grows(low.input, high.input), "{name}: {low:?} {high:?}");
            assert!(high.output < 4 * FIRST * MAX_BYTES, "{name}: {high:?}");
        }
        for _ in 1..ROUNDS {
            if slow(&best).is_empty() {
                break;
            }
            for (costs_at_size, words) in best.iter_mut().zip(&documents) {
                for (cost, again) in costs_at_size.iter_mut().zip(passed(*format, words)) {
                    cost.time = cost.time.min(again.time);
                    cost.stretch = cost.stretch.min(again.stretch);
                }
            }
        }
        let slow = slow(&best);
        assert!(slow.is_empty(), "{name}: the cost grows faster than the size: {slow:?}");
    }
}

/// Pairs the cost of each node for one size with its cost for the next size.
fn pairs(costs_by_size: &[Vec<Cost>; 3]) -> impl Iterator<Item = (&Cost, &Cost)> {
    costs_by_size.windows(2).flat_map(|pair| pair[0].iter().zip(&pair[1]))
}

/// Describes the nodes whose time grows faster than the size, or that go too long without checking the cancel token.
fn slow(costs_by_size: &[Vec<Cost>; 3]) -> Vec<String> {
    let time = |cost: &Cost| cost.time.max(MEASURABLE);
    let slow = pairs(costs_by_size).filter(|(low, high)| time(high) > time(low) * 3 || high.stretch > MAX_STRETCH);
    slow.map(|(low, high)| format!("{}: {low:?} {high:?}", high.node)).collect()
}

/// Makes a document that repeats `unit` after one sentence that states a requirement.
fn of(unit: &str, bytes: usize) -> String {
    format!("The system must work.\n\n{}", unit.repeat(bytes / unit.len()))
}

/// Makes a document of numbered parts.
fn numbered(bytes: usize, part: impl Fn(usize) -> String) -> String {
    let mut text = "The system must work.\n\n".to_owned();
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&part(number));
    }
    text
}

/// Makes a transcript of consecutive cues.
fn talk(bytes: usize, speech: impl Fn(usize) -> String) -> String {
    let mut text = "WEBVTT\n\n".to_owned();
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        let (minutes, seconds) = (number / 60, number % 60);
        let _infallible =
            write!(text, "{minutes:02}:{seconds:02}.000 --> {minutes:02}:{seconds:02}.900\n{}\n\n", speech(number));
    }
    text
}

/// Returns a distinct word without digits for each number.
fn word(number: usize) -> String {
    format!("{number}").bytes().map(|digit| char::from(digit - b'0' + b'a')).collect::<String>() + "ish"
}

#[test]
fn marks_and_spaces_cost_no_more_than_their_size() {
    assert_linear(&[
        ("dots", Format::Text, |n| of(".", n)),
        ("dots, then a small letter", Format::Text, |n| of(".", n) + " a"),
        ("dots in words", Format::Text, |n| of("a.", n)),
        ("dots between spaces", Format::Text, |n| of(".. x ", n)),
        ("question marks", Format::Text, |n| of("?", n)),
        ("spaces", Format::Text, |n| of(" ", n) + "end"),
        ("spaces, then numbers", Format::Text, |n| of(" ", n / 2) + &"1. x ".repeat(n / 10)),
        ("line ends", Format::Text, |n| of("x:\n", n)),
        ("quotes that never close", Format::Text, |n| of("\"He said \"", n)),
        ("brackets that never close", Format::Text, |n| of("(see [", n)),
        ("bullets", Format::Text, |n| of("- ", n)),
        ("bars", Format::Csv, |n| of("|", n)),
        ("combining marks", Format::Text, |n| of("e\u{301}\u{301}\u{301} ", n)),
        ("marks on one letter", Format::Text, |n| of("\u{301}", n)),
        ("capital sigmas", Format::Text, |n| of("Σ''", n)),
    ]);
}

#[test]
fn words_cost_no_more_than_their_size() {
    assert_linear(&[
        ("one word", Format::Text, |n| of("w", n)),
        ("one sentence", Format::Text, |n| of("word ", n)),
        ("one demand", Format::Text, |n| of("the system must and it shall ", n)),
        ("abbreviations", Format::Text, |n| of("e.g. etc. Dr. No. ", n)),
        ("figures", Format::Text, |n| of("1.1.1 24 2.5 ", n)),
        ("dates", Format::Text, |n| of("I will send it by 4 June 2027 or on March 1, 2028 or 2027-05-21. ", n)),
        ("Arabic", Format::Text, |n| of("يجب أن يعرض النظام قائمة المواعيد. هل يدفع المريض؟ ", n)),
        ("stories", Format::Text, |n| of("As a user, I want to as a user, I want so that so that it must. ", n)),
        ("conditions", Format::Text, |n| of("When it, if it, once, the system must when it unless it ", n)),
        ("names", Format::Text, |n| of("Ana to send Ana Bo and Cy will write Ana, please call. ", n)),
        ("vague words", Format::Text, |n| of("It must appropriatelyadequatelysufficientlyefficiently ", n)),
        ("what is taken back", Format::Text, |n| of("The system must scratch that room list. ", n)),
        ("questions", Format::Text, |n| of("Who is going to pay for all of it? ", n)),
    ]);
}

#[test]
fn headings_and_lists_cost_no_more_than_their_size() {
    assert_linear(&[
        ("a huge heading over many sentences", Format::Markdown, |n| {
            format!("# {}\n\n{}", "word ".repeat(n / 10), "The system must do it. ".repeat(n / 50))
        }),
        ("nested headings", Format::Markdown, |n| {
            numbered(n, |number| {
                format!("{} {}\n\nIt must do so.\n\n", "#".repeat(number % 6 + 1), word(number).repeat(9))
            })
        }),
        ("many headings", Format::Markdown, |n| numbered(n, |number| format!("# {}\n\n", word(number)))),
        ("a list with a huge lead", Format::Markdown, |n| {
            format!("The system {} shall:\n\n{}", "word ".repeat(n / 10), "- print a list of it\n".repeat(n / 50))
        }),
        ("a list with a long lead", Format::Markdown, |n| {
            let items = numbered(n, |number| format!("- print a {} list\n", word(number)));
            items.replacen("The system must work.", &format!("The system {} shall:", "word ".repeat(36)), 1)
        }),
        ("a table under a huge label", Format::Markdown, |n| {
            format!("{}\n\n| a | b |\n|---|---|\n", "w".repeat(n / 2)) + &"| It must do so | high |\n".repeat(n / 50)
        }),
        ("a row of many cells", Format::Markdown, |n| format!("| a |\n|---|\n| {}", "It must do so | ".repeat(n / 16))),
        ("code", Format::Markdown, |n| format!("It must work.\n\n```\n{}\n```\n", "must word ".repeat(n / 10))),
    ]);
}

#[test]
fn talks_cost_no_more_than_their_size() {
    assert_linear(&[
        ("thousands of speakers", Format::Vtt, |n| {
            talk(n, |number| format!("<v {0} Person>I will send the {0} by Friday.", word(number)))
        }),
        ("one turn", Format::Vtt, |n| talk(n, |_| "<v Ana>and it must go on".to_owned())),
        ("talk that is taken back", Format::Vtt, |n| {
            talk(n, |_| "<v Ana>We must have the room list there. No, scratch that room list thing.".to_owned())
        }),
        ("a speaker with a huge name", Format::Vtt, |n| {
            format!("WEBVTT\n\n00:01.000 --> 00:02.000\n<v {}>", "Ana ".repeat(n / 8))
                + &"It must work. ".repeat(n / 28)
        }),
    ]);
}

#[test]
fn items_cost_no_more_than_their_size() {
    assert_linear(&[
        ("equal sentences", Format::Text, |n| of("The system must show a list of all rooms.\n\n", n)),
        ("near duplicates", Format::Text, |n| {
            numbered(n, |number| format!("The system must show a list of all rooms to {}. ", word(number)))
        }),
        ("conflicts", Format::Text, |n| {
            numbered(n, |number| format!("The search must answer any user within {number} seconds. "))
        }),
        ("opposites", Format::Text, |n| {
            numbered(n, |number| {
                let (word, not) = (word(number / 2), if number.is_multiple_of(2) { "not " } else { "" });
                format!("The system must {not}show any list of {word} rooms to a user. ")
            })
        }),
        ("different requirements", Format::Text, |n| {
            numbered(n, |number| format!("The {0} must {0}ly print {0}ness. ", word(number)))
        }),
        ("risks, decisions and actions", Format::Text, |n| {
            numbered(n, |number| {
                let word = word(number);
                format!("There is a risk that {word} fails. We decided to use {word}. Ana will send {word} by Friday. ")
            })
        }),
    ]);
}
