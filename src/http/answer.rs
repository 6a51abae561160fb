//! What an operation answers with: data in the envelope, files, streams, redirects; and how each is described.

use actix_web::http::header::{CACHE_CONTROL, ETAG, LOCATION, SET_COOKIE};
use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use utoipa::openapi::{RefOr, Schema};

use super::budget::Share;
use super::envelope::{Rendered, Reply};
use super::failure::Failure;
use super::ready::{JSON, Ready};

/// How an answer is described in the OpenAPI document.
pub struct AnswerDescribed {
    pub content_type: Option<&'static str>,
    /// In the envelope's `data`, when it is JSON.
    pub data: Option<(String, RefOr<Schema>)>,
    pub components: Vec<(String, RefOr<Schema>)>,
}

/// What a handler may answer with.
pub trait Answer: 'static {
    /// Whether it may be kept under an Idempotency-Key: not where it has a token in it.
    const KEPT: bool = true;
    fn describe() -> AnswerDescribed;
    /// `says`: the operation's own words for what happened.
    ///
    /// # Errors
    /// 500: it can't be written down.
    fn respond(self, request: &HttpRequest, says: &'static str) -> Result<HttpResponse, Failure>;
}

/// What an operation that writes answers with: it is ready before anybody looks whether its client is still there.
pub trait Outcome: Answer + Send {
    /// # Errors
    /// 500: it can't be written down.
    fn ready(self, says: &'static str) -> Result<Ready, Failure>;
}

/// Whether a client that sent `If-None-Match` has this very answer already.
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
    AnswerDescribed { content_type: Some(JSON), data: Some((T::name().into_owned(), T::schema())), components }
}

impl<T: serde::Serialize + utoipa::ToSchema + 'static> Answer for Reply<T> {
    fn describe() -> AnswerDescribed {
        json::<T>()
    }
    fn respond(self, _: &HttpRequest, says: &'static str) -> Result<HttpResponse, Failure> {
        self.written(says).map(Ready::response)
    }
}

impl<T: serde::Serialize + utoipa::ToSchema + Send + 'static> Outcome for Reply<T> {
    fn ready(self, says: &'static str) -> Result<Ready, Failure> {
        self.written(says)
    }
}

impl<T: utoipa::ToSchema + 'static> Answer for Rendered<T> {
    fn describe() -> AnswerDescribed {
        json::<T>()
    }
    fn respond(self, request: &HttpRequest, _: &'static str) -> Result<HttpResponse, Failure> {
        if is_known(request, &self.etag) {
            return Ok(HttpResponse::NotModified().insert_header((ETAG, self.etag)).finish());
        }
        let body = Bytes::from_owner(self.body);
        Ok(HttpResponse::Ok().insert_header((ETAG, self.etag)).content_type(JSON).body(body))
    }
}

/// A large answer whose bytes were counted before it was made.
pub struct Counted<T> {
    pub reply: Reply<T>,
    pub share: Share,
}

impl<T: serde::Serialize + utoipa::ToSchema + 'static> Answer for Counted<T> {
    fn describe() -> AnswerDescribed {
        json::<T>()
    }
    fn respond(mut self, _: &HttpRequest, says: &'static str) -> Result<HttpResponse, Failure> {
        let ready = self.reply.written(says)?;
        // It may be larger than was thought.
        self.share.grow_to(ready.body.len())?;
        Ok(Ready { body: self.share.with(ready.body.into()), ..ready }.response())
    }
}

/// An answer with a token in it, or to a request that can be repeated anyway: it takes no Idempotency-Key.
pub struct Unkept<T>(pub Reply<T>);

impl<T: serde::Serialize + utoipa::ToSchema + 'static> Answer for Unkept<T> {
    const KEPT: bool = false;
    fn describe() -> AnswerDescribed {
        json::<T>()
    }
    fn respond(self, request: &HttpRequest, says: &'static str) -> Result<HttpResponse, Failure> {
        self.0.respond(request, says)
    }
}

impl<T: serde::Serialize + utoipa::ToSchema + Send + 'static> Outcome for Unkept<T> {
    fn ready(self, says: &'static str) -> Result<Ready, Failure> {
        self.0.ready(says)
    }
}

/// The client is sent on to another address.
pub struct Redirect {
    pub location: String,
    pub cookie: Option<String>,
}

impl Answer for Redirect {
    const KEPT: bool = false;
    fn describe() -> AnswerDescribed {
        AnswerDescribed { content_type: None, data: None, components: Vec::new() }
    }
    fn respond(self, _: &HttpRequest, says: &'static str) -> Result<HttpResponse, Failure> {
        self.ready(says).map(Ready::response)
    }
}

impl Outcome for Redirect {
    fn ready(self, _: &'static str) -> Result<Ready, Failure> {
        let mut headers = vec![(LOCATION, self.location)];
        headers.extend(self.cookie.map(|cookie| (SET_COOKIE, cookie)));
        Ok(Ready { status: StatusCode::FOUND, headers, body: Bytes::new() })
    }
}

macro_rules! plain_answers {
    ($($(#[$meta:meta])* $name:ident, $content_type:expr;)*) => {$(
        $(#[$meta])*
        pub struct $name(pub HttpResponse);
        impl Answer for $name {
            const KEPT: bool = false;
            fn describe() -> AnswerDescribed {
                AnswerDescribed { content_type: $content_type, data: None, components: Vec::new() }
            }
            fn respond(self, _: &HttpRequest, _: &'static str) -> Result<HttpResponse, Failure> {
                Ok(self.0)
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
    /// A text that is no JSON.
    Text, Some("text/plain");
    /// JSON without the envelope.
    Bare, Some(JSON);
}

/// As [`Binary`], for what clients keep: who has it already, by its ETag, gets 304.
pub struct Cached(pub HttpResponse);

impl Answer for Cached {
    const KEPT: bool = false;
    fn describe() -> AnswerDescribed {
        Binary::describe()
    }
    fn respond(self, request: &HttpRequest, _: &'static str) -> Result<HttpResponse, Failure> {
        let etag = self.0.headers().get(ETAG).and_then(|etag| etag.to_str().ok());
        if !etag.is_some_and(|etag| is_known(request, etag)) {
            return Ok(self.0);
        }
        let mut unchanged = HttpResponse::NotModified();
        for name in [ETAG, CACHE_CONTROL] {
            if let Some(value) = self.0.headers().get(&name) {
                unchanged.insert_header((name, value.clone()));
            }
        }
        Ok(unchanged.finish())
    }
}
