//! Searches of one field: pages for developers, and pages of governments and courts. They ask the same engines as
//! [`search`](crate::search()), at the same price.

mod developer;
mod passages;

use kernel::auth::Caller;
use wire::{CategoryName, GovAnswer, GovData, GovRequest, SearchCategory, SearchRequest};

use crate::operation::{Finished, Pages, Wanted, found};
use crate::{SearchError, Searches};

pub use developer::developer;
pub(crate) use developer::developer_result;

/// Top-level domains of the United States' government.
const US: &[&str] = &["gov", "mil", "courtlistener.com", "law.cornell.edu"];

/// Searches the web sites of governments and courts.
///
/// # Errors
/// [`SearchError`]; see its variants.
#[crate::boxed]
pub async fn gov(searches: &Searches, caller: &Caller, request: GovRequest) -> Result<GovAnswer, SearchError> {
    let unapplied = unapplied(&[("court", request.court.is_some()), ("courtType", request.court_type.is_some())]);
    let Finished { search, mut gathered, .. } = found(searches, caller, Wanted::of(of_gov(request))).await?;
    let web = gathered.web.iter_mut().flatten().collect();
    search.highlight(web, &Pages::new()).await;
    let warnings: Vec<String> = search.warning(&gathered).into_iter().chain(unapplied).collect();
    let found = gathered.web.into_iter().flatten();
    let web = found.zip(1..).map(|(found, position)| found.into_web(position)).collect();
    Ok(GovAnswer { success: true, data: GovData { web }, warning: joined(&warnings) })
}

/// Returns the search that a request means. A decision or statute that results cite is a phrase of the query.
fn of_gov(request: GovRequest) -> SearchRequest {
    let query = match &request.cites {
        Some(cites) => format!("{} \"{}\"", request.query, cites.replace('"', " ")),
        None => request.query,
    };
    let sites = match request.jurisdiction.as_deref().map(|text| text.split_once('-')) {
        Some(Some((_, state))) => vec![format!("{state}.gov")],
        Some(None) => US.iter().map(|&site| site.to_owned()).collect(),
        None => Vec::new(),
    };
    SearchRequest {
        limit: request.k,
        categories: vec![SearchCategory { name: CategoryName::Gov, sites }],
        include_domains: request.domain.into_iter().collect(),
        attribution: request.attribution,
        ..SearchRequest::new(query)
    }
}

/// Returns a warning that names the filters that were given and cannot be applied.
fn unapplied(filters: &[(&str, bool)]) -> Option<String> {
    let given: Vec<&str> = filters.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| *name).collect();
    (!given.is_empty())
        .then(|| format!("this server cannot filter by {}; the results are not filtered", given.join(", ")))
}

fn joined(warnings: &[String]) -> Option<String> {
    (!warnings.is_empty()).then(|| warnings.join("; "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn filters_of_governments_become_sites_and_phrases() {
        let request =
            wire::decode_gov(json!({ "query": "labor law", "jurisdiction": "us-ca", "cites": "29 \"USC\" 201" }));
        let search = of_gov(request.unwrap());
        assert_eq!(search.query, "labor law \"29  USC  201\"");
        assert_eq!(search.categories[0].sites, ["ca.gov"]);
        let request = wire::decode_gov(json!({ "query": "labor law", "domain": "nasa.gov", "k": 3 }));
        let search = of_gov(request.unwrap());
        assert_eq!((search.include_domains.as_slice(), search.limit), (["nasa.gov".to_owned()].as_slice(), 3));
        assert!(search.categories[0].sites.is_empty());
        assert_eq!(unapplied(&[("a", false)]), None);
        assert!(unapplied(&[("a", true), ("b", true)]).unwrap().contains("filter by a, b"));
    }
}
