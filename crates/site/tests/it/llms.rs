//! Pages listed in `llms.txt`, within limits.

use testkit::{Body, Reply};

use crate::robots::approach;
use crate::world::World;

fn text(body: &str) -> Reply {
    Reply { body: body.to_owned().into(), ..Reply::default() }.header("content-type", "text/plain")
}

async fn paths(world: &World, start: &str, obey: bool) -> Vec<String> {
    let owner = base::Owner::new("team", "map");
    let terms = site::Terms { owner: &owner, obey };
    let pages = world.ours.llms_pages(&world.site.url(start), approach(), terms).await;
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
    let line = |bytes: usize| format!("{:width$}\n", "- [x](/page)", width = bytes - 1);
    // Limited by the number of pages and by bytes: only the links in the first MiB count.
    for (bytes, expect) in [(16, 10_000), (1 << 10, 1 << 10), (10 << 10, 103)] {
        let world = World::start().await;
        let body = Body::repeat("", &line(bytes), (24 << 20) / bytes as u64, "");
        world.site.respond("/llms.txt", Reply { body, ..Reply::default() }.header("content-type", "text/plain"));
        let found = paths(&world, "/", true).await;
        assert_eq!(found.len(), expect, "{bytes}");
        assert!(found.iter().all(|path| path == "/page"), "{bytes}");
        assert!(world.site.sent() < 20 << 20, "{bytes}: {}", world.site.sent());
    }
}
