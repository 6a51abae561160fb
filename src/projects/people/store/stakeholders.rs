//! Queries of a project's stakeholders, who are found in several tables and listed as one.
//!
//! Each source returns its newest entries before a position, and its total count; the list is the newest entries of all
//! sources. A person is in one source only: a member is not listed as a reviewer, neither of them as a guest, and
//! several invitations or participations of one address are one entry.

use std::collections::HashMap;

use actors::ids::{self, Id, User};
use actors::time::Time;
use diesel::dsl::{exists, not};
use diesel::{BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, QueryDsl};

use super::super::bodies::StakeholderFilter;
use super::super::model::{Stakeholder, StakeholderOrigin};
use crate::access::role::ProjectRole;
use crate::db::schema::{meetings, members, participants, review_invitations, sessions, users};
use crate::db::{Conn, DbError, RunQueryDsl, contains, is_found, page_of};
use crate::http::envelope::List;
use crate::http::list::Listing;
use crate::http::page::PageQuery;

impl StakeholderFilter {
    fn wants(&self, origin: StakeholderOrigin) -> bool {
        self.origin.is_none_or(|wanted| wanted == origin)
    }
}

/// Lists stakeholders, newest first.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    Listing { filter, page }: Listing<StakeholderFilter>,
) -> Result<List<Stakeholder>, DbError> {
    let mut found = Vec::new();
    let mut total = 0;
    if filter.wants(StakeholderOrigin::Member) {
        let (some, all) = with_role(conn, project_id, &filter, page).await?;
        found.extend(some);
        total += all;
    }
    if filter.wants(StakeholderOrigin::ReviewInvitation) {
        let (some, all) = reviewers(conn, project_id, &filter, page).await?;
        found.extend(some);
        total += all;
    }
    if filter.wants(StakeholderOrigin::MeetingGuest) {
        let (some, all) = guests(conn, project_id, &filter, page).await?;
        found.extend(some);
        total += all;
    }
    found.sort_by_key(|one| std::cmp::Reverse(one.id));
    Ok(page.list(found, total, |one| one.id.uuid()))
}

type MemberRow = (Id<Stakeholder>, Id<User>, String, String);

/// Members with the role STAKEHOLDER. They were last seen when one of their sessions was last used.
async fn with_role(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    filter: &StakeholderFilter,
    page: PageQuery,
) -> Result<(Vec<Stakeholder>, i64), DbError> {
    let listed = members::table
        .inner_join(users::table.on(users::id.eq(members::user_id)))
        .filter(members::project_id.eq(project_id))
        .filter(members::role.eq(ProjectRole::Stakeholder))
        .filter(is_found(filter.search.as_ref(), |pattern| {
            contains(users::full_name, pattern).or(contains(users::email, pattern))
        }));
    let (rows, total): (Vec<MemberRow>, _) =
        page_of!(conn, page, listed, members::id, (members::id, members::user_id, users::full_name, users::email));
    let shown: Vec<Id<User>> = rows.iter().map(|(_, user_id, ..)| *user_id).collect();
    let seen: Vec<(Id<User>, Option<Time>)> = sessions::table
        .filter(sessions::user_id.eq_any(&shown))
        .group_by(sessions::user_id)
        .select((sessions::user_id, diesel::dsl::max(sessions::last_used_at)))
        .load(conn)
        .await?;
    let seen: HashMap<Id<User>, Time> = seen.into_iter().filter_map(|(user, at)| Some((user, at?))).collect();
    let stakeholder = |(id, user_id, full_name, email): MemberRow| Stakeholder {
        id,
        full_name,
        email: Some(email),
        organisation: None,
        user_id: Some(user_id),
        origin: StakeholderOrigin::Member,
        last_seen_at: seen.get(&user_id).copied(),
    };
    Ok((rows.into_iter().map(stakeholder).collect(), total))
}

/// Id, name, address, organisation, and when the access was last used.
type ReviewerRow = (Id<Stakeholder>, Option<String>, String, Option<String>, Option<Time>);

diesel::alias!(review_invitations as first_accepted: FirstAccepted);

/// Who accepted an invitation to review the project that was not revoked, one per address: the first invitation counts,
/// so that ids are stable. They were last seen when one of their accesses was last used.
async fn reviewers(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    filter: &StakeholderFilter,
    page: PageQuery,
) -> Result<(Vec<Stakeholder>, i64), DbError> {
    use review_invitations as r;
    let listed = r::table
        .filter(r::project_id.eq(project_id))
        .filter(r::accepted_at.is_not_null())
        .filter(r::revoked_at.is_null())
        .filter(is_found(filter.search.as_ref(), |pattern| {
            let by_name = r::full_name.is_not_null().and(contains(r::full_name.assume_not_null(), pattern));
            contains(r::email, pattern).or(by_name)
        }))
        .filter(not(exists(
            first_accepted
                .filter(first_accepted.field(r::project_id).eq(project_id))
                .filter(first_accepted.field(r::accepted_at).is_not_null())
                .filter(first_accepted.field(r::revoked_at).is_null())
                .filter(first_accepted.field(r::email).eq(r::email))
                .filter(first_accepted.field(r::id).lt(r::id)),
        )))
        .filter(not(exists(
            members::table
                .inner_join(users::table.on(users::id.eq(members::user_id)))
                .filter(members::project_id.eq(project_id))
                .filter(users::email.eq(r::email)),
        )));
    let columns = (r::id, r::full_name, r::email, r::organisation, r::last_seen_at);
    let (rows, total): (Vec<ReviewerRow>, _) = page_of!(conn, page, listed, r::id, columns);
    let shown: Vec<String> = rows.iter().map(|(_, _, email, ..)| email.clone()).collect();
    let seen: Vec<(String, Option<Time>)> = r::table
        .filter(r::project_id.eq(project_id))
        .filter(r::email.eq_any(&shown))
        .group_by(r::email)
        .select((r::email, diesel::dsl::max(r::last_seen_at)))
        .load(conn)
        .await?;
    let seen: HashMap<String, Time> = seen.into_iter().filter_map(|(email, at)| Some((email, at?))).collect();
    let stakeholder = |(id, full_name, email, organisation, last_seen_at): ReviewerRow| Stakeholder {
        id,
        full_name: full_name.unwrap_or_else(|| email.split('@').next().unwrap_or_default().to_owned()),
        last_seen_at: seen.get(&email).copied().or(last_seen_at),
        email: Some(email),
        organisation,
        user_id: None,
        origin: StakeholderOrigin::ReviewInvitation,
    };
    Ok((rows.into_iter().map(stakeholder).collect(), total))
}

/// Id, name, address, and when the participant last joined and left.
type GuestRow = (Id<Stakeholder>, String, Option<String>, Option<Time>, Option<Time>);

diesel::alias!(participants as earlier: Earlier, meetings as of_earlier: OfEarlier);

/// Guests of meetings, one per address: the first participation counts, so that ids are stable. They were last seen
/// when they last joined or left.
async fn guests(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    filter: &StakeholderFilter,
    page: PageQuery,
) -> Result<(Vec<Stakeholder>, i64), DbError> {
    let listed = participants::table
        .inner_join(meetings::table.on(meetings::id.eq(participants::meeting_id)))
        .filter(meetings::project_id.eq(project_id))
        .filter(participants::user_id.is_null())
        .filter(is_found(filter.search.as_ref(), |pattern| {
            let by_email = contains(participants::email.assume_not_null(), pattern);
            contains(participants::display_name, pattern).or(participants::email.is_not_null().and(by_email))
        }))
        .filter(not(exists(
            earlier
                .inner_join(of_earlier.on(of_earlier.field(meetings::id).eq(earlier.field(participants::meeting_id))))
                .filter(of_earlier.field(meetings::project_id).eq(project_id))
                .filter(earlier.field(participants::user_id).is_null())
                .filter(earlier.field(participants::email).eq(participants::email))
                .filter(earlier.field(participants::id).lt(participants::id)),
        )))
        .filter(not(exists(
            members::table
                .inner_join(users::table.on(users::id.eq(members::user_id)))
                .filter(members::project_id.eq(project_id))
                .filter(users::email.nullable().eq(participants::email)),
        )))
        .filter(not(exists(
            review_invitations::table
                .filter(review_invitations::project_id.eq(project_id))
                .filter(review_invitations::accepted_at.is_not_null())
                .filter(review_invitations::revoked_at.is_null())
                .filter(review_invitations::email.nullable().eq(participants::email)),
        )));
    let columns = (
        participants::id,
        participants::display_name,
        participants::email,
        participants::joined_at,
        participants::left_at,
    );
    let (rows, total): (Vec<GuestRow>, _) = page_of!(conn, page, listed, participants::id, columns);
    let shown: Vec<String> = rows.iter().filter_map(|(_, _, email, ..)| email.clone()).collect();
    let seen = last_seen(conn, project_id, &shown).await?;
    let stakeholder = |(id, full_name, email, joined_at, left_at): GuestRow| {
        let elsewhere = email.as_ref().and_then(|email| seen.get(email)).copied();
        let here = [joined_at, left_at].into_iter().flatten();
        Stakeholder {
            id,
            full_name,
            last_seen_at: here.chain(elsewhere).max(),
            email,
            organisation: None,
            user_id: None,
            origin: StakeholderOrigin::MeetingGuest,
        }
    };
    Ok((rows.into_iter().map(stakeholder).collect(), total))
}

/// When guests with these addresses last joined or left a meeting of the project.
async fn last_seen(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    emails: &[String],
) -> Result<HashMap<String, Time>, DbError> {
    let rows: Vec<(Option<String>, Option<Time>, Option<Time>)> = participants::table
        .inner_join(meetings::table.on(meetings::id.eq(participants::meeting_id)))
        .filter(meetings::project_id.eq(project_id))
        .filter(participants::user_id.is_null())
        .filter(participants::email.eq_any(emails))
        .group_by(participants::email)
        .select((
            participants::email,
            diesel::dsl::max(participants::joined_at),
            diesel::dsl::max(participants::left_at),
        ))
        .load(conn)
        .await?;
    let seen = rows
        .into_iter()
        .filter_map(|(email, joined_at, left_at)| Some((email?, joined_at.into_iter().chain(left_at).max()?)));
    Ok(seen.collect())
}
