//! The success messages of the operations, from the route table; every response is compared with them.

use std::sync::LazyLock;

use colloquy::routes;

struct SuccessMessage {
    method: String,
    /// `None` is a path parameter and matches anything.
    segments: Vec<Option<String>>,
    message: &'static str,
}

static TABLE: LazyLock<Vec<SuccessMessage>> = LazyLock::new(|| {
    let operations = routes::public().into_iter().chain(routes::pipeline());
    let entry = operations.map(|operation| SuccessMessage {
        method: operation.method.to_string(),
        segments: operation.path.split('/').map(|one| (!one.starts_with('{')).then(|| one.to_owned())).collect(),
        message: operation.message,
    });
    entry.collect()
});

/// Returns the success message of the request `request`, such as `GET /api/projects?limit=1`. Panics when it is no
/// operation.
pub fn of(request: &str) -> &'static str {
    let (method, target) = request.split_once(' ').unwrap();
    let path = target.split('?').next().unwrap().trim_end_matches('/');
    let given: Vec<&str> = path.split('/').collect();
    let fits = |entry: &&SuccessMessage| {
        let same = |(fixed, given): (&Option<String>, &&str)| {
            fixed.as_ref().is_none_or(|fixed| fixed.eq_ignore_ascii_case(given))
        };
        entry.method == method && entry.segments.len() == given.len() && entry.segments.iter().zip(&given).all(same)
    };
    TABLE.iter().find(fits).unwrap_or_else(|| panic!("{request} is no operation")).message
}
