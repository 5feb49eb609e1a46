//! SIMD levels of the CPU: detection, and the limit set by the user.

use std::fmt;
use std::str::FromStr;

use crate::GpuError;

/// Environment variable that lowers the SIMD level (`portable`, `avx2`, `avx512`).
pub const SIMD_VARIABLE: &str = "DGSUITE_SIMD";

/// A set of vector instructions, ordered from the least to the most capable.
///
/// The level selects one of several versions of each loop; it is fixed when a [`Host`](crate::Host) is
/// created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SimdLevel {
    /// The instructions of the compiler's base target (SSE2 on x86-64, NEON on AArch64).
    Portable,
    /// `avx2` and `fma`: 256-bit registers, 16 of them.
    Avx2,
    /// `avx512f`, `avx512dq`, `avx512vl`, `avx512bw`, and all of [`Avx2`](Self::Avx2): 512-bit registers,
    /// 32 of them.
    Avx512,
}

impl SimdLevel {
    /// Every level, from the least to the most capable.
    pub const ALL: [Self; 3] = [Self::Portable, Self::Avx2, Self::Avx512];

    /// The best level that this CPU supports; ignores the environment.
    pub fn hardware() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw");
            match (avx2, avx512) {
                (true, true) => Self::Avx512,
                (true, false) => Self::Avx2,
                _ => Self::Portable,
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            Self::Portable
        }
    }

    /// The level to use: [`hardware`](Self::hardware), lowered by the variable `DGSUITE_SIMD` if it is set.
    /// An unknown word there is ignored here; [`Host::new`](crate::Host::new) refuses it.
    pub fn detect() -> Self {
        Self::hardware_lowered().unwrap_or_else(|_| Self::hardware())
    }

    /// As [`detect`](Self::detect), but an unknown word is an error.
    pub(crate) fn hardware_lowered() -> Result<Self, GpuError> {
        match std::env::var(SIMD_VARIABLE) {
            Ok(word) if !word.is_empty() => Ok(Self::hardware().min(word.parse()?)),
            _ => Ok(Self::hardware()),
        }
    }

    /// Numbers of `bytes` bytes in one vector register (16, 32 or 64 bytes wide).
    pub fn lanes(self, bytes: usize) -> usize {
        match self {
            Self::Portable => 16 / bytes,
            Self::Avx2 => 32 / bytes,
            Self::Avx512 => 64 / bytes,
        }
    }
}

impl fmt::Display for SimdLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        })
    }
}

impl FromStr for SimdLevel {
    type Err = GpuError;

    fn from_str(word: &str) -> Result<Self, GpuError> {
        Self::ALL
            .into_iter()
            .find(|level| level.to_string() == word)
            .ok_or_else(|| GpuError::UnknownSimdLevel { word: word.to_owned() })
    }
}

/// Defines a loop once and compiles it for each SIMD level.
///
/// `fn name<T: Bound>(args) -> R = body;` defines `name(host, args)`, which calls the inlined `body(args)`
/// inside a function compiled for the host's level. `body` must be `#[inline(always)]`. No version contracts
/// `a * b + c`, so that all levels give the same bits.
macro_rules! simd_versions {
    ($(#[$doc:meta])* fn $name:ident<$T:ident: $bound:path>($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $body:path;) => {
        $(#[$doc])*
        #[inline]
        fn $name<$T: $bound>(host: &$crate::Host, $($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn avx2<$T: $bound>($($arg: $ty),*) $(-> $ret)? {
                    $body($($arg),*)
                }
                #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
                fn avx512<$T: $bound>($($arg: $ty),*) $(-> $ret)? {
                    $body($($arg),*)
                }
                match host.simd() {
                    // SAFETY: a `Host` is only built with a level that this CPU supports (`Host::with_simd`).
                    $crate::SimdLevel::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    $crate::SimdLevel::Avx2 => return unsafe { avx2($($arg),*) },
                    $crate::SimdLevel::Portable => {}
                }
            }
            let _ = host;
            $body($($arg),*)
        }
    };
}
pub(crate) use simd_versions;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ordered_and_their_words_read_back() {
        assert!(SimdLevel::Portable < SimdLevel::Avx2 && SimdLevel::Avx2 < SimdLevel::Avx512);
        for level in SimdLevel::ALL {
            assert_eq!(level.to_string().parse::<SimdLevel>().unwrap(), level);
        }
        let message = "sse9".parse::<SimdLevel>().unwrap_err().to_string();
        assert!(message.contains("sse9") && message.contains("avx512"), "{message}");
    }

    #[test]
    fn the_level_in_use_is_never_above_the_hardware() {
        assert!(SimdLevel::detect() <= SimdLevel::hardware());
    }

    #[test]
    fn registers_hold_their_width_in_numbers() {
        assert_eq!(SimdLevel::Portable.lanes(8), 2);
        assert_eq!(SimdLevel::Avx2.lanes(4), 8);
        assert_eq!(SimdLevel::Avx512.lanes(8), 8);
    }
}
