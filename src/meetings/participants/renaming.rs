//! LATER: the former name of somebody who was forgotten, taken out of what their meeting told of them before. Safe to repeat.
//!
//! The meeting forgets them at once, in its own save, which has to be short: an actor waits for it. What it told may be a hundred
//! thousand events. They are gone through page by page, each in a transaction of its own that also keeps how far the job came.

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{self, Meeting};
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::model;
use crate::db::events::{self, Place, Text};
use crate::db::{Conn, Failed};
use crate::jobs::{self, Fault, Handler, Job, Patience};
use crate::meetings::state::Meetings;
use crate::meetings::store::topic;

const KIND: &str = "rename-forgotten";
/// How many events are looked at in one go; all of them may have to be written anew.
const PAGE: i64 = 250;

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    meeting_id: Id<Meeting>,
    participant_id: Id<ids::Participant>,
    /// What they are called from then on: nothing of the person.
    name: String,
    /// The event that told it. It has the new name, and so have those after it.
    until: u64,
    /// The last event that was looked at.
    after: Place,
    /// Whether anything was written anew.
    is_written: bool,
}

/// Has a participant's former name taken out of the meeting's events before that offset, once the transaction stands.
///
/// # Errors
/// The database's own.
pub async fn enqueue(
    conn: &mut Conn,
    meeting_id: Id<Meeting>,
    forgotten: &meeting::Participant,
    until: u64,
    now: Time,
    request: &RequestId,
) -> Result<(), Failed> {
    let payload = Payload {
        meeting_id,
        participant_id: forgotten.id,
        name: forgotten.display_name.clone(),
        until,
        after: Place { topic: topic(meeting_id).to_string(), position: 0 },
        is_written: false,
    };
    jobs::enqueue(conn, KIND, &payload, now, request).await.map(|_| ())
}

/// Takes names out.
pub struct Renaming {
    pub state: Meetings,
}

#[async_trait]
impl Handler for Renaming {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn patience(&self) -> Patience {
        Patience::UNTIL_DONE
    }

    /// One by one, so that they leave the database to others.
    fn at_once(&self) -> usize {
        1
    }

    async fn run(&self, job: &Job) -> Result<(), Fault> {
        let mut payload: Payload = serde_json::from_str(&job.payload).map_err(|error| error.to_string())?;
        let stopping = self.state.tasks.stopping();
        loop {
            if stopping.is_cancelled() {
                return Err(Fault::Again("the server stops".to_owned()));
            }
            let Some(page) = self.look(&payload).await.map_err(|error| error.to_string())? else { break };
            let next = Payload {
                after: page.reached.clone(),
                is_written: payload.is_written || !page.renamed.is_empty(),
                ..payload.clone()
            };
            // Where nothing is written the place is not noted either: that is looked at again by whoever takes the job up.
            if page.renamed.is_empty() || self.write(job, page, &next).await.map_err(|error| error.to_string())? {
                payload = next;
            }
            // Else others wrote there meanwhile, and the page is looked at again.
        }
        if payload.is_written {
            self.state.db.overwrite_deleted().await.map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// Some events, and what is to be written in the place of those that have the name.
struct Page {
    reached: Place,
    renamed: Vec<(Text, String)>,
}

impl Renaming {
    /// The next events; `None`: there are no more.
    async fn look(&self, payload: &Payload) -> Result<Option<Page>, Failed> {
        let place = payload.after.clone();
        let read =
            self.state.db.read(move |conn| Box::pin(async move { events::texts_after(conn, &place, PAGE).await }));
        let mut texts = read.await?;
        // They are in the order of topics, and of offsets in each.
        let is_before = |text: &Text| u64::try_from(text.position).is_ok_and(|position| position < payload.until);
        texts.retain(|text| text.topic == payload.after.topic && is_before(text));
        let Some(last) = texts.last() else { return Ok(None) };
        let reached = Place { topic: last.topic.clone(), position: last.position };
        let renamed = texts.into_iter().filter_map(|text| {
            let data = model::renamed(&text.data, payload.participant_id, &payload.name)?;
            Some((text, data))
        });
        Ok(Some(Page { reached, renamed: renamed.collect() }))
    }

    /// Writes a page, and that the job came so far. False: something of it is no longer what it was.
    async fn write(&self, job: &Job, page: Page, reached: &Payload) -> Result<bool, Failed> {
        let (own, reached) = (job.clone(), serde_json::to_value(reached));
        let noted = reached.map_err(|error| Failed::Broken(error.to_string()))?;
        let written = self.state.db.write(move |conn| {
            Box::pin(async move {
                let mut all = true;
                for (event, data) in page.renamed {
                    all &= events::replace(conn, &event, data).await?;
                }
                if all && !jobs::note(conn, &own, &noted).await? {
                    return Err(Failed::Broken("the job is another attempt's by now".to_owned()));
                }
                Ok(all)
            })
        });
        written.await
    }
}
