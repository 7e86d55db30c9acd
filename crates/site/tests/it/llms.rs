//! Pages that `llms.txt` lists, within bounds.

use testkit::{Body, Reply};

use crate::robots::approach;
use crate::world::World;

fn text(body: &str) -> Reply {
    Reply { body: body.to_owned().into(), ..Reply::default() }.header("content-type", "text/plain")
}

async fn paths(world: &World, start: &str, obey: bool) -> Vec<String> {
    let pages = world.ours.llms_pages(&world.site.url(start), approach(), obey).await;
    pages.into_iter().map(|page| page.url.path().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_the_root_and_of_the_folder() {
    let world = World::start().await;
    world.site.respond("/llms.txt", text("# Site\n- [One](/one.md): First\n- [Two](two)\n- [Mail](mailto:a@a.test)\n"));
    world.site.respond("/docs/llms.txt", text("[Three](three.md)"));
    assert_eq!(paths(&world, "/", true).await, ["/one.md", "/two"]);
    assert_eq!(paths(&world, "/docs/a", true).await, ["/one.md", "/two", "/docs/three.md"]);
    world.site.respond("/llms.txt", Reply { body: "<!doctype html><a>[x](/x)</a>".into(), ..Reply::default() });
    world.site.respond("/docs/llms.txt", text("[x](/x)").header("content-type", "text/html"));
    assert_eq!(paths(&world, "/", true).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_robots_txt_forbids_is_not_asked_for() {
    let world = World::start().await;
    world.site.respond("/robots.txt", text("User-agent: *\nDisallow: /llms"));
    world.site.respond("/llms.txt", text("[x](/x)"));
    assert_eq!(paths(&world, "/", true).await, Vec::<String>::new());
    assert_eq!(paths(&world, "/", false).await, ["/x"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn large_files_are_cut() {
    let world = World::start().await;
    let body = Body::repeat("", "- [x](/page)\n", 2_000_000, "");
    world.site.respond("/llms.txt", Reply { body, ..Reply::default() }.header("content-type", "text/plain"));
    assert_eq!(paths(&world, "/", true).await.len(), 10_000);
    assert!(world.site.sent() < 20 << 20, "{}", world.site.sent());
}
