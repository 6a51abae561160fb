//! `#[derive(Body)]` and `#[derive(Query)]`: a struct is the one declaration of what a request may contain, and its fields are read
//! in their order with `crate::http::fields::Fields`. The derives are for the crate `colloquy` alone, whose paths they name.
//!
//! The key of a field is its name in camelCase, or what `rename` says. How it is read follows from its type:
//!
//! | the field | is read by | |
//! |---|---|---|
//! | `T` | `required` | |
//! | `Option<T>` | `optional` | null is the same as absent |
//! | `Option<T>` with `#[schema(nullable = false)]`, in a body | `replaced` | null is refused |
//! | `Patch<T>` | `patch` | null clears |
//!
//! What differs is said by an attribute, `#[body(…)]` or `#[query(…)]`:
//!
//! | attribute | meaning |
//! |---|---|
//! | `replaced` | as `#[schema(nullable = false)]`, which the document of this field does not say |
//! | `or_empty` | an `Option<T>` that null sets to the empty value |
//! | `default`, `default = value` | a `T` that may be absent |
//! | `as = Type` | parsed as this type, whose first field (`.0`) is kept |
//! | `map = function` | with `as`: what becomes of the parsed value, in place of `.0` |
//! | `object` | an object that is itself a body: `T` or `Option<T>` |
//! | `objects` | a list of such objects: `Vec<T>` or `Option<Vec<T>>`, with the counts of `#[schema(min_items, max_items)]` |
//! | `values` | a list of values that may be absent, with the count of `#[schema(max_items)]` |
//! | `flatten` | the fields of another body or query |
//! | `with = function` | read by this function from the fields |
//! | `skip` | not read: it is there for the document alone |
//! | `description = "…"` | of a parameter, if it is not the field's doc comment |
//! | `schema = value` | of a parameter, if it is not that of its type |
//! | `enumeration` | of a parameter whose type no body and no answer has: the document describes it as a component |
//!
//! And for a whole struct:
//!
//! | attribute | meaning |
//! |---|---|
//! | `optional` | the body may be absent |
//! | `#[schema(min_properties = 1)]` or `not_empty = "…"` | without any key it is refused, with this sentence |
//! | `check = function` | `fn(&Self, &mut Fields)` runs once all fields are valid, and records what they break together |

mod attributes;
mod declared;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

use self::declared::{Kind, implementation};

#[proc_macro_derive(Body, attributes(body, schema))]
pub fn body(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    implementation(&input, Kind::Body).unwrap_or_else(|error| error.into_compile_error()).into()
}

#[proc_macro_derive(Query, attributes(query))]
pub fn query(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    implementation(&input, Kind::Query).unwrap_or_else(|error| error.into_compile_error()).into()
}
