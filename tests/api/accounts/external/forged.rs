//! A provider that forges its responses in every way there is: nobody is logged in.

use serde_json::json;

use super::{CLIENT_ID, Google, error};
use crate::support::ServerSetup;

on_sqlite! {
    async fn no_forged_id_token_logs_anybody_in(setup: ServerSetup) {
        let Some(google) = Google::start(&setup, "forging-provider", &json!({})) else { return };
        google.control("/script", &json!({})).await;
        assert!(google.log_in_as(&mut google.browser(), "ada").await.contains_key("code"), "the honest one is taken");
        let hour = 3600;
        let forged = [
            ("another issuer", json!({"claims": {"iss": "https://evil.example"}})),
            ("an issuer that begins like ours", json!({"issuerSuffix": "/"})),
            ("no issuer", json!({"claims": {"iss": null}})),
            ("another audience", json!({"claims": {"aud": "another"}})),
            ("no audience", json!({"claims": {"aud": null}})),
            ("several audiences and no party", json!({"alsoFor": "another"})),
            ("another party", json!({"claims": {"azp": "another"}})),
            ("several audiences, for another party", json!({"alsoFor": "another", "claims": {"azp": "another"}})),
            ("another nonce", json!({"claims": {"nonce": "another"}})),
            ("no nonce", json!({"claims": {"nonce": null}})),
            ("expired", json!({"age": 2 * hour, "life": hour})),
            ("from tomorrow", json!({"age": -24 * hour})),
            ("no end", json!({"claims": {"exp": null}})),
            ("no subject", json!({"claims": {"sub": null}})),
            ("an empty subject", json!({"claims": {"sub": ""}})),
            ("a subject without end", json!({"claims": {"sub": "x".repeat(300)}})),
            ("another access token", json!({"claims": {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}})),
            ("no signature", json!({"sign": "none"})),
            ("signed with the client's secret", json!({"sign": "secret"})),
            ("signed with the public key as a secret", json!({"sign": "public"})),
            ("another key under the same name", json!({"sign": "stranger"})),
            ("a key that nobody knows", json!({"kid": "unknown"})),
            ("no key's name", json!({"kid": null})),
            ("a key for encryption", json!({"kid": "for-encryption", "sign": "for-encryption"})),
            ("an algorithm that is not taken", json!({"sign": "PS256"})),
            ("changed afterwards", json!({"tamper": true})),
            ("no token at all", json!({"answer": {"access_token": "x", "token_type": "Bearer"}})),
            ("something else", json!({"answer": {"access_token": "x", "token_type": "Bearer", "id_token": "x.y.z"}})),
            ("no JSON", json!({"body": "<html>"})),
        ];
        for (what, change) in forged {
            google.control("/script", &change).await;
            let result = google.log_in_as(&mut google.browser(), "ada").await;
            assert_eq!(result, error("LoginProviderFailed"), "{what}");
        }
        for (what, change) in [
            ("unverified", json!({"claims": {"sub": "8", "email_verified": false}})),
            ("verified in other words", json!({"claims": {"sub": "8", "email_verified": null}})),
            ("no address", json!({"claims": {"sub": "8", "email": null}})),
            ("no address that can be one", json!({"claims": {"sub": "8", "email": "x"}})),
        ] {
            google.control("/script", &change).await;
            let result = google.log_in_as(&mut google.browser(), "ada").await;
            assert_eq!(result, error("EmailNotVerified"), "{what}");
        }
        // Another issuer responds in the provider's place (RFC 9207).
        google.control("/script", &json!({"answersAs": "https://evil.example"})).await;
        assert_eq!(google.log_in_as(&mut google.browser(), "ada").await, error("LoginRefused"));
        google.control("/script", &json!({"body": "x".repeat(3_000_000)})).await;
        assert_eq!(google.log_in_as(&mut google.browser(), "ada").await, error("LoginProviderUnavailable"), "without end");
        google.control("/script", &json!({"redirectTo": "/script"})).await;
        assert_ne!(google.log_in_as(&mut google.browser(), "ada").await.get("error"), None, "a redirect is not followed");
    }

    async fn permitted_variations_of_a_provider_are_accepted(setup: ServerSetup) {
        let Some(google) = Google::start(&setup, "forging-provider", &json!({})) else { return };
        let issuer_alias = json!({"claims": {"iss": "accounts.google.com"}});
        for (what, change) in [
            ("Google's other spelling", issuer_alias),
            ("ES256", json!({"sign": "ES256"})),
            ("several audiences, for us", json!({"alsoFor": "another", "claims": {"azp": CLIENT_ID}})),
            ("a clock that is a little ahead", json!({"age": -10})),
        ] {
            google.control("/script", &change).await;
            let result = google.log_in_as(&mut google.browser(), "ada").await;
            assert!(result.contains_key("code"), "{what}: {result:?}");
        }
        // Keys are rotated; the new one is fetched once, and an unknown key id causes no storm of calls.
        google.control("/rotate", &json!({})).await;
        google.control("/script", &json!({})).await;
        assert!(google.log_in_as(&mut google.browser(), "ada").await.contains_key("code"));
    }
}
