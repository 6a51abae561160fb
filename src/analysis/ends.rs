//! Requests that wait a moment for the end of a job, so that what is done soon is in the answer.

use std::time::Duration;

use actors::ids::Id;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;
use uuid::Uuid;

use crate::clients::files::Files;

/// How long a request waits. Whatever takes longer is under way in the answer.
const WAIT: Duration = Duration::from_secs(5);
/// How many ends a request that waits may be behind.
const ENDS: usize = 256;

/// Files that are read by jobs.
pub struct FilesToRead {
    pub files: Files,
    pub ended: Ends,
}

/// The ids of things of one kind whose jobs have just ended on this server.
pub struct Ends(broadcast::Sender<Uuid>);

impl Default for Ends {
    fn default() -> Self {
        Self(broadcast::channel(ENDS).0)
    }
}

impl Ends {
    /// To be called before the job is enqueued: an end that comes before anybody waits is not missed.
    #[must_use]
    pub fn subscribe(&self) -> EndsAhead {
        EndsAhead(self.0.subscribe())
    }

    /// Wakes those who wait. Nobody may.
    pub fn wake<T>(&self, id: Id<T>) {
        let _ = self.0.send(id.uuid());
    }
}

/// The ends from one moment on.
pub struct EndsAhead(broadcast::Receiver<Uuid>);

impl EndsAhead {
    /// Waits for the end of one, but not for long: whether it has ended or not, its row tells.
    pub async fn wait<T>(mut self, id: Id<T>) {
        let is_over = async {
            loop {
                match self.0.recv().await {
                    Ok(other) if other != id.uuid() => {}
                    // Behind by many ends: the row tells.
                    Ok(_) | Err(RecvError::Lagged(_) | RecvError::Closed) => return,
                }
            }
        };
        let _ = timeout(WAIT, is_over).await;
    }
}
