//! Issues of stories as rows. A row without an issue id is the intent to create one: it is committed before the call, and goes
//! when the tracker says that nothing was created.

use actors::ids::{self, Id};
use actors::time::Time;
use diesel::{ExpressionMethods, Insertable, QueryDsl, Queryable, Selectable};
use uuid::Uuid;

use crate::clients::trackers::{IssueReference, TrackerIssueState, TrackerProvider};
use crate::db::schema::tracker_issues as table;
use crate::db::{Columns, Conn, DbError, RunQueryDsl};

/// The most rows that are read at once.
const PAGE: i64 = 50;

#[derive(Debug, Clone, Queryable, Selectable, Insertable)]
#[diesel(table_name = table)]
struct Row {
    user_story_id: Id<()>,
    provider: TrackerProvider,
    site_id: String,
    project_id: Id<ids::Project>,
    tracker_project_id: String,
    issue_id: Option<String>,
    issue_key: Option<String>,
    issue_url: Option<String>,
    intended_at: Time,
    fingerprint: String,
    state: Option<TrackerIssueState>,
    is_gone: bool,
}

/// The issues of one project at one site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteOfProject {
    pub project_id: Id<ids::Project>,
    pub provider: TrackerProvider,
    pub site_id: String,
}

/// The issue of a story, or the intent to create it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoryIssue {
    pub user_story_id: Uuid,
    /// The project at the tracker in which it was created.
    pub tracker_project_id: String,
    /// `None`: it is not known whether it was created.
    pub issue: Option<IssueReference>,
    pub intended_at: Time,
    /// Of the content that was sent last.
    pub fingerprint: String,
    pub state: Option<TrackerIssueState>,
    pub is_gone: bool,
}

impl StoryIssue {
    fn of(row: Row) -> Self {
        let issue = match (row.issue_id, row.issue_key, row.issue_url) {
            (Some(id), Some(key), Some(url)) => Some(IssueReference { id, key, url }),
            _ => None,
        };
        Self {
            user_story_id: row.user_story_id.uuid(),
            tracker_project_id: row.tracker_project_id,
            issue,
            intended_at: row.intended_at,
            fingerprint: row.fingerprint,
            state: row.state,
            is_gone: row.is_gone,
        }
    }
}

/// Returns the issues of some stories at a site.
pub async fn of_stories(conn: &mut Conn, site: &SiteOfProject, stories: &[Uuid]) -> Result<Vec<StoryIssue>, DbError> {
    let stories: Vec<Id<()>> = stories.iter().map(|id| Id::from_uuid(*id)).collect();
    let own = table::table
        .filter(table::project_id.eq(site.project_id))
        .filter(table::provider.eq(site.provider))
        .filter(table::site_id.eq(site.site_id.clone()))
        .filter(table::user_story_id.eq_any(stories));
    let rows: Vec<Row> = own.select(Row::columns()).load(conn).await?;
    Ok(rows.into_iter().map(StoryIssue::of).collect())
}

/// Returns the created issues of a project at a site, in pages: those of stories after `after`, in the order of their ids.
pub async fn created(conn: &mut Conn, site: &SiteOfProject, after: Uuid) -> Result<Vec<StoryIssue>, DbError> {
    let own = table::table
        .filter(table::project_id.eq(site.project_id))
        .filter(table::provider.eq(site.provider))
        .filter(table::site_id.eq(site.site_id.clone()))
        .filter(table::issue_id.is_not_null())
        .filter(table::user_story_id.gt(Id::<()>::from_uuid(after)));
    let rows: Vec<Row> = own.order(table::user_story_id.asc()).limit(PAGE).select(Row::columns()).load(conn).await?;
    Ok(rows.into_iter().map(StoryIssue::of).collect())
}

/// Saves the intent to create the issues of stories, each with the fingerprint of what is sent. What was known of a former issue
/// is forgotten.
pub async fn intend(
    conn: &mut Conn,
    site: &SiteOfProject,
    tracker_project_id: &str,
    stories: &[(Uuid, String)],
    now: Time,
) -> Result<(), DbError> {
    for (story, fingerprint) in stories {
        let row = Row {
            user_story_id: Id::from_uuid(*story),
            provider: site.provider,
            site_id: site.site_id.clone(),
            project_id: site.project_id,
            tracker_project_id: tracker_project_id.to_owned(),
            issue_id: None,
            issue_key: None,
            issue_url: None,
            intended_at: now,
            fingerprint: fingerprint.clone(),
            state: None,
            is_gone: false,
        };
        forget(conn, site, *story).await?;
        diesel::insert_into(table::table).values(row).execute(conn).await?;
    }
    Ok(())
}

/// Forgets a story's issue, or the intent to create it.
pub async fn forget(conn: &mut Conn, site: &SiteOfProject, story: Uuid) -> Result<(), DbError> {
    let own = table::table.find((Id::<()>::from_uuid(story), site.provider, site.site_id.clone()));
    diesel::delete(own).execute(conn).await?;
    Ok(())
}

/// Saves which issue was created for a story.
pub async fn confirm(
    conn: &mut Conn,
    site: &SiteOfProject,
    story: Uuid,
    issue: &IssueReference,
) -> Result<(), DbError> {
    let own = table::table.find((Id::<()>::from_uuid(story), site.provider, site.site_id.clone()));
    let confirmed = (
        table::issue_id.eq(issue.id.clone()),
        table::issue_key.eq(issue.key.clone()),
        table::issue_url.eq(issue.url.clone()),
        table::is_gone.eq(false),
    );
    diesel::update(own).set(confirmed).execute(conn).await?;
    Ok(())
}

/// Saves the fingerprint of what an issue was changed to.
pub async fn set_fingerprint(
    conn: &mut Conn,
    site: &SiteOfProject,
    story: Uuid,
    fingerprint: &str,
) -> Result<(), DbError> {
    let own = table::table.find((Id::<()>::from_uuid(story), site.provider, site.site_id.clone()));
    diesel::update(own).set(table::fingerprint.eq(fingerprint.to_owned())).execute(conn).await?;
    Ok(())
}

/// Saves how an issue was found at the tracker: its key and address, and its state; `None` if it is gone.
pub async fn save_state(
    conn: &mut Conn,
    site: &SiteOfProject,
    story: Uuid,
    found: Option<(&IssueReference, TrackerIssueState)>,
) -> Result<(), DbError> {
    let own = table::table.find((Id::<()>::from_uuid(story), site.provider, site.site_id.clone()));
    match found {
        Some((issue, state)) => {
            let seen = (
                table::issue_key.eq(issue.key.clone()),
                table::issue_url.eq(issue.url.clone()),
                table::state.eq(state),
                table::is_gone.eq(false),
            );
            diesel::update(own).set(seen).execute(conn).await?;
        }
        None => {
            let gone = (table::state.eq(None::<TrackerIssueState>), table::is_gone.eq(true));
            diesel::update(own).set(gone).execute(conn).await?;
        }
    }
    Ok(())
}
