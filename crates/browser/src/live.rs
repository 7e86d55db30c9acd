//! Live view of a session: streams its page as pictures to a viewer, and forwards mouse and keyboard input if allowed.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use cdp::{CdpError, Event, Session};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::relay::Bounds;

/// JPEG quality of a frame, out of 100.
const QUALITY: u32 = 70;
/// Largest frame width, in pixels.
const MAX_WIDTH: u32 = 1920;
/// Largest frame height, in pixels.
const MAX_HEIGHT: u32 = 1200;
/// Time limit for a viewer to accept a frame.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pause before the next search for a page, if there is none.
const NO_PAGE: Duration = Duration::from_millis(500);
/// Interval at which address and title of the page are polled.
const LOOK: Duration = Duration::from_secs(1);
/// Longest address that is shown, in characters.
const MAX_ADDRESS_CHARS: usize = 2000;
/// Longest title that is shown, in characters.
const MAX_TITLE_CHARS: usize = 300;
/// Longest text of one input message, in characters.
const MAX_TEXT_CHARS: usize = 2000;

/// Connection to a viewer. Both channels should be short, so that backpressure works.
pub struct Viewer {
    /// Input messages, as the page of the live view sends them; ignored if the viewer may only watch.
    pub from: mpsc::Receiver<String>,
    /// Frames and page changes.
    pub to: mpsc::Sender<Sight>,
    /// Whether the viewer may use mouse and keyboard.
    pub may_steer: bool,
}

/// Message to a viewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sight {
    /// A frame, as JPEG.
    Frame(Bytes),
    /// The page was replaced, or changed its address or title.
    Page(Shown),
}

/// Address and title of a page, cut to 2000 and 300 characters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// Address.
    pub url: String,
    /// Title.
    pub title: String,
}

/// Input message of a viewer.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Deed {
    Mouse(Mouse),
    Key(Key),
}

/// Mouse input. Positions are fractions of the frame, from 0 to 1.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Mouse {
    event: MouseEvent,
    x: f64,
    y: f64,
    #[serde(default)]
    button: Button,
    #[serde(default)]
    buttons: u8,
    #[serde(default)]
    click_count: u8,
    #[serde(default)]
    delta_x: f64,
    #[serde(default)]
    delta_y: f64,
    #[serde(default)]
    modifiers: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum MouseEvent {
    Down,
    Up,
    Move,
    Wheel,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Button {
    #[default]
    None,
    Left,
    Middle,
    Right,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Key {
    event: KeyEvent,
    #[serde(default)]
    key: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    key_code: u16,
    #[serde(default)]
    modifiers: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KeyEvent {
    Down,
    Up,
    /// Pasted or composed text.
    Insert,
}

/// Size of the shown page, in CSS pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Size {
    width: f64,
    height: f64,
}

/// Shows a page, and another one when it is closed, until the viewer leaves or stops accepting frames, or the browser
/// ends.
pub(crate) async fn show(browser: &Session, bounds: &Bounds, mut viewer: Viewer) {
    while !browser.is_closed() && !viewer.to.is_closed() {
        match page(browser, bounds).await {
            Some(page) => match watch(browser, &page, &mut viewer).await {
                Ok(Watched::Enough) => return,
                Ok(Watched::Gone) => {}
                Err(_) => sleep(NO_PAGE).await,
            },
            None => sleep(NO_PAGE).await,
        }
    }
}

/// Reason why a page is no longer watched.
enum Watched {
    /// The page is gone; the session may have another.
    Gone,
    /// The viewer has left or is too slow.
    Enough,
}

/// Returns the id of one of the pages of the session.
async fn page(browser: &Session, bounds: &Bounds) -> Option<String> {
    let found = browser.call("Target.getTargets", json!({ "filter": [{ "type": "page" }] })).await.ok()?;
    let is_theirs = |page: &&Value| bounds.is_alone() || bounds.has(page);
    let first = found["targetInfos"].as_array()?.iter().find(is_theirs)?;
    first["targetId"].as_str().map(str::to_owned)
}

/// Detaches the session of a viewer when dropped.
struct Detach<'a> {
    browser: &'a Session,
    id: String,
}

impl Drop for Detach<'_> {
    fn drop(&mut self) {
        self.browser.post_now("Target.detachFromTarget", &json!({ "sessionId": self.id }));
    }
}

async fn watch(browser: &Session, target: &str, viewer: &mut Viewer) -> Result<Watched, CdpError> {
    let attached = browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true })).await?;
    let id = attached["sessionId"].as_str().unwrap_or_default().to_owned();
    let page = browser.sibling(id.as_str());
    let _detach = Detach { browser, id };
    let mut frames = page.events_of(&["Page.screencastFrame"]);
    page.call("Page.enable", json!({})).await?;
    let wanted = json!({ "format": "jpeg", "quality": QUALITY, "maxWidth": MAX_WIDTH, "maxHeight": MAX_HEIGHT });
    page.call("Page.startScreencast", wanted).await?;
    let (mut size, mut shown) = (Size::default(), Shown::default());
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = looks.tick() => {
                let now = what(browser, target).await?;
                if now != shown {
                    shown = now.clone();
                    if !sees(viewer, Sight::Page(now)).await {
                        return Ok(Watched::Enough);
                    }
                }
            }
            event = frames.next() => {
                let Some(event) = event else { return Ok(Watched::Gone) };
                let Some((frame, its_size)) = read(&event) else { continue };
                size = its_size;
                if !sees(viewer, Sight::Frame(frame)).await {
                    return Ok(Watched::Enough);
                }
                // Acknowledged after the viewer took the frame, which makes Chromium send the next: backpressure for
                // slow viewers.
                page.post("Page.screencastFrameAck", json!({ "sessionId": event.params["sessionId"] })).await;
            }
            deed = viewer.from.recv() => match deed {
                None => return Ok(Watched::Enough),
                Some(text) if viewer.may_steer => {
                    // Malformed input is ignored.
                    if let Some((method, params)) = serde_json::from_str(&text).ok().and_then(|deed| call(deed, size)) {
                        page.post(method, params).await;
                    }
                }
                Some(_) => {}
            },
        }
    }
}

/// Sends a message to the viewer. Returns whether it was accepted in time.
async fn sees(viewer: &Viewer, sight: Sight) -> bool {
    matches!(timeout(PATIENCE, viewer.to.send(sight)).await, Ok(Ok(())))
}

async fn what(browser: &Session, target: &str) -> Result<Shown, CdpError> {
    let found = browser.call("Target.getTargetInfo", json!({ "targetId": target })).await?;
    let text = |key: &str, most| found["targetInfo"][key].as_str().unwrap_or_default().chars().take(most).collect();
    Ok(Shown { url: text("url", MAX_ADDRESS_CHARS), title: text("title", MAX_TITLE_CHARS) })
}

fn read(event: &Event) -> Option<(Bytes, Size)> {
    let frame = STANDARD.decode(event.params["data"].as_str()?).ok()?;
    let about = &event.params["metadata"];
    let size = Size { width: about["deviceWidth"].as_f64()?, height: about["deviceHeight"].as_f64()? };
    Some((frame.into(), size))
}

/// Returns the protocol call for an input; `None` if the input is invalid.
fn call(deed: Deed, size: Size) -> Option<(&'static str, Value)> {
    match deed {
        Deed::Mouse(mouse) => mouse.call(size).map(|params| ("Input.dispatchMouseEvent", params)),
        Deed::Key(key) if key.event == KeyEvent::Insert => {
            let text: String = key.text.chars().take(MAX_TEXT_CHARS).collect();
            Some(("Input.insertText", json!({ "text": text })))
        }
        Deed::Key(key) => key.call().map(|params| ("Input.dispatchKeyEvent", params)),
    }
}

impl Mouse {
    fn call(&self, size: Size) -> Option<Value> {
        let within = |part: f64| (0.0..=1.0).contains(&part);
        // The positions are fractions, so a viewer needs to know nothing of the page's size and cannot point outside of
        // it.
        let sane = |delta: f64| delta.is_finite() && delta.abs() <= 10_000.0;
        if !(within(self.x) && within(self.y) && sane(self.delta_x) && sane(self.delta_y)) || size == Size::default() {
            return None;
        }
        let button = match self.button {
            Button::None => "none",
            Button::Left => "left",
            Button::Middle => "middle",
            Button::Right => "right",
        };
        let event = match self.event {
            MouseEvent::Down => "mousePressed",
            MouseEvent::Up => "mouseReleased",
            MouseEvent::Move => "mouseMoved",
            MouseEvent::Wheel => "mouseWheel",
        };
        let mut params = json!({
            "type": event, "x": self.x * size.width, "y": self.y * size.height, "button": button,
            "buttons": self.buttons & 7, "clickCount": self.click_count.min(3), "modifiers": self.modifiers & 15,
        });
        if self.event == MouseEvent::Wheel {
            (params["deltaX"], params["deltaY"]) = (self.delta_x.into(), self.delta_y.into());
        }
        Some(params)
    }
}

impl Key {
    fn call(&self) -> Option<Value> {
        // Names of keys have up to 25 letters; a key types one character, of up to four bytes and a combining
        // mark.
        if self.key.len() > 32 || self.code.len() > 32 || self.text.len() > 8 {
            return None;
        }
        let event = match (self.event, self.text.is_empty()) {
            (KeyEvent::Down, false) => "keyDown",
            (KeyEvent::Down, true) => "rawKeyDown",
            (KeyEvent::Up | KeyEvent::Insert, _) => "keyUp",
        };
        let mut params = json!({
            "type": event, "key": self.key, "code": self.code, "modifiers": self.modifiers & 15,
            "windowsVirtualKeyCode": self.key_code, "nativeVirtualKeyCode": self.key_code,
        });
        if event == "keyDown" {
            params["text"] = self.text.as_str().into();
        }
        Some(params)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { width: 1000.0, height: 500.0 };

    fn done(text: &str) -> Option<(&'static str, Value)> {
        call(serde_json::from_str(text).ok()?, SIZE)
    }

    #[test]
    fn deeds_become_calls() {
        let (method, params) =
            done(r#"{"type":"mouse","event":"down","x":0.5,"y":0.2,"button":"left","buttons":1,"clickCount":1}"#)
                .unwrap();
        assert_eq!((method, &params["type"]), ("Input.dispatchMouseEvent", &json!("mousePressed")));
        assert_eq!((&params["x"], &params["y"], &params["button"]), (&json!(500.0), &json!(100.0), &json!("left")));
        let (_, params) = done(r#"{"type":"mouse","event":"wheel","x":0,"y":1,"deltaY":120}"#).unwrap();
        assert_eq!((&params["type"], &params["deltaY"]), (&json!("mouseWheel"), &json!(120.0)));
        let (method, params) =
            done(r#"{"type":"key","event":"down","key":"a","code":"KeyA","text":"a","keyCode":65}"#).unwrap();
        assert_eq!(
            (method, &params["type"], &params["text"]),
            ("Input.dispatchKeyEvent", &json!("keyDown"), &json!("a"))
        );
        let (_, params) = done(r#"{"type":"key","event":"down","key":"Enter","code":"Enter","keyCode":13}"#).unwrap();
        assert_eq!((&params["type"], params.get("text")), (&json!("rawKeyDown"), None));
        let (method, params) = done(r#"{"type":"key","event":"insert","text":"grüße"}"#).unwrap();
        assert_eq!((method, params), ("Input.insertText", json!({ "text": "grüße" })));
    }

    #[test]
    fn nonsense_is_nothing() {
        for text in [
            "",
            "{}",
            r#"{"type":"file"}"#,
            r#"{"type":"mouse","event":"down","x":2,"y":0}"#,
            r#"{"type":"mouse","event":"down","x":-0.1,"y":0}"#,
            r#"{"type":"mouse","event":"down","x":null,"y":0}"#,
            r#"{"type":"mouse","event":"wheel","x":0,"y":0,"deltaY":1e300}"#,
            r#"{"type":"key","event":"down","text":"nine bytes"}"#,
            r#"{"type":"key","event":"press"}"#,
        ] {
            assert!(done(text).is_none(), "{text}");
        }
        let mouse = serde_json::from_str(r#"{"type":"mouse","event":"down","x":0,"y":0}"#).unwrap();
        assert!(call(mouse, Size::default()).is_none(), "before the first frame nobody knows where it is");
    }
}
