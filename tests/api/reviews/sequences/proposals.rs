//! Accepting and dismissing what runs have proposed.

use serde_json::Value;

use super::model::{ExpectedItem, PlayedItem, PlayedProposal, id};
use super::{Play, Seen};

const SEEN_OF_PROPOSED: [Seen; 6] =
    [Seen::Nothing, Seen::Nothing, Seen::Nothing, Seen::Nothing, Seen::Present, Seen::Another];

impl Play<'_> {
    /// The proposals that a query selects.
    pub async fn proposals(&self, query: &str) -> Vec<Value> {
        let path = self.reviewed.at(&format!("proposals?limit=100&{query}"));
        let listed = self.reviewed.ada.client.get(path).await.is(200);
        let items = listed.data()["items"].as_array().unwrap().clone();
        assert_eq!(listed.data()["totalCount"], items.len());
        items
    }

    /// Mostly one that is open, and of each kind as often as of the others.
    fn some_proposal(&mut self) -> Option<usize> {
        let (wants_any, kind) = (self.below(6) == 0, self.one_of(&["CHANGED", "GONE"]));
        let is_wanted = |one: &PlayedProposal| wants_any || (one.is_open() && one.kind == kind);
        let all: Vec<usize> =
            (0..self.model.proposals.len()).filter(|at| is_wanted(&self.model.proposals[*at])).collect();
        if all.is_empty() { None } else { Some(self.one_of(&all)) }
    }

    pub async fn accept(&mut self) {
        let Some(at) = self.some_proposal() else { return };
        let proposal = self.model.proposals[at].clone();
        // Two items with the same words would be one to the analysis, but which of them is nowhere said.
        let has_words = |item: &PlayedItem| item.key == proposal.key;
        let others = self
            .model
            .items
            .iter()
            .filter(|(id, item)| **id != proposal.item && item.now.is_story == proposal.is_story);
        if proposal.is_open() && others.map(|(_, item)| item).any(has_words) {
            return;
        }
        let (person, seen) = (self.somebody(), self.one_of(&SEEN_OF_PROPOSED));
        println!("{}: accept {} {} of {} seen {seen:?}", self.number, proposal.status, proposal.kind, proposal.item);
        let target = self.model.items[&proposal.item].now.clone();
        let request = person.client.post(self.reviewed.at(&format!("proposals/{}/accept", proposal.id)));
        let answer = seen.on(request, target.version).await;
        if seen == Seen::Another {
            answer.refused(412, "PreconditionFailed");
            return;
        }
        if !proposal.is_open() {
            answer.refused(409, "InvalidState");
            return;
        }
        if seen == Seen::Nothing && target.version != proposal.target_version {
            answer.refused(409, "InvalidState");
            self.count("refused, as the item has changed since");
            return;
        }
        let answer = answer.is(200);
        assert_eq!((answer.text_of("id"), answer.text_of("status")), (proposal.id.clone(), "ACCEPTED".to_owned()));
        self.model.proposals[at].status = "ACCEPTED";
        self.replaced(&person.id, &proposal, &target);
        self.count(match proposal.kind {
            "CHANGED" => "accepted CHANGED",
            _ => "accepted GONE",
        });
    }

    /// An accepted CHANGED or GONE one.
    fn replaced(&mut self, actor: &str, proposal: &PlayedProposal, target: &ExpectedItem) {
        let after = match proposal.kind {
            "GONE" => target.rejected(),
            _ => {
                let covers = proposal.covers.iter().filter(|id| self.model.items.contains_key(*id)).cloned().collect();
                ExpectedItem { covers, ..target.revised(proposal.content.clone(), "AI_REGENERATED") }
            }
        };
        let unsettling = self.model.change(actor, &proposal.item, after, "ACCEPT_PROPOSAL");
        self.unsettle(actor, unsettling.as_slice());
        if proposal.kind == "CHANGED" {
            let item = self.model.items.get_mut(&proposal.item).unwrap();
            (item.found, item.key) = (proposal.content.clone(), proposal.key.clone());
        }
    }

    pub async fn dismiss(&mut self) {
        let Some(at) = self.some_proposal() else { return };
        let (proposal, person) = (self.model.proposals[at].clone(), self.somebody());
        println!("{}: dismiss {} {} of {}", self.number, proposal.status, proposal.kind, proposal.item);
        let answer = person.client.post(self.reviewed.at(&format!("proposals/{}/dismiss", proposal.id))).await;
        if !proposal.is_open() {
            answer.refused(409, "InvalidState");
            return;
        }
        let answer = answer.is(200);
        assert_eq!((id(answer.data()), answer.text_of("status")), (proposal.id.clone(), "DISMISSED".to_owned()));
        self.model.proposals[at].status = "DISMISSED";
        match proposal.kind {
            "CHANGED" => self.model.dismissed_changes.push((proposal.item, proposal.content)),
            _ => drop(self.model.kept.insert(proposal.item)),
        }
        self.count("dismissed");
    }
}
