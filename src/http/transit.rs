//! The way of one request over its connection: refused where the client has too many, its answer let out in small pieces that
//! the client has to take, and what a large answer holds counted.

use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::ResponseError;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::{Method, StatusCode};
use bytes::Bytes;

use super::budget::{SMALL_BYTES, Share};
use super::failure::Failure;
use super::line::{UnderWay, too_many};
use super::mounted::Mounted;
use super::places::Place;
use super::state::Http;

/// What is copied to the connection's buffer at once: of an answer that nobody reads, little is there twice.
const PIECE_BYTES: usize = 16 * 1024;

/// What a request holds of its connection.
pub struct Transit {
    under_way: Option<UnderWay>,
    /// Of a client that is behind a proxy.
    place: Option<Place<String>>,
    /// Whether its answer may be another: nothing was changed.
    is_read: bool,
    http: Http,
    client: String,
}

impl Transit {
    /// # Errors
    /// 429: the client has too many connections, or requests under way behind a proxy.
    pub fn begin(request: &ServiceRequest, under_way: Option<UnderWay>) -> Result<Self, Failure> {
        let http = Http::of(request.request())?;
        let client = http.settings.client_address(request.request());
        if under_way.as_ref().is_some_and(|under_way| under_way.line().is_refused()) {
            return Err(too_many());
        }
        let place = http.lines.request_of(request.peer_addr(), &client)?;
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        Ok(Self { under_way, place, is_read, http, client })
    }

    /// Lets the answer out. A large one that is counted, and that there is no room for now, is 503.
    pub fn end(self, response: ServiceResponse<BoxBody>, is_counted: bool) -> ServiceResponse<BoxBody> {
        let (request, response) = response.into_parts();
        let (head, body) = response.into_parts();
        let mut share = self.http.budget.share(self.client);
        let body = match body.try_into_bytes() {
            // What is shared with other answers is there only once, and what was counted before is not unique either.
            Ok(bytes) if is_counted && bytes.len() > SMALL_BYTES && bytes.is_unique() => {
                if let Err(failure) = share.grow_to(bytes.len())
                    && self.is_read
                {
                    return ServiceResponse::new(request, failure.error_response());
                }
                BoxBody::new(bytes)
            }
            Ok(bytes) => BoxBody::new(bytes),
            Err(body) => body,
        };
        // A socket sees to its own client.
        let is_paced = head.status() != StatusCode::SWITCHING_PROTOCOLS;
        match &self.under_way {
            // From its head on: a body is not asked for where not even the head could be passed on.
            Some(under_way) if is_paced => under_way.wait(),
            Some(under_way) => under_way.line().switch(),
            None => {}
        }
        let going = Going {
            body,
            rest: Bytes::new(),
            last: 0,
            under_way: self.under_way,
            is_paced,
            _held: (share, self.place),
        };
        ServiceResponse::new(request, head.set_body(BoxBody::new(going)))
    }
}

/// An answer on its way out.
struct Going {
    body: BoxBody,
    /// What came of the body and was not let out yet.
    rest: Bytes,
    /// How long the piece was that was let out last.
    last: usize,
    under_way: Option<UnderWay>,
    is_paced: bool,
    _held: (Share, Option<Place<String>>),
}

impl MessageBody for Going {
    type Error = Box<dyn std::error::Error>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    /// Asked for more, the server has passed on nearly all that it got before.
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let this = self.get_mut();
        let line = this.under_way.as_ref().filter(|_| this.is_paced);
        if let Some(line) = line {
            line.moved(std::mem::take(&mut this.last));
        }
        while this.rest.is_empty() {
            match Pin::new(&mut this.body).poll_next(cx) {
                Poll::Ready(Some(Ok(bytes))) => this.rest = bytes,
                other => return other,
            }
        }
        let piece = this.rest.split_to(this.rest.len().min(PIECE_BYTES));
        this.last = piece.len();
        if let Some(line) = line {
            line.wait();
        }
        Poll::Ready(Some(Ok(piece)))
    }
}
