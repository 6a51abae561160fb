//! What a client says about itself in its headers: its program name and its preferred languages.

use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderName};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::error::ApiError;
use super::input::{Described, Input, Raw, header_parameter};

const MAX_LENGTH: usize = 500;

/// An input together with the client's `User-Agent` and `Accept-Language`.
#[derive(Debug)]
pub struct WithClient<I> {
    pub input: I,
    pub agent: Agent,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agent {
    /// The first 500 characters of `User-Agent`; empty if the header is missing.
    pub name: String,
    /// The primary subtags of `Accept-Language`, such as `ar`, without regions, most preferred first.
    pub languages: Vec<String>,
}

impl<I: Input> Input for WithClient<I> {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let input = I::take(request, body).await?;
        Ok(Self { input, agent: Agent::of(request) })
    }
    const BUFFERED: bool = I::BUFFERED;
    fn digest(&self) -> String {
        self.input.digest()
    }
    fn describe() -> Described {
        let mut described = I::describe();
        let about = "The languages that the person reads, most preferred first: the consent wording comes in one of them if \
                     there is one, else in English.";
        let text = ObjectBuilder::new().schema_type(Type::String);
        described.parameters.push(header_parameter("Accept-Language", about, text));
        described
    }
}

impl Agent {
    #[must_use]
    pub fn of(request: &HttpRequest) -> Self {
        Self { name: user_agent(request, MAX_LENGTH), languages: languages(text(request, &header::ACCEPT_LANGUAGE)) }
    }
}

/// Returns the first `most` characters of `User-Agent`; empty if the header is missing.
#[must_use]
pub fn user_agent(request: &HttpRequest, most: usize) -> String {
    text(request, &header::USER_AGENT).chars().take(most).collect()
}

fn text<'a>(request: &'a HttpRequest, name: &HeaderName) -> &'a str {
    request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

// Actix's `AcceptLanguage` would rank languages of quality 0 too, and any number of them.
fn languages(header: &str) -> Vec<String> {
    let mut wanted: Vec<(f32, String)> = header
        .split(',')
        .take(20)
        .filter_map(|part| {
            let (tag, quality) = part.split_once(';').unwrap_or((part, "q=1"));
            let quality: f32 = quality.trim().strip_prefix("q=")?.trim().parse().ok()?;
            let language = tag.trim().split('-').next()?.to_ascii_lowercase();
            let is_one = !language.is_empty() && language.bytes().all(|byte| byte.is_ascii_alphabetic());
            (quality > 0.0 && is_one).then_some((quality, language))
        })
        .collect();
    wanted.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    wanted.into_iter().map(|(_, language)| language).collect()
}

#[cfg(test)]
mod tests {
    use super::languages;

    #[test]
    fn languages_come_in_the_order_in_which_they_are_wanted() {
        assert_eq!(languages(""), [""; 0]);
        assert_eq!(languages("ar-EG,en;q=0.8"), ["ar", "en"]);
        assert_eq!(languages("en;q=0.5, AR;q=0.9,*;q=0.1"), ["ar", "en"]);
        assert_eq!(languages("fr;q=0, en, ;q=1, de;q=x, 1;v=2"), ["en"]);
        assert_eq!(languages(&"a,".repeat(1000)).len(), 20);
    }
}
