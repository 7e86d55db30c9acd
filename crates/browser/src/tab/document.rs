//! What is known about the document of the main frame.

use std::collections::VecDeque;

use serde_json::Value;

/// How many answers are remembered: a document may be shown long after its answer came, by history.
const MAX_ANSWERS: usize = 16;

/// The document that the main frame shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Document {
    /// Where it is, with what scripts made of the address.
    pub(crate) url: String,
    /// HTTP status; 0 while there is no document, or when it came from no server.
    pub(crate) status: u16,
    /// Headers of its answer as they were sent, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// Chromium's word for why there is no document, such as `net::ERR_CONNECTION_RESET`: what is shown is its own page.
    pub(crate) failure: Option<String>,
    /// Chromium's word for why the end of the document is missing, as `failure`.
    pub(crate) cut_short: Option<String>,
    /// Name of this load in the protocol; another one for every document.
    pub(crate) loader: String,
    /// How many documents the main frame has shown so far, this one included; the blank one of the beginning is not counted.
    pub(crate) number: u64,
}

impl Document {
    /// First value of a header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The document and the answers that documents are made of.
#[derive(Default)]
pub(super) struct Documents {
    pub(super) now: Document,
    /// The last address that a document of the main frame was asked for at.
    pub(super) asked: String,
    answers: VecDeque<Answer>,
    failures: VecDeque<(String, String)>,
}

/// Whether an answer that failed so is without its end. A page may stop it by itself, and is complete for those who look at it.
fn breaks_off(reason: &str) -> bool {
    reason != "net::ERR_ABORTED"
}

struct Answer {
    loader: String,
    status: u16,
    headers: Vec<(String, String)>,
}

impl Documents {
    /// Reads `Network.responseReceived` of a document of the main frame.
    pub(super) fn answered(&mut self, params: &Value) {
        let response = &params["response"];
        let loader = params["loaderId"].as_str().unwrap_or_default().to_owned();
        let status = response["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or_default();
        let answer = Answer { loader, status, headers: headers(&response["headers"]) };
        self.answers.push_front(answer);
        self.answers.truncate(MAX_ANSWERS);
    }

    /// A document did not come: `Network.loadingFailed`, whose request is named like its load.
    pub(super) fn failed(&mut self, loader: &str, reason: &str) {
        if self.now.loader == loader && self.now.failure.is_none() {
            self.now.cut_short = breaks_off(reason).then(|| reason.to_owned());
        }
        self.failures.push_front((loader.to_owned(), reason.to_owned()));
        self.failures.truncate(MAX_ANSWERS);
    }

    /// Reads the `frame` of `Page.frameNavigated`. Returns the name of the load.
    pub(super) fn committed(&mut self, frame: &Value) -> String {
        let text = |name: &str| frame[name].as_str().unwrap_or_default();
        let loader = text("loaderId").to_owned();
        let mut next = Document { number: self.now.number + 1, loader: loader.clone(), ..Document::default() };
        if let Some(answer) = self.answers.iter().find(|answer| answer.loader == loader) {
            (next.status, next.headers) = (answer.status, answer.headers.clone());
        }
        next.url = format!("{}{}", text("url"), text("urlFragment"));
        let why = self.failures.iter().find(|(of, _)| *of == loader).map(|(_, reason)| reason.clone());
        if let Some(unreachable) = frame["unreachableUrl"].as_str() {
            next.failure = Some(why.unwrap_or_else(|| "net::ERR_FAILED".to_owned()));
            unreachable.clone_into(&mut next.url);
        } else {
            next.cut_short = why.filter(|why| breaks_off(why));
        }
        self.now = next;
        loader
    }
}

/// Reads headers of the protocol, where several values of a name stand on lines of their own.
pub(super) fn headers(object: &Value) -> Vec<(String, String)> {
    let all = object.as_object().into_iter().flatten();
    let pairs = all.flat_map(|(name, value)| {
        let lines = value.as_str().unwrap_or_default().split('\n');
        lines.map(move |line| (name.to_ascii_lowercase(), line.to_owned()))
    });
    pairs.collect()
}
