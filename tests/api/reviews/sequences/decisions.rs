//! What people decide about items: their status, alone and with others, their words, and to have a story written anew.

use serde_json::{Value, json};
use uuid::Uuid;

use super::model::{ExpectedItem, StatusVerdict, VERDICTS, content, is_story};
use super::{Play, Seen};

/// What a person does to one item.
#[derive(Debug, Clone, Copy)]
enum Act {
    Judge(StatusVerdict),
    EditTitle,
    /// Of a requirement its statement, of a story all that is told.
    EditWords,
    EditNothing,
    EditAndApprove,
}

const ACTS_OF_STORY: [Act; 11] = [
    Act::Judge(StatusVerdict::Approve),
    Act::Judge(StatusVerdict::Approve),
    Act::Judge(StatusVerdict::Approve),
    Act::Judge(StatusVerdict::Reject),
    Act::Judge(StatusVerdict::Reopen),
    Act::Judge(StatusVerdict::Defer),
    Act::EditTitle,
    Act::EditWords,
    Act::EditNothing,
    Act::EditAndApprove,
    Act::EditAndApprove,
];

/// Its words and its rejection make stories suspect.
const ACTS_OF_REQUIREMENT: [Act; 11] = [
    Act::Judge(StatusVerdict::Approve),
    Act::Judge(StatusVerdict::Reject),
    Act::Judge(StatusVerdict::Reject),
    Act::Judge(StatusVerdict::Reopen),
    Act::Judge(StatusVerdict::Reopen),
    Act::Judge(StatusVerdict::Defer),
    Act::EditTitle,
    Act::EditWords,
    Act::EditWords,
    Act::EditNothing,
    Act::EditAndApprove,
];

/// The fields of a story that its differences name.
const TOLD: [&str; 6] = ["title", "role", "goal", "benefit", "priority", "acceptanceCriteria"];

#[derive(Debug)]
enum ActOutcome {
    Refused,
    Same,
    Changed(ExpectedItem, &'static str),
}

/// The words of a person, which have none in common with any topic.
fn edited_words(is_story: bool, number: usize) -> Value {
    match is_story {
        true => {
            json!({"role": "guard", "goal": format!("keep remark {number}"), "benefit": format!("proof {number} stays")})
        }
        false => json!({"statement": format!("The system must keep remark {number} forever.")}),
    }
}

/// What an item says after an edit.
fn with(before: &ExpectedItem, edit: &Value) -> Value {
    let mut content = before.content.clone();
    for (name, value) in edit.as_object().unwrap() {
        content[name] = value.clone();
    }
    if let (Some(role), Some(goal), Some(benefit)) =
        (edit["role"].as_str(), edit["goal"].as_str(), edit["benefit"].as_str())
    {
        content["description"] = json!(format!("As a {role}, I want to {goal}, so that {benefit}."));
    }
    content
}

impl Act {
    fn body(self, before: &ExpectedItem, number: usize) -> Value {
        match self {
            Self::Judge(verdict) => verdict.body(),
            Self::EditTitle => json!({"title": format!("Title {number}")}),
            Self::EditWords => edited_words(before.is_story, number),
            Self::EditNothing => json!({"title": before.content["title"]}),
            Self::EditAndApprove => json!({"title": format!("Approved {number}"), "workflowStatus": "APPROVED"}),
        }
    }

    fn outcome(self, before: &ExpectedItem, number: usize) -> ActOutcome {
        let edited = |edit: &Value| before.revised(with(before, edit), "HUMAN_EDITED");
        match self {
            Self::Judge(verdict) => match before.judged(verdict) {
                Some((after, action)) => ActOutcome::Changed(after, action),
                None => ActOutcome::Refused,
            },
            Self::EditNothing => ActOutcome::Same,
            Self::EditTitle | Self::EditWords => ActOutcome::Changed(edited(&self.body(before, number)), "EDIT"),
            Self::EditAndApprove => {
                let title = json!({"title": format!("Approved {number}")});
                ActOutcome::Changed(edited(&title).approved_at_once(), "EDIT_AND_APPROVE")
            }
        }
    }
}

impl Play<'_> {
    pub async fn decide(&mut self) {
        let mut items = self.model.in_order();
        if self.below(3) == 0 {
            items.retain(|id| self.model.has_consequences(id));
        }
        if items.is_empty() {
            return;
        }
        let (id, person, seen) = (self.one_of(&items), self.somebody(), self.seen());
        let before = self.model.items[&id].now.clone();
        let act = self.one_of(if before.is_story { &ACTS_OF_STORY } else { &ACTS_OF_REQUIREMENT });
        println!("{}: {act:?} {} seen {seen:?}", self.number, before.code);
        let mut path = self.path(&id);
        if matches!(act, Act::Judge(_)) {
            path.push_str("/status");
        }
        let request = person.client.patch(path).json(act.body(&before, self.number));
        let answer = seen.on(request, before.version).await;
        match (seen, act.outcome(&before, self.number)) {
            (Seen::Another, _) => drop(answer.refused(412, "PreconditionFailed")),
            (_, ActOutcome::Refused) => drop(answer.refused(409, "InvalidState")),
            (_, ActOutcome::Same) => assert_eq!(ExpectedItem::of(answer.is(200).data()), before),
            (_, ActOutcome::Changed(after, action)) => {
                assert_eq!(ExpectedItem::of(answer.is(200).data()), after, "{act:?} after {before:?}");
                let unsettling = self.model.change(&person.id, &id, after, action);
                self.unsettle(&person.id, unsettling.as_slice());
                self.count(if before.suspect { "decided while suspect" } else { "decided" });
            }
        }
    }

    /// One decision about some items, some of them twice, among them stale ones, ones of another kind and ones of nobody.
    pub async fn decide_many(&mut self) {
        let (items, person, verdict) = (self.model.in_order(), self.somebody(), self.one_of(&VERDICTS));
        let (mut asked, mut expected, mut unsettling) = (Vec::new(), Vec::new(), Vec::new());
        let kind = |is_story: bool| if is_story { "USER_STORY" } else { "REQUIREMENT" };
        for _ in 0..=self.below(9) {
            let id = self.one_of(&items);
            let before = self.model.items[&id].now.clone();
            let (own, code) = (kind(before.is_story), json!(before.code));
            let (item, refusal) = match self.below(8) {
                0 => (json!({"targetType": own, "id": id, "version": before.version + 1}), Some("PreconditionFailed")),
                1 => (json!({"targetType": kind(!before.is_story), "id": id}), Some("NotFound")),
                2 => (json!({"targetType": own, "id": Uuid::from_u128(7)}), Some("NotFound")),
                3 => (json!({"targetType": own, "id": id}), None),
                _ => (json!({"targetType": own, "id": id, "version": before.version}), None),
            };
            let judged = before.judged(verdict).ok_or("InvalidState");
            let (code, refusal) = match (refusal, judged) {
                (Some("NotFound"), _) => (json!(null), Some("NotFound")),
                (Some(refusal), _) | (None, Err(refusal)) => (code, Some(refusal)),
                (None, Ok((after, action))) => {
                    unsettling.extend(self.model.change(&person.id, &id, after, action));
                    (code, None)
                }
            };
            expected.push(json!({"id": item["id"], "code": code, "ok": refusal.is_none(), "errorCode": refusal}));
            self.count(if refusal.is_none() { "decided among many" } else { "refused among many" });
            asked.push(item);
        }
        self.unsettle(&person.id, &unsettling);
        println!("{}: {verdict:?} {asked:?}", self.number);
        let mut body = verdict.body();
        body["items"] = json!(asked);
        let answer = person.client.post(self.reviewed.at("items/status")).json(body).await.is(200);
        assert_eq!(answer.data()["items"], json!(expected));
    }

    pub async fn regenerate(&mut self) {
        let items = self.model.in_order();
        let stories: Vec<String> = items.into_iter().filter(|id| self.model.items[id].now.is_story).collect();
        let (id, person, seen) = (self.one_of(&stories), self.somebody(), self.seen());
        let before = self.model.items[&id].now.clone();
        println!("{}: regenerate {} seen {seen:?}", self.number, before.code);
        let path = format!("{}/regenerate", self.path(&id));
        let anew = || person.client.post(&path).json(json!({"feedback": "Say it plainly."}));
        let answer = seen.on(anew(), before.version).await;
        if before.covers.is_empty() {
            answer.refused(409, "InvalidState");
            return;
        }
        if seen == Seen::Another {
            answer.refused(412, "PreconditionFailed");
            return;
        }
        let answer = answer.is(200);
        let written = answer.data();
        assert!(is_story(written));
        let after = content(written);
        let differs = |name: &&&str| before.content[**name] != after[**name];
        let diff = TOLD.iter().filter(differs);
        let diff = diff.map(|name| json!({"name": name, "before": before.content[*name], "after": after[*name]}));
        assert_eq!(written["diff"], diff.collect::<Value>(), "what is said to be different is what is different");
        if written["diff"] == json!([]) {
            assert_eq!(ExpectedItem::of(written), before, "a story that came out as it was is left as it is");
            self.count("regenerated as it was");
        } else {
            let revised = before.revised(after, "AI_REGENERATED");
            assert_eq!(ExpectedItem::of(written), revised);
            self.model.change(&person.id, &id, revised, "REGENERATE");
            self.count("regenerated");
        }
        // From the same requirements the same story comes out: it is left as it is now.
        let again = anew().await.is(200);
        assert_eq!(again.data()["diff"], json!([]));
        assert_eq!(ExpectedItem::of(again.data()), self.model.items[&id].now);
    }
}
