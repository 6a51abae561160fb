//! Authorization by the argument types of handlers: a handler gets a meeting only inside a policy such as
//! `Host<Meeting>`.
//!
//! A feature determines the relation of a principal to its resources ([`Resource`]); the policies here decide which
//! relations suffice. They check in the contract's order: token 401, id syntax 400, parent 404, permission 403, child
//! 404. The call is counted before anything is loaded, see [`super::admission`].

use actix_web::HttpRequest;
use uuid::Uuid;

use super::credentials::{bearer, bearer_if_any, bearer_text, person, playback_or_bearer, ticket_or_bearer};
pub use super::path_ids::PathIds;
use super::principal::{Caller, Guest, KeyOwner, Principal};
use super::role::{ProjectRole, Relation};
use super::service_key::ServiceKey;
use super::state::Gate;
use crate::http::agent::user_agent;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::mounted::{Mounted, Need};

/// What a call is counted under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedFor {
    /// An account, or a guest's participant.
    Principal(Uuid),
    /// The client's address.
    Client,
    /// Nothing: the call comes from another part of the system, on the internal listener.
    Nobody,
}

/// The principals that may call an operation, as the contract's table names them.
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
    Listener,
    Ticket,
    /// The media server, by its signature.
    Signed,
    Internal,
    /// Another part of the system, by the service key.
    Service,
    /// Whoever accepted an invitation to review a project's results, by the token in the header `X-Review-Token`.
    Reviewer,
    /// An account that an administrator of the server's machine made an operator.
    Operator,
}

/// A resource that policies protect.
pub trait Resource: Sized + 'static {
    /// The state that loads it.
    type State: Mounted;

    /// The ids in the path, outermost first.
    type Ids;

    /// Parses the ids.
    ///
    /// # Errors
    /// 400 if one is not a UUID.
    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError>;

    /// Loads the resource and the caller's relation to it.
    ///
    /// # Errors
    /// 404 if the parent is missing.
    fn find(
        state: &Self::State,
        ids: Self::Ids,
        caller: Caller,
    ) -> impl Future<Output = Result<Loaded<Self>, ApiError>>;

    /// Like [`Resource::find`], for a guest. By default a guest has no relation to the resource; only the guest's own
    /// meeting differs.
    ///
    /// # Errors
    /// 404 if the parent is missing; 401 if the guest's access has expired.
    fn find_for_guest(
        state: &Self::State,
        ids: Self::Ids,
        guest: Guest,
    ) -> impl Future<Output = Result<Loaded<Self>, ApiError>> {
        Self::find(state, ids, guest.as_stranger())
    }
}

/// A loaded resource and the caller's relation to it.
pub struct Loaded<T> {
    pub relation: Relation,
    /// The resource, or the 404 of the child, which only those with permission may see.
    pub resource: Result<T, ApiError>,
}

/// A policy that a request must satisfy. [`super::admission`] calls its parts in order.
pub trait Policy: Sized + 'static {
    const WHO: Who;

    /// The state that authenticates.
    type Guard: Mounted;

    /// The principal, as far as the request alone shows it.
    type Claim;

    /// Authenticates the request, without loading anything.
    ///
    /// # Errors
    /// 401.
    fn claim(request: &HttpRequest, guard: &Self::Guard) -> Result<Self::Claim, ApiError>;

    fn counted_for(claim: &Self::Claim) -> CountedFor;

    /// What a request counts under that could not be authenticated.
    const REFUSED: CountedFor = CountedFor::Client;

    /// Checks the ids in the path.
    ///
    /// # Errors
    /// 400 if one is not a UUID.
    fn syntax(_: &HttpRequest) -> Result<(), ApiError> {
        Ok(())
    }

    /// Loads the resource and checks the permission.
    ///
    /// # Errors
    /// Why the request is refused, in the contract's order.
    fn check(
        claim: Self::Claim,
        request: &HttpRequest,
        guard: &Self::Guard,
    ) -> impl Future<Output = Result<Self, ApiError>>;

    /// The states that must be mounted for this policy, besides its guard.
    #[must_use]
    fn needs() -> Vec<Need> {
        Vec::new()
    }

    /// The owner of the request's Idempotency-Key; `None` if the request is unauthenticated.
    fn key_owner(&self) -> Option<KeyOwner> {
        None
    }
}

/// How many characters of `User-Agent` name a device.
const DEVICE: usize = 200;

/// Anyone; counted by client address.
#[derive(Debug)]
pub struct Public {
    /// The client's address; a trusted proxy may name it.
    pub client: String,
    pub device: String,
}

impl Policy for Public {
    const WHO: Who = Who::Public;
    type Guard = Gate;
    type Claim = ();
    fn claim(_: &HttpRequest, _: &Gate) -> Result<(), ApiError> {
        Ok(())
    }
    fn counted_for((): &()) -> CountedFor {
        CountedFor::Client
    }
    async fn check((): (), request: &HttpRequest, gate: &Gate) -> Result<Self, ApiError> {
        Ok(Self { client: gate.config.http.client_address(request), device: user_agent(request, DEVICE) })
    }
}

/// Anyone, signed in or not; counted by client address. A guest's token counts as none: the link that the client
/// follows says more.
#[derive(Debug)]
pub struct Anyone {
    pub caller: Option<Caller>,
}

impl Policy for Anyone {
    const WHO: Who = Who::Public;
    type Guard = Gate;
    type Claim = Option<Principal>;
    fn claim(request: &HttpRequest, gate: &Gate) -> Result<Option<Principal>, ApiError> {
        bearer_if_any(request, gate)
    }
    fn counted_for(_: &Option<Principal>) -> CountedFor {
        CountedFor::Client
    }
    async fn check(principal: Option<Principal>, _: &HttpRequest, _: &Gate) -> Result<Self, ApiError> {
        Ok(Self { caller: principal.and_then(|principal| principal.account().ok()) })
    }
}

/// A client on the internal listener. The public listener has none of these operations.
#[derive(Debug)]
pub struct Internal;

impl Policy for Internal {
    const WHO: Who = Who::Internal;
    type Guard = Gate;
    type Claim = ();
    fn claim(_: &HttpRequest, _: &Gate) -> Result<(), ApiError> {
        Ok(())
    }
    fn counted_for((): &()) -> CountedFor {
        CountedFor::Nobody
    }
    async fn check((): (), _: &HttpRequest, _: &Gate) -> Result<Self, ApiError> {
        Ok(Self)
    }
}

/// Another part of the system, which knows the service key. Its calls are not counted.
#[derive(Debug)]
pub struct KeyHolder;

impl Policy for KeyHolder {
    const WHO: Who = Who::Service;
    type Guard = ServiceKey;
    type Claim = ();
    fn claim(request: &HttpRequest, key: &ServiceKey) -> Result<(), ApiError> {
        let given = bearer_text(request).is_some_and(|given| key.is(given));
        if given { Ok(()) } else { Err(ApiError::with_message(Code::UNAUTHORIZED, "This needs the service key.")) }
    }
    fn counted_for((): &()) -> CountedFor {
        CountedFor::Nobody
    }
    const REFUSED: CountedFor = CountedFor::Nobody;
    async fn check((): (), _: &HttpRequest, _: &ServiceKey) -> Result<Self, ApiError> {
        Ok(Self)
    }
}

/// Any signed-in account.
#[derive(Debug)]
pub struct SignedIn {
    pub caller: Caller,
}

impl Policy for SignedIn {
    const WHO: Who = Who::User;
    type Guard = Gate;
    type Claim = Principal;
    fn claim(request: &HttpRequest, gate: &Gate) -> Result<Principal, ApiError> {
        bearer(request, gate)
    }
    fn counted_for(principal: &Principal) -> CountedFor {
        CountedFor::Principal(principal.uuid())
    }
    async fn check(principal: Principal, _: &HttpRequest, _: &Gate) -> Result<Self, ApiError> {
        Ok(Self { caller: principal.account()? })
    }
    fn key_owner(&self) -> Option<KeyOwner> {
        Some(Principal::from(self.caller).into())
    }
}

/// Any signed-in account, or a guest of a meeting.
#[derive(Debug)]
pub struct SignedInOrGuest {
    pub caller: Principal,
}

impl Policy for SignedInOrGuest {
    const WHO: Who = Who::UserOrGuest;
    type Guard = Gate;
    type Claim = Principal;
    fn claim(request: &HttpRequest, gate: &Gate) -> Result<Principal, ApiError> {
        bearer(request, gate)
    }
    fn counted_for(principal: &Principal) -> CountedFor {
        CountedFor::Principal(principal.uuid())
    }
    async fn check(caller: Principal, _: &HttpRequest, _: &Gate) -> Result<Self, ApiError> {
        Ok(Self { caller })
    }
    fn key_owner(&self) -> Option<KeyOwner> {
        Some(self.caller.into())
    }
}

/// The bearer of a one-time ticket, or of an access token if the client can send headers. A request from a web page
/// must come from an allowed origin.
#[derive(Debug)]
pub struct Ticket {
    pub caller: Principal,
}

impl Policy for Ticket {
    const WHO: Who = Who::Ticket;
    type Guard = Gate;
    type Claim = Principal;
    fn claim(request: &HttpRequest, gate: &Gate) -> Result<Principal, ApiError> {
        ticket_or_bearer(request, gate)
    }
    fn counted_for(principal: &Principal) -> CountedFor {
        CountedFor::Principal(principal.uuid())
    }
    async fn check(caller: Principal, request: &HttpRequest, gate: &Gate) -> Result<Self, ApiError> {
        if !gate.config.http.allows_origin(request, &gate.url) {
            return Err(ApiError::with_message(
                Code::FORBIDDEN,
                "This origin is not allowed to open WebSocket connections.",
            ));
        }
        Ok(Self { caller })
    }
}

/// The principals that a policy accepts: accounts only, or guests too.
trait By: Copy {
    fn of(principal: Principal) -> Option<Self>;
}

impl By for Caller {
    fn of(principal: Principal) -> Option<Self> {
        principal.account().ok()
    }
}

impl By for Principal {
    fn of(principal: Principal) -> Option<Self> {
        Some(principal)
    }
}

macro_rules! rules {
    ($($(#[$meta:meta])* $name:ident, $who:ident, $by:ty, $read:path, |$relation:ident| $allows:expr;)*) => {$(
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $name<T> {
            pub caller: $by,
            pub relation: Relation,
            pub resource: T,
        }

        impl<T: Resource> Policy for $name<T> {
            const WHO: Who = Who::$who;
            type Guard = Gate;
            type Claim = Principal;
            fn claim(request: &HttpRequest, gate: &Gate) -> Result<Principal, ApiError> {
                $read(request, gate)
            }
            fn counted_for(principal: &Principal) -> CountedFor {
                CountedFor::Principal(principal.uuid())
            }
            fn syntax(request: &HttpRequest) -> Result<(), ApiError> {
                T::ids(&PathIds::of(request)).map(drop)
            }
            async fn check(principal: Principal, request: &HttpRequest, _: &Gate) -> Result<Self, ApiError> {
                let allows = |$relation: Relation| $allows;
                let (caller, relation, resource) = pass(principal, request, Self::WHO, allows).await?;
                Ok(Self { caller, relation, resource })
            }
            fn key_owner(&self) -> Option<KeyOwner> {
                Some(Principal::from(self.caller).into())
            }
            fn needs() -> Vec<Need> {
                vec![Need::of::<T::State>()]
            }
        }
    )*};
}

rules! {
    /// The account that owns the resource.
    Own, User, Caller, bearer, |relation| relation.own;
    /// Any signed-in account, whatever its relation to the resource.
    AnyUser, User, Caller, bearer, |_relation| true;
    /// A member of the resource's project, in any role.
    Member, Member, Caller, bearer, |relation| relation.role.is_some();
    /// Like [`Member`], for event streams. Also accepts a ticket, since a browser's EventSource can't send headers.
    Subscriber, Member, Caller, ticket_or_bearer, |relation| relation.role.is_some();
    /// ANALYST, MANAGER or OWNER.
    Analyst, Analyst, Caller, bearer, |relation| relation.is(ProjectRole::Analyst);
    /// Like [`Analyst`], and a person: what is approved was approved by somebody.
    Approver, Analyst, Caller, person, |relation| relation.is(ProjectRole::Analyst);
    /// MANAGER or OWNER.
    Manager, Manager, Caller, bearer, |relation| relation.is(ProjectRole::Manager);
    /// Like [`Manager`], or the account that the resource is about, since any member may leave.
    ManagerOrSelf, Manager, Caller, bearer, |relation| relation.own || relation.is(ProjectRole::Manager);
    /// OWNER.
    Owner, Owner, Caller, bearer, |relation| relation.is(ProjectRole::Owner);
    /// An operator of the installation.
    Operator, Operator, Caller, bearer, |relation| relation.operates;
    /// The meeting's host or co-host, or a MANAGER or OWNER of its project.
    Host, Host, Caller, bearer, |relation| relation.may_host();
    /// A member of the meeting's project, or a principal that accepted an invitation to it.
    Attendee, Attendee, Principal, bearer, |relation| relation.may_attend();
    /// Who may hear a meeting's recordings: ANALYST, MANAGER or OWNER, its host, or a member of its project who joined it.
    Listener, Listener, Caller, bearer, |relation| relation.may_listen();
    /// Like [`Listener`], for media elements. Also accepts the signature of a playback link, since such an element can't
    /// send headers.
    Player, Listener, Caller, playback_or_bearer, |relation| relation.may_listen();
    /// A current or former participant of the meeting who may still attend it.
    Present, Participant, Principal, bearer, |relation| relation.took_part && relation.may_attend();
    /// A current or former participant of the meeting.
    Participant, Participant, Principal, bearer, |relation| relation.took_part;
}

async fn pass<T: Resource, B: By>(
    principal: Principal,
    request: &HttpRequest,
    who: Who,
    allows: impl Fn(Relation) -> bool,
) -> Result<(B, Relation, T), ApiError> {
    let ids = T::ids(&PathIds::of(request))?;
    let state = &T::State::of(request)?;
    if who == Who::User {
        // Guests are never accepted here, whatever the resource.
        principal.account()?;
    }
    let found = match principal {
        Principal::Account(caller) => T::find(state, ids, caller).await?,
        Principal::Guest(guest) => T::find_for_guest(state, ids, guest).await?,
    };
    let by = B::of(principal).filter(|_| allows(found.relation)).ok_or_else(|| ApiError::of(Code::FORBIDDEN))?;
    Ok((by, found.relation, found.resource?))
}
