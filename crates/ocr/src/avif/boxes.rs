//! Boxes of a file (ISO/IEC 14496-12): length, type, content.

/// Maximum number of boxes side by side that are read.
const MAX_BOXES: usize = 4096;

/// Bytes that are read from the front.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    /// Takes bytes; `None` if there are fewer.
    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// Takes a number of up to eight bytes, the highest first; no bytes are 0.
    pub(super) fn number(&mut self, length: usize) -> Option<u64> {
        let bytes = self.take(length).filter(|_| length <= 8)?;
        Some(bytes.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte)))
    }

    /// Takes a number of up to four bytes.
    pub(super) fn short(&mut self, length: usize) -> Option<u32> {
        self.number(length).and_then(|number| u32::try_from(number).ok())
    }

    /// Takes the version and the flags that many boxes begin with.
    pub(super) fn version(&mut self) -> Option<(u8, u32)> {
        let all = self.short(4)?;
        Some(((all >> 24) as u8, all & 0x00FF_FFFF))
    }
}

/// Box with its type.
#[derive(Debug, Clone, Copy)]
pub(super) struct TypedBox<'a> {
    pub(super) kind: [u8; 4],
    pub(super) content: &'a [u8],
}

/// Returns the boxes in some bytes, up to the first that is incomplete.
pub(super) fn boxes(bytes: &[u8]) -> impl Iterator<Item = TypedBox<'_>> {
    let mut bytes = Bytes(bytes);
    std::iter::from_fn(move || next(&mut bytes)).take(MAX_BOXES)
}

fn next<'a>(bytes: &mut Bytes<'a>) -> Option<TypedBox<'a>> {
    let length = bytes.number(4)?;
    let kind = bytes.take(4)?.try_into().ok()?;
    let content = match length {
        // It reaches to the end.
        0 => bytes.0.len(),
        1 => usize::try_from(bytes.number(8)?.checked_sub(16)?).ok()?,
        length => usize::try_from(length.checked_sub(8)?).ok()?,
    };
    Some(TypedBox { kind, content: bytes.take(content)? })
}

/// Returns the content of the first box of a type.
pub(super) fn find<'a>(bytes: &'a [u8], kind: &[u8; 4]) -> Option<&'a [u8]> {
    boxes(bytes).find(|found| found.kind == *kind).map(|found| found.content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_have_lengths_of_two_sizes() {
        let bytes = b"\0\0\0\x0aabcdxy\0\0\0\x01long\0\0\0\0\0\0\0\x11z\0\0\0\0restall";
        let found: Vec<_> = boxes(bytes).map(|found| (found.kind, found.content)).collect();
        assert_eq!(found, [(*b"abcd", &b"xy"[..]), (*b"long", b"z"), (*b"rest", b"all")]);
    }

    #[test]
    fn what_is_incomplete_ends_the_list() {
        for bytes in [&b""[..], b"\0\0\0", b"\0\0\0\x07abcd", b"\0\0\0\xffabcdx", b"\0\0\0\x01abcd\0\0\0\0\0\0\0\x0f"] {
            assert_eq!(boxes(bytes).count(), 0, "{bytes:?}");
        }
    }
}
