//! Query parameters of the signed URLs under `/files`.

use utoipa::IntoParams;

use crate::error::Invalid;
use crate::query::{self, QueryParams};
use crate::read::Fields;

/// Query parameters of a download URL.
#[derive(Debug, Clone, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FileQuery {
    /// Expiry of the URL, in seconds since 1970
    pub until: i64,
    /// Signature of the path and the other parameters
    pub signature: String,
}

/// Query parameters of an upload URL.
#[derive(Debug, Clone, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct UploadQuery {
    /// Expiry of the URL, in seconds since 1970
    pub until: i64,
    /// Byte limit of the upload
    pub size: u64,
    /// Signature of the path and the other parameters
    pub signature: String,
}

impl QueryParams for FileQuery {
    fn decode(query: &str) -> Result<Self, Invalid> {
        query::decode(query, |fields| {
            let (until, signature) = (until(fields), signature(fields));
            Some(Self { until: until?, signature: signature? })
        })
    }
}

impl QueryParams for UploadQuery {
    fn decode(query: &str) -> Result<Self, Invalid> {
        query::decode(query, |fields| {
            let (until, signature) = (until(fields), signature(fields));
            let size = fields.need("size").and_then(|field| field.digits(..));
            Some(Self { until: until?, size: size?, signature: signature? })
        })
    }
}

fn until(fields: &mut Fields<'_>) -> Option<i64> {
    fields.need("until").and_then(|field| field.digits(..))
}

fn signature(fields: &mut Fields<'_>) -> Option<String> {
    fields.need("signature").and_then(|field| field.text(0..=usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_urls() {
        let file = FileQuery { until: 17, signature: "s".to_owned() };
        assert_eq!(FileQuery::decode("until=17&signature=s&size=x"), Ok(file));
        let upload = UploadQuery { until: -1, size: 5, signature: String::new() };
        assert_eq!(UploadQuery::decode("until=-1&signature=&size=5"), Ok(upload));
        let invalid = UploadQuery::decode("until=x").unwrap_err();
        let paths: Vec<&str> = invalid.fields.iter().map(|fault| fault.path.as_str()).collect();
        assert_eq!(paths, ["until", "signature", "size"]);
    }
}
