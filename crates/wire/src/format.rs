//! `formats`: the content that a scrape returns. Each entry is a name, or an object with `type` and settings.

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::read::{Field, Fields};
use crate::words::{Word, words};

/// Maximum length of a prompt, question or query, in characters.
pub const MAX_PROMPT_CHARS: usize = 10_000;
/// Maximum length of a CSS selector, in characters.
pub const MAX_SELECTOR_CHARS: usize = 2000;
/// Maximum number of selectors in one list.
pub const MAX_SELECTORS: usize = 250;
/// Maximum width and height of a viewport, in CSS pixels (8K).
const MAX_VIEWPORT: (u32, u32) = (7680, 4320);

/// Requested format.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Format {
    /// Page content as markdown.
    Markdown,
    /// Cleaned HTML.
    Html,
    /// HTML as received.
    RawHtml,
    /// Response body as received, base64-encoded. Cannot be combined with other formats.
    RawBase64,
    /// URLs of the links on the page.
    Links,
    /// URLs of the images on the page.
    Images,
    /// Attribute values of selected elements.
    Attributes(AttributesFormat),
    /// Summary of the page.
    Summary,
    /// Screenshot of the page.
    Screenshot(ScreenshotOptions),
    /// Structured data, extracted by schema or prompt.
    Json(JsonFormat),
    /// Brand identity and design system.
    Branding,
    /// Product that the page sells.
    Product,
    /// Menu of a restaurant.
    Menu,
    /// Audio track of a video page.
    Audio,
    /// Video file of a video page.
    Video,
    /// Answer to a prompt. Deprecated: use `question`.
    Query(QueryFormat),
    /// Answer to a question.
    Question(QuestionFormat),
    /// Passages of the page that match a query.
    Highlights(HighlightsFormat),
    /// Changes since the previous scrape.
    ChangeTracking(ChangeTrackingFormat),
}

/// Entry of `formats`: a name or an object.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum FormatEntry {
    /// Name only, for formats that need no settings.
    Name(FormatKind),
    /// Object with `type` and settings.
    Object(Format),
}

words! {
    /// Names of formats.
    pub enum FormatKind {
        /// Name of [`Format::Markdown`].
        Markdown = "markdown",
        /// Name of [`Format::Html`].
        Html = "html",
        /// Name of [`Format::RawHtml`].
        RawHtml = "rawHtml",
        /// Name of [`Format::RawBase64`].
        RawBase64 = "rawBase64",
        /// Name of [`Format::Links`].
        Links = "links",
        /// Name of [`Format::Images`].
        Images = "images",
        /// Name of [`Format::Attributes`].
        Attributes = "attributes",
        /// Name of [`Format::Summary`].
        Summary = "summary",
        /// Name of [`Format::Screenshot`].
        Screenshot = "screenshot",
        /// Name of [`Format::Json`].
        Json = "json",
        /// Name of [`Format::Branding`].
        Branding = "branding",
        /// Name of [`Format::Product`].
        Product = "product",
        /// Name of [`Format::Menu`].
        Menu = "menu",
        /// Name of [`Format::Audio`].
        Audio = "audio",
        /// Name of [`Format::Video`].
        Video = "video",
        /// Name of [`Format::Query`].
        Query = "query",
        /// Name of [`Format::Question`].
        Question = "question",
        /// Name of [`Format::Highlights`].
        Highlights = "highlights",
        /// Name of [`Format::ChangeTracking`].
        ChangeTracking = "changeTracking",
    }
}

/// Settings of the format `attributes`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(default)]
pub struct AttributesFormat {
    /// Attributes to read. If empty, the result is an empty list.
    #[schema(max_items = 250)]
    pub selectors: Vec<AttributeSelector>,
}

/// Attribute to read from all elements that match a selector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AttributeSelector {
    /// CSS selector of the elements.
    #[schema(min_length = 1, max_length = 2000)]
    pub selector: String,
    /// Attribute name.
    #[schema(min_length = 1, max_length = 200)]
    pub attribute: String,
}

/// Settings of a screenshot, both as a format and as an action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ScreenshotOptions {
    /// Whether the full page is captured instead of the visible part. The spelling `full_page` is accepted too.
    pub full_page: bool,
    /// JPEG quality; PNG if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 100)]
    pub quality: Option<u32>,
    /// Viewport size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viewport: Option<Viewport>,
}

/// Viewport size, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Viewport {
    /// Width in CSS pixels.
    #[schema(minimum = 1, maximum = 7680)]
    pub width: u32,
    /// Height in CSS pixels.
    #[schema(minimum = 1, maximum = 4320)]
    pub height: u32,
}

/// Settings of the format `json`. Without `schema`, the model chooses the structure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct JsonFormat {
    /// JSON Schema that the result follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Map<String, Value>>,
    /// Instructions on what to extract.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 10000)]
    pub prompt: Option<String>,
    /// Former location of the option `checkPromptInjection`; still accepted.
    pub check_prompt_injection: bool,
}

/// Settings of the format `query`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct QueryFormat {
    /// Question about the page.
    #[schema(min_length = 1, max_length = 10000)]
    pub prompt: String,
    /// Style of the answer.
    #[schema(required = false, default = "freeform")]
    pub mode: QueryMode,
}

words! {
    /// Style of an answer.
    #[derive(Default)]
    pub enum QueryMode {
        /// Answer in the model's own words.
        #[default]
        Freeform = "freeform",
        /// Answer in direct quotes from the page.
        DirectQuote = "directQuote",
    }
}

/// Settings of the format `question`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct QuestionFormat {
    /// Question about the page.
    #[schema(min_length = 1, max_length = 10000)]
    pub question: String,
}

/// Settings of the format `highlights`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HighlightsFormat {
    /// Search query.
    #[schema(min_length = 1, max_length = 10000)]
    pub query: String,
}

/// Settings of the format `changeTracking`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
#[serde(default)]
pub struct ChangeTrackingFormat {
    /// How changes are shown, in addition to the status.
    #[schema(max_items = 2)]
    pub modes: Vec<ChangeMode>,
    /// JSON Schema of the compared fields, in `json` mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Map<String, Value>>,
    /// Instructions on what to compare, in `json` mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 10000)]
    pub prompt: Option<String>,
    /// Name of a comparison series. A scrape is compared with the previous one under the same tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200)]
    pub tag: Option<String>,
}

words! {
    /// Representation of changes.
    pub enum ChangeMode {
        /// Previous and current value of each field.
        Json = "json",
        /// Unified diff.
        GitDiff = "git-diff",
    }
}

impl Format {
    /// Returns the name of the format.
    #[must_use]
    pub fn kind(&self) -> FormatKind {
        match self {
            Self::Markdown => FormatKind::Markdown,
            Self::Html => FormatKind::Html,
            Self::RawHtml => FormatKind::RawHtml,
            Self::RawBase64 => FormatKind::RawBase64,
            Self::Links => FormatKind::Links,
            Self::Images => FormatKind::Images,
            Self::Attributes(_) => FormatKind::Attributes,
            Self::Summary => FormatKind::Summary,
            Self::Screenshot(_) => FormatKind::Screenshot,
            Self::Json(_) => FormatKind::Json,
            Self::Branding => FormatKind::Branding,
            Self::Product => FormatKind::Product,
            Self::Menu => FormatKind::Menu,
            Self::Audio => FormatKind::Audio,
            Self::Video => FormatKind::Video,
            Self::Query(_) => FormatKind::Query,
            Self::Question(_) => FormatKind::Question,
            Self::Highlights(_) => FormatKind::Highlights,
            Self::ChangeTracking(_) => FormatKind::ChangeTracking,
        }
    }

    /// Reads the list of formats; at most one entry of each kind.
    pub(crate) fn read_list(field: Field<'_>) -> Option<Vec<Self>> {
        // Leaves room for every kind and some repeats, because the error about a repeat is clearer than one about the
        // length.
        field.one_of_each(0..=2 * FormatKind::WORDS.len(), Self::kind, Self::read)
    }

    fn read(field: Field<'_>) -> Option<Self> {
        match field.value {
            Value::Object(_) => field.record(Self::read_object).flatten(),
            _ => Self::read_name(field),
        }
    }

    fn read_name(field: Field<'_>) -> Option<Self> {
        let Some(kind) = field.value.as_str().and_then(FormatKind::parse) else {
            return field.word().and_then(Self::plain);
        };
        Some(match kind {
            FormatKind::Query => return field.refuse("must be an object with `type` and `prompt`"),
            FormatKind::Question => return field.refuse("must be an object with `type` and `question`"),
            FormatKind::Highlights => return field.refuse("must be an object with `type` and `query`"),
            FormatKind::Attributes => Self::Attributes(AttributesFormat::default()),
            FormatKind::Screenshot => Self::Screenshot(ScreenshotOptions::default()),
            FormatKind::Json => Self::Json(JsonFormat::default()),
            FormatKind::ChangeTracking => Self::ChangeTracking(ChangeTrackingFormat::default()),
            other => Self::plain(other)?,
        })
    }

    fn read_object(fields: &mut Fields<'_>) -> Option<Self> {
        let Some(kind) = fields.need("type").and_then(Field::word) else {
            // The type decides which keys are known. Without it, the other keys cannot be checked.
            fields.ignore_rest();
            return None;
        };
        Some(match kind {
            FormatKind::Attributes => Self::Attributes(AttributesFormat::read(fields)),
            FormatKind::Screenshot => Self::Screenshot(ScreenshotOptions::read(fields)),
            FormatKind::Json => Self::Json(JsonFormat::read(fields)),
            FormatKind::Query => Self::Query(QueryFormat::read(fields)?),
            FormatKind::Question => Self::Question(QuestionFormat { question: prompt(fields, "question")? }),
            FormatKind::Highlights => Self::Highlights(HighlightsFormat { query: prompt(fields, "query")? }),
            FormatKind::ChangeTracking => Self::ChangeTracking(ChangeTrackingFormat::read(fields)),
            other => Self::plain(other)?,
        })
    }

    /// Returns the format of this kind, if it has no settings.
    fn plain(kind: FormatKind) -> Option<Self> {
        Some(match kind {
            FormatKind::Markdown => Self::Markdown,
            FormatKind::Html => Self::Html,
            FormatKind::RawHtml => Self::RawHtml,
            FormatKind::RawBase64 => Self::RawBase64,
            FormatKind::Links => Self::Links,
            FormatKind::Images => Self::Images,
            FormatKind::Summary => Self::Summary,
            FormatKind::Branding => Self::Branding,
            FormatKind::Product => Self::Product,
            FormatKind::Menu => Self::Menu,
            FormatKind::Audio => Self::Audio,
            FormatKind::Video => Self::Video,
            FormatKind::Attributes
            | FormatKind::Screenshot
            | FormatKind::Json
            | FormatKind::Query
            | FormatKind::Question
            | FormatKind::Highlights
            | FormatKind::ChangeTracking => return None,
        })
    }
}

fn prompt(fields: &mut Fields<'_>, key: &'static str) -> Option<String> {
    fields.need(key).and_then(|field| field.text(1..=MAX_PROMPT_CHARS))
}

fn optional_prompt(fields: &mut Fields<'_>) -> Option<String> {
    fields.take("prompt").and_then(|field| field.text(0..=MAX_PROMPT_CHARS))
}

impl AttributesFormat {
    fn read(fields: &mut Fields<'_>) -> Self {
        let entry = |field: Field<'_>| field.record(AttributeSelector::read).flatten();
        let selectors = fields.take("selectors").and_then(|field| field.list(0..=MAX_SELECTORS, entry));
        Self { selectors: selectors.unwrap_or_default() }
    }
}

impl AttributeSelector {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let selector = fields.need("selector").and_then(|field| field.text(1..=MAX_SELECTOR_CHARS));
        let attribute = fields.need("attribute").and_then(|field| field.name(1..=200));
        Some(Self { selector: selector?, attribute: attribute? })
    }
}

impl ScreenshotOptions {
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        let snake_case = fields.flag("full_page", false);
        Self {
            full_page: fields.flag("fullPage", snake_case),
            quality: fields.take("quality").and_then(|field| field.whole32(1..=100)),
            viewport: fields.take("viewport").and_then(|field| field.record(Viewport::read).flatten()),
        }
    }
}

impl Viewport {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let width = fields.need("width").and_then(|field| field.whole32(1..=MAX_VIEWPORT.0));
        let height = fields.need("height").and_then(|field| field.whole32(1..=MAX_VIEWPORT.1));
        Some(Self { width: width?, height: height? })
    }
}

impl JsonFormat {
    fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            schema: fields.take("schema").and_then(Field::map),
            prompt: optional_prompt(fields),
            check_prompt_injection: fields.flag("checkPromptInjection", false),
        }
    }
}

impl QueryFormat {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let mode = fields.take("mode").and_then(Field::word).unwrap_or_default();
        Some(Self { prompt: prompt(fields, "prompt")?, mode })
    }
}

impl ChangeTrackingFormat {
    /// Whether values are extracted and compared (mode `json`).
    #[must_use]
    pub fn extracts(&self) -> bool {
        self.modes.contains(&ChangeMode::Json)
    }

    /// Whether a unified diff is shown (mode `git-diff`).
    #[must_use]
    pub fn shows_diff(&self) -> bool {
        self.modes.contains(&ChangeMode::GitDiff)
    }

    fn read(fields: &mut Fields<'_>) -> Self {
        let modes = fields.take("modes").and_then(|field| field.list(0..=2, Field::word));
        let mut modes: Vec<ChangeMode> = modes.unwrap_or_default();
        modes.sort_unstable();
        modes.dedup();
        let tracking = Self {
            modes,
            schema: fields.take("schema").and_then(Field::map),
            prompt: optional_prompt(fields),
            tag: fields.take("tag").and_then(|field| field.name(1..=200)),
        };
        let asks =
            tracking.schema.is_some() || tracking.prompt.as_deref().is_some_and(|prompt| !prompt.trim().is_empty());
        if tracking.extracts() && !asks {
            fields
                .refuse("modes", "must not contain `json` without a `schema` or a `prompt` that says what to extract");
        }
        tracking
    }
}
