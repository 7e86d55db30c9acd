//! Files on a real database, in a folder and in an S3-compatible store.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base::{Clock as _, Secret};
use blobs::{Blobs, S3};
use bytes::Bytes;
use files::{Expected, File, Files, FilesError, Link, Lookup, NewFile, Settings};
use futures_util::TryStreamExt as _;
use store::Store;
use store::teams::{self, Team};
use tempfile::TempDir;
use testkit::{Bucket, ManualClock};
use url::Url;

const HERE: &str = "http://quarry.test:3002";
const HOUR: Duration = Duration::from_secs(3600);

struct World {
    store: Store,
    blobs: Blobs,
    clock: ManualClock,
    folder: TempDir,
}

impl World {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/quarry.db", folder.path().display());
        let store = Store::open(&url, store::Options::default()).await.unwrap();
        store.migrate().await.unwrap();
        let clock = ManualClock::default();
        for team in ["red", "blue"] {
            let team = Team::new(team, team, clock.now());
            teams::create(&mut store.conn().await.unwrap(), &team).await.unwrap();
        }
        let blobs = Blobs::open(&format!("file://{}/blobs", folder.path().display())).unwrap();
        Self { store, blobs, clock, folder }
    }

    fn files(&self, settings: Settings) -> Files {
        Files::new(self.store.clone(), self.blobs.clone(), Arc::new(self.clock.clone()), settings)
    }

    fn new_file(&self, name: &str) -> NewFile {
        NewFile {
            team: "red".to_owned(),
            owner: "run".to_owned(),
            kind: "screenshot",
            name: name.to_owned(),
            content_type: "image/png".to_owned(),
            expires_at: self.clock.now() + HOUR,
        }
    }

    /// Returns all files in the blob folder.
    fn kept(&self) -> Vec<PathBuf> {
        testkit::files_below(&self.folder.path().join("blobs")).unwrap()
    }
}

fn expected(team: &str) -> Expected {
    let (team, name) = (team.to_owned(), "a.pdf".to_owned());
    Expected { team, name, content_type: "application/pdf".to_owned(), max_bytes: 100 }
}

/// Parses a URL as a server does.
async fn find(files: &Files, url: &str) -> Lookup {
    let url = Url::parse(url).unwrap();
    let path: Vec<&str> = url.path_segments().unwrap().collect();
    let [.., "files", id, name] = path.as_slice() else { panic!("{url}") };
    let name = url::form_urlencoded::parse(name.as_bytes()).next().unwrap().0.into_owned();
    let query = |wanted: &str| url.query_pairs().find(|(key, _)| key == wanted).unwrap().1.into_owned();
    let (until, signature) = (query("until").parse().unwrap(), query("signature"));
    files.find(&Link { id: id.parse().unwrap(), name: &name, until, signature: &signature }).await.unwrap()
}

async fn found(files: &Files, url: &str) -> File {
    match find(files, url).await {
        Lookup::Found(file) => file,
        other => panic!("{other:?}"),
    }
}

async fn text(files: &Files, file: &File) -> Vec<u8> {
    let pieces: Vec<Bytes> = files.read(file, 0..file.bytes).await.unwrap().unwrap().try_collect().await.unwrap();
    pieces.concat()
}

#[tokio::test]
async fn a_file_is_read_by_its_url_until_its_end() {
    let world = World::start().await;
    let (one, another) = (world.files(Settings::default()), world.files(Settings::default()));
    let kept = one.keep(world.new_file("seite 1.png"), "bytes".into(), HERE).await.unwrap();
    assert!(kept.url.starts_with(&format!("{HERE}/files/")), "{}", kept.url);
    let file = found(&another, &kept.url).await;
    assert_eq!((file.content_type.as_str(), file.bytes, file.left), ("image/png", 5, HOUR));
    assert_eq!(file.disposition, "inline; filename=\"seite 1.png\"");
    assert_eq!(text(&another, &file).await, b"bytes");
    assert_eq!(another.elsewhere(&file).await.unwrap(), None);
    world.clock.advance(HOUR);
    assert_eq!(find(&another, &kept.url).await, Lookup::Gone);
    assert_eq!(another.sweep().await.unwrap(), 1);
    assert_eq!(world.kept(), Vec::<PathBuf>::new());
    assert_eq!((find(&one, &kept.url).await, one.sweep().await.unwrap()), (Lookup::Gone, 0));
}

#[tokio::test]
async fn a_url_for_one_file_opens_no_other() {
    let world = World::start().await;
    let files = world.files(Settings::default());
    let mine = files.keep(world.new_file("a.png"), "mine".into(), HERE).await.unwrap();
    let theirs = NewFile { team: "blue".to_owned(), ..world.new_file("a.png") };
    let theirs = files.keep(theirs, "theirs".into(), HERE).await.unwrap();
    let (path, query) = (theirs.url.split('?').next().unwrap(), mine.url.split('?').nth(1).unwrap());
    assert_eq!(find(&files, &format!("{path}?{query}")).await, Lookup::Unknown);
    assert_eq!(find(&files, &mine.url.replace("a.png", "a.html")).await, Lookup::Unknown);
    let elsewhere = World::start().await;
    assert_eq!(find(&elsewhere.files(Settings::default()), &mine.url).await, Lookup::Unknown, "another database");
}

#[tokio::test]
async fn the_files_of_an_owner_go_together() {
    let world = World::start().await;
    let files = world.files(Settings::default());
    let new =
        |team: &str, owner: &str| NewFile { team: team.to_owned(), owner: owner.to_owned(), ..world.new_file("a.png") };
    let mut urls = Vec::new();
    for (team, owner) in [("red", "run"), ("red", "run"), ("red", "other"), ("blue", "run")] {
        urls.push(files.keep(new(team, owner), "x".into(), HERE).await.unwrap().url);
    }
    assert_eq!(files.erase("red", "run").await.unwrap(), 2);
    assert_eq!(world.kept().len(), 2);
    for (url, stays) in urls.iter().zip([false, false, true, true]) {
        assert_eq!(matches!(find(&files, url).await, Lookup::Found(_)), stays, "{url}");
    }
    assert_eq!(files.erase("red", "run").await.unwrap(), 0);
}

/// The process dies after writing the row and before writing the content.
#[tokio::test]
async fn a_row_without_bytes_is_gone_and_goes() {
    let world = World::start().await;
    let files = world.files(Settings::default());
    let kept = files.keep(world.new_file("a.png"), "x".into(), HERE).await.unwrap();
    std::fs::remove_file(world.kept().pop().unwrap()).unwrap();
    let file = found(&files, &kept.url).await;
    assert!(files.read(&file, 0..1).await.unwrap().is_none());
    world.clock.advance(HOUR);
    assert_eq!(files.sweep().await.unwrap(), 1);
}

/// A file may expire before its content is written, as when its owner is erased meanwhile.
#[tokio::test]
async fn no_bytes_stay_without_a_row() {
    let world = World::start().await;
    let files = world.files(Settings::default());
    let over = NewFile { expires_at: world.clock.now(), ..world.new_file("a.png") };
    let kept = files.keep(over, "x".into(), HERE).await.unwrap();
    assert_eq!(world.kept(), Vec::<PathBuf>::new());
    assert_eq!((find(&files, &kept.url).await, files.sweep().await.unwrap()), (Lookup::Gone, 1));
}

#[tokio::test]
async fn of_two_who_send_at_once_one_is_taken() {
    let world = World::start().await;
    let files = world.files(Settings::default());
    for round in 0..20 {
        let place = files.expect(expected("red"), HERE).await.unwrap();
        let [one, other] = ["one", "other"].map(|text| files.receive(place.id, Bytes::from(format!("{text} {round}"))));
        let (one, other) = tokio::join!(one, other);
        let (one, other) = (one.unwrap(), other.unwrap());
        assert!(one != other, "{round}: {one} {other}");
        assert_eq!(world.kept().len(), 1, "the other left nothing");
        assert!(!files.receive(place.id, Bytes::from_static(b"late")).await.unwrap());
        let said = format!("{} {round}", if one { "one" } else { "other" });
        assert_eq!(files.sent("red", place.id).await.unwrap(), Some(said.len() as u64));
        assert_eq!(files.sent("blue", place.id).await.unwrap(), None);
        let sent = files.take("red", place.id).await.unwrap().unwrap();
        assert_eq!(sent.bytes, said.as_bytes());
        assert!(world.kept().is_empty() && files.take("red", place.id).await.unwrap().is_none());
    }
    // An upload that completes after the expiry of its place leaves nothing behind.
    let place = files.expect(expected("red"), HERE).await.unwrap();
    world.clock.advance(HOUR + HOUR);
    assert!(!files.receive(place.id, Bytes::from_static(b"late")).await.unwrap());
    assert_eq!((files.sweep().await.unwrap(), world.kept().len()), (1, 0));
}

#[tokio::test]
async fn what_a_team_has_not_read_is_bounded() {
    let world = World::start().await;
    let files = world.files(Settings { max_unread_uploads: 3, ..Settings::default() });
    // The limit holds for concurrent requests too.
    let asked = futures_util::future::join_all((0..8).map(|_| files.expect(expected("red"), HERE))).await;
    let (places, refused): (Vec<_>, Vec<_>) = asked.into_iter().partition(Result::is_ok);
    assert_eq!((places.len(), refused.len()), (3, 5));
    for refusal in refused {
        let Err(FilesError::Unread { why, wait }) = refusal else { panic!("there is room for all") };
        assert!(why.starts_with("this team has 3 upload URLs") && why.contains("files.max_unread_uploads"), "{why}");
        assert!(wait > Duration::from_secs(890) && wait <= Duration::from_secs(900), "{wait:?}");
    }
    assert!(files.expect(expected("blue"), HERE).await.is_ok(), "another team has places of its own");
    // A read upload makes room, and so does an expired one.
    let place = places.into_iter().next().unwrap().unwrap();
    assert!(files.receive(place.id, Bytes::from_static(b"text")).await.unwrap());
    assert!(files.expect(expected("red"), HERE).await.is_err());
    files.take("red", place.id).await.unwrap().unwrap();
    assert!(files.expect(expected("red"), HERE).await.is_ok());
    assert!(files.expect(expected("red"), HERE).await.is_err());
    world.clock.advance(HOUR);
    assert!(files.expect(expected("red"), HERE).await.is_ok());
}

#[tokio::test]
async fn bytes_that_a_team_has_not_read_are_bounded() {
    let world = World::start().await;
    let files = world.files(Settings { max_unread_bytes: 10, ..Settings::default() });
    let place = async || files.expect(expected("red"), HERE).await.map(|place| place.id);
    let (first, second) = (place().await.unwrap(), place().await.unwrap());
    assert!(files.receive(first, Bytes::from_static(b"1234567")).await.unwrap());
    let refused = files.receive(second, Bytes::from_static(b"8901")).await;
    assert!(matches!(&refused, Err(FilesError::Unread { why, .. }) if why.contains("files.max_unread_mib")));
    assert_eq!(world.kept().len(), 1, "the other left nothing");
    assert!(files.receive(second, Bytes::from_static(b"890")).await.unwrap());
    assert!(matches!(place().await, Err(FilesError::Unread { .. })), "there is room for none");
    files.take("red", first).await.unwrap().unwrap();
    let third = place().await.unwrap();
    assert!(files.receive(third, Bytes::from_static(b"1234567")).await.unwrap());
}

#[tokio::test]
async fn size_and_address_are_settings() {
    let world = World::start().await;
    let public_url = Some("https://files.example/quarry/".parse().unwrap());
    let files = world.files(Settings { public_url, max_bytes: 3, ..Settings::default() });
    let large = files.keep(world.new_file("a.png"), "1234".into(), HERE).await;
    assert!(matches!(large, Err(FilesError::TooLarge { limit: 3 })));
    assert_eq!(world.kept(), Vec::<PathBuf>::new());
    let kept = files.keep(world.new_file("a.png"), "123".into(), HERE).await.unwrap();
    assert!(kept.url.starts_with("https://files.example/quarry/files/"), "{}", kept.url);
    let empty = files.keep(world.new_file("a.png"), Bytes::new(), HERE).await.unwrap();
    assert_eq!(text(&files, &found(&files, &empty.url).await).await, b"");
}

#[tokio::test]
async fn a_bucket_hands_files_out_itself() {
    let bucket = Bucket::start().await;
    let (id, secret) = Bucket::KEY;
    let s3 = S3 {
        endpoint: Some(bucket.endpoint()),
        access_key_id: Some(id.to_owned()),
        secret_access_key: Some(Secret::new(secret)),
        ..S3::default()
    };
    let world = World { blobs: Blobs::open_with("s3://pages", &s3).unwrap(), ..World::start().await };
    let files = world.files(Settings::default());
    let new = NewFile { content_type: "text/html".to_owned(), ..world.new_file("a.html") };
    let kept = files.keep(new, "<p>x".into(), HERE).await.unwrap();
    let file = found(&files, &kept.url).await;
    let url = files.elsewhere(&file).await.unwrap().unwrap();
    let query = |name: &str| url.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned();
    assert_eq!(query("response-content-type"), "text/html");
    assert_eq!(query("response-content-disposition"), "attachment; filename=\"a.html\"");
    assert_eq!(query("X-Amz-Expires"), "3600");
    world.clock.advance(HOUR - Duration::from_secs(60));
    let file = found(&files, &kept.url).await;
    let late = files.elsewhere(&file).await.unwrap().unwrap();
    assert!(late.as_str().contains("X-Amz-Expires=60&"), "no longer than the file: {late}");
    let through_us = world.files(Settings { redirect: false, ..Settings::default() });
    assert_eq!(through_us.elsewhere(&file).await.unwrap(), None);
    assert_eq!(text(&through_us, &file).await, b"<p>x");
    assert_eq!(files.erase("red", "run").await.unwrap(), 1);
    assert_eq!(bucket.keys(), Vec::<String>::new());
}
