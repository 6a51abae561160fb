//! The connection side of one request: refuses it if the client has too many connections, sends the response in small
//! pieces so that a slow client times out, and charges large responses to the byte budget.

use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::ResponseError;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::{Method, StatusCode};
use bytes::Bytes;

use super::budget::{SMALL_BYTES, Share};
use super::compression::{self, CompressorRoom};
use super::connection_limit::ConnectionPermit;
use super::error::ApiError;
use super::mounted::Mounted;
use super::raw_connection::{RequestInFlight, too_many};
use super::state::Http;

/// The size of one piece of a response, in bytes. Each piece is copied to the connection's buffer, so little of a
/// response that nobody reads is in memory twice.
const PIECE_BYTES: usize = 16 * 1024;

/// The resources that a request holds until its response has been sent.
pub struct Transit {
    in_flight: Option<RequestInFlight>,
    /// For a client behind a trusted proxy.
    permit: Option<ConnectionPermit<String>>,
    /// Whether the request is a GET or HEAD. Its response may be replaced by a 503, since nothing was changed.
    is_read: bool,
    http: Http,
}

impl Transit {
    /// # Errors
    /// 429 if the client has too many connections, or too many requests in flight behind a proxy.
    pub fn begin(request: &ServiceRequest, in_flight: Option<RequestInFlight>) -> Result<Self, ApiError> {
        let http = Http::of(request.request())?;
        if in_flight.as_ref().is_some_and(|in_flight| in_flight.connection().is_refused()) {
            return Err(too_many());
        }
        let client = || http.settings.client_address(request.request());
        let permit = http.connections.request_of(request.peer_addr(), client)?;
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        Ok(Self { in_flight, permit, is_read, http })
    }

    /// Starts sending the response. If `is_counted`, a large response to a read is replaced by 503 when the byte budget
    /// is used up.
    pub fn end(self, response: ServiceResponse<BoxBody>, is_counted: bool) -> ServiceResponse<BoxBody> {
        let (request, response) = response.into_parts();
        let (head, body) = response.into_parts();
        let mut share = None;
        let body = match body.try_into_bytes() {
            // Bytes that are shared with other responses are in memory only once. Bytes that were charged before are
            // not unique either.
            Ok(bytes) if is_counted && bytes.len() > SMALL_BYTES && bytes.is_unique() => {
                let mut own = self.http.budget.share(self.http.settings.client_address(&request));
                if let Err(failure) = own.grow_to(bytes.len())
                    && self.is_read
                {
                    return ServiceResponse::new(request, failure.error_response());
                }
                share = Some(own);
                BoxBody::new(bytes)
            }
            Ok(bytes) => BoxBody::new(bytes),
            Err(body) => body,
        };
        let (response, room) = compression::compressed(&request, head.set_body(body));
        let (head, body) = response.into_parts();
        // WebSocket sessions time out their clients themselves.
        let is_paced = head.status() != StatusCode::SWITCHING_PROTOCOLS;
        if let Some(in_flight) = self.in_flight.as_ref().filter(|_| is_paced) {
            // The wait starts with the head: if not even the head could be sent, the body is never polled.
            in_flight.wait();
        }
        let going = OutgoingBody {
            body,
            rest: Bytes::new(),
            last: 0,
            in_flight: self.in_flight,
            is_paced,
            _held: (share, self.permit, room),
        };
        ServiceResponse::new(request, head.set_body(BoxBody::new(going)))
    }
}

/// A response that is being sent.
struct OutgoingBody {
    body: BoxBody,
    /// Bytes of the body that have not been passed on yet.
    rest: Bytes,
    /// The length of the piece that was passed on last.
    last: usize,
    in_flight: Option<RequestInFlight>,
    is_paced: bool,
    _held: (Option<Share>, Option<ConnectionPermit<String>>, Option<CompressorRoom>),
}

impl MessageBody for OutgoingBody {
    type Error = Box<dyn std::error::Error>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    /// When actix polls for more, it has sent nearly all of the previous piece.
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let this = self.get_mut();
        let connection = this.in_flight.as_ref().filter(|_| this.is_paced);
        if let Some(connection) = connection {
            connection.moved(std::mem::take(&mut this.last));
        }
        while this.rest.is_empty() {
            match Pin::new(&mut this.body).poll_next(cx) {
                Poll::Ready(Some(Ok(bytes))) => this.rest = bytes,
                other => return other,
            }
        }
        let piece = this.rest.split_to(this.rest.len().min(PIECE_BYTES));
        this.last = piece.len();
        if let Some(connection) = connection {
            connection.wait();
        }
        Poll::Ready(Some(Ok(piece)))
    }
}
