//! `formats`: what a scrape returns. Each entry is a name, or an object with `type` and settings.

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::read::{Field, Fields};
use crate::words::{Word, words};

/// Longest prompt, question or query, in characters.
pub const MAX_PROMPT_CHARS: usize = 10_000;
/// Longest CSS selector, in characters.
pub const MAX_SELECTOR_CHARS: usize = 2000;
/// Most selectors of one list.
pub const MAX_SELECTORS: usize = 250;
/// Widest and highest screen, in CSS pixels (8K).
const MAX_VIEWPORT: (u32, u32) = (7680, 4320);

/// One requested format.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Format {
    /// The page as markdown.
    Markdown,
    /// Cleaned HTML.
    Html,
    /// The HTML as it came.
    RawHtml,
    /// The body as it came, in base64; stands alone.
    RawBase64,
    /// Links of the page.
    Links,
    /// Image URLs of the page.
    Images,
    /// Values of attributes of chosen elements.
    Attributes(AttributesFormat),
    /// A summary.
    Summary,
    /// A picture of the page.
    Screenshot(ScreenshotOptions),
    /// Data extracted by schema or prompt.
    Json(JsonFormat),
    /// Brand identity and design system.
    Branding,
    /// The product that the page sells.
    Product,
    /// The menu of a restaurant.
    Menu,
    /// The sound of a video page.
    Audio,
    /// The video of a video page.
    Video,
    /// An answer to a prompt (deprecated, use `question`).
    Query(QueryFormat),
    /// An answer to a question.
    Question(QuestionFormat),
    /// The parts of the text that match a query.
    Highlights(HighlightsFormat),
    /// What changed since the scrape before.
    ChangeTracking(ChangeTrackingFormat),
}

/// How an entry of `formats` may be written.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum FormatEntry {
    /// The name alone, where the format needs no settings.
    Name(FormatKind),
    /// The name with settings.
    Object(Format),
}

words! {
    /// Names of formats.
    pub enum FormatKind {
        /// See [`Format::Markdown`].
        Markdown = "markdown",
        /// See [`Format::Html`].
        Html = "html",
        /// See [`Format::RawHtml`].
        RawHtml = "rawHtml",
        /// See [`Format::RawBase64`].
        RawBase64 = "rawBase64",
        /// See [`Format::Links`].
        Links = "links",
        /// See [`Format::Images`].
        Images = "images",
        /// See [`Format::Attributes`].
        Attributes = "attributes",
        /// See [`Format::Summary`].
        Summary = "summary",
        /// See [`Format::Screenshot`].
        Screenshot = "screenshot",
        /// See [`Format::Json`].
        Json = "json",
        /// See [`Format::Branding`].
        Branding = "branding",
        /// See [`Format::Product`].
        Product = "product",
        /// See [`Format::Menu`].
        Menu = "menu",
        /// See [`Format::Audio`].
        Audio = "audio",
        /// See [`Format::Video`].
        Video = "video",
        /// See [`Format::Query`].
        Query = "query",
        /// See [`Format::Question`].
        Question = "question",
        /// See [`Format::Highlights`].
        Highlights = "highlights",
        /// See [`Format::ChangeTracking`].
        ChangeTracking = "changeTracking",
    }
}

/// Settings of `attributes`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(default)]
pub struct AttributesFormat {
    /// What to read. Without any, the answer is an empty list.
    #[schema(max_items = 250)]
    pub selectors: Vec<AttributeSelector>,
}

/// One attribute of the elements that a selector finds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AttributeSelector {
    /// A CSS selector.
    #[schema(min_length = 1, max_length = 2000)]
    pub selector: String,
    /// The name of the attribute.
    #[schema(min_length = 1, max_length = 200)]
    pub attribute: String,
}

/// Settings of a screenshot, as a format and as an action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ScreenshotOptions {
    /// The whole page instead of the visible part. The spelling `full_page` is accepted too.
    pub full_page: bool,
    /// JPEG quality. A PNG when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 100)]
    pub quality: Option<u32>,
    /// The size of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viewport: Option<Viewport>,
}

/// The size of a window, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Viewport {
    /// Width.
    #[schema(minimum = 1, maximum = 7680)]
    pub width: u32,
    /// Height.
    #[schema(minimum = 1, maximum = 4320)]
    pub height: u32,
}

/// Settings of `json`. With a prompt only, or with neither, the model decides on the structure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct JsonFormat {
    /// A JSON Schema that the answer follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Map<String, Value>>,
    /// What to extract.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 10000)]
    pub prompt: Option<String>,
    /// The older place of the option `checkPromptInjection`.
    pub check_prompt_injection: bool,
}

/// Settings of `query`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct QueryFormat {
    /// What to ask.
    #[schema(min_length = 1, max_length = 10000)]
    pub prompt: String,
    /// How to answer.
    #[schema(required = false, default = "freeform")]
    pub mode: QueryMode,
}

words! {
    /// How a query is answered.
    #[derive(Default)]
    pub enum QueryMode {
        /// In the words of the model.
        #[default]
        Freeform = "freeform",
        /// In the words of the page.
        DirectQuote = "directQuote",
    }
}

/// Settings of `question`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct QuestionFormat {
    /// What to ask.
    #[schema(min_length = 1, max_length = 10000)]
    pub question: String,
}

/// Settings of `highlights`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HighlightsFormat {
    /// What to look for.
    #[schema(min_length = 1, max_length = 10000)]
    pub query: String,
}

/// Settings of `changeTracking`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
#[serde(default)]
pub struct ChangeTrackingFormat {
    /// How changes are shown beside the status.
    #[schema(max_items = 2)]
    pub modes: Vec<ChangeMode>,
    /// A JSON Schema of what is compared in json mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Map<String, Value>>,
    /// What is compared in json mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 10000)]
    pub prompt: Option<String>,
    /// Names a series: scrapes are compared with the one before under the same tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200)]
    pub tag: Option<String>,
}

words! {
    /// How changes are shown.
    pub enum ChangeMode {
        /// Fields with the value before and now.
        Json = "json",
        /// A unified diff.
        GitDiff = "git-diff",
    }
}

impl Format {
    /// The name of the format.
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

    /// Reads the whole list; at most one entry of each kind.
    pub(crate) fn read_list(field: Field<'_>) -> Option<Vec<Self>> {
        // Long enough for every kind and a few repeats, whose refusal says more than that of the length.
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
            // Which keys are known depends on the type, so they are not judged without it.
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

    /// The formats without settings.
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
    fn read(fields: &mut Fields<'_>) -> Self {
        let modes = fields.take("modes").and_then(|field| field.list(0..=2, Field::word));
        let mut modes: Vec<ChangeMode> = modes.unwrap_or_default();
        modes.sort_unstable();
        modes.dedup();
        Self {
            modes,
            schema: fields.take("schema").and_then(Field::map),
            prompt: optional_prompt(fields),
            tag: fields.take("tag").and_then(|field| field.name(1..=200)),
        }
    }
}
