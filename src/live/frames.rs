//! The JSON text frames of the WebSocket protocol, in both directions.
//!
//! An event's `data` is serialized when the event is saved. The frame around it is built once for all sockets of a
//! worker that send the event in a row.

use std::cell::RefCell;
use std::sync::Arc;

use actors::live::{EventRecord, Topic};
use bytestring::ByteString;
use serde::Deserialize;
use serde_json::json;

use super::topic_stream::{Beginning, Since};
use crate::http::error::ApiError;

/// A frame sent by a client.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
pub enum ClientFrame {
    Subscribe {
        topic: String,
        since: Option<ClientPosition>,
    },
    Unsubscribe {
        topic: String,
    },
    /// Can be sent by a browser's script, unlike a WebSocket ping.
    Ping {},
}

/// The position a client resumes from, as the client sent it.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientPosition {
    epoch: String,
    offset: u64,
}

impl ClientPosition {
    /// `None` if the epoch is malformed.
    #[must_use]
    pub fn since(&self) -> Option<Since> {
        let epoch = self.epoch.parse().ok()?;
        Some(Since { epoch: Some(epoch), offset: self.offset })
    }
}

/// Builds the reply to a subscription. `snapshot` is null when the subscription resumes: `offset` is then the position
/// it resumes from, and the missed events follow.
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
    static LAST: RefCell<Option<(Arc<EventRecord>, ByteString)>> = const { RefCell::new(None) };
}

#[must_use]
pub fn event(record: &Arc<EventRecord>) -> ByteString {
    LAST.with_borrow_mut(|last| match last {
        Some((known, frame)) if Arc::ptr_eq(known, record) => frame.clone(),
        _ => {
            let frame = event_anew(record);
            *last = Some((Arc::clone(record), frame.clone()));
            frame
        }
    })
}

fn event_anew(record: &EventRecord) -> ByteString {
    let EventRecord { topic, offset, kind, data, at, request } = record;
    // A request id is visible ASCII, which includes quotes and backslashes.
    let request = json!(&**request);
    format!(
        r#"{{"type":"event","topic":"{topic}","offset":{offset},"event":"{kind}","at":"{at}","data":{data},"requestId":{request}}}"#
    )
    .into()
}

/// `topic` as the client spelled it, if the error is about one.
#[must_use]
pub fn error(topic: Option<&str>, failure: &ApiError) -> ByteString {
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

    use actors::event_kind::EventKind;
    use actors::ids::Id;
    use actors::live::{EventRecord, Topic, TopicKind};
    use actors::time::Time;
    use serde_json::{Value, json};

    use super::{ClientFrame, event};

    #[test]
    fn an_event_is_put_together_once_and_is_json_whatever_its_request_is_called() {
        let topic = Topic { kind: TopicKind::Run, id: Id::<()>::generate().uuid() };
        let record = |offset| {
            Arc::new(EventRecord {
                topic,
                offset,
                kind: EventKind::RunProgressed,
                data: r#"{"progress":5}"#.into(),
                at: Time::from_millis(0).unwrap(),
                request: r#"a"b\c"#.into(),
            })
        };
        let (first, second) = (record(1), record(2));
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
        let epoch = Id::<()>::generate();
        let text = json!({"type": "subscribe", "topic": "run:1", "since": {"epoch": epoch, "offset": 7}}).to_string();
        let Ok(ClientFrame::Subscribe { since: Some(position), .. }) = serde_json::from_str(&text) else {
            panic!("{text}")
        };
        let since = position.since().unwrap();
        assert_eq!((since.epoch.map(Id::uuid), since.offset), (Some(epoch.uuid()), 7));
        let text = r#"{"type":"subscribe","topic":"run:1","since":{"epoch":"first","offset":7}}"#;
        let Ok(ClientFrame::Subscribe { since: Some(position), .. }) = serde_json::from_str(text) else {
            panic!("{text}")
        };
        assert!(position.since().is_none());
    }
}
