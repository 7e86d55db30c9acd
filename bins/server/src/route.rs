//! Routes: handler, access rule and OpenAPI description.

use std::sync::Arc;

use axum::routing::{MethodFilter, MethodRouter};
use utoipa_axum::PathItemExt;
use utoipa_axum::router::UtoipaMethodRouter;

use crate::Service;
use crate::access::Access;

/// A handler with its access rule and path. The OpenAPI description of its `#[utoipa::path(…)]`, with the schemas of all
/// requests and answers, is built only on demand: it is larger than everything else that an idle server holds in memory.
pub(crate) struct Handler {
    pub(crate) access: Access,
    pub(crate) path: String,
    pub(crate) serve: MethodRouter<Arc<Service>>,
    pub(crate) describe: fn() -> Described,
}

/// Makes the [`Handler`] of a handler function, from its access rule and its name.
macro_rules! route {
    ($access:ident $(($group:ident))?, $module:ident::$handler:ident) => {{
        let (path, methods) = $crate::route::path_and_methods(&utoipa_axum::paste!($module::[<__path_ $handler>]));
        $crate::route::Handler {
            access: $crate::access::Access::$access $((wire::EndpointGroup::$group))?,
            path,
            serve: axum::routing::MethodRouter::new().on(methods, $module::$handler),
            describe: || utoipa_axum::routes!($module::$handler),
        }
    }};
}
pub(crate) use route;

impl Handler {
    /// Serves the handler under another path.
    pub(crate) fn at(self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self }
    }

    /// Builds the OpenAPI description, under the path that the handler is served at.
    fn described(&self) -> Described {
        let (schemas, mut paths, serve) = (self.describe)();
        if let Some((_, item)) = paths.paths.pop_first() {
            paths.paths.insert(self.path.clone(), item);
        }
        (schemas, paths, serve)
    }
}

/// Returns path and methods of a handler, from the type that `#[utoipa::path(…)]` generates.
pub(crate) fn path_and_methods<P: utoipa::Path>(_: &P) -> (String, MethodFilter) {
    let methods = P::methods().iter().map(PathItemExt::to_method_filter).reduce(MethodFilter::or);
    (P::path(), methods.unwrap_or(MethodFilter::GET))
}

/// One row of the route table.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) access: Access,
    /// First line of the handler's documentation.
    pub(crate) summary: String,
    /// The handler with its OpenAPI description.
    pub(crate) parts: Described,
}

/// A handler with its `#[utoipa::path(…)]`: method, path and summary.
type Described = UtoipaMethodRouter<Arc<Service>>;

impl Route {
    /// Returns the row of a handler; `None` for a method that the API does not use.
    pub(crate) fn of(handler: &Handler) -> Option<Self> {
        let parts = handler.described();
        let (path, item) = parts.1.paths.first_key_value()?;
        let operations = [
            ("GET", &item.get),
            ("POST", &item.post),
            ("PUT", &item.put),
            ("PATCH", &item.patch),
            ("DELETE", &item.delete),
        ];
        let (method, operation) =
            operations.into_iter().find_map(|(method, operation)| Some((method, operation.as_ref()?)))?;
        let summary = operation.summary.as_deref().unwrap_or_default().trim_end_matches('.').to_owned();
        Some(Self { method, path: path.clone(), access: handler.access, summary, parts })
    }
}
