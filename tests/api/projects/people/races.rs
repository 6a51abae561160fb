//! Tests concurrent changes of the members of one project.

use std::collections::BTreeSet;
use std::future::IntoFuture;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::{accept, link, members, membership, roles, seen_by};
use crate::support::builders::fresh_email;
use crate::support::{Role, Socket, World, outbox};

const ROUNDS: usize = 12;

on_both! {
    async fn of_two_owners_who_demote_each_other_exactly_one_stays_owner(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let ben = world.member(&project, Role::Owner).await;
        let (hers, his) = (membership(&ada, &project, &ada).await, membership(&ada, &project, &ben).await);
        for round in 0..ROUNDS {
            let (by_ada, by_ben) = (ada.client.apart(), ben.client.apart());
            let demote = json!({"role": "ANALYST"});
            let (one, other) = tokio::join!(
                by_ada.patch(&his).json(demote.clone()).into_future(),
                by_ben.patch(&hers).json(demote).into_future(),
            );
            let statuses = BTreeSet::from([one.status, other.status]);
            assert_eq!(statuses, BTreeSet::from([200, 403]), "{round}: {} {}", one.text(), other.text());
            let owners = roles(&ada, &project).await.into_iter().filter(|(_, role)| role == "OWNER").count();
            assert_eq!(owners, 1, "{round}");
            let (winner, restored) = if one.status == 200 { (&ada, &his) } else { (&ben, &hers) };
            let details = ada.client.get(format!("/api/projects/{project}")).await.is(200);
            assert_eq!(details.text_of("ownerId"), winner.id, "{round}");
            winner.client.patch(restored).json(json!({"role": "OWNER"})).await.is(200);
        }
    }

    async fn of_two_owners_who_leave_or_remove_each_other_at_once_one_stays(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let mut stays = ada.clone();
        for round in 0..ROUNDS {
            let new = world.user().await;
            let token = world.server.invite(&stays.client, &project, &new.email, Role::Owner).await;
            accept(&new.client, &token).await.is(200);
            let (hers, his) = (membership(&new, &project, &stays).await, membership(&new, &project, &new).await);
            let (first, second) = if round % 2 == 0 { (&hers, &his) } else { (&his, &hers) };
            let (one, other) = tokio::join!(
                stays.client.apart().delete(first).into_future(),
                new.client.apart().delete(second).into_future(),
            );
            let refused = if round % 2 == 0 { 409 } else { 403 };
            let statuses = BTreeSet::from([one.status, other.status]);
            assert_eq!(statuses, BTreeSet::from([200, refused]), "{round}: {} {}", one.text(), other.text());
            // The rejected request came from the last owner, who can't leave, or from the one who was removed first.
            let stood = if (one.status == 200) == (round % 2 == 0) { new } else { stays.clone() };
            let left = [(stood.id.clone(), "OWNER".to_owned())];
            assert_eq!(roles(&stood, &project).await, left, "{round}");
            stays = stood;
        }
    }

    async fn a_hundred_accepts_of_one_invitation_make_one_member(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let project = ada.project().await;
        let token = world.server.invite(&ada.client, &project, &ben.email, Role::Analyst).await;
        let mut socket = Socket::open(&ada.client).await;
        socket.subscribe(&format!("project:{project}")).await;
        let accepts = (0..100).map(|_| {
            let client = ben.client.apart();
            let token = &token;
            async move { accept(&client, token).await.is(200).text_of("id") }
        });
        let ids: BTreeSet<String> = join_all(accepts).await.into_iter().collect();
        assert_eq!(ids.len(), 1);
        assert_eq!(seen_by(&ada, &project).await.len(), 2);
        assert_eq!(socket.next().await["event"], "member.changed");
        ada.client.patch(format!("/api/projects/{project}")).json(json!({"name": "Next"})).await.is(200);
        assert_eq!(socket.next().await["event"], "project.updated", "one member, one event");
    }

    async fn of_many_concurrent_invitations_of_one_address_one_link_stays_valid(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let email = fresh_email();
        let asks = (0..20).map(|_| {
            let client = ada.client.apart();
            let body = json!({"email": email, "role": "ANALYST"});
            let path = members(&project);
            async move { client.post(path).json(body).served().await.is(201) }
        });
        join_all(asks).await;
        outbox::wait_for(&world.server.data, &email, 20).await;
        let mails = outbox::mails(&world.server.data, &email);
        let tokens: BTreeSet<String> = mails.iter().map(|mail| outbox::token_in(mail).unwrap()).collect();
        assert_eq!(tokens.len(), 20);
        let mut standing = 0;
        for token in &tokens {
            let status = world.nobody.get(link(token)).await.status;
            assert!(matches!(status, 200 | 410), "{status}");
            standing += usize::from(status == 200);
        }
        assert_eq!(standing, 1);
    }

    async fn changing_a_role_while_its_member_is_removed_leaves_no_member(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        for round in 0..ROUNDS {
            let member = world.member(&project, Role::Analyst).await;
            let path = membership(&ada, &project, &member).await;
            let (changed, removed) = tokio::join!(
                ada.client.apart().patch(&path).json(json!({"role": "MANAGER"})).into_future(),
                ada.client.apart().delete(&path).into_future(),
            );
            removed.is(200);
            assert!(matches!(changed.status, 200 | 404), "{round}: {}", changed.text());
            member.client.get(format!("/api/projects/{project}")).await.refused(403, "Forbidden");
            assert_eq!(roles(&ada, &project).await.len(), 1, "{round}");
        }
    }

    /// A role that was cached before a change must not stay cached after it, even when the client of the change has
    /// disconnected.
    async fn a_removal_whose_client_disconnects_leaves_no_cached_role(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let details = format!("/api/projects/{project}");
        for round in 0..ROUNDS {
            let member = world.member(&project, Role::Analyst).await;
            member.client.get(&details).await.is(200);
            let path = membership(&ada, &project, &member).await;
            let mut socket = Socket::open(&member.client).await;
            socket.subscribe(&format!("project:{project}")).await;
            let mut line = TcpStream::connect(world.server.public).await.unwrap();
            let token = ada.client.token();
            let request = format!("DELETE {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n");
            line.write_all(request.as_bytes()).await.unwrap();
            // Reset at once, or a little later, so that the reset meets the request at different stages.
            tokio::time::sleep(Duration::from_micros(400 * round as u64)).await;
            line.set_zero_linger().unwrap();
            drop(line);
            // Whichever of the two requests is first, the member has been removed when this one is answered.
            let again = ada.client.delete(&path).await;
            assert!(matches!(again.status, 200 | 404), "{round}: {}", again.text());
            member.client.get(&details).await.refused(403, "Forbidden");
            assert_eq!(socket.next().await["event"], "member.changed", "{round}");
            assert_eq!(socket.next().await["code"], "Forbidden", "{round}");
            assert_eq!(roles(&ada, &project).await.len(), 1, "{round}");
        }
    }
}
