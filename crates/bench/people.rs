//! Many logged-in members of a project. They are written to the server's database directly, and their tokens are signed
//! with its key, because the measurement is about what they do afterwards, not about registrations, e-mails and
//! invitations.

use std::time::Duration;

use actors::ids::{Id, Project};
use actors::language::Language;
use actors::time::{Clock, SystemClock};
use colloquy::access::role::ProjectRole;
use colloquy::access::token::Tokens;
use colloquy::accounts;
use colloquy::accounts::model::Account;
use colloquy::db::{Db, DbError, DbSettings};
use colloquy::keys;
use colloquy::projects::people;

use api_client::own_server::OwnServer;

/// The issuer of the tokens; the server has to be configured with [`ISSUER`].
const APP_URL: &str = "http://colloquy.example";
/// The setting that makes a server accept these tokens.
pub const ISSUER: (&str, &str) = ("COLLOQUY__APP__URL", APP_URL);

/// Lifetime of a token: longer than any measurement.
const LIFE: Duration = Duration::from_secs(24 * 3600);
/// Accounts per transaction, far below the limit of a write.
const AT_ONCE: usize = 50;

/// Creates the accounts and returns their access tokens. `database`: the URL of the server's database, unless that is the
/// SQLite file in its data folder.
///
/// # Errors
/// Returns a message if the database or the keys can't be used.
pub async fn gather(
    server: &OwnServer,
    database: Option<&str>,
    project_id: Id<Project>,
    count: usize,
) -> Result<Vec<String>, String> {
    let data = server.data();
    let own = || format!("sqlite://{}", data.join("colloquy.sqlite").display());
    let db = Db::open(DbSettings::at(database.map_or_else(own, ToOwned::to_owned))).await;
    let db = db.map_err(|error| error.to_string())?;
    let now = SystemClock.now();
    let accounts: Vec<Account> = (0..count)
        .map(|nth| Account {
            id: Id::generate(),
            email: format!("person-{nth:06}@colloquy.example"),
            full_name: format!("Person {nth}"),
            job_title: None,
            language: Language::En,
            password_hash: None,
            avatar: None,
            created_at: now,
            updated_at: now,
            is_operator: false,
        })
        .collect();
    for some in accounts.chunks(AT_ONCE).map(<[_]>::to_vec) {
        let written = db.write(move |conn| {
            Box::pin(async move {
                for account in some {
                    accounts::store::insert_account(conn, &account).await?;
                    people::store::insert(conn, project_id, account.id, ProjectRole::Stakeholder, now).await?;
                }
                Ok::<_, DbError>(())
            })
        });
        written.await.map_err(|failed| format!("People can't be put into the database: {failed}"))?;
    }
    let ring = keys::ring(&data.join("keys")).map_err(|error| format!("The server's keys can't be read: {error}"))?;
    let tokens = Tokens::new(&ring, APP_URL, LIFE);
    let issued = accounts.iter().map(|account| tokens.issue(account.id, Id::generate(), now));
    issued.collect::<Option<_>>().ok_or_else(|| "The server has no key.".to_owned())
}
