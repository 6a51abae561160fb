//! What is observed of participants' connections, by sockets and by the media server, and when a meeting is told of it.
//!
//! Whoever was not connected and is now is told of at once. Everything else is held back for a while (`hold`) and told
//! only if it is still so: who connects and disconnects all the time causes at most two events within that time, the
//! first of them when they come and the other one when they have stayed away, whatever they do in between.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use actors::ids::{self, Id};
use actors::meeting::{Link, MediaSession, Meeting, Observation, Participant, Presence};
use uuid::Uuid;

/// The observations of all meetings.
#[derive(Default)]
pub struct ObservedConnections {
    /// Number of open sockets by meeting and by account or guest participant.
    listening: HashMap<Id<Meeting>, HashMap<Uuid, usize>>,
    /// The reports of the media server that meetings were not told yet.
    media: HashMap<Id<Meeting>, HashMap<Id<ids::Participant>, MediaSession>>,
    /// The participants who are recorded otherwise than they are observed.
    differing: HashMap<Id<Meeting>, HashMap<Id<ids::Participant>, HeldObservation>>,
}

/// Since when a participant has been connected otherwise than is recorded.
#[derive(Debug, Clone, Copy)]
struct HeldObservation {
    since: Instant,
    is_connected: bool,
}

/// What a meeting is to be told.
#[derive(Debug, Default)]
pub struct DueObservations {
    pub seen: Vec<Observation>,
    /// When what is held back is due.
    pub next: Option<Instant>,
}

impl ObservedConnections {
    /// Counts one more socket.
    pub fn enter(&mut self, meeting: Id<Meeting>, who: Uuid) {
        *self.listening.entry(meeting).or_default().entry(who).or_default() += 1;
    }

    /// Counts one socket less.
    pub fn leave(&mut self, meeting: Id<Meeting>, who: Uuid) {
        let Some(here) = self.listening.get_mut(&meeting) else { return };
        if let Some(count) = here.get_mut(&who) {
            *count -= 1;
            if *count == 0 {
                here.remove(&who);
            }
        }
        if here.is_empty() {
            self.listening.remove(&meeting);
        }
    }

    /// Notes what the media server reports.
    pub fn note_media(&mut self, meeting: Id<Meeting>, participant: Id<ids::Participant>, report: &MediaSession) {
        let reports = self.media.entry(meeting).or_default();
        if let Some(after) = MediaSession::after_report(reports.get(&participant), report) {
            reports.insert(participant, after);
        }
    }

    /// Returns the report of the media server that the meeting was not told yet.
    pub fn media_of(&self, meeting: Id<Meeting>, participant: Id<ids::Participant>) -> Option<&MediaSession> {
        self.media.get(&meeting)?.get(&participant)
    }

    /// Forgets what a meeting that does not exist was to be told.
    pub fn forget(&mut self, meeting: Id<Meeting>) {
        self.media.remove(&meeting);
        self.differing.remove(&meeting);
    }

    /// Notes that the meeting was told of these participants: what differs from now on is held back anew.
    pub fn told(&mut self, meeting: Id<Meeting>, participants: impl Iterator<Item = Id<ids::Participant>>) {
        let Some(differing) = self.differing.get_mut(&meeting) else { return };
        for participant in participants {
            differing.remove(&participant);
        }
    }

    /// Returns the observations by which the recorded state of the meeting differs from what is so, as far as they are
    /// due. Forgets those that change nothing any more.
    pub fn due(&mut self, meeting: &Meeting, hold: Duration, now: Instant) -> DueObservations {
        let mut due = DueObservations::default();
        let mut former = self.media.remove(&meeting.id).unwrap_or_default();
        let held = self.differing.remove(&meeting.id).unwrap_or_default();
        let (mut media, mut differing) = (HashMap::new(), HashMap::new());
        for participant in meeting.participants.joined() {
            let Presence::Joined { link, .. } = participant.presence else { continue };
            let is_open = self.listens(meeting.id, participant);
            let socket = (is_open != link.has_socket()).then_some(is_open);
            let known = participant.media.as_ref();
            let session = former.remove(&participant.id);
            let session = session.filter(|session| MediaSession::after_report(known, session).is_some());
            if socket.is_none() && session.is_none() {
                continue;
            }
            let is_connected = is_open || session.as_ref().or(known).is_some_and(|session| session.is_open);
            // Who comes back by another connection was not away for all of the time.
            let so_far = held.get(&participant.id).filter(|held| held.is_connected == is_connected);
            let since = so_far.map_or(now, |held| held.since);
            differing.insert(participant.id, HeldObservation { since, is_connected });
            let is_back = is_connected && !matches!(link, Link::Up { .. });
            if is_back || since + hold <= now {
                let (participant, ago) = (participant.id, now.saturating_duration_since(since));
                due.seen.extend(socket.map(|is_open| Observation::Socket { participant, is_open, ago }));
                due.seen.extend(session.clone().map(|session| Observation::Media { participant, session, ago }));
            } else {
                due.next = Some(due.next.map_or(since + hold, |next| next.min(since + hold)));
            }
            // Kept until the meeting has taken it.
            media.extend(session.map(|session| (participant.id, session)));
        }
        if !media.is_empty() {
            self.media.insert(meeting.id, media);
        }
        if !differing.is_empty() {
            self.differing.insert(meeting.id, differing);
        }
        due
    }

    fn listens(&self, meeting: Id<Meeting>, participant: &Participant) -> bool {
        let here = self.listening.get(&meeting);
        // Accounts are counted by user id, guests by participant id.
        let who = participant.user_id.map_or_else(|| participant.id.uuid(), Id::uuid);
        here.is_some_and(|here| here.contains_key(&who))
    }
}

#[cfg(test)]
mod tests {
    use actors::live::Live;
    use actors::meeting::{Command, ConsentPolicy, EndReason, MeetingDraft, Newcomer};
    use actors::time::Time;

    use super::*;

    const HOLD: Duration = Duration::from_secs(5);

    /// A live meeting with one participant, and what is observed of them.
    struct Stage {
        observed: ObservedConnections,
        meeting: Meeting,
        user: Uuid,
        id: Id<ids::Participant>,
        began: Instant,
        /// The time since then.
        millis: u64,
        /// What was stored: whether they were connected after each event.
        events: Vec<bool>,
    }

    fn noon() -> Time {
        Time::from_millis(1_764_000_000_000).unwrap()
    }

    impl Stage {
        fn open() -> Self {
            let (user, id) = (Id::generate(), Id::generate());
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
            let newcomer = Newcomer { id, user_id: Some(user), display_name: "Eve".to_owned(), email: None };
            let mut meeting = Meeting::schedule(draft, noon());
            for command in
                [Command::Start { by: Id::generate() }, Command::Join { newcomer, display_name: None, most: 10 }]
            {
                meeting = meeting.decide(command, noon()).unwrap().next;
            }
            let (observed, events) = (ObservedConnections::default(), Vec::new());
            Self { observed, meeting, user: user.uuid(), id, began: Instant::now(), millis: 0, events }
        }

        fn is_connected(&self) -> bool {
            self.meeting.participants.get(&self.id).unwrap().is_connected()
        }

        fn socket(&mut self, opens: bool) {
            let meeting = self.meeting.id;
            if opens { self.observed.enter(meeting, self.user) } else { self.observed.leave(meeting, self.user) }
        }

        fn media(&mut self, name: u64, is_open: bool) {
            let session = MediaSession { began_at: noon() + Duration::from_secs(name), name: "PA".to_owned(), is_open };
            self.observed.note_media(self.meeting.id, self.id, &session);
        }

        /// Tells the meeting what is due after so long, as the task of the meeting does, and returns when to look again.
        fn after(&mut self, millis: u64) -> Option<u64> {
            self.millis += millis;
            let now = self.began + Duration::from_millis(self.millis);
            let DueObservations { seen, next } = self.observed.due(&self.meeting, HOLD, now);
            if seen.is_empty() {
                return next.map(|next| u64::try_from((next - now).as_millis()).unwrap());
            }
            let told: Vec<_> = seen.iter().map(Observation::participant).collect();
            let time = noon() + Duration::from_millis(self.millis);
            let change = self.meeting.decide(Command::See { seen }, time).unwrap();
            self.events
                .extend(change.events.iter().map(|_| change.next.participants.get(&self.id).unwrap().is_connected()));
            self.meeting = change.next;
            self.observed.told(self.meeting.id, told.into_iter());
            self.after(0)
        }
    }

    #[test]
    fn who_connects_is_told_of_at_once_and_who_disconnects_once_it_has_lasted() {
        let mut stage = Stage::open();
        stage.socket(true);
        assert_eq!((stage.after(0), stage.is_connected()), (None, true));
        stage.socket(false);
        assert_eq!((stage.after(1_000), stage.is_connected()), (Some(5_000), true));
        assert_eq!((stage.after(4_999), stage.is_connected()), (Some(1), true));
        assert_eq!((stage.after(1), stage.is_connected()), (None, false));
        // The grace counts from when the socket was closed, not from when that was told.
        let Presence::Joined { link, .. } = stage.meeting.participants.get(&stage.id).unwrap().presence else {
            panic!("not joined")
        };
        assert_eq!(link, Link::Lost { since: noon() + Duration::from_secs(1) });
        stage.socket(true);
        assert_eq!((stage.after(0), stage.is_connected()), (None, true));
        assert_eq!(stage.events, [true, false, true]);
    }

    #[test]
    fn a_guest_who_subscribes_and_unsubscribes_causes_at_most_two_events_in_five_seconds() {
        // However fast: a minute of it, so long subscribed and so long not.
        let pauses =
            [(1, 1), (7, 7), (70, 70), (700, 7), (2_400, 2_400), (4_999, 4_999), (5_000, 5_000), (5_001, 5_001)];
        for (open, closed) in pauses.into_iter().chain([(1, 5_001), (5_001, 1), (1, 4_999), (20_000, 7_000)]) {
            let mut stage = Stage::open();
            let mut is_open = false;
            while stage.millis < 60_000 {
                is_open = !is_open;
                stage.socket(is_open);
                let mut left = if is_open { open } else { closed };
                while let Some(next) = stage.after(0).filter(|next| *next < left) {
                    stage.after(next);
                    left -= next;
                }
                stage.millis += left;
            }
            assert!(stage.events.len() <= 24, "{open} and {closed} ms: {} events", stage.events.len());
            while let Some(next) = stage.after(0) {
                stage.after(next);
            }
            assert_eq!(stage.is_connected(), is_open, "{open} and {closed} ms: the final state is right");
        }
    }

    #[test]
    fn connections_to_the_media_server_that_come_and_go_are_held_back_alike() {
        let mut stage = Stage::open();
        stage.media(0, true);
        stage.after(0);
        for name in 1..600 {
            stage.media(name - 1, false);
            stage.after(50);
            stage.media(name, true);
            stage.after(50);
        }
        assert_eq!(stage.events, [true], "they were never away for long");
        stage.media(599, false);
        while let Some(next) = stage.after(0) {
            stage.after(next);
        }
        assert!(!stage.is_connected());
    }

    #[test]
    fn nothing_is_kept_of_who_is_not_in_the_meeting_any_more() {
        let mut stage = Stage::open();
        stage.socket(true);
        stage.after(0);
        stage.media(1, true);
        stage.media(1, true);
        stage.observed.note_media(
            stage.meeting.id,
            Id::generate(),
            &MediaSession { began_at: noon(), name: "PA".to_owned(), is_open: true },
        );
        stage.socket(false);
        assert!(stage.after(0).is_some());
        let end = Command::End { by: None, reason: EndReason::System, note: None };
        stage.meeting = stage.meeting.decide(end, noon()).unwrap().next;
        assert_eq!(stage.after(0), None);
        assert!(stage.observed.media.is_empty() && stage.observed.differing.is_empty());
        assert!(stage.observed.listening.is_empty());
    }
}
