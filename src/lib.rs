//! Holds the whole-suite tests in `tests/`; there is no library here.
