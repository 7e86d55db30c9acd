//! Screenshots of a page.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use cdp::CdpError;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use visit::Picture;
use wire::{ScreenshotOptions, Viewport};

use crate::clock::Clock;
use crate::stitch;
use crate::tab::{ResourceKind, Tab, World};
use crate::wait::{self, Patience};
use crate::{BrowserError, dom};

/// Script that waits until fonts and pictures are ready; returns a [`Window`].
const READY: &str = include_str!("js/ready.js");
/// Time limit for fonts and pictures.
const MAX_READY: Duration = Duration::from_secs(3);
/// Minimum wait for fonts and pictures that have been loading for long already.
const MOMENT: Duration = Duration::from_millis(300);
/// Time limit for the page to settle after the window was resized.
const MAX_RESIZE: Duration = Duration::from_secs(2);
/// Greatest height, in pixels, that Chromium paints in one piece.
const MAX_PIECE: f64 = 16_384.0;
/// Height of one piece of a stitched screenshot; even at the greatest width such a piece can be painted.
const PIECE: f64 = 4096.0;
/// Maximum number of pixels. The page is cut off below.
const MAX_PIXELS: f64 = 48e6;
/// Size limit of a file, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Window of a page.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
struct Window {
    /// Width in CSS pixels, like the height.
    width: f64,
    height: f64,
    /// Device pixels per CSS pixel.
    scale: f64,
}

/// Takes a screenshot once fonts and images are loaded. `is_mobile` says whether the page emulates a phone.
///
/// # Errors
/// `TooLarge` over 64 MiB, `Timeout` and `Crashed`.
pub(crate) async fn take(
    tab: &Tab,
    options: &ScreenshotOptions,
    is_mobile: bool,
    until: Instant,
    warnings: &mut Vec<String>,
) -> Result<Picture, BrowserError> {
    let window = ready(tab, until).await?;
    let asked = options.viewport.filter(|size| !is_size(window, *size));
    let Some(size) = asked else { return shoot(tab, options, window, until, warnings).await };
    let named = Window { width: size.width.into(), height: size.height.into(), ..window };
    resize(tab, named, is_mobile, until).await?;
    let soon = until.min(Instant::now() + MAX_RESIZE);
    wait::settle(&mut Clock::real(tab), Patience::Step, soon).await?;
    ready(tab, until).await?;
    let picture = shoot(tab, options, named, until, warnings).await;
    resize(tab, window, is_mobile, until).await?;
    picture
}

fn is_size(window: Window, size: Viewport) -> bool {
    window.width == f64::from(size.width) && window.height == f64::from(size.height)
}

async fn ready(tab: &Tab, until: Instant) -> Result<Window, BrowserError> {
    let patience = patience(tab).min(until.saturating_duration_since(Instant::now()) / 2);
    let args = [json!(u64::try_from(patience.as_millis()).unwrap_or_default())];
    let answer = match tab.evaluate(World::Own, READY, &args, Instant::now() + patience + patience / 4).await {
        // Scripts block the page for good: stop them and take what there is.
        Err(CdpError::Timeout) => {
            dom::stop_scripts(tab).await;
            tab.evaluate(World::Own, READY, &[json!(0)], until).await
        }
        answer => answer,
    };
    let lacking = |_| CdpError::Malformed { method: "ready".to_owned(), lacks: "its members" };
    Ok(serde_json::from_value(answer?).map_err(lacking)?)
}

/// Returns how long to wait for fonts and pictures: less if all of them have been loading for long.
fn patience(tab: &Tab) -> Duration {
    let open = tab.network().open();
    let painted = open.iter().filter(|request| matches!(request.kind, ResourceKind::Image | ResourceKind::Font));
    let youngest = painted.map(|request| request.since.elapsed()).min();
    youngest.map_or(MAX_READY, |age| MAX_READY.saturating_sub(age).max(MOMENT))
}

async fn resize(tab: &Tab, window: Window, is_mobile: bool, until: Instant) -> Result<(), BrowserError> {
    let params = json!({"width": window.width, "height": window.height, "deviceScaleFactor": window.scale,
        "mobile": is_mobile, "screenWidth": window.width, "screenHeight": window.height});
    let answer = tab.session().call_by(until, "Emulation.setDeviceMetricsOverride", params).await;
    answer.map(drop).map_err(BrowserError::from)
}

async fn shoot(
    tab: &Tab,
    options: &ScreenshotOptions,
    window: Window,
    until: Instant,
    warnings: &mut Vec<String>,
) -> Result<Picture, BrowserError> {
    if !options.full_page {
        return picture(capture(tab, options.quality, None, until).await?, options.quality);
    }
    let page = page_size(tab, window, until).await?;
    // `MAX_PIXELS` counts device pixels; width and height are in CSS pixels.
    let height = (MAX_PIXELS / (page.width * page.scale) / page.scale).floor().min(page.height);
    if height < page.height {
        warnings.push(format!("the screenshot shows only the first {height} of {} pixels of the page", page.height));
    }
    if height * page.scale <= MAX_PIECE {
        let clip = clip(page.width, 0.0, height);
        return picture(capture(tab, options.quality, Some(clip), until).await?, options.quality);
    }
    stitched(tab, options.quality, Window { height, ..page }, until).await
}

/// Returns the size of the scrollable area.
async fn page_size(tab: &Tab, window: Window, until: Instant) -> Result<Window, BrowserError> {
    let metrics = tab.session().call_by(until, "Page.getLayoutMetrics", json!({})).await?;
    let size = |name: &str| metrics["cssContentSize"][name].as_f64().unwrap_or_default();
    let widest = MAX_PIECE / window.scale;
    Ok(Window {
        width: size("width").max(window.width).min(widest),
        height: size("height").max(window.height),
        scale: window.scale,
    })
}

fn clip(width: f64, top: f64, height: f64) -> Value {
    json!({"x": 0, "y": top, "width": width, "height": height, "scale": 1})
}

/// Captures a part of the page and returns the file.
async fn capture(
    tab: &Tab,
    quality: Option<u32>,
    clip: Option<Value>,
    until: Instant,
) -> Result<Vec<u8>, BrowserError> {
    let mut params = json!({ "format": if quality.is_some() { "jpeg" } else { "png" } });
    if let Some(quality) = quality {
        params["quality"] = quality.into();
    }
    if let Some(clip) = clip {
        params["clip"] = clip;
        params["captureBeyondViewport"] = true.into();
    }
    let answer = tab.session().call_by(until, "Page.captureScreenshot", params).await?;
    let data = answer["data"].as_str().unwrap_or_default();
    let lacking = |_| CdpError::Malformed { method: "Page.captureScreenshot".to_owned(), lacks: "data" };
    Ok(BASE64_STANDARD.decode(data).map_err(lacking)?)
}

/// Captures a page that is too high for one piece, piece by piece. Only one such screenshot is made at a time.
async fn stitched(tab: &Tab, quality: Option<u32>, page: Window, until: Instant) -> Result<Picture, BrowserError> {
    let place = tokio::time::timeout_at(until, stitch::place()).await.map_err(|_| BrowserError::Timeout)?;
    let mut whole = stitch::Whole::new(page.width * page.scale, page.height * page.scale, place);
    let step = (PIECE / page.scale).floor();
    let mut top = 0.0;
    while top < page.height {
        let height = step.min(page.height - top);
        let piece = capture(tab, None, Some(clip(page.width, top, height)), until).await?;
        whole = whole.add(piece, top * page.scale).await?;
        top += height;
    }
    picture(whole.encode(quality).await?, quality)
}

fn picture(bytes: Vec<u8>, quality: Option<u32>) -> Result<Picture, BrowserError> {
    if bytes.len() > MAX_BYTES {
        return Err(BrowserError::TooLarge { what: "bytes of a screenshot", limit: MAX_BYTES as u64 });
    }
    let content_type = if quality.is_some() { "image/jpeg" } else { "image/png" };
    Ok(Picture { bytes: Bytes::from(bytes), content_type })
}
