//! What goes over a socket: JSON texts both ways.
//!
//! An event's `data` was serialised when it was saved. The frame around it is put together once for all sockets of a
//! worker that hear it one after the other.

use std::cell::RefCell;
use std::sync::Arc;

use actors::live::{Told, Topic};
use bytestring::ByteString;
use serde::Deserialize;
use serde_json::json;

use super::feed::{Beginning, Since};
use crate::http::failure::Failure;

/// What a client asks for.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
pub enum Asked {
    Subscribe {
        topic: String,
        since: Option<Stood>,
    },
    Unsubscribe {
        topic: String,
    },
    /// Unlike a ping of the protocol, a browser's script can send it.
    Ping {},
}

/// Where a client stood, in its own words.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stood {
    epoch: String,
    offset: u64,
}

impl Stood {
    /// `None`: the epoch is none of ours.
    #[must_use]
    pub fn since(&self) -> Option<Since> {
        let epoch = self.epoch.parse().ok()?;
        Some(Since { epoch: Some(epoch), offset: self.offset })
    }
}

/// `snapshot` is null where the client goes on from where it stood: then `offset` is that place, and what it missed
/// follows as events.
#[must_use]
pub fn subscribed(topic: Topic, beginning: &Beginning) -> ByteString {
    let snapshot = beginning.snapshot.as_ref();
    let recovered = snapshot.is_none();
    let (epoch, offset) = (beginning.epoch, beginning.offset);
    let snapshot = snapshot.map_or("null", |snapshot| &*snapshot.data);
    format!(
        r#"{{"type":"subscribed","topic":"{topic}","epoch":"{epoch}","offset":{offset},"recovered":{recovered},"snapshot":{snapshot}}}"#
    )
    .into()
}

thread_local! {
    static LAST: RefCell<Option<(Arc<Told>, ByteString)>> = const { RefCell::new(None) };
}

#[must_use]
pub fn event(told: &Arc<Told>) -> ByteString {
    LAST.with_borrow_mut(|last| match last {
        Some((known, frame)) if Arc::ptr_eq(known, told) => frame.clone(),
        _ => {
            let frame = event_anew(told);
            *last = Some((Arc::clone(told), frame.clone()));
            frame
        }
    })
}

fn event_anew(told: &Told) -> ByteString {
    let Told { topic, offset, kind, data, at, request } = told;
    // A request id is visible ASCII, quotes and backslashes among it.
    let request = json!(&**request);
    format!(
        r#"{{"type":"event","topic":"{topic}","offset":{offset},"event":"{kind}","at":"{at}","data":{data},"requestId":{request}}}"#
    )
    .into()
}

/// `topic` as the client spelt it, where it named one.
#[must_use]
pub fn error(topic: Option<&str>, failure: &Failure) -> ByteString {
    let mut frame = json!({"type": "error", "code": failure.code.name, "message": failure.message});
    if let (Some(topic), Some(frame)) = (topic, frame.as_object_mut()) {
        frame.insert("topic".to_owned(), json!(topic));
    }
    frame.to_string().into()
}

#[must_use]
pub fn pong() -> ByteString {
    ByteString::from_static(r#"{"type":"pong"}"#)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use actors::ids::Id;
    use actors::live::{Told, Topic, TopicKind};
    use actors::time::Time;
    use serde_json::{Value, json};

    use super::{Asked, event};

    #[test]
    fn an_event_is_put_together_once_and_is_json_whatever_its_request_is_called() {
        let topic = Topic { kind: TopicKind::Run, id: Id::<()>::draw().uuid() };
        let told = |offset| {
            Arc::new(Told {
                topic,
                offset,
                kind: "run.progressed".into(),
                data: r#"{"progress":5}"#.into(),
                at: Time::from_millis(0).unwrap(),
                request: r#"a"b\c"#.into(),
            })
        };
        let (first, second) = (told(1), told(2));
        let frame = event(&first);
        let expected = json!({
            "type": "event", "topic": topic.to_string(), "offset": 1, "event": "run.progressed",
            "at": "1970-01-01T00:00:00.000Z", "data": {"progress": 5}, "requestId": r#"a"b\c"#,
        });
        assert_eq!(serde_json::from_str::<Value>(&frame).unwrap(), expected);
        assert_eq!(event(&first).as_ptr(), frame.as_ptr(), "the same bytes for the next socket");
        assert_ne!(event(&second), frame);
    }

    #[test]
    fn a_place_in_another_epoch_is_read_and_one_that_is_no_epoch_is_none() {
        let epoch = Id::<()>::draw();
        let text = json!({"type": "subscribe", "topic": "run:1", "since": {"epoch": epoch, "offset": 7}}).to_string();
        let Ok(Asked::Subscribe { since: Some(stood), .. }) = serde_json::from_str(&text) else { panic!("{text}") };
        let since = stood.since().unwrap();
        assert_eq!((since.epoch.map(Id::uuid), since.offset), (Some(epoch.uuid()), 7));
        let text = r#"{"type":"subscribe","topic":"run:1","since":{"epoch":"first","offset":7}}"#;
        let Ok(Asked::Subscribe { since: Some(stood), .. }) = serde_json::from_str(text) else { panic!("{text}") };
        assert!(stood.since().is_none());
    }
}
