//! User stories that a source has as such: “As a nurse, I want …”.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::corpus::PreparedSentence;
use super::index::BlockContext;
use super::lexicon::pattern;

/// A user story in its usual forms: who, what, and perhaps why. What is not wanted is a goal too.
static WRITTEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?:\bas (?:an?|the|our|any|every) |^as )(?P<role>[^,]{2,60}?)(?:, [^,]{2,60}?)?,? (?:i|",
        r"we)(?:'d (?:(?:really|also|only|just) )*(?:like|love|want|need|prefer)| (?:(?:really|also|only|",
        r"just) )*",
        r"(?:want|need|wish|would (?:like|love|want|need|prefer)|(?P<not>do not want|don't want)))(?: to be able)?(?: to)? (?P<goal>.+?)",
        r"(?:,? (?:so that|in order to|so as to) (?P<benefit>.+?)|,? so (?P<since>(?:(?:i|we|it|they|he|",
        r"she|the|my|our|nobody|no one|everyone|everybody)\b|",
        r"\w+ (?:\w+ )?(?:is|are|isn't|aren't|can|can't|do|don't|does|doesn't|will|won't|has|have|get|gets|",
        r"stay|stays|know|knows)\b).+?)|,? (?:because|since|as) (?:i|we|it|they|he|she|the|my|our|",
        r"that|that's|there|nobody|everyone|it's|i'm|at|in|on|right now|[a-z]+ is|[a-z]+ are)\b.+?)?[.!]?$"
    ))
});
/// The same with an ability instead of a wish.
static WRITTEN_ABILITY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^as (?:(?:an?|the|any|every) )?(?P<role>[^,]{2,60}?),? i(?:'m able to| (?:can|may|(?:am|",
        r"should be|must be|would be|shall be) able to)) ",
        r"(?P<goal>.+?)(?:,? (?:so that|in order to|so as to) (?P<benefit>.+?))?[.]?$"
    ))
});
/// The same with the benefit first.
static WRITTEN_BENEFIT_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:(?:in order|so as) to|so that) (?P<benefit>.+?), as (?:(?:an?|the|our|any|",
        r"every) )?(?P<role>[^,]{2,60}?),? i(?:'d (?:like|love|want)| (?:want|need|would (?:like|love|",
        r"want)))",
        r"(?: to be able)?(?: to)? (?P<goal>.+?)[.]?$"
    ))
});
/// Words behind “as” that are no role: “As discussed, I want …”.
const NO_ROLES: [&str; 16] = [
    "such",
    "discussed",
    "agreed",
    "mentioned",
    "noted",
    "said",
    "before",
    "usual",
    "always",
    "well",
    "soon",
    "long",
    "far",
    "for",
    "result",
    "consequence",
];

/// Whether the sentence is written as a user story. Who speaks of an ability may mean themself.
pub fn is_written(sentence: &PreparedSentence) -> bool {
    let is_spoken = sentence.context == BlockContext::Speech;
    written(&sentence.lower).is_some_and(|found| !(is_spoken && found.is_ability))
}

/// The places of a written story's parts in its text.
pub struct WrittenStory {
    pub role: Range<usize>,
    pub goal: Range<usize>,
    pub benefit: Option<Range<usize>>,
    pub is_negative: bool,
    is_ability: bool,
}

/// Returns the parts of a written story; `lower` is in lower case with plain quotes.
pub fn written(lower: &str) -> Option<WrittenStory> {
    let forms = [(&*WRITTEN_BENEFIT_FIRST, false), (&*WRITTEN, false), (&*WRITTEN_ABILITY, true)];
    let (found, is_ability) =
        forms.into_iter().find_map(|(form, is_ability)| Some((form.captures(lower)?, is_ability)))?;
    let role = found.name("role")?;
    let first = role.as_str().split_whitespace().next().unwrap_or_default();
    (!NO_ROLES.contains(&first)).then_some(())?;
    Some(WrittenStory {
        role: role.range(),
        goal: found.name("goal")?.range(),
        benefit: found.name("benefit").or_else(|| found.name("since")).map(|benefit| benefit.range()),
        is_negative: found.name("not").is_some(),
        is_ability,
    })
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::written;

    #[test]
    fn stories_are_written_in_several_forms() {
        for (words, role, goal, benefit) in [
            ("As the site editor, I want to add a teaser.", "site editor", "add a teaser", None),
            ("As repository manager, I need a list of users.", "repository manager", "a list of users", None),
            ("As a researcher, working with data, I want an export.", "researcher", "an export", None),
            (
                "As a user, I don't want to see advertisements, so that I am not distracted.",
                "user",
                "see advertisements",
                Some("I am not distracted"),
            ),
            ("In order to save time, as a clerk, I want to copy a form.", "clerk", "copy a form", Some("save time")),
            ("As a guest I'd like to search flights.", "guest", "search flights", None),
            (
                "As an admin, I'd want to retire groups so that lists stay short.",
                "admin",
                "retire groups",
                Some("lists stay short"),
            ),
            ("As treasurer I'd like a list, because I'm tired of asking.", "treasurer", "a list", None),
            (
                "As an editor, I need one key so breaking news isn't old news.",
                "editor",
                "one key",
                Some("breaking news isn't old news"),
            ),
            (
                "So that it leaves at noon, as an exporter I want to print it.",
                "exporter",
                "print it",
                Some("it leaves at noon"),
            ),
            ("As a camp worker, I'm able to report repairs.", "camp worker", "report repairs", None),
        ] {
            let found = written(&words.to_lowercase()).unwrap();
            assert_eq!(found.is_negative, words.contains("don't want"));
            let of = |range: &Range<usize>| &words[range.clone()];
            assert_eq!((of(&found.role), of(&found.goal), found.benefit.as_ref().map(of)), (role, goal, benefit));
        }
        for words in
            ["As discussed, I want to leave at five.", "As a result, I need a coffee.", "As soon as I can I go."]
        {
            assert!(written(&words.to_lowercase()).is_none(), "{words}");
        }
    }
}
