//! What items are of: their kinds, types, priorities and qualities.

use actors::wire_enum;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

wire_enum! {
    /// The type of a requirement.
    pub enum RequirementType {
        Functional,
        NonFunctional,
        Business,
        Constraint,
        Unknown,
    }
}

wire_enum! {
    /// The characteristics of ISO/IEC 25010:2011.
    pub enum QualityCategory {
        FunctionalSuitability,
        PerformanceEfficiency,
        Compatibility,
        Usability,
        Reliability,
        Security,
        Maintainability,
        Portability,
    }
}

wire_enum! {
    /// The priority, as far as the source states it.
    pub enum Priority {
        Low,
        Medium,
        High,
        Critical,
        Unknown,
    }
}

/// A confidence in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConfidenceLevel {
    Low,
    Medium,
    High,
}

impl ConfidenceLevel {
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// Returns the level of a confidence, 0–1: high if at least four in five such findings hold, low if most of them don't.
    #[must_use]
    pub fn of(confidence: f64) -> Self {
        match confidence {
            0.8.. => Self::High,
            0.5..0.8 => Self::Medium,
            _ => Self::Low,
        }
    }
}

wire_enum! {
    /// The severity or likelihood of a risk, and the severity of a quality issue.
    #[derive(Default)]
    pub enum Severity {
        Low,
        #[default]
        Medium,
        High,
        Critical,
    }
}

/// The pattern of EARS (Easy Approach to Requirements Syntax) that a requirement is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EarsPattern {
    /// It always holds.
    Ubiquitous,
    /// “When …”
    EventDriven,
    /// “While …”
    StateDriven,
    /// “If …, then …”: what happens where something goes wrong.
    UnwantedBehaviour,
    /// “Where …”: only in some variants of the product.
    OptionalFeature,
    /// Several of these.
    Complex,
}

/// A property of an item that makes it hard to build or to test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QualityIssue {
    pub code: IssueCode,
    /// What could be better, in a sentence for people.
    pub message: String,
    #[serde(default)]
    pub severity: Severity,
}

impl QualityIssue {
    /// Creates an issue with the severity of its code.
    #[must_use]
    pub const fn new(code: IssueCode, message: String) -> Self {
        Self { severity: code.severity(), code, message }
    }
}

wire_enum! {
    /// The code of a quality issue.
    pub enum IssueCode {
        /// A word that can be read in more than one way. Of a story: not estimable (the E of INVEST).
        VagueWord,
        /// A passive that does not say who or what does it.
        PassiveWithoutActor,
        /// More than one demand: not atomic. Of a story: not independent (the I of INVEST).
        SeveralInOne,
        /// A quality without a figure.
        Unmeasurable,
        UnclearPronoun,
        OpenEnded,
        Placeholder,
        /// Too many words. Of a story: not small (the S of INVEST).
        TooLong,
        MissingRole,
        /// Of a story: its value is not said (the V of INVEST).
        MissingBenefit,
        /// Of a story: nothing to test it by (the T of INVEST).
        MissingCriteria,
        /// Another requirement says the opposite, or another figure for the same.
        Conflict,
        /// Says how instead of what. Of a story: leaves nothing to talk about (the N of INVEST).
        Solution,
    }
}

impl IssueCode {
    /// Returns how much an issue of this kind hinders whoever builds or tests the item.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::Placeholder => Severity::High,
            // A claim to be checked.
            Self::Conflict
            | Self::SeveralInOne
            | Self::Unmeasurable
            | Self::UnclearPronoun
            | Self::OpenEnded
            | Self::MissingCriteria => Severity::Medium,
            Self::VagueWord
            | Self::PassiveWithoutActor
            | Self::TooLong
            | Self::MissingRole
            | Self::MissingBenefit
            | Self::Solution => Severity::Low,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confidence_has_the_level_that_it_reaches() {
        let levels = [0.0, 0.49, 0.5, 0.79, 0.8, 1.0].map(ConfidenceLevel::of);
        let [low, medium, high] = ConfidenceLevel::ALL;
        assert_eq!(levels, [low, low, medium, medium, high, high]);
        assert_eq!(ConfidenceLevel::of(f64::NAN), low);
    }
}
