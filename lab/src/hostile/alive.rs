//! The page of the second origin that only a browser can show.

/// Path on the second origin of a page that needs a browser.
pub(crate) const ALIVE_PAGE: &str = "/alive";
/// Text that its script writes.
pub(crate) const ALIVE: &str = "The browser is alive and well";

/// Returns the HTML of [`ALIVE_PAGE`].
pub(crate) fn alive_page() -> String {
    let (first, rest) = ALIVE.split_once(' ').unwrap_or((ALIVE, ""));
    format!(
        "<div id=root></div><script>document.getElementById('root').textContent = ['{first}', '{rest}'].join(' ')</script>"
    )
}
