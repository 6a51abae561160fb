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
