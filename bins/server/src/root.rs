//! Handler of `GET /`: identifies the service.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use crate::address::PublicAddress;

/// Name and version of the service.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct About {
    /// Always true.
    success: bool,
    /// Name of the program.
    name: &'static str,
    /// Version of the program.
    version: &'static str,
    /// URL of the OpenAPI document.
    documentation: String,
}

/// Get the name, the version and the URL of the API description.
#[utoipa::path(get, path = "/", tag = "health", responses((status = 200, description = "OK", body = About)))]
pub(crate) async fn show(address: PublicAddress) -> Json<About> {
    let documentation = format!("{}/openapi.json", address.0);
    Json(About { success: true, name: "quarry", version: env!("CARGO_PKG_VERSION"), documentation })
}
