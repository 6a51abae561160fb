//! The catalogue of errors, `docs/errors.md`: each code with its status, its meaning, what to do about it, and which
//! operations respond with it.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{errors, texts};
use crate::api::operation::Operation;
use crate::http::code::Code;

/// An error that at least this many operations respond with is not listed with each of them.
const MANY: usize = 40;

const HEAD: &str = "\
# Errors

Every failed request gets the HTTP status and, in `errors`, one item or one for each invalid value:

```json
{\"code\": \"InvalidState\", \"message\": \"The meeting has ended.\", \"field\": null, \"reason\": null}
```

Go by `code`; `message` is for people. Codes may be added: go by the status when you meet an unknown one. A value that breaks a rule
has the code `ValidationError`, its path in `field` and the rule in `reason`. Every response has the header `X-Request-Id`: under this
id the server's log has the cause.

This page is printed by `colloquy openapi --errors`.
";

/// Returns the catalogue as Markdown.
#[must_use]
pub fn error_catalogue(operations: &[Operation]) -> String {
    let mut by_code: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for operation in operations {
        let redirected = texts::of(operation).unwrap_or_default().redirected;
        let codes = errors::of(operation).into_iter().map(|error| error.code);
        for code in codes.chain(redirected.into_iter().map(|(code, _)| code)) {
            let ids = by_code.entry(code.name).or_default();
            if ids.last() != Some(&operation.id) {
                ids.push(operation.id);
            }
        }
    }
    let mut page = HEAD.to_owned();
    let mut status = 0;
    for code in Code::ALL {
        if code.status != status {
            status = code.status;
            // Writing to a string does not fail.
            let _ = write!(page, "\n## {status}\n");
        }
        let where_from = match by_code.get(code.name).map(Vec::as_slice) {
            None => "Any request, before it comes to an operation.".to_owned(),
            Some(all) if all.len() >= MANY => format!("{} of the {} operations.", all.len(), operations.len()),
            Some(some) => some.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", "),
        };
        let _ = write!(
            page,
            "\n### {}\n\n{}\n\n- **What to do:** {}\n- **From:** {where_from}\n",
            code.name,
            code.sentence,
            code.advice()
        );
    }
    page
}
