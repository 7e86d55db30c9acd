//! Fake browser engines for the pipeline.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use fetch::{
    Acted, Engine, Feature, FetchError, FetchRequest, Fetched, Picture, Printed, Rendered, ScrapedPage, State,
};

/// Browser that shows fixed content for every page, or fails.
#[derive(Default)]
pub(crate) struct Browser {
    pub(crate) shows: &'static str,
    /// HTTP status; 0 makes the browser crash.
    pub(crate) status: u16,
    pub(crate) asked: AtomicUsize,
}

#[async_trait]
impl Engine for Browser {
    fn name(&self) -> &'static str {
        "browser"
    }

    fn offers(&self, _: Feature) -> bool {
        true
    }

    fn rank(&self) -> u32 {
        50
    }

    async fn fetch(&self, request: &FetchRequest<'_>) -> Result<Fetched, FetchError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if self.status == 0 {
            return Err(FetchError::Crashed);
        }
        let html = Some("text/html".to_owned());
        Ok(Fetched::new(request.visit.url.clone(), self.status, html, self.shows.into()))
    }
}

/// Browser that returns every kind of capture, whatever is requested.
pub(crate) struct Camera;

#[async_trait]
impl Engine for Camera {
    fn name(&self) -> &'static str {
        "camera"
    }

    fn offers(&self, _: Feature) -> bool {
        true
    }

    fn rank(&self) -> u32 {
        50
    }

    async fn fetch(&self, request: &FetchRequest<'_>) -> Result<Fetched, FetchError> {
        let mut fetched =
            Fetched::new(request.visit.url.clone(), 200, Some("text/html".to_owned()), "<div id=app>".into());
        let picture = |bytes: &'static [u8]| Picture { bytes: bytes.into(), content_type: "image/png" };
        let url = "http://me:pw@a.test/2".parse().unwrap();
        let acted = Acted {
            screenshots: vec![picture(b"one"), picture(b"two")],
            scrapes: vec![ScrapedPage { url, html: "<p>then".to_owned() }],
            returns: vec![wire::ScriptReturn { kind: "number".to_owned(), value: 3.into() }],
            pdfs: vec![Printed { bytes: b"%PDF"[..].into() }],
        };
        let dom = "<p>seen</p><a href=http://a.test/2></a><p hidden=unseen>unseen</p><noscript>scripts, please, and many of them</noscript>";
        fetched.rendered = Some(Box::new(Rendered {
            dom: Some(dom.into()),
            screenshot: request.visit.screenshot.map(|_| picture(b"whole")),
            acted,
            styles: request.visit.styles.then(|| serde_json::json!({ "ground": "#102030" })),
            timezone: Some("Europe/Berlin".to_owned()),
            state: request.visit.keeps_state.then(State::default),
            windows: ["http://a.test/ad", "http://a.test/2"].map(|url| url.parse().unwrap()).into(),
            waited: Duration::from_millis(7),
        }));
        Ok(fetched)
    }
}
