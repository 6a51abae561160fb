//! Finds and removes the personal data of an account in stored JSON (events and idempotent responses): its name,
//! address and avatar URL; everything else stays unchanged.

use std::sync::Arc;

use actors::ids::{Id, User};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::accounts::model::DELETED_NAME;
use crate::db::events::{EventPosition, Text};
use crate::db::{Conn, Db, DbError, events, idempotency};

/// Rows per page; all of them may have to be rewritten.
const PAGE: i64 = 250;
/// Maximum length of an e-mail address.
const MAX_ADDRESS_LENGTH: usize = 254;

/// The person whose data is to be removed.
#[derive(Clone)]
pub struct Person {
    id: String,
    is_address: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

impl Person {
    pub fn of(id: Id<User>, is_address: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self { id: id.to_string(), is_address: Arc::new(is_address) }
    }

    /// Removes the person from a JSON text. Returns `None` when the text does not mention the person, or is not JSON.
    fn erased_from(&self, text: &str) -> Option<String> {
        // Avoids parsing most rows: only texts that can mention the person are parsed.
        if !text.contains(&self.id) && !text.contains('@') {
            return None;
        }
        let mut value: Value = serde_json::from_str(text).ok()?;
        if self.erase(&mut value) { serde_json::to_string(&value).ok() } else { None }
    }

    /// Returns whether anything changed.
    fn erase(&self, value: &mut Value) -> bool {
        match value {
            Value::Array(values) => values.iter_mut().fold(false, |changed, value| self.erase(value) | changed),
            Value::Object(object) => {
                // The object itself comes first, since the address that identifies it is removed too.
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

    /// Whether an object describes the person: by the id of the account, or by an address.
    fn is_in(&self, object: &Map<String, Value>) -> bool {
        let text = |name: &str| object.get(name).and_then(Value::as_str);
        let by_id = ["userId", "id"].iter().any(|name| text(name) == Some(&self.id));
        by_id || object.values().filter_map(Value::as_str).any(|text| self.is_own(text))
    }

    fn is_own(&self, email: &str) -> bool {
        email.len() <= MAX_ADDRESS_LENGTH && email.contains('@') && (self.is_address)(email)
    }
}

/// Returns whether anything changed.
fn forget(object: &mut Map<String, Value>) -> bool {
    let mut changed = false;
    let deleted_name = Value::from(DELETED_NAME);
    let replacements = [
        ("fullName", &deleted_name),
        ("displayName", &deleted_name),
        ("name", &deleted_name),
        ("email", &Value::Null),
        ("jobTitle", &Value::Null),
        ("organisation", &Value::Null),
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

/// The progress of a scan: events first, then idempotent responses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reached {
    Events(EventPosition),
    Answers(String),
}

impl Default for Reached {
    fn default() -> Self {
        Self::Events(EventPosition::default())
    }
}

/// The rows of one page that are to be rewritten, and the progress after the page.
#[derive(Debug)]
pub struct RewrittenPage {
    /// `None` when everything was scanned.
    pub reached: Option<Reached>,
    events: Vec<(Text, String)>,
    answers: Vec<(String, String, String)>,
}

impl RewrittenPage {
    /// Whether no row has to be rewritten.
    pub const fn is_clean(&self) -> bool {
        self.events.is_empty() && self.answers.is_empty()
    }

    /// Writes the changed rows. Returns false when a row was changed concurrently: the page must be scanned again.
    ///
    /// # Errors
    /// Returns the database error.
    pub async fn write(self, conn: &mut Conn) -> Result<bool, DbError> {
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

/// Scans the next page of all events and all stored responses for a person.
///
/// # Errors
/// Returns the database error.
pub async fn read_page(db: &Db, person: &Person, reached: &Reached) -> Result<RewrittenPage, DbError> {
    let mut page = RewrittenPage { reached: None, events: Vec::new(), answers: Vec::new() };
    match reached.clone() {
        Reached::Events(position) => {
            let texts =
                db.read(move |conn| Box::pin(async move { events::texts_after(conn, &position, PAGE).await })).await?;
            page.reached = Some(match texts.last() {
                Some(Text { topic, position, .. }) => {
                    Reached::Events(EventPosition { topic: topic.clone(), position: *position })
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
    use super::{PAGE, Person, Reached, RewrittenPage, read_page};
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
        let payload = json!({
            "id": OTHER, "userId": ID, "fullName": "Ada", "email": "ada@example.org", "avatarUrl": "/x", "role": "OWNER",
            "actor": {"id": ID, "name": "Ada"},
            "invitees": [
                {"email": "ada@example.org", "displayName": "Ada L.", "userId": null},
                {"email": "ben@example.org", "displayName": "Ada L.", "userId": OTHER},
            ],
            "createdById": ID, "title": "What Ada said",
        });
        let erased: Value = serde_json::from_str(&ada().erased_from(&payload.to_string()).unwrap()).unwrap();
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

    /// Inserts events of many topics, a few of which mention Ada, and as many stored responses.
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

    async fn write(db: &Db, page: RewrittenPage) -> bool {
        db.write(|conn| Box::pin(page.write(conn))).await.unwrap()
    }

    #[tokio::test]
    async fn all_that_was_told_is_looked_at_once_and_what_names_nobody_is_not_written() {
        on_both(async |db| {
            plant(&db).await;
            let (mut reached, mut pages, mut written) = (Reached::default(), 0, 0);
            loop {
                let page = read_page(&db, &ada(), &reached).await.unwrap();
                let Some(next) = page.reached.clone() else { break };
                (reached, pages) = (next, pages + 1);
                if !page.is_clean() {
                    written += 1;
                    assert!(write(&db, page).await);
                }
            }
            // One more page, to notice that the events have ended.
            assert_eq!(pages, 2 * 20_000 / PAGE + 1);
            assert_eq!(written, 6, "three in what was told and three in what was answered");
            let again = read_page(&db, &ada(), &Reached::default()).await.unwrap();
            assert!(again.is_clean());
        })
        .await;
    }

    #[tokio::test]
    async fn what_others_wrote_meanwhile_is_not_undone() {
        on_both(async |db| {
            plant(&db).await;
            let mut page = read_page(&db, &ada(), &Reached::default()).await.unwrap();
            while page.is_clean() {
                page = read_page(&db, &ada(), &page.reached.unwrap()).await.unwrap();
            }
            run(&db, "UPDATE events SET data = '{\"fullName\":\"Ada\",\"told\":\"anew\"}'").await;
            assert!(!write(&db, page).await, "it is to be looked at again");
            assert!(read_page(&db, &ada(), &Reached::default()).await.unwrap().is_clean());
        })
        .await;
    }
}
