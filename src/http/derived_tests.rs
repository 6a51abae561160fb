//! Tests of the derives of bodies and queries: what a declaration means.

use serde_json::{Value, json};
use utoipa::openapi::Required;
use utoipa::{PartialSchema, ToSchema};

use super::error::ApiError;
use super::fields::{Field, Fields, InvalidValue, Rejected, text};
use super::input::{Body, Query, QueryFlag, object};
use super::list::Search;
use super::page::{Limit, PageQuery};
use super::patch::Patch;
use super::reason::Reason;

/// 1–5 characters.
#[derive(Debug, Clone, Default, PartialEq, ToSchema)]
struct Word(String);

impl Field for Word {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, 5).map(Self)
    }
}

fn word(text: &str) -> Word {
    Word(text.to_owned())
}

/// Returns the body, or each error as its field and its message.
fn read<T: Body>(body: &Value) -> Result<T, Vec<String>> {
    let mut fields = object(body.to_string().as_bytes()).unwrap();
    let read = T::read(&mut fields);
    fields.done(read).map_err(faults)
}

fn query<T: Query>(query: &Value) -> Result<T, Vec<String>> {
    let mut fields = object(query.to_string().as_bytes()).unwrap();
    let read = T::read(&mut fields);
    fields.done(read).map_err(faults)
}

fn faults(error: ApiError) -> Vec<String> {
    let named = |fault| {
        let fault = serde_json::to_value(fault).unwrap();
        format!("{}: {}", fault["field"].as_str().unwrap_or("-"), fault["message"].as_str().unwrap())
    };
    error.faults.into_iter().map(named).collect()
}

const REQUIRED: &str = "This value is required.";
const UNKNOWN: &str = "This key is unknown or read-only.";
const NOT_NULL: &str = "This value can't be null.";
const NO_TEXT: &str = "This must be a string.";

fn all(expected: &[(&str, &str)]) -> Vec<String> {
    expected.iter().map(|(field, message)| format!("{field}: {message}")).collect()
}

#[derive(Debug, PartialEq, ToSchema, Body)]
#[schema(rename_all = "camelCase")]
struct Created {
    zebra_name: Word,
    note: Option<Word>,
    apple: Word,
    #[schema(rename = "type")]
    kind: Option<Word>,
    #[body(default)]
    is_new: bool,
    #[body(default = word("none"))]
    label: Word,
    #[body(as = Word)]
    plain: Option<String>,
    #[schema(value_type = Option<Word>)]
    #[body(skip)]
    ignored: (),
}

#[test]
fn the_fields_are_read_by_their_names_and_types() {
    let body = json!({"zebraName": " z ", "apple": "a", "type": "t", "isNew": true, "plain": "p"});
    let expected = Created {
        zebra_name: word("z"),
        note: None,
        apple: word("a"),
        kind: Some(word("t")),
        is_new: true,
        label: word("none"),
        plain: Some("p".to_owned()),
        ignored: (),
    };
    assert_eq!(read::<Created>(&body), Ok(expected));
    // Null is the same as absent, where a value may be absent.
    let body = json!({"zebraName": "z", "apple": "a", "note": null, "type": null, "isNew": null, "label": null});
    let read = read::<Created>(&body).unwrap();
    assert_eq!((read.note, read.kind, read.is_new, read.label), (None, None, false, word("none")));
    const { assert!(!Created::OPTIONAL) };
}

#[test]
fn all_errors_are_reported_at_once_in_the_order_of_the_fields_and_unknown_keys_last() {
    let body = json!({"kind": "t", "apple": null, "note": 1, "plain": 2, "label": 3, "ignored": 4, "isNew": "yes"});
    let expected = [
        ("zebraName", REQUIRED),
        ("note", NO_TEXT),
        ("apple", REQUIRED),
        ("isNew", "This must be true or false."),
        ("label", NO_TEXT),
        ("plain", NO_TEXT),
        ("ignored", UNKNOWN),
        ("kind", UNKNOWN),
    ];
    assert_eq!(read::<Created>(&body), Err(all(&expected)));
}

#[derive(Debug, PartialEq, ToSchema, Body)]
#[schema(rename_all = "camelCase", min_properties = 1)]
struct Changes {
    #[schema(nullable = false)]
    title: Option<Word>,
    #[body(replaced)]
    state: Option<Word>,
    #[body(or_empty)]
    about: Option<Word>,
    #[schema(value_type = Option<Word>)]
    role: Patch<Word>,
}

#[test]
fn a_body_of_changes_keeps_clears_and_sets() {
    let kept = Changes { title: None, state: None, about: None, role: Patch::Keep };
    assert_eq!(read::<Changes>(&json!({"title": "t"})), Ok(Changes { title: Some(word("t")), ..kept }));
    let cleared = Changes { title: None, state: None, about: Some(word("")), role: Patch::Clear };
    assert_eq!(read::<Changes>(&json!({"about": null, "role": null})), Ok(cleared));
    let set = Changes { title: None, state: Some(word("s")), about: None, role: Patch::Set(word("r")) };
    assert_eq!(read::<Changes>(&json!({"state": "s", "role": "r"})), Ok(set));
}

#[test]
fn null_is_refused_where_the_document_or_the_declaration_says_so() {
    let body = json!({"title": null, "state": null, "about": null, "role": 1});
    assert_eq!(read::<Changes>(&body), Err(all(&[("title", NOT_NULL), ("state", NOT_NULL), ("role", NO_TEXT)])));
}

#[test]
fn a_body_of_changes_without_any_is_refused() {
    assert_eq!(read::<Changes>(&json!({})), Err(all(&[("-", "Name at least one field to change.")])));
    // An unknown key is what is wrong then, and nothing else.
    assert_eq!(read::<Changes>(&json!({"tilte": "t"})), Err(all(&[("tilte", UNKNOWN)])));
}

#[derive(Debug, PartialEq, ToSchema, Body)]
#[body(optional, not_empty = "Say something.")]
struct Said {
    #[body(replaced)]
    words: Option<Word>,
}

#[test]
fn a_body_may_be_optional_and_have_a_sentence_of_its_own_if_it_is_empty() {
    const { assert!(Said::OPTIONAL) };
    assert_eq!(read::<Said>(&json!({})), Err(all(&[("-", "Say something.")])));
}

#[derive(Debug, PartialEq, ToSchema, Body)]
#[schema(rename_all = "camelCase")]
struct Guest {
    full_name: Word,
    age_group: Option<Word>,
}

#[derive(Debug, PartialEq, ToSchema, Body)]
struct Party {
    #[body(object)]
    host: Guest,
    #[body(object)]
    cook: Option<Guest>,
    #[schema(min_items = 1, max_items = 2)]
    #[body(objects)]
    guests: Vec<Guest>,
    #[schema(max_items = 2)]
    #[body(objects)]
    late: Option<Vec<Guest>>,
    #[schema(nullable = false, max_items = 2)]
    #[body(objects)]
    band: Option<Vec<Guest>>,
    #[schema(required = false, max_items = 2)]
    #[body(values)]
    songs: Vec<Word>,
    #[schema(max_items = 2)]
    #[body(values)]
    games: Option<Vec<Word>>,
}

#[test]
fn objects_within_a_body_are_read_with_their_paths_and_counts() {
    let guest = |name: &str| Guest { full_name: word(name), age_group: None };
    let body = json!({"host": {"fullName": "h"}, "guests": [{"fullName": "g"}], "songs": ["s"]});
    let expected = Party {
        host: guest("h"),
        cook: None,
        guests: vec![guest("g")],
        late: None,
        band: None,
        songs: vec![word("s")],
        games: Some(Vec::new()),
    };
    assert_eq!(read::<Party>(&body), Ok(expected));
    let body = json!({
        "cook": {"ageGroup": 1, "x": 1},
        "guests": [],
        "late": [{"fullName": "a"}, {"x": 1}],
        "band": null,
        "songs": ["s", 1],
        "games": ["a", "b", "c"],
    });
    let expected = [
        ("host", REQUIRED),
        ("cook.fullName", REQUIRED),
        ("cook.ageGroup", NO_TEXT),
        ("cook.x", UNKNOWN),
        ("guests", "This must have 1 to 2 items; it has 0."),
        ("late[1].fullName", REQUIRED),
        ("late[1].x", UNKNOWN),
        ("band", NOT_NULL),
        ("songs[1]", NO_TEXT),
        ("games", "This must have 0 to 2 items; it has 3."),
    ];
    assert_eq!(read::<Party>(&body), Err(all(&expected)));
}

#[derive(Debug, PartialEq, ToSchema, Body)]
#[body(check = Self::check)]
struct Range {
    from: Word,
    to: Word,
    #[schema(value_type = Word)]
    #[body(with = upper_case)]
    name: String,
}

impl Range {
    fn check(&self, fields: &mut Fields) {
        if self.from.0 > self.to.0 {
            fields.fault("to", Reason::InvalidValue, "This is before from.");
        }
    }
}

fn upper_case(fields: &mut Fields) -> Result<String, Rejected> {
    fields.required::<Word>("name").map(|name| name.0.to_uppercase())
}

#[test]
fn what_fields_break_together_is_checked_once_each_of_them_is_valid() {
    let expected = Range { from: word("a"), to: word("b"), name: "N".to_owned() };
    assert_eq!(read(&json!({"from": "a", "to": "b", "name": "n"})), Ok(expected));
    let before = ("to", "This is before from.");
    assert_eq!(read::<Range>(&json!({"from": "b", "to": "a", "name": "n"})), Err(all(&[before])));
    assert_eq!(
        read::<Range>(&json!({"from": "b", "to": "a", "name": "n", "x": 1})),
        Err(all(&[before, ("x", UNKNOWN)]))
    );
    assert_eq!(read::<Range>(&json!({"from": "b", "to": "a"})), Err(all(&[("name", REQUIRED)])));
}

#[derive(Debug, Query)]
struct Listed {
    /// Only what is called so,
    /// in any case.
    full_name: Option<Search>,
    /// How it is kept.
    #[query(description = "Only what is marked.", as = QueryFlag, default)]
    is_marked: bool,
    /// What it is about.
    #[query(rename = "q")]
    about: Search,
    /// How many.
    #[query(as = Limit, default = Limit::DEFAULT)]
    count: i64,
    #[query(skip)]
    of_another_list: Option<Word>,
    #[query(flatten)]
    page: PageQuery,
}

#[test]
fn a_query_has_its_own_parameters_and_those_of_another_query() {
    for key in ["fullName", "isMarked", "q", "count", "limit", "cursor"] {
        assert!(Listed::has(key), "{key}");
    }
    for key in ["full_name", "about", "ofAnotherList", "page", ""] {
        assert!(!Listed::has(key), "{key}");
    }
    let read: Listed = query(&json!({"q": "words", "isMarked": "true", "limit": "7"})).unwrap();
    assert_eq!((read.about.0.as_str(), read.is_marked, read.count, read.page.limit), ("words", true, 25, 7));
    assert!(read.full_name.is_none() && read.of_another_list.is_none());
    let wrong = json!({"isMarked": "1", "count": "0", "limit": "x"});
    let number = "This must be a number from 1 to 100.";
    let expected = [("isMarked", "This must be true or false."), ("q", REQUIRED), ("count", number), ("limit", number)];
    assert_eq!(query::<Listed>(&wrong).map(drop), Err(all(&expected)));
}

#[test]
fn the_parameters_are_described_in_their_order_by_their_comments_and_types() {
    let parameters = Listed::parameters();
    let described: Vec<(&str, &str, bool)> = parameters
        .iter()
        .map(|one| {
            let description = one.description.as_deref().unwrap_or_default();
            (one.name.as_str(), description, matches!(one.required, Required::True))
        })
        .collect();
    let of_page = PageQuery::parameters();
    let expected = [
        ("fullName", "Only what is called so, in any case.", false),
        ("isMarked", "Only what is marked.", false),
        ("q", "What it is about.", true),
        ("count", "How many.", false),
        ("limit", of_page[0].description.as_deref().unwrap(), false),
        ("cursor", of_page[1].description.as_deref().unwrap(), false),
    ];
    assert_eq!(described, expected);
    let schemas = json!(parameters.iter().map(|one| &one.schema).collect::<Vec<_>>());
    assert_eq!(schemas[1], json!({"type": "boolean"}));
    assert_eq!(schemas[2], json!(Search::schema()));
    assert_eq!(schemas[3], json!(Limit::schema()));
    assert!(Listed::enumerations().is_empty());
}
