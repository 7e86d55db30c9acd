//! A small hash that is the same everywhere.

/// FNV-1a with 64 bits (Fowler, Noll, Vo): the same in every version and on every machine, so it may be stored. Who chooses
/// the bytes can make two texts collide.
///
/// ```
/// use base::Fnv;
///
/// assert_eq!(Fnv::default().with(b"foobar").value(), 0x8594_4171_f739_67e8);
/// assert_eq!(Fnv::default().with(b"foo").with(b"bar").value(), Fnv::default().with(b"foobar").value());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fnv(u64);

impl Default for Fnv {
    #[inline]
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// The hash of all bytes so far and of these.
    #[inline]
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    /// The hash of what was added.
    #[inline]
    #[must_use]
    pub fn value(self) -> u64 {
        self.0
    }
}
