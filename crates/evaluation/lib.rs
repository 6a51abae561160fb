//! How good an engine is: runs it over documents whose items are marked, and over public sets of sentences, and counts.
//!
//! The server does not know it: the command `colloquy models eval` runs it, and so do the examples, which are the tools of who
//! teaches the engine.
//!
//! Reading order: marked (documents with marks) · corpus (folders of them) · scoring (a result against the marks) ·
//! tally (figures with intervals) · reliability (confidences against what held) · model_figures (what a language model was asked) ·
//! report · confined_run (a run as a server does it) · public · training, relation_training (of heads) · calibrating (of their
//! confidences) · taught · lessons (what they learn from) · agreement (of two markings).

mod agreement;
mod calibrating;
mod confined_run;
mod corpus;
mod lessons;
mod marked;
mod model_figures;
mod public;
mod relation_training;
mod reliability;
mod report;
mod scoring;
mod tally;
mod taught;
mod training;

pub use agreement::{Agreement, agreement};
pub use confined_run::analysed_in_child;
pub use corpus::{MarkedDocument, MarkedProject, UnusableCorpus, projects};
pub use lessons::{Lessons, claims, lessons, trained};
pub use marked::{MarkLabel, MarkedText, SourceMark, read_marked};
pub use model_figures::ModelFigures;
pub use public::{GROUPS, JudgedRows, functions, quality_groups, requirements};
pub use reliability::{ConfidenceClaim, Reliability};
pub use report::{Report, evaluated, evaluated_by};
pub use scoring::{DocumentScore, KINDS, ProjectScore, score};
pub use tally::{Figure, MatchTally, bootstrapped, total};
pub use taught::{TableRow, TableTask, crossed, rows, taught};
