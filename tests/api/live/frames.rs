//! Tests which frames the server accepts from clients.

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use crate::support::{Socket, World};

on_both! {
    async fn a_malformed_frame_closes_the_socket(world: World) {
        let ada = world.user().await;
        for malformed in [
            "", "{", "[]", "null", "\"ping\"", "{}", r#"{"type":"shout"}"#, r#"{"type":"subscribe"}"#, r#"{"type":"ping","loud":true}"#,
            r#"{"type":"subscribe","topic":7}"#, r#"{"type":"ping","type":"ping"}"#,
            r#"{"type":"subscribe","topic":"run:x","since":{"epoch":"e","offset":-1}}"#,
        ] {
            let mut socket = Socket::open(&ada.client).await;
            socket.send_raw(Message::text(malformed)).await;
            let (code, frames) = socket.closed().await;
            assert_eq!(code, Some(1008), "{malformed}");
            assert_eq!(frames[0]["code"], "BadRequest", "{malformed}");
        }
        let mut socket = Socket::open(&ada.client).await;
        socket.send_raw(Message::binary(b"{\"type\":\"ping\"}".to_vec())).await;
        assert_eq!(socket.closed().await.0, Some(1003));
    }

    async fn frames_have_64_kib_at_most(world: World) {
        let ada = world.user().await;
        let padded = |bytes: usize| json!({"type": "ping"}).to_string() + &" ".repeat(bytes - 15);
        let mut socket = Socket::open(&ada.client).await;
        socket.send_raw(Message::text(padded(65_536))).await;
        assert_eq!(socket.next().await["type"], "pong");
        for bytes in [65_537, 1_000_000, 20_000_000] {
            let mut socket = Socket::open(&ada.client).await;
            // The server may close the connection before everything is sent.
            let sending = socket.tried_raw(Message::text(padded(bytes))).await;
            let (code, _) = socket.closed().await;
            assert!(code == Some(1009) || (sending.is_err() && code.is_none()), "{bytes}: {code:?} {sending:?}");
            if bytes == 65_537 {
                assert_eq!(code, Some(1009));
            }
        }
    }

    async fn a_message_may_be_fragmented(world: World) {
        let ada = world.user().await;
        let mut socket = Socket::open(&ada.client).await;
        let piece = |text: &str, code: Data, last: bool| {
            Message::Frame(Frame::message(text.to_owned().into_bytes(), OpCode::Data(code), last))
        };
        socket.send_raw(piece(r#"{"type":"#, Data::Text, false)).await;
        socket.send_raw(piece(r#""pi"#, Data::Continue, false)).await;
        socket.send_raw(piece(r#"ng"}"#, Data::Continue, true)).await;
        assert_eq!(socket.next().await["type"], "pong");
        socket.send_raw(piece(&" ".repeat(60_000), Data::Text, false)).await;
        socket.send_raw(piece(&" ".repeat(60_000), Data::Continue, false)).await;
        assert_eq!(socket.closed().await.0, Some(1009));
    }
}
