//! State of the main frame's document.

use std::collections::VecDeque;

use serde_json::Value;

/// Number of answers that are remembered: going back in history can show a document long after its answer.
const MAX_ANSWERS: usize = 16;

/// Document of the main frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Document {
    /// Current URL, including changes by scripts.
    pub(crate) url: String,
    /// HTTP status; 0 if there is no document or it came from no server.
    pub(crate) status: u16,
    /// Response headers, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// Chromium's error, such as `net::ERR_CONNECTION_RESET`, if the document failed to load and an error page is
    /// shown.
    pub(crate) failure: Option<String>,
    /// Chromium's error if the end of the document is missing.
    pub(crate) cut_short: Option<String>,
    /// Id of the load in the protocol, unique for every document.
    pub(crate) loader: String,
    /// Number of documents that the main frame has shown so far, including this one but not the initial blank page.
    pub(crate) number: u64,
}

impl Document {
    /// Returns the first value of a header, given its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Current document, and the answers from which documents are built.
#[derive(Default)]
pub(super) struct Documents {
    pub(super) now: Document,
    /// URL of the last request for a document of the main frame.
    pub(super) asked: String,
    answers: VecDeque<Answer>,
    failures: VecDeque<(String, String)>,
}

/// Whether an error means a truncated document. `ERR_ABORTED` does not: the page itself has stopped loading.
fn breaks_off(reason: &str) -> bool {
    reason != "net::ERR_ABORTED"
}

struct Answer {
    loader: String,
    status: u16,
    headers: Vec<(String, String)>,
}

impl Documents {
    /// Handles `Network.responseReceived` of a document of the main frame.
    pub(super) fn answered(&mut self, params: &Value) {
        let response = &params["response"];
        let loader = params["loaderId"].as_str().unwrap_or_default().to_owned();
        let status = response["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or_default();
        let answer = Answer { loader, status, headers: headers(&response["headers"]) };
        self.answers.push_front(answer);
        self.answers.truncate(MAX_ANSWERS);
    }

    /// Handles `Network.loadingFailed` of a document, whose request has the id of its load.
    pub(super) fn failed(&mut self, loader: &str, reason: &str) {
        if self.now.loader == loader && self.now.failure.is_none() {
            self.now.cut_short = breaks_off(reason).then(|| reason.to_owned());
        }
        self.failures.push_front((loader.to_owned(), reason.to_owned()));
        self.failures.truncate(MAX_ANSWERS);
    }

    /// Handles the `frame` of `Page.frameNavigated`. Returns the id of the load.
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

/// Converts headers of the protocol, where several values of a name are separated by line breaks.
pub(super) fn headers(object: &Value) -> Vec<(String, String)> {
    let all = object.as_object().into_iter().flatten();
    let pairs = all.flat_map(|(name, value)| {
        let lines = value.as_str().unwrap_or_default().split('\n');
        lines.map(move |line| (name.to_ascii_lowercase(), line.to_owned()))
    });
    pairs.collect()
}
