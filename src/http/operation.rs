//! One operation of the interface: its address, its handler, and its description, which is drawn from the handler's
//! own types, so that the OpenAPI document can't say anything else than the code does.

use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use actix_web::dev::Payload as DevPayload;
use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse, Route, web};
use actors::ids::Id;
use actors::live::RequestId;
use futures_util::FutureExt;
use tracing::{Instrument, Span};
use uuid::Uuid;

use super::answer::{Answer, AnswerDescribed, Outcome, Ready};
use super::failure::Failure;
use super::idempotency::{self, Begun, Key};
use super::input::{Described, Input, MAX_JSON_BYTES, Raw, buffer};
use super::request_id;
use crate::access::admission::admit;
use crate::access::guard::{Rule, Who};
use crate::app::App;

/// A request that passed: by whom, with what.
pub struct Allowed<R, I> {
    pub by: R,
    pub input: I,
    pub request: RequestId,
    /// What a success is to say: for answers that are written down before they are asked for.
    pub says: &'static str,
    /// The id of what this request makes: the same one when a request is repeated with its Idempotency-Key.
    drawn: Uuid,
}

impl<R, I> Allowed<R, I> {
    #[must_use]
    pub fn drawn<T>(&self) -> Id<T> {
        Id::from_uuid(self.drawn)
    }
}

/// An operation as it is mounted and described.
pub struct Operation {
    pub tag: &'static str,
    pub id: &'static str,
    pub summary: &'static str,
    pub method: Method,
    pub path: &'static str,
    pub who: Who,
    pub success: u16,
    /// Beside the usual ones.
    pub errors: &'static [u16],
    /// Takes an Idempotency-Key.
    pub keyed: bool,
    pub input: Described,
    pub answer: AnswerDescribed,
    /// What a success says happened.
    pub says: &'static str,
    route: Mount,
}

/// Makes the route, once the operation's words are known.
type Mount = Rc<dyn Fn(&'static str) -> Route>;

impl Operation {
    /// One that only reads: it ends when its client goes away.
    pub fn reading<R: Rule, I: Input, A: Answer, F, Fut>(
        method: Method,
        path: &'static str,
        id: &'static str,
        handler: F,
    ) -> Self
    where
        F: Fn(Allowed<R, I>, App) -> Fut + Clone + 'static,
        Fut: Future<Output = Result<A, Failure>> + 'static,
    {
        let mounted = method.clone();
        let mount = move |says: &'static str| {
            let handler = handler.clone();
            web::method(mounted.clone()).to(move |request: HttpRequest, payload: web::Payload| {
                let handler = handler.clone();
                async move { guarded(read(request, payload.into_inner(), says, handler)).await }
            })
        };
        Self::described::<R, I, A>(method, path, id, false, Rc::new(mount))
    }

    /// One that may write: once what comes with it is there, it goes on to its end, whoever waits for it (R20).
    pub fn writing<R: Rule + Send, I: Input + Send, A: Outcome, F, Fut>(
        method: Method,
        path: &'static str,
        id: &'static str,
        handler: F,
    ) -> Self
    where
        F: Fn(Allowed<R, I>, App) -> Fut + Clone + Send + 'static,
        Fut: Future<Output = Result<A, Failure>> + Send + 'static,
    {
        let keyed = method == Method::POST
            && A::KEPT
            && !matches!(R::WHO, Who::Public | Who::Ticket | Who::Signed | Who::Internal);
        let mounted = method.clone();
        let mount = move |says: &'static str| {
            let handler = handler.clone();
            web::method(mounted.clone()).to(move |request: HttpRequest, payload: web::Payload| {
                let handler = handler.clone();
                async move { guarded(write(request, payload.into_inner(), keyed, says, handler)).await }
            })
        };
        Self::described::<R, I, A>(method, path, id, keyed, Rc::new(mount))
    }

    fn described<R: Rule, I: Input, A: Answer>(
        method: Method,
        path: &'static str,
        id: &'static str,
        keyed: bool,
        route: Mount,
    ) -> Self {
        Self {
            tag: "",
            id,
            summary: "",
            method,
            path,
            who: R::WHO,
            success: 200,
            errors: &[],
            keyed,
            input: I::describe(),
            answer: A::describe(),
            says: "",
            route,
        }
    }

    #[must_use]
    pub fn answers(self, success: u16, errors: &'static [u16]) -> Self {
        Self { success, errors, ..self }
    }

    #[must_use]
    pub fn named(self, tag: &'static str, summary: &'static str) -> Self {
        Self { tag, summary, ..self }
    }

    /// The `message` of a success: what happened, in words of the operation's own.
    #[must_use]
    pub fn says(self, says: &'static str) -> Self {
        Self { says, ..self }
    }

    #[must_use]
    pub fn route(&self) -> Route {
        (self.route)(self.says)
    }
}

/// Answers a request; a panic on the way is a 500 and nothing else.
async fn guarded(answer: impl Future<Output = Result<HttpResponse, Failure>>) -> HttpResponse {
    caught(answer).await.unwrap_or_else(HttpResponse::from_error)
}

async fn caught<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.unwrap_or_else(|panic| Err(Failure::internal(format!("panic: {}", said(&*panic)))))
}

/// What a panic said.
#[must_use]
pub fn said(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}

async fn read<R, I, A, F, Fut>(
    request: HttpRequest,
    payload: DevPayload,
    says: &'static str,
    handler: F,
) -> Result<HttpResponse, Failure>
where
    R: Rule,
    I: Input,
    A: Answer,
    F: Fn(Allowed<R, I>, App) -> Fut,
    Fut: Future<Output = Result<A, Failure>>,
{
    let app = App::of(&request)?;
    let by = admit::<R>(&request, &app).await?;
    let input = I::take(&request, Raw::Stream(payload)).await?;
    let drawn = Id::<()>::draw().uuid();
    let allowed = Allowed { by, input, request: request_id::of(&request), says, drawn };
    handler(allowed, app).await?.respond(&request, says)
}

async fn write<R, I, A, F, Fut>(
    request: HttpRequest,
    payload: DevPayload,
    keyed: bool,
    says: &'static str,
    handler: F,
) -> Result<HttpResponse, Failure>
where
    R: Rule + Send,
    I: Input + Send,
    A: Outcome,
    F: Fn(Allowed<R, I>, App) -> Fut + Send + 'static,
    Fut: Future<Output = Result<A, Failure>> + Send + 'static,
{
    let app = App::of(&request)?;
    let by = admit::<R>(&request, &app).await?;
    let key = if keyed { idempotency::key(&request, by.visitor())? } else { None };
    let (input, claimed) = match key {
        None => (Ok(I::take(&request, Raw::Stream(payload)).await?), None),
        // What is wrong with a body is told after what was answered under its key.
        Some(key) if I::BUFFERED => {
            let bytes = buffer(Raw::Stream(payload), MAX_JSON_BYTES).await?;
            let hash = idempotency::digest(&bytes);
            (I::take(&request, Raw::Bytes(bytes)).await, Some((key, hash)))
        }
        Some(key) => {
            let input = I::take(&request, Raw::Stream(payload)).await?;
            let hash = input.digest();
            (Ok(input), Some((key, hash)))
        }
    };
    let request = request_id::of(&request);
    let handle = {
        let app = app.clone();
        move |input: I, drawn: Uuid| async move {
            handler(Allowed { by, input, request, says, drawn }, app).await?.ready(says)
        }
    };
    let work = effect(app.clone(), claimed, input, handle);
    // Not even a connection that is reset ends it.
    let done = app.tasks.carry(work.instrument(Span::current())).await;
    done.unwrap_or_else(|gone| Err(Failure::unavailable(gone))).map(Ready::response)
}

/// From the claim of a key to the answer that is kept under it: what has begun here is done to its end.
async fn effect<I, Fut>(
    app: App,
    claimed: Option<(Key, String)>,
    input: Result<I, Failure>,
    handle: impl FnOnce(I, Uuid) -> Fut,
) -> Result<Ready, Failure>
where
    Fut: Future<Output = Result<Ready, Failure>>,
{
    let Some((key, hash)) = claimed else {
        let input = input?;
        return caught(async move { handle(input, Id::<()>::draw().uuid()).await }).await;
    };
    let fresh = match idempotency::begin(&app, key, hash).await? {
        Begun::Answered(ready) => return Ok(ready),
        Begun::Fresh(fresh) => fresh,
    };
    let drawn = fresh.drawn;
    let answered = match input {
        Ok(input) => caught(async move { handle(input, drawn).await }).await,
        Err(failure) => Err(failure),
    };
    Ok(idempotency::finish(&app, fresh, answered.unwrap_or_else(|failure| failure.ready())).await)
}
