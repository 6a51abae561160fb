//! The word patterns of the rules, each compiled once. Patterns match lower case with plain quotes.

use std::sync::LazyLock;

use regex::Regex;

/// Compiles a pattern over lower-case English with plain quotes. `\b`, `\w` and `\d` mean ASCII here, which keeps
/// matching linear and fast on any script.
#[expect(clippy::expect_used, reason = "patterns are constants of the program, and a test compiles every one")]
pub fn pattern(words: &str) -> Regex {
    let ascii = words.replace(r"\b", r"(?-u:\b)").replace(r"\w", "[a-z0-9]").replace(r"\d", "[0-9]");
    Regex::new(&ascii).expect("a constant pattern compiles")
}

macro_rules! patterns {
    ($($(#[$doc:meta])* $name:ident = $words:expr;)*) => {
        $($(#[$doc])* pub static $name: LazyLock<Regex> = LazyLock::new(|| pattern($words));)*

        #[cfg(test)]
        pub fn all() -> Vec<&'static Regex> {
            vec![$(&*$name),*]
        }
    };
}

patterns! {
    /// Binding modals and their phrases.
    MUST = concat!(
        r"\b(shall|must|mustn't|has to|have to (b[a-z]+|c[a-z]+|[ae-z][a-z]*|d[a-np-z]\w*)|needs? to|is to|",
        r"are to|(is|are) (not |no longer |only )?(required|allowed|permitted|forbidden|limited|restricted) to|",
        r"is allowed|is limited to|are limited to|mandatory|may (only|not|never)|can only|can't accept|",
        r"cannot be|only .{3,60} may|is responsible for|will be required)\b"
    );
    SHOULD = r"\b(should|shouldn't|ought to|recommended|desirable|expected to)\b";
    MAY = r"\b(may|could|might|nice to have|nice-to-have|optional|optionally|would be (good|nice|great|helpful))\b";
    CRITICAL = concat!(
        r"\b(critical|vital|crucial|safety[- ]critical|life[- ]threatening|under no circumstances|absolutely|",
        r"at all costs|showstopper|show stopper)\b"
    );
    WILL = r"\b(will|won't)\b";
    /// A capability without a modal verb.
    ABILITY = concat!(
        r"\b(can|able to|ability to|allows?|enables?|supports?|provides?|lets (a|the|users?|patients?)|",
        r"is possible to|be possible|option to|have access to)\b|\bthere('s| is) an? (button|link|list|field|",
        r"page|option|report|way)\b"
    );
    /// A wish in a person's own words.
    WISH = concat!(
        r"\b(i|we|they|users?|patients?|people|customers?|staff|the group|the desk)('d| would)? (really |also |",
        r"all |just )?(need|want|like|love|expect|require)s?\b|\bwhat (i|we|they)('d| would)? (really |",
        r"also )?(need|want|like)\b|\bneeds? (a|an|the|at least|to|some|the same)\b|\bneeds (read|write|full|",
        r"direct|immediate|quick|easy|regular) [a-z]+\b|\bit would be (good|great|nice|helpful) (if|to)\b|",
        r"\bwants? to\b|\bis what (i|we) need\b"
    );
    /// The product as the subject of the sentence, doing something in the present or the future.
    SYSTEM_ACTS = concat!(
        r"^((the|this|each|every|our) )?([a-z0-9-]+ ){0,3}?(system|application|app|software|product|tool|",
        r"program|server|client|module|database|page|screen|interface|menu|window|website|portal|",
        r"function)s? (will |also |then |can |may |automatically )*(not )?(be |[a-z]+(s|e|y|d|n|t|w|l|p|k|m|r|",
        r"h)\b)"
    );
    /// Passive voice: something is done, without a named actor.
    PASSIVE = r"\b(is|are|be) (\w+ ){0,2}(\w+ed|shown|sent|kept|given|held|set|put|read|written|found|done|made)\b";
    /// Names of computer systems and their parts.
    SYSTEM = concat!(
        r"\b(system|application|app|solution|software|product|platform|tool|portal|website|site|page|pages|",
        r"screen|service|server|client|interface|module|component|database|user interface|ui|api|button|list|",
        r"report|dashboard|calendar|backup|data|report|reports|form|search|link)\b"
    );
    ACTOR = concat!(
        r"\b(users?|administrators?|admins?|operators?|customers?|clients?|members?|managers?|staff|patients?|",
        r"nurses?|physicians?|doctors?|clerks?|visitors?|guests?|students?|teachers?|agents?|players?|authors?|",
        r"editors?|librarians?|guardians?|parents?|colleagues?|practitioners?|secretary|secretaries|somebody|",
        r"everybody|everyone|people|clinics?|desk)\b"
    );
    QUESTION_WORD = concat!(
        r"^(and |so |but |then |okay,? |well,? )*(who|what|which|when|where|why|how|is|are|do|does|did|can|",
        r"could|should|shall|may|will|would|has|have|whose|whether)\b"
    );
}

/// What a sentence may meet, for the heads; binding verbs come first.
pub static CUES: [&LazyLock<Regex>; 12] =
    [&MUST, &SHOULD, &MAY, &CRITICAL, &WILL, &ABILITY, &WISH, &SYSTEM_ACTS, &PASSIVE, &SYSTEM, &ACTOR, &QUESTION_WORD];

#[cfg(test)]
mod tests {
    #[test]
    fn every_pattern_compiles() {
        assert!(super::all().len() > 5);
    }
}
