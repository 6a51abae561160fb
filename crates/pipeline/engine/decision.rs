//! Decisions: what was agreed.

use std::sync::LazyLock;

use regex::Regex;

use super::corpus::PreparedSentence;
use super::exclusions;
use super::index::BlockContext;
use super::lexicon::pattern;

static DECIDED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(we|they|everybody|everyone|all|both|it|parties|team|board|group|committee|owner|management|",
        r"customer|client|clinic|department|meeting|[a-z]+ and [a-z]+)",
        r"('ve| have| has| had| was| is|'s| were| has been| have been)? (now |finally |also |just |",
        r"all )?(decided|agreed|settled|approved|resolved|opted|chosen|chose|confirmed|signed off)\b|",
        r"\b(we agree (that|to|on)|that's (a decision|settled|decided|agreed)|it's (agreed|settled|",
        r"decided)|let's (use|take|drop|postpone|skip|build|buy|choose|pick|do without|limit|restrict|",
        r"decide|go with|go for|keep|settle|stick|do it like)|",
        r"we('ll| will) (go (with|for|ahead)|stick|stay with|settle|use|start with|begin with|keep|",
        r"leave out|drop|buy|do without)|we keep (the|it|to)|we leave out|we (drop|postpone) (the|it)|",
        r"we('re| are) going (with|for)|so we go with|we go (with|for)|we (stick|stay) (to|with)|",
        r"from now on|(decision|decided|agreed|resolved|outcome|conclusion)( [a-z0-9 ]{1,20})?:|",
        r"the decision (is|was)|decided (on|that|to|against|in favou?r))"
    ))
});
/// Not decided yet, or only under a condition.
static UNDECIDED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b((not|never|nothing|no one|nobody) (yet |been |yet been |been yet )?(decided|agreed|settled|",
        r"approved|confirmed|chosen)|(if|once|unless|until|whether|when|before) [^,]{0,40}(decided|agreed|",
        r"settled|approved|agree|confirmed)|",
        r"(to be|must be|has to be|have to be|needs to be|should be|can be|shall be) (decided|agreed|",
        r"settled|approved|confirmed|chosen)|n't (decided|agreed|settled|been)|isn't settled)\b"
    ))
});
/// Words with which somebody closes a matter, among others.
static CLOSED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^\W*(and |so |okay,? |ok,? |right,? |fine,? |good,? |then,? |well,? )*(approved|adopted|carried|",
        r"accepted|refused|rejected|declined|granted|confirmed|resolved|settled|done|decided|agreed|passed|",
        r"postponed|cancelled|chosen|unanimous|in favou?r)\b|",
        r"\b((is|are|was|were|be|been|gets|got) (hereby )?(approved|adopted|carried|refused|rejected|",
        r"declined|granted|confirmed|resolved|settled|passed|postponed|put off|dropped|struck|chosen|",
        r"released|scrapped|shelved|lifted|discontinued|picked)|",
        r"(has|have|had) (resolved|settled|ruled|voted|opted|chosen|picked|plumped|given the green light|",
        r"signed off)|motion|resolution|resolves|ruling|i rule|verdict|unanimous(ly)?|nem con|green light|",
        r"go-ahead|voted|vote|votes|by \d+ (votes )?to \d+|\d+ (votes )?(to|for|against|:) \d+|shook hands|",
        r"show of hands|",
        r"opts? for|plump(s|ed)? for|settles? (on|for)|nobody objects?|no objections?|it is (then)?[.!]?$|",
        r"so be it|it'll be|then it's|so it's|that's (that|out|in|it then|final)|have it your way|(i|",
        r"we) give in|i('ll)? take it|no hard feelings|deal\b|we('re| are) (dropping|keeping|taking|moving|",
        r"scrapping|leaving|postponing)|",
        r"we (take|pick|choose|scrap|cancel|reject|approve|adopt|leave|postpone|move)|(stays?|",
        r"remains?) (as|in|out|on|off|free|where|the|what|of|unchanged|paper|at)|wins?\b|goes? (back )?(to|",
        r"in|into) (the )?(backlog|bin|list|next)|(is|are|it's|they're) (in|out|off|gone)\b|come what may|",
        r"i reverse|i overrule|my decision|on second thoughts?|entschieden|beschlossen|beschließt|",
        r"festgelegt|vereinbart|einstimmig|genehmigt|abgelehnt|angenommen|wir nehmen|wir bleiben|es bleibt|",
        r"dabei bleibt)"
    ))
});
static DECISION_HEADING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(decisions?|decided|resolutions?|what we agreed|agreed)\b"));

/// What a sentence may meet, for the heads.
pub static CUES: [&LazyLock<Regex>; 3] = [&DECIDED, &UNDECIDED, &CLOSED];
pub static HEADING_CUES: [&LazyLock<Regex>; 1] = [&DECISION_HEADING];

/// Returns how likely the sentence is a decision, 0–1.
pub fn likelihood(sentence: &PreparedSentence) -> f64 {
    let lower = sentence.lower.as_str();
    if matches!(sentence.context, BlockContext::Heading | BlockContext::Code | BlockContext::Boilerplate)
        || lower.ends_with('?')
        || sentence.count < 4
        || exclusions::is_quoted(lower)
        || exclusions::is_procedure(lower)
        || UNDECIDED.is_match(lower)
    {
        return 0.0;
    }
    let decided = DECIDED.is_match(lower);
    let under = DECISION_HEADING.is_match(&sentence.above.innermost);
    match (decided, under) {
        (true, true) => 0.95,
        (true, false) => 0.8,
        (false, true) => 0.7,
        (false, false) => 0.0,
    }
}
