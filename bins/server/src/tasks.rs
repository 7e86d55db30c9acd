//! Handler of `/admin/tasks`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use wire::Tasks;

use crate::Service;
use crate::error::Failure;

/// List the periodic tasks with their last runs.
#[utoipa::path(
    get,
    path = "/admin/tasks",
    tag = "admin",
    responses((status = 200, description = "OK", body = Tasks))
)]
pub(crate) async fn list(State(service): State<Arc<Service>>) -> Result<Json<Tasks>, Failure> {
    Ok(Json(Tasks { success: true, data: app::tasks(&service.operations).await? }))
}
