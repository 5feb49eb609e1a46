//! Kernel texts with everything that their compilation depends on, and their digest.

/// The header `device.cuh`, which every text may include: the wrappers of hardware features.
pub const DEVICE_HEADER: (&str, &str) = ("device.cuh", include_str!("device.cuh"));

/// CUDA C++ text with its headers, defines and options.
///
/// Kernels are `extern "C" __global__`, so that they are found by their plain names.
///
/// ```
/// use dgsuite_gpu::cuda::Source;
/// let source = Source::new("scale.cu", r#"
///     #include "device.cuh"
///     extern "C" __global__ void scale(real* x, real a, unsigned n) {
///         const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
///         if (i < n) x[i] *= a;
///     }"#)
///     .define("DG_SINGLE", 1);
/// assert_ne!(source.digest(&["sm_90"]), source.clone().define("N", 4).digest(&["sm_90"]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Name of the text in messages, such as `reduce.cu`.
    pub name: String,
    /// The text.
    pub text: String,
    /// Names and texts of headers, as the text includes them; `device.cuh` is always available.
    pub headers: Vec<(String, String)>,
    /// Macros and their values, in order.
    pub defines: Vec<(String, String)>,
    /// Compiler options.
    pub options: Options,
}

/// Compiler options for a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Whether `a * b + c` may be rounded once. If not, results equal those of a host without fused
    /// operations.
    pub contract: bool,
    /// Whether instructions refer to lines of the text, for profilers.
    pub line_info: bool,
    /// Largest number of registers per thread; `None` leaves it to `__launch_bounds__`.
    pub max_registers: Option<u32>,
    /// Other options, in the syntax of NVRTC.
    pub extra: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { contract: true, line_info: false, max_registers: None, extra: Vec::new() }
    }
}

impl Source {
    /// A text with no headers, no defines, and the default options.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let (headers, defines) = (vec![DEVICE_HEADER], Vec::new());
        let headers = headers.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        Self { name: name.into(), text: text.into(), headers, defines, options: Options::default() }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.headers.push((name.into(), text.into()));
        self
    }

    /// Adds a macro.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "values are literals and small numbers")]
    pub fn define(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.defines.push((name.into(), value.to_string()));
        self
    }

    /// Disables the fusion of products and sums.
    #[must_use]
    pub fn exact(mut self) -> Self {
        self.options.contract = false;
        self
    }

    /// Replaces the options.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// The compiler's arguments, except the architecture.
    pub(super) fn arguments(&self) -> Vec<String> {
        let options = &self.options;
        let mut arguments = vec![
            "--std=c++17".to_owned(),
            format!("--fmad={}", options.contract),
            // Registers and spills are read from the log.
            "--ptxas-options=-v".to_owned(),
        ];
        arguments.extend(options.line_info.then(|| "--generate-line-info".to_owned()));
        arguments.extend(options.max_registers.map(|n| format!("--maxrregcount={n}")));
        arguments.extend(options.extra.iter().cloned());
        arguments.extend(self.defines.iter().map(|(name, value)| format!("--define-macro={name}={value}")));
        arguments
    }

    /// A number that differs, for all practical purposes, if anything differs that the result of a
    /// compilation depends on; `more` contains what the text does not include (compiler, architecture).
    pub fn digest(&self, more: &[&str]) -> u128 {
        let mut digest = Digest::default();
        let arguments = self.arguments();
        let headers = self.headers.iter().flat_map(|(name, text)| [name, text]);
        let own = [&self.name, &self.text].into_iter().chain(headers).chain(&arguments);
        for part in more.iter().copied().chain(own.map(String::as_str)) {
            digest.add(part.as_bytes());
        }
        digest.0
    }
}

/// The FNV-1a hash of 128 bits (Fowler, Noll, Vo; draft-eastlake-fnv, constants for 128 bits) over parts,
/// each followed by its length. It distinguishes texts; it does not protect against manipulation.
pub(super) struct Digest(pub(super) u128);

impl Default for Digest {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Digest {
    pub(super) fn add(&mut self, part: &[u8]) {
        const PRIME: u128 = (1 << 88) + 0x13b;
        for byte in part.iter().copied().chain((part.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(PRIME);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published value for one byte: `a` hashes to d228cb696f1a8caf78912b704e4a8964 (draft-eastlake-fnv,
    /// appendix).
    #[test]
    fn the_hash_is_fnv_1a() {
        let mut state = Digest::default().0;
        state = (state ^ u128::from(b'a')).wrapping_mul((1 << 88) + 0x13b);
        assert_eq!(state, 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }

    #[test]
    fn everything_that_matters_is_in_the_digest() {
        let source = Source::new("a.cu", "text");
        let others = [
            Source::new("b.cu", "text"),
            Source::new("a.cu", "text "),
            source.clone().header("h", ""),
            source.clone().define("A", "1"),
            source.clone().exact(),
            source.clone().options(Options { max_registers: Some(96), ..Options::default() }),
            source.clone().options(Options { line_info: true, ..Options::default() }),
        ];
        for other in &others {
            assert_ne!(source.digest(&["13.0", "sm_90"]), other.digest(&["13.0", "sm_90"]), "{other:?}");
        }
        assert_ne!(source.digest(&["13.0", "sm_90"]), source.digest(&["13.0", "sm_80"]));
        // Parts are separated.
        assert_ne!(source.digest(&["ab", "c"]), source.digest(&["a", "bc"]));
    }
}
