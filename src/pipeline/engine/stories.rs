//! User stories and acceptance criteria, derived only from the requirement's text: if it names no role, benefit or
//! condition, the story has none.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::super::loop_control::{Halted, LoopControl};
use super::super::result::{CriterionDraft, RequirementDraft, RequirementType, UserStoryDraft};
use super::corpus::{PreparedSentence, plain};
use super::duplicates::Fingerprint;
use super::index::BlockContext;
use super::lexicon::pattern;
use super::wording::capitalised;

/// A user story in its usual forms: who, what, and perhaps why. What is not wanted is a goal too.
static WRITTEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?:\bas (?:an?|the|our|any|every) |^as )(?P<role>[^,]{2,60}?)(?:, [^,]{2,60}?)?,? (?:i|we)(?:'d like| (?:(?:really|also|only|just) )*",
        r"(?:want|need|wish|would (?:like|love|want)|(?P<not>do not want|don't want)))(?: to be able)?(?: to)? (?P<goal>.+?)",
        r"(?:,? (?:so that|in order to|so as to|so (?:i|we) can) (?P<benefit>.+?))?[.]?$"
    ))
});
/// The same with an ability instead of a wish.
static WRITTEN_ABILITY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^as (?:(?:an?|the|any|every) )?(?P<role>[^,]{2,60}?),? i(?:'m able to| (?:can|may|(?:am|should be|must be|would be|shall be) able to)) ",
        r"(?P<goal>.+?)(?:,? (?:so that|in order to|so as to) (?P<benefit>.+?))?[.]?$"
    ))
});
/// The same with the benefit first.
static WRITTEN_BENEFIT_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:in order|so as) to (?P<benefit>.+?), as (?:an?|the|any|every) (?P<role>[^,]{2,60}?),? i (?:want|need|would like)",
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
static ROLE_ABLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:(?:and|so|but|then|also),? )*((?:an?|the|each|every|all|any|both|only) [a-z -]{2,50}?|[a-z -]{3,40}?s) (?:shall|must|should|can|may|will|has to|have to|needs? to|is to|are to|want|wants)(?: also)?(?: be able)?(?: to)? ([a-z].+?)[.]?$",
    )
});
static SYSTEM_LETS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:lets?|allows?|enables?|permits?) ((?:an?|the|each|every|all|any) [a-z-]+(?: (?:of the [a-z-]+(?: [a-z-]+)?))?|[a-z-]+s) (?:to )?([a-z].+?)[.]?$",
    )
});
static SYSTEM_DOES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:(?:and|so|but|then|also),? )*((?:the|this|our|a) (?:new )?(?:[a-z]+ ){0,2}?(?:system|application|app|solution|software|product|platform|tool|portal|it)|it) (?:shall|must|should|will|has to|needs to|is to|can)(?: also)?(?: be able to)? ([a-z].+?)[.]?$",
    )
});
static BENEFIT: LazyLock<Regex> = LazyLock::new(|| pattern(r",? (?:so that|in order to|so as to) ([a-z].+?)[.]?$"));
/// The phrase that introduces a wish: "it would be good if".
static WISHED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:(?:and|so|but|then|also),? )*(?:it would be|it'd be) (?:\w+ )?(?:good|great|nice|helpful|lovely|fine|useful) if ",
    )
});
static SYSTEM_NOUN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(systems?|applications?|apps?|solutions?|software|products?|platforms?|tools?|portals?|pages?|screens?|servers?|interfaces?|modules?|databases?|searches|search|reports?|lists?|reminders?|sessions?|accounts?|appointments?|records?|entries|entry|data|changes|slots?|dates?|letters?|images|cases?|results|referrals|visits|calendars?|times?|passwords?|messages?|buttons?|links?|time|list|name|number|address|fields?)$",
    )
});
static CONDITION_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^((?:when|whenever|if|once|after|as soon as|before|during|in case|in an emergency|unless) ?[^,]*), (.+?)[.]?$",
    )
});
static CONDITION_LAST: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(.+?),? ((?:when|whenever|if|once|as soon as|provided that|unless|until) .+?)[.]?$"));
static STATE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:during|before|in case|in an emergency|provided that|unless|while)\b"));

/// The head of a role, before what tells more of it: “the head of the clinic”, “a guest who has no account”.
static ROLE_HEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?P<head>.+?)(?: (?:of|in|at|on|for|from|with|without|who|whose|that|which|to|and|or)\b.*)?$")
});
/// Nouns for people, beside [`ACTOR`] and the endings of those who do something.
static PERSON: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(user|admin|analyst|architect|assistant|applicant|accountant|agent|attendant|attendee|author|boss|captain|candidate|caregiver|chief|child|",
        r"citizen|client|coach|colleague|consultant|contact|cook|crew|dba|employee|expert|family|friend|guard|guest|head|host|hr|inspector|intern|",
        r"lead|lawyer|merchant|mentor|nurse|owner|parent|participant|passenger|patient|peer|people|person|persona|pilot|principal|public|recruit|",
        r"representative|resident|secretary|somebody|someone|everybody|everyone|anybody|anyone|sponsor|staff|stakeholder|student|team|tenant|trainee|",
        r"trustee|tutor|vet|vip|volunteer|witness|worker|man|woman|men|women|boy|girl|[a-z]+(man|woman|person|people))s?$"
    ))
});
/// Endings of those who do something.
static DOER: LazyLock<Regex> = LazyLock::new(|| pattern(r"(er|or|ist|ian|eer|wright|ologist)s?$"));
/// Things with such an ending.
static THING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(\w*(server|computer|printer|scanner|router|browser|folder|container|header|footer|order|number|parameter|identifier|controller|adapter|adaptor|",
        r"driver|filter|counter|timer|buffer|pointer|sensor|processor|monitor|calculator|generator|vector|error|indicator|actuator|motor|letter|newsletter|",
        r"reminder|calendar|chapter|register|cluster|layer|center|meter|transformer|paper|computer|wrapper|parser|loader|handler|listener|connector|",
        r"compiler|interpreter|simulator|emulator|converter|player|explorer|viewer|tracker|marker|slider|picker|placeholder|answer|offer|transfer|",
        r"trigger|factor|color|door|floor|cursor|selector|detector|detector|locator|validator|iterator|operand|integer|character|banner|barrier|",
        r"other|user interface|power|water|tower|corner|charger|heater|freezer|cooler|boiler|scooter|tractor|trailer|carrier|locker|dispenser)s?)$"
    ))
});

/// Whether a role is that of a person or a group of people.
fn is_person(role: &str) -> bool {
    let lower = plain(role);
    let head = ROLE_HEAD.captures(&lower).and_then(|found| found.name("head")).map_or("", |head| head.as_str());
    let last = head.rsplit(' ').next().unwrap_or_default();
    PERSON.is_match(last) || (DOER.is_match(last) && !THING.is_match(last))
}

/// Returns one story for each requirement that is written as a story, and for each other one that is functional or
/// untyped and names a person who wants it, in their order.
pub fn stories(requirements: &[RequirementDraft], control: &LoopControl) -> Result<Vec<UserStoryDraft>, Halted> {
    let mut stories = Vec::new();
    for (at, requirement) in requirements.iter().enumerate() {
        control.report(at, requirements.len())?;
        let is_functional = matches!(requirement.kind, RequirementType::Functional | RequirementType::Unknown);
        let parts = parts(&requirement.statement);
        if parts.is_written || (is_functional && parts.role.as_deref().is_some_and(is_person)) {
            stories.push(story(requirement, parts));
        }
    }
    Ok(stories)
}

fn story(requirement: &RequirementDraft, parts: StoryParts) -> UserStoryDraft {
    let StoryParts { role, goal, benefit, is_written } = parts;
    let description = match is_written {
        true => requirement.statement.clone(),
        false => describe(role.as_deref(), &goal, benefit.as_deref()),
    };
    let fingerprint = Fingerprint::of(&requirement.statement);
    UserStoryDraft {
        key: fingerprint.key("story"),
        requirement_keys: vec![requirement.key.clone()],
        title: requirement.title.clone(),
        role,
        goal,
        benefit,
        description,
        priority: requirement.priority,
        acceptance_criteria: if is_written { None } else { criterion(&requirement.statement) }.into_iter().collect(),
        quality_score: 1.0,
        quality_issues: Vec::new(),
        sources: requirement.sources.clone(),
    }
}

struct StoryParts {
    role: Option<String>,
    goal: String,
    benefit: Option<String>,
    /// The source has it as a story, in its own words.
    is_written: bool,
}

/// Whether the sentence is written as a user story. Who speaks of an ability may mean themself.
pub fn is_written(sentence: &PreparedSentence) -> bool {
    let is_spoken = sentence.context == BlockContext::Speech;
    written(&sentence.lower).is_some_and(|found| !(is_spoken && found.is_ability))
}

/// The places of a written story's parts in its text.
struct WrittenStory {
    role: Range<usize>,
    goal: Range<usize>,
    benefit: Option<Range<usize>>,
    is_negative: bool,
    is_ability: bool,
}

fn written(lower: &str) -> Option<WrittenStory> {
    let forms = [(&*WRITTEN_BENEFIT_FIRST, false), (&*WRITTEN, false), (&*WRITTEN_ABILITY, true)];
    let (found, is_ability) =
        forms.into_iter().find_map(|(form, is_ability)| Some((form.captures(lower)?, is_ability)))?;
    let role = found.name("role")?;
    let first = role.as_str().split_whitespace().next().unwrap_or_default();
    (!NO_ROLES.contains(&first)).then_some(())?;
    Some(WrittenStory {
        role: role.range(),
        goal: found.name("goal")?.range(),
        benefit: found.name("benefit").map(|benefit| benefit.range()),
        is_negative: found.name("not").is_some(),
        is_ability,
    })
}

fn parts(statement: &str) -> StoryParts {
    let lower = plain(statement);
    let same_length = lower.chars().count() == statement.chars().count();
    // Patterns match the lower-case text, but the result is taken from the statement. This works only if lower case
    // leaves the positions of the characters unchanged.
    let original = |found: Range<usize>| -> String {
        let words = lower.get(found.clone()).unwrap_or_default();
        let start = lower.get(..found.start).map_or(0, |head| head.chars().count());
        if same_length { statement.chars().skip(start).take(words.chars().count()).collect() } else { words.to_owned() }
    };
    if let Some(WrittenStory { role, goal, benefit, is_negative, .. }) = written(&lower) {
        let goal = if is_negative { format!("not {}", original(goal)) } else { original(goal) };
        return StoryParts { role: Some(original(role)), goal, benefit: benefit.map(original), is_written: true };
    }
    let is_written = false;
    let benefit = BENEFIT.captures(&lower).and_then(|found| found.get(1)).map(|found| original(found.range()));
    let cut = BENEFIT.find(&lower).map_or(lower.len(), |found| found.start());
    let body = lower.get(..cut).unwrap_or(&lower);
    let body = WISHED.find(body).and_then(|wish| body.get(wish.end()..)).unwrap_or(body);
    let body = condition(body).map_or(body, |split| split.consequence);
    let offset = |inner: &str| inner.as_ptr().addr().saturating_sub(lower.as_ptr().addr());
    let at = offset(body);
    let within = |found: regex::Match<'_>| -> String {
        let start = lower.get(..at + found.start()).map_or(0, |head| head.chars().count());
        let length = found.as_str().chars().count();
        if same_length { statement.chars().skip(start).take(length).collect() } else { found.as_str().to_owned() }
    };
    if let Some(found) = SYSTEM_LETS.captures(body) {
        let role = found.get(1).map(within).map(|role| bare(&role));
        if let (Some(role), Some(goal)) = (role, found.get(2)) {
            return StoryParts { role: Some(role), goal: within(goal), benefit, is_written };
        }
    }
    if let Some(goal) = SYSTEM_DOES.captures(body).and_then(|found| found.get(2)) {
        return StoryParts { role: None, goal: format!("the system to {}", within(goal)), benefit, is_written };
    }
    if let Some(found) = ROLE_ABLE.captures(body)
        && let (Some(role), Some(goal)) = (found.get(1), found.get(2))
        && !SYSTEM_NOUN.is_match(role.as_str())
        && !goal.as_str().starts_with("be ")
        && !goal.as_str().starts_with("not ")
    {
        return StoryParts { role: Some(bare(&within(role))), goal: within(goal), benefit, is_written };
    }
    let start = lower.get(..at).map_or(0, |head| head.chars().count());
    let whole: String = statement.chars().skip(start).take(body.chars().count()).collect();
    let whole = if same_length { whole } else { body.to_owned() };
    StoryParts { role: None, goal: whole.trim_end_matches(['.', ';', ' ']).to_owned(), benefit, is_written }
}

/// Removes the article of a role, or lowers its initial if it has none, and makes the role singular.
fn bare(role: &str) -> String {
    let role = role.trim();
    let first = role.split_whitespace().next().unwrap_or_default().to_lowercase();
    let is_article = matches!(first.as_str(), "a" | "an" | "the" | "each" | "every" | "all" | "any" | "both" | "only");
    let rest = role.split_once(' ').map(|(_, rest)| rest);
    let role = rest.filter(|_| is_article).unwrap_or(role).trim();
    singular(&if is_article { role.to_owned() } else { small_initial(role) })
}

/// Converts "customers" to "customer" and "secretaries" to "secretary"; roles with "and", "or" or "of" stay unchanged.
fn singular(role: &str) -> String {
    let ends_plural = role.ends_with('s') && !role.ends_with("ss") && !role.ends_with("us");
    if !ends_plural || role.contains(" and ") || role.contains(" or ") || role.contains(" of ") {
        return role.to_owned();
    }
    match role.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => role.strip_suffix('s').unwrap_or(role).to_owned(),
    }
}

/// Lowers the initial, which is a capital only because the role starts the sentence.
fn small_initial(role: &str) -> String {
    let first = role.split_whitespace().next().unwrap_or_default();
    let is_plain = first.chars().skip(1).all(char::is_lowercase);
    let mut chars = role.chars();
    match chars.next().filter(|_| is_plain) {
        Some(initial) => initial.to_lowercase().chain(chars).collect(),
        None => role.to_owned(),
    }
}

fn describe(role: Option<&str>, goal: &str, benefit: Option<&str>) -> String {
    let is_clause = goal.starts_with("the system to ");
    let is_verb = role.is_some();
    let wish = match (is_clause, is_verb) {
        (true, _) => format!("I want {goal}"),
        (false, true) => format!("I want to {goal}"),
        (false, false) => format!("I want this: {goal}"),
    };
    let opening =
        role.map(|role| {
            if role.contains(" and ") { format!("As {role}, ") } else { format!("As {} {role}, ", article(role)) }
        })
        .unwrap_or_default();
    let closing = benefit.map(|benefit| format!(", so that {benefit}")).unwrap_or_default();
    format!("{}.", capitalised(&format!("{opening}{wish}{closing}")))
}

fn article(role: &str) -> &'static str {
    let vowel = role.chars().next().is_some_and(|first| "aeiouAEIOU".contains(first))
        && !role.to_lowercase().starts_with("user");
    if vowel { "an" } else { "a" }
}

struct Condition<'a> {
    condition: &'a str,
    consequence: &'a str,
}

fn condition(body: &str) -> Option<Condition<'_>> {
    if let Some(found) = CONDITION_FIRST.captures(body) {
        let (condition, consequence) = (found.get(1)?.as_str(), found.get(2)?.as_str());
        return Some(Condition { condition, consequence });
    }
    let found = CONDITION_LAST.captures(body)?;
    let (consequence, condition) = (found.get(1)?.as_str(), found.get(2)?.as_str());
    (consequence.split_whitespace().count() >= 3).then_some(Condition { condition, consequence })
}

/// Returns the criterion that the sentence states: a condition, and what follows from it. A lasting state becomes `given`,
/// an event `when`.
fn criterion(statement: &str) -> Option<CriterionDraft> {
    let lower = plain(statement);
    let same_length = lower.len() == statement.len();
    let mut criterion = CriterionDraft {
        key: Fingerprint::of(statement).key("criterion"),
        text: statement.to_owned(),
        given: None,
        when: None,
        then: None,
    };
    let start = WISHED.find(&lower).map_or(0, |wish| wish.end());
    let split = lower.get(start..).and_then(condition)?;
    let original = |part: &str| -> String {
        let start = part.as_ptr().addr().saturating_sub(lower.as_ptr().addr());
        let words = if same_length { statement.get(start..start + part.len()) } else { None };
        words.unwrap_or(part).trim().to_owned()
    };
    let condition = original(split.condition);
    if STATE.is_match(split.condition) {
        criterion.given = Some(condition);
    } else {
        criterion.when = Some(condition);
    }
    criterion.then = Some(original(split.consequence));
    Some(criterion)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_story_keeps_its_parts() {
        let found = parts("As a Data user, I want to see the 12 deletions, so that I trust the figures.");
        assert_eq!(found.role.as_deref(), Some("Data user"));
        assert_eq!(found.goal, "see the 12 deletions");
        assert_eq!(found.benefit.as_deref(), Some("I trust the figures"));
    }

    #[test]
    fn stories_are_written_in_several_forms() {
        for (words, role, goal, benefit) in [
            ("As the site editor, I want to add a teaser.", "site editor", "add a teaser", None),
            ("As repository manager, I need a list of users.", "repository manager", "a list of users", None),
            ("As a researcher, working with data, I want an export.", "researcher", "an export", None),
            (
                "As a user, I don't want to see advertisements, so that I am not distracted.",
                "user",
                "not see advertisements",
                Some("I am not distracted"),
            ),
            ("In order to save time, as a clerk, I want to copy a form.", "clerk", "copy a form", Some("save time")),
            ("As a guest I'd like to search flights.", "guest", "search flights", None),
            ("As a camp worker, I'm able to report repairs.", "camp worker", "report repairs", None),
        ] {
            let found = parts(words);
            assert!(found.is_written, "{words}");
            assert_eq!(
                (found.role.as_deref(), found.goal.as_str(), found.benefit.as_deref()),
                (Some(role), goal, benefit)
            );
        }
        for words in
            ["As discussed, I want to leave at five.", "As a result, I need a coffee.", "As soon as I can I go."]
        {
            assert!(!parts(words).is_written, "{words}");
        }
    }

    #[test]
    fn nothing_is_invented_where_the_source_names_nothing() {
        let found = parts("The system shall prevent that a slot is booked twice.");
        assert_eq!((found.role, found.benefit), (None, None));
        assert_eq!(found.goal, "the system to prevent that a slot is booked twice");
        assert!(criterion("The system shall prevent that a slot is booked twice.").is_none());
    }

    #[test]
    fn a_role_comes_from_who_can_and_whom_it_lets() {
        assert_eq!(parts("A nurse shall be able to set the level of urgency.").role.as_deref(), Some("nurse"));
        let lets = parts("The system shall let a patient book, move and cancel an appointment.");
        assert_eq!(lets.role.as_deref(), Some("patient"));
        assert_eq!(lets.goal, "book, move and cancel an appointment");
    }

    #[test]
    fn only_people_have_stories() {
        for role in [
            "nurse",
            "ward manager",
            "team lead",
            "guest who has no account",
            "librarian",
            "HR staff",
            "booking agent",
            "product owners",
            "sales person",
            "physician or nurse",
            "auditor",
            "colleagues in the lab",
        ] {
            assert!(is_person(role) || role == "{role}");
        }
        for role in [
            "OBX segment",
            "payment server",
            "backup",
            "search page",
            "order number",
            "temperature sensor",
            "file header",
            "message",
        ] {
            assert!(!is_person(role), "{role}");
        }
    }

    #[test]
    fn a_condition_becomes_when_and_then() {
        let found =
            criterion("When an appointment is cancelled, the system must offer the free slot to the next patient.")
                .unwrap();
        assert_eq!(found.when.as_deref(), Some("When an appointment is cancelled"));
        assert_eq!(found.then.as_deref(), Some("the system must offer the free slot to the next patient"));
    }
}
