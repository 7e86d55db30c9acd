//! `actions`: steps performed on the page before it is captured.

use serde::Serialize;
use utoipa::ToSchema;

use crate::format::{MAX_SELECTOR_CHARS, ScreenshotOptions};
use crate::read::{Field, Fields};
use crate::words::words;

/// Maximum number of actions per scrape.
pub const MAX_ACTIONS: usize = 50;
/// Maximum total time of all `wait` actions of one scrape, in milliseconds.
pub const MAX_ACTION_WAIT_MS: u32 = 60_000;
/// Maximum length of typed text and of scripts, in characters.
pub const MAX_SCRIPT_CHARS: usize = 100_000;

/// One action on the page.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Action {
    /// Waits for a fixed time or for an element.
    Wait(WaitAction),
    /// Takes a screenshot.
    Screenshot(ScreenshotOptions),
    /// Clicks an element.
    Click(ClickAction),
    /// Types text into the focused element; click the element first.
    Write(WriteAction),
    /// Presses a key on the keyboard.
    Press(PressAction),
    /// Scrolls the page or an element.
    Scroll(ScrollAction),
    /// Captures the current URL and HTML.
    Scrape,
    /// Runs JavaScript on the page and returns its result.
    ExecuteJavascript(ScriptAction),
    /// Prints the page to PDF. The name `generatePDF` is accepted too.
    Pdf(PdfAction),
}

/// Condition of a wait: either `milliseconds` or `selector`, not both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum WaitAction {
    /// Waits for a fixed time.
    Time {
        /// Time to wait, in milliseconds.
        #[schema(minimum = 1, maximum = 60000)]
        milliseconds: u32,
    },
    /// Waits until a matching element is visible.
    Element {
        /// CSS selector of the element.
        #[schema(min_length = 1, max_length = 2000)]
        selector: String,
    },
}

/// Settings of a click.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ClickAction {
    /// CSS selector of the element to click.
    #[schema(min_length = 1, max_length = 2000)]
    pub selector: String,
    /// Whether to click every matching element instead of the first. With `true`, a selector without matches is not an
    /// error.
    #[schema(required = false, default = false)]
    pub all: bool,
}

/// Text to type into the focused element.
#[derive(Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WriteAction {
    /// Text, typed character by character.
    #[schema(max_length = 100000)]
    pub text: String,
}

impl std::fmt::Debug for WriteAction {
    /// Hides the text: it may be a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriteAction").finish_non_exhaustive()
    }
}

/// Key to press.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PressAction {
    /// Name of the key, such as `Enter`.
    #[schema(min_length = 1, max_length = 100)]
    pub key: String,
}

/// Settings of scrolling.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(default)]
pub struct ScrollAction {
    /// Scroll direction.
    pub direction: Direction,
    /// CSS selector of the element to scroll; the page if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 2000)]
    pub selector: Option<String>,
}

words! {
    /// Scroll direction.
    #[derive(Default)]
    pub enum Direction {
        /// Towards the start of the page.
        Up = "up",
        /// Towards the end of the page.
        #[default]
        Down = "down",
    }
}

/// Script to run.
#[derive(Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ScriptAction {
    /// JavaScript source.
    #[schema(min_length = 1, max_length = 100000)]
    pub script: String,
}

impl std::fmt::Debug for ScriptAction {
    /// Hides the script: it may contain a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptAction").finish_non_exhaustive()
    }
}

/// Settings for printing to PDF.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(default)]
pub struct PdfAction {
    /// Paper size.
    pub format: Paper,
    /// Whether the page is printed in landscape orientation.
    pub landscape: bool,
    /// Scale of the rendering, from 0.1 to 2.
    #[schema(minimum = 0.1, maximum = 2)]
    pub scale: f64,
}

impl Default for PdfAction {
    fn default() -> Self {
        Self { format: Paper::default(), landscape: false, scale: 1.0 }
    }
}

words! {
    /// Paper sizes.
    #[derive(Default)]
    pub enum Paper {
        /// 841 × 1189 mm.
        A0 = "A0",
        /// 594 × 841 mm.
        A1 = "A1",
        /// 420 × 594 mm.
        A2 = "A2",
        /// 297 × 420 mm.
        A3 = "A3",
        /// 210 × 297 mm.
        A4 = "A4",
        /// 148 × 210 mm.
        A5 = "A5",
        /// 105 × 148 mm.
        A6 = "A6",
        /// 8.5 × 11 inches.
        #[default]
        Letter = "Letter",
        /// 8.5 × 14 inches.
        Legal = "Legal",
        /// 11 × 17 inches.
        Tabloid = "Tabloid",
        /// 17 × 11 inches.
        Ledger = "Ledger",
    }
}

words! {
    /// Action names, including the aliases that clients use.
    pub enum ActionName {
        /// Name of [`Action::Wait`].
        Wait = "wait",
        /// Name of [`Action::Screenshot`].
        Screenshot = "screenshot",
        /// Name of [`Action::Click`].
        Click = "click",
        /// Name of [`Action::Write`].
        Write = "write",
        /// Name of [`Action::Press`].
        Press = "press",
        /// Name of [`Action::Scroll`].
        Scroll = "scroll",
        /// Name of [`Action::Scrape`].
        Scrape = "scrape",
        /// Name of [`Action::ExecuteJavascript`].
        ExecuteJavascript = "executeJavascript",
        /// Name of [`Action::Pdf`].
        Pdf = "pdf",
        /// Alias of `pdf`, used by the MCP server.
        GeneratePdf = "generatePDF",
    }
}

impl Action {
    /// Reads the list of actions and checks the total of its waits.
    pub(crate) fn read_list(fields: &mut Fields<'_>) -> Option<Vec<Self>> {
        let entry = |field: Field<'_>| field.record(Self::read).flatten();
        let actions = fields.take("actions")?.list(0..=MAX_ACTIONS, entry)?;
        let waits = actions.iter().map(|action| match action {
            Self::Wait(WaitAction::Time { milliseconds }) => *milliseconds,
            _ => 0,
        });
        let total: u32 = waits.sum();
        if total > MAX_ACTION_WAIT_MS {
            fields
                .refuse("actions", format!("must not wait longer than {MAX_ACTION_WAIT_MS} ms in total, got {total}"));
        }
        Some(actions)
    }

    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let Some(name) = fields.need("type").and_then(Field::word) else {
            // The type decides which keys are known. Without it, the other keys cannot be checked.
            fields.ignore_rest();
            return None;
        };
        Some(match name {
            ActionName::Wait => Self::Wait(WaitAction::read(fields)?),
            ActionName::Screenshot => Self::Screenshot(ScreenshotOptions::read(fields)),
            ActionName::Click => {
                let all = fields.flag("all", false);
                Self::Click(ClickAction { selector: fields.need("selector").and_then(selector)?, all })
            }
            ActionName::Write => {
                let text = fields.need("text").and_then(|field| field.text(0..=MAX_SCRIPT_CHARS));
                Self::Write(WriteAction { text: text? })
            }
            ActionName::Press => {
                Self::Press(PressAction { key: fields.need("key").and_then(|field| field.name(1..=100))? })
            }
            ActionName::Scroll => Self::Scroll(ScrollAction {
                direction: fields.take("direction").and_then(Field::word).unwrap_or_default(),
                selector: fields.take("selector").and_then(selector),
            }),
            ActionName::Scrape => Self::Scrape,
            ActionName::ExecuteJavascript => {
                let script = fields.need("script").and_then(|field| field.text(1..=MAX_SCRIPT_CHARS));
                Self::ExecuteJavascript(ScriptAction { script: script? })
            }
            ActionName::Pdf | ActionName::GeneratePdf => Self::Pdf(PdfAction::read(fields)),
        })
    }
}

fn selector(field: Field<'_>) -> Option<String> {
    field.text(1..=MAX_SELECTOR_CHARS)
}

impl WaitAction {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        match (fields.take("milliseconds"), fields.take("selector")) {
            (Some(time), None) => time.whole32(1..=MAX_ACTION_WAIT_MS).map(|milliseconds| Self::Time { milliseconds }),
            (None, Some(element)) => selector(element).map(|selector| Self::Element { selector }),
            (Some(time), Some(_)) => time.refuse("cannot be combined with `selector`: give exactly one of them"),
            (None, None) => {
                fields.refuse("milliseconds", "or `selector` is required");
                None
            }
        }
    }
}

impl PdfAction {
    fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            format: fields.take("format").and_then(Field::word).unwrap_or_default(),
            landscape: fields.flag("landscape", false),
            scale: fields.take("scale").and_then(|field| field.number(0.1..=2.0)).unwrap_or(1.0),
        }
    }
}
