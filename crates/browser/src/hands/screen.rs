//! Screenshots and the window size.

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::element::Element;
use super::{Failure, Hands};

/// Maximum side of a window or a picture, in pixels.
const MAX_SIDE: f64 = 16_384.0;

#[derive(Deserialize)]
pub(super) struct Screenshot {
    #[serde(default)]
    full_page: bool,
    /// File type, `png` or `jpeg`.
    #[serde(rename = "type")]
    kind: Option<String>,
    quality: Option<u8>,
    /// Element to capture instead of the page.
    element: Option<Element>,
}

#[derive(Deserialize)]
pub(super) struct Viewport {
    width: f64,
    height: f64,
}

impl Hands {
    /// Takes a screenshot and returns it as base64.
    pub(super) async fn screenshot(&self, args: Screenshot, by: Instant) -> Result<Value, Failure> {
        let kind = args.kind.as_deref().unwrap_or("png");
        if !matches!(kind, "png" | "jpeg") {
            return Err(Failure::wrong("screenshot", "the type must be `png` or `jpeg`"));
        }
        let mut params = json!({ "format": kind, "captureBeyondViewport": args.full_page || args.element.is_some() });
        if let (Some(quality), "jpeg") = (args.quality, kind) {
            params["quality"] = quality.clamp(1, 100).into();
        }
        let clip = match &args.element {
            Some(element) => Some(self.place_of(element, by).await?),
            None if args.full_page => Some(self.whole_page(by).await?),
            None => None,
        };
        if let Some([x, y, width, height]) = clip {
            params["clip"] = json!({ "x": x, "y": y, "width": width, "height": height, "scale": 1 });
        }
        let mut picture = self.tab.session().call_by(by, "Page.captureScreenshot", params).await?;
        Ok(picture["data"].take())
    }

    async fn whole_page(&self, by: Instant) -> Result<[f64; 4], Failure> {
        let metrics = self.tab.session().call_by(by, "Page.getLayoutMetrics", json!({})).await?;
        let side = |name: &str| metrics["cssContentSize"][name].as_f64().unwrap_or(1.0).clamp(1.0, MAX_SIDE);
        Ok([0.0, 0.0, side("width"), side("height")])
    }

    /// Returns the position and size of an element in the document.
    async fn place_of(&self, element: &Element, by: Instant) -> Result<[f64; 4], Failure> {
        self.until(element, "wait", &"visible".into(), by).await?;
        let place = self.until(element, "box", &Value::Null, by).await?;
        let metrics = self.tab.session().call_by(by, "Page.getLayoutMetrics", json!({})).await?;
        let number = |value: &Value| value.as_f64().unwrap_or_default();
        let scrolled = &metrics["cssVisualViewport"];
        let (x, y) =
            (number(&place["x"]) + number(&scrolled["pageX"]), number(&place["y"]) + number(&scrolled["pageY"]));
        let side = |name: &str| number(&place[name]).clamp(1.0, MAX_SIDE);
        Ok([x, y, side("width"), side("height")])
    }

    pub(super) async fn viewport(&self, args: Viewport, by: Instant) -> Result<Value, Failure> {
        let good = |side: f64| (1.0..=MAX_SIDE).contains(&side);
        if !good(args.width) || !good(args.height) {
            return Err(Failure::wrong("the window", &format!("width and height must be 1 to {MAX_SIDE} pixels")));
        }
        let params = json!({ "width": args.width as u32, "height": args.height as u32, "deviceScaleFactor": 0, "mobile": false });
        self.tab.session().call_by(by, "Emulation.setDeviceMetricsOverride", params).await?;
        Ok(Value::Null)
    }
}
