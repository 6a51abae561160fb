//! The cookie by which a browser stays signed in.

use actors::time::Time;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::sessions::rotated_ago;
use crate::support::client::Request;
use crate::support::{Answer, Server, User, World};

const PATH: &str = "/api/auth/browser-session";

fn begin(server: &Server, user: &User, stays: bool) -> Request {
    let body = json!({"refreshToken": user.refresh_token, "staySignedIn": stays});
    server.client().post(PATH).json(body)
}

fn refresh(server: &Server, cookie: &str) -> Request {
    server.client().post(format!("{PATH}/refresh")).header("cookie", cookie)
}

/// The `name=value` of the cookie that a response sets, and its attributes.
fn set_cookie(answer: &Answer) -> (String, Vec<String>) {
    let mut parts = answer.header("set-cookie").unwrap().split("; ").map(str::to_owned);
    (parts.next().unwrap(), parts.collect())
}

/// Begins the session of a browser. Returns its cookie.
async fn cookie_of(server: &Server, user: &User) -> String {
    set_cookie(&begin(server, user, true).await.is(200)).0
}

async fn profile(server: &Server, access_token: &str) -> Answer {
    server.client().bearing(access_token).get("/api/profile").await
}

/// When the session of the user was last used.
async fn last_used(user: &User) -> Time {
    let sessions = user.client.get("/api/auth/sessions").await.is(200).data()["items"].clone();
    serde_json::from_value(sessions[0]["lastUsedAt"].clone()).unwrap()
}

on_both! {
    async fn a_browser_stays_signed_in_by_a_cookie_that_no_script_can_read(world: World) {
        let ada = world.user().await;
        let begun = begin(world.server, &ada, true).await.is(200);
        let (cookie, attributes) = set_cookie(&begun);
        assert!(cookie.starts_with("colloquy-session="), "{cookie}");
        assert_eq!(attributes, ["HttpOnly", "SameSite=Strict", "Path=/api/auth/browser-session", "Max-Age=2592000"]);
        assert!(begun.data().get("refreshToken").is_none(), "{}", begun.text());
        assert_eq!((begun.text_of("tokenType").as_str(), &begun.data()["user"]["id"]), ("Bearer", &json!(ada.id)));
        profile(world.server, &begun.text_of("accessToken")).await.is(200);
        // It is the same session: no other one is listed.
        assert_eq!(ada.client.get("/api/auth/sessions").await.is(200).data()["totalCount"], 1);
        // As many tabs as there are may ask at once, and none of them loses the session for the others.
        let tabs = join_all((0..50).map(|_| refresh(world.server, &cookie).served())).await;
        for tab in tabs {
            assert_eq!(set_cookie(&tab.clone().is(200)).0, cookie);
            profile(world.server, &tab.text_of("accessToken")).await.is(200);
        }
        // One that is gone when it is closed has no age.
        let bo = world.user().await;
        let (_, attributes) = set_cookie(&begin(world.server, &bo, false).await.is(200));
        assert_eq!(attributes, ["HttpOnly", "SameSite=Strict", "Path=/api/auth/browser-session"]);
    }

    async fn the_refresh_token_is_used_up(world: World) {
        let ada = world.user().await;
        let cookie = cookie_of(world.server, &ada).await;
        // The answer may have been lost: the same cookie again.
        assert_eq!(cookie_of(world.server, &ada).await, cookie);
        begin(world.server, &ada, true).await.refused(401, "InvalidRefreshToken");
        refresh(world.server, &cookie).await.is(200);
        // Presented late, it was copied: the session ends, and the cookie with it.
        rotated_ago(world.server, &ada, 31).await;
        begin(world.server, &ada, true).await.refused(401, "InvalidRefreshToken");
        refresh(world.server, &cookie).await.refused(401, "InvalidRefreshToken");
    }

    async fn the_cookie_ends_with_its_session(world: World) {
        let ada = world.user().await;
        let cookie = cookie_of(world.server, &ada).await;
        let token = refresh(world.server, &cookie).await.is(200).text_of("accessToken");
        let ended = world.server.client().delete(PATH).header("cookie", &cookie).await.is(200);
        assert_eq!(set_cookie(&ended).1.last().unwrap(), "Max-Age=0");
        profile(world.server, &token).await.is(401);
        refresh(world.server, &cookie).await.refused(401, "InvalidRefreshToken");
        // Once more, or without any, it succeeds too.
        world.server.client().delete(PATH).header("cookie", &cookie).await.is(200);
        world.server.client().delete(PATH).await.is(200);
        // The log-out of any tab ends it for all.
        let bo = world.user().await;
        let cookie = cookie_of(world.server, &bo).await;
        bo.client.post("/api/auth/logout").await.is(200);
        refresh(world.server, &cookie).await.refused(401, "InvalidRefreshToken");
    }

    async fn a_forged_cookie_neither_opens_nor_ends_a_session(world: World) {
        let (ada, bo) = (world.user().await, world.user().await);
        let cookie = cookie_of(world.server, &ada).await;
        let other = cookie_of(world.server, &bo).await;
        let (name, value) = cookie.split_once('=').unwrap();
        let (_, others) = other.split_once('=').unwrap();
        // Its session with the proof of another one; a letter changed; cut off; nothing; an ordinary refresh token.
        let mixed = format!("{}{}", &value[..22], &others[22..]);
        let changed = format!("{}{}", &value[..value.len() - 2], if value.ends_with("AA") { "BB" } else { "AA" });
        for forged in [mixed.as_str(), &changed, &value[..20], "", &ada.refresh_token] {
            let forged = format!("{name}={forged}");
            refresh(world.server, &forged).await.refused(401, "InvalidRefreshToken");
            world.server.client().delete(PATH).header("cookie", &forged).await.is(200);
        }
        refresh(world.server, &cookie).await.is(200);
        world.server.client().post(format!("{PATH}/refresh")).await.refused(401, "InvalidRefreshToken");
        // Nor is the cookie a refresh token.
        let body = json!({"refreshToken": value});
        world.server.client().post("/api/auth/refresh-token").json(body).await.refused(401, "InvalidRefreshToken");
        refresh(world.server, &cookie).await.is(200);
    }

    async fn each_use_makes_the_session_last_anew(world: World) {
        let ada = world.user().await;
        let cookie = cookie_of(world.server, &ada).await;
        let first = last_used(&ada).await;
        refresh(world.server, &cookie).await.is(200);
        assert_eq!(last_used(&ada).await, first, "pages that are opened one after another are no writes");
        rotated_ago(world.server, &ada, 61).await;
        let before = last_used(&ada).await;
        refresh(world.server, &cookie).await.is(200);
        assert!(last_used(&ada).await > before);
    }

    async fn a_use_of_the_cookie_makes_the_former_refresh_token_no_good_again(world: World) {
        let ada = world.user().await;
        let cookie = cookie_of(world.server, &ada).await;
        rotated_ago(world.server, &ada, 61).await;
        refresh(world.server, &cookie).await.is(200);
        let body = json!({"refreshToken": ada.refresh_token});
        world.server.client().post("/api/auth/refresh-token").json(body).await.refused(401, "InvalidRefreshToken");
        begin(world.server, &ada, true).await.refused(401, "InvalidRefreshToken");
        refresh(world.server, &cookie).await.is(200);
    }

    async fn another_session_takes_the_place_of_the_browsers_own(world: World) {
        let (ada, bo) = (world.user().await, world.user().await);
        let former = cookie_of(world.server, &ada).await;
        let begun = begin(world.server, &bo, true).header("cookie", &former).await.is(200);
        refresh(world.server, &former).await.refused(401, "InvalidRefreshToken");
        // With its own cookie, such as after a lost answer, it stays.
        let own = set_cookie(&begun).0;
        begin(world.server, &bo, true).header("cookie", &own).await.is(200);
        refresh(world.server, &own).await.is(200);
        // A cookie of a neighbouring domain, for all paths, comes after the one of this path.
        let both = format!("{own}; {former}");
        refresh(world.server, &both).await.is(200);
    }

    async fn what_is_missing_or_wrong_in_the_request_is_named(world: World) {
        let client = world.server.client();
        let faults = client.post(PATH).json(json!({"staySignedIn": "yes"})).await.is(422).faults();
        let fault = |field: &str, why: &str| (field.to_owned(), why.to_owned());
        assert_eq!(faults, [fault("refreshToken", "Required"), fault("staySignedIn", "InvalidValue")]);
        client.post(PATH).json(json!({"refreshToken": "x"})).await.refused(401, "InvalidRefreshToken");
        let _: Value = client.post(PATH).await.is(400).body;
    }
}
