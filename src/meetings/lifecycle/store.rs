//! Meetings in a list, read without what only their actors need.

use actors::ids::{self, Id, User};
use actors::meeting::Meeting;
use diesel::{ExpressionMethods, QueryDsl, Queryable, Selectable};

use super::bodies::Filter;
use crate::db::schema::meetings;
use crate::db::{At, Columns, Conn, DbError, Key, RunQueryDsl, contains, is_found, is_wanted, page_of};
use crate::http::envelope::List;
use crate::http::list::Listing;
use crate::meetings::model::{MeetingListItem, MeetingView, join_url};
use crate::meetings::store::{broken, participants, recordings};

#[derive(Queryable, Selectable)]
#[diesel(table_name = meetings)]
struct ListedMeeting {
    id: Key<Meeting>,
    project_id: Key<ids::Project>,
    title: String,
    description: String,
    status: String,
    created_by_id: Key<User>,
    host_participant_id: Key<ids::Participant>,
    scheduled_at: At,
    started_at: Option<At>,
    ended_at: Option<At>,
    created_at: At,
    updated_at: At,
}

impl ListedMeeting {
    fn view(self, app_url: &str) -> Result<MeetingView, DbError> {
        let id = self.id.0;
        Ok(MeetingView {
            id,
            project_id: self.project_id.0,
            status: self.status.parse().map_err(|_| broken(id, &self.status))?,
            title: self.title,
            description: self.description,
            join_url: join_url(app_url, id),
            created_by_id: self.created_by_id.0,
            host_participant_id: self.host_participant_id.0,
            scheduled_at: self.scheduled_at.0,
            started_at: self.started_at.map(|at| at.0),
            ended_at: self.ended_at.map(|at| at.0),
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

/// With the number of participants and the status of the newest recording.
type RowOfList = (ListedMeeting, Option<i64>, Option<String>);

/// Lists a project's meetings, newest first. `app_url` is the base of links.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    Listing { filter, page }: Listing<Filter>,
    app_url: &str,
) -> Result<List<MeetingListItem>, DbError> {
    let listed = meetings::table
        .filter(meetings::project_id.eq(Key(project_id)))
        .filter(is_wanted(meetings::status, filter.status))
        .filter(is_found(filter.search.as_ref(), |pattern| contains(meetings::title, pattern)));
    let columns =
        (ListedMeeting::columns(), participants::count(meetings::id), recordings::newest_status(meetings::id));
    let (rows, total): (Vec<RowOfList>, _) = page_of!(conn, page, listed, meetings::id, columns);
    page.list(rows, total, |(row, ..)| row.id.0.uuid()).try_map(|(row, participants, recording)| {
        let meeting = row.view(app_url)?;
        let status = |text: String| recordings::status(meeting.id, &text);
        let recording_status = recording.map(status).transpose()?;
        Ok(MeetingListItem { meeting, participant_count: participants.unwrap_or_default(), recording_status })
    })
}
