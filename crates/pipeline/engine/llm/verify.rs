//! The verifying pass: a second question, without the document, whether each quote supports its statement and demands the
//! same. A statement in the quote's own words needs none.

use super::super::super::chat::Chat;
use super::super::super::loop_control::{Halted, LoopControl};
use super::extract::Questions;
use super::prompts::Claim;
use super::tally::ModelTally;
use super::{answer, prompts, schema};

/// The most pairs of one question.
const PAIRS: usize = 12;

/// What the model says of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    Supported,
    /// The quote does not say that, or says the opposite.
    Unsupported,
    /// There is no verdict.
    Unknown,
}

/// Returns what the model says of each claim.
pub fn verify(
    questions: &Questions<'_>,
    claims: &[Claim],
    tally: &mut ModelTally,
    control: &LoopControl,
) -> Result<Vec<Support>, Halted> {
    let groups: Vec<&[Claim]> = claims.chunks(PAIRS).collect();
    let chats: Vec<Chat> = groups
        .iter()
        .map(|group| questions.chat("verdicts", prompts::VERIFY, prompts::claims(group), schema::verdicts()))
        .collect();
    let answers = questions.ask(&chats, tally, control)?;
    let mut supports = Vec::with_capacity(claims.len());
    for (group, answer) in groups.iter().zip(answers) {
        let verdicts = answer.ok().and_then(|(text, _)| answer::verdicts(&text));
        let verdicts = verdicts.map(|found| found.elements).unwrap_or_default();
        for number in 1..=group.len() {
            let mut own = verdicts.iter().filter(|verdict| verdict.number == number);
            supports.push(match (own.next(), own.next()) {
                (Some(verdict), None) if verdict.is_supported && !verdict.is_opposite => Support::Supported,
                (Some(_), None) => Support::Unsupported,
                // None, or several that may contradict each other.
                _ => Support::Unknown,
            });
        }
    }
    let unknown = supports.iter().filter(|finding| **finding == Support::Unknown).count();
    tally.unverified(unknown);
    Ok(supports)
}
