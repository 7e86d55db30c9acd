//! Callers' code in the real program, which runs it in child processes of itself.

use e2e::Client;
use serde_json::{Value, json};
use testkit::Site;

use crate::process::{installation, terminate};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_language_runs_behind_the_fence() {
    let site = Site::start().await;
    site.html("/", "<title>Shop</title><h1>Granite</h1><p>Slabs of granite, cut to the size that you need.</p>");
    let installation = installation().set("egress.allow", site.addr().to_string());
    let data = installation.data();
    let server = tokio::task::block_in_place(|| installation.server()).unwrap();
    let client = Client::new(server.addr(), None);
    let scraped = client.post("/v2/scrape", &json!({ "url": format!("http://{}/", site.addr()) })).await;
    let id = scraped.body["data"]["metadata"]["scrapeId"].as_str().unwrap().to_owned();
    let path = format!("/v2/scrape/{id}/interact");
    let run = async |language: &str, code: &str| {
        let answer = client.post(&path, &json!({ "language": language, "code": code, "timeout": 60 })).await;
        assert_eq!(answer.status, 200, "{code}: {}", answer.body);
        answer.body
    };
    let told = |body: &Value, member: &str| body[member].as_str().unwrap().to_owned();

    assert_eq!(told(&run("node", "await page.title()").await, "result"), "Shop");
    assert_eq!(told(&run("python", "page.title()").await, "result"), "Shop");
    assert_eq!(told(&run("bash", "agent-browser get title").await, "stdout"), "Shop\n");
    let shown = run("bash", "agent-browser snapshot").await;
    assert!(told(&shown, "stdout").contains("- heading \"Granite\""), "{shown}");

    let (data, pid, address) = (data.display(), server.id(), server.addr());
    for code in [
        format!("ls {data}"),
        format!("cat {data}/quarry.db"),
        "cat /etc/shadow".to_owned(),
        format!("cat /proc/{pid}/environ"),
        format!("kill -9 {pid}"),
        format!("exec 9<>/dev/tcp/{}/{}", address.ip(), address.port()),
        format!("agent-browser open http://{address}/"),
        "agent-browser open file:///etc/passwd".to_owned(),
    ] {
        let ran = run("bash", &code).await;
        assert!(ran["exitCode"] != 0 && told(&ran, "stdout").is_empty(), "{code}: {ran}");
    }
    // In the sandbox only the pipes and the page's socket are open.
    let code = "import os\nopen = []\nfor fd in range(64):\n    try: os.fstat(fd); open.append(fd)\n    except OSError: pass\n(open[:3], len(open))";
    let open = run("python", code).await;
    assert_eq!(told(&open, "result"), "[[0, 1, 2], 4]", "{open}");
    assert_eq!(client.delete(&path).await.status, 200);
    terminate(server).await;
}
