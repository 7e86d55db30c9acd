//! A small hash with a stable value.

/// 64-bit FNV-1a hash (Fowler, Noll, Vo). Its values are the same in every version and on every machine, so they may be
/// stored. It is not cryptographic: untrusted input can be made to collide.
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
    /// Adds bytes to the hash.
    #[inline]
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    /// Returns the hash of all bytes added.
    #[inline]
    #[must_use]
    pub fn value(self) -> u64 {
        self.0
    }
}
