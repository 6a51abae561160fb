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
    MUST = r"\b(shall|must|mustn't|has to|have to (b[a-z]+|c[a-z]+|[ae-z][a-z]*|d[a-np-z]\w*)|needs? to|is to|are to|(is|are) (not |no longer |only )?(required|allowed|permitted|forbidden|limited|restricted) to|is allowed|is limited to|are limited to|mandatory|may (only|not|never)|can only|can't accept|cannot be|only .{3,60} may|is responsible for|will be required)\b";
    SHOULD = r"\b(should|shouldn't|ought to|recommended|desirable|expected to)\b";
    MAY = r"\b(may|could|might|nice to have|nice-to-have|optional|optionally|would be (good|nice|great|helpful))\b";
    CRITICAL = r"\b(critical|vital|crucial|safety[- ]critical|life[- ]threatening|under no circumstances|absolutely|at all costs|showstopper|show stopper)\b";
    WILL = r"\b(will|won't)\b";
    /// A capability without a modal verb.
    ABILITY = r"\b(can|able to|ability to|allows?|enables?|supports?|provides?|lets (a|the|users?|patients?)|is possible to|be possible|option to|have access to)\b|\bthere('s| is) an? (button|link|list|field|page|option|report|way)\b";
    /// A wish in a person's own words.
    WISH = r"\b(i|we|they|users?|patients?|people|customers?|staff|the group|the desk)('d| would)? (really |also |all |just )?(need|want|like|love|expect|require)s?\b|\bwhat (i|we|they)('d| would)? (really |also )?(need|want|like)\b|\bneeds? (a|an|the|at least|to|some|the same)\b|\bneeds (read|write|full|direct|immediate|quick|easy|regular) [a-z]+\b|\bit would be (good|great|nice|helpful) (if|to)\b|\bwants? to\b|\bis what (i|we) need\b";
    /// The product as the subject of the sentence, doing something in the present or the future.
    SYSTEM_ACTS = r"^((the|this|each|every|our) )?([a-z0-9-]+ ){0,3}?(system|application|app|software|product|tool|program|server|client|module|database|page|screen|interface|menu|window|website|portal|function)s? (will |also |then |can |may |automatically )*(not )?(be |[a-z]+(s|e|y|d|n|t|w|l|p|k|m|r|h)\b)";
    /// Passive voice: something is done, without a named actor.
    PASSIVE = r"\b(is|are|be) (\w+ ){0,2}(\w+ed|shown|sent|kept|given|held|set|put|read|written|found|done|made)\b";
    /// Names of computer systems and their parts.
    SYSTEM = r"\b(system|application|app|solution|software|product|platform|tool|portal|website|site|page|pages|screen|service|server|client|interface|module|component|database|user interface|ui|api|button|list|report|dashboard|calendar|backup|data|report|reports|form|search|link)\b";
    ACTOR = r"\b(users?|administrators?|admins?|operators?|customers?|clients?|members?|managers?|staff|patients?|nurses?|physicians?|doctors?|clerks?|visitors?|guests?|students?|teachers?|agents?|players?|authors?|editors?|librarians?|guardians?|parents?|colleagues?|practitioners?|secretary|secretaries|somebody|everybody|everyone|people|clinics?|desk)\b";
    QUESTION_WORD = r"^(and |so |but |then |okay,? |well,? )*(who|what|which|when|where|why|how|is|are|do|does|did|can|could|should|shall|may|will|would|has|have|whose|whether)\b";
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
