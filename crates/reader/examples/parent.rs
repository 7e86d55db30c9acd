//! A process that reads an image which never ends, to be killed by a test: `parent PROGRAM`.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use documents::{ImageKind, Kind};
use reader::{Job, Options, Pool, Settings};
use tokio::time::Instant;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let program = std::env::args_os().nth(1).map(PathBuf::from);
    let settings = Settings { reader: program, children: 2, ..Settings::default() };
    let pool = Pool::new(settings).map_err(io::Error::other)?;
    // One child hangs while it counts the pages of an image; another waits for two that hang on its pages.
    let read = |orders: &'static str| {
        let options = Options::default();
        let kind = Kind::Image(ImageKind::Png);
        let job = Job { bytes: orders.into(), kind, owner: base::Owner::default(), options };
        pool.read(job, Instant::now() + Duration::from_secs(120), async |_| Ok::<(), ()>(()))
    };
    let _ended = tokio::join!(read("hang"), read("2 1=hang 2=hang"));
    Ok(())
}
