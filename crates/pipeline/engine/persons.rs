//! Who is a person: the roles that a user story can be told for.

use std::sync::LazyLock;

use regex::Regex;

use super::super::glossary::ProjectTerms;
use super::corpus::plain;
use super::lexicon::{ACTOR, pattern};

/// The head of a role, before what tells more of it: “the head of the clinic”, “a guest who has no account”.
static ROLE_HEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?P<head>.+?)(?: (?:of|in|at|on|for|from|with|without|who|whose|that|which|to|and|or)\b.*)?$")
});
/// Nouns for people, beside those of [`ACTOR`] and those with the ending of who does something.
static PERSON: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(user|admin|analyst|architect|assistant|applicant|accountant|agent|attendant|attendee|author|",
        r"boss|captain|candidate|caregiver|chief|child|",
        r"citizen|client|coach|colleague|consultant|contact|cook|crew|dba|employee|expert|family|friend|",
        r"guard|guest|head|host|hr|inspector|intern|",
        r"lead|lawyer|merchant|mentor|nurse|owner|parent|participant|passenger|patient|peer|people|person|",
        r"persona|pilot|principal|public|recruit|",
        r"representative|resident|secretary|somebody|someone|everybody|everyone|anybody|anyone|sponsor|",
        r"staff|stakeholder|student|team|tenant|trainee|",
        r"trustee|tutor|vet|vip|volunteer|witness|worker|man|woman|men|women|boy|girl|[a-z]+(man|woman|person|people))s?$"
    ))
});
/// Endings of those who do something.
static DOER: LazyLock<Regex> = LazyLock::new(|| pattern(r"(er|or|ist|ian|eer|wright|ologist)s?$"));
/// Things with such an ending.
static THING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b((?:check|wait|price|play|task|to-?do|wish|guest|packing |mailing )?lists?|\w*(server|computer|",
        r"printer|scanner|router|browser|folder|container|header|footer|order|number|parameter|identifier|",
        r"controller|adapter|adaptor|",
        r"driver|filter|counter|timer|buffer|pointer|sensor|processor|monitor|calculator|generator|vector|",
        r"error|indicator|actuator|motor|letter|newsletter|",
        r"reminder|calendar|chapter|register|cluster|layer|center|meter|transformer|paper|wrapper|parser|",
        r"loader|handler|listener|connector|",
        r"compiler|interpreter|simulator|emulator|converter|player|explorer|viewer|tracker|marker|slider|",
        r"picker|placeholder|answer|offer|transfer|",
        r"trigger|factor|color|door|floor|cursor|selector|detector|locator|validator|iterator|operand|integer|character|banner|barrier|",
        r"other|user interface|power|water|tower|corner|charger|heater|freezer|cooler|boiler|scooter|",
        r"tractor|trailer|carrier|locker|dispenser)s?)$"
    ))
});

/// How the definition of a role begins.
static MEANS_PERSON: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?:whoever|anyone who|anybody who|someone who|somebody who|the one who|one who|who)\b")
});

/// Whether a role is that of a person or a group of people.
pub fn is_person(role: &str) -> bool {
    let lower = plain(role);
    let head = ROLE_HEAD.captures(&lower).and_then(|found| found.name("head")).map_or("", |head| head.as_str());
    let last = head.rsplit(' ').next().unwrap_or_default();
    PERSON.is_match(last) || ACTOR.is_match(last) || (DOER.is_match(last) && !THING.is_match(last))
}

/// As [`is_person`], or a term of the project that means a person: “Checker: whoever weighs the parcels”.
pub fn is_person_here(role: &str, terms: &ProjectTerms) -> bool {
    is_person(role)
        || terms.definition(role).is_some_and(|definition| {
            let lower = plain(definition);
            MEANS_PERSON.is_match(&lower)
                || is_person(lower.split(['.', ',', ';', ':', '(']).next().unwrap_or_default())
        })
}

#[cfg(test)]
mod tests {
    use super::{is_person, is_person_here};
    use crate::glossary::{GlossaryEntry, ProjectTerms};

    #[test]
    fn only_people_have_stories() {
        for role in [
            "nurse",
            "clerk",
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
            "specialist",
            "stylist",
        ] {
            assert!(is_person(role), "{role}");
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
            "checklist",
        ] {
            assert!(!is_person(role), "{role}");
        }
    }

    #[test]
    fn a_role_may_be_a_term_of_the_project() {
        let entry = |term: &str, definition: &str| GlossaryEntry {
            term: term.to_owned(),
            definition: Some(definition.to_owned()),
            spellings: vec![format!("the {term}")],
        };
        let terms = ProjectTerms::new(vec![
            entry("Weighing point", "Whoever weighs the parcels of a tour."),
            entry("Quayside", "An employee of the harbour, on duty at night."),
            entry("Tally", "A list of parcels that an employee signs."),
        ]);
        assert!(is_person_here("weighing point", &terms) && is_person_here("quayside", &terms));
        assert!(!is_person_here("tally", &terms));
        assert!(!is_person("weighing point") && !is_person("quayside"));
    }
}
