//! Calls that cost much time of the processors or of the database: few at once for each project, and so many for each
//! account in a while. What one project asks for can't take the processors and the readers of the database from others.
//!
//! ```text
//!  begin ─▶ the account's rate ─▶ a place of the project, at once or within WAIT ─▶ CostlyCall: reads, then compute
//!           else 429               too many wait already, or too long: 429
//! ```
//! Whatever takes longer than some ten milliseconds begins with [`CostlyCalls::begin`], and computes in
//! [`CostlyCall::compute`]: never in a read of the database, which holds one of few connections meanwhile.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actors::ids::{self, Id, User};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::call_limits::CallLimit;
use super::error::ApiError;
use crate::config::Class;

/// How many costly calls of one project are under way at once, if there are as many processors for others.
const MAX_AT_ONCE: usize = 2;
/// How many more wait for their turn.
const WAITING: usize = 16;
/// How long one waits for its turn.
const WAIT: Duration = Duration::from_secs(2);

/// The places of all projects, and the rates of all accounts.
pub struct CostlyCalls {
    rate: CallLimit,
    at_once: usize,
    wait: Duration,
    projects: Arc<Mutex<ProjectPlaces>>,
}

/// Only projects that have a call are in it.
type ProjectPlaces = HashMap<Id<ids::Project>, PlacesOfProject>;

struct PlacesOfProject {
    turns: Arc<Semaphore>,
    /// How many calls are under way or wait.
    calls: usize,
}

/// A costly call that has its turn. The turn ends when all clones are dropped: a read or a computation that goes on
/// after its caller is gone holds one.
#[derive(Clone)]
pub struct CostlyCall {
    _held: Arc<HeldTurn>,
}

struct HeldTurn {
    /// Before the place, which may be the last one of the project.
    _turn: OwnedSemaphorePermit,
    _place: CallPlace,
}

/// A place among those that are under way or wait.
struct CallPlace {
    project_id: Id<ids::Project>,
    projects: Arc<Mutex<ProjectPlaces>>,
}

impl CostlyCalls {
    /// `class` is the rate of each account.
    #[must_use]
    pub fn of(class: Class) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let at_once = (processors / 2).clamp(1, MAX_AT_ONCE);
        Self { rate: CallLimit::of(class), at_once, wait: WAIT, projects: Arc::default() }
    }

    /// Counts a call of an account, and waits for a turn of the project.
    ///
    /// # Errors
    /// 429 past the account's rate, and when too many calls of the project wait already or it takes too long.
    pub async fn begin(&self, project_id: Id<ids::Project>, account: Id<User>) -> Result<CostlyCall, ApiError> {
        self.rate.take(&account.to_string())?;
        let busy = || ApiError::too_many(Duration::from_secs(1));
        let (place, turns) = self.place(project_id).ok_or_else(busy)?;
        let turn =
            timeout(self.wait, turns.acquire_owned()).await.map_err(|_late| busy())?.map_err(ApiError::internal)?;
        Ok(CostlyCall { _held: Arc::new(HeldTurn { _turn: turn, _place: place }) })
    }

    fn place(&self, project_id: Id<ids::Project>) -> Option<(CallPlace, Arc<Semaphore>)> {
        let mut projects = locked(&self.projects);
        let new = || PlacesOfProject { turns: Arc::new(Semaphore::new(self.at_once)), calls: 0 };
        let own = projects.entry(project_id).or_insert_with(new);
        if own.calls >= self.at_once + WAITING {
            return None;
        }
        own.calls += 1;
        Some((CallPlace { project_id, projects: Arc::clone(&self.projects) }, Arc::clone(&own.turns)))
    }
}

fn locked(projects: &Mutex<ProjectPlaces>) -> MutexGuard<'_, ProjectPlaces> {
    projects.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for CallPlace {
    fn drop(&mut self) {
        let mut projects = locked(&self.projects);
        if let Some(own) = projects.get_mut(&self.project_id) {
            own.calls -= 1;
            if own.calls == 0 {
                projects.remove(&self.project_id);
            }
        }
    }
}

impl CostlyCall {
    /// Computes on a thread for it, which keeps the turn to its end even if the caller is gone.
    ///
    /// # Errors
    /// 500 if it panics.
    pub async fn compute<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
        let held = self.clone();
        let work = move || {
            let done = work();
            drop(held);
            done
        };
        spawn_blocking(work).await.map_err(ApiError::internal)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use actors::ids::Id;
    use futures_util::FutureExt;
    use futures_util::future::join_all;

    use super::{Class, CostlyCalls, WAITING, locked};

    const UNLIMITED: Class = Class { most: 0, seconds: 60 };

    #[tokio::test]
    async fn a_project_with_too_many_costly_calls_is_refused_and_another_one_is_not() {
        let calls = CostlyCalls { wait: Duration::from_millis(50), ..CostlyCalls::of(UNLIMITED) };
        let (one, other, account) = (Id::generate(), Id::generate(), Id::generate());
        let held = join_all((0..calls.at_once).map(|_| calls.begin(one, account))).await;
        assert!(held.iter().all(Result::is_ok));
        let mut waiting: Vec<_> = (0..WAITING).map(|_| Box::pin(calls.begin(one, account))).collect();
        assert!(waiting.iter_mut().all(|call| call.now_or_never().is_none()), "for a turn");
        let refused = calls.begin(one, account).now_or_never().unwrap().err().unwrap();
        assert_eq!((refused.code.status, refused.retry_after.is_some()), (429, true));
        assert!(calls.begin(other, account).now_or_never().unwrap().is_ok());
        drop(held);
        let next = waiting.remove(0).await.ok().unwrap();
        let late = join_all(waiting).await;
        let got = late.iter().filter(|call| call.is_ok()).count();
        assert_eq!(got, calls.at_once - 1, "those that waited for too long are refused");
        assert!(late.iter().filter_map(|call| call.as_ref().err()).all(|error| error.code.status == 429));
        drop((next, late));
        assert!(locked(&calls.projects).is_empty(), "what is over is not kept");
    }

    #[tokio::test]
    async fn a_computation_whose_caller_is_gone_keeps_its_turn_to_the_end() {
        let calls = CostlyCalls::of(UNLIMITED);
        let (project, account) = (Id::generate(), Id::generate());
        let (end, ended) = channel::<()>();
        let call = calls.begin(project, account).await.ok().unwrap();
        let mut computing = Box::pin(call.compute(move || ended.recv()));
        assert!(computing.as_mut().now_or_never().is_none());
        drop(computing);
        drop(call);
        assert_eq!(locked(&calls.projects)[&project].calls, 1);
        end.send(()).unwrap();
        while !locked(&calls.projects).is_empty() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn an_account_past_its_rate_is_refused_in_every_project_and_others_are_not() {
        let calls = CostlyCalls::of(Class { most: 2, seconds: 60 });
        let (account, other) = (Id::generate(), Id::generate());
        for _ in 0..2 {
            assert!(calls.begin(Id::generate(), account).await.is_ok());
        }
        assert_eq!(calls.begin(Id::generate(), account).await.err().unwrap().code.status, 429);
        assert!(calls.begin(Id::generate(), other).await.is_ok());
    }
}
