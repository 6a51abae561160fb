//! Access tokens (S7): every one of a corpus of forged tokens is refused, and the signing keys are stored safely.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use crate::support::server::APP_URL;
use crate::support::{ServerSetup, World};

/// Returns the key that signs access tokens, from the server's data folder.
pub fn key(data: &Path) -> Vec<u8> {
    let text = std::fs::read_to_string(data.join("keys/access-1.key")).unwrap();
    hex::decode(text.trim()).unwrap()
}

/// Returns a part of a token, decoded: 0 is the header, 1 are the claims.
pub fn part(token: &str, index: usize) -> Value {
    let part = token.split('.').nth(index).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

/// Returns a token with this header and these claims, signed with `key`.
pub fn signed(header: &Header, claims: &Value, key: &[u8]) -> String {
    encode(header, claims, &EncodingKey::from_secret(key)).unwrap()
}

/// Returns the claims with one of them set to `value`.
pub fn with(claims: &Value, name: &str, value: Value) -> Value {
    let mut claims = claims.clone();
    claims[name] = value;
    claims
}

fn without(claims: &Value, name: &str) -> Value {
    let mut claims = claims.clone();
    claims.as_object_mut().unwrap().remove(name);
    claims
}

on_sqlite! {
    async fn a_forged_token_is_401_to_the_last(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let key = key(&world.server.data);
        let token = ada.client.token().to_owned();
        let claims = part(&token, 1);
        let bens = part(ben.client.token(), 1);
        let header = Header { typ: Some("at+jwt".to_owned()), kid: Some("access-1".to_owned()), ..Header::default() };
        let now = chrono::DateTime::<chrono::Utc>::from(std::time::SystemTime::now()).timestamp();
        let ok = |token: String| world.nobody.bearing(&token).get("/api/projects");

        // The corpus is meaningful: a token signed like this is accepted.
        ok(signed(&header, &claims, &key)).await.is(200);
        ok(signed(&header, &with(&claims, "exp", json!(now - 2)), &key)).await.is(200);

        let b64 = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let pieces: Vec<&str> = token.split('.').collect();
        let unsigned = json!({"alg": "none", "typ": "at+jwt", "kid": "access-1"});
        let mut corpus = vec![
            ("nothing", String::new()),
            ("no token", "x".to_owned()),
            ("alg none, no signature", format!("{}.{}.", b64(&unsigned), pieces[1])),
            ("alg none, the old signature", format!("{}.{}.{}", b64(&unsigned), pieces[1], pieces[2])),
            ("alg NONE", format!("{}.{}.", b64(&json!({"alg": "NONE", "typ": "at+jwt", "kid": "access-1"})), pieces[1])),
            ("no signature", format!("{}.{}.", pieces[0], pieces[1])),
            ("two parts", format!("{}.{}", pieces[0], pieces[1])),
            ("four parts", format!("{token}.{}", pieces[2])),
            ("another's payload", format!("{}.{}.{}", pieces[0], b64(&bens), pieces[2])),
            ("another key", signed(&header, &claims, b"another key of thirty-two bytes!")),
            ("an empty key", signed(&header, &claims, b"")),
            ("a key id of nobody", signed(&Header { kid: Some("access-2".to_owned()), ..header.clone() }, &claims, &key)),
            ("a key id that is a path", signed(&Header { kid: Some("../secret".to_owned()), ..header.clone() }, &claims, &key)),
            ("no key id", signed(&Header { kid: None, ..header.clone() }, &claims, &key)),
            ("an id token", signed(&Header { typ: Some("JWT".to_owned()), ..header.clone() }, &claims, &key)),
            ("no type", signed(&Header { typ: None, ..header.clone() }, &claims, &key)),
            ("HS384", signed(&Header { alg: Algorithm::HS384, ..header.clone() }, &claims, &key)),
            ("HS512", signed(&Header { alg: Algorithm::HS512, ..header.clone() }, &claims, &key)),
            ("too long", format!("{token}{}", "x".repeat(4096))),
            ("the refresh token", ada.refresh_token.clone()),
        ];
        let claimed = [
            ("another issuer", with(&claims, "iss", json!("http://elsewhere.test"))),
            ("another audience", with(&claims, "aud", json!("http://elsewhere.test"))),
            ("expired", with(&claims, "exp", json!(now - 10))),
            ("long expired", with(&claims, "exp", json!(1))),
            ("an expiry that is a text", with(&claims, "exp", json!("never"))),
            ("from the future", with(&claims, "iat", json!(now + 60))),
            ("nobody's", with(&claims, "sub", json!("nobody"))),
            ("no session", without(&claims, "sid")),
            ("no subject", without(&claims, "sub")),
            ("no expiry", without(&claims, "exp")),
            ("no audience", without(&claims, "aud")),
            ("no issuer", without(&claims, "iss")),
            ("no id", without(&claims, "jti")),
        ];
        corpus.extend(claimed.iter().map(|(what, claims)| (*what, signed(&header, claims, &key))));
        for (what, forged) in corpus {
            let answer = ok(forged).await;
            assert_eq!(answer.status, 401, "{what}");
            answer.refused(401, "Unauthorized");
        }
        for index in 0..pieces[2].len() - 1 {
            let mut changed = pieces[2].to_owned().into_bytes();
            changed[index] = if changed[index] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            ok(format!("{}.{}.{changed}", pieces[0], pieces[1])).await.refused(401, "Unauthorized");
        }
        ada.client.get("/api/projects").await.is(200);
    }

    /// Whoever has the key can write any number; none of them may stop a handler half-way.
    async fn a_signed_token_with_times_that_nobody_reaches_is_accepted_or_401(world: World) {
        let ada = world.user().await;
        let (key, claims) = (key(&world.server.data), part(ada.client.token(), 1));
        let header = Header { typ: Some("at+jwt".to_owned()), kid: Some("access-1".to_owned()), ..Header::default() };
        let late = ["9223372036854775807", "9223372036854775802", "18446744073709551615", "253402300800"];
        let early = ["-9223372036854775808", "-1", "0", "-1e308", "1e-308"];
        for (number, is_late) in late.map(|text| (text, true)).into_iter().chain(early.map(|text| (text, false))) {
            for (name, is_valid) in [("exp", is_late), ("iat", !is_late), ("nbf", true)] {
                let token = signed(&header, &with(&claims, name, serde_json::from_str(number).unwrap()), &key);
                for _ in 0..2 {
                    let answer = world.nobody.bearing(&token).get("/api/projects").await;
                    assert_eq!(answer.status, if is_valid { 200 } else { 401 }, "{name} {number}");
                }
            }
        }
    }

    async fn a_token_is_accepted_only_as_bearer_in_one_authorization_header(world: World) {
        let ada = world.user().await;
        let token = ada.client.token();
        let nobody = || world.nobody.get("/api/projects");
        for header in [
            token.to_owned(),
            format!("Basic {token}"),
            format!("Bearer  {token}"),
            format!("Bearer {token} x"),
            "Bearer".to_owned(),
        ] {
            nobody().header("authorization", &header).await.refused(401, "Unauthorized");
        }
        let twice = nobody().header("authorization", format!("Bearer {token}")).also("authorization", "Bearer x");
        twice.await.refused(401, "Unauthorized");
        world.nobody.get(format!("/api/projects?access_token={token}")).await.refused(401, "Unauthorized");
        let refused = nobody().await.refused(401, "Unauthorized");
        assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
        nobody().header("authorization", format!("bearer {token}")).await.is(200);
    }

    async fn a_token_names_its_subject_audience_and_expiry(world: World) {
        let ada = world.user().await;
        let (header, claims) = (part(ada.client.token(), 0), part(ada.client.token(), 1));
        assert_eq!(header, json!({"typ": "at+jwt", "alg": "HS256", "kid": "access-1"}));
        assert_eq!((&claims["iss"], &claims["aud"], &claims["sub"]), (&json!(APP_URL), &json!(APP_URL), &json!(ada.id)));
        assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 900);
    }

    async fn a_token_that_expires_is_refused(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__ACCOUNTS__ACCESS_TOKEN_SECONDS", "1")]);
        let ada = server.user().await;
        ada.client.get("/api/projects").await.is(200);
        tokio::time::sleep(std::time::Duration::from_millis(7100)).await;
        ada.client.get("/api/projects").await.refused(401, "Unauthorized");
    }

    async fn keys_are_made_once_and_nobody_else_can_read_them(setup: ServerSetup) {
        let server = setup.start(&[]);
        let folder = setup.data.join("keys");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let read = || {
            let mut keys: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
            keys.sort();
            keys.into_iter().map(|key| (mode(&key), std::fs::read(&key).unwrap(), key)).collect::<Vec<_>>()
        };
        let keys = read();
        assert_eq!(mode(&folder), 0o700);
        assert_eq!(keys.len(), 2);
        assert!(keys.iter().all(|(mode, _, _)| *mode == 0o600));
        assert_ne!(keys[0].1, keys[1].1);
        server.kill();
        setup.start(&[]);
        assert_eq!(read(), keys);
    }

    async fn keys_readable_by_others_are_refused(setup: ServerSetup) {
        setup.start(&[]).kill();
        let key = setup.data.join("keys/secret.key");
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
        let (status, said) = setup.refused(&[]);
        assert!(!status.success() && said.contains("secret.key"), "{said}");
    }
}
