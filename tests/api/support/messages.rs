//! What the OpenAPI document says of each operation: the success message, and the codes, headers and body of each status.
//! Every response is compared with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use colloquy::api::openapi;
use colloquy::routes;
use serde_json::Value;

use super::client::Answer;
use super::schemas::Validators;

struct Documented {
    id: &'static str,
    method: String,
    /// `None` is a path parameter and matches anything.
    segments: Vec<Option<String>>,
    message: &'static str,
    responses: BTreeMap<u16, DocumentedResponse>,
    /// The codes that a redirect tells in the fragment of its address.
    redirected: BTreeSet<&'static str>,
}

struct DocumentedResponse {
    codes: BTreeSet<String>,
    /// In lower case.
    headers: BTreeSet<String>,
    /// The pointer to the schema of a JSON body that is a component.
    schema: Option<String>,
}

/// The headers that have to be documented wherever they are sent.
const HEADERS: [&str; 7] =
    ["etag", "location", "content-disposition", "content-range", "accept-ranges", "retry-after", "set-cookie"];

/// The codes of requests that come to no operation.
const BEFORE_OPERATIONS: [&str; 3] = ["MethodNotAllowed", "UriTooLong", "HeadersTooLarge"];

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| openapi::document(&routes::all()));

static BODIES: LazyLock<Validators> = LazyLock::new(|| {
    let responses = TABLE.iter().flat_map(|operation| operation.responses.values());
    let pointers: BTreeSet<String> = responses.filter_map(|response| response.schema.clone()).collect();
    Validators::of(&DOCUMENT["components"], pointers.into_iter())
});

static TABLE: LazyLock<Vec<Documented>> = LazyLock::new(|| {
    let document = &*DOCUMENT;
    let operations = routes::public().into_iter().chain(routes::pipeline());
    let entry = operations.map(|operation| {
        let described = &document["paths"][operation.path][operation.method.as_str().to_lowercase()];
        let responses = described["responses"].as_object().unwrap().iter();
        Documented {
            id: operation.id,
            method: operation.method.to_string(),
            segments: operation.path.split('/').map(|one| (!one.starts_with('{')).then(|| one.to_owned())).collect(),
            message: operation.message,
            responses: responses.map(|(status, response)| (status.parse().unwrap(), documented(response))).collect(),
            redirected: openapi::text(&operation).unwrap().redirected.into_iter().map(|(code, _)| code.name).collect(),
        }
    });
    entry.collect()
});

fn documented(response: &Value) -> DocumentedResponse {
    let keys = |value: &Value| value.as_object().into_iter().flat_map(|fields| fields.keys().cloned()).collect();
    let headers: Vec<String> = keys(&response["headers"]);
    DocumentedResponse {
        codes: keys(&response["content"]["application/json"]["examples"]).into_iter().collect(),
        headers: headers.iter().map(|name| name.to_lowercase()).collect(),
        schema: response["content"]["application/json"]["schema"]["$ref"].as_str().map(|name| name[1..].to_owned()),
    }
}

/// Returns the operation of a request, such as `GET /api/projects?limit=1`.
fn find(request: &str) -> Option<&'static Documented> {
    let (method, target) = request.split_once(' ').unwrap();
    let path = target.split('?').next().unwrap().trim_end_matches('/');
    let given: Vec<&str> = path.split('/').collect();
    let fits = |entry: &&Documented| {
        let same = |(fixed, given): (&Option<String>, &&str)| {
            fixed.as_ref().is_none_or(|fixed| fixed.eq_ignore_ascii_case(given))
        };
        entry.method == method && entry.segments.len() == given.len() && entry.segments.iter().zip(&given).all(same)
    };
    TABLE.iter().find(fits)
}

/// Returns the success message of a request. Panics when it is no operation.
pub fn of(request: &str) -> &'static str {
    find(request).unwrap_or_else(|| panic!("{request} is no operation")).message
}

/// Checks that the status, the codes, the headers and the body of a response are documented.
pub fn check(answer: &Answer) {
    let codes = answer.codes();
    let is_before = codes.iter().any(|code| BEFORE_OPERATIONS.contains(code));
    let Some(operation) = find(&answer.call).filter(|_| !is_before) else { return };
    let (id, status) = (operation.id, answer.status);
    // The server has several addresses, each with its own operations.
    if status == 404 && codes == ["NotFound"] && operation.segments.iter().all(Option::is_some) {
        return;
    }
    let response = operation.responses.get(&status).unwrap_or_else(|| panic!("{id}: {status} is not documented"));
    for code in codes {
        assert!(response.codes.contains(code), "{id}: {code} is not documented for {status}");
    }
    for name in HEADERS.iter().filter(|name| answer.headers.contains_key(**name)) {
        assert!(response.headers.contains(*name), "{id}: {name} is not documented for {status}");
    }
    let fragment = answer.header("location").and_then(|to| to.split_once('#')).map_or("", |(_, fragment)| fragment);
    let told =
        fragment.split('&').filter_map(|pair| pair.strip_prefix("error=").or(pair.strip_prefix("trackerError=")));
    for code in told {
        assert!(operation.redirected.contains(code), "{id}: {code} in the redirect is not documented");
    }
    if let Some(schema) = response.schema.as_ref().filter(|_| answer.body.is_object()) {
        let fault = BODIES.check(schema, &answer.body).err();
        assert!(fault.is_none(), "{id} {status}: {}\nin the body {}", fault.unwrap_or_default(), answer.text());
    }
}
