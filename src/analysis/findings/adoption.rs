//! Makes items of the risks, questions, actions and decisions that runs found before these had lives of their own: they were in the
//! results of their runs alone. Done once for each project, when a server starts on a database of such a version, before it
//! answers anybody.
//!
//! The newest run comes first: what it found keeps its ids and codes, as those were the ones that people saw. What older runs
//! found in other words is added after it; the same words are one item, with the places of all runs. Afterwards the results name
//! these items. A server that is killed meanwhile does the same again, with the same outcome.

use std::collections::HashMap;

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use pipeline::engine::{RecordedKind, recorded_key};
use tokio::task::spawn_blocking;

use super::drafted::DraftedFinding;
use super::finding::merged;
use super::store::adoption::{self as store, AdoptedItem};
use super::store::{FindingRow, insert_findings};
use crate::analysis::dashboard::model::ResultsDashboard;
use crate::analysis::effects::FindingEffect;
use crate::analysis::items::content_key::content_key;
use crate::analysis::items::model;
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::items::store::{Facts, FoundKeys};
use crate::analysis::state::Analysis;
use crate::db::DbError;
use crate::projects::item_kind::ItemKind;

/// How many rows are written in one transaction.
const AT_ONCE: usize = 200;

/// What one project's runs found, so far.
#[derive(Default)]
struct AdoptedItems {
    /// In the order in which they were found.
    items: Vec<AdoptedItem>,
    places: HashMap<(ItemKind, String), usize>,
    numbers: HashMap<ItemKind, i64>,
}

/// Makes the items of all projects that still need it.
///
/// # Errors
/// Only database errors.
pub async fn adopt_all(state: &Analysis) -> Result<(), DbError> {
    while let Some(project_id) = state.db.read(|conn| Box::pin(store::unadopted(conn))).await? {
        adopt(state, project_id).await?;
        tracing::info!(project = %project_id, "risks, questions, actions and decisions of former runs are items now");
    }
    Ok(())
}

async fn adopt(state: &Analysis, project_id: Id<ids::Project>) -> Result<(), DbError> {
    let runs = state.db.read(move |conn| Box::pin(store::ids_with_results(conn, project_id))).await?;
    let mut adopted = AdoptedItems::default();
    for run_id in runs.iter().rev().copied() {
        if let Some((text, generated_at)) = result(state, run_id).await? {
            let read = spawn_blocking(move || {
                if let Some(mut found) = parsed(run_id, &text) {
                    adopted.add(run_id, generated_at, &mut found)?;
                }
                Ok::<_, DbError>(adopted)
            });
            adopted = read.await.map_err(|error| DbError::Broken(error.to_string()))??;
        }
    }
    for portion in adopted.items.chunks(AT_ONCE) {
        let items = portion.to_vec();
        let findings: Vec<FindingRow> = items
            .iter()
            .map(|adopted| {
                let added = DraftedFinding {
                    item_id: adopted.item.id(),
                    effect: FindingEffect::Added,
                    reason: None,
                    proposal_id: None,
                };
                FindingRow::new(
                    (project_id, adopted.item.run_id(), 0),
                    adopted.item.kind(),
                    adopted.number,
                    &added,
                    None,
                )
            })
            .collect();
        state
            .db
            .write(move |conn| {
                let (items, findings) = (items.clone(), findings.clone());
                Box::pin(async move {
                    store::insert_adopted(conn, project_id, &items).await?;
                    insert_findings(conn, &findings).await
                })
            })
            .await?;
    }
    for run_id in runs {
        let Some((text, generated_at)) = result(state, run_id).await? else { continue };
        let read = spawn_blocking(move || {
            let Some(mut found) = parsed(run_id, &text) else { return Ok((adopted, None)) };
            adopted.add(run_id, generated_at, &mut found)?;
            let json = |error: serde_json::Error| DbError::Broken(error.to_string());
            let parts = [serde_json::to_string(&found.summary), serde_json::to_string(&found.metrics)];
            let [summary, metrics] = parts.map(|part| part.map_err(json));
            let result = serde_json::to_string(&found).map_err(json)?;
            Ok::<_, DbError>((adopted, Some((result, summary?, metrics?))))
        });
        let (rest, parts) = read.await.map_err(|error| DbError::Broken(error.to_string()))??;
        adopted = rest;
        let (Some((result, summary, metrics)), now) = (parts, state.now()) else { continue };
        state
            .db
            .write(move |conn| {
                let parts = (result.clone(), summary.clone(), metrics.clone());
                Box::pin(store::replace_result(conn, run_id, parts, now))
            })
            .await?;
    }
    state.db.write(move |conn| Box::pin(store::adopted(conn, project_id))).await
}

async fn result(state: &Analysis, run_id: Id<Run>) -> Result<Option<(String, Time)>, DbError> {
    state.db.read(move |conn| Box::pin(store::stored_result(conn, run_id))).await
}

/// `None` for a result that can't be read: it stays as it is, and no server is kept from starting by it.
fn parsed(run_id: Id<Run>, text: &str) -> Option<ResultsDashboard> {
    let parsed = serde_json::from_str(text);
    parsed.inspect_err(|error| tracing::error!(run = %run_id, %error, "the result of a run can't be read")).ok()
}

impl AdoptedItems {
    /// Adds what a run found, and lets its result name the items. What was added before is only named.
    fn add(&mut self, run_id: Id<Run>, at: Time, found: &mut ResultsDashboard) -> Result<(), DbError> {
        macro_rules! each {
            ($($list:ident $kind:ident $words:ident),*) => {
                $(for one in &mut found.$list {
                    (one.run_id, one.created_at, one.updated_at) = (run_id, at, at);
                    let key = recorded_key(RecordedKind::$kind, &one.$words);
                    let named = self.named(key, ProjectItem::$kind(one.clone()));
                    let ProjectItem::$kind(named) = named else {
                        return Err(DbError::Broken("an item is of two kinds".to_owned()));
                    };
                    let sources = std::mem::take(&mut one.sources);
                    *one = model::$kind { sources, ..named };
                })*
            };
        }
        each!(
            risks Risk description,
            open_questions OpenQuestion question,
            action_items ActionItem text,
            decisions Decision text
        );
        Ok(())
    }

    /// Returns the item with these words; it rests on the places of all runs.
    fn named(&mut self, text: String, mut item: ProjectItem) -> ProjectItem {
        let place = (item.kind(), text.clone());
        if let Some(known) = self.places.get(&place).and_then(|at| self.items.get_mut(*at)) {
            let sources = merged(known.item.sources(), item.sources());
            known.item.set_sources(sources);
            return known.item.clone();
        }
        let number = self.numbers.entry(item.kind()).or_default();
        *number += 1;
        item.set_code(item.kind().code(*number));
        let keys = FoundKeys { text, content: content_key(&item) };
        self.places.insert(place, self.items.len());
        self.items.push(AdoptedItem { facts: Facts::of(&item), item: item.clone(), keys, number: *number });
        item
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn result(texts: &[&str]) -> ResultsDashboard {
        let decisions = texts.iter().map(|text| {
            let id = Uuid::now_v7();
            serde_json::json!({"id": id, "code": "DEC-001", "text": text, "sources": []})
        });
        let now = Time::from_millis(1).unwrap();
        let decisions = decisions.map(|one| serde_json::from_value(one).unwrap()).collect();
        ResultsDashboard { decisions, ..ResultsDashboard::empty(Id::generate(), now) }
    }

    #[test]
    fn what_the_newest_run_found_keeps_its_ids_and_codes_and_older_ones_name_the_same_items() {
        let (mut newest, mut older) =
            (result(&["We take the red one."]), result(&["No lift.", "We take the red one."]));
        let mut adopted = AdoptedItems::default();
        let (id, other, at) = (newest.decisions[0].id, older.decisions[0].id, Time::from_millis(5).unwrap());
        let (run, former) = (Id::generate(), Id::generate());
        adopted.add(run, at, &mut newest).unwrap();
        adopted.add(former, at, &mut older).unwrap();
        let codes: Vec<(Uuid, &str)> = older.decisions.iter().map(|one| (one.id, one.code.as_str())).collect();
        assert_eq!(codes, [(other, "DEC-002"), (id, "DEC-001")]);
        assert_eq!((newest.decisions[0].id, adopted.items.len()), (id, 2));
        // Once more, as after a crash: nothing new.
        adopted.add(former, at, &mut older).unwrap();
        assert_eq!(adopted.items.len(), 2);
        assert_eq!((adopted.items[0].item.run_id(), adopted.items[1].item.run_id()), (run, former));
    }
}
