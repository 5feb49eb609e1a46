//! The pages of the book about keys, codes and commands agree with this program.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

use std::path::Path;

use clap::{Command, CommandFactory};
use dgsuite::cli::Cli;
use dgsuite::code;
use dgsuite::pipeline::keys;

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src").join(name)).unwrap()
}

#[test]
fn the_page_of_keys_is_that_of_the_table() {
    let (page, table) = (page("keys.md"), keys::markdown());
    let differing = page.lines().zip(table.lines()).find(|(old, new)| old != new);
    let renew = "cargo run --release -p dgsuite -- keys --markdown > docs/src/keys.md";
    assert!(page == table, "docs/src/keys.md is out of date; renew it by\n  {renew}\n{differing:?}");
}

#[test]
fn the_page_of_codes_is_that_of_the_program() {
    let renew = "cargo run --release -p dgsuite -- explain --markdown > docs/src/codes.md";
    assert!(page("codes.md") == code::markdown(), "docs/src/codes.md is out of date; renew it by\n  {renew}");
}

/// The commands and options, from this command down, that the page does not mention.
fn missing(command: &Command, name: &str, page: &str) -> Vec<String> {
    let mut lacks = Vec::new();
    // `mesh` alone, as the program alone, does nothing.
    if !command.has_subcommands() && !page.contains(&format!("`{name}`")) {
        lacks.push(name.to_owned());
    }
    // The part of the page about this command, or about the program.
    let part = page.split(&format!("\n## {name}\n")).nth(1).and_then(|rest| rest.split("\n## ").next());
    for option in command.get_arguments() {
        let Some(long) = option.get_long().map(|long| format!("--{long}")) else { continue };
        if !part.unwrap_or(page).contains(&long) {
            lacks.push(format!("{name} {long}"));
        }
    }
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        lacks.extend(missing(inner, &format!("{name} {}", inner.get_name()), page));
    }
    lacks
}

#[test]
fn the_page_of_commands_has_every_command_and_option() {
    let lacks = missing(&Cli::command(), "dgsuite", &page("commands.md"));
    assert!(lacks.is_empty(), "docs/src/commands.md does not mention {lacks:?}");
}
