//! Tests of `onlyCleanContent`.

use e2e::TestApp;
use serde_json::json;
use testkit::{ModelFault, ModelServer};

const PAGE: &str = r#"<!doctype html><html lang="en"><title>Granite</title><body><main><article><h1>Granite</h1>
<p>Granite is a hard stone, coarse in grain, and it is found in many places of the world.</p>
<p>It was used for bridges, kerbs and the steps of town halls, because it wears slowly.</p>
<p>Buy our stones now!</p>
<p>Subscribe to our newsletter and get the best stones in your inbox.</p>
<h2>Related articles</h2><ul><li><a href="/basalt">Basalt is young</a></li><li><a href="/marble">Marble of Carrara</a></li></ul>
</article></main></body></html>"#;

const CONTENT: &str = "# Granite\n\nGranite is a hard stone, coarse in grain, and it is found in many places of the world.\n\n\
    It was used for bridges, kerbs and the steps of town halls, because it wears slowly.";

fn request(app: &TestApp) -> serde_json::Value {
    json!({ "url": app.page("/"), "onlyMainContent": false, "onlyCleanContent": true, "maxAge": 0 })
}

#[tokio::test]
async fn frequent_leftovers_are_removed_without_a_model() {
    let app = TestApp::start().await;
    app.site.html("/", PAGE);
    let whole = app.anonymous().scrape(&json!({ "url": app.page("/"), "onlyMainContent": false, "maxAge": 0 })).await;
    assert!(whole.markdown().contains("newsletter") && whole.markdown().contains("Related articles"), "{}", whole.body);
    let answer = app.anonymous().scrape(&request(&app)).await;
    assert_eq!(answer.markdown().trim_end(), format!("{CONTENT}\n\nBuy our stones now!"), "{}", answer.body);
    let warning = answer.body["data"]["warning"].as_str().unwrap();
    assert!(warning.contains("without a language model"), "{warning}");
    assert_eq!(answer.body["data"]["metadata"]["creditsUsed"], 1);
}

#[tokio::test]
async fn a_model_names_the_blocks_that_go() {
    let model = ModelServer::start(|_| json!({ "leftovers": [4, 5, 6, 7] }).to_string()).await;
    let app = TestApp::with_model(&model, |_| ()).await;
    app.site.html("/", PAGE);
    let answer = app.anonymous().scrape(&request(&app)).await;
    assert_eq!(answer.markdown().trim_end(), CONTENT, "{}", answer.body);
    assert!(answer.body["data"].get("warning").is_none(), "{}", answer.body);
    assert!(model.asked()[0].user.contains("[4]\nBuy our stones now!"));
    model.fail_with(vec![ModelFault::Status(500)]);
    let answer = app.anonymous().scrape(&request(&app)).await;
    assert!(
        answer.markdown().contains("Buy our stones") && !answer.markdown().contains("newsletter"),
        "{}",
        answer.body
    );
    assert!(answer.body["data"]["warning"].as_str().unwrap().contains("The model was not used"), "{}", answer.body);
}
