//! The HTTP endpoints of glossaries.

use utoipa::ToSchema;

use super::model::{Definition, Glossary, GlossaryEntry, GlossaryName, MOST_ENTRIES, MOST_SPELLINGS, TakenNames, fold};
use super::operations;
use crate::access::policy::{Analyst, Member};
use crate::api::operation::Authorized;
use crate::http::answer::{CountedAnswer, Versioned};
use crate::http::budget::Share;
use crate::http::envelope::Reply;
use crate::http::error::ApiError;
use crate::http::fields::{Fields, InvalidValue, Rejected};
use crate::http::input::{Body, ValidJson};
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

/// An entry that the glossary is to have.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ReplacedEntry {
    /// Unique in the glossary in any letter case, among terms and spellings alike.
    pub term: GlossaryName,
    pub definition: Option<Definition>,
    /// None is a term or a spelling of another entry, in any letter case.
    #[schema(max_items = 20)]
    pub spellings: Option<Vec<GlossaryName>>,
}

/// All entries that the glossary is to have.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ReplaceGlossary {
    /// All entries: those that are not named are deleted.
    #[schema(max_items = 1000)]
    pub entries: Vec<ReplacedEntry>,
}

impl Body for ReplaceGlossary {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let mut taken = TakenNames::default();
        let entries = fields.objects("entries", 0..=MOST_ENTRIES, |entry| ReplacedEntry::read(entry, &mut taken));
        Ok(Self { entries: entries? })
    }
}

impl ReplacedEntry {
    fn read(entry: &mut Fields, taken: &mut TakenNames) -> Result<Self, Rejected> {
        let term = entry.required("term").and_then(|term| {
            let free = taken.take(&term).map(|()| term);
            free.map_err(|InvalidValue { reason, message }| entry.fault("term", reason, &message))
        });
        // Its own term may be a spelling: that is how a plain word gets one letter case.
        let own = term.as_ref().ok().map(|GlossaryName(term)| fold(term));
        let definition = entry.optional("definition");
        let spellings = entry.values("spellings", MOST_SPELLINGS, |spelling: &GlossaryName| {
            if own.as_ref().is_some_and(|own| *own == fold(&spelling.0)) { Ok(()) } else { taken.take(spelling) }
        });
        Ok(Self { term: term?, definition: definition?, spellings: Some(spellings?) })
    }
}

impl From<ReplacedEntry> for GlossaryEntry {
    fn from(entry: ReplacedEntry) -> Self {
        let ReplacedEntry { term, definition, spellings } = entry;
        let spellings = spellings.unwrap_or_default().into_iter().map(|spelling| spelling.0);
        Self { term: term.0, definition: definition.map(|definition| definition.0), spellings: spellings.collect() }
    }
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
