//! Size limits for values that scripts return, checked inside the page: an object of two million members would take a
//! gigabyte on its way through the browser and the service.

use base::json::MAX_VALUES;

/// Function that returns a value if it is within the limits, and throws otherwise.
const MEASURE: &str = include_str!("js/measure.js");

/// Returns the declaration of a function that wraps `function` and throws a `RangeError` if the result has more than
/// [`MAX_VALUES`] values or more than `most_text` UTF-16 units of text.
pub(crate) fn measured(function: &str, most_text: usize) -> String {
    // `function` may be the caller's code, so it is evaluated outside the scope that has names of ours.
    format!(
        "((work) => async function (...args) {{ return ({MEASURE}\n)(await work.apply(this, args), {MAX_VALUES}, {most_text}); }})({function}\n)"
    )
}

/// Returns the declaration of a function that returns `this` within the same limits.
pub(crate) fn measured_this(most_text: usize) -> String {
    format!("function () {{ return ({MEASURE}\n)(this, {MAX_VALUES}, {most_text}); }}")
}
