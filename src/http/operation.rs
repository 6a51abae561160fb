//! One operation of the interface: its address, its handler, and its description, which is drawn from the handler's
//! own types, so that the OpenAPI document can't say anything else than the code does.

use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use actix_web::dev::Payload as DevPayload;
use actix_web::http::Method;
use actix_web::http::header::{CACHE_CONTROL, ETAG};
use actix_web::{HttpRequest, HttpResponse, Responder, Route, web};
use actors::ids::Id;
use actors::live::RequestId;
use futures_util::FutureExt;
use utoipa::openapi::{RefOr, Schema};
use uuid::Uuid;

use super::envelope::{Rendered, Reply, is_known};
use super::failure::Failure;
use super::idempotency::{self, Begun};
use super::input::{Described, Input, MAX_JSON_BYTES, Raw, buffer};
use super::request_id;
use crate::access::guard::{Rule, Who};
use crate::app::App;

/// A request that passed: by whom, with what.
pub struct Allowed<R, I> {
    pub by: R,
    pub input: I,
    pub request: RequestId,
    /// The id of what this request makes: the same one when a request is repeated with its Idempotency-Key.
    drawn: Uuid,
}

impl<R, I> Allowed<R, I> {
    #[must_use]
    pub fn drawn<T>(&self) -> Id<T> {
        Id::from_uuid(self.drawn)
    }
}

/// How an answer is described in the OpenAPI document.
pub struct AnswerDescribed {
    pub content_type: Option<&'static str>,
    /// In the envelope's `data`, when it is JSON.
    pub data: Option<(String, RefOr<Schema>)>,
    pub components: Vec<(String, RefOr<Schema>)>,
}

/// What a handler may answer with.
pub trait Answer: Responder + 'static {
    /// Whether it may be kept under an Idempotency-Key: not where it has a token in it.
    const KEPT: bool = true;
    fn describe() -> AnswerDescribed;
}

fn json<T: utoipa::ToSchema>() -> AnswerDescribed {
    let mut components = Vec::new();
    T::schemas(&mut components);
    AnswerDescribed {
        content_type: Some("application/json"),
        data: Some((T::name().into_owned(), T::schema())),
        components,
    }
}

impl<T: serde::Serialize + utoipa::ToSchema + 'static> Answer for Reply<T> {
    fn describe() -> AnswerDescribed {
        json::<T>()
    }
}
impl<T: utoipa::ToSchema + 'static> Answer for Rendered<T> {
    fn describe() -> AnswerDescribed {
        json::<T>()
    }
}

/// An answer with a token in it, or to a request that can be repeated anyway: it takes no Idempotency-Key.
pub struct Unkept<T>(pub Reply<T>);

impl<T: serde::Serialize> Responder for Unkept<T> {
    type Body = actix_web::body::BoxBody;
    fn respond_to(self, request: &HttpRequest) -> HttpResponse {
        self.0.respond_to(request)
    }
}

impl<T: serde::Serialize + utoipa::ToSchema + 'static> Answer for Unkept<T> {
    const KEPT: bool = false;
    fn describe() -> AnswerDescribed {
        json::<T>()
    }
}

macro_rules! plain_answers {
    ($($(#[$meta:meta])* $name:ident, $content_type:expr;)*) => {$(
        $(#[$meta])*
        pub struct $name(pub HttpResponse);
        impl Responder for $name {
            type Body = actix_web::body::BoxBody;
            fn respond_to(self, _: &HttpRequest) -> HttpResponse {
                self.0
            }
        }
        impl Answer for $name {
            fn describe() -> AnswerDescribed {
                AnswerDescribed { content_type: $content_type, data: None, components: Vec::new() }
            }
        }
    )*};
}

plain_answers! {
    /// The bytes of a file, under its own type.
    Binary, Some("*/*");
    /// Server-sent events.
    EventStream, Some("text/event-stream");
    /// The connection goes on as something else.
    Upgraded, None;
    /// The client is sent on to another address.
    Redirect, None;
    /// A text that is no JSON.
    Text, Some("text/plain");
    /// JSON without the envelope.
    Bare, Some("application/json");
}

/// As [`Binary`], for what clients keep: who has it already, by its ETag, gets 304.
pub struct Cached(pub HttpResponse);

impl Responder for Cached {
    type Body = actix_web::body::BoxBody;
    fn respond_to(self, request: &HttpRequest) -> HttpResponse {
        let etag = self.0.headers().get(ETAG).and_then(|etag| etag.to_str().ok());
        if !etag.is_some_and(|etag| is_known(request, etag)) {
            return self.0;
        }
        let mut unchanged = HttpResponse::NotModified();
        for name in [ETAG, CACHE_CONTROL] {
            if let Some(value) = self.0.headers().get(&name) {
                unchanged.insert_header((name, value.clone()));
            }
        }
        unchanged.finish()
    }
}

impl Answer for Cached {
    fn describe() -> AnswerDescribed {
        Binary::describe()
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
    route: Rc<dyn Fn() -> Route>,
}

impl Operation {
    pub fn new<R: Rule, I: Input, A: Answer, F, Fut>(
        method: Method,
        path: &'static str,
        id: &'static str,
        handler: F,
    ) -> Self
    where
        F: Fn(Allowed<R, I>, App) -> Fut + Clone + 'static,
        Fut: Future<Output = Result<A, Failure>> + 'static,
    {
        let keyed = method == Method::POST
            && A::KEPT
            && !matches!(R::WHO, Who::Public | Who::Ticket | Who::Signed | Who::Internal);
        let make = {
            let method = method.clone();
            move |keyed: bool| {
                let handler = handler.clone();
                web::method(method.clone()).to(move |request: HttpRequest, payload: web::Payload| {
                    let handler = handler.clone();
                    async move { guarded(request, payload.into_inner(), keyed, handler).await }
                })
            }
        };
        let make = Rc::new(make);
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
            route: Rc::new(move || make(keyed)),
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

    #[must_use]
    pub fn route(&self) -> Route {
        (self.route)()
    }
}

/// Answers a request; a panic on the way is a 500 and nothing else.
async fn guarded<R, I, A, F, Fut>(request: HttpRequest, payload: DevPayload, keyed: bool, handler: F) -> HttpResponse
where
    R: Rule,
    I: Input,
    A: Answer,
    F: Fn(Allowed<R, I>, App) -> Fut,
    Fut: Future<Output = Result<A, Failure>>,
{
    let answer = AssertUnwindSafe(answer(&request, payload, keyed, handler)).catch_unwind().await;
    let answer = answer.unwrap_or_else(|panic| Err(Failure::internal(format!("panic: {}", said(&*panic)))));
    answer.unwrap_or_else(HttpResponse::from_error)
}

/// What a panic said.
#[must_use]
pub fn said(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}

async fn answer<R, I, A, F, Fut>(
    request: &HttpRequest,
    payload: DevPayload,
    keyed: bool,
    handler: F,
) -> Result<HttpResponse, Failure>
where
    R: Rule,
    I: Input,
    A: Answer,
    F: Fn(Allowed<R, I>, App) -> Fut,
    Fut: Future<Output = Result<A, Failure>>,
{
    let app = App::of(request)?;
    let by = R::check(request, &app).await?;
    let raw = Raw::arriving(payload, R::WHO, &app);
    let id = request_id::of(request);
    let key = if keyed { idempotency::key(request, by.visitor())? } else { None };
    let Some(key) = key else {
        let input = I::take(request, raw).await?;
        let allowed = Allowed { by, input, request: id, drawn: Id::<()>::draw().uuid() };
        return handler(allowed, app).await.map(|answer| plain(answer, request));
    };
    let (begun, input) = if I::BUFFERED {
        let bytes = buffer(request, raw, MAX_JSON_BYTES).await?;
        let begun = idempotency::begin(&app, key, idempotency::digest(&bytes)).await?;
        let input = match &begun {
            Begun::Fresh(_) => Some(I::take(request, Raw::Bytes(bytes)).await),
            Begun::Answered(_) => None,
        };
        (begun, input)
    } else {
        let input = I::take(request, raw).await?;
        (idempotency::begin(&app, key, input.digest()).await?, Some(Ok(input)))
    };
    match (begun, input) {
        (Begun::Answered(answer), _) => Ok(answer),
        (Begun::Fresh(fresh), input) => {
            let drawn = fresh.drawn;
            let answered = match input {
                Some(Ok(input)) => {
                    let work = AssertUnwindSafe(handler(Allowed { by, input, request: id, drawn }, app.clone()));
                    match work.catch_unwind().await {
                        Ok(answered) => answered.map(|answer| plain(answer, request)),
                        Err(panic) => Err(Failure::internal(format!("panic: {}", said(&*panic)))),
                    }
                }
                Some(Err(failure)) => Err(failure),
                None => Err(Failure::internal("an input was taken twice")),
            };
            let response = answered.unwrap_or_else(HttpResponse::from_error);
            Ok(idempotency::finish(&app, fresh, response).await)
        }
    }
}

fn plain(answer: impl Responder, request: &HttpRequest) -> HttpResponse {
    answer.respond_to(request).map_into_boxed_body()
}
