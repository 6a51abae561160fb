//! Permission as argument types: no `Host<Meeting>`, no meeting.
//!
//! A feature says what a caller is to its things (`Guarded`); the rules here say who may, in the contract's order: token 401, id
//! syntax 400, parent 404, permission 403, child 404. The call is counted before anything is loaded, see `admission`.

use actix_web::HttpRequest;
use actors::ids::Id;

use super::admission::CountedFor;
use super::caller::{Caller, Guest, Visitor};
use super::credentials::{bearer, bearer_if_any, ticket_or_bearer};
use super::role::{ProjectRole, Standing};
use super::state::Gate;
use crate::http::code::Code;
use crate::http::failure::{Failure, Fault};
use crate::http::mounted::{Mounted, Need};

/// Who may call an operation, as the contract's table says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Public,
    User,
    UserOrGuest,
    Member,
    Analyst,
    Manager,
    Owner,
    Host,
    Attendee,
    Participant,
    Ticket,
    /// By the media server.
    Signed,
    Internal,
}

/// A thing that permissions are about.
pub trait Guarded: Sized + 'static {
    /// What loads it.
    type State: Mounted;

    /// The names of the ids in the path, outermost first.
    type Ids;

    /// # Errors
    /// 400: an id is no UUID.
    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, Failure>;

    /// Loads the thing, and what the caller is to it.
    ///
    /// # Errors
    /// 404 where the parent is missing.
    fn find(state: &Self::State, ids: Self::Ids, caller: Caller) -> impl Future<Output = Result<Found<Self>, Failure>>;

    /// The same for a guest, who is a stranger to all but their own meeting.
    ///
    /// # Errors
    /// 404 where the parent is missing, 401 where the guest's time is over.
    fn find_for_guest(
        state: &Self::State,
        ids: Self::Ids,
        guest: Guest,
    ) -> impl Future<Output = Result<Found<Self>, Failure>> {
        Self::find(state, ids, guest.as_stranger())
    }
}

/// A thing that was looked for, and what the caller is to it.
pub struct Found<T> {
    pub standing: Standing,
    /// The child's 404 is told only to those who may know.
    pub thing: Result<T, Failure>,
}

/// The ids in a request's path.
pub struct PathIds<'a>(&'a HttpRequest);

impl PathIds<'_> {
    /// # Errors
    /// 400: it is no UUID.
    pub fn id<T>(&self, name: &'static str) -> Result<Id<T>, Failure> {
        let text = self.0.match_info().get(name).unwrap_or_default();
        text.parse().map_err(|_| Failure {
            faults: vec![Fault::of(Code::BAD_REQUEST, Some(name.to_owned()), "This must be a UUID.")],
            ..Failure::saying(Code::BAD_REQUEST, format!("The {name} in the path is no UUID."))
        })
    }
}

/// A rule that a request has to pass. Its parts are called in the order of `admission`.
pub trait Rule: Sized + 'static {
    const WHO: Who;

    /// Who calls, as far as the request itself says it.
    type Claim;

    /// Reads it. Nothing is loaded for that.
    ///
    /// # Errors
    /// 401.
    fn claim(request: &HttpRequest, gate: &Gate) -> Result<Self::Claim, Failure>;

    fn counted_for(claim: &Self::Claim) -> CountedFor;

    /// # Errors
    /// 400: an id in the path is none.
    fn syntax(_: &HttpRequest) -> Result<(), Failure> {
        Ok(())
    }

    /// # Errors
    /// Why they may not, in the contract's order.
    fn check(claim: Self::Claim, request: &HttpRequest, gate: &Gate) -> impl Future<Output = Result<Self, Failure>>;

    /// What it loads things with, beside the gate.
    #[must_use]
    fn needs() -> Vec<Need> {
        Vec::new()
    }

    /// Whose idempotency keys these are; nobody's where nobody proved themself.
    fn visitor(&self) -> Option<Visitor> {
        None
    }
}

/// Anyone; counted by address.
#[derive(Debug)]
pub struct Public {
    /// The client's address, as far as trusted proxies tell it.
    pub client: String,
    pub device: String,
}

impl Rule for Public {
    const WHO: Who = Who::Public;
    type Claim = ();
    fn claim(_: &HttpRequest, _: &Gate) -> Result<(), Failure> {
        Ok(())
    }
    fn counted_for((): &()) -> CountedFor {
        CountedFor::Client
    }
    async fn check((): (), request: &HttpRequest, gate: &Gate) -> Result<Self, Failure> {
        let agent = request.headers().get(actix_web::http::header::USER_AGENT);
        let device = agent.and_then(|value| value.to_str().ok()).unwrap_or("").chars().take(200).collect();
        Ok(Self { client: gate.config.http.client_address(request), device })
    }
}

/// Anyone, who may be signed in; counted by address. The token of a guest counts as none: a link tells more than it does.
#[derive(Debug)]
pub struct Anyone {
    pub caller: Option<Caller>,
}

impl Rule for Anyone {
    const WHO: Who = Who::Public;
    type Claim = Option<Visitor>;
    fn claim(request: &HttpRequest, gate: &Gate) -> Result<Option<Visitor>, Failure> {
        bearer_if_any(request, gate)
    }
    fn counted_for(_: &Option<Visitor>) -> CountedFor {
        CountedFor::Client
    }
    async fn check(visitor: Option<Visitor>, _: &HttpRequest, _: &Gate) -> Result<Self, Failure> {
        Ok(Self { caller: visitor.and_then(|visitor| visitor.account().ok()) })
    }
}

/// Whoever holds the internal address; nothing of it is on the public port.
#[derive(Debug)]
pub struct Internal;

impl Rule for Internal {
    const WHO: Who = Who::Internal;
    type Claim = ();
    fn claim(_: &HttpRequest, _: &Gate) -> Result<(), Failure> {
        Ok(())
    }
    fn counted_for((): &()) -> CountedFor {
        CountedFor::Nobody
    }
    async fn check((): (), _: &HttpRequest, _: &Gate) -> Result<Self, Failure> {
        Ok(Self)
    }
}

/// Any signed-in account.
#[derive(Debug)]
pub struct SignedIn {
    pub caller: Caller,
}

impl Rule for SignedIn {
    const WHO: Who = Who::User;
    type Claim = Visitor;
    fn claim(request: &HttpRequest, gate: &Gate) -> Result<Visitor, Failure> {
        bearer(request, gate)
    }
    fn counted_for(visitor: &Visitor) -> CountedFor {
        CountedFor::Visitor(visitor.uuid())
    }
    async fn check(visitor: Visitor, _: &HttpRequest, _: &Gate) -> Result<Self, Failure> {
        Ok(Self { caller: visitor.account()? })
    }
    fn visitor(&self) -> Option<Visitor> {
        Some(self.caller.into())
    }
}

/// Any signed-in account, or a guest of a meeting.
#[derive(Debug)]
pub struct SignedInOrGuest {
    pub caller: Visitor,
}

impl Rule for SignedInOrGuest {
    const WHO: Who = Who::UserOrGuest;
    type Claim = Visitor;
    fn claim(request: &HttpRequest, gate: &Gate) -> Result<Visitor, Failure> {
        bearer(request, gate)
    }
    fn counted_for(visitor: &Visitor) -> CountedFor {
        CountedFor::Visitor(visitor.uuid())
    }
    async fn check(caller: Visitor, _: &HttpRequest, _: &Gate) -> Result<Self, Failure> {
        Ok(Self { caller })
    }
    fn visitor(&self) -> Option<Visitor> {
        Some(self.caller)
    }
}

/// The bearer of a one-time ticket, or of an access token where a client can send headers; from a web page only of an
/// origin that may.
#[derive(Debug)]
pub struct Ticket {
    pub caller: Visitor,
}

impl Rule for Ticket {
    const WHO: Who = Who::Ticket;
    type Claim = Visitor;
    fn claim(request: &HttpRequest, gate: &Gate) -> Result<Visitor, Failure> {
        ticket_or_bearer(request, gate)
    }
    fn counted_for(visitor: &Visitor) -> CountedFor {
        CountedFor::Visitor(visitor.uuid())
    }
    async fn check(caller: Visitor, request: &HttpRequest, gate: &Gate) -> Result<Self, Failure> {
        if !gate.config.http.allows_origin(request, &gate.url) {
            return Err(Failure::saying(Code::FORBIDDEN, "Pages of this origin may not open sockets here."));
        }
        Ok(Self { caller })
    }
}

/// Whom a rule lets through: accounts alone, or guests too.
trait By: Copy {
    fn of(visitor: Visitor) -> Option<Self>;
}

impl By for Caller {
    fn of(visitor: Visitor) -> Option<Self> {
        visitor.account().ok()
    }
}

impl By for Visitor {
    fn of(visitor: Visitor) -> Option<Self> {
        Some(visitor)
    }
}

macro_rules! rules {
    ($($(#[$meta:meta])* $name:ident, $who:ident, $by:ty, $read:path, |$standing:ident| $may:expr;)*) => {$(
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $name<T> {
            pub caller: $by,
            pub standing: Standing,
            pub thing: T,
        }

        impl<T: Guarded> Rule for $name<T> {
            const WHO: Who = Who::$who;
            type Claim = Visitor;
            fn claim(request: &HttpRequest, gate: &Gate) -> Result<Visitor, Failure> {
                $read(request, gate)
            }
            fn counted_for(visitor: &Visitor) -> CountedFor {
                CountedFor::Visitor(visitor.uuid())
            }
            fn syntax(request: &HttpRequest) -> Result<(), Failure> {
                T::ids(&PathIds(request)).map(drop)
            }
            async fn check(visitor: Visitor, request: &HttpRequest, _: &Gate) -> Result<Self, Failure> {
                let may = |$standing: Standing| $may;
                let (caller, standing, thing) = pass(visitor, request, Self::WHO, may).await?;
                Ok(Self { caller, standing, thing })
            }
            fn visitor(&self) -> Option<Visitor> {
                Some(self.caller.into())
            }
            fn needs() -> Vec<Need> {
                vec![Need::of::<T::State>()]
            }
        }
    )*};
}

rules! {
    /// Whose the thing is, and nobody else.
    Own, User, Caller, bearer, |standing| standing.own;
    /// Any signed-in account, whatever it is to the thing.
    AnyUser, User, Caller, bearer, |_standing| true;
    /// A member of the thing's project, whatever the role.
    Member, Member, Caller, bearer, |standing| standing.role.is_some();
    /// As [`Member`], for streams: a ticket will do, since a browser's EventSource sends no headers.
    Listener, Member, Caller, ticket_or_bearer, |standing| standing.role.is_some();
    /// ANALYST, MANAGER or OWNER.
    Analyst, Analyst, Caller, bearer, |standing| standing.is(ProjectRole::Analyst);
    /// MANAGER or OWNER.
    Manager, Manager, Caller, bearer, |standing| standing.is(ProjectRole::Manager);
    /// As [`Manager`], or whoever the thing is about: anybody may leave.
    ManagerOrSelf, Manager, Caller, bearer, |standing| standing.own || standing.is(ProjectRole::Manager);
    /// OWNER.
    Owner, Owner, Caller, bearer, |standing| standing.is(ProjectRole::Owner);
    /// The meeting's host or co-host, or a manager of its project.
    Host, Host, Caller, bearer, |standing| standing.may_host();
    /// A member of the meeting's project, or whoever accepted an invitation to it.
    Attendee, Attendee, Visitor, bearer, |standing| standing.may_attend();
    /// Whoever is or was in the meeting, and may still attend it.
    Present, Participant, Visitor, bearer, |standing| standing.took_part && standing.may_attend();
    /// Whoever is or was in the meeting.
    Participant, Participant, Visitor, bearer, |standing| standing.took_part;
}

async fn pass<T: Guarded, B: By>(
    visitor: Visitor,
    request: &HttpRequest,
    who: Who,
    may: impl Fn(Standing) -> bool,
) -> Result<(B, Standing, T), Failure> {
    let ids = T::ids(&PathIds(request))?;
    let state = &T::State::of(request)?;
    if who == Who::User {
        // Whatever the thing is, a guest is nobody to it.
        visitor.account()?;
    }
    let found = match visitor {
        Visitor::Account(caller) => T::find(state, ids, caller).await?,
        Visitor::Guest(guest) => T::find_for_guest(state, ids, guest).await?,
    };
    let by = B::of(visitor).filter(|_| may(found.standing)).ok_or_else(|| Failure::of(Code::FORBIDDEN))?;
    Ok((by, found.standing, found.thing?))
}
