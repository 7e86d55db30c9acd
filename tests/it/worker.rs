//! The worker as a program of its own.

use lab::service;

use crate::process::{installation, terminate};

#[tokio::test]
async fn it_answers_for_its_health_and_ends_on_sigterm() {
    let worker = installation().worker().unwrap();
    assert_eq!(service::get(worker.addr(), "/metrics").await.unwrap().status, 200);
    let refused = service::get(worker.addr(), "/v2/team/credit-usage").await.unwrap();
    assert_eq!(refused.status, 404, "it has no interface");
    terminate(worker).await;
}
