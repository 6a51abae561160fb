//! Tests of the test harness itself.

use crate::support::{Role, ServerSetup, World};

on_both! {
    async fn a_user_creates_a_project_and_a_meeting(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let meeting = ada.meeting_path(&project).await;
        let member = world.member(&project, Role::Stakeholder).await;
        member.client.get(meeting).await.is(200);
    }

    async fn a_server_that_was_killed_goes_on_where_it_was(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        server.kill();
        let server = setup.start(&[]);
        ada.at(&server).client.get(format!("/api/projects/{project}")).await.is(200);
    }
}
