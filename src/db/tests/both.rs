//! Queries, transactions and errors mean the same on both databases.

use actors::ids::Id;
use actors::meeting::MeetingStatus;
use actors::time::Time;
use diesel::upsert::excluded;
use diesel::{ExpressionMethods, Insertable, OptionalExtension, QueryDsl, Queryable, Selectable};
use serde_json::json;

use super::super::{Columns, Conn, Constraint, DbError, RunQueryDsl, contains, each, is_found};
use super::on_both;
use super::schema::things;

#[derive(Debug, Clone, PartialEq, Queryable, Selectable, Insertable)]
#[diesel(table_name = things)]
pub(super) struct Thing {
    pub(super) id: Id<Thing>,
    pub(super) name: String,
    pub(super) facts: serde_json::Value,
    pub(super) parent_id: Option<Id<Thing>>,
    pub(super) count: i64,
    pub(super) at: Time,
}

pub(super) fn thing(name: &str) -> Thing {
    let at = Time::from_millis(1_764_000_000_123).unwrap();
    Thing { id: Id::generate(), name: name.to_owned(), facts: json!({ "of": [1, 2] }), parent_id: None, count: 1, at }
}

pub(super) async fn insert(conn: &mut Conn, thing: &Thing) -> Result<(), DbError> {
    diesel::insert_into(things::table).values(thing).execute(conn).await?;
    Ok(())
}

pub(super) async fn count(conn: &mut Conn) -> Result<i64, DbError> {
    Ok(things::table.count().get_result(conn).await?)
}

#[tokio::test]
async fn what_was_written_is_read_back() {
    on_both(async |db| {
        let parent = thing("parent");
        let child = Thing { parent_id: Some(parent.id), count: 1 << 40, ..thing("child") };
        let (p, c) = (parent.clone(), child.clone());
        let returned: Thing = db
            .write(move |conn| {
                Box::pin(async move {
                    insert(conn, &p).await?;
                    let insert = diesel::insert_into(things::table).values(&c).returning(Thing::columns());
                    Ok::<_, DbError>(insert.get_result(conn).await?)
                })
            })
            .await
            .unwrap();
        assert_eq!(returned, child);
        let id = child.id;
        let found: Option<Thing> = db
            .read(move |conn| {
                Box::pin(async move {
                    let query = things::table.find(id).select(Thing::columns());
                    Ok::<_, DbError>(query.first(conn).await.optional()?)
                })
            })
            .await
            .unwrap();
        assert_eq!(found, Some(child));
    })
    .await;
}

#[tokio::test]
async fn an_enumeration_is_stored_as_it_is_spelled_and_another_text_is_an_error() {
    on_both(async |db| {
        let (spelled, live) = db
            .write(|conn| {
                Box::pin(async move {
                    for name in ["LIVE", "ended", "GONE"] {
                        insert(conn, &thing(name)).await?;
                    }
                    let ended = things::table.filter(things::name.eq("ended"));
                    let renamed = diesel::update(ended).set(things::name.eq(MeetingStatus::Cancelled));
                    let spelled: String = renamed.returning(things::name).get_result(conn).await?;
                    insert(conn, &thing("ended")).await?;
                    let of = things::name.eq_any([MeetingStatus::Live, MeetingStatus::Ended]);
                    let live: Vec<MeetingStatus> = things::table.filter(of).select(things::name).load(conn).await?;
                    Ok::<_, DbError>((spelled, live))
                })
            })
            .await
            .unwrap();
        assert_eq!((spelled.as_str(), live), ("CANCELLED", vec![MeetingStatus::Live]));
        let read = async |name: &'static str| {
            let read = db.read(move |conn| {
                Box::pin(async move {
                    let named = things::table.filter(things::name.eq(name)).select(things::name);
                    Ok::<MeetingStatus, DbError>(named.first(conn).await?)
                })
            });
            read.await
        };
        assert_eq!(read("LIVE").await, Ok(MeetingStatus::Live));
        assert_eq!(read("ended").await, Ok(MeetingStatus::Ended), "in any case");
        let Err(DbError::Broken(why)) = read("GONE").await else { panic!("there is no such status") };
        assert!(why.contains("\"GONE\" is no MeetingStatus"), "{why}");
    })
    .await;
}

#[tokio::test]
async fn a_conflict_updates_instead() {
    on_both(async |db| {
        let first = thing("same");
        let second = Thing { count: 7, ..thing("same") };
        let (a, b) = (first.clone(), second.clone());
        let (updated, ignored): (Thing, usize) = db
            .write(move |conn| {
                Box::pin(async move {
                    insert(conn, &a).await?;
                    let upsert = diesel::insert_into(things::table).values(&b).on_conflict(things::name).do_update();
                    let upsert = upsert.set(things::count.eq(excluded(things::count))).returning(Thing::columns());
                    let updated = upsert.get_result(conn).await?;
                    let ignored =
                        diesel::insert_into(things::table).values(&b).on_conflict_do_nothing().execute(conn).await?;
                    Ok::<_, DbError>((updated, ignored))
                })
            })
            .await
            .unwrap();
        assert_eq!((updated, ignored), (Thing { count: 7, ..first }, 0));
    })
    .await;
}

#[tokio::test]
async fn an_error_undoes_the_write_and_a_nested_one_its_part() {
    on_both(async |db| {
        let refused: Result<(), DbError> = db
            .write(|conn| {
                Box::pin(async move {
                    insert(conn, &thing("gone")).await?;
                    Err(DbError::Busy)
                })
            })
            .await;
        assert_eq!(refused, Err(DbError::Busy));
        db.write(|conn| {
            Box::pin(async move {
                insert(conn, &thing("kept")).await?;
                let taken = conn.transaction(async |conn| insert(conn, &thing("kept")).await).await;
                assert!(taken.is_err_and(|failed| failed.is_taken()));
                let inner = conn.transaction(async |conn| {
                    insert(conn, &thing("undone")).await?;
                    Err::<(), _>(DbError::Busy)
                });
                assert_eq!(inner.await, Err(DbError::Busy));
                conn.transaction(async |conn| insert(conn, &thing("kept too")).await).await
            })
        })
        .await
        .unwrap();
        let names: Vec<String> = db
            .read(|conn| {
                Box::pin(async move {
                    let query = things::table.order(things::name.asc()).select(things::name);
                    Ok::<_, DbError>(query.load(conn).await?)
                })
            })
            .await
            .unwrap();
        assert_eq!(names, ["kept", "kept too"]);
    })
    .await;
}

#[tokio::test]
async fn constraints_are_told_apart() {
    on_both(async |db| {
        let first = thing("one");
        let same = Thing { name: "other".to_owned(), ..first.clone() };
        let orphan = Thing { parent_id: Some(Id::generate()), ..thing("orphan") };
        db.write(move |conn| Box::pin(async move { insert(conn, &first).await })).await.unwrap();
        let twice = db.write(move |conn| Box::pin(async move { insert(conn, &same).await })).await;
        assert!(matches!(twice, Err(DbError::Violated(Constraint::Unique, _))), "{twice:?}");
        let orphaned = db.write(move |conn| Box::pin(async move { insert(conn, &orphan).await })).await;
        assert!(matches!(orphaned, Err(DbError::Violated(Constraint::ForeignKey, _))), "{orphaned:?}");
    })
    .await;
}

#[tokio::test]
async fn a_statement_that_failed_unseen_does_not_pass_for_written() {
    on_both(async |db| {
        let outcome = db
            .write(|conn| {
                Box::pin(async move {
                    insert(conn, &thing("first")).await?;
                    let _swallowed = insert(conn, &thing("first")).await;
                    Ok::<_, DbError>(())
                })
            })
            .await;
        let there = db.read(|conn| Box::pin(async move { count(conn).await })).await.unwrap();
        // PostgreSQL rolls all of it back and SQLite keeps the rest; the answer agrees with what is stored.
        assert_eq!(i64::from(outcome.is_ok()), there, "{outcome:?}");
    })
    .await;
}

#[tokio::test]
async fn a_read_can_see_one_state_and_cannot_write() {
    on_both(async |db| {
        db.write(|conn| Box::pin(async move { insert(conn, &thing("one")).await })).await.unwrap();
        let other = db.clone();
        let counts = db
            .read(move |conn| {
                Box::pin(async move {
                    conn.transaction(async |conn| {
                        let before = count(conn).await?;
                        // On another thread: a job itself must not write.
                        let write = other.clone();
                        let task = std::thread::spawn(move || {
                            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                            let job = write.write(|c| Box::pin(async move { insert(c, &thing("two")).await }));
                            runtime.block_on(job)
                        });
                        while !task.is_finished() {
                            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                        }
                        task.join().unwrap()?;
                        Ok::<_, DbError>((before, count(conn).await?))
                    })
                    .await
                })
            })
            .await
            .unwrap();
        assert_eq!(counts, (1, 1));
        let written = db.read(|conn| Box::pin(async move { insert(conn, &thing("no")).await })).await;
        assert!(matches!(written, Err(DbError::Broken(_) | DbError::Unavailable(_))), "{written:?}");
        assert_eq!(db.read(|conn| Box::pin(async move { count(conn).await })).await, Ok(2));
    })
    .await;
}

#[tokio::test]
async fn a_job_inside_a_job_is_refused() {
    on_both(async |db| {
        let other = db.clone();
        let nested: Result<(), DbError> = db
            .write(move |_| {
                Box::pin(
                    async move { other.write(|conn| Box::pin(async move { insert(conn, &thing("x")).await })).await },
                )
            })
            .await;
        assert!(
            matches!(&nested, Err(DbError::Broken(why)) if why.contains("a database job called write")),
            "{nested:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_boxed_query_runs_on_either() {
    on_both(async |db| {
        let found: Vec<Thing> = db
            .write(|conn| {
                Box::pin(async move {
                    insert(conn, &thing("a")).await?;
                    insert(conn, &thing("b")).await?;
                    let wanted = Some("b");
                    let found = each!(conn, load, |DB| {
                        let mut query = things::table.into_boxed::<DB>();
                        if let Some(name) = wanted {
                            query = query.filter(things::name.eq(name));
                        }
                        query
                    });
                    Ok::<_, DbError>(found?)
                })
            })
            .await
            .unwrap();
        assert_eq!(found.into_iter().map(|thing| thing.name).collect::<Vec<_>>(), ["b"]);
    })
    .await;
}

#[tokio::test]
async fn a_job_that_panics_or_hangs_fails_alone() {
    on_both(async |db| {
        let panics: Result<(), DbError> = db
            .write(|conn| {
                Box::pin(async move {
                    insert(conn, &thing("half")).await?;
                    panic!("a mistake");
                })
            })
            .await;
        assert_eq!(panics, Err(DbError::Broken("a job panicked: a mistake".to_owned())));
        let hangs: Result<(), DbError> = db
            .write(|conn| {
                Box::pin(async move {
                    conn.transaction(async |conn| {
                        insert(conn, &thing("late")).await?;
                        std::future::pending().await
                    })
                    .await
                })
            })
            .await;
        assert!(matches!(hangs, Err(DbError::Unavailable(_))), "{hangs:?}");
        let reads: Result<(), DbError> = db.read(|_| Box::pin(async move { panic!("{} mistake", "another") })).await;
        assert_eq!(reads, Err(DbError::Broken("a job panicked: another mistake".to_owned())));
        db.write(|conn| Box::pin(async move { insert(conn, &thing("next")).await })).await.unwrap();
        assert_eq!(db.read(|conn| Box::pin(async move { count(conn).await })).await, Ok(1));
    })
    .await;
}

#[tokio::test]
async fn words_are_found_in_either_case_beyond_ascii() {
    on_both(async |db| {
        let found: i64 = db
            .write(|conn| {
                Box::pin(async move {
                    insert(conn, &thing("Après l'Été")).await?;
                    let query = things::table.filter(is_found(Some(&"L'ÉTÉ"), |words| contains(things::name, words)));
                    Ok::<_, DbError>(query.count().get_result(conn).await?)
                })
            })
            .await
            .unwrap();
        assert_eq!(found, 1);
    })
    .await;
}
