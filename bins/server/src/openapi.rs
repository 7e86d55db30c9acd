//! `/openapi.json`: the interface, gathered from the handlers and the types of `wire`.

use axum::Json;
use axum::http::StatusCode;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi as Document, Ref, ResponseBuilder};
use utoipa::{Modify, OpenApi};
use wire::ErrorBody;

use crate::auth::Access;
use crate::{admin, batch, crawl, health, map, root, scrape, team, webhooks};

/// The whole interface as an OpenAPI 3.1 document.
#[must_use]
pub fn json() -> String {
    let mut text = document().to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
}

fn document() -> Document {
    Interface::openapi()
}

/// This interface as OpenAPI.
#[utoipa::path(get, path = "/openapi.json", tag = "health", responses((status = 200, description = "OK", body = serde_json::Value)))]
pub(crate) async fn show() -> Json<Document> {
    Json(document())
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "quarry",
        description = "Web pages as clean data. Success is exactly 200; every other answer has the body ErrorBody.",
        license(name = "MIT OR Apache-2.0")
    ),
    paths(
        scrape::scrape,
        scrape::read,
        map::map,
        crawl::start,
        crawl::status,
        crawl::cancel,
        crawl::errors,
        crawl::active,
        crawl::ongoing,
        crawl::params_preview,
        batch::start,
        batch::status,
        batch::cancel,
        batch::errors,
        team::credit_usage,
        team::credit_history,
        team::token_usage,
        team::token_history,
        team::queue_status,
        team::concurrency,
        admin::create_team,
        admin::list_teams,
        admin::read_team,
        admin::update_team,
        admin::create_key,
        admin::list_keys,
        admin::revoke_key,
        webhooks::deliveries,
        webhooks::redeliver,
        webhooks::secret,
        webhooks::rotate_secret,
        health::health,
        health::live,
        health::ready,
        health::metrics,
        show,
        root::show,
    ),
    tags(
        (name = "scrape", description = "Pages"),
        (name = "map", description = "The addresses of a site"),
        (name = "crawl", description = "Sites"),
        (name = "batch", description = "Lists of pages"),
        (name = "team", description = "Usage and limits of the calling team"),
        (name = "admin", description = "The operator's side; 404 unless `admin.token` is set"),
        (name = "health", description = "For balancers and supervisors"),
    ),
    components(schemas(ErrorBody)),
    security((), ("key" = [])),
    modifiers(&Bearer, &Refusals)
)]
struct Interface;

/// Keys and the operator's token travel the same way.
struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut Document) {
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        document.components.get_or_insert_default().add_security_scheme("key", SecurityScheme::Http(bearer));
    }
}

/// Adds the answers that are not 200: they follow from who may call a path and what it takes.
struct Refusals;

impl Modify for Refusals {
    fn modify(&self, document: &mut Document) {
        for (path, item) in &mut document.paths.paths {
            let access = Access::of(path);
            for operation in [&mut item.get, &mut item.post, &mut item.patch, &mut item.delete].into_iter().flatten() {
                for status in refusals(access, operation.request_body.is_some(), path.contains('{')) {
                    refuse(operation, *status);
                }
            }
        }
    }
}

fn refusals(access: Access, takes_body: bool, takes_id: bool) -> &'static [u16] {
    match (access, takes_body, takes_id) {
        (Access::Health, _, _) => &[],
        (Access::Open, _, _) => &[403],
        (Access::Metrics, _, _) => &[401, 403, 404],
        (Access::Team, false, false) => &[400, 401, 403, 429, 500, 503],
        (Access::Team, false, true) => &[400, 401, 403, 404, 409, 429, 500, 503],
        (Access::Team, true, _) => &[400, 401, 402, 403, 404, 408, 409, 413, 415, 422, 429, 500, 503],
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
        serde_json::to_value(document()).unwrap()
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
