//! The inputs of operations: a body, a query, or nothing. An input is read only after the request has been authorized.

use actix_web::dev::Payload;
use actix_web::{HttpMessage, HttpRequest};
use bytes::Bytes;
pub use fields_derive::{Body, Query};
use futures_util::StreamExt;
use serde_json::{Map, Value};
use utoipa::PartialSchema;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Required, Schema};

use super::budget::Share;
use super::code::Code;
use super::error::ApiError;
use super::fields::{Field, Fields, InvalidValue, Rejected};
use super::json::{self, Unacceptable};
use super::mounted::{Mounted, Need};
use super::pace::{self, Pace, Paced};
use super::reason::Reason;
use super::state::Http;

/// The largest JSON body, in bytes.
pub const MAX_JSON_BYTES: usize = 1024 * 1024;

/// The description of an operation's input in the OpenAPI document.
#[derive(Default)]
pub struct Described {
    pub content_type: &'static str,
    pub schema: Option<(String, RefOr<Schema>)>,
    /// Whether the body may be absent.
    pub optional: bool,
    /// The schemas that `schema` refers to.
    pub components: Vec<(String, RefOr<Schema>)>,
    pub parameters: Vec<Parameter>,
}

/// An input of an operation.
pub trait Input: Sized + 'static {
    /// Reads the input from the request's body or query.
    ///
    /// # Errors
    /// 400, 408, 413, 415, 422 or 503.
    fn take(request: &HttpRequest, body: Raw) -> impl Future<Output = Result<Self, ApiError>>;

    /// Whether an operation with an Idempotency-Key buffers the whole body first, to hash it. If false,
    /// [`Input::digest`] supplies the hash.
    const BUFFERED: bool = true;

    /// The hash of an input that is not buffered, for its Idempotency-Key.
    fn digest(&self) -> String {
        String::new()
    }

    /// The states that must be mounted for this input.
    #[must_use]
    fn needs() -> Vec<Need> {
        Vec::new()
    }

    fn describe() -> Described {
        Described::default()
    }
}

/// A request body: either buffered, or a stream of at most that many bytes.
pub enum Raw {
    Bytes(Bytes),
    Stream(Payload, usize),
}

impl Raw {
    /// A body of at most `most` bytes. Reading it fails if the client sends more slowly than `pace` allows.
    #[must_use]
    pub fn paced(payload: Payload, pace: Pace, most: usize) -> Self {
        match payload {
            Payload::None => Self::Stream(Payload::None, most),
            payload => Self::Stream(Payload::Stream { payload: Box::pin(Paced::new(payload, pace)) }, most),
        }
    }
}

/// No input. A body that is sent anyway is ignored.
#[derive(Debug)]
pub struct Empty;

impl Input for Empty {
    async fn take(_: &HttpRequest, _: Raw) -> Result<Self, ApiError> {
        Ok(Self)
    }
}

/// Reads nothing. Lets a handler charge a large response to the client's byte budget before it does the work for it.
impl Input for Share {
    async fn take(request: &HttpRequest, _: Raw) -> Result<Self, ApiError> {
        share_of(request)
    }
}

/// Reads another input, for a handler that charges a large response like with [`Share`].
pub struct WithShare<I> {
    pub input: I,
    pub share: Share,
}

impl<I: Input> Input for WithShare<I> {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        Ok(Self { share: share_of(request)?, input: I::take(request, body).await? })
    }

    fn describe() -> Described {
        I::describe()
    }
}

/// # Errors
/// 500 if the state is not mounted.
fn share_of(request: &HttpRequest) -> Result<Share, ApiError> {
    let http = Http::of(request)?;
    Ok(http.budget.share(http.settings.client_address(request)))
}

/// A JSON body with exactly the fields of `T`.
#[derive(Debug)]
pub struct ValidJson<T>(pub T);

/// A body that is read field by field, or an object within one. `#[derive(Body)]` reads a struct's fields in their order.
pub trait Body: utoipa::ToSchema + Sized + 'static {
    /// Whether the body may be empty; an empty body is read like `{}`.
    const OPTIONAL: bool = false;
    /// # Errors
    /// An error was recorded in `fields`.
    fn read(fields: &mut Fields) -> Result<Self, Rejected>;
}

impl<T: Body> Input for ValidJson<T> {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let bytes = buffer(request, body, MAX_JSON_BYTES).await?;
        if bytes.is_empty() && T::OPTIONAL {
            let mut fields = Fields::of(Map::new());
            let read = T::read(&mut fields);
            return fields.done(read).map(Self);
        }
        let is_json = request.content_type().eq_ignore_ascii_case("application/json");
        if !is_json {
            return Err(ApiError::with_message(Code::BAD_REQUEST, "Send the body as application/json."));
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

/// Reads a JSON object.
///
/// # Errors
/// 400 if the bytes are none; 422 for a duplicate key or too deep nesting.
pub fn object(bytes: &[u8]) -> Result<Fields, ApiError> {
    match json::read(bytes) {
        Ok(Value::Object(values)) => Ok(Fields::of(values)),
        Ok(_) => Err(ApiError::with_message(Code::BAD_REQUEST, "The body must be a JSON object.")),
        Err(Unacceptable::Malformed(reason)) => {
            Err(ApiError::with_message(Code::BAD_REQUEST, format!("The body is not JSON: {reason}.")))
        }
        Err(Unacceptable::Refused(reason, sentence)) => Err(ApiError::invalid_request(reason, sentence)),
    }
}

/// Reads a body to its end into memory and charges it to the client's byte budget.
///
/// # Errors
/// 408 if the client sends too slowly; 413 past `limit` bytes; 400 if the client aborts; 503 if the byte budget is used
/// up.
pub async fn buffer(request: &HttpRequest, body: Raw, limit: usize) -> Result<Bytes, ApiError> {
    let (mut payload, limit) = match body {
        Raw::Bytes(bytes) => return Ok(bytes),
        Raw::Stream(payload, most) => (payload, limit.min(most)),
    };
    let mut share = share_of(request)?;
    let mut bytes = Vec::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|error| {
            let code = if pace::is_too_slow(&error) { Code::REQUEST_TIMEOUT } else { Code::BAD_REQUEST };
            ApiError { cause: Some(error.to_string().into()), ..ApiError::of(code) }
        })?;
        if bytes.len() + chunk.len() > limit {
            return Err(ApiError::with_message(
                Code::PAYLOAD_TOO_LARGE,
                format!("At most {limit} bytes are allowed here."),
            ));
        }
        share.grow_to(bytes.len() + chunk.len())?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(share.with(bytes))
}

/// The query string of a list or a poll, read like a body whose values are strings.
#[derive(Debug)]
pub struct ValidQuery<Q>(pub Q);

/// A query string that is read field by field. Unknown keys are ignored, because proxies and browsers add their own.
/// `#[derive(Query)]` reads and describes a struct's fields in their order.
pub trait Query: Sized + 'static {
    /// Whether it has a parameter of this name.
    fn has(key: &str) -> bool;
    /// # Errors
    /// An error was recorded in `fields`.
    fn read(fields: &mut Fields) -> Result<Self, Rejected>;
    /// The parameters for the OpenAPI document.
    fn parameters() -> Vec<Parameter>;
    /// The enumerations among the parameters that no body or answer has.
    #[must_use]
    fn enumerations() -> Vec<(String, RefOr<Schema>)> {
        Vec::new()
    }
}

/// Describes a query parameter for the OpenAPI document.
#[must_use]
pub fn query_parameter(name: &str, description: &str, schema: impl Into<RefOr<Schema>>) -> Parameter {
    optional_parameter(ParameterIn::Query, name, description, schema)
}

/// As [`query_parameter`], for one that must be there.
#[must_use]
pub fn required_query_parameter(name: &str, description: &str, schema: impl Into<RefOr<Schema>>) -> Parameter {
    ParameterBuilder::from(query_parameter(name, description, schema)).required(Required::True).build()
}

/// A query parameter that is `true` or `false`.
pub struct QueryFlag(pub bool);

impl PartialSchema for QueryFlag {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Boolean).into()
    }
}

impl Field for QueryFlag {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        match value.as_str() {
            Some("true") => Ok(Self(true)),
            Some("false") => Ok(Self(false)),
            _ => Err(InvalidValue::value("This must be true or false.")),
        }
    }
}

/// A query parameter that is the number of a version.
pub struct QueriedVersion(pub u32);

impl Field for QueriedVersion {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let number = value.as_str().and_then(|text| text.parse().ok()).filter(|number| *number >= 1);
        number.map(Self).ok_or_else(|| InvalidValue::value("This must be the number of a version."))
    }
}

impl PartialSchema for QueriedVersion {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(u32::MAX)).into()
    }
}

/// Describes a header of a request for the OpenAPI document.
#[must_use]
pub fn header_parameter(name: &str, description: &str, schema: impl Into<RefOr<Schema>>) -> Parameter {
    optional_parameter(ParameterIn::Header, name, description, schema)
}

fn optional_parameter(
    place: ParameterIn,
    name: &str,
    description: &str,
    schema: impl Into<RefOr<Schema>>,
) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(schema))
        .build()
}

impl<Q: Query> Input for ValidQuery<Q> {
    async fn take(request: &HttpRequest, _: Raw) -> Result<Self, ApiError> {
        let mut values = Map::new();
        let mut twice = None;
        for (name, value) in url::form_urlencoded::parse(request.query_string().as_bytes()) {
            if Q::has(&name) && values.insert(name.to_string(), Value::String(value.into())).is_some() {
                twice = Some(name.to_string());
            }
        }
        if let Some(name) = twice {
            return Err(ApiError::field(&name, Reason::Repeated, Reason::Repeated.sentence()));
        }
        let mut fields = Fields::of(values);
        let read = Q::read(&mut fields);
        fields.done(read).map(Self)
    }

    fn describe() -> Described {
        Described { parameters: Q::parameters(), components: Q::enumerations(), ..Described::default() }
    }
}
