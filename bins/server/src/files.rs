//! Handlers of `/files`: download and upload by signed URL.

mod range;

use std::sync::Arc;

use app::files::{self, File, Link};
use app::parse::{self, UploadLink};
use app::{AppError, DEFAULT_TEAM};
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use boot::config::AuthMode;
use tokio::time::Instant;
use uuid::Uuid;
use wire::{Code, FileQuery, Invalid, Received, UploadQuery};

use crate::Service;
use crate::body::{BodyLimits, UploadRate};
use crate::error::Failure;
use crate::extract::{Query, encoding};
use crate::request::{RequestContext, reader};

use range::RequestedBytes;

/// Content security policy of files: no content of a file may run under the origin of the service.
const POLICY: &str = "default-src 'none'; sandbox";

type FilePath = Result<Path<(Uuid, String)>, PathRejection>;
/// Query parameters of a signed URL. Invalid ones are answered with 404, like an unknown file.
type Signed<T> = Result<Query<T>, Failure>;

/// Get a file, or one range of it, by its signed URL.
#[utoipa::path(
    get,
    path = "/files/{id}/{name}",
    tag = "files",
    params(
        ("id" = String, Path, description = "Id of the file"),
        ("name" = String, Path, description = "Name of the file"),
        FileQuery,
        ("range" = Option<String>, Header, description = "A single byte range"),
    ),
    responses(
        (status = 200, description = "The file", body = String, content_type = "application/octet-stream"),
        (status = 206, description = "The range", body = String, content_type = "application/octet-stream"),
        (status = 302, description = "Redirect to the file in the blob store"),
    )
)]
pub(crate) async fn show(
    State(service): State<Arc<Service>>,
    place: FilePath,
    method: Method,
    signed: Signed<FileQuery>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let file = find(&service, place, signed).await?;
    // Ranges are defined for GET only (RFC 9110 section 14.2), and presigned URLs of the blob store are signed for GET.
    if method == Method::HEAD {
        return Ok(described(&file, sized(file.bytes, Body::empty())));
    }
    match files::elsewhere(&service.operations.app, &file).await? {
        Some(url) => Ok(redirect(url.as_str())),
        None => body(&service, &file, &headers).await,
    }
}

/// Upload a file to its signed URL, for `POST /v2/parse`.
#[utoipa::path(
    put,
    path = "/files/{id}/{name}",
    tag = "files",
    params(
        ("id" = String, Path, description = "Id of the file"),
        ("name" = String, Path, description = "Name of the file"),
        UploadQuery,
    ),
    request_body(content = String, content_type = "application/octet-stream"),
    responses((status = 200, description = "OK", body = Received))
)]
pub(crate) async fn receive(
    State(service): State<Arc<Service>>,
    place: FilePath,
    signed: Signed<UploadQuery>,
    Extension(context): Extension<RequestContext>,
    request: Request,
) -> Result<Json<Received>, Failure> {
    let unknown = || Failure::from(AppError::NotFound("file"));
    let (Ok(Path((id, name))), Ok(Query(signed))) = (place, signed) else { return Err(unknown()) };
    let UploadQuery { until, size, signature } = signed;
    let link = Link { id, name: &name, until, signature: &signature };
    let parse::Room { max_bytes, team } = parse::slot(&service.operations.app, &UploadLink { link, size }).await?;
    let (head, body) = request.into_parts();
    encoding(&head.headers)?;
    let limits = BodyLimits {
        bytes: usize::try_from(max_bytes).unwrap_or(usize::MAX),
        until: Instant::now() + service.config.server.upload_timeout,
        large: &service.uploads,
        owner: &sender(&service, team, &context),
        pace: UploadRate::of_uploads(&service.config.server),
    };
    let body = limits.read(&head.headers, body).await?;
    if body.is_empty() {
        return Err(Invalid::at("file", "must not be empty").into());
    }
    parse::receive(&service.operations.app, id, body).await?;
    Ok(Json(Received { success: true }))
}

/// Returns the owner of the upload permit: the team that the URL was created for. In open mode all callers without a key
/// are one team, so their address is added.
fn sender(service: &Service, team: String, context: &RequestContext) -> String {
    match service.config.auth.mode {
        AuthMode::Open if team == DEFAULT_TEAM => format!("{team} {}", reader(None, Some(context))),
        _ => team,
    }
}

async fn find(service: &Service, place: FilePath, signed: Signed<FileQuery>) -> Result<File, Failure> {
    let unknown = || Failure::from(AppError::NotFound("file"));
    let (Ok(Path((id, name))), Ok(Query(signed))) = (place, signed) else { return Err(unknown()) };
    let FileQuery { until, signature } = signed;
    let link = Link { id, name: &name, until, signature: &signature };
    Ok(files::find(&service.operations.app, &link).await?)
}

async fn body(service: &Service, file: &File, headers: &HeaderMap) -> Result<Response, Failure> {
    let (part, range) = match range::wanted(headers, file.bytes) {
        RequestedBytes::All => (None, 0..file.bytes),
        RequestedBytes::Part(range) => (Some(format!("bytes {}-{}/{}", range.start, range.end - 1, file.bytes)), range),
        RequestedBytes::Nothing => return Ok(unsatisfiable(file.bytes)),
    };
    let pieces = files::read(&service.operations.app, file, range.clone()).await?;
    let mut response = sized(range.end - range.start, Body::from_stream(pieces));
    if let Some(part) = part {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        put(response.headers_mut(), header::CONTENT_RANGE, &part);
    }
    Ok(described(file, response))
}

fn sized(bytes: u64, body: Body) -> Response {
    ([(header::CONTENT_LENGTH, bytes)], body).into_response()
}

fn described(file: &File, mut response: Response) -> Response {
    let headers = response.headers_mut();
    put(headers, header::CONTENT_TYPE, &file.content_type);
    put(headers, header::CONTENT_DISPOSITION, &file.disposition);
    put(headers, header::CACHE_CONTROL, &format!("private, max-age={}", file.left.as_secs()));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

fn redirect(url: &str) -> Response {
    (StatusCode::FOUND, [(header::LOCATION, url), (header::CACHE_CONTROL, "no-store")]).into_response()
}

fn unsatisfiable(bytes: u64) -> Response {
    let failure = Failure::new(Code::RangeNotSatisfiable, format!("the file has {bytes} bytes"));
    ([(header::CONTENT_RANGE, format!("bytes */{bytes}"))], failure).into_response()
}
