//! Who may enter a meeting's media room, and with which permissions.

use actors::ids::{self, Id};
use actors::meeting::{self, Meeting, MeetingRole, MeetingStatus, Participant, ParticipantStatus};
use actors::time::Time;
use serde::Serialize;
use utoipa::ToSchema;

/// The credentials with which the caller, and nobody else, enters the media room of a meeting.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoomCredentials {
    /// The URL of the media server, for LiveKit's client.
    pub server_url: String,
    /// The room at the media server. It is the id of the meeting.
    pub room_name: String,
    /// The id of the participant.
    pub identity: String,
    /// Valid for entering the room until `expiresAt`; a connection that exists by then stays open.
    pub token: String,
    pub role: MeetingRole,
    pub grants: RoomGrants,
    /// After this time the token opens no new connection. Ask for new credentials then.
    pub expires_at: Time,
}

/// The permissions that the token grants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoomGrants {
    /// To send audio, video and screen shares.
    pub can_publish: bool,
    /// Whether the participant may receive what others send.
    pub can_subscribe: bool,
    /// To send data messages.
    pub can_publish_data: bool,
    /// What the participant may send: microphone, camera, screen_share, screen_share_audio.
    pub can_publish_sources: Vec<&'static str>,
}

/// Why a participant may not enter the room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barred {
    /// The meeting has not started, has ended or was cancelled.
    Meeting(MeetingStatus),
    /// The participant was removed.
    Removed,
    /// The participant has not joined, or has left.
    NotJoined,
}

/// Checks whether a participant may enter the meeting's room: everyone who has joined once the meeting is live, and
/// before that those who have joined as host or co-host.
///
/// # Errors
/// The reason why not.
pub fn may_enter(meeting: &Meeting, own: &Participant) -> Result<(), Barred> {
    let status = meeting.status();
    match (status, own.status()) {
        (_, ParticipantStatus::Removed) => Err(Barred::Removed),
        (MeetingStatus::Ended | MeetingStatus::Cancelled, _) => Err(Barred::Meeting(status)),
        (MeetingStatus::Live, ParticipantStatus::Joined) => Ok(()),
        (MeetingStatus::Scheduled, ParticipantStatus::Joined) if own.role.leads() => Ok(()),
        (MeetingStatus::Scheduled, ParticipantStatus::Joined) => Err(Barred::Meeting(status)),
        (MeetingStatus::Live | MeetingStatus::Scheduled, ParticipantStatus::Invited | ParticipantStatus::Left) => {
            Err(Barred::NotJoined)
        }
    }
}

/// Whether the role may publish audio and video. No role may record: only the server decides that.
#[must_use]
pub const fn may_publish(role: MeetingRole) -> bool {
    match role {
        MeetingRole::Host | MeetingRole::CoHost | MeetingRole::Participant => true,
        MeetingRole::Observer => false,
    }
}

/// Whether a participant who is joined in both states may publish in one of them and not in the other.
#[must_use]
pub fn may_otherwise(before: &Meeting, now: &Meeting, who: Id<ids::Participant>) -> bool {
    let was = before.participants.get(&who).filter(|own| own.is_joined());
    let is = now.participants.get(&who).filter(|own| own.is_joined());
    was.zip(is).is_some_and(|(was, is)| may_publish(was.role) != may_publish(is.role))
}

/// Whether the participant is in the meeting, as far as the meeting knows.
#[must_use]
pub fn is_joined(meeting: &Meeting, who: Id<ids::Participant>) -> bool {
    meeting.participants.get(&who).is_some_and(Participant::is_joined)
}

#[must_use]
pub const fn is_over(meeting: &Meeting) -> bool {
    matches!(meeting.status(), MeetingStatus::Ended | MeetingStatus::Cancelled)
}

/// Whether a room that was finished at that time, given in whole seconds, can have been the last one of this meeting:
/// the meeting did not start, and no participant joined, after it.
#[must_use]
pub fn is_last_room(meeting: &Meeting, finished_at: Time) -> bool {
    let meeting::State::Live { started_at, .. } = meeting.state else { return false };
    let until = finished_at + std::time::Duration::from_millis(999);
    let mut came = meeting.participants.values().filter_map(|one| one.presence.joined_at());
    started_at <= until && came.all(|came| came <= until)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use actors::ids::Id;
    use actors::meeting::{ConsentPolicy, EndReason, Link, MeetingDraft, People, Presence, State};

    use super::*;

    fn noon() -> Time {
        Time::from_millis(1_764_000_000_000).unwrap()
    }

    fn meeting(state: State) -> Meeting {
        let draft = MeetingDraft {
            id: Id::generate(),
            project_id: Id::generate(),
            title: "Discovery".to_owned(),
            description: String::new(),
            scheduled_at: noon().into(),
            consent_policy: ConsentPolicy::All,
            created_by: Id::generate(),
            host: Id::generate(),
            host_name: "Ada".to_owned(),
            host_email: None,
        };
        Meeting { state, ..Meeting::schedule(draft, noon()) }
    }

    #[test]
    fn who_may_come_into_the_room_in_which_state_of_the_meeting_and_of_themselves() {
        let live = State::Live { started_at: noon(), empty_since: None };
        let ended = State::Ended { started_at: noon(), ended_at: noon(), reason: EndReason::HostEnded, note: None };
        let cancelled = State::Cancelled { cancelled_at: noon(), by: Id::generate(), reason: None };
        let joined = Presence::Joined { joined_at: noon(), link: Link::Awaited };
        let left = Presence::Left { joined_at: noon(), left_at: noon() };
        let removed = Presence::Removed { joined_at: None, left_at: None, by: None };
        let states = [State::Scheduled, live, ended, cancelled];
        for state in states {
            let meeting = meeting(state);
            for role in [MeetingRole::Host, MeetingRole::CoHost, MeetingRole::Participant, MeetingRole::Observer] {
                for presence in [Presence::Invited, joined, left, removed] {
                    let own = Participant {
                        presence,
                        ..Participant::invited(Id::generate(), None, "Eve".into(), None, role)
                    };
                    let status = meeting.status();
                    let expected = match (status, presence) {
                        (_, Presence::Removed { .. }) => Err(Barred::Removed),
                        (MeetingStatus::Ended | MeetingStatus::Cancelled, _) => Err(Barred::Meeting(status)),
                        (MeetingStatus::Live, Presence::Joined { .. }) => Ok(()),
                        (MeetingStatus::Scheduled, Presence::Joined { .. })
                            if role == MeetingRole::Host || role == MeetingRole::CoHost =>
                        {
                            Ok(())
                        }
                        (MeetingStatus::Scheduled, Presence::Joined { .. }) => Err(Barred::Meeting(status)),
                        _ => Err(Barred::NotJoined),
                    };
                    assert_eq!(may_enter(&meeting, &own), expected, "{status:?} {role:?} {presence:?}");
                }
            }
        }
    }

    #[test]
    fn who_gets_another_role_while_there_may_do_otherwise_and_who_is_not_there_may_not() {
        let id = Id::generate();
        let with = |role, presence| {
            let one = Participant { presence, ..Participant::invited(id, None, "Eve".into(), None, role) };
            let live = meeting(State::Live { started_at: noon(), empty_since: None });
            Meeting { participants: People::from_iter([one]), ..live }
        };
        let joined = Presence::Joined { joined_at: noon(), link: Link::Awaited };
        let speaks = with(MeetingRole::Participant, joined);
        assert!(may_otherwise(&speaks, &with(MeetingRole::Observer, joined), id));
        assert!(may_otherwise(&with(MeetingRole::Observer, joined), &speaks, id));
        assert!(!may_otherwise(&speaks, &with(MeetingRole::CoHost, joined), id));
        assert!(!may_otherwise(&speaks, &with(MeetingRole::Observer, Presence::Invited), id));
        assert!(!may_otherwise(&speaks, &with(MeetingRole::Observer, joined), Id::generate()));
    }

    #[test]
    fn a_room_that_was_finished_before_the_meeting_began_or_somebody_came_was_not_its_last() {
        let second = Duration::from_secs(1);
        let late = noon() + second * 10;
        let live = meeting(State::Live { started_at: late, empty_since: None });
        assert!(!is_last_room(&live, noon()));
        assert!(is_last_room(&live, late));
        // The media server reports whole seconds.
        let mut fine = live.clone();
        fine.state = State::Live { started_at: late + Duration::from_millis(700), empty_since: None };
        assert!(is_last_room(&fine, late));
        let own = Participant::invited(Id::generate(), None, "Eve".into(), None, MeetingRole::Participant);
        let presence = Presence::Joined { joined_at: late + second * 5, link: Link::Awaited };
        let joined = Meeting { participants: People::from_iter([Participant { presence, ..own }]), ..live };
        assert!(!is_last_room(&joined, late + second * 4));
        assert!(is_last_room(&joined, late + second * 5));
        assert!(!is_last_room(&meeting(State::Scheduled), late));
    }
}
