//! Type, category and priority of a requirement, by the words of the sentence, its heading and its table row.

use std::sync::LazyLock;

use regex::Regex;

use super::super::result::{Priority, QualityCategory, RequirementType};
use super::corpus::plain;
use super::exclusions;
use super::lexicon::{CRITICAL, MAY, MUST, SHOULD, WILL, pattern};

static CONSTRAINT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(must not exceed|budget|euro|eur|dollars?|cost of|within the european union|",
        r"of the european union|member states|in writing|destroyed|open format|end of the contract|",
        r"comply with|compliant|in compliance|in accordance with|conform to|",
        r"iso \d+|iso/iec|hl7|fhir|gdpr|certificate|license[ds]?|licence|written in|programming language|go live|",
        r"deadline|no later than|only (be used|telephone|on)|third parties|run (in|on) (the )?(two |all )?(browsers?|windows|linux)|",
        r"hosted (in|on)|(java|python|oracle|postgresql|sql server|windows|linux|unix)|must never be used)\b"
    ))
});
static CONSTRAINT_HEADING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(constraints?|standards?|legal requirements|compliance|budget|schedule|timeline)\b"));
static BUSINESS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(goals?|share of|revenue|cut the|reduce (the )?(cost|number|time)|by the end of 20\d\d|fewer|increase|",
        r"percent (of|to|fewer|more)|market|return on investment|on average|save at least|what we really need)\b"
    ))
});
static BUSINESS_HEADING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(goals?|objectives?|business|aims?|vision|targets?|purpose)\b"));

static QUALITIES: LazyLock<Vec<(QualityCategory, Regex, Regex)>> = LazyLock::new(|| {
    use QualityCategory as Q;
    let table = [
        (
            Q::Security,
            concat!(
                r"\b(encrypt\w*|authenticat\w*|authoris\w*|authoriz\w*|password|two factors?|sign in|security|",
                r"secure\w*|privacy|access (to|control|rights)|audit|protected|attack\w*|session ends|",
                r"allowed to (open|see)|records of access|code by text|confidential\w*|permissions?|",
                r"unauthori[sz]ed|intrusion|firewall|certificate)\b"
            ),
            r"\b(security|privacy|data protection|access)\b",
        ),
        (
            Q::PerformanceEfficiency,
            concat!(
                r"\b(seconds|\d seconds?|milliseconds?|ms|response time|respond within|throughput|latency|",
                r"at the same time|concurrent\w*|simultaneous\w*|per (second|minute|hour|day)|performance|fast|",
                r"faster|quickly|speed|load|kilobytes?|megabytes?|capacity|scal\w+|users at work|memory|cpu|",
                r"bandwidth)\b"
            ),
            r"\b(performance|speed|capacity|load|efficiency|scalability)\b",
        ),
        (
            Q::Reliability,
            concat!(
                r"\b(available \d|availability|downtime|uptime|failures?|faults?|recover\w*|backups?|",
                r"restore[ds]?|redundan\w+|back within|crash\w*|fail-?over|reliab\w+|system is down|disaster|",
                r"24/7|7 days|24 hours (per|a) day|maintenance is to take place|without access|",
                r"percent of the (service|time))\b"
            ),
            r"\b(availability|reliability|continuity|service level|operation)\b",
        ),
        (
            Q::Usability,
            concat!(
                r"\b(easy|ease of use|intuitive\w*|usab\w+|user-friendly|accessib\w+|training|manual|",
                r"documentation|help|languages?|available in (english|\w+)|blind|wcag|level aa|half a day|",
                r"look and feel|colou?rs?|fonts?|readab\w+|screen of|hours of practice|learn\w*|",
                r"understandab\w*|appearance)\b"
            ),
            r"\b(usability|accessibility|training|ergonomics|user interface|look and feel)\b",
        ),
        (
            Q::Compatibility,
            r"\b(compatib\w+|interoperab\w+|coexist\w*|integrat\w+ with|standard (format|interface|protocol)s?)\b",
            r"\b(compatibility|interoperability)\b",
        ),
        (
            Q::Maintainability,
            concat!(
                r"\b(maintainab\w+|maintenance window|modular\w*|source code|unit tests?|test coverage|",
                r"updates?|upgrade[ds]?|coding (standards?|conventions?)|code review|configurab\w+ without)\b"
            ),
            r"\b(maintainability|maintenance|support)\b",
        ),
        (
            Q::Portability,
            r"\b(portab\w+|operating systems?|installab\w+|platforms?|browsers?|telephone with a screen|android|ios|install\w*)\b",
            r"\b(portability|platforms?)\b",
        ),
    ];
    table.into_iter().map(|(category, words, heading)| (category, pattern(words), pattern(heading))).collect()
});
static QUALITY_HEADING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(non[- ]?functional|quality|qualities|service levels?|support)\b"));
static FUNCTION_HEADING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(functional|functions?|features?|use cases?|stor(y|ies))\b"));

/// Returns which patterns of types and qualities a requirement in lower case meets, as bits for the heads.
pub fn cues(lower: &str) -> u64 {
    let firsts = [CONSTRAINT.is_match(lower), BUSINESS.is_match(lower)];
    bits(firsts.into_iter().chain(QUALITIES.iter().map(|(_, words, _)| words.is_match(lower))))
}

/// Returns which patterns of types and qualities a heading in lower case meets, as bits for the heads.
pub fn heading_cues(heading: &str) -> u64 {
    let firsts = [&CONSTRAINT_HEADING, &BUSINESS_HEADING, &QUALITY_HEADING, &FUNCTION_HEADING];
    let firsts = firsts.into_iter().map(|pattern| pattern.is_match(heading));
    bits(firsts.chain(QUALITIES.iter().map(|(_, _, under)| under.is_match(heading))))
}

fn bits(are_met: impl Iterator<Item = bool>) -> u64 {
    are_met.take(64).enumerate().fold(0, |bits, (at, is_met)| bits | (u64::from(is_met) << at))
}

/// Returns the type and, for a quality requirement, the quality category.
pub fn of(statement: &str, heading: &str) -> (RequirementType, Option<QualityCategory>) {
    let lower = plain(statement);
    let lower = lower.as_str();
    let inner = exclusions::innermost(heading);
    if BUSINESS_HEADING.is_match(inner)
        || (BUSINESS.is_match(lower) && !CONSTRAINT.is_match(lower) && quality(lower, inner).is_none())
    {
        return (RequirementType::Business, None);
    }
    if CONSTRAINT_HEADING.is_match(inner) || CONSTRAINT.is_match(lower) {
        return (RequirementType::Constraint, None);
    }
    let functional_heading =
        FUNCTION_HEADING.is_match(heading) && !heading.contains("non-functional") && !heading.contains("nonfunctional");
    match quality(lower, inner) {
        Some((category, hits)) if hits >= 2 || !functional_heading => (RequirementType::NonFunctional, Some(category)),
        _ if QUALITY_HEADING.is_match(heading) => {
            (RequirementType::NonFunctional, quality(lower, heading).map(|(category, _)| category))
        }
        _ => (RequirementType::Functional, None),
    }
}

/// Returns the quality with the most matching words in the sentence and their number; a matching heading counts as two
/// words.
fn quality(lower: &str, heading: &str) -> Option<(QualityCategory, usize)> {
    let mut best: Option<(QualityCategory, usize)> = None;
    for (category, words, under) in QUALITIES.iter() {
        let found = words.find_iter(lower).count();
        let hits = found + if under.is_match(heading) { 2 } else { 0 };
        if hits > best.map_or(0, |(_, hits)| hits) {
            best = Some((*category, hits));
        }
    }
    best
}

/// Determines the priority by a MoSCoW or priority cell of the sentence's row, then by critical words, then by the
/// modal verb.
pub fn priority(statement: &str, row: &[&str]) -> Priority {
    if let Some(stated) = row.iter().find_map(|cell| stated(cell)) {
        return stated;
    }
    let lower = plain(statement);
    let lower = lower.as_str();
    if CRITICAL.is_match(lower) {
        Priority::Critical
    } else if MUST.is_match(lower) {
        Priority::High
    } else if SHOULD.is_match(lower) {
        Priority::Medium
    } else if MAY.is_match(lower) {
        Priority::Low
    } else if WILL.is_match(lower) {
        Priority::Medium
    } else {
        Priority::Unknown
    }
}

/// Returns the priority that a cell states, or `None` if it contains anything else.
fn stated(cell: &str) -> Option<Priority> {
    let value = cell.rsplit(": ").next().unwrap_or(cell).trim().trim_end_matches('.');
    match value {
        "critical" | "blocker" | "highest" | "very high" => Some(Priority::Critical),
        "must" | "must have" | "must-have" | "high" | "mandatory" | "shall" | "m" => Some(Priority::High),
        "should" | "should have" | "should-have" | "medium" | "normal" | "desired" | "s" => Some(Priority::Medium),
        "could" | "could have" | "nice to have" | "won't" | "low" | "optional" | "may" | "c" => Some(Priority::Low),
        _ => None,
    }
}
