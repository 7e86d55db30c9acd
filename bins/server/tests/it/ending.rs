//! Start and shutdown.

use std::time::Duration;

use boot::StartError;
use boot::config::Config;
use tokio::net::TcpStream;

use crate::{call, service};

#[tokio::test(flavor = "multi_thread")]
async fn readiness_goes_off_before_the_port_closes() {
    let (running, _folder) = service(|config| config.server.drain_delay = Duration::from_secs(2)).await;
    assert_eq!(call(&running, "GET /health/ready", &[], b"").await.status, 200);
    let address = running.address;
    let probe = async {
        loop {
            let mut stream = TcpStream::connect(address).await.unwrap();
            tokio::io::AsyncWriteExt::write_all(
                &mut stream,
                b"GET /health/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            )
            .await
            .unwrap();
            let answer = crate::caller::read(&mut stream).await;
            if answer.status == 503 {
                return answer;
            }
        }
    };
    let (finished, answer) = tokio::join!(running.stop(), probe);
    assert!(finished);
    assert_eq!(answer.json()["status"], "draining");
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let base = || {
        let mut config = Config::default();
        config.server.listen = "127.0.0.1:0".parse().unwrap();
        config.data.dir = folder.path().to_owned();
        config
    };
    let check = async |change: &dyn Fn(&mut Config), expect: &str| {
        let mut config = base();
        change(&mut config);
        match quarry_server::start(config).await {
            Err(StartError::Config(error)) => assert!(error.to_string().starts_with(expect), "{error}"),
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("it started: {expect}"),
        }
    };
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let _listener = std::net::TcpListener::bind(taken).unwrap();
    check(&|config| config.server.listen = taken, "QUARRY__SERVER__LISTEN: cannot listen on").await;
    check(&|config| config.store.url = base::Secret::new("mysql://x"), "QUARRY__STORE__URL: ").await;
    check(&|config| config.blobs.url = "ftp://x".to_owned(), "QUARRY__BLOBS__URL: ").await;
    std::fs::write(folder.path().join("file"), "").unwrap();
    check(&|config| config.data.dir = folder.path().join("file"), "QUARRY__DATA__DIR: ").await;
    check(&|config| config.store.migrate = false, "QUARRY__STORE__MIGRATE: ").await;
}
