//! Decides what becomes of the findings of a run with what the project has. See [`super`] for the rules; nothing is read or
//! written here.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use super::matching::{Likened, OtherText, matched};
use crate::analysis::proposals::model::{FindingReason, ProposalKind};

/// What a run found.
#[derive(Debug, Clone)]
pub struct FoundText {
    pub text_key: String,
    pub content_key: String,
    /// Whether its words are all that a source says of it; the rest of the content was derived from them.
    pub is_all_words: bool,
    pub likened: Likened,
}

impl FoundText {
    /// Whether it is said in a source that the item does not rest on.
    fn is_said_elsewhere(&self, item: &KnownItem) -> bool {
        !self.likened.sources().is_subset(&item.sources)
    }
}

/// An item of the project.
#[derive(Debug, Clone)]
pub struct KnownItem {
    pub id: Uuid,
    pub text_key: String,
    /// Of the content that the analysis last found.
    pub content_key: String,
    /// Whether a person has judged, edited or accepted it.
    pub is_touched: bool,
    pub is_rejected: bool,
    pub likened: Likened,
    /// The documents and recordings that it rests on.
    pub sources: HashSet<Uuid>,
}

/// What a run has read.
#[derive(Debug, Clone, Default)]
pub struct ReadScope {
    /// The documents and recordings that were read as a whole.
    pub sources: HashSet<Uuid>,
    /// Whether it left nothing out of what it found there.
    pub is_whole: bool,
}

impl ReadScope {
    /// Whether something that rests on these sources would have been found again, were it still there.
    fn covers(&self, sources: &HashSet<Uuid>) -> bool {
        self.is_whole && !sources.is_empty() && sources.is_subset(&self.sources)
    }
}

/// A proposal of an earlier run that nobody has decided.
#[derive(Debug, Clone)]
pub struct OpenProposal {
    pub id: Uuid,
    pub item_id: Uuid,
    pub kind: ProposalKind,
    pub reason: Option<FindingReason>,
    pub text_key: String,
    /// What the item would say, as [`Likened::said`]; empty for a GONE one.
    pub said: String,
    /// Of a NEW one: what it rests on.
    pub sources: HashSet<Uuid>,
}

/// What earlier runs proposed, and people have not accepted.
#[derive(Debug, Clone, Default)]
pub struct PastProposals {
    pub open: Vec<OpenProposal>,
    /// The words of dismissed NEW ones.
    pub dismissed_texts: HashSet<String>,
    /// The items of dismissed CHANGED ones, with the content.
    pub dismissed_changes: HashSet<(Uuid, String)>,
    /// The same, with what the item would have said, as [`Likened::said`].
    pub dismissed_words: HashSet<(Uuid, String)>,
    /// The items that were GONE and are kept.
    pub kept: HashSet<Uuid>,
    /// What items said before a change of them was accepted.
    pub replaced: Vec<ReplacedText>,
}

/// What an item said before a change of it was accepted.
#[derive(Debug, Clone)]
pub struct ReplacedText {
    pub item_id: Uuid,
    /// As [`Likened::said`].
    pub said: String,
    /// What it rested on.
    pub sources: HashSet<Uuid>,
}

/// What becomes of a finding. The id is that of the item, or that it will get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Added(Uuid),
    /// The item says it: the places of the finding are added to it.
    Confirmed(Uuid, FindingReason),
    /// The item has its words, and nobody has touched it: it gets the content of the finding.
    Refreshed(Uuid),
    /// It says something else about what the item is about: it is proposed as a change.
    Changed(Uuid, FindingReason),
    /// A person has dismissed this change of the item.
    Kept(Uuid),
    /// It was dismissed, or found before in the same run.
    LeftOut,
}

impl Fate {
    /// `None` if the finding is not to be seen in the project at all.
    #[must_use]
    pub const fn item_id(self) -> Option<Uuid> {
        match self {
            Self::Added(id) | Self::Refreshed(id) | Self::Kept(id) => Some(id),
            Self::Confirmed(id, _) | Self::Changed(id, _) => Some(id),
            Self::LeftOut => None,
        }
    }
}

/// What becomes of the findings of one kind, in their order, and of what is there already.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KindPlan {
    pub fates: Vec<Fate>,
    /// The items that are GONE.
    pub gone: Vec<Uuid>,
    /// The open proposals that are superseded.
    pub superseded: Vec<Uuid>,
}

/// Plans for the findings of one kind. `items` are those of the project, in the order of their numbers: of several with the same
/// words the first one counts.
#[must_use]
pub fn reconcile(
    findings: &[FoundText],
    items: &[KnownItem],
    past: &PastProposals,
    scope: &ReadScope,
    new_id: &mut impl FnMut() -> Uuid,
) -> KindPlan {
    let (mut by_key, mut by_words) = (HashMap::new(), HashMap::new());
    let ids: HashSet<Uuid> = items.iter().map(|item| item.id).collect();
    let decided = DecidedTexts::of(past, &ids);
    for item in items.iter().rev() {
        by_key.insert(item.text_key.as_str(), item);
        by_words.insert(item.likened.said(), item);
    }
    by_words.remove("");
    let mut fates = vec![Fate::LeftOut; findings.len()];
    let mut seen: HashSet<&str> = HashSet::new();
    let (mut unknown, mut changed) = (Vec::new(), HashSet::new());
    let mut found: HashSet<Uuid> = HashSet::new();
    for (at, (finding, fate)) in findings.iter().zip(&mut fates).enumerate() {
        let is_first = seen.insert(&finding.text_key);
        if let Some(item) = by_key.get(finding.text_key.as_str()) {
            found.insert(item.id);
            *fate = match past.fate_of_same_words(finding, item) {
                // One proposal about an item is enough for one run.
                Fate::Changed(id, _) if !changed.insert(id) => Fate::Confirmed(id, FindingReason::SameWords),
                fate => fate,
            };
        } else if let Some(item) = by_words.get(finding.likened.said()) {
            found.insert(item.id);
            *fate = Fate::Confirmed(item.id, FindingReason::OtherOrder);
        } else if let Some(known) = decided.fate(finding) {
            found.extend(known.item_id());
            let is_first = !matches!(known, Fate::Changed(id, _) if !changed.insert(id));
            *fate = if is_first { known } else { Fate::LeftOut };
        } else if is_first {
            unknown.push((at, finding));
        }
    }

    // What an item said before may still stand where it stood, unless all that the item rests on was read and does not say it.
    let rests_elsewhere: HashSet<Uuid> =
        items.iter().filter(|item| !scope.covers(&item.sources)).map(|item| item.id).collect();
    unknown.retain(|(at, finding)| {
        let stays = |id: &Uuid| found.contains(id) || rests_elsewhere.contains(id);
        let former = decided.former(finding).filter(stays);
        if let (Some(id), Some(fate)) = (former, fates.get_mut(*at)) {
            *fate = Fate::Kept(id);
        }
        former.is_none()
    });
    let missing: Vec<&KnownItem> = items.iter().filter(|item| !found.contains(&item.id)).collect();
    let of_missing: Vec<&Likened> = missing.iter().map(|item| &item.likened).collect();
    let groups = grouped(&unknown);
    let of_unknown: Vec<&Likened> = groups.iter().map(|group| &group.likened).collect();
    let reused: HashMap<&str, Uuid> = past.new_ones().map(|open| (open.text_key.as_str(), open.item_id)).collect();
    for (group, change) in groups.iter().zip(matched(&of_unknown, &of_missing)) {
        let finding = group.first;
        let change = change.and_then(|(item, how)| Some((missing.get(item)?, how)));
        let fate = match change {
            Some((item, how)) => {
                found.insert(item.id);
                Fate::Changed(item.id, how.into())
            }
            None if past.dismissed_texts.contains(&finding.text_key) => Fate::LeftOut,
            None => Fate::Added(reused.get(finding.text_key.as_str()).copied().unwrap_or_else(&mut *new_id)),
        };
        for (number, at) in group.places.iter().enumerate() {
            if let Some(own) = fates.get_mut(*at) {
                *own = match fate {
                    Fate::Added(id) if number > 0 => Fate::Confirmed(id, FindingReason::OtherOrder),
                    Fate::Changed(..) if number > 0 => Fate::LeftOut,
                    fate => fate,
                };
            }
        }
    }

    let is_gone = |item: &&&KnownItem| {
        !found.contains(&item.id) && !item.is_rejected && scope.covers(&item.sources) && !past.kept.contains(&item.id)
    };
    let gone: Vec<Uuid> = missing.iter().filter(is_gone).map(|item| item.id).collect();
    let keys: HashSet<&str> = findings.iter().map(|finding| finding.text_key.as_str()).collect();
    let is_superseded = |open: &&OpenProposal| match open.kind {
        ProposalKind::New => keys.contains(open.text_key.as_str()) || scope.covers(&open.sources),
        ProposalKind::Changed | ProposalKind::Gone => found.contains(&open.item_id) || gone.contains(&open.item_id),
    };
    let superseded = past.open.iter().filter(is_superseded).map(|open| open.id).collect();
    KindPlan { fates, gone, superseded }
}

impl From<OtherText> for FindingReason {
    fn from(other: OtherText) -> Self {
        match other {
            OtherText::Figures => Self::OtherFigure,
            OtherText::InPlace => Self::SamePlace,
            OtherText::Words => Self::NearlySameWords,
        }
    }
}

/// Findings of one run that say the same.
struct FindingGroup<'a> {
    first: &'a FoundText,
    /// The words of the first, and the places of all.
    likened: Likened,
    /// Their positions among the findings.
    places: Vec<usize>,
}

fn grouped<'a>(findings: &[(usize, &'a FoundText)]) -> Vec<FindingGroup<'a>> {
    let (mut groups, mut by_words): (Vec<FindingGroup<'_>>, HashMap<&str, usize>) = (Vec::new(), HashMap::new());
    for (at, finding) in findings {
        let said = finding.likened.said();
        let known = by_words.get(said).filter(|_| !said.is_empty());
        if let Some(group) = known.and_then(|at| groups.get_mut(*at)) {
            group.likened.add_places(&finding.likened);
            group.places.push(*at);
            continue;
        }
        by_words.insert(said, groups.len());
        groups.push(FindingGroup { first: finding, likened: finding.likened.clone(), places: vec![*at] });
    }
    groups
}

/// What was proposed as a change of an item, in whichever run: what it becomes does not depend on what else a run reads.
struct DecidedTexts<'a> {
    /// Open ones, by their keys and by what they say.
    open: HashMap<&'a str, (Uuid, FindingReason)>,
    /// Dismissed ones, by their content and by what they say.
    dismissed: HashMap<&'a str, Uuid>,
    /// Former ones, by what they said.
    replaced: HashMap<&'a str, Vec<&'a ReplacedText>>,
}

impl<'a> DecidedTexts<'a> {
    fn of(past: &'a PastProposals, items: &HashSet<Uuid>) -> Self {
        let open = past.open.iter().filter(|one| one.kind == ProposalKind::Changed && items.contains(&one.item_id));
        let reason = |one: &OpenProposal| one.reason.unwrap_or(FindingReason::NearlySameWords);
        let named = |one: &'a OpenProposal| [&*one.said, &*one.text_key].map(|text| (text, (one.item_id, reason(one))));
        let open = open.flat_map(named).filter(|(text, _)| !text.is_empty()).collect();
        let dismissed = past.dismissed_changes.iter().chain(&past.dismissed_words);
        let dismissed = dismissed.filter(|(id, text)| items.contains(id) && !text.is_empty());
        let mut dismissed: Vec<_> = dismissed.map(|(id, content)| (content.as_str(), *id)).collect();
        dismissed.sort_unstable();
        let dismissed = dismissed.into_iter().rev().collect();
        let mut replaced: HashMap<&str, Vec<&ReplacedText>> = HashMap::new();
        for one in past.replaced.iter().filter(|one| items.contains(&one.item_id)) {
            replaced.entry(&one.said).or_default().push(one);
        }
        Self { open, dismissed, replaced }
    }

    /// What becomes of a finding that no item says; `None` if it was never proposed.
    fn fate(&self, finding: &FoundText) -> Option<Fate> {
        let open = self.open.get(finding.text_key.as_str()).or_else(|| self.open.get(finding.likened.said()));
        if let Some((id, reason)) = open {
            return Some(Fate::Changed(*id, *reason));
        }
        let dismissed = self.dismissed.get(finding.content_key.as_str());
        dismissed.or_else(|| self.dismissed.get(finding.likened.said())).map(|id| Fate::Kept(*id))
    }

    /// The item that said what was found, in the same sources. Said anywhere else, it is news.
    fn former(&self, finding: &FoundText) -> Option<Uuid> {
        let sources = finding.likened.sources();
        let former = self.replaced.get(finding.likened.said())?.iter().find(|one| sources.is_subset(&one.sources));
        former.map(|one| one.item_id)
    }
}

impl PastProposals {
    fn new_ones(&self) -> impl Iterator<Item = &OpenProposal> {
        self.open.iter().filter(|open| open.kind == ProposalKind::New)
    }

    fn fate_of_same_words(&self, finding: &FoundText, item: &KnownItem) -> Fate {
        match item {
            KnownItem { content_key, .. } if *content_key == finding.content_key => {
                Fate::Confirmed(item.id, FindingReason::SameWords)
            }
            // Said once more, it is the same, whatever the analysis takes it for there.
            _ if finding.is_all_words && finding.is_said_elsewhere(item) => {
                Fate::Confirmed(item.id, FindingReason::SameWords)
            }
            KnownItem { is_touched: false, .. } => Fate::Refreshed(item.id),
            KnownItem { .. } => self.fate_of_change(finding, item.id, FindingReason::OtherContent),
        }
    }

    fn fate_of_change(&self, finding: &FoundText, item_id: Uuid, reason: FindingReason) -> Fate {
        if self.dismissed_changes.contains(&(item_id, finding.content_key.clone())) {
            return Fate::Kept(item_id);
        }
        Fate::Changed(item_id, reason)
    }
}

#[cfg(test)]
mod tests;
