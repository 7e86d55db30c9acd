//! Output buffers with a byte limit.

use crate::code::Ran;

/// Byte limit of the results of one call together.
pub(crate) const MAX_OUTPUT: usize = 1 << 20;
/// Maximum length of an error message, in characters.
const MAX_ERROR: usize = 2000;

/// Output of a call so far.
#[derive(Default)]
pub(crate) struct Output {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    is_cut: bool,
}

/// End of a call.
pub(crate) struct End {
    /// Value of the last expression, as text.
    pub(crate) result: String,
    pub(crate) error: Option<String>,
    pub(crate) exit_code: i32,
    pub(crate) killed: bool,
}

impl Output {
    pub(crate) fn print(&mut self, is_error: bool, bytes: &[u8]) {
        let room = MAX_OUTPUT - self.stdout.len() - self.stderr.len();
        self.is_cut |= bytes.len() > room;
        let kept = &bytes[..bytes.len().min(room)];
        if is_error { self.stderr.extend_from_slice(kept) } else { self.stdout.extend_from_slice(kept) }
    }

    /// Takes the output and builds the result of a call within the limit.
    pub(crate) fn told(&mut self, end: End) -> Ran {
        let Self { stdout, stderr, mut is_cut } = std::mem::take(self);
        let mut room = MAX_OUTPUT;
        let mut fit = |mut text: String| {
            is_cut |= text.len() > room;
            text.truncate(text.floor_char_boundary(room));
            room -= text.len();
            text
        };
        let (stdout, stderr, result) = (fit(text(stdout)), fit(text(stderr)), fit(end.result));
        let error = end.error.map(|error| error.chars().take(MAX_ERROR).collect());
        Ran { stdout, stderr, result, exit_code: end.exit_code, killed: end.killed, truncated: is_cut, error }
    }
}

/// Decodes the output. A character that was cut at the end is dropped. Invalid bytes become `�`, which makes the text
/// longer than the bytes.
fn text(mut bytes: Vec<u8>) -> String {
    if let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(result: &str) -> End {
        End { result: result.to_owned(), error: None, exit_code: 0, killed: false }
    }

    #[test]
    fn no_more_than_the_bound_is_kept() {
        let mut output = Output::default();
        output.print(false, &vec![b'a'; MAX_OUTPUT - 5]);
        assert!(!output.is_cut);
        output.print(true, "öööö".as_bytes());
        let ran = output.told(end("more"));
        assert_eq!((ran.stderr.as_str(), ran.result.as_str(), ran.truncated), ("öö", "m", true));
        assert_eq!(output.told(end("more")).result, "more");
    }

    #[test]
    fn bytes_that_are_no_text_do_not_grow_beyond_it() {
        let mut output = Output::default();
        output.print(false, &vec![0xff; MAX_OUTPUT]);
        let ran = output.told(end("x"));
        assert!(ran.truncated && ran.stdout.len() + ran.result.len() <= MAX_OUTPUT);
        assert!(ran.stdout.starts_with('\u{fffd}'));
    }
}
