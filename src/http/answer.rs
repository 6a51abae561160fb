//! The response types of operations: data in the envelope, files, streams and redirects, each with its OpenAPI
//! description.

use std::marker::PhantomData;

use actix_web::http::header::{CACHE_CONTROL, ETAG, LOCATION, SET_COOKIE};
use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use utoipa::openapi::{RefOr, Schema};

use super::budget::Share;
use super::envelope::{Prerendered, Reply};
use super::error::ApiError;
use super::mounted::Mounted;
use super::ready::{JSON, PreparedAnswer};
use super::spool::{Spool, unspooled};
use super::state::Http;

/// The description of a response in the OpenAPI document.
#[derive(Default)]
pub struct AnswerDescribed {
    /// The schema of the envelope's `data`, for responses in the envelope.
    pub data: Option<(String, RefOr<Schema>)>,
    /// The media types of what the operation returns without an envelope, such as files.
    pub files: Vec<&'static str>,
    /// The schema of that content.
    pub file: FileSchema,
    /// The headers besides those that every response has.
    pub headers: &'static [&'static str],
    pub components: Vec<(String, RefOr<Schema>)>,
}

/// What a response without an envelope contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FileSchema {
    #[default]
    Bytes,
    Text,
    /// A JSON object.
    Object,
    /// Server-sent events; their schema is the first of the components.
    Events,
}

/// A type that a handler may respond with.
pub trait Answer: 'static {
    /// Whether the response may be stored under an Idempotency-Key. False for responses that contain a token.
    const REPLAYABLE: bool = true;
    fn describe() -> AnswerDescribed;
    /// Builds the response. `message` is the operation's own success message.
    ///
    /// # Errors
    /// 500 if the value can't be serialized.
    fn respond(self, request: &HttpRequest, message: &'static str) -> Result<HttpResponse, ApiError>;
}

/// A response of an operation that writes. It is serialized to bytes inside the task that does the work, whether or not
/// the client is still connected.
pub trait WriteAnswer: Answer + Send {
    /// Serializes the response. `message` is the operation's own success message.
    ///
    /// # Errors
    /// 500 if the value can't be serialized.
    fn ready(self, message: &'static str) -> Result<PreparedAnswer, ApiError>;
}

/// Whether `If-None-Match` names this ETag (or is `*`), so that a 304 suffices.
#[must_use]
pub fn is_known(request: &HttpRequest, etag: &str) -> bool {
    request.headers().get_all(header::IF_NONE_MATCH).any(|value| {
        value.to_str().is_ok_and(|value| {
            value.split(',').any(|one| one.trim() == "*" || one.trim().trim_start_matches("W/") == etag)
        })
    })
}

fn json<T: utoipa::ToSchema>() -> AnswerDescribed {
    let mut components = Vec::new();
    T::schemas(&mut components);
    AnswerDescribed { data: Some((T::name().into_owned(), T::schema())), components, ..AnswerDescribed::default() }
}

impl<T: serde::Serialize + utoipa::ToSchema + 'static> Answer for Reply<T> {
    fn describe() -> AnswerDescribed {
        json::<T>()
    }
    fn respond(self, _: &HttpRequest, message: &'static str) -> Result<HttpResponse, ApiError> {
        self.written(message).map(PreparedAnswer::response)
    }
}

impl<T: serde::Serialize + utoipa::ToSchema + Send + 'static> WriteAnswer for Reply<T> {
    fn ready(self, message: &'static str) -> Result<PreparedAnswer, ApiError> {
        self.written(message)
    }
}

impl<T: utoipa::ToSchema + 'static> Answer for Prerendered<T> {
    fn describe() -> AnswerDescribed {
        json::<T>()
    }
    fn respond(self, request: &HttpRequest, _: &'static str) -> Result<HttpResponse, ApiError> {
        if is_known(request, &self.etag) {
            return Ok(HttpResponse::NotModified().insert_header((ETAG, self.etag)).finish());
        }
        let body = Bytes::from_owner(self.body);
        Ok(HttpResponse::Ok().insert_header((ETAG, self.etag)).content_type(JSON).body(body))
    }
}

/// A response with the version of the resource as its ETag, for `If-Match`.
#[derive(Debug)]
pub struct Versioned<T>(Reply<T>);

impl<T> Reply<T> {
    /// Sets the ETag to the version of the resource, for `If-Match`.
    #[must_use]
    pub fn version(self, version: impl std::fmt::Display) -> Versioned<T> {
        Versioned(self.tagged(version))
    }
}

impl<T: serde::Serialize + utoipa::ToSchema + 'static> Answer for Versioned<T> {
    fn describe() -> AnswerDescribed {
        AnswerDescribed { headers: &["ETag"], ..json::<T>() }
    }
    fn respond(self, request: &HttpRequest, message: &'static str) -> Result<HttpResponse, ApiError> {
        self.0.respond(request, message)
    }
}

impl<T: serde::Serialize + utoipa::ToSchema + Send + 'static> WriteAnswer for Versioned<T> {
    fn ready(self, message: &'static str) -> Result<PreparedAnswer, ApiError> {
        self.0.ready(message)
    }
}

/// A response that was spooled, and may be sent to several clients at once; 304 if it has an ETag that `If-None-Match` names.
pub struct SpooledAnswer<T> {
    pub etag: Option<String>,
    pub spool: Spool,
    pub of: PhantomData<T>,
}

impl<T: utoipa::ToSchema + 'static> Answer for SpooledAnswer<T> {
    fn describe() -> AnswerDescribed {
        json::<T>()
    }
    fn respond(self, request: &HttpRequest, _: &'static str) -> Result<HttpResponse, ApiError> {
        Ok(match self.etag.as_deref().filter(|etag| is_known(request, etag)) {
            Some(etag) => HttpResponse::NotModified().insert_header((ETAG, etag)).finish(),
            None => self.spool.response(self.etag),
        })
    }
}

/// A large response. `share` holds the client's room for what it is made of, until it is spooled; 304 if it has an ETag that
/// `If-None-Match` names.
pub struct CountedAnswer<T> {
    pub reply: Reply<T>,
    pub share: Share,
}

impl<T: serde::Serialize + utoipa::ToSchema + 'static> Answer for CountedAnswer<T> {
    fn describe() -> AnswerDescribed {
        json::<T>()
    }
    fn respond(self, request: &HttpRequest, message: &'static str) -> Result<HttpResponse, ApiError> {
        if let Some(etag) = self.reply.etag().filter(|etag| is_known(request, etag)) {
            return Ok(HttpResponse::NotModified().insert_header((ETAG, etag)).finish());
        }
        let http = Http::of(request)?;
        let mut spool = http.spools.begin(http.settings.client_address(request));
        let etag = self.reply.etag().map(str::to_owned);
        self.reply.write(&mut spool, message)?;
        drop(self.share);
        let spool = spool.finish().map_err(|error| unspooled(&error))?;
        Ok(spool.response(etag))
    }
}

/// A response that contains a token, or of a request that is safe to repeat anyway: the operation accepts no
/// Idempotency-Key.
pub struct NotReplayable<T>(pub Reply<T>);

impl<T: serde::Serialize + utoipa::ToSchema + 'static> Answer for NotReplayable<T> {
    const REPLAYABLE: bool = false;
    fn describe() -> AnswerDescribed {
        json::<T>()
    }
    fn respond(self, request: &HttpRequest, message: &'static str) -> Result<HttpResponse, ApiError> {
        self.0.respond(request, message)
    }
}

impl<T: serde::Serialize + utoipa::ToSchema + Send + 'static> WriteAnswer for NotReplayable<T> {
    fn ready(self, message: &'static str) -> Result<PreparedAnswer, ApiError> {
        self.0.ready(message)
    }
}

/// A response with a cookie for the browser that made the request: the operation accepts no Idempotency-Key.
pub struct WithCookie<T> {
    pub reply: Reply<T>,
    pub cookie: Option<String>,
}

impl<T: serde::Serialize + utoipa::ToSchema + Send + 'static> Answer for WithCookie<T> {
    const REPLAYABLE: bool = false;
    fn describe() -> AnswerDescribed {
        AnswerDescribed { headers: &["Set-Cookie"], ..json::<T>() }
    }
    fn respond(self, _: &HttpRequest, message: &'static str) -> Result<HttpResponse, ApiError> {
        self.ready(message).map(PreparedAnswer::response)
    }
}

impl<T: serde::Serialize + utoipa::ToSchema + Send + 'static> WriteAnswer for WithCookie<T> {
    fn ready(self, message: &'static str) -> Result<PreparedAnswer, ApiError> {
        let ready = self.reply.written(message)?;
        Ok(match self.cookie {
            Some(cookie) => ready.with(SET_COOKIE, cookie),
            None => ready,
        })
    }
}

/// A 302 redirect, optionally with a cookie.
pub struct Redirect {
    pub location: String,
    pub cookie: Option<String>,
}

impl Answer for Redirect {
    const REPLAYABLE: bool = false;
    fn describe() -> AnswerDescribed {
        AnswerDescribed { headers: &["Location", "Set-Cookie"], ..AnswerDescribed::default() }
    }
    fn respond(self, _: &HttpRequest, message: &'static str) -> Result<HttpResponse, ApiError> {
        self.ready(message).map(PreparedAnswer::response)
    }
}

impl WriteAnswer for Redirect {
    fn ready(self, _: &'static str) -> Result<PreparedAnswer, ApiError> {
        let mut headers = vec![(LOCATION, self.location)];
        headers.extend(self.cookie.map(|cookie| (SET_COOKIE, cookie)));
        Ok(PreparedAnswer { status: StatusCode::FOUND, headers, body: Bytes::new() })
    }
}

macro_rules! plain_answers {
    ($($(#[$meta:meta])* $name:ident, $described:expr;)*) => {$(
        $(#[$meta])*
        pub struct $name(pub HttpResponse);
        impl Answer for $name {
            const REPLAYABLE: bool = false;
            fn describe() -> AnswerDescribed {
                $described
            }
            fn respond(self, _: &HttpRequest, _: &'static str) -> Result<HttpResponse, ApiError> {
                Ok(self.0)
            }
        }
    )*};
}

plain_answers! {
    /// The connection switches to another protocol.
    Upgraded, AnswerDescribed::default();
    /// Plain text.
    Text, AnswerDescribed { files: vec!["text/plain"], file: FileSchema::Text, ..AnswerDescribed::default() };
    /// JSON without the envelope.
    Bare, AnswerDescribed { files: vec![JSON], file: FileSchema::Object, ..AnswerDescribed::default() };
}

/// Server-sent events, each of them a `T`.
pub struct EventStream<T> {
    pub response: HttpResponse,
    pub of: PhantomData<T>,
}

impl<T: utoipa::ToSchema + 'static> Answer for EventStream<T> {
    const REPLAYABLE: bool = false;
    fn describe() -> AnswerDescribed {
        let mut components = vec![(T::name().into_owned(), T::schema())];
        T::schemas(&mut components);
        AnswerDescribed {
            files: vec!["text/event-stream"],
            file: FileSchema::Events,
            components,
            ..AnswerDescribed::default()
        }
    }
    fn respond(self, _: &HttpRequest, _: &'static str) -> Result<HttpResponse, ApiError> {
        Ok(self.response)
    }
}

/// The kind of file that an operation returns.
pub trait FileKind: 'static {
    const HEADERS: &'static [&'static str] = &["Content-Disposition", "ETag"];
    fn media_types() -> Vec<&'static str>;
}

/// The bytes of a file.
pub struct Binary<K> {
    pub response: HttpResponse,
    pub kind: PhantomData<K>,
}

impl<K> Binary<K> {
    #[must_use]
    pub const fn of(response: HttpResponse) -> Self {
        Self { response, kind: PhantomData }
    }
}

impl<K: FileKind> Answer for Binary<K> {
    const REPLAYABLE: bool = false;
    fn describe() -> AnswerDescribed {
        AnswerDescribed { files: K::media_types(), headers: K::HEADERS, ..AnswerDescribed::default() }
    }
    fn respond(self, _: &HttpRequest, _: &'static str) -> Result<HttpResponse, ApiError> {
        Ok(self.response)
    }
}

/// Like [`Binary`], for files that clients cache: 304 if `If-None-Match` names the response's ETag.
pub struct Cached<K>(pub Binary<K>);

impl<K: FileKind> Answer for Cached<K> {
    const REPLAYABLE: bool = false;
    fn describe() -> AnswerDescribed {
        Binary::<K>::describe()
    }
    fn respond(self, request: &HttpRequest, _: &'static str) -> Result<HttpResponse, ApiError> {
        let whole = self.0.response;
        let etag = whole.headers().get(ETAG).and_then(|etag| etag.to_str().ok());
        if !etag.is_some_and(|etag| is_known(request, etag)) {
            return Ok(whole);
        }
        let mut unchanged = HttpResponse::NotModified();
        for name in [ETAG, CACHE_CONTROL] {
            if let Some(value) = whole.headers().get(&name) {
                unchanged.insert_header((name, value.clone()));
            }
        }
        Ok(unchanged.finish())
    }
}
