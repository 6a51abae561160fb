//! The trail at the end of a sequence: it has what was done, by whom, and leads from the first state to the present.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Play;
use super::model::{ExpectedItem, PlayedEvent};

/// The state of an item in the trail.
#[derive(Debug, PartialEq)]
struct Replayed {
    status: String,
    version: i64,
    content: Value,
}

impl Replayed {
    /// The description follows from what is told, and is in no difference.
    fn of(item: &ExpectedItem) -> Self {
        let mut content = item.content.clone();
        content.as_object_mut().unwrap().remove("description");
        Self { status: item.status.to_owned(), version: item.version, content }
    }
}

fn event(event: &Value) -> PlayedEvent {
    let text = |name: &str| event[name].as_str().unwrap_or_else(|| panic!("{name} of {event}")).to_owned();
    let from = event["fromVersion"].as_i64().map(|version| (text("fromStatus"), version));
    PlayedEvent {
        action: text("action"),
        actor: event["actor"]["id"].as_str().unwrap().to_owned(),
        item: text("targetId"),
        from,
        to: (text("toStatus"), event["toVersion"].as_i64().unwrap()),
    }
}

impl Play<'_> {
    pub async fn must_have_replayable_trail(&self) {
        let trail = self.reviewed.trail("").await;
        assert_eq!(trail.iter().map(event).collect::<Vec<_>>(), self.model.events);
        let items = self.model.items.iter();
        let mut states: BTreeMap<&str, Replayed> =
            items.map(|(id, item)| (id.as_str(), Replayed::of(&item.first))).collect();
        for one in &trail {
            let (id, told) = (one["targetId"].as_str().unwrap(), event(one));
            let item = &self.model.items[id];
            assert_eq!(one["targetCode"], item.now.code.as_str());
            let (status, version) = told.from.unwrap_or_else(|| panic!("nobody adds an item: {one:#}"));
            let state = states.get_mut(id).unwrap_or_else(|| panic!("{one:#} is about nothing"));
            assert_eq!((&state.status, state.version), (&status, version), "{one:#}");
            (state.status, state.version) = told.to;
            for field in one["diff"].as_array().unwrap() {
                let name = field["name"].as_str().unwrap();
                assert_eq!(state.content[name], field["before"], "{one:#}");
                state.content[name] = field["after"].clone();
            }
        }
        for (id, item) in self.items().await {
            assert_eq!(states[id.as_str()], Replayed::of(&ExpectedItem::of(&item)), "what the trail leads to");
        }
    }
}
