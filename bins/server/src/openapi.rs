//! OpenAPI document, generated from the routes and the types of `wire`.

use std::sync::Arc;

use axum::http::StatusCode;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi as Document, Ref, ResponseBuilder};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use wire::ErrorBody;

use crate::Service;
use crate::access::Access;
use crate::route::Route;

/// Returns the OpenAPI 3.1 document of `routes`.
pub(crate) fn document(routes: Vec<Route>) -> Document {
    let start = OpenApiRouter::<Arc<Service>>::with_openapi(Interface::openapi());
    let routes = routes.into_iter().fold(start, |all, mut route| {
        add_refusals(&mut route);
        all.routes(route.parts)
    });
    routes.into_openapi()
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "quarry",
        description = "Web data service: scrapes, crawls, searches and monitors pages, maps sites, parses documents and runs browser sessions. A success has status 200 (files also 206 or 302); every other response has the body ErrorBody.",
        license(name = "MIT OR Apache-2.0")
    ),
    tags(
        (name = "scrape", description = "Scraping of single pages"),
        (name = "map", description = "Listing the URLs of a site"),
        (name = "search", description = "Searching the web and the pages that this server has read; feedback on calls"),
        (name = "crawl", description = "Crawling whole sites"),
        (name = "batch", description = "Scraping lists of pages in one job"),
        (name = "monitor", description = "Recurring checks of pages, sites and searches"),
        (name = "parse", description = "Parsing of uploaded files"),
        (name = "browser", description = "Browser sessions"),
        (name = "files", description = "Files that scrapes produce, such as screenshots, and file uploads"),
        (name = "team", description = "Usage and limits of the calling team"),
        (name = "admin", description = "Operator API; 404 unless `admin.token` is set"),
        (name = "health", description = "Health checks for load balancers and supervisors"),
    ),
    components(schemas(ErrorBody)),
    security((), ("key" = [])),
    modifiers(&Bearer)
)]
struct Interface;

/// Bearer authentication, for API keys and for the operator's token.
struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut Document) {
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        document.components.get_or_insert_default().add_security_scheme("key", SecurityScheme::Http(bearer));
    }
}

/// Adds the error responses of a route. They follow from its access rule, its body and its path parameters.
fn add_refusals(route: &mut Route) {
    let access = route.access;
    for (path, item) in &mut route.parts.1.paths {
        for operation in
            [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete].into_iter().flatten()
        {
            for status in refusals(access, operation.request_body.is_some(), path.contains('{')) {
                refuse(operation, *status);
            }
        }
    }
}

fn refusals(access: Access, takes_body: bool, takes_id: bool) -> &'static [u16] {
    match (access, takes_body, takes_id) {
        (Access::Health, _, _) => &[],
        (Access::Signed, false, _) => &[404, 410, 416, 429, 500],
        (Access::Signed, true, _) => &[400, 404, 408, 410, 413, 415, 429, 500, 503],
        (Access::Open, _, _) => &[403],
        (Access::Metrics, _, _) => &[401, 403, 404],
        (Access::Team(_) | Access::TeamOrKeyless(_), false, false) => &[400, 401, 403, 429, 500, 503],
        (Access::Team(_) | Access::TeamOrKeyless(_), false, true) => &[400, 401, 403, 404, 409, 429, 500, 503],
        (Access::Team(_) | Access::TeamOrKeyless(_), true, _) => {
            &[400, 401, 402, 403, 404, 408, 409, 413, 415, 422, 429, 500, 503]
        }
        (Access::Operator, false, _) => &[400, 401, 404, 429, 500],
        (Access::Operator, true, _) => &[400, 401, 404, 413, 415, 429, 500],
    }
}

fn refuse(operation: &mut Operation, status: u16) {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("ErrorBody"))).build();
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let response =
        ResponseBuilder::new().description(reason.unwrap_or_default()).content("application/json", content).build();
    operation.responses.responses.insert(status.to_string(), response.into());
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::routes;

    fn interface() -> Value {
        serde_json::to_value(document(routes::table())).unwrap()
    }

    #[test]
    fn it_describes_exactly_the_routes() {
        let interface = interface();
        let described: BTreeSet<String> = interface["paths"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(path, methods)| {
                methods.as_object().unwrap().keys().map(move |method| format!("{} {path}", method.to_uppercase()))
            })
            .collect();
        let routed = routes::table().iter().map(|route| format!("{} {}", route.method, route.path)).collect();
        assert_eq!(described, routed);
    }

    #[test]
    fn every_operation_says_what_it_answers() {
        for (path, methods) in interface()["paths"].as_object().unwrap() {
            for operation in methods.as_object().unwrap().values() {
                assert!(operation["responses"]["200"]["content"].is_object(), "{path}");
                for answer in operation["responses"].as_object().unwrap().values() {
                    assert!(answer["description"].as_str().is_some_and(|text| !text.is_empty()), "{path}");
                }
                assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{path}");
            }
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
            match value {
                Value::Object(members) => {
                    found.extend(members.get("$ref").and_then(Value::as_str));
                    members.values().for_each(|value| references(value, found));
                }
                Value::Array(items) => items.iter().for_each(|value| references(value, found)),
                _ => {}
            }
        }
        let interface = interface();
        let mut found = Vec::new();
        references(&interface, &mut found);
        assert!(!found.is_empty());
        for reference in found {
            let pointer = reference.strip_prefix('#').expect(reference);
            assert!(interface.pointer(pointer).is_some(), "{reference}");
        }
    }
}
