//! What comes with a request, read after everyone else has had their say: a body, a query, or nothing.

use actix_web::dev::Payload;
use actix_web::{HttpMessage, HttpRequest};
use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::{Map, Value};
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::{RefOr, Required, Schema};

use super::budget::Share;
use super::code::Code;
use super::failure::Failure;
use super::fields::{Faulty, Fields};
use super::json::{self, Unacceptable};
use super::mounted::{Mounted, Need};
use super::pace::{self, Pace, Paced};
use super::reason::Reason;
use super::state::Http;

/// The largest JSON body.
pub const MAX_JSON_BYTES: usize = 1024 * 1024;

/// How an operation's input is described in the OpenAPI document.
#[derive(Default)]
pub struct Described {
    pub content_type: &'static str,
    pub schema: Option<(String, RefOr<Schema>)>,
    /// Whether the body may be left out.
    pub optional: bool,
    /// Schemas that the first one names.
    pub components: Vec<(String, RefOr<Schema>)>,
    pub parameters: Vec<Parameter>,
}

/// What comes with a request.
pub trait Input: Sized + 'static {
    /// Reads the request's body or query.
    ///
    /// # Errors
    /// 400, 413, 415 or 422.
    fn take(request: &HttpRequest, body: Raw) -> impl Future<Output = Result<Self, Failure>>;

    /// Whether the body is to be read before anything is decided, for the hash of an idempotency key.
    const BUFFERED: bool = true;

    /// The hash of an input that is not buffered, for its idempotency key.
    fn digest(&self) -> String {
        String::new()
    }

    /// What has to be mounted for it.
    #[must_use]
    fn needs() -> Vec<Need> {
        Vec::new()
    }

    fn describe() -> Described {
        Described::default()
    }
}

/// A body as it arrives, of so many bytes at most, or as it was buffered.
pub enum Raw {
    Bytes(Bytes),
    Stream(Payload, usize),
}

impl Raw {
    /// A body that may come no slower than that, of so many bytes at most.
    #[must_use]
    pub fn paced(payload: Payload, pace: Pace, most: usize) -> Self {
        match payload {
            Payload::None => Self::Stream(Payload::None, most),
            payload => Self::Stream(Payload::Stream { payload: Box::pin(Paced::new(payload, pace)) }, most),
        }
    }
}

/// Nothing is read; a body that comes all the same is not looked at.
#[derive(Debug)]
pub struct Empty;

impl Input for Empty {
    async fn take(_: &HttpRequest, _: Raw) -> Result<Self, Failure> {
        Ok(Self)
    }
}

/// Nothing is read; what the answer will hold is the client's, to be counted before the work for it is done.
impl Input for Share {
    async fn take(request: &HttpRequest, _: Raw) -> Result<Self, Failure> {
        share_of(request)
    }
}

/// # Errors
/// 500: the server is not set up.
fn share_of(request: &HttpRequest) -> Result<Share, Failure> {
    let http = Http::of(request)?;
    Ok(http.budget.share(http.settings.client_address(request)))
}

/// A JSON body with exactly the fields of `T`.
#[derive(Debug)]
pub struct Valid<T>(pub T);

/// A body that reads itself field by field.
pub trait Body: utoipa::ToSchema + Sized + 'static {
    /// A body that may be left out counts as `{}`.
    const OPTIONAL: bool = false;
    /// # Errors
    /// A fault was noted in `fields`.
    fn read(fields: &mut Fields) -> Result<Self, Faulty>;
}

impl<T: Body> Input for Valid<T> {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, Failure> {
        let bytes = buffer(request, body, MAX_JSON_BYTES).await?;
        if bytes.is_empty() && T::OPTIONAL {
            let mut fields = Fields::of(Map::new());
            let read = T::read(&mut fields);
            return fields.done(read).map(Self);
        }
        let is_json = request.content_type().eq_ignore_ascii_case("application/json");
        if !is_json {
            return Err(Failure::saying(Code::BAD_REQUEST, "Send the body as application/json."));
        }
        let mut fields = object(&bytes)?;
        let read = T::read(&mut fields);
        fields.done(read).map(Self)
    }

    fn describe() -> Described {
        let mut components = Vec::new();
        T::schemas(&mut components);
        Described {
            content_type: "application/json",
            schema: Some((T::name().into_owned(), T::schema())),
            optional: T::OPTIONAL,
            components,
            parameters: Vec::new(),
        }
    }
}

fn object(bytes: &[u8]) -> Result<Fields, Failure> {
    match json::read(bytes) {
        Ok(Value::Object(values)) => Ok(Fields::of(values)),
        Ok(_) => Err(Failure::saying(Code::BAD_REQUEST, "The body must be a JSON object.")),
        Err(Unacceptable::Malformed(reason)) => {
            Err(Failure::saying(Code::BAD_REQUEST, format!("The body is not JSON: {reason}.")))
        }
        Err(Unacceptable::Refused(reason, sentence)) => Err(Failure::unfit(reason, sentence)),
    }
}

/// Reads a body to its end.
///
/// # Errors
/// 408 where it comes too slowly, 413 past `limit` bytes, 400 where the client breaks off, 503 where too much is on its way.
pub async fn buffer(request: &HttpRequest, body: Raw, limit: usize) -> Result<Bytes, Failure> {
    let (mut payload, limit) = match body {
        Raw::Bytes(bytes) => return Ok(bytes),
        Raw::Stream(payload, most) => (payload, limit.min(most)),
    };
    let mut share = share_of(request)?;
    let mut bytes = Vec::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|error| {
            let code = if pace::is_too_slow(&error) { Code::REQUEST_TIMEOUT } else { Code::BAD_REQUEST };
            Failure { cause: Some(error.to_string().into()), ..Failure::of(code) }
        })?;
        if bytes.len() + chunk.len() > limit {
            return Err(Failure::saying(Code::PAYLOAD_TOO_LARGE, format!("At most {limit} bytes are taken here.")));
        }
        share.grow_to(bytes.len() + chunk.len())?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(share.with(bytes))
}

/// The query of a list or a poll, read like a body whose values are strings.
#[derive(Debug)]
pub struct Asked<Q>(pub Q);

/// A query that reads itself. Keys that it does not know are left alone: proxies and browsers add theirs.
pub trait Query: Sized + 'static {
    /// # Errors
    /// A fault was noted in `fields`.
    fn read(fields: &mut Fields) -> Result<Self, Faulty>;
    /// Names, and what they are, for the OpenAPI document.
    fn parameters() -> Vec<Parameter>;
    const KEYS: &'static [&'static str];
}

/// A query parameter for the OpenAPI document.
#[must_use]
pub fn query_parameter(name: &str, description: &str, schema: impl Into<RefOr<Schema>>) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(schema))
        .build()
}

impl<Q: Query> Input for Asked<Q> {
    async fn take(request: &HttpRequest, _: Raw) -> Result<Self, Failure> {
        let mut values = Map::new();
        let mut twice = None;
        for (name, value) in url::form_urlencoded::parse(request.query_string().as_bytes()) {
            if Q::KEYS.contains(&name.as_ref())
                && values.insert(name.to_string(), Value::String(value.into())).is_some()
            {
                twice = Some(name.to_string());
            }
        }
        if let Some(name) = twice {
            return Err(Failure::field(&name, Reason::Repeated, Reason::Repeated.sentence()));
        }
        let mut fields = Fields::of(values);
        let read = Q::read(&mut fields);
        fields.done(read).map(Self)
    }

    fn describe() -> Described {
        Described { parameters: Q::parameters(), ..Described::default() }
    }
}
