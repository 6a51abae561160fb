//! An operation of the interface: its route, its handler and its description. The description is derived from the
//! handler's types, so the OpenAPI document can't contradict the code.

use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use actix_web::dev::Payload as DevPayload;
use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse};
use actors::ids::Id;
use actors::live::RequestId;
use futures_util::FutureExt;
use tracing::{Instrument, Span};
use uuid::Uuid;

use super::idempotency::{self, IdempotencyKey, KeyClaim};
use crate::access::admission::admit;
use crate::access::policy::{Policy, Who};
use crate::core::Core;
use crate::http::answer::{Answer, AnswerDescribed, WriteAnswer};
use crate::http::budget::SMALL_BYTES;
use crate::http::error::ApiError;
use crate::http::input::{Described, Input, MAX_JSON_BYTES, Raw, buffer};
use crate::http::mounted::{Mounted, Need};
use crate::http::pace::Pace;
use crate::http::ready::PreparedAnswer;
use crate::http::request_id;
use crate::http::route_table::{Endpoint, RouteHandler};
use crate::http::state::Http;
use crate::tasks::{self, Tasks};

/// An authorized request: what its policy let in (the caller, the resource, their relation), and the input.
pub struct Authorized<R, I> {
    pub access: R,
    pub input: I,
    pub request_id: RequestId,
    /// The message of a success, for responses that are serialized before the operation returns them.
    pub message: &'static str,
    /// The id of the resource that this request creates; `None` if it creates none. A request repeated with the same
    /// Idempotency-Key gets the same id.
    new_id: Option<Uuid>,
}

impl<R, I> Authorized<R, I> {
    #[must_use]
    pub fn new_id<T>(&self) -> Id<T> {
        self.new_id.map_or_else(Id::generate, Id::from_uuid)
    }
}

/// An operation, ready to be mounted and described.
pub struct Operation {
    pub tag: &'static str,
    pub id: &'static str,
    pub summary: &'static str,
    /// The texts of the operations of its area, with a section for this one.
    pub texts: &'static str,
    pub method: Method,
    pub path: &'static str,
    pub who: Who,
    pub success: u16,
    /// The error statuses besides the usual ones.
    pub errors: &'static [u16],
    /// Whether the operation accepts an Idempotency-Key.
    pub keyed: bool,
    pub input: Described,
    pub answer: AnswerDescribed,
    /// The message of a success.
    pub message: &'static str,
    /// The states that must be mounted for it.
    pub needs: Vec<Need>,
    mount: Mount,
}

/// Builds the handler once the message of a success is known.
type Mount = Rc<dyn Fn(&'static str) -> RouteHandler>;

impl Operation {
    /// An operation that only reads. It is cancelled when the client disconnects.
    pub fn reading<R: Policy, I: Input, S: Mounted, A: Answer, F, Fut>(
        method: Method,
        path: &'static str,
        id: &'static str,
        handler: F,
    ) -> Self
    where
        F: Fn(Authorized<R, I>, S) -> Fut + Clone + 'static,
        Fut: Future<Output = Result<A, ApiError>> + 'static,
    {
        let mount = move |message: &'static str| -> RouteHandler {
            let handler = handler.clone();
            Rc::new(move |request, payload| guarded(read(request, payload, message, handler.clone())).boxed_local())
        };
        Self::described::<R, I, S, A>(method, path, id, false, Rc::new(mount))
    }

    /// An operation that may write. Once its input has been read, it runs to completion even if the client disconnects
    /// (R20).
    pub fn writing<R: Policy + Send, I: Input + Send, S: Mounted + Send, A: WriteAnswer, F, Fut>(
        method: Method,
        path: &'static str,
        id: &'static str,
        handler: F,
    ) -> Self
    where
        F: Fn(Authorized<R, I>, S) -> Fut + Clone + Send + 'static,
        Fut: Future<Output = Result<A, ApiError>> + Send + 'static,
    {
        let keyed = method == Method::POST
            && A::REPLAYABLE
            && !matches!(R::WHO, Who::Public | Who::Ticket | Who::Signed | Who::Internal | Who::Service);
        let mount = move |message: &'static str| -> RouteHandler {
            let handler = handler.clone();
            Rc::new(move |request, payload| {
                guarded(write(request, payload, keyed, message, handler.clone())).boxed_local()
            })
        };
        Self::described::<R, I, S, A>(method, path, id, keyed, Rc::new(mount))
    }

    fn described<R: Policy, I: Input, S: Mounted, A: Answer>(
        method: Method,
        path: &'static str,
        id: &'static str,
        keyed: bool,
        mount: Mount,
    ) -> Self {
        Self {
            tag: "",
            id,
            summary: "",
            texts: "",
            method,
            path,
            who: R::WHO,
            success: 200,
            errors: &[],
            keyed,
            input: I::describe(),
            answer: A::describe(),
            message: "",
            needs: [vec![Need::of::<R::Guard>()], R::needs(), I::needs(), vec![Need::of::<S>()]].concat(),
            mount,
        }
    }

    #[must_use]
    pub fn answers(self, success: u16, errors: &'static [u16]) -> Self {
        Self { success, errors, ..self }
    }

    #[must_use]
    pub fn named(self, tag: &'static str, summary: &'static str, texts: &'static str) -> Self {
        Self { tag, summary, texts, ..self }
    }

    /// Sets the `message` of a success: what happened, in this operation's own words.
    #[must_use]
    pub fn message(self, message: &'static str) -> Self {
        Self { message, ..self }
    }

    /// The operation for the table of a listener.
    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        Endpoint { method: self.method.clone(), path: self.path, handler: (self.mount)(self.message) }
    }
}

/// The request's body. It must not arrive too slowly, and must be small where unauthenticated clients may send it.
/// Sockets enforce limits of their own.
fn arriving(payload: DevPayload, who: Who, http: &Http) -> Raw {
    let most = if who == Who::Public { SMALL_BYTES } else { usize::MAX };
    match who {
        Who::Ticket => Raw::Stream(payload, most),
        _ => Raw::paced(payload, Pace::of(&http.settings), most),
    }
}

/// Runs the future and maps an error or a panic to a response; a panic is a 500.
async fn guarded(answer: impl Future<Output = Result<HttpResponse, ApiError>>) -> HttpResponse {
    caught(answer).await.unwrap_or_else(HttpResponse::from_error)
}

async fn caught<T>(work: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.unwrap_or_else(|panic| Err(ApiError::internal(format!("panic: {}", tasks::panic_text(&*panic)))))
}

async fn read<R, I, S, A, F, Fut>(
    request: HttpRequest,
    payload: DevPayload,
    message: &'static str,
    handler: F,
) -> Result<HttpResponse, ApiError>
where
    R: Policy,
    I: Input,
    S: Mounted,
    A: Answer,
    F: Fn(Authorized<R, I>, S) -> Fut,
    Fut: Future<Output = Result<A, ApiError>>,
{
    let state = S::of(&request)?;
    let access = admit::<R>(&request).await?;
    let input = I::take(&request, arriving(payload, R::WHO, &Http::of(&request)?)).await?;
    let allowed = Authorized { access, input, request_id: request_id::of(&request), message, new_id: None };
    handler(allowed, state).await?.respond(&request, message)
}

async fn write<R, I, S, A, F, Fut>(
    request: HttpRequest,
    payload: DevPayload,
    keyed: bool,
    message: &'static str,
    handler: F,
) -> Result<HttpResponse, ApiError>
where
    R: Policy + Send,
    I: Input + Send,
    S: Mounted + Send,
    A: WriteAnswer,
    F: Fn(Authorized<R, I>, S) -> Fut + Send + 'static,
    Fut: Future<Output = Result<A, ApiError>> + Send + 'static,
{
    let (state, tasks) = (S::of(&request)?, Tasks::of(&request)?);
    let access = admit::<R>(&request).await?;
    let key = if keyed { idempotency::key(&request, access.key_owner())? } else { None };
    let core = if key.is_some() { Some(Core::of(&request)?) } else { None };
    let raw = arriving(payload, R::WHO, &Http::of(&request)?);
    let (input, claimed) = match key {
        None => (Ok(I::take(&request, raw).await?), None),
        // A stored response takes precedence over an error in the body.
        Some(key) if I::BUFFERED => {
            let bytes = buffer(&request, raw, MAX_JSON_BYTES).await?;
            let hash = idempotency::digest(&bytes);
            (I::take(&request, Raw::Bytes(bytes)).await, Some((key, hash)))
        }
        Some(key) => {
            let input = I::take(&request, raw).await?;
            let hash = input.digest();
            (Ok(input), Some((key, hash)))
        }
    };
    let request_id = request_id::of(&request);
    let handle = move |input: I, new_id: Uuid| async move {
        handler(Authorized { access, input, request_id, message, new_id: Some(new_id) }, state).await?.ready(message)
    };
    let work = effect(core.zip(claimed), input, handle);
    // It continues, as a task, even if the connection is reset.
    let done = tasks.carry(work.instrument(Span::current())).await;
    done.unwrap_or_else(|gone| Err(ApiError::unavailable(gone))).map(PreparedAnswer::response)
}

/// Claims the key, runs the handler, and stores the response under the key. Runs to completion once started.
async fn effect<I, Fut>(
    claimed: Option<(Core, (IdempotencyKey, String))>,
    input: Result<I, ApiError>,
    handle: impl FnOnce(I, Uuid) -> Fut,
) -> Result<PreparedAnswer, ApiError>
where
    Fut: Future<Output = Result<PreparedAnswer, ApiError>>,
{
    let Some((core, (key, hash))) = claimed else {
        let input = input?;
        return caught(async move { handle(input, Id::<()>::generate().uuid()).await }).await;
    };
    let fresh = match idempotency::begin(&core, key, hash).await? {
        KeyClaim::Answered(ready) => return Ok(ready),
        KeyClaim::Fresh(fresh) => fresh,
    };
    let new_id = fresh.new_id;
    let answered = match input {
        Ok(input) => caught(async move { handle(input, new_id).await }).await,
        Err(failure) => Err(failure),
    };
    Ok(idempotency::finish(&core, fresh, answered.unwrap_or_else(|failure| failure.ready())).await)
}
