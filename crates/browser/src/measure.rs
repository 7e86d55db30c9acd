//! What scripts return is measured in the page before it is told: an object of two million members would take a gigabyte on
//! its way through the browser and here.

use base::json::MAX_VALUES;

/// Returns a value if it is not too large.
const MEASURE: &str = include_str!("js/measure.js");

/// The declaration of a function that does the same, and throws a `RangeError` when what it returns has more than
/// [`MAX_VALUES`] values or more text than this, in UTF-16 units.
pub(crate) fn measured(function: &str, most_text: usize) -> String {
    // No name of ours is seen by the function, which may be the caller's.
    format!(
        "((work) => async function (...args) {{ return ({MEASURE}\n)(await work.apply(this, args), {MAX_VALUES}, {most_text}); }})({function}\n)"
    )
}

/// The declaration of a function that returns `this` on the same terms.
pub(crate) fn measured_this(most_text: usize) -> String {
    format!("function () {{ return ({MEASURE}\n)(this, {MAX_VALUES}, {most_text}); }}")
}
