//! Handlers of `/v2/parse`: parsing of uploaded files.

use std::collections::BTreeMap;
use std::sync::Arc;

use app::auth::Caller;
use app::parse;
use axum::extract::{FromRequest as _, Request, State};
use axum::http::header;
use axum::response::Response;
use axum::{Extension, Json};
use serde::Serialize;
use utoipa::ToSchema;
use wire::{
    Code, DataResponse, ParseFormats, ParseRequest, ParseUploaded, ScrapeAnswer, UploadMethod, UploadUrl,
    UploadUrlRequest,
};

use crate::body::discard;
use crate::error::Failure;
use crate::extract::{self, is_json};
use crate::request::{RequestContext, reader};
use crate::{Service, multipart};

/// Multipart form of an upload.
// Only the OpenAPI document uses it; `multipart` reads the form.
#[derive(Serialize, ToSchema)]
pub(crate) struct ParseForm {
    /// The file, with a file name.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// Options, as JSON.
    #[schema(required = false)]
    options: ParseRequest,
}

/// Parse a file.
///
/// Send the file in a form, or upload it first and send JSON with `uploadRef`.
#[utoipa::path(
    post,
    path = "/v2/parse",
    tag = "parse",
    request_body(content((ParseForm = "multipart/form-data"), (ParseUploaded = "application/json"))),
    responses((status = 200, description = "OK", body = ScrapeAnswer))
)]
pub(crate) async fn parse(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Extension(context): Extension<RequestContext>,
    request: Request,
) -> Result<Response, Failure> {
    let owner = reader(Some(&caller), Some(&context));
    let (data, room) = if is_json(request.headers()) {
        let extract::Json(body) = extract::Json::from_request(request, &service).await?;
        parse::parse_uploaded(&service.operations.scraper, &caller, wire::decode_parse_uploaded(body)?).await?
    } else {
        let (head, body) = request.into_parts();
        let Some(boundary) = multipart::boundary(&head.headers) else {
            if !head.headers.contains_key(header::EXPECT) {
                discard(body).await;
            }
            let why = "the body must be a form (multipart/form-data) with the part `file`, or JSON with `uploadRef`";
            return Err(Failure::new(Code::UnsupportedMediaType, why));
        };
        let form = multipart::read_form(&service, &head, body, boundary, &owner).await?;
        parse::parse(&service.operations.scraper, &caller, wire::decode_parse(form.options)?, form.upload).await?
    };
    Ok(service.outbox.document(&owner, data, room))
}

/// Create a signed upload URL for a file to parse.
#[utoipa::path(
    post,
    path = "/v2/parse/upload-url",
    tag = "parse",
    request_body(content = UploadUrlRequest, example = json!({"filename": "report.pdf"})),
    responses((status = 200, description = "OK", body = DataResponse<UploadUrl>))
)]
pub(crate) async fn upload_url(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    extract::Json(body): extract::Json,
) -> Result<Json<DataResponse<UploadUrl>>, Failure> {
    let request = wire::decode_upload_url(body)?;
    let (place, max_size_bytes) = parse::upload_url(&service.operations.app, &caller, request).await?;
    let headers = BTreeMap::from([("content-type".to_owned(), "application/octet-stream".to_owned())]);
    Ok(Json(DataResponse::new(UploadUrl {
        upload_url: place.url,
        upload_ref: place.id.to_string(),
        method: UploadMethod::Put,
        headers,
        fields: BTreeMap::new(),
        expires_at: place.expires_at,
        max_size_bytes,
    })))
}

/// List the supported file types.
#[utoipa::path(
    get,
    path = "/v2/parse/formats",
    tag = "parse",
    responses((status = 200, description = "OK", body = DataResponse<ParseFormats>))
)]
pub(crate) async fn formats(State(service): State<Arc<Service>>) -> Json<DataResponse<ParseFormats>> {
    Json(DataResponse::new(parse::formats(&service.operations.scraper)))
}
