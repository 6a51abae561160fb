//! What the media server tells. Signed, or it is nobody's word; and a hint even then: it may be late, told twice or in another
//! order, or be about a room that isn't ours.

use actix_web::HttpRequest;
use actix_web::http::header::AUTHORIZATION;
use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{Command, MediaSession, Meeting, Seen};

use super::errands::{self, Errand};
use super::model::{is_last_room, is_over, may_publish};
use crate::access::admission::CountedFor;
use crate::access::guard::{Rule, Who};
use crate::access::state::Gate;
use crate::db::Failed;
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::http::mounted::{Mounted, Need};
use crate::meetings::operations::ask;
use crate::meetings::state::Meetings;
use crate::outside::livekit::{Connection, Heard, Seal, Unheard, What};

/// Why a room is finished although people are to come back to it: another one replaced it, it was never open, or the media
/// server itself is stopping.
const COMES_BACK: [&str; 3] = ["ROOM_END_SUPERSEDED", "ROOM_END_OPEN_FAILED", "ROOM_END_SERVER_SHUTDOWN"];

/// The media server, by a signature that is its own. What it signed is compared with the body once that is there.
#[derive(Debug)]
pub struct Signed(Seal);

impl Rule for Signed {
    const WHO: Who = Who::Signed;
    type Claim = Seal;
    fn claim(request: &HttpRequest, _: &Gate) -> Result<Seal, Failure> {
        let rooms = &Meetings::of(request)?.rooms;
        let mut headers = request.headers().get_all(AUTHORIZATION);
        let header = headers.next().filter(|_| headers.next().is_none()).and_then(|value| value.to_str().ok());
        let seal = header.zip(rooms.server()).and_then(|(header, server)| server.seal(header));
        seal.ok_or_else(unsigned)
    }
    fn counted_for(_: &Seal) -> CountedFor {
        CountedFor::Nobody
    }
    async fn check(seal: Seal, _: &HttpRequest, _: &Gate) -> Result<Self, Failure> {
        Ok(Self(seal))
    }
    fn needs() -> Vec<Need> {
        vec![Need::of::<Meetings>()]
    }
}

fn unsigned() -> Failure {
    Failure::saying(Code::UNAUTHORIZED, "This is not signed by the media server.")
}

/// Takes a webhook. Again, or too late, it changes nothing.
///
/// # Errors
/// 401: another body was signed. 400: it is no event. 503: it may be told again.
pub async fn receive(state: &Meetings, signed: &Signed, body: &[u8], request: RequestId) -> Result<(), Failure> {
    let heard = signed.0.open(body).map_err(|unheard| match unheard {
        Unheard::NotSigned => unsigned(),
        Unheard::Unreadable(why) => {
            Failure { cause: Some(why.into()), ..Failure::saying(Code::BAD_REQUEST, "This is no event.") }
        }
    })?;
    if state.rooms.taken.get(&heard.id).is_some() {
        return Ok(());
    }
    take(state, &heard, request).await?;
    if !heard.id.is_empty() {
        state.rooms.taken.insert(heard.id, ());
    }
    Ok(())
}

async fn take(state: &Meetings, heard: &Heard, request: RequestId) -> Result<(), Failure> {
    let Ok(id) = heard.room.parse::<Id<Meeting>>() else { return Ok(()) };
    let found = state.registry.snapshot(id).await.map_err(|away| Failure::unavailable(away.0))?;
    let Some(found) = found else { return Ok(()) };
    let meeting = &found.state;
    match &heard.what {
        What::RoomStarted | What::Connected(_) if is_over(meeting) => send(state, id, Errand::Close, request).await,
        What::Connected(connection) => match connection.identity.parse() {
            Ok(who) => match meeting.participants.get(&who).filter(|own| own.is_joined()) {
                Some(own) => {
                    // They came in by a token from before they had this role.
                    if connection.may_publish.is_some_and(|may| may != may_publish(own.role)) {
                        send(state, id, Errand::Permit { participant: who }, request.clone()).await?;
                    }
                    see(state, id, who, connection, true, request).await
                }
                None => send(state, id, Errand::Remove { participant: who }, request).await,
            },
            // None of ours, such as a recorder that was sent by the media server's own people.
            Err(_) => Ok(()),
        },
        What::Disconnected(connection) => match connection.identity.parse() {
            Ok(who) => see(state, id, who, connection, false, request).await,
            Err(_) => Ok(()),
        },
        // It never was a connection, unless somebody said so.
        What::Aborted(connection) => match connection.identity.parse() {
            Ok(who) if knows(meeting, who, connection) => see(state, id, who, connection, false, request).await,
            _ => Ok(()),
        },
        What::RoomFinished { instance, reason } => {
            if COMES_BACK.contains(&reason.as_str()) || !is_last_room(meeting, heard.at) {
                return Ok(());
            }
            // Whether another one took its place is asked there, and again if need be.
            send(state, id, Errand::Finish { instance: instance.clone(), at: heard.at }, request).await
        }
        What::RoomStarted | What::Other => Ok(()),
    }
}

fn knows(meeting: &Meeting, who: Id<ids::Participant>, connection: &Connection) -> bool {
    let known = meeting.participants.get(&who).and_then(|one| one.media.as_ref());
    known.is_some_and(|known| known.name == connection.name)
}

async fn see(
    state: &Meetings,
    meeting: Id<Meeting>,
    participant: Id<ids::Participant>,
    connection: &Connection,
    is_open: bool,
    request: RequestId,
) -> Result<(), Failure> {
    let session = MediaSession { began_at: connection.began_at, name: connection.name.clone(), is_open };
    let command = Command::See { seen: vec![Seen::Media { participant, session }] };
    match ask(state, meeting, command, request).await {
        Err(failure) if failure.code == Code::MEETING_NOT_FOUND => Ok(()),
        seen => seen.map(drop),
    }
}

async fn send(state: &Meetings, meeting: Id<Meeting>, errand: Errand, request: RequestId) -> Result<(), Failure> {
    let now = state.now();
    let sent =
        state.db.write(move |conn| Box::pin(async move { errands::send(conn, meeting, errand, now, &request).await }));
    sent.await.map_err(|failed: Failed| Failure::from(failed))?;
    state.jobs.wake();
    Ok(())
}
