//! Why a visit brought no page.

/// Why a visit ended without a page. The texts are fit for the caller.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// An action could not be carried out; nothing after it was done.
    #[error("action {index} ({kind}{}) failed: {reason}", selector.as_ref().map(|text| format!(" `{text}`")).unwrap_or_default())]
    Action {
        /// Its place in the list, counted from 0.
        index: usize,
        /// Its type, as on the wire.
        kind: &'static str,
        /// What it was to find.
        selector: Option<String>,
        /// What went wrong.
        reason: String,
    },
    /// The deadline passed and there is nothing to show.
    #[error("the page did not arrive in time")]
    Timeout,
    /// The address guard does not let anyone go there.
    #[error("{host} may not be reached from this service: {reason}{}", net::advice(reason))]
    Blocked {
        /// Host name or address literal of the URL.
        host: String,
        /// Which rule.
        reason: &'static str,
    },
    /// The host name, the secure connection, the redirects or the proxy are why there is no page. Chromium's own errors are
    /// told as those of `net`, so that nobody has to know who found out.
    #[error(transparent)]
    Net(#[from] net::Error),
    /// The site could not be reached, or did not answer properly; any other reason of `net::Error`, or Chromium's own error
    /// name.
    #[error("the site could not be reached or did not answer properly: {reason}")]
    Site {
        /// What went wrong.
        reason: String,
    },
    /// What came is larger than this service takes.
    #[error("the page is too large: {what} over {limit}")]
    TooLarge {
        /// Which part.
        what: &'static str,
        /// The limit, in the unit of the part.
        limit: u64,
    },
    /// The page crashed in the browser, or the browser of a session with it. Another try may succeed.
    #[error("the page crashed in the browser")]
    Crashed,
    /// No browser can be had at all: none is installed, none can be started, or the line of those who wait is full.
    #[error("no browser is to be had: {reason}")]
    Unavailable {
        /// Why.
        reason: String,
    },
}
