//! Mouse and keyboard input.

use cdp::CdpError;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep};

use super::{Failure, Hands};
use crate::actions::keys::{self, Key, Stroke};

/// Time limit for the page to acknowledge an input event.
const MAX_HEARD: Duration = Duration::from_secs(3);
/// Maximum number of characters that are typed key by key.
const MAX_TYPED: usize = 10_000;

/// Operation of the keyboard; `text` is a key for `press`, `down` and `up`.
#[derive(Deserialize)]
pub(super) struct Keyboard {
    op: String,
    text: String,
    /// Milliseconds between keys.
    #[serde(default)]
    delay: f64,
}

/// Operation of the mouse.
#[derive(Deserialize)]
pub(super) struct Mouse {
    op: String,
    #[serde(default)]
    x: f64,
    #[serde(default)]
    y: f64,
    button: Option<String>,
    count: Option<u64>,
}

impl Hands {
    pub(super) async fn keyboard(&self, args: Keyboard, by: Instant) -> Result<Value, Failure> {
        let work = async {
            match args.op.as_str() {
                "press" => self.press(&args.text, by).await,
                "type" if args.delay > 0.0 => self.type_slowly(&args.text, args.delay, by).await,
                "type" => self.type_text(&args.text, by).await,
                "insert" => self.insert(&args.text, by).await,
                "down" => self.hold(&args.text, true, by).await,
                "up" => self.hold(&args.text, false, by).await,
                other => Err(Failure::wrong("keyboard", &format!("unknown operation `{other}`"))),
            }
        };
        self.leading_on(by, work).await.map(|()| Value::Null)
    }

    pub(super) async fn mouse(&self, args: Mouse, by: Instant) -> Result<Value, Failure> {
        let button = args.button.as_deref().unwrap_or("left");
        let count = args.count.unwrap_or(1).clamp(1, 3);
        let work = async {
            match args.op.as_str() {
                "move" => self.move_mouse(args.x, args.y, by).await,
                "down" => self.button("mousePressed", button, count, by).await,
                "up" => self.button("mouseReleased", button, count, by).await,
                "click" => {
                    self.move_mouse(args.x, args.y, by).await?;
                    self.click_here(button, count, by).await
                }
                "wheel" => self.wheel(args.x, args.y, by).await,
                other => Err(Failure::wrong("mouse", &format!("unknown operation `{other}`"))),
            }
        };
        self.leading_on(by, work).await.map(|()| Value::Null)
    }

    pub(super) async fn move_mouse(&self, x: f64, y: f64, by: Instant) -> Result<(), Failure> {
        *self.mouse.lock() = (x, y);
        let params = json!({ "type": "mouseMoved", "x": x, "y": y, "modifiers": *self.held.lock() });
        self.dispatch("Input.dispatchMouseEvent", params, by).await
    }

    /// Presses and releases a button at the mouse position; twice for a double click.
    pub(super) async fn click_here(&self, button: &str, count: u64, by: Instant) -> Result<(), Failure> {
        for number in 1..=count {
            self.button("mousePressed", button, number, by).await?;
            self.button("mouseReleased", button, number, by).await?;
        }
        Ok(())
    }

    async fn button(&self, kind: &str, button: &str, count: u64, by: Instant) -> Result<(), Failure> {
        if !matches!(button, "left" | "right" | "middle") {
            return Err(Failure::wrong("click", &format!("unknown button `{button}`")));
        }
        let (x, y) = *self.mouse.lock();
        let modifiers = *self.held.lock();
        let params =
            json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": count, "modifiers": modifiers });
        self.dispatch("Input.dispatchMouseEvent", params, by).await
    }

    async fn wheel(&self, right: f64, down: f64, by: Instant) -> Result<(), Failure> {
        let (x, y) = *self.mouse.lock();
        let params = json!({ "type": "mouseWheel", "x": x, "y": y, "deltaX": right, "deltaY": down });
        self.dispatch("Input.dispatchMouseEvent", params, by).await
    }

    /// Inserts a text at once, as pasting does.
    pub(super) async fn insert(&self, text: &str, by: Instant) -> Result<(), Failure> {
        self.dispatch("Input.insertText", json!({ "text": text }), by).await
    }

    /// Types key by key; characters without a key are inserted.
    pub(super) async fn type_text(&self, text: &str, by: Instant) -> Result<(), Failure> {
        self.type_slowly(text, 0.0, by).await
    }

    async fn type_slowly(&self, text: &str, delay: f64, by: Instant) -> Result<(), Failure> {
        if text.chars().count() > MAX_TYPED {
            return Err(Failure::new(format!("at most {MAX_TYPED} characters can be typed; use fill for more")));
        }
        for character in text.chars() {
            match keys::of_char(character) {
                Some(key) => self.stroke(&key, by).await?,
                None => self.insert(character.encode_utf8(&mut [0; 4]), by).await?,
            }
            if delay > 0.0 {
                sleep(Duration::from_millis(delay.min(10_000.0) as u64)).await;
            }
        }
        Ok(())
    }

    /// Presses a key, or a combination such as `Control+A`.
    pub(super) async fn press(&self, name: &str, by: Instant) -> Result<(), Failure> {
        let Stroke { modifiers, key } = stroke(name)?;
        let before = *self.held.lock();
        for modifier in &modifiers {
            self.hold_key(modifier, true, by).await?;
        }
        self.stroke(&key, by).await?;
        for modifier in modifiers.iter().rev() {
            self.hold_key(modifier, false, by).await?;
        }
        *self.held.lock() = before;
        Ok(())
    }

    async fn stroke(&self, key: &Key, by: Instant) -> Result<(), Failure> {
        let modifiers = *self.held.lock();
        self.dispatch("Input.dispatchKeyEvent", key.event(true, modifiers), by).await?;
        self.dispatch("Input.dispatchKeyEvent", key.event(false, modifiers), by).await
    }

    async fn hold(&self, name: &str, is_down: bool, by: Instant) -> Result<(), Failure> {
        self.hold_key(&stroke(name)?.key, is_down, by).await
    }

    async fn hold_key(&self, key: &Key, is_down: bool, by: Instant) -> Result<(), Failure> {
        let held = {
            let mut held = self.held.lock();
            *held = if is_down { *held | key.bit() } else { *held & !key.bit() };
            *held
        };
        self.dispatch("Input.dispatchKeyEvent", key.event(is_down, held), by).await
    }

    /// Dispatches an input event. A page that is busy or navigates may not acknowledge it, which is no error.
    async fn dispatch(&self, method: &str, params: Value, by: Instant) -> Result<(), Failure> {
        let by = by.min(Instant::now() + MAX_HEARD);
        match self.tab.session().call_by(by, method, params).await {
            Ok(_) | Err(CdpError::Timeout | CdpError::Navigated | CdpError::Refused { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn stroke(name: &str) -> Result<Stroke, Failure> {
    let known = (name.len() <= 100).then(|| keys::parse(name)).flatten();
    known.ok_or_else(|| {
        Failure::new(format!("unknown key: {name:.100}; use the name of a key, such as `Enter` or `Control+A`"))
    })
}
