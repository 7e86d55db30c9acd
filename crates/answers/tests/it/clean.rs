//! Cleaning by a model.

use answers::clean::{Cleaned, Cleaning, IMPLAUSIBLE, TOO_LONG, by_model};
use llm::AskError;
use serde_json::json;
use testkit::ModelFault;

use crate::world::World;

const PAGE: &str = "[Home](/) [Shop](/shop)\n\n# Granite\n\nGranite is a hard stone, coarse in grain, found in many places.\n\n\
    Buy stones now, cheap!\n\n## Use\n\nIt was used for bridges and the steps of town halls.\n\n```\nrm -r stone\n```\n\n\
    ## Offers\n\nThree for two.\n";

async fn cleaned(world: &World, markdown: &str) -> Result<Cleaned, AskError> {
    let (owner, budget) = (&world.owner, &world.budget);
    by_model(&world.model, &Cleaning { markdown, owner, budget, deadline: world.deadline() }).await
}

#[tokio::test]
async fn blocks_are_removed_by_their_numbers() {
    let world = World::answering(|_| json!({ "leftovers": [1, 4, 8, 9] }).to_string()).await;
    let found = cleaned(&world, PAGE).await.unwrap();
    let expect = "# Granite\n\nGranite is a hard stone, coarse in grain, found in many places.\n\n## Use\n\n\
        It was used for bridges and the steps of town halls.\n\n```\nrm -r stone\n```\n";
    assert_eq!((found.markdown.as_str(), found.removed, found.warning), (expect, 4, None));
    let asked = &world.server.asked()[0];
    assert!(asked.user.contains("[4]\nBuy stones now, cheap!\n") && !asked.system.contains("Granite"));
}

#[tokio::test]
async fn headings_with_content_and_code_stay() {
    let world = World::answering(|_| json!({ "leftovers": [2, 5, 7, 8, 0, 99, -3] }).to_string()).await;
    let found = cleaned(&world, PAGE).await.unwrap();
    assert_eq!((found.markdown.as_str(), found.removed), (PAGE, 0));
}

#[tokio::test]
async fn a_model_that_removes_most_is_not_believed() {
    let world = World::answering(|_| json!({ "leftovers": (1..=20).collect::<Vec<_>>() }).to_string()).await;
    let found = cleaned(&world, PAGE).await.unwrap();
    assert_eq!((found.markdown.as_str(), found.warning.as_deref()), (PAGE, Some(IMPLAUSIBLE)));
}

#[tokio::test]
async fn what_is_too_long_is_skipped_and_a_failure_is_told() {
    let world = World::with(|_| json!({ "leftovers": [] }).to_string(), |settings| settings.output_tokens = 100).await;
    let long = PAGE.repeat(5);
    let found = cleaned(&world, &long).await.unwrap();
    assert_eq!((found.markdown, found.warning.as_deref()), (long, Some(TOO_LONG)));
    assert!(world.server.asked().is_empty());
    assert_eq!(cleaned(&world, "").await.unwrap().removed, 0);
    let world = World::answering(|_| "I would remove block 4".to_owned()).await;
    assert_eq!(cleaned(&world, PAGE).await.unwrap_err(), AskError::Empty);
    world.server.fail_with(vec![ModelFault::Status(500)]);
    assert_eq!(cleaned(&world, PAGE).await.unwrap_err(), AskError::Upstream { status: 500 });
}
