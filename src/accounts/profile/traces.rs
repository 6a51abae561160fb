//! What an account left in what was told and answered: its name, its address and its face are taken out of JSON, and all
//! else stays as it is.

use std::sync::Arc;

use actors::ids::{Id, User};
use serde_json::{Map, Value};

use crate::accounts::model::NOBODY;
use crate::db::{Db, Failed, events, idempotency};

/// How many rows are looked at in one go.
const PAGE: i64 = 500;
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

/// Takes somebody out of all events and all kept answers, page by page.
///
/// # Errors
/// The database's own; what was done until then stays, and the rest is done by the next try.
pub async fn erase(db: &Db, person: Person) -> Result<(), Failed> {
    let mut after = (String::new(), 0);
    loop {
        let from = after.clone();
        let page = db.read(move |conn| Box::pin(async move { events::texts_after(conn, &from, PAGE).await })).await?;
        let Some((topic, position, _)) = page.last() else { break };
        after = (topic.clone(), *position);
        let changed: Vec<_> = page
            .into_iter()
            .filter_map(|(topic, position, data)| Some((topic, position, person.erased_from(&data)?)))
            .collect();
        if !changed.is_empty() {
            db.write(move |conn| {
                Box::pin(async move {
                    for (topic, position, data) in changed {
                        events::replace(conn, &topic, position, data).await?;
                    }
                    Ok::<_, Failed>(())
                })
            })
            .await?;
        }
    }
    let mut after = String::new();
    loop {
        let from = after.clone();
        let page =
            db.read(move |conn| Box::pin(async move { idempotency::answers_after(conn, &from, PAGE).await })).await?;
        let Some((scope, _)) = page.last() else { return Ok(()) };
        after.clone_from(scope);
        let changed: Vec<_> =
            page.into_iter().filter_map(|(scope, body)| Some((scope, person.erased_from(body.as_deref()?)?))).collect();
        if !changed.is_empty() {
            db.write(move |conn| {
                Box::pin(async move {
                    for (scope, body) in changed {
                        idempotency::rewrite(conn, &scope, body).await?;
                    }
                    Ok::<_, Failed>(())
                })
            })
            .await?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Person;
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
}
