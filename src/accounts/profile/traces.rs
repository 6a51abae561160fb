//! What an account left in what was told and answered: its name, its address and its face are taken out of JSON, and all
//! else stays as it is.

use std::sync::Arc;

use actors::ids::{Id, User};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::accounts::model::NOBODY;
use crate::db::events::{Place, Text};
use crate::db::{Conn, Db, Failed, events, idempotency};

/// How many rows are looked at in one go; all of them may have to be written anew.
const PAGE: i64 = 250;
/// No address is longer.
const LONGEST_ADDRESS: usize = 254;

/// Whose traces these are.
#[derive(Clone)]
pub struct Person {
    id: String,
    is_address: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

impl Person {
    pub fn of(id: Id<User>, is_address: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self { id: id.to_string(), is_address: Arc::new(is_address) }
    }

    /// Takes somebody out of a JSON text; `None`: they are not in it, or it is none.
    fn erased_from(&self, text: &str) -> Option<String> {
        // Most rows: nothing is parsed that can't have the person in it.
        if !text.contains(&self.id) && !text.contains('@') {
            return None;
        }
        let mut value: Value = serde_json::from_str(text).ok()?;
        if self.erase(&mut value) { serde_json::to_string(&value).ok() } else { None }
    }

    /// Whether anything changed.
    fn erase(&self, value: &mut Value) -> bool {
        match value {
            Value::Array(values) => values.iter_mut().fold(false, |changed, value| self.erase(value) | changed),
            Value::Object(object) => {
                // First, since the address that tells it is among what goes.
                let own = self.is_in(object) && forget(object);
                object.values_mut().fold(own, |changed, value| self.erase(value) | changed)
            }
            Value::String(text) if self.is_own(text) => {
                *value = Value::Null;
                true
            }
            _ => false,
        }
    }

    /// Whether an object is about the person: by the account's id, or by the address.
    fn is_in(&self, object: &Map<String, Value>) -> bool {
        let text = |name: &str| object.get(name).and_then(Value::as_str);
        let by_id = ["userId", "id"].iter().any(|name| text(name) == Some(&self.id));
        by_id || object.values().filter_map(Value::as_str).any(|text| self.is_own(text))
    }

    fn is_own(&self, email: &str) -> bool {
        email.len() <= LONGEST_ADDRESS && email.contains('@') && (self.is_address)(email)
    }
}

/// Whether anything changed.
fn forget(object: &mut Map<String, Value>) -> bool {
    let mut changed = false;
    let nobody = Value::from(NOBODY);
    let replacements = [
        ("fullName", &nobody),
        ("displayName", &nobody),
        ("name", &nobody),
        ("email", &Value::Null),
        ("jobTitle", &Value::Null),
        ("avatarUrl", &Value::Null),
    ];
    for (name, replacement) in replacements {
        if let Some(value) = object.get_mut(name)
            && value != replacement
            && !value.is_null()
        {
            *value = replacement.clone();
            changed = true;
        }
    }
    changed
}

/// How far somebody was looked for: in what was told first, then in what was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reached {
    Events(Place),
    Answers(String),
}

impl Default for Reached {
    fn default() -> Self {
        Self::Events(Place::default())
    }
}

/// What of a page is to be written anew, and how far that goes.
#[derive(Debug)]
pub struct Page {
    /// `None`: all was looked at.
    pub reached: Option<Reached>,
    events: Vec<(Text, String)>,
    answers: Vec<(String, String, String)>,
}

impl Page {
    /// Whether nobody is to be taken out of anything.
    pub const fn is_clean(&self) -> bool {
        self.events.is_empty() && self.answers.is_empty()
    }

    /// Writes it. False: something of it was written by others meanwhile, and it is to be looked at again.
    ///
    /// # Errors
    /// The database's own.
    pub async fn write(self, conn: &mut Conn) -> Result<bool, Failed> {
        let mut all = true;
        for (event, data) in self.events {
            all &= events::replace(conn, &event, data).await?;
        }
        for (scope, before, body) in self.answers {
            all &= idempotency::rewrite(conn, &scope, &before, body).await?;
        }
        Ok(all)
    }
}

/// Looks for somebody in the next page of all events and all kept answers.
///
/// # Errors
/// The database's own.
pub async fn look(db: &Db, person: &Person, reached: &Reached) -> Result<Page, Failed> {
    let mut page = Page { reached: None, events: Vec::new(), answers: Vec::new() };
    match reached.clone() {
        Reached::Events(place) => {
            let texts =
                db.read(move |conn| Box::pin(async move { events::texts_after(conn, &place, PAGE).await })).await?;
            page.reached = Some(match texts.last() {
                Some(Text { topic, position, .. }) => {
                    Reached::Events(Place { topic: topic.clone(), position: *position })
                }
                None => Reached::Answers(String::new()),
            });
            let erased = texts.into_iter().filter_map(|text| person.erased_from(&text.data).map(|data| (text, data)));
            page.events = erased.collect();
        }
        Reached::Answers(after) => {
            let answers = db
                .read(move |conn| Box::pin(async move { idempotency::answers_after(conn, &after, PAGE).await }))
                .await?;
            page.reached = answers.last().map(|(scope, _)| Reached::Answers(scope.clone()));
            let erased = answers.into_iter().filter_map(|(scope, body)| {
                let before = body?;
                person.erased_from(&before).map(|body| (scope, before, body))
            });
            page.answers = erased.collect();
        }
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::{PAGE, Page, Person, Reached, look};
    use crate::db::Db;
    use crate::db::tests::{on_both, run};
    use actors::ids::Id;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const ID: &str = "0189a0f0-0000-7000-8000-000000000001";
    const OTHER: &str = "0189a0f0-0000-7000-8000-000000000002";

    fn ada() -> Person {
        Person::of(Id::from_uuid(ID.parse().unwrap()), |email| email == "ada@example.org")
    }

    #[test]
    fn names_and_addresses_go_and_all_else_stays() {
        let told = json!({
            "id": OTHER, "userId": ID, "fullName": "Ada", "email": "ada@example.org", "avatarUrl": "/x", "role": "OWNER",
            "actor": {"id": ID, "name": "Ada"},
            "invitees": [
                {"email": "ada@example.org", "displayName": "Ada L.", "userId": null},
                {"email": "ben@example.org", "displayName": "Ada L.", "userId": OTHER},
            ],
            "createdById": ID, "title": "What Ada said",
        });
        let erased: Value = serde_json::from_str(&ada().erased_from(&told.to_string()).unwrap()).unwrap();
        assert_eq!(
            erased,
            json!({
                "id": OTHER, "userId": ID, "fullName": "Deleted account", "email": null, "avatarUrl": null,
                "role": "OWNER",
                "actor": {"id": ID, "name": "Deleted account"},
                "invitees": [
                    {"email": null, "displayName": "Deleted account", "userId": null},
                    {"email": "ben@example.org", "displayName": "Ada L.", "userId": OTHER},
                ],
                "createdById": ID, "title": "What Ada said",
            })
        );
        assert_eq!(ada().erased_from(&erased.to_string()), None, "nothing is left to erase");
        assert_eq!(ada().erased_from(&json!({"userId": OTHER, "name": "Ben", "email": "b@x.org"}).to_string()), None);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let text = prop_oneof!["[a-z@.]{0,12}", Just(ID.to_owned()), Just("ada@example.org".to_owned())];
        let leaf = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), text.prop_map(Value::from)];
        let key = prop_oneof![Just("userId"), Just("id"), Just("email"), Just("name"), Just("x"), Just("items")];
        leaf.prop_recursive(4, 40, 5, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::vec((key.clone(), inner), 0..5).prop_map(|fields| {
                    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_was_told_is_erased_once_and_for_all(value in any_json(), noise in ".*") {
            if let Some(erased) = ada().erased_from(&value.to_string()) {
                let parsed: Value = serde_json::from_str(&erased).unwrap();
                prop_assert_ne!(&parsed, &value);
                prop_assert_eq!(ada().erased_from(&erased), None);
            }
            let _ = ada().erased_from(&noise);
        }
    }

    /// Events of many topics, a few of which tell of Ada, and as many answers.
    async fn plant(db: &Db) {
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)";
        let text = format!(
            "CASE WHEN i IN (1, 9999, 20000) THEN '{}' ELSE '{{\"to\":\"ben@example.org\"}}' END",
            json!({"userId": ID, "fullName": "Ada"})
        );
        run(
            db,
            &format!(
                "{numbers} INSERT INTO events (topic, position, kind, data, at, request_id) \
                 SELECT 't' || (i % 40), i, 'k', {text}, {{old}}, 'r' FROM n; \
                 {numbers} INSERT INTO idempotency_keys (scope, body_hash, resource_id, lease_until, status, body, created_at) \
                 SELECT 's' || i, 'h', {{id}}, {{old}}, 201, {text}, {{old}} FROM n;"
            ),
        )
        .await;
    }

    async fn write(db: &Db, page: Page) -> bool {
        db.write(|conn| Box::pin(page.write(conn))).await.unwrap()
    }

    #[tokio::test]
    async fn all_that_was_told_is_looked_at_once_and_what_names_nobody_is_not_written() {
        on_both(async |db| {
            plant(&db).await;
            let (mut reached, mut pages, mut written) = (Reached::default(), 0, 0);
            loop {
                let page = look(&db, &ada(), &reached).await.unwrap();
                let Some(next) = page.reached.clone() else { break };
                (reached, pages) = (next, pages + 1);
                if !page.is_clean() {
                    written += 1;
                    assert!(write(&db, page).await);
                }
            }
            // Once more where the events end, to know that they do.
            assert_eq!(pages, 2 * 20_000 / PAGE + 1);
            assert_eq!(written, 6, "three in what was told and three in what was answered");
            let again = look(&db, &ada(), &Reached::default()).await.unwrap();
            assert!(again.is_clean());
        })
        .await;
    }

    #[tokio::test]
    async fn what_others_wrote_meanwhile_is_not_undone() {
        on_both(async |db| {
            plant(&db).await;
            let mut page = look(&db, &ada(), &Reached::default()).await.unwrap();
            while page.is_clean() {
                page = look(&db, &ada(), &page.reached.unwrap()).await.unwrap();
            }
            run(&db, "UPDATE events SET data = '{\"fullName\":\"Ada\",\"told\":\"anew\"}'").await;
            assert!(!write(&db, page).await, "it is to be looked at again");
            assert!(look(&db, &ada(), &Reached::default()).await.unwrap().is_clean());
        })
        .await;
    }
}
