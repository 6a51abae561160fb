//! Tests of uploadAvatar and downloadAvatar (S17, S18).

use std::fs;
use std::future::IntoFuture;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flate2::{Compression, Crc, write::ZlibEncoder};
use futures_util::future::join_all;
use image::{DynamicImage, GenericImageView, ImageFormat, Rgb, RgbImage};

use crate::support::client::Request;
use crate::support::documents::{Part, sample};
use crate::support::{Server, ServerSetup, User, World, shape};

const MARKER: &[u8] = b"MARKER-51.5007N-0.1246W";
const AVATAR: &str = "/api/profile/avatar";

fn upload(user: &User, picture: &[u8]) -> Request {
    user.client.post_form(AVATAR, &[("file", Some("me.png"), picture)])
}

/// Uploads a picture and returns the URL of the avatar that was made of it.
async fn uploaded(user: &User, picture: &[u8]) -> String {
    upload(user, picture).await.is(200).text_of("avatarUrl")
}

/// Uploads a picture and returns the avatar, as bytes and decoded. Panics unless it is WebP of 512 × 512 pixels.
async fn face(user: &User, picture: &[u8]) -> (Vec<u8>, DynamicImage) {
    let url = uploaded(user, picture).await;
    let bytes = user.client.get(url).await.is(200).bytes;
    let face = image::load_from_memory_with_format(&bytes, ImageFormat::WebP).unwrap();
    assert_eq!(face.dimensions(), (512, 512));
    (bytes, face)
}

fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    picture.into().write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

fn plain(width: u32, height: u32, colour: [u8; 3]) -> RgbImage {
    RgbImage::from_pixel(width, height, Rgb(colour))
}

/// A picture of two halves: the left one red, the right one blue.
fn halves(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, _| Rgb(if x < width / 2 { [220, 20, 20] } else { [20, 20, 220] }))
}

fn is_red(face: &DynamicImage, x: u32, y: u32) -> bool {
    let pixel = face.get_pixel(x, y).0;
    pixel[0] > 150 && pixel[2] < 100
}

fn has(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

/// A JPEG as a camera writes it: with an EXIF orientation, a location in an EXIF text, and a comment.
fn from_a_camera(picture: RgbImage, orientation: u8) -> Vec<u8> {
    let jpeg = encoded(picture, ImageFormat::Jpeg);
    let text = u8::try_from(MARKER.len()).unwrap();
    let mut exif = b"Exif\0\0II*\0\x08\0\0\0\x02\0".to_vec();
    exif.extend([0x0E, 0x01, 2, 0, text, 0, 0, 0, 38, 0, 0, 0]);
    exif.extend([0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0]);
    exif.extend([0, 0, 0, 0]);
    exif.extend(MARKER);
    let segment = |kind: u8, content: &[u8]| {
        let length = u16::try_from(content.len() + 2).unwrap().to_be_bytes();
        [&[0xFF, kind], &length[..], content].concat()
    };
    [&jpeg[..2], &segment(0xE1, &exif), &segment(0xFE, MARKER), &jpeg[2..]].concat()
}

fn chunk(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let mut crc = Crc::new();
    crc.update(kind);
    crc.update(content);
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&length[..], kind, content, &crc.sum().to_be_bytes()].concat()
}

/// Inserts chunks after the header of a PNG.
fn with_chunks(png: &[u8], chunks: &[Vec<u8>]) -> Vec<u8> {
    [&png[..33], &chunks.concat(), &png[33..]].concat()
}

/// A PNG of one bit per pixel, all black, of any size, in a few bytes.
fn bomb(width: u32, height: u32) -> Vec<u8> {
    let row = vec![0; usize::try_from(width.div_ceil(8) + 1).unwrap()];
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::new(1));
    for _ in 0..height {
        packed.write_all(&row).unwrap();
    }
    let head = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[1, 0, 0, 0, 0]].concat();
    let packed = packed.finish().unwrap();
    [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IHDR", &head), chunk(b"IDAT", &packed), chunk(b"IEND", b"")].concat()
}

/// Returns the server's peak memory so far, in MiB.
fn peak_mib(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

/// Returns the paths of all stored avatars, without uploads in progress.
fn stored_files(data: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(data.join("avatars")).into_iter().flatten().flatten();
    let folders = folders.filter(|folder| folder.path().is_dir() && folder.file_name() != "incoming");
    folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap()).map(|file| file.unwrap().path()).collect()
}

async fn stored_files_become(data: &Path, count: usize) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while stored_files(data).len() != count {
        assert!(Instant::now() < deadline, "{} of {count} faces are kept", stored_files(data).len());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The parts of a form, and the errors expected for it: fields and codes.
type Wrong<'a> = (&'a [Part<'a>], &'a [(&'a str, &'a str)]);

on_both! {
    async fn of_many_uploads_at_once_one_avatar_file_stays(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let pictures: Vec<Vec<u8>> =
            (0..6).map(|shade| encoded(plain(16, 16, [shade * 40, 10, 10]), ImageFormat::Png)).collect();
        let uploads = pictures.iter().map(|picture| {
            ada.client.apart().post_form(AVATAR, &[("file", Some("me.png"), picture)]).into_future()
        });
        for answer in join_all(uploads).await {
            answer.is(200);
        }
        let url = ada.client.get("/api/profile").await.is(200).text_of("avatarUrl");
        ada.client.get(url).await.is(200);
        stored_files_become(&server.data, 1).await;
        assert_eq!(fs::read_dir(server.data.join("avatars/incoming")).unwrap().count(), 0);
    }

    async fn an_avatar_of_two_accounts_is_deleted_with_the_second(setup: ServerSetup) {
        let server = setup.start(&[]);
        let (ada, ben) = (server.user().await, server.user().await);
        let same = encoded(plain(16, 16, [40, 10, 10]), ImageFormat::Png);
        let (of_ada, of_ben) = (uploaded(&ada, &same).await, uploaded(&ben, &same).await);
        stored_files_become(&server.data, 1).await;
        uploaded(&ada, &encoded(plain(16, 16, [9, 9, 9]), ImageFormat::Png)).await;
        stored_files_become(&server.data, 2).await;
        ben.client.get(&of_ben).await.is(200);
        ada.client.get(&of_ada).await.is(200);
        uploaded(&ben, &encoded(plain(16, 16, [9, 9, 9]), ImageFormat::Png)).await;
        stored_files_become(&server.data, 1).await;
    }

    /// The state after a kill between the file and its row: an upload enqueues the job before it writes either.

    async fn an_avatar_file_without_a_row_is_deleted(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        uploaded(&ada, &encoded(plain(16, 16, [40, 10, 10]), ImageFormat::Png)).await;
        let waiting = server.waiting_jobs("forget-avatar").await;
        assert_eq!(waiting.len(), 1, "{waiting:?}");
        let own = stored_files(&server.data).pop().unwrap();
        assert!(waiting[0].contains(own.file_name().unwrap().to_str().unwrap()));
        let stray = "ab".repeat(32);
        fs::create_dir_all(server.data.join("avatars/ab")).unwrap();
        fs::write(server.data.join("avatars/ab").join(&stray), b"x").unwrap();
        server.enqueue("forget-avatar", serde_json::json!({"sha256": stray})).await;
        server.make_due("forget-avatar").await;
        stored_files_become(&server.data, 1).await;
        assert!(own.exists(), "a face that has its row stays");
    }
}

// The database has no part in these.
on_sqlite! {
    async fn an_avatar_is_the_middle_of_a_picture_encoded_anew(world: World) {
        let ada = world.user().await;
        let answer = upload(&ada, &encoded(halves(900, 300), ImageFormat::Png)).await.is(200);
        let url = answer.text_of("avatarUrl");
        assert!(url.starts_with(&format!("/api/users/{}/avatar?v=", ada.id)), "{url}");
        assert!(shape::time(&answer.data()["updatedAt"]) > shape::time(&answer.data()["createdAt"]));
        assert_eq!(ada.client.get("/api/profile").await.is(200).data(), answer.data());
        let got = ada.client.get(&url).await.is(200);
        let header = |name: &str| got.header(name).unwrap().to_owned();
        assert_eq!(header("content-type"), "image/webp");
        assert_eq!(header("content-disposition"), "attachment; filename=\"avatar.webp\"");
        assert_eq!(header("cache-control"), "private, no-cache");
        assert_eq!(header("content-length"), got.bytes.len().to_string());
        let face = image::load_from_memory_with_format(&got.bytes, ImageFormat::WebP).unwrap();
        assert_eq!(face.dimensions(), (512, 512));
        assert!(is_red(&face, 200, 256) && !is_red(&face, 312, 256), "the middle, and both halves of it");
        let login = world.nobody.post("/api/auth/login");
        let login = login.json(serde_json::json!({"email": ada.email, "password": crate::support::builders::PASSWORD}));
        assert_eq!(login.await.is(200).data()["user"]["avatarUrl"], url);
    }

    async fn an_avatar_is_shown_to_accounts_only_and_revalidated_by_etag(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let url = uploaded(&ada, &encoded(plain(8, 8, [1, 2, 3]), ImageFormat::Png)).await;
        let etag = ben.client.get(&url).await.is(200).etag();
        let again = ben.client.get(&url).header("if-none-match", &etag).await.is(304);
        assert!(again.bytes.is_empty() && again.etag() == etag && again.header("cache-control") == Some("private, no-cache"));
        ben.client.get(&url).header("if-none-match", "\"other\"").await.is(200);
        world.nobody.get(&url).await.refused(401, "Unauthorized");
        ada.client.get(format!("/api/users/{}/avatar", ben.id)).await.refused(404, "NotFound");
        ada.client.get("/api/users/0189a0f0-0000-7000-8000-000000000000/avatar").await.refused(404, "NotFound");
        let next = uploaded(&ada, &encoded(plain(8, 8, [9, 9, 9]), ImageFormat::Png)).await;
        assert_ne!(url, next, "a new face has a new address");
        let newer = ben.client.get(&url).header("if-none-match", &etag).await.is(200);
        assert_ne!(newer.etag(), etag);
    }

    async fn nothing_but_pixels_gets_through(world: World) {
        let ada = world.user().await;
        let png = encoded(plain(40, 40, [7, 99, 7]), ImageFormat::Png);
        let mut compressed = ZlibEncoder::new(Vec::new(), Compression::new(6));
        compressed.write_all(MARKER).unwrap();
        let noted = with_chunks(&png, &[
            chunk(b"tEXt", &[b"Comment\0", MARKER].concat()),
            chunk(b"zTXt", &[b"Author\0\0".to_vec(), compressed.finish().unwrap()].concat()),
            chunk(b"iTXt", &[b"XML:com.adobe.xmp\0\0\0\0\0", MARKER].concat()),
            chunk(b"eXIf", &[b"MM\0*\0\0\0\x08", MARKER].concat()),
        ]);
        let with_page = [&png[..], b"<html><script>MARKER</script>", MARKER].concat();
        let with_archive = [&png[..], b"PK\x03\x04", MARKER, b"PK\x05\x06"].concat();
        let camera = from_a_camera(plain(40, 40, [7, 99, 7]), 1);
        for picture in [noted, with_page, with_archive, camera] {
            assert!(has(&picture, MARKER));
            let (bytes, face) = face(&ada, &picture).await;
            assert!(!has(&bytes, MARKER) && !has(&bytes, b"script") && !has(&bytes, b"PK\x03\x04"));
            assert!(!has(&bytes, b"EXIF") && !has(&bytes, b"XMP ") && !has(&bytes, b"ICCP"), "no chunk of metadata");
            assert!(face.get_pixel(256, 256).0[1] > 80);
        }
    }

    async fn a_picture_is_turned_as_the_camera_noted(world: World) {
        let ada = world.user().await;
        let (_, upright) = face(&ada, &from_a_camera(halves(60, 60), 1)).await;
        assert!(is_red(&upright, 50, 256) && !is_red(&upright, 460, 256));
        let (_, turned) = face(&ada, &from_a_camera(halves(60, 60), 6)).await;
        assert!(is_red(&turned, 256, 50) && !is_red(&turned, 256, 460), "what was left is on top");
        let (_, mirrored) = face(&ada, &from_a_camera(halves(60, 60), 2)).await;
        assert!(!is_red(&mirrored, 50, 256) && is_red(&mirrored, 460, 256));
    }

    async fn pictures_of_every_kind_become_avatars(world: World) {
        let ada = world.user().await;
        let mut pictures: Vec<(String, Vec<u8>)> = ["cmyk.jpg", "progressive.jpg", "palette.png", "one-bit.png",
            "gray-16.png", "gray-alpha.png", "animated.png", "animated.webp"]
            .iter().map(|name| ((*name).to_owned(), sample(&format!("pictures/{name}")))).collect();
        let deep = DynamicImage::from(plain(30, 30, [200, 100, 50]));
        pictures.push(("16 bits".to_owned(), encoded(deep.to_rgba16(), ImageFormat::Png)));
        pictures.push(("16 bits of gray".to_owned(), encoded(deep.to_luma16(), ImageFormat::Png)));
        pictures.push(("WebP".to_owned(), encoded(deep.to_rgba8(), ImageFormat::WebP)));
        for (width, height) in [(1, 1), (1, 20_000), (20_000, 1), (3, 2)] {
            pictures.push((format!("{width} × {height}"), encoded(plain(width, height, [9, 8, 7]), ImageFormat::Png)));
        }
        for (name, picture) in pictures {
            println!("{name}");
            let (_, face) = face(&ada, &picture).await;
            if name.starts_with("animated") {
                assert!(is_red(&face, 256, 256), "{name}: its first picture");
            }
        }
    }

    async fn what_is_no_picture_is_refused_whatever_it_is_called(world: World) {
        let ada = world.user().await;
        let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>".to_vec();
        let others = [svg, sample("pictures/animated.gif"), sample("call-for-tenders.docx"), b"hello".to_vec(), Vec::new(),
            b"BM\x00\x00".to_vec(), b"\0\0\0\x20ftypavif".to_vec(), b"%PDF-1.7".to_vec()];
        for other in others {
            upload(&ada, &other).await.refused(415, "UnsupportedMediaType");
        }
        assert!(ada.client.get("/api/profile").await.data()["avatarUrl"].is_null());
    }

    async fn a_damaged_picture_is_422(world: World) {
        let ada = world.user().await;
        let png = encoded(halves(300, 300), ImageFormat::Png);
        let webp = encoded(halves(300, 300), ImageFormat::WebP);
        let damaged = [png[..png.len() / 2].to_vec(), png[..40].to_vec(), webp[..webp.len() / 2].to_vec(),
            b"\xFF\xD8\xFF\xE0".to_vec(), b"\x89PNG\r\n\x1a\n".to_vec(), b"RIFF\x04\0\0\0WEBP".to_vec()];
        for picture in damaged {
            let refused = upload(&ada, &picture).await.is(422);
            assert_eq!(refused.faults(), [("file".to_owned(), "InvalidValue".to_owned())]);
        }
    }

    async fn a_form_is_one_file_and_nothing_else(world: World) {
        let ada = world.user().await;
        let png = encoded(plain(4, 4, [0, 0, 0]), ImageFormat::Png);
        let file: Part<'_> = ("file", Some("a.png"), &png);
        let wrong: [Wrong<'_>; 4] = [
            (&[], &[("file", "Required")]),
            (&[("picture", Some("a.png"), &png)], &[("file", "Required"), ("picture", "UnknownKey")]),
            (&[file, file], &[("file", "Repeated")]),
            (&[file, ("language", None, b"EN")], &[("language", "UnknownKey")]),
        ];
        for (parts, faults) in wrong {
            let refused = ada.client.post_form(AVATAR, parts).await.is(422);
            let faults: Vec<_> = faults.iter().map(|(field, code)| ((*field).to_owned(), (*code).to_owned())).collect();
            assert_eq!(refused.faults(), faults);
        }
        ada.client.post(AVATAR).body("image/png", png.clone()).await.refused(400, "BadRequest");
        let large = vec![0; 5 * 1024 * 1024 + 1];
        upload(&ada, &large).await.refused(413, "PayloadTooLarge");
        let (kind, body) = crate::support::documents::form(&[file]);
        ada.client.post(AVATAR).body(&kind, body[..body.len() - 20].to_vec()).await.refused(400, "BadRequest");
        assert!(ada.client.get("/api/profile").await.data()["avatarUrl"].is_null());
    }

    async fn a_picture_that_would_fill_the_memory_is_refused_before_it_does(setup: ServerSetup) {
        let mut huge = bomb(64, 64);
        huge[16..24].copy_from_slice(&[0, 0, 0xC3, 0x50, 0, 0, 0xC3, 0x50]);
        let huge = [&huge[..8], &chunk(b"IHDR", &huge[16..29]), &huge[33..]].concat();
        // 50,000 × 50,000 pixels; 361 million pixels in a few bytes; more than 20,000 pixels wide; and a text that
        // unpacks to 512 MiB.
        let bombs = [huge, bomb(19_000, 19_000), bomb(20_001, 1)];
        let mut text = ZlibEncoder::new(Vec::new(), Compression::new(1));
        for _ in 0..512 {
            text.write_all(&vec![0; 1024 * 1024]).unwrap();
        }
        let noted = chunk(b"zTXt", &[b"Comment\0\0".to_vec(), text.finish().unwrap()].concat());
        let noted = with_chunks(&encoded(plain(8, 8, [0; 3]), ImageFormat::Png), &[noted]);
        let server = setup.start(&[]);
        let ada = server.user().await;
        uploaded(&ada, &encoded(plain(8, 8, [1, 2, 3]), ImageFormat::Png)).await;
        let before = peak_mib(&server);
        for bomb in bombs {
            let refused = upload(&ada, &bomb).await.is(422);
            assert_eq!(refused.faults(), [("file".to_owned(), "InvalidValue".to_owned())]);
        }
        assert!(matches!(upload(&ada, &noted).await.status, 200 | 422));
        let after = peak_mib(&server);
        assert!(after < before + 64, "{before} MiB grew to {after} MiB");
        server.client().get("/health/ready").await.is(200);
    }
}
