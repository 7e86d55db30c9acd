//! `GET /`: for whoever wants to know what listens here.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use crate::address::PublicAddress;

/// What listens here.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct About {
    /// Always true.
    success: bool,
    /// Name of the program.
    name: &'static str,
    /// Version of the program.
    version: &'static str,
    /// Where the interface is described, for programs.
    documentation: String,
}

/// Get the name, the version and the address of the documentation.
#[utoipa::path(get, path = "/", tag = "health", responses((status = 200, description = "OK", body = About)))]
pub(crate) async fn show(address: PublicAddress) -> Json<About> {
    let documentation = format!("{}/openapi.json", address.0);
    Json(About { success: true, name: "quarry", version: env!("CARGO_PKG_VERSION"), documentation })
}
