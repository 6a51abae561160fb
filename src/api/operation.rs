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

use super::idempotency::{self, Begun, Key};
use crate::access::admission::admit;
use crate::access::guard::{Rule, Who};
use crate::access::state::Gate;
use crate::core::Core;
use crate::http::answer::{Answer, AnswerDescribed, Outcome};
use crate::http::budget::SMALL_BYTES;
use crate::http::failure::Failure;
use crate::http::input::{Described, Input, MAX_JSON_BYTES, Raw, buffer};
use crate::http::mounted::{Mounted, Need};
use crate::http::pace::Pace;
use crate::http::ready::Ready;
use crate::http::request_id;
use crate::http::state::Http;
use crate::tasks;

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
    /// What has to be mounted for it.
    pub needs: Vec<Need>,
    route: Mount,
}

/// Makes the route, once the operation's words are known.
type Mount = Rc<dyn Fn(&'static str) -> Route>;

impl Operation {
    /// One that only reads: it ends when its client goes away.
    pub fn reading<R: Rule, I: Input, S: Mounted, A: Answer, F, Fut>(
        method: Method,
        path: &'static str,
        id: &'static str,
        handler: F,
    ) -> Self
    where
        F: Fn(Allowed<R, I>, S) -> Fut + Clone + 'static,
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
        Self::described::<R, I, S, A>(method, path, id, false, Rc::new(mount))
    }

    /// One that may write: once what comes with it is there, it goes on to its end, whoever waits for it (R20).
    pub fn writing<R: Rule + Send, I: Input + Send, S: Mounted + Send, A: Outcome, F, Fut>(
        method: Method,
        path: &'static str,
        id: &'static str,
        handler: F,
    ) -> Self
    where
        F: Fn(Allowed<R, I>, S) -> Fut + Clone + Send + 'static,
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
        Self::described::<R, I, S, A>(method, path, id, keyed, Rc::new(mount))
    }

    fn described<R: Rule, I: Input, S: Mounted, A: Answer>(
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
            needs: [R::needs(), I::needs(), vec![Need::of::<S>()]].concat(),
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

/// What comes with a request: no slower than it may, and small where anybody may send it. Sockets see to that themselves.
fn arriving(payload: DevPayload, who: Who, http: &Http) -> Raw {
    let most = if who == Who::Public { SMALL_BYTES } else { usize::MAX };
    match who {
        Who::Ticket => Raw::Stream(payload, most),
        _ => Raw::paced(payload, Pace::of(&http.settings), most),
    }
}

/// Answers a request; a panic on the way is a 500 and nothing else.
async fn guarded(answer: impl Future<Output = Result<HttpResponse, Failure>>) -> HttpResponse {
    caught(answer).await.unwrap_or_else(HttpResponse::from_error)
}

async fn caught<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.unwrap_or_else(|panic| Err(Failure::internal(format!("panic: {}", tasks::panic_text(&*panic)))))
}

async fn read<R, I, S, A, F, Fut>(
    request: HttpRequest,
    payload: DevPayload,
    says: &'static str,
    handler: F,
) -> Result<HttpResponse, Failure>
where
    R: Rule,
    I: Input,
    S: Mounted,
    A: Answer,
    F: Fn(Allowed<R, I>, S) -> Fut,
    Fut: Future<Output = Result<A, Failure>>,
{
    let state = S::of(&request)?;
    let by = admit::<R>(&request, &Gate::of(&request)?).await?;
    let input = I::take(&request, arriving(payload, R::WHO, &Http::of(&request)?)).await?;
    let drawn = Id::<()>::draw().uuid();
    let allowed = Allowed { by, input, request: request_id::of(&request), says, drawn };
    handler(allowed, state).await?.respond(&request, says)
}

async fn write<R, I, S, A, F, Fut>(
    request: HttpRequest,
    payload: DevPayload,
    keyed: bool,
    says: &'static str,
    handler: F,
) -> Result<HttpResponse, Failure>
where
    R: Rule + Send,
    I: Input + Send,
    S: Mounted + Send,
    A: Outcome,
    F: Fn(Allowed<R, I>, S) -> Fut + Send + 'static,
    Fut: Future<Output = Result<A, Failure>> + Send + 'static,
{
    let (state, core) = (S::of(&request)?, Core::of(&request)?);
    let by = admit::<R>(&request, &Gate::of(&request)?).await?;
    let key = if keyed { idempotency::key(&request, by.visitor())? } else { None };
    let raw = arriving(payload, R::WHO, &Http::of(&request)?);
    let (input, claimed) = match key {
        None => (Ok(I::take(&request, raw).await?), None),
        // What is wrong with a body is told after what was answered under its key.
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
    let request = request_id::of(&request);
    let handle = move |input: I, drawn: Uuid| async move {
        handler(Allowed { by, input, request, says, drawn }, state).await?.ready(says)
    };
    let work = effect(core.clone(), claimed, input, handle);
    // Not even a connection that is reset ends it.
    let done = core.tasks.carry(work.instrument(Span::current())).await;
    done.unwrap_or_else(|gone| Err(Failure::unavailable(gone))).map(Ready::response)
}

/// From the claim of a key to the answer that is kept under it: what has begun here is done to its end.
async fn effect<I, Fut>(
    core: Core,
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
    let fresh = match idempotency::begin(&core, key, hash).await? {
        Begun::Answered(ready) => return Ok(ready),
        Begun::Fresh(fresh) => fresh,
    };
    let drawn = fresh.drawn;
    let answered = match input {
        Ok(input) => caught(async move { handle(input, drawn).await }).await,
        Err(failure) => Err(failure),
    };
    Ok(idempotency::finish(&core, fresh, answered.unwrap_or_else(|failure| failure.ready())).await)
}
