//! The operations of a listener, compiled for each of its workers: one look-up finds the operation of a request, however
//! many there are. Fixed segments match in any case, and a slash at the end does not count; parameters keep their case.

use std::rc::Rc;

use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::http::header::HeaderValue;
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use futures_util::future::LocalBoxFuture;
use matchit::Router;

use super::route_figures::RouteFigures;

/// Answers the requests of one operation.
pub type RouteHandler = Rc<dyn Fn(HttpRequest, Payload) -> LocalBoxFuture<'static, HttpResponse>>;

/// The most parameters in a path.
const PARAMETERS: usize = 4;

/// An operation in the table.
pub struct Endpoint {
    pub method: Method,
    /// The path with its parameters in braces.
    pub path: &'static str,
    pub handler: RouteHandler,
}

/// The operations of one listener, for one worker.
#[derive(Default)]
pub struct RouteTable {
    /// Keyed by the paths in lower case.
    paths: Router<usize>,
    resources: Vec<RoutedPath>,
}

/// All operations of one path.
struct RoutedPath {
    path: &'static str,
    /// In the order of the path.
    parameters: Vec<&'static str>,
    endpoints: Vec<MountedEndpoint>,
    /// Their methods, for the header `Allow`.
    allow: HeaderValue,
}

struct MountedEndpoint {
    method: Method,
    handler: RouteHandler,
    figures: Rc<RouteFigures>,
}

/// What the table has for a request.
pub enum FoundRoute<'t> {
    Operation(Rc<RouteFigures>, &'t RouteHandler, PathParameters),
    /// The path has other methods only, these.
    OtherMethods(HeaderValue),
    Nothing,
}

/// Where the parameters of a request are in its path.
#[derive(Debug, Clone, Copy, Default)]
pub struct PathParameters([Option<PathParameter>; PARAMETERS]);

#[derive(Debug, Clone, Copy)]
struct PathParameter {
    name: &'static str,
    start: u32,
    end: u32,
}

/// The `Allow` of a path that a request was sent to with another method.
#[derive(Debug, Clone)]
pub struct AllowedMethods(pub HeaderValue);

impl RouteTable {
    /// # Errors
    /// Two operations contradict each other, or a path can't be a key.
    pub fn new(endpoints: impl IntoIterator<Item = Endpoint>) -> Result<Self, String> {
        let mut table = Self::default();
        for Endpoint { method, path, handler } in endpoints {
            let at = table.resource(path)?;
            let resource = table.resources.get_mut(at).ok_or("a path has no resource")?;
            if resource.endpoints.iter().any(|other| other.method == method) {
                return Err(format!("{method} {path} is there twice"));
            }
            let figures = Rc::new(RouteFigures::new(super::head::method(&method), path.into()));
            resource.endpoints.push(MountedEndpoint { method, handler, figures });
            let methods: Vec<&str> = resource.endpoints.iter().map(|endpoint| endpoint.method.as_str()).collect();
            resource.allow = methods.join(", ").parse().map_err(|error| format!("{path}: {error}"))?;
        }
        Ok(table)
    }

    /// The place of a path's resource, which is added if it is new.
    fn resource(&mut self, path: &'static str) -> Result<usize, String> {
        if let Some(at) = self.resources.iter().position(|resource| resource.path == path) {
            return Ok(at);
        }
        let parameters: Vec<&str> = path
            .split('/')
            .filter_map(|segment| segment.strip_prefix('{').and_then(|name| name.strip_suffix('}')))
            .collect();
        if parameters.len() > PARAMETERS {
            return Err(format!("{path} has more than {PARAMETERS} parameters"));
        }
        let at = self.resources.len();
        self.paths.insert(path.to_ascii_lowercase(), at).map_err(|error| format!("{path}: {error}"))?;
        self.resources.push(RoutedPath {
            path,
            parameters,
            endpoints: Vec::new(),
            allow: HeaderValue::from_static(""),
        });
        Ok(at)
    }

    /// Finds the operation of a path. Only below `/api` its case does not count.
    #[must_use]
    pub fn find(&self, method: &Method, path: &str) -> FoundRoute<'_> {
        let trimmed = match path.trim_end_matches('/') {
            "" => path,
            trimmed => trimmed,
        };
        let is_api = trimmed.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("/api"));
        let lower_case;
        let key = if is_api && trimmed.bytes().any(|byte| byte.is_ascii_uppercase()) {
            lower_case = trimmed.to_ascii_lowercase();
            lower_case.as_str()
        } else {
            trimmed
        };
        let Ok(matched) = self.paths.at(key) else { return FoundRoute::Nothing };
        let Some(resource) = self.resources.get(*matched.value) else { return FoundRoute::Nothing };
        let Some(found) = resource.endpoints.iter().find(|endpoint| endpoint.method == *method) else {
            return FoundRoute::OtherMethods(resource.allow.clone());
        };
        let mut parameters = PathParameters::default();
        let of_path = resource.parameters.iter().zip(matched.params.iter());
        for (place, (name, (_, value))) in parameters.0.iter_mut().zip(of_path) {
            // Values are parts of the key, which is as long as the path, letter by letter.
            let start = value.as_ptr().addr() - key.as_ptr().addr();
            let of = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
            *place = Some(PathParameter { name, start: of(start), end: of(start + value.len()) });
        }
        FoundRoute::Operation(Rc::clone(&found.figures), &found.handler, parameters)
    }
}

/// Returns the value of a parameter in the path of an operation; empty if the path has no such parameter.
#[must_use]
pub fn path_parameter<'r>(request: &'r HttpRequest, name: &str) -> &'r str {
    let extensions = request.extensions();
    let found = extensions.get::<PathParameters>().and_then(|known| {
        known.0.iter().flatten().find(|parameter| parameter.name == name).map(|found| found.start..found.end)
    });
    let range = found.map(|found| found.start as usize..found.end as usize);
    range.and_then(|range| request.match_info().as_str().get(range)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use actix_web::http::Method;
    use actix_web::test::TestRequest;
    use actix_web::{HttpMessage, HttpResponse};

    use super::{Endpoint, FoundRoute, RouteTable, path_parameter};

    fn table(paths: &[(Method, &'static str)]) -> Result<RouteTable, String> {
        RouteTable::new(paths.iter().map(|(method, path)| Endpoint {
            method: method.clone(),
            path,
            handler: Rc::new(|_, _| Box::pin(async { HttpResponse::Ok().finish() })),
        }))
    }

    fn sample_table() -> RouteTable {
        table(&[
            (Method::GET, "/api/meetings/{meetingId}"),
            (Method::PATCH, "/api/meetings/{meetingId}"),
            (Method::GET, "/api/meetings/mine"),
            (Method::POST, "/api/invitations/{token}/accept"),
            (Method::GET, "/api/projects/{projectId}/runs/{runId}"),
            (Method::GET, "/health/live"),
        ])
        .unwrap()
    }

    /// The parameters of a path, or why there are none.
    fn found(method: Method, path: &str, names: &[&str]) -> Result<Vec<String>, String> {
        match sample_table().find(&method, path) {
            FoundRoute::Operation(_, _, parameters) => {
                let request = TestRequest::with_uri(path).to_http_request();
                request.extensions_mut().insert(parameters);
                Ok(names.iter().map(|name| path_parameter(&request, name).to_owned()).collect())
            }
            FoundRoute::OtherMethods(allow) => Err(allow.to_str().unwrap().to_owned()),
            FoundRoute::Nothing => Err("nothing".to_owned()),
        }
    }

    #[test]
    fn fixed_segments_lose_their_case_and_parameters_keep_theirs() {
        let accept = found(Method::POST, "/api/Invitations/ToKeN/Accept//", &["token", "other"]);
        assert_eq!(accept, Ok(vec!["ToKeN".to_owned(), String::new()]));
        assert_eq!(found(Method::GET, "/API/Meetings/AbC", &["meetingId"]), Ok(vec!["AbC".to_owned()]));
        let run = found(Method::GET, "/api/projects/P1/runs/r2", &["runId", "projectId"]);
        assert_eq!(run, Ok(vec!["r2".to_owned(), "P1".to_owned()]));
        assert_eq!(found(Method::GET, "/api/meetings/MINE", &[]), Ok(vec![]));
        assert_eq!(found(Method::GET, "/health/live/", &[]), Ok(vec![]));
    }

    #[test]
    fn other_methods_and_other_paths_are_told_apart() {
        assert_eq!(found(Method::PUT, "/api/meetings/x/", &[]), Err("GET, PATCH".to_owned()));
        for nothing in
            ["/Health/Live", "/api/meetings", "/api/meetings/a/b", "/api/meetings//", "/", "", "//", "/elsewhere"]
        {
            assert_eq!(found(Method::GET, nothing, &[]), Err("nothing".to_owned()), "{nothing}");
        }
    }

    #[test]
    fn a_table_that_contradicts_itself_is_refused() {
        assert!(table(&[(Method::GET, "/a"), (Method::GET, "/a")]).is_err());
        assert!(table(&[(Method::GET, "/a/{b"), (Method::GET, "/a")]).is_err());
        assert!(table(&[(Method::GET, "/{a}/{b}/{c}/{d}/{e}")]).is_err());
    }
}
