//! Why the server closes a socket: the one table of close codes with their texts.

use strum::VariantArray;

/// A reason for the close frame that the server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub enum CloseReason {
    Silent,
    Protocol,
    Binary,
    Revoked,
    InvalidFrame,
    TooLarge,
    Stopping,
    Behind,
    Unread,
    TooSlow,
}

impl CloseReason {
    #[must_use]
    pub const fn code(self) -> u16 {
        match self {
            Self::Silent => 1001,
            Self::Protocol => 1002,
            Self::Binary => 1003,
            Self::Revoked | Self::InvalidFrame => 1008,
            Self::TooLarge => 1009,
            Self::Stopping => 1012,
            Self::Behind | Self::Unread | Self::TooSlow => 1013,
        }
    }

    /// The text of the close frame.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Silent => "no frame was received for too long",
            Self::Protocol => "the frames break the WebSocket protocol",
            Self::Binary => "only text frames are supported",
            Self::Revoked => "the session has ended, or the access to the meeting",
            Self::InvalidFrame => "invalid frame",
            Self::TooLarge => "a frame or message may have at most 65,536 bytes",
            Self::Stopping => "the server is restarting: resume shortly",
            Self::Behind => "missed events are no longer available: subscribe again",
            Self::Unread => "responses are not being read",
            Self::TooSlow => "the client is too slow: reconnect and resume",
        }
    }

    /// What the client should do about it.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Silent => "Answer pings, or send `ping` frames. Reconnect and resume.",
            Self::Protocol | Self::Binary | Self::InvalidFrame | Self::TooLarge => {
                "A fault of the client: reconnecting without a change leads to the same close."
            }
            Self::Revoked => "Sign in again, or stop.",
            Self::Stopping => "Reconnect with increasing delays, and resume.",
            Self::Behind => "Reconnect and subscribe without `since`.",
            Self::Unread => "Read the frames that arrive. Reconnect and resume.",
            Self::TooSlow => "Reconnect and resume: no event is lost.",
        }
    }
}
