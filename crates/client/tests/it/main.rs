//! The client against a stand-in for the service: requests that are sent, and handling of unusual responses. The e2e
//! package calls the service itself.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use client::{Client, Error, Run};
use http::Method;
use serde_json::json;
use testkit::{Reply, Script, Site};
use wire::ResultsQuery;

const ID: &str = "01890000-0000-7000-8000-00000000beef";

fn client(site: &Site) -> Client {
    Client::new(&format!("http://{}", site.addr()), Some("K")).unwrap()
}

fn reply(status: u16, body: &str) -> Reply {
    Reply { status, body: body.to_owned().into(), ..Reply::default() }
}

#[tokio::test]
async fn a_request_has_its_key_type_and_body() {
    let site = Site::start().await;
    site.respond("/v2/crawl", reply(200, &format!(r#"{{"success":true,"id":"{ID}","url":"http://x/"}}"#)));
    let run = client(&site).crawl(&json!({"url": "http://o.test"})).await.unwrap();
    assert_eq!(run, Run::crawl(ID.parse().unwrap()));
    let seen = &site.requests()[0];
    assert_eq!((seen.method.as_str(), seen.header("authorization")), ("POST", "Bearer K"));
    assert_eq!((seen.header("content-type"), &seen.body[..]), ("application/json", &br#"{"url":"http://o.test"}"#[..]));
    let anonymous = Client::new(&format!("http://{}", site.addr()), None).unwrap();
    anonymous.send(Method::GET, "/v2/crawl", "").await.unwrap();
    let seen = &site.requests()[1];
    assert_eq!((seen.header("authorization"), seen.header("content-type")), ("", ""));
}

#[tokio::test]
async fn a_path_of_the_base_stands_before_every_path() {
    let site = Site::start().await;
    let client = Client::new(&format!("http://{}/behind/", site.addr()), None).unwrap();
    let run = Run::batch(ID.parse().unwrap());
    for results in [ResultsQuery::default(), ResultsQuery { skip: Some(2), limit: Some(3) }] {
        assert!(client.status(run, results).await.is_err());
    }
    for next in [format!("http://elsewhere.test:1/behind{run}?skip=9"), format!("http://elsewhere.test:1{run}")] {
        assert!(client.next::<serde_json::Value>(&next).await.is_err());
    }
    let paths: Vec<String> = site.requests().into_iter().map(|seen| seen.path).collect();
    let path = format!("/behind{run}");
    assert_eq!(paths, [path.clone(), format!("{path}?skip=2&limit=3"), format!("{path}?skip=9"), path]);
}

#[tokio::test]
async fn a_refusal_keeps_what_the_service_says() {
    let site = Site::start().await;
    let client = client(&site);
    let refusal = r#"{"success":false,"code":"BAD_REQUEST","error":"no","details":[1]}"#;
    for body in [refusal, "oops", ""] {
        site.respond("/v2/team/credit-usage", reply(400, body));
        let error = client.usage().await.unwrap_err();
        match body == refusal {
            true => assert!(matches!(error, Error::Refused(refused) if refused.body.details == Some(json!([1])))),
            false => assert!(matches!(error, Error::Unexpected { status: 400, .. })),
        }
        assert_eq!(client.send(Method::GET, "/v2/team/credit-usage", "").await.unwrap().text(), body);
    }
    site.respond("/v2/team/credit-usage", reply(200, "{}"));
    assert!(matches!(client.usage().await.unwrap_err(), Error::Unexpected { status: 200, .. }));
}

#[tokio::test]
async fn nothing_is_sent_twice() {
    let site = Site::start().await;
    site.script("/v2/map", vec![Script::Raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{".into())]);
    site.script("/v2/scrape", vec![Script::Hang(Duration::from_secs(60))]);
    let client = client(&site).with_timeout(Duration::from_millis(300));
    assert!(matches!(client.map(&json!({})).await.unwrap_err(), Error::NoAnswer(_)));
    assert!(matches!(client.scrape(&json!({})).await.unwrap_err(), Error::Timeout(_)));
    assert_eq!(site.requests().len(), 2);
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = Client::new(&format!("http://{closed}"), None).unwrap();
    assert!(matches!(nobody.active().await.unwrap_err(), Error::NoAnswer(_)));
}

#[tokio::test]
async fn a_watcher_that_is_not_opened_says_why() {
    let site = Site::start().await;
    let run = Run::crawl(ID.parse().unwrap());
    site.respond(&run.path(), reply(404, r#"{"success":false,"code":"NOT_FOUND","error":"no such crawl"}"#));
    let error = client(&site).watch(run).await.unwrap_err();
    assert_eq!(error.to_string(), "404 NOT_FOUND: no such crawl");
}

#[test]
fn odd_addresses_and_keys_are_refused() {
    for base in
        ["", "127.0.0.1:3002", "https://q.test", "ws://q.test", "http://user@q.test", "http://q.test/?a=b", "/v2"]
    {
        assert!(matches!(Client::new(base, None), Err(Error::Address(own)) if own == base), "{base}");
    }
    assert!(matches!(Client::new("http://q.test", Some("a\nb")), Err(Error::Key)));
    let shown = format!("{:?}", Client::new("http://q.test", Some("fc-secret")).unwrap());
    assert!(!shown.contains("fc-secret"), "{shown}");
}
