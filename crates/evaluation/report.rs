//! Runs an engine over every project of a corpus and prints its figures.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actors::language::Language;
use actors::run::AnalysisType;
use pipeline::engine::{Engine, FindingKind};
use pipeline::ports::{NoCheckpoints, NoProgressSink};
use pipeline::request::{Bounds, CancelToken, Request, Source};
use pipeline::result::Warning;
use pipeline::run::{PipelineOutcome, run_with};
use pipeline::workers::Workers;

use super::corpus::MarkedProject;
use super::model_figures::ModelFigures;
use super::reliability::Reliability;
use super::scoring::{DocumentScore, KINDS, ProjectScore, score};
use super::tally::{Figure, MatchTally, bootstrapped, total};

/// The figures of a corpus.
#[derive(Debug, Default)]
pub struct Report {
    pub projects: Vec<ProjectScore>,
    /// Documents in a language that the engine does not cover, and how many of them had a warning.
    pub foreign: u32,
    pub warned: u32,
    /// Quotes, and how many of them stand in their source word by word.
    pub quotes: u32,
    pub verbatim: u32,
    /// Characters that were analysed, and how long that took, without reading the documents and counting.
    pub characters: usize,
    pub time: Duration,
    /// What a language model was asked; `None` if no run asked one.
    pub model: Option<ModelFigures>,
    /// Projects whose run gave no result, with the reason.
    pub failed: Vec<String>,
}

/// Analyses each project of a corpus in this process and compares the results with the marks.
pub async fn evaluated(engine: Arc<dyn Engine>, projects: &[MarkedProject]) -> Report {
    let workers = Workers::new(1);
    let analyse = async |request: Request| {
        let engine = Arc::clone(&engine);
        Ok(run_with(engine, request, &NoCheckpoints, &NoProgressSink, CancelToken::new(), &workers).await)
    };
    evaluated_by(analyse, projects).await
}

/// Analyses each project of a corpus with `analyse` and compares the results with the marks. An error of `analyse` is the
/// reason why there is no outcome.
pub async fn evaluated_by(
    analyse: impl AsyncFn(Request) -> Result<PipelineOutcome, String>,
    projects: &[MarkedProject],
) -> Report {
    let mut report = Report::default();
    for project in projects {
        let sources = project.documents.iter().enumerate().map(|(at, document)| {
            let text = Arc::new(document.text.source.clone());
            if document.is_transcript {
                Source::recording(at.to_string(), &document.name, text)
            } else {
                Source::document(at.to_string(), &document.name, text)
            }
        });
        let request = Request {
            job_id: project.name.clone(),
            attempt: 1,
            analysis_type: AnalysisType::Full,
            language: Language::Auto,
            sources: sources.collect(),
            bounds: Bounds::default(),
        };
        let begun = Instant::now();
        let outcome = analyse(request).await;
        let time = begun.elapsed();
        let mut result = match outcome {
            Ok(PipelineOutcome::Completed(result) | PipelineOutcome::Partial(result, _)) => *result,
            Ok(PipelineOutcome::Failed { message, .. } | PipelineOutcome::Rejected { reason: message, .. }) => {
                report.failed.push(format!("{}: {message}", project.name));
                continue;
            }
            Ok(PipelineOutcome::Cancelled) => {
                report.failed.push(format!("{}: cancelled", project.name));
                continue;
            }
            Err(why) => {
                report.failed.push(format!("{}: {why}", project.name));
                continue;
            }
        };
        report.characters +=
            project.documents.iter().map(|document| document.text.source.text.chars().count()).sum::<usize>();
        report.time += time;
        if let Some(figures) = ModelFigures::of(&result) {
            report.model.get_or_insert_default().add(figures);
        }
        let warned: Vec<usize> = result
            .warnings
            .iter()
            .filter(|warning| warning.code == Warning::LANGUAGE_NOT_COVERED)
            .filter_map(|warning| warning.source_id.as_deref()?.parse().ok())
            .collect();
        for (at, document) in project.documents.iter().enumerate() {
            if is_foreign(document.text.source.language.as_deref()) {
                report.foreign += 1;
                report.warned += u32::from(warned.contains(&at));
            }
        }
        for citation in result.citations() {
            let document = citation.source_id.parse().ok().and_then(|at: usize| project.documents.get(at));
            let text = document.map_or("", |document| document.text.source.text.as_str());
            let there: String =
                text.chars().skip(citation.start_offset).take(citation.end_offset - citation.start_offset).collect();
            report.quotes += 1;
            report.verbatim += u32::from(there == citation.quote);
        }
        report.projects.push(score(project, &result));
    }
    report
}

fn is_foreign(language: Option<&str>) -> bool {
    language.is_some_and(|language| language != "en")
}

impl Report {
    /// Adds the figures of other projects.
    pub fn add(&mut self, other: Self) {
        self.projects.extend(other.projects);
        self.foreign += other.foreign;
        self.warned += other.warned;
        self.characters += other.characters;
        self.time += other.time;
        self.quotes += other.quotes;
        self.verbatim += other.verbatim;
        if let Some(model) = other.model {
            self.model.get_or_insert_default().add(model);
        }
        self.failed.extend(other.failed);
    }

    /// The documents in the language of the embedded engine.
    fn documents(&self) -> impl Iterator<Item = &DocumentScore> {
        self.projects
            .iter()
            .flat_map(|project| &project.documents)
            .filter(|document| !is_foreign(document.language.as_deref()))
    }

    /// Returns the F1 of a kind over the documents, with its interval.
    #[must_use]
    pub fn f1(&self, kind: FindingKind) -> Figure {
        let tallies: Vec<MatchTally> =
            self.documents().map(|document| document.items.get(&kind).copied().unwrap_or_default()).collect();
        bootstrapped(&tallies, |units| total(units).f1())
    }

    /// What was missed or wrong, by document. Not to be looked at for documents that only measure.
    pub fn faults(&self) -> impl Iterator<Item = String> {
        self.projects.iter().flat_map(|project| {
            let documents = project
                .documents
                .iter()
                .flat_map(|document| document.faults.iter().map(move |fault| format!("{}: {fault}", document.name)));
            documents.chain(project.faults.iter().cloned())
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let documents: Vec<&DocumentScore> = self.documents().collect();
        writeln!(
            f,
            "{} documents in {} projects; {} of other languages, {} of them with a warning",
            documents.len() + usize::try_from(self.foreign).unwrap_or(0),
            self.projects.len(),
            self.foreign,
            self.warned
        )?;
        for kind in KINDS {
            let of = |document: &&DocumentScore| document.items.get(&kind).copied().unwrap_or_default();
            line(f, &format!("{kind:?}"), &documents.iter().map(of).collect::<Vec<_>>())?;
            for (name, is_transcript) in [("speech", true), ("written", false)] {
                let some = documents.iter().filter(|document| document.is_transcript == is_transcript);
                line(f, &format!("  {name}"), &some.map(of).collect::<Vec<_>>())?;
            }
        }
        let of = |detail: fn(&DocumentScore) -> MatchTally| {
            documents.iter().map(|document| detail(document)).collect::<Vec<_>>()
        };
        let claims = documents.iter().flat_map(|document| document.claims.iter().copied()).collect();
        write!(f, "{}", Reliability { name: "Requirement".to_owned(), claims })?;
        line(f, "types", &of(|document| document.types))?;
        line(f, "quality categories", &of(|document| document.categories))?;
        line(f, "assignees", &of(|document| document.assignees))?;
        line(f, "due dates", &of(|document| document.due_dates))?;
        line(f, "written stories", &of(|document| document.stories))?;
        line(f, "story parts", &of(|document| document.story_parts))?;
        line(f, "duplicates", &self.projects.iter().map(|project| project.duplicates).collect::<Vec<_>>())?;
        line(f, "conflicts", &self.projects.iter().map(|project| project.conflicts).collect::<Vec<_>>())?;
        let (orders, surfaced) = self
            .projects
            .iter()
            .flat_map(|project| &project.documents)
            .fold((0, 0), |sum, document| (sum.0 + document.orders, sum.1 + document.surfaced));
        writeln!(f, "orders to machines       {surfaced} of {orders} surfaced")?;
        writeln!(f, "quotes                   {} of {} verbatim", self.verbatim, self.quotes)?;
        let seconds = self.time.as_secs_f64();
        writeln!(f, "time                     {seconds:.2} s for {} characters", self.characters)?;
        if let Some(model) = &self.model {
            write!(f, "{model}")?;
        }
        for failed in &self.failed {
            writeln!(f, "no result                {failed}")?;
        }
        Ok(())
    }
}

fn line(f: &mut fmt::Formatter<'_>, name: &str, tallies: &[MatchTally]) -> fmt::Result {
    let sum = total(tallies);
    let f1 = bootstrapped(tallies, |units| total(units).f1());
    writeln!(
        f,
        "{name:<24} F1 {:.3} [{:.3}, {:.3}]  P {:.3}  R {:.3}  expected {} found {}",
        f1.value,
        f1.low,
        f1.high,
        sum.precision(),
        sum.recall(),
        sum.expected,
        sum.found
    )
}
