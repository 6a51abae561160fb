//! The update of a meeting's row.

use actors::ids::{Id, Invitation};
use actors::meeting::Meeting;
use diesel::{ExpressionMethods, QueryDsl};

use crate::db::schema::meetings;
use crate::db::{AtOnce, DbError, at_once, kept, number};
use crate::meetings::invitations::projection::HasInvitations;
use crate::meetings::invitations::store::outdated;
use crate::meetings::store::Row;

/// Updates the row of a meeting, if it still has the revision `before`; otherwise returns `None`. `asks`: whether the changes are
/// shown in invitations, so that it has to be known if there are any.
pub async fn update(
    conn: AtOnce<'_>,
    meeting: &Meeting,
    before: u64,
    asks: bool,
) -> Result<Option<HasInvitations>, DbError> {
    let row = Row::from(meeting);
    let stored = diesel::update(meetings::table.find(row.id));
    let update = kept(stored.filter(meetings::revision.eq(number(before))).set(&row));
    let (updated, invited) = if asks {
        // Not by RETURNING: whoever invites locks the row, and an update that waited for it would not see the invitation.
        at_once!(conn, execute(update), load(outdated::any(row.id)))
    } else {
        let (updated,) = at_once!(conn, execute(update));
        (updated, Ok(Vec::<Id<Invitation>>::new()))
    };
    if updated? == 0 {
        return Ok(None);
    }
    Ok(Some(HasInvitations(!invited?.is_empty())))
}
