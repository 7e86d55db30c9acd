//! `actions`: what is done on the page before it is captured.

use serde::Serialize;
use utoipa::ToSchema;

use crate::format::{MAX_SELECTOR_CHARS, ScreenshotOptions};
use crate::read::{Field, Fields};
use crate::words::words;

/// Most actions of one scrape.
pub const MAX_ACTIONS: usize = 50;
/// Most milliseconds that the `wait` actions of one scrape may add up to.
pub const MAX_ACTION_WAIT_MS: u32 = 60_000;
/// Longest text that is typed, and longest script, in characters.
pub const MAX_SCRIPT_CHARS: usize = 100_000;

/// One step on the page.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Action {
    /// Waits for a time or for an element.
    Wait(WaitAction),
    /// Takes a picture.
    Screenshot(ScreenshotOptions),
    /// Clicks an element.
    Click(ClickAction),
    /// Types into the element that has the focus, so it follows a click.
    Write(WriteAction),
    /// Presses a key.
    Press(PressAction),
    /// Scrolls the page or an element.
    Scroll(ScrollAction),
    /// Captures the URL and the HTML.
    Scrape,
    /// Runs a script and keeps what it returns.
    ExecuteJavascript(ScriptAction),
    /// Prints the page. The name `generatePDF` is accepted too.
    Pdf(PdfAction),
}

/// What a wait waits for: exactly one of the two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum WaitAction {
    /// A time.
    Time {
        /// In milliseconds.
        #[schema(minimum = 1, maximum = 60000)]
        milliseconds: u32,
    },
    /// An element.
    Element {
        /// By CSS selector.
        #[schema(min_length = 1, max_length = 2000)]
        selector: String,
    },
}

/// A click.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ClickAction {
    /// What to click, by CSS selector.
    #[schema(min_length = 1, max_length = 2000)]
    pub selector: String,
    /// Every match instead of the first; no error when there is none.
    #[schema(required = false, default = false)]
    pub all: bool,
}

/// Typing.
#[derive(Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WriteAction {
    /// The text, typed character by character.
    #[schema(max_length = 100000)]
    pub text: String,
}

impl std::fmt::Debug for WriteAction {
    /// What is typed may be a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriteAction").finish_non_exhaustive()
    }
}

/// A key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PressAction {
    /// The name of the key, as `Enter`.
    #[schema(min_length = 1, max_length = 100)]
    pub key: String,
}

/// Scrolling.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(default)]
pub struct ScrollAction {
    /// Up or down.
    pub direction: Direction,
    /// What to scroll, by CSS selector; the page when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 2000)]
    pub selector: Option<String>,
}

words! {
    /// A direction.
    #[derive(Default)]
    pub enum Direction {
        /// Towards the start.
        Up = "up",
        /// Towards the end.
        #[default]
        Down = "down",
    }
}

/// A script.
#[derive(Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ScriptAction {
    /// JavaScript.
    #[schema(min_length = 1, max_length = 100000)]
    pub script: String,
}

impl std::fmt::Debug for ScriptAction {
    /// A script may hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptAction").finish_non_exhaustive()
    }
}

/// Printing.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(default)]
pub struct PdfAction {
    /// The size of the paper.
    pub format: Paper,
    /// Whether the paper lies on its side.
    pub landscape: bool,
    /// Magnification; the browser knows 0.1 to 2.
    #[schema(minimum = 0.1, maximum = 2)]
    pub scale: f64,
}

impl Default for PdfAction {
    fn default() -> Self {
        Self { format: Paper::default(), landscape: false, scale: 1.0 }
    }
}

words! {
    /// Sizes of paper.
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
    /// Names of actions, with the other names that clients use.
    pub enum ActionName {
        /// See [`Action::Wait`].
        Wait = "wait",
        /// See [`Action::Screenshot`].
        Screenshot = "screenshot",
        /// See [`Action::Click`].
        Click = "click",
        /// See [`Action::Write`].
        Write = "write",
        /// See [`Action::Press`].
        Press = "press",
        /// See [`Action::Scroll`].
        Scroll = "scroll",
        /// See [`Action::Scrape`].
        Scrape = "scrape",
        /// See [`Action::ExecuteJavascript`].
        ExecuteJavascript = "executeJavascript",
        /// See [`Action::Pdf`].
        Pdf = "pdf",
        /// The name of `pdf` in the MCP server.
        GeneratePdf = "generatePDF",
    }
}

impl Action {
    /// Reads the whole list, with the bound on the sum of its waits.
    pub(crate) fn read_list(fields: &mut Fields<'_>) -> Option<Vec<Self>> {
        let entry = |field: Field<'_>| field.record(Self::read).flatten();
        let actions = fields.take("actions")?.list(0..=MAX_ACTIONS, entry)?;
        let waits = actions.iter().map(|action| match action {
            Self::Wait(WaitAction::Time { milliseconds }) => *milliseconds,
            _ => 0,
        });
        let total: u32 = waits.sum();
        if total > MAX_ACTION_WAIT_MS {
            fields.refuse(
                "actions",
                format!("must not wait for more than {MAX_ACTION_WAIT_MS} ms in all, wait for {total}"),
            );
        }
        Some(actions)
    }

    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let Some(name) = fields.need("type").and_then(Field::word) else {
            // Which keys are known depends on the type, so they are not judged without it.
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
            (Some(time), Some(_)) => time.refuse("must not stand beside `selector`: exactly one of the two"),
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
