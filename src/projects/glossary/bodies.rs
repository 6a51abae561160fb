//! The body of a request that replaces a glossary.

use utoipa::ToSchema;

use super::model::{Definition, GlossaryEntry, GlossaryName, MAX_ENTRIES, MAX_SPELLINGS, TakenNames, fold};
use crate::http::fields::{Fields, InvalidValue, Rejected};
use crate::http::input::Body;

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
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct ReplaceGlossary {
    /// All entries: those that are not named are deleted.
    #[schema(max_items = 1000)]
    #[body(with = ReplacedEntry::read_all)]
    pub entries: Vec<ReplacedEntry>,
}

/// Read by hand, because what an entry may be called depends on the entries before it.
impl ReplacedEntry {
    fn read_all(fields: &mut Fields) -> Result<Vec<Self>, Rejected> {
        let mut taken = TakenNames::default();
        fields.objects("entries", 0..=MAX_ENTRIES, |entry| Self::read(entry, &mut taken))
    }

    fn read(entry: &mut Fields, taken: &mut TakenNames) -> Result<Self, Rejected> {
        let term = entry.required("term").and_then(|term| {
            let free = taken.take(&term).map(|()| term);
            free.map_err(|InvalidValue { reason, message }| entry.fault("term", reason, &message))
        });
        // Its own term may be a spelling: that is how a plain word gets one letter case.
        let own = term.as_ref().ok().map(|GlossaryName(term)| fold(term));
        let definition = entry.optional("definition");
        let spellings = entry.values("spellings", MAX_SPELLINGS, |spelling: &GlossaryName| {
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
