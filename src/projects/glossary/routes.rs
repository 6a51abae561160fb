//! HTTP handlers of glossaries.

use super::bodies::ReplaceGlossary;
use super::model::{Glossary, GlossaryEntry};
use super::operations;
use crate::access::policy::{Analyst, Member};
use crate::api::operation::Authorized;
use crate::http::answer::{CountedAnswer, Versioned};
use crate::http::budget::Share;
use crate::http::envelope::Reply;
use crate::http::error::ApiError;
use crate::http::input::ValidJson;
use crate::http::version::IfMatch;
use crate::projects::model::Project;
use crate::projects::state::Projects;

pub async fn read(
    request: Authorized<Member<Project>, Share>,
    state: Projects,
) -> Result<CountedAnswer<Glossary>, ApiError> {
    let glossary = operations::read(&state, request.access.resource.id).await?;
    let version = glossary.version;
    Ok(CountedAnswer { reply: Reply::ok(glossary).tagged(version), share: request.input })
}

pub async fn replace(
    request: Authorized<Analyst<Project>, IfMatch<ValidJson<ReplaceGlossary>>>,
    state: Projects,
) -> Result<Versioned<Glossary>, ApiError> {
    let IfMatch { input: ValidJson(ReplaceGlossary { entries }), version } = request.input;
    let entries = entries.into_iter().map(GlossaryEntry::from).collect();
    let glossary = operations::replace(&state, request.access.resource.id, entries, version).await?;
    let version = glossary.version;
    Ok(Reply::ok(glossary).version(version))
}
