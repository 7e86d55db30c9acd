//! Endpoint groups of routes, to which API keys can be restricted.

use wire::EndpointGroup;

/// Returns the endpoint group of a route pattern such as `/v2/scrape/{id}`.
pub(crate) fn group(route: &str) -> Option<EndpointGroup> {
    let path = route.strip_prefix("/v2/")?;
    match path.split('/').next()? {
        "scrape" if path.ends_with("/interact") => Some(EndpointGroup::Interact),
        "scrape" => Some(EndpointGroup::Scrape),
        "batch" => Some(EndpointGroup::Batch),
        "crawl" => Some(EndpointGroup::Crawl),
        "map" => Some(EndpointGroup::Map),
        "parse" => Some(EndpointGroup::Parse),
        // `/v2/interact` is an alias of `/v2/browser`.
        "browser" | "interact" => Some(EndpointGroup::Browser),
        "team" | "concurrency-check" => Some(EndpointGroup::Team),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::auth::Access;
    use crate::routes;

    /// Every team route needs a group: restricted keys could not call it otherwise. Every group needs a route.
    #[test]
    fn every_route_of_a_team_has_a_group_and_every_group_a_route() {
        let mut used = BTreeSet::new();
        for route in routes::table() {
            let found = group(&route.path);
            assert_eq!(found.is_some(), Access::of(&route.path) == Access::Team, "{} {}", route.method, route.path);
            used.extend(found);
        }
        let all: BTreeSet<EndpointGroup> = EndpointGroup::ALL.iter().copied().collect();
        assert_eq!(used, all);
    }

    #[test]
    fn groups() {
        let check = |route: &str, expect: Option<EndpointGroup>| assert_eq!(group(route), expect, "{route}");
        check("/v2/scrape/{id}", Some(EndpointGroup::Scrape));
        check("/v2/scrape/{id}/interact", Some(EndpointGroup::Interact));
        check("/v2/batch/scrape/{id}/errors", Some(EndpointGroup::Batch));
        check("/v2/browser/{id}/execute", Some(EndpointGroup::Browser));
        check("/v2/team/credit-usage/historical", Some(EndpointGroup::Team));
        check("/v2/nothing", None);
        check("/admin/teams", None);
    }
}
