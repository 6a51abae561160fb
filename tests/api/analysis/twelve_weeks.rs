//! Twelve weekly meetings and three versions of a brief, read as they come by three people who approve between: the
//! specification holds what an oracle says, week after week.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::runs;
use crate::reviews::stakeholders::Review;
use crate::support::documents::documents;
use crate::support::{Role, Server, User, World};

/// What is said for the first time in each week's meeting.
const SAID: [[&str; 2]; 12] = [
    ["The system must print a receipt for each payment.", "The booking page must show the depth of every berth."],
    [
        "A crane operator must be able to reserve a crane for one hour.",
        "The weather station must publish the wind speed every minute.",
    ],
    [
        "The gate must open for vehicles with a valid permit.",
        "Invoices must be sent by e-mail on the first day of each month.",
    ],
    ["The radio log must be kept for ten years.", "A pilot must be able to decline an assignment from a phone."],
    ["The fuel dock must record the litres sold to each vessel.", "Lost property must be listed on a public board."],
    [
        "The tide table must be available without a connection.",
        "Each mooring buoy must carry a light that is visible at night.",
    ],
    ["The waste station must weigh every container.", "A customs officer must be able to block a shipment."],
    [
        "Maintenance of a bridge must be announced three days ahead.",
        "The ferry timetable must be translated into Danish.",
    ],
    ["Divers must be registered before they enter the basin.", "The archive must export photographs as TIFF files."],
    [
        "The camera at the pier must mask the faces of passers-by.",
        "Salaries of seasonal workers must be calculated weekly.",
    ],
    [
        "The library of charts must be searchable by coordinates.",
        "Noise on the terrace must be measured after ten in the evening.",
    ],
    [
        "The lock keeper must confirm each passage with a signature.",
        "The tug must report its position to the control room.",
    ],
];
const BERTH: &str = "The system must let a skipper book a berth until noon.";
const STORM: &str = "The harbour master must be able to close the harbour in a storm.";
const QUAY: &str = "Each quay must have a number that is painted in white.";
const RESCUE: &str = "The system must warn the rescue service of a collision.";
const WHEELCHAIR: &str = "Passengers with a wheelchair must reach every gangway.";
const SEARCH: [&str; 3] = [
    "The system shall answer every search within two seconds.",
    "The system shall answer every search within five seconds.",
    "The system shall answer every search within four seconds.",
];
/// What the brief says, and the week in which that version comes.
const BRIEF: [(usize, &[&str]); 3] = [
    (1, &[BERTH, SEARCH[0], STORM, QUAY]),
    (5, &[STORM, BERTH, SEARCH[1], RESCUE]),
    (9, &[BERTH, SEARCH[2], RESCUE, WHEELCHAIR, STORM]),
];

/// What a specification must hold, by statement.
#[derive(Debug, Default, PartialEq)]
struct Oracle(BTreeMap<String, Expected>);

#[derive(Debug, Clone, PartialEq)]
struct Expected {
    status: &'static str,
    /// The names of the documents that say it.
    said_in: BTreeSet<String>,
}

impl Oracle {
    /// Returns whether it is new.
    fn hears(&mut self, statement: &str, document: &str) -> bool {
        let is_new = !self.0.contains_key(statement);
        let fresh = || Expected { status: "NEEDS_REVIEW", said_in: BTreeSet::new() };
        self.0.entry(statement.to_owned()).or_insert_with(fresh).said_in.insert(document.to_owned());
        is_new
    }

    fn decides(&mut self, statement: &str, status: &'static str) {
        self.0.get_mut(statement).unwrap().status = status;
    }

    fn with(&self, keeps: impl Fn(&Expected) -> bool) -> BTreeSet<&str> {
        self.0.iter().filter(|(_, one)| keeps(one)).map(|(statement, _)| statement.as_str()).collect()
    }
}

/// A project of three people.
struct Harbour {
    server: &'static Server,
    people: [User; 3],
    project: String,
    /// The path of the brief.
    brief: String,
    /// The names of the documents by their ids.
    names: BTreeMap<String, String>,
    oracle: Oracle,
    /// The codes that statements have had.
    codes: BTreeMap<String, String>,
}

impl Harbour {
    fn by(&self, week: usize) -> &User {
        &self.people[week % 3]
    }

    async fn dashboard(&self) -> Value {
        let path = format!("/api/projects/{}/ai/results-dashboard", self.project);
        self.people[0].client.get(path).await.is(200).data().clone()
    }

    /// What is new of this week is uploaded and analysed by one of them.
    async fn meets(&mut self, week: usize) {
        let by = self.by(week).clone();
        let name = format!("minutes-{week}.md");
        let mut said = SAID[week - 1].to_vec();
        if week > 1 {
            // Something of each former meeting is said once more.
            said.push(SAID[week - 2][week % 2]);
        }
        let mut new = 0;
        for statement in &said {
            new += usize::from(self.oracle.hears(statement, &name));
        }
        let text = format!("# Meeting {week}\n\n{}\n", said.join("\n\n"));
        let (path, _) = by.read(&self.project, &name, text.as_bytes()).await;
        self.names.insert(path.rsplit('/').next().unwrap().to_owned(), name);
        if let Some(version) = BRIEF.iter().position(|(of, _)| *of == week) {
            new += self.brief_comes(&by, version).await;
        }
        let (run, _) = by.run(&self.project).await;
        assert_eq!(by.over(&run).await["status"], "COMPLETED", "week {week}");
        let found = by.client.get(format!("{run}/findings")).await.is(200).data().clone();
        let added = found["added"].as_array().unwrap().iter().filter(|one| one["targetType"] == "REQUIREMENT").count();
        assert_eq!(added, new, "week {week}: {found:#}");
    }

    /// Returns how many of its sentences are new to the specification at once: others are proposed.
    async fn brief_comes(&mut self, by: &User, version: usize) -> usize {
        let text = format!("# Brief\n\n{}\n", BRIEF[version].1.join("\n\n"));
        if version == 0 {
            (self.brief, _) = by.read(&self.project, "brief.md", text.as_bytes()).await;
            self.names.insert(self.brief.rsplit('/').next().unwrap().to_owned(), "brief.md".to_owned());
        } else {
            by.read_version(&self.brief, "brief.md", text.as_bytes()).await;
        }
        let mut new = 0;
        for statement in BRIEF[version].1 {
            // Another figure of the same is proposed, and adds nothing.
            if version == 0 || !SEARCH.contains(statement) {
                new += usize::from(self.oracle.hears(statement, "brief.md"));
            }
        }
        new
    }

    /// Decides the open proposals of a kind; returns what they are about.
    async fn decides(&self, week: usize, kind: &str, decision: &str) -> Vec<String> {
        let by = self.by(week + 1);
        let path = format!("/api/projects/{}/proposals", self.project);
        let open = by.client.get(format!("{path}?status=OPEN&kind={kind}")).await.is(200).data().clone();
        let mut about = Vec::new();
        for one in open["items"].as_array().unwrap() {
            about.push(one["before"]["statement"].as_str().unwrap().to_owned());
            by.client.post(format!("{path}/{}/{decision}", one["id"].as_str().unwrap())).await.is(200);
        }
        about
    }

    /// One of them sets the status of the items that have this one.
    async fn reviews(&mut self, week: usize, status: &'static str, picks: impl Fn(&str) -> bool) {
        let dashboard = self.dashboard().await;
        let all = dashboard["requirements"].as_array().unwrap().iter();
        let waiting = all.filter(|one| one["workflowStatus"] == "NEEDS_REVIEW");
        let picked: Vec<&Value> = waiting.filter(|one| picks(one["statement"].as_str().unwrap())).collect();
        let items: Vec<Value> =
            picked.iter().map(|one| json!({"targetType": "REQUIREMENT", "id": one["id"]})).collect();
        for one in &picked {
            self.oracle.decides(one["statement"].as_str().unwrap(), status);
        }
        if !items.is_empty() {
            let path = format!("/api/projects/{}/items/status", self.project);
            let body = json!({"workflowStatus": status, "comment": "As agreed.", "items": items});
            self.by(week + 2).client.post(path).json(body).await.is(200);
        }
    }

    /// Holds the specification against the oracle.
    async fn holds(&mut self, week: usize) {
        let dashboard = self.dashboard().await;
        let mut held = BTreeMap::new();
        for one in dashboard["requirements"].as_array().unwrap() {
            let (statement, code) = (one["statement"].as_str().unwrap(), one["code"].as_str().unwrap());
            let known = self.codes.entry(statement.to_owned()).or_insert_with(|| code.to_owned());
            assert_eq!(known, code, "week {week}: {statement} keeps its code");
            let said_in = one["sources"].as_array().unwrap().iter();
            let said_in = said_in.map(|source| self.names[source["documentId"].as_str().unwrap()].clone()).collect();
            let status = match one["workflowStatus"].as_str().unwrap() {
                "APPROVED" => "APPROVED",
                "REJECTED" => "REJECTED",
                _ => "NEEDS_REVIEW",
            };
            assert!(
                held.insert(statement.to_owned(), Expected { status, said_in }).is_none(),
                "{statement} is there twice"
            );
        }
        assert_eq!(Oracle(held), Oracle(self.oracle.0.clone()), "week {week}");
        let count = dashboard["metrics"]["requirements"].as_u64().unwrap();
        assert_eq!(count, self.oracle.0.len() as u64, "the numbers agree");
        let list = format!("/api/projects/{}/requirements?limit=1", self.project);
        assert_eq!(self.people[1].client.get(list).await.is(200).data()["totalCount"], count);
    }

    /// Holds what reviewers and files show against the oracle.
    async fn shows(&self, week: usize) {
        let approved = self.oracle.with(|one| one.status == "APPROVED");
        let shown = self.oracle.with(|one| one.status != "REJECTED");
        for (scope, wanted) in [("APPROVED", &approved), ("ALL", &shown)] {
            let review = Review::showing(self.server, self.by(week), &self.project, json!({"scope": scope})).await;
            let seen = review.dashboard().await;
            let seen: BTreeSet<&str> =
                seen["requirements"].as_array().unwrap().iter().map(|one| one["statement"].as_str().unwrap()).collect();
            assert_eq!(&seen, wanted, "week {week}, {scope}");
        }
        let exports = format!("/api/projects/{}/ai/results-dashboard/exports", self.project);
        let made = self.by(week).client.post(exports).json(json!({"format": "MARKDOWN"})).await.is(201).data().clone();
        let file = self.by(week).client.get(made["url"].as_str().unwrap()).await.is(200).text();
        let words = |text: &str| text.replace('\\', "").split_whitespace().collect::<Vec<_>>().join(" ");
        let file = words(&file);
        for statement in self.oracle.0.keys() {
            assert_eq!(
                file.contains(&words(statement)),
                approved.contains(statement.as_str()),
                "week {week}: {statement}"
            );
        }
    }
}

on_both! {
    async fn twelve_weeks_of_meetings_and_versions_make_the_specification_that_was_agreed_upon(world: World) {
        let people = [world.user().await, world.user().await, world.user().await];
        let project = people[0].project().await;
        for other in &people[1..] {
            world.server.join(&project, other, Role::Analyst).await;
        }
        let mut harbour = Harbour {
            server: world.server, people, project, brief: String::new(), names: BTreeMap::new(), oracle: Oracle::default(),
            codes: BTreeMap::new(),
        };
        for week in 1..=12 {
            harbour.meets(week).await;
            harbour.holds(week).await;
            match week {
                // The new version: one figure is accepted, and what is no longer said goes.
                5 => {
                    assert_eq!(harbour.decides(week, "CHANGED", "accept").await, [SEARCH[0]]);
                    let former = harbour.oracle.0.remove(SEARCH[0]).unwrap();
                    harbour.oracle.0.insert(SEARCH[1].to_owned(), Expected { status: "NEEDS_REVIEW", ..former });
                    let code = harbour.codes[SEARCH[0]].clone();
                    harbour.codes.insert(SEARCH[1].to_owned(), code);
                    assert_eq!(harbour.decides(week, "GONE", "accept").await, [QUAY]);
                    harbour.oracle.decides(QUAY, "REJECTED");
                }
                // The next one: what is agreed upon stays.
                9 => assert_eq!(harbour.decides(week, "CHANGED", "dismiss").await, [SEARCH[1]]),
                _ => {
                    for kind in ["CHANGED", "GONE", "NEW"] {
                        assert!(harbour.decides(week, kind, "dismiss").await.is_empty(), "week {week}: {kind}");
                    }
                }
            }
            if week == 6 {
                harbour.reviews(week, "REJECTED", |statement| statement == SAID[5][1]).await;
            }
            if week % 2 == 0 {
                harbour.reviews(week, "APPROVED", |_| true).await;
            }
            harbour.holds(week).await;
            if week % 4 == 0 {
                harbour.shows(week).await;
            }
        }
        // What was rejected in week 6 was said again in week 7, and stays rejected; all that was read is read.
        assert_eq!(harbour.oracle.0[SAID[5][1]].said_in.len(), 2);
        let list = harbour.people[0].client.get(documents(&harbour.project)).await.is(200);
        assert_eq!(list.data()["totalCount"], 13);
        let of_runs = harbour.people[0].client.get(runs(&harbour.project)).await.is(200);
        assert_eq!(of_runs.data()["totalCount"], 12);
    }
}
