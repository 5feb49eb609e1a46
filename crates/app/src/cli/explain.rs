//! `dgsuite explain`: what the code of an error means.

use clap::Args;

use crate::code::{self, Code, UnknownCode};

pub(super) const HELP: &str = "\
The code stands in brackets in the message: error[unknown-key]: …

Examples:
  dgsuite explain
  dgsuite explain unknown-key";

#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// The code (default: list all codes)
    #[arg(value_name = "CODE")]
    code: Option<String>,
    /// Print the page of the book (Markdown)
    #[arg(long, conflicts_with = "code")]
    markdown: bool,
}

/// The text that was asked for.
pub(super) fn text(args: &ExplainArgs) -> Result<String, UnknownCode> {
    match &args.code {
        Some(word) => Ok(code::explained(Code::of_word(word)?)),
        None if args.markdown => Ok(code::markdown()),
        None => Ok(code::list()),
    }
}
