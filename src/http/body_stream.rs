//! A request's body, handed over piece by piece to the task that handles it, which goes on if the client disconnects.

use actix_web::HttpRequest;
use actix_web::http::header::CONTENT_LENGTH;
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::sync::mpsc;

use super::code::Code;
use super::error::ApiError;
use super::input::Raw;
use super::pace;

/// How many pieces of the body wait for the handler: as many are in memory, each at most what one read returns.
const WAITING: usize = 4;

/// A request's body. Not limited in size: its reader must be.
pub struct BodyStream {
    pieces: mpsc::Receiver<Result<Bytes, ApiError>>,
    /// The size that the client announced, in bytes, whatever it is.
    pub length: Option<u64>,
}

/// Returns the size in bytes that the client announces of a body of which at most `limit` bytes are taken, if it does; no more
/// than those. What is beyond them is refused as it arrives.
#[must_use]
pub fn announced_length(request: &HttpRequest, limit: usize) -> Option<u64> {
    length(request).map(|announced| announced.min(limit as u64))
}

/// Returns the value of `Content-Length`.
fn length(request: &HttpRequest) -> Option<u64> {
    request.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

impl BodyStream {
    /// Starts to read a body. Must be called on the thread of the connection.
    #[must_use]
    pub fn of(request: &HttpRequest, body: Raw) -> Self {
        let (send, pieces) = mpsc::channel(WAITING);
        let mut payload = match body {
            Raw::Bytes(bytes) => futures_util::stream::iter([Ok(bytes)]).boxed_local(),
            Raw::Stream(payload, _) => payload.boxed_local(),
        };
        actix_web::rt::spawn(async move {
            while let Some(piece) = payload.next().await {
                let piece = piece.map_err(|error| {
                    let code = if pace::is_too_slow(&error) { Code::REQUEST_TIMEOUT } else { Code::BAD_REQUEST };
                    ApiError { cause: Some(error.to_string().into()), ..ApiError::of(code) }
                });
                let is_over = piece.is_err();
                // An error means that the handler needs no more.
                if send.send(piece).await.is_err() || is_over {
                    return;
                }
            }
        });
        Self { pieces, length: length(request) }
    }

    /// Returns the next piece; `None` at the end of the body.
    ///
    /// # Errors
    /// 400 if the client disconnects; 408 if it sends too slowly.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        self.pieces.recv().await.transpose()
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::CONTENT_LENGTH;
    use actix_web::test::TestRequest;

    use super::announced_length;

    #[test]
    fn no_more_is_announced_than_is_taken() {
        let announced = |header: &str| {
            announced_length(&TestRequest::default().insert_header((CONTENT_LENGTH, header)).to_http_request(), 100)
        };
        assert_eq!(["99", "100", "18446744073709551615"].map(announced), [Some(99), Some(100), Some(100)]);
        assert_eq!(["", "-1", "many"].map(announced), [None; 3]);
    }
}
