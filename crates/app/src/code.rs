//! Codes of errors: one word for each kind of mistake, with its page for `dgsuite explain`.
//!
//! A code stands in brackets after `error` in every message, and under `code` where errors are JSON. Messages
//! may be worded anew; codes keep their meaning. The pages are the files of `crates/app/codes`. Which error
//! has which code is said by [`Problem::code`](crate::file::problem::Problem::code), `of_errors`, and
//! `Code::of` for all of a command.

mod of_errors;

use std::fmt::{self, Write as _};

use dgsuite_output::escape::printable;
use dgsuite_output::nearest::nearest;

/// Defines the codes with their words and pages.
macro_rules! codes {
    ($($(#[$meta:meta])* $name:ident = $word:literal,)*) => {
        /// The kind of an error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $($(#[$meta])* $name,)*
        }

        impl Code {
            /// All codes, those of the file first, then those of its mesh, the machine, the run and its
            /// results.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Their words.
            const WORDS: &[&'static str] = &[$($word,)*];

            /// The word in the brackets.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }

            /// The page in Markdown: a heading, a sentence that says what the error means, why it is one, and
            /// as a rule a file that is refused with the mended one.
            #[must_use]
            pub const fn page(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(concat!("../codes/", $word, ".md")),)*
                }
            }
        }
    };
}

codes! {
    /// The pipeline file cannot be read.
    UnreadableFile = "unreadable-file",
    /// The text is not YAML.
    NotYaml = "not-yaml",
    /// A key that does not exist there.
    UnknownKey = "unknown-key",
    /// A key that must be given.
    MissingKey = "missing-key",
    /// A value of another type than the key's.
    WrongType = "wrong-type",
    /// A word that the key does not have.
    UnknownValue = "unknown-value",
    /// A value out of its range.
    OutOfRange = "out-of-range",
    /// Keys that exclude each other.
    Conflict = "conflict",
    /// A key that belongs to another choice.
    MisplacedKey = "misplaced-key",
    /// A word that this version does not support.
    Unsupported = "unsupported",
    /// An angle without unit.
    NoUnit = "no-unit",
    /// A formula that cannot be used.
    Formula = "formula",
    /// A name that a constant cannot have.
    ConstantName = "constant-name",
    /// A named exact solution that cannot be used.
    ExactSolution = "exact-solution",
    /// A state that is none of a gas.
    InadmissibleState = "inadmissible-state",
    /// A name that is given twice.
    NameTwice = "name-twice",
    /// A control character.
    ControlCharacter = "control-character",
    /// Too many times of output.
    OutputTimes = "output-times",
    /// An override that leads nowhere.
    Override = "override",
    /// A mesh that cannot be read, generated or prepared.
    Mesh = "mesh",
    /// A boundary that the mesh does not have.
    UnknownBoundary = "unknown-boundary",
    /// A boundary without a condition.
    MissingBoundary = "missing-boundary",
    /// Boundaries that cannot be joined.
    Periodic = "periodic",
    /// Regions of the file that are not those of the mesh.
    Region = "region",
    /// A point or line outside of the mesh.
    OutsideMesh = "outside-mesh",
    /// A set-up that has no solution, or that the solver does not have.
    SetUp = "set-up",
    /// More memory than there is.
    Memory = "memory",
    /// A device, or threads, that cannot be used.
    Device = "device",
    /// Ranks that cannot work together.
    Ranks = "ranks",
    /// A checkpoint that cannot be used.
    Checkpoint = "checkpoint",
    /// Results that cannot be written.
    Results = "results",
    /// A solution that is no longer finite or admissible.
    NotFinite = "not-finite",
    /// Steps that no longer advance time.
    StepSize = "step-size",
    /// A steady state that was not reached.
    NotSteady = "not-steady",
    /// A linear system that could not be solved.
    LinearSystem = "linear-system",
    /// A value of a run that is not within its limits.
    CheckFailed = "check-failed",
    /// A folder without the results that a command needs.
    NoResults = "no-results",
    /// A file of results that cannot be read.
    DamagedResults = "damaged-results",
    /// A field, column or time that results do not have.
    UnknownField = "unknown-field",
    /// A picture in which there would be nothing.
    NothingToDraw = "nothing-to-draw",
    /// An option of a command with a value that it cannot have.
    BadOption = "bad-option",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A word that is no code.
#[derive(Debug, thiserror::Error)]
#[error(
    "there is no code `{}`{}\nhint: `dgsuite explain` lists all codes",
    printable(word),
    near.map_or_else(String::new, |near| format!(": did you mean `{near}`?"))
)]
pub struct UnknownCode {
    /// The word as given.
    word: String,
    /// The nearest code.
    near: Option<&'static str>,
}

impl Code {
    /// The code of a word. The brackets of a message may be around it.
    ///
    /// # Errors
    /// A word that is no code.
    pub fn of_word(word: &str) -> Result<Self, UnknownCode> {
        let bare = word.trim().trim_start_matches("error").trim_matches(['[', ']']);
        let found = Self::ALL.iter().copied().find(|code| code.word() == bare);
        found.ok_or_else(|| UnknownCode { word: word.to_owned(), near: nearest(bare, Self::WORDS) })
    }

    /// The sentence of the page that says what the error means.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        self.page().split("\n\n").nth(1).unwrap_or_default()
    }

    /// The last line of a message: how to read more about its codes.
    #[must_use]
    pub fn more_about(codes: &[Self]) -> String {
        let mut words: Vec<&str> = Vec::new();
        for code in codes {
            if !words.contains(&code.word()) {
                words.push(code.word());
            }
        }
        match words[..] {
            [word] => format!("`dgsuite explain {word}` tells more"),
            _ => format!("`dgsuite explain CODE` tells more; the codes are {}", words.join(", ")),
        }
    }
}

/// All codes, one on each line.
pub fn list() -> String {
    let widest = Code::ALL.iter().map(|code| code.word().len()).max().unwrap_or(0);
    let mut text = String::new();
    for code in Code::ALL {
        let meaning = code.meaning().replace('\n', " ");
        let _ = writeln!(text, "{:widest$}  {meaning}", code.word());
    }
    text
}

/// The page of a code for a terminal: code blocks are indented.
pub fn explained(code: Code) -> String {
    let mut text = String::new();
    let mut inside = false;
    for line in code.page().lines() {
        if line.starts_with("```") {
            inside = !inside;
        } else if inside {
            let _ = writeln!(text, "    {line}");
        } else {
            let _ = writeln!(text, "{}", line.strip_prefix("# ").unwrap_or(line));
        }
    }
    text
}

/// What stands above the codes on the page of the book.
const INTRODUCTION: &str = "\
# Error codes

<!-- Generated: dgsuite explain --markdown > docs/src/codes.md -->

Every error has a code, which stands in brackets before its message, `error[unknown-key]: …`, and beside it in
`summary.json`. This page has all of them; `dgsuite explain CODE` prints the part about one. The files below
are refused with the code of their heading, or end with it where the text says that they run, and those
after *Mended* are not.
";

/// The page of the book.
pub fn markdown() -> String {
    let mut page = INTRODUCTION.to_owned();
    for code in Code::ALL {
        page.push_str("\n#");
        page.push_str(code.page());
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_with_and_without_brackets() {
        for word in ["unknown-key", "error[unknown-key]", "[unknown-key]", " unknown-key "] {
            assert_eq!(Code::of_word(word).unwrap(), Code::UnknownKey);
        }
        let text = Code::of_word("unkown-key").unwrap_err().to_string();
        assert!(text.contains("did you mean `unknown-key`?"), "{text}");
        assert!(!Code::of_word("").unwrap_err().to_string().contains("did you mean"));
    }

    #[test]
    fn the_last_line_names_each_code_once() {
        assert_eq!(Code::more_about(&[Code::Formula, Code::Formula]), "`dgsuite explain formula` tells more");
        let two = Code::more_about(&[Code::Formula, Code::NoUnit, Code::Formula]);
        assert_eq!(two, "`dgsuite explain CODE` tells more; the codes are formula, no-unit");
    }
}
