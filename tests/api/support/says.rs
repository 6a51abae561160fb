//! What the operations say happened, by the calls that were made: from the table of routes, which the wire is held against.

use std::sync::LazyLock;

use colloquy::routes;

struct Said {
    method: String,
    /// `None`: anything.
    segments: Vec<Option<String>>,
    says: &'static str,
}

static TABLE: LazyLock<Vec<Said>> = LazyLock::new(|| {
    let operations = routes::public().into_iter();
    let said = operations.map(|operation| Said {
        method: operation.method.to_string(),
        segments: operation.path.split('/').map(|one| (!one.starts_with('{')).then(|| one.to_owned())).collect(),
        says: operation.says,
    });
    said.collect()
});

/// The message of a success of what was `asked`, such as `GET /api/projects?limit=1`.
pub fn of(asked: &str) -> &'static str {
    let (method, target) = asked.split_once(' ').unwrap();
    let path = target.split('?').next().unwrap().trim_end_matches('/');
    let given: Vec<&str> = path.split('/').collect();
    let fits = |said: &&Said| {
        let same = |(fixed, given): (&Option<String>, &&str)| {
            fixed.as_ref().is_none_or(|fixed| fixed.eq_ignore_ascii_case(given))
        };
        said.method == method && said.segments.len() == given.len() && said.segments.iter().zip(&given).all(same)
    };
    TABLE.iter().find(fits).unwrap_or_else(|| panic!("{asked} is no operation")).says
}
