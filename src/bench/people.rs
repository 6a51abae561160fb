//! Many people in a project, each signed in. They are put into the server's database and their tokens are signed with its
//! key: what is measured is what they do then, not as many registrations, mails and invitations before it.

use std::path::Path;
use std::time::Duration;

use actors::ids::{Id, Project};
use actors::time::{Clock, SystemClock};
use colloquy::access::role::ProjectRole;
use colloquy::access::token::Tokens;
use colloquy::accounts;
use colloquy::accounts::model::{Account, Language};
use colloquy::db::{Db, Failed, Settings};
use colloquy::keys;
use colloquy::projects::people;

/// Whose tokens the server takes; it has to be told by [`ISSUER`].
const APP_URL: &str = "http://colloquy.example";
/// The setting that a server needs whose people these are.
pub const ISSUER: (&str, &str) = ("COLLOQUY__APP__URL", APP_URL);

/// How long a token lives: longer than any measurement.
const LIFE: Duration = Duration::from_secs(3600);
/// Accounts a transaction: far from the limit of a write.
const AT_ONCE: usize = 50;

/// Their access tokens.
///
/// # Errors
/// In words.
pub async fn gather(data: &Path, project_id: Id<Project>, count: usize) -> Result<Vec<String>, String> {
    let db = Db::open(Settings::at(format!("sqlite://{}", data.join("colloquy.sqlite").display())));
    let db = db.await.map_err(|error| error.to_string())?;
    let now = SystemClock.now();
    let accounts: Vec<Account> = (0..count)
        .map(|nth| Account {
            id: Id::draw(),
            email: format!("person-{nth:06}@colloquy.example"),
            full_name: format!("Person {nth}"),
            job_title: None,
            language: Language::En,
            password_hash: None,
            avatar: None,
            created_at: now,
            updated_at: now,
        })
        .collect();
    for some in accounts.chunks(AT_ONCE).map(<[_]>::to_vec) {
        let written = db.write(move |conn| {
            Box::pin(async move {
                for account in some {
                    accounts::store::insert_account(conn, &account).await?;
                    people::store::insert(conn, project_id, account.id, ProjectRole::Stakeholder, now).await?;
                }
                Ok::<_, Failed>(())
            })
        });
        written.await.map_err(|failed| format!("People can't be put into the database: {failed}"))?;
    }
    let ring = keys::ring(&data.join("keys")).map_err(|error| format!("The server's keys can't be read: {error}"))?;
    let tokens = Tokens::new(&ring, APP_URL, LIFE);
    let issued = accounts.iter().map(|account| tokens.issue(account.id, Id::draw(), now));
    issued.collect::<Option<_>>().ok_or_else(|| "The server has no key.".to_owned())
}
