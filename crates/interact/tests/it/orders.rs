//! Plain instructions.

use std::time::Duration;

use interact::{Language, OrderError};

use crate::world::World;

async fn obey(world: &World, prompt: &str) -> String {
    let result = world.interact.obey(world.held.hands(), prompt, Duration::from_secs(20)).await;
    result.unwrap_or_else(|error| panic!("{prompt}: {error}"))
}

#[tokio::test]
async fn plain_orders_are_obeyed() {
    let world = World::start().await;
    assert_eq!(
        obey(&world, "click the first link").await,
        format!("clicked link \"About us\"; the page is {}", world.url("/about"))
    );
    assert_eq!(obey(&world, "go back").await, format!("went back to {}", world.url("/")));
    let prompt = "Type \"Ada\" into the name field, select Blue in the colour dropdown, check the terms checkbox and then click the Send button";
    let told = obey(&world, prompt).await;
    assert_eq!(told.lines().count(), 4, "{told}");
    assert_eq!(world.node("await page.textContent('#out')").await, "sent Ada b true");
    assert_eq!(obey(&world, "what is the title of the page?").await, "Shop");
    assert_eq!(obey(&world, "list all links").await, "- About us\n- Other page");
    assert_eq!(obey(&world, "how many links are there?").await, "2");
    assert_eq!(obey(&world, "read the heading").await, "Welcome");
    assert!(obey(&world, "read the page").await.contains("Welcome"));
    assert_eq!(obey(&world, "scroll to the bottom").await, "scrolled to the bottom");
    assert_eq!(world.node("await page.evaluate(() => scrollY > 1000)").await, "true");
    obey(&world, "click Show more and wait for \"more\" to appear").await;
    obey(&world, "search for rust").await;
    assert_eq!(world.node("await page.inputValue('#q')").await, "rust");
    assert!(obey(&world, "take a screenshot").await.starts_with("data:image/jpeg;base64,/9j/"));
    let told = obey(&world, &format!("open {}", world.url("/other"))).await;
    assert_eq!(told, format!("went to {}", world.url("/other")));
}

#[tokio::test]
async fn what_is_not_plain_or_not_there_is_refused() {
    let world = World::start().await;
    let obey = async |prompt: &str| {
        world.interact.obey(world.held.hands(), prompt, Duration::from_secs(20)).await.unwrap_err()
    };
    let error = obey("click the first link, then buy the cheapest shirt").await;
    assert!(matches!(&error, OrderError::NotPlain { part } if part.contains("buy")), "{error}");
    // Nothing was done before the error.
    assert_eq!(world.node("await page.title()").await, "Shop");
    let error = obey("click the Nowhere link").await.to_string();
    assert!(error.contains("the page has no link \"Nowhere\"") && error.contains("About us"), "{error}");
    let error = obey("open file:///etc/passwd").await.to_string();
    assert!(error.contains("only http and https"), "{error}");
    let many = "click Send, then ".repeat(30);
    let error = obey(&many).await;
    assert!(matches!(error, OrderError::TooMany), "{error}");
    // Errors that follow from the words alone are found without a page.
    assert!(matches!(interact::check_order(&many), Err(OrderError::TooMany)));
    assert!(matches!(interact::check_order("buy the cheapest shirt"), Err(OrderError::NotPlain { .. })));
    assert!(interact::check_order("click the Nowhere link").is_ok());
}

#[tokio::test]
async fn a_page_with_a_hundred_thousand_options_is_used_as_any_other() {
    let world = World::start().await;
    let options = "<option>choice</option>".repeat(100_000);
    for size in ["", " size=10"] {
        let page = format!(
            "<title>List</title><select{size}>{options}</select><button onclick=\"document.title = 'clicked'\">Go on</button>"
        );
        world.site.html("/list", page);
        obey(&world, &format!("open {}", world.url("/list"))).await;
        let told = obey(&world, "click the first button").await;
        assert!(told.starts_with("clicked button \"Go on\""), "{told}");
        assert_eq!(world.node("await page.title()").await, "clicked");
    }
    let snapshot = world.run(Language::Bash, "agent-browser snapshot").await.stdout;
    assert!(snapshot.contains("button \"Go on\"") && snapshot.contains("more follows"), "{snapshot}");
    let refused = world.run(Language::Node, "await page.evaluate(() => Array(1e6).fill(0))").await.error.unwrap();
    assert!(refused.contains("RangeError: the value is too large: it has more than 120000 values"), "{refused}");
    let texts = "(await page.evaluate(() => [...document.querySelectorAll('option')].map((one) => one.text))).length";
    assert_eq!(world.node(texts).await, "100000");
    let handed = "await page.evaluate((all) => all.length, Array(200000).fill(0))";
    let refused = world.run(Language::Node, handed).await.error.unwrap();
    assert!(refused.contains("the argument has more than 120000 JSON values"), "{refused}");
    assert_eq!(world.node("await page.evaluate((all) => all.length, Array(50000).fill(0))").await, "50000");
}
