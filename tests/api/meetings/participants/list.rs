//! Tests listMeetingParticipants, and `participantCount` in the list of meetings.

use serde_json::{Value, json};

use super::TestMeeting;
use crate::support::{Role, World};

on_both! {
    async fn people_are_listed_newest_first_in_pages_and_by_what_is_asked_for(world: World) {
        let room = TestMeeting::open(world.server).await;
        let mut ids = vec![room.joined(&room.ada).await];
        for name in ["Eve", "Bob", "EVELYN"] {
            let who = room.member(world.server, Role::Analyst).await;
            let joined = who.client.post(format!("{}/join", room.path)).json(json!({"displayName": name})).await.is(200);
            ids.push(joined.text_of("id"));
            if name == "Bob" {
                room.leave(&who).await.is(200);
            }
        }
        ids.reverse();
        let list = async |query: &str| {
            let listed = room.ada.client.get(format!("{}/participants{query}", room.path)).await.is(200);
            let items = listed.data()["items"].as_array().unwrap().clone();
            let ids: Vec<Value> = items.iter().map(|item| item["id"].clone()).collect();
            (ids, listed.data()["nextCursor"].clone(), listed.data()["totalCount"].clone())
        };
        let all: Vec<Value> = ids.iter().map(|id| json!(id)).collect();
        assert_eq!(list("").await, (all.clone(), Value::Null, json!(4)));
        let (first, cursor, total) = list("?limit=3").await;
        assert_eq!((first.as_slice(), total), (&all[..3], json!(4)));
        let (second, cursor, _) = list(&format!("?limit=3&cursor={}", cursor.as_str().unwrap())).await;
        assert_eq!((second.as_slice(), cursor), (&all[3..], Value::Null));
        assert_eq!(list("?status=left").await.0, [all[1].clone()]);
        assert_eq!(list("?search=eve").await.0, [all[0].clone(), all[2].clone()]);
        assert_eq!(list("?status=REMOVED").await, (vec![], Value::Null, json!(0)));
        room.ada.client.get(format!("{}/participants?status=GONE", room.path)).await.refused(422, "InvalidValue");
        room.ada.client.get(format!("{}/participants?limit=0", room.path)).await.refused(422, "InvalidValue");
        let listed = room.ada.client.get(format!("/api/projects/{}/meetings", room.project)).await.is(200);
        assert_eq!(listed.data()["items"][0]["participantCount"], 4);
    }

    async fn addresses_are_for_oneself_for_analysts_and_for_hosts(world: World) {
        let room = TestMeeting::open(world.server).await;
        let (eve, bob) = (
            room.member(world.server, Role::Stakeholder).await,
            room.member(world.server, Role::Stakeholder).await,
        );
        let analyst = room.member(world.server, Role::Analyst).await;
        let (eves, bobs) = (room.joined(&eve).await, room.joined(&bob).await);
        let seen = async |who: &crate::support::User, id: &str| {
            let listed = who.client.get(format!("{}/participants", room.path)).await.is(200);
            let items = listed.data()["items"].as_array().unwrap().clone();
            items.into_iter().find(|item| item["id"] == id).unwrap()["email"].clone()
        };
        assert_eq!(seen(&eve, &eves).await, json!(eve.email));
        assert_eq!(seen(&eve, &bobs).await, Value::Null);
        assert_eq!(seen(&analyst, &bobs).await, json!(bob.email));
        assert_eq!(seen(&room.ada, &bobs).await, json!(bob.email));
    }
}
