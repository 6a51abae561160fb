//! Meetings in a list, read without what only their actors need.

use actors::ids::{self, Id, User};
use actors::meeting::{Meeting, MeetingStatus, RecordingStatus};
use actors::time::Time;
use diesel::{ExpressionMethods, QueryDsl, Queryable, Selectable};

use super::bodies::Filter;
use crate::db::schema::meetings;
use crate::db::{Columns, Conn, DbError, RunQueryDsl, contains, is_found, is_wanted, page_of};
use crate::http::envelope::List;
use crate::http::list::Listing;
use crate::meetings::model::{MeetingListItem, MeetingView, join_url};
use crate::meetings::store::{participants, recordings};

#[derive(Queryable, Selectable)]
#[diesel(table_name = meetings)]
struct ListedMeeting {
    id: Id<Meeting>,
    project_id: Id<ids::Project>,
    title: String,
    description: String,
    status: MeetingStatus,
    created_by_id: Id<User>,
    host_participant_id: Id<ids::Participant>,
    scheduled_at: Time,
    started_at: Option<Time>,
    ended_at: Option<Time>,
    created_at: Time,
    updated_at: Time,
}

impl ListedMeeting {
    fn view(self, app_url: &str) -> MeetingView {
        MeetingView {
            id: self.id,
            project_id: self.project_id,
            status: self.status,
            title: self.title,
            description: self.description,
            join_url: join_url(app_url, self.id),
            created_by_id: self.created_by_id,
            host_participant_id: self.host_participant_id,
            scheduled_at: self.scheduled_at,
            started_at: self.started_at,
            ended_at: self.ended_at,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }
}

/// With the number of participants and the status of the newest recording.
type RowOfList = (ListedMeeting, Option<i64>, Option<RecordingStatus>);

/// Lists a project's meetings, newest first. `app_url` is the base of links.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    Listing { filter, page }: Listing<Filter>,
    app_url: &str,
) -> Result<List<MeetingListItem>, DbError> {
    let listed = meetings::table
        .filter(meetings::project_id.eq(project_id))
        .filter(is_wanted(meetings::status, filter.status))
        .filter(is_found(filter.search.as_ref(), |pattern| contains(meetings::title, pattern)));
    let columns =
        (ListedMeeting::columns(), participants::count(meetings::id), recordings::newest_status(meetings::id));
    let (rows, total): (Vec<RowOfList>, _) = page_of!(conn, page, listed, meetings::id, columns);
    let listed = page.list(rows, total, |(row, ..)| row.id.uuid());
    Ok(listed.map(|(row, participants, recording_status)| MeetingListItem {
        meeting: row.view(app_url),
        participant_count: participants.unwrap_or_default(),
        recording_status,
    }))
}
