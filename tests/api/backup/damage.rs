//! Archives that are damaged, forged or of another version: refused in words, before anything is touched.

use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use super::{backup, elsewhere, restore, stop, stored};
use crate::support::ServerSetup;

/// The entries of an archive by their names, in their order.
type Entries = Vec<(String, Vec<u8>)>;

fn unpacked(archive: &Path) -> Entries {
    let mut tar = tar::Archive::new(GzDecoder::new(fs::File::open(archive).unwrap()));
    let entries = tar.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let name = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        (name, content)
    });
    entries.collect()
}

/// What a file in gzip has; nothing if it is not whole.
fn contents(packed: &[u8]) -> Option<Vec<u8>> {
    let mut contents = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut contents).ok().map(|_| contents)
}

/// Packs entries with a manifest that fits them.
fn packed(mut entries: Entries) -> Vec<u8> {
    entries.retain(|(name, _)| name != "manifest.txt");
    let line = |(name, content): &(String, Vec<u8>)| {
        let sum: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{sum} {} {name}\n", content.len())
    };
    let manifest: String = entries.iter().map(line).collect();
    entries.push(("manifest.txt".to_owned(), manifest.into_bytes()));
    tarred(&entries, tar::EntryType::Regular)
}

fn tarred(entries: &[(String, Vec<u8>)], kind: tar::EntryType) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, content) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o600);
        header.set_entry_type(if name.starts_with("keys/") { kind } else { tar::EntryType::Regular });
        // As bytes: the library refuses names that lead elsewhere.
        let field = &mut header.as_gnu_mut().unwrap().name;
        let short = &name.as_bytes()[..name.len().min(field.len())];
        field[..short.len()].copy_from_slice(short);
        if name.len() > field.len() {
            tar.append_data(&mut header, name, content.as_slice()).unwrap();
        } else {
            header.set_cksum();
            tar.append(&header, content.as_slice()).unwrap();
        }
    }
    tar.into_inner().unwrap().finish().unwrap()
}

/// What a damaged archive is called, wherever the damage is.
const ANY: &[&str] =
    &["cut off", "damaged", "not a backup", "does not belong", "not readable", "follows the", "manifest"];

/// Panics unless an archive is refused with these words and leaves nothing behind; returns the sentence.
#[track_caller]
fn refused(setup: &ServerSetup, bytes: &[u8], words: &[&str]) -> String {
    let archive = setup.data.join("archive");
    fs::write(&archive, bytes).unwrap();
    let said = restore(setup, &archive, &[]).refused(1);
    assert!(words.iter().any(|word| said.contains(word)), "{said}");
    assert_eq!(stored(&setup.data).len(), 0, "{said}");
    for file in ["colloquy.sqlite", "colloquy.sqlite.restoring", "restore-unfinished"] {
        assert!(!setup.data.join(file).exists(), "{file}: {said}");
    }
    said
}

on_both! {
    async fn a_damaged_archive_is_refused_before_anything_is_touched(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        ada.read(&project, "one.txt", b"The system shall be restored.").await;
        stop(server);
        let file = setup.data.join("backup.tar.gz");
        backup(&setup, &file);
        let whole = fs::read(&file).unwrap();
        let other = elsewhere(&setup);

        // Cut anywhere, up to the last byte.
        for cut in (0..16).map(|part| whole.len() * part / 16).chain([whole.len() - 9, whole.len() - 1]) {
            refused(&other, &whole[..cut], ANY);
        }
        let mut refusals = 0;
        // A byte that is another. The first ten are gzip's header, in which some have no meaning.
        for at in (0..24).map(|part| 10 + (whole.len() - 10) * part / 24).chain([whole.len() - 1, whole.len() - 5]) {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x20;
            // Some bits between the blocks of gzip mean nothing.
            if contents(&flipped) != contents(&whole) {
                refused(&other, &flipped, ANY);
                refusals += 1;
            }
        }
        assert!(refusals >= 20, "{refusals} of 26");
        refused(&other, &[&whole[..], b"more"].concat(), &["follows the end of the archive"]);
        refused(&other, b"A file of something else.", &["not a backup of Colloquy"]);
        refused(
            &other,
            &tarred(&[("notes.txt".to_owned(), b"hello".to_vec())], tar::EntryType::Regular),
            &["does not belong into a backup"],
        );
        let none = restore(&other, &setup.data.join("none.tar.gz"), &[]).refused(1);
        assert!(none.contains("No such file"), "{none}");

        let entries = unpacked(&file);
        for name in [
            "../escaped.key",
            "/tmp/escaped.key",
            "keys/../../escaped.key",
            "files/documents/../../../escaped",
            "files/documents/a/b/c/d/e",
        ] {
            let mut forged = entries.clone();
            forged.insert(1, (name.to_owned(), b"escaped".to_vec()));
            refused(&other, &packed(forged), &["does not belong into a backup"]);
        }
        let mut linked = entries.clone();
        linked.retain(|(name, _)| name != "manifest.txt");
        refused(&other, &tarred(&linked, tar::EntryType::Symlink), &["does not belong into a backup"]);

        // Entries that don't fit the manifest.
        let mut changed = entries.clone();
        let document = changed.iter_mut().find(|(name, _)| name.starts_with("files/documents/")).unwrap();
        document.1[0] ^= 1;
        let said = refused(&other, &tarred(&changed, tar::EntryType::Regular), &["is damaged, or missing"]);
        assert!(said.contains("files/documents/"), "{said}");
        let mut fewer = entries.clone();
        fewer.retain(|(name, _)| !name.starts_with("files/documents/"));
        refused(&other, &tarred(&fewer, tar::EntryType::Regular), &["is damaged, or missing"]);
        let mut more = entries.clone();
        more.insert(1, ("keys/access-9.key".to_owned(), b"00".to_vec()));
        refused(&other, &tarred(&more, tar::EntryType::Regular), &["is damaged, or missing"]);

        // Of another version, or of another kind.
        let said_of = |from: &str, to: &str| {
            let mut entries = entries.clone();
            let text = String::from_utf8(entries[0].1.clone()).unwrap();
            assert!(text.contains(from), "{text}");
            entries[0].1 = text.replacen(from, to, 1).into_bytes();
            packed(entries)
        };
        refused(
            &other,
            &said_of("\"format\": 1", "\"format\": 2"),
            &["made by a newer version of Colloquy (form 2; this version reads 1)"],
        );
        refused(
            &other,
            &said_of("\"00000000000001\"", "\"99990101000000\""),
            &["made by the newer version 0.1.0 of Colloquy (migration 99990101000000)"],
        );
        let (here, there) = match setup.url {
            None => ("sqlite", "postgres"),
            Some(_) => ("postgres", "sqlite"),
        };
        let (from, to) = (format!("\"kind\": \"{here}\""), format!("\"kind\": \"{there}\""));
        refused(&other, &said_of(&from, &to), &["The archive has the database of"]);

        // The whole one is restored after all of that, in the form in which the forged ones were packed.
        let repacked = setup.data.join("repacked.tar.gz");
        fs::write(&repacked, packed(entries)).unwrap();
        restore(&other, &repacked, &[]).done();
    }
}
