//! Statements that stay prepared are prepared once on PostgreSQL, and do what they would do otherwise.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use diesel::connection::{Instrumentation, InstrumentationEvent};
use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::AsyncConnection;

use super::super::{Conn, DbError, RunQueryDsl, kept};
use super::both::{insert, thing};
use super::on_both;
use super::schema::things;

/// Counts the UPDATEs that a connection has prepared and keeps.
fn counting(kept: &Arc<AtomicUsize>) -> impl Instrumentation + use<> {
    let kept = Arc::clone(kept);
    move |event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::CacheQuery { sql, .. } = event
            && sql.starts_with("UPDATE")
        {
            kept.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[tokio::test]
async fn an_update_that_stays_prepared_is_prepared_once() {
    on_both(async |db| {
        let checked = db.write(|conn| {
            Box::pin(async move {
                let prepared = Arc::<AtomicUsize>::default();
                let is_prepared_once = match conn {
                    Conn::Pg(pg) => {
                        pg.set_instrumentation(counting(&prepared));
                        true
                    }
                    Conn::Sqlite(_) => false,
                };
                let one = thing("one");
                insert(conn, &one).await?;
                for name in ["a", "a longer one"] {
                    diesel::update(things::table.find(one.id)).set(things::name.eq(name)).execute(conn).await?;
                }
                let not_kept = prepared.swap(0, Ordering::SeqCst);
                for name in ["b", "another", "the last"] {
                    let renamed = diesel::update(things::table.find(one.id)).set(things::name.eq(name));
                    assert_eq!(kept(renamed).execute(conn).await?, 1);
                }
                let name: String = things::table.find(one.id).select(things::name).first(conn).await?;
                let found = (not_kept, prepared.swap(0, Ordering::SeqCst), name);
                assert_eq!(found, (0, usize::from(is_prepared_once), "the last".to_owned()));
                Ok::<_, DbError>(())
            })
        });
        checked.await.unwrap();
    })
    .await;
}
