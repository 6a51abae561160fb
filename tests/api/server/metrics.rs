//! `/metrics`: every metric says what it is.

use std::collections::BTreeMap;

use crate::support::{Socket, World};

/// The names of the series in a text, without the suffixes of a histogram's.
fn families(text: &str) -> Vec<String> {
    let series = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let mut names: Vec<String> = series
        .map(|line| {
            let name = line.split(['{', ' ']).next().unwrap();
            let suffixes = ["_bucket", "_sum", "_count"];
            suffixes.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name).to_owned()
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

fn said<'a>(text: &'a str, what: &str) -> BTreeMap<&'a str, &'a str> {
    let said = text.lines().filter_map(|line| line.strip_prefix("# ")?.strip_prefix(what)?.trim().split_once(' '));
    said.collect()
}

on_both! {
    async fn every_metric_has_help_and_a_type(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.client.get(format!("{}x", ada.meeting_path(&project).await)).await.is(400);
        drop(Socket::open(&ada.client).await);
        let text = world.server.operator().get("/metrics").await.is(200).text();
        let (help, types) = (said(&text, "HELP"), said(&text, "TYPE"));
        let names = families(&text);
        assert!(names.len() >= 14, "{names:?}");
        for name in &names {
            assert!(help.get(name.as_str()).is_some_and(|help| help.len() > 10), "{name} has no HELP:\n{text}");
            assert!(["counter", "gauge", "histogram"].contains(types.get(name.as_str()).unwrap_or(&"")), "{name} has no TYPE:\n{text}");
            assert!(name.starts_with("colloquy_"), "{name}");
        }
        let build = text.lines().find(|line| line.starts_with("colloquy_build_info{")).unwrap();
        for label in [r#"version="0."#, r#"commit=""#, r#"rustc="rustc 1."#] {
            assert!(build.contains(label), "{build}");
        }
        assert!(build.ends_with(" 1"), "{build}");
    }
}
