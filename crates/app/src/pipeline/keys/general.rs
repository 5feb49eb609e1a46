//! Keys of `constants`, `tables`, `checks`, `references`, `study` and `ci`.

use crate::file::keys::Absent::{Nothing, Required, Says, Value};
use crate::file::keys::Kind::{Flag, List, Number, Section, Text, Whole};
use crate::file::keys::Range::{Above, Any, AtLeast};
use crate::file::keys::{FLOW, Row, row};

/// The keys behind those of the top level.
pub(super) const FIRST: &[Row] = &[
    row("constants", &[Section], Nothing, "Names for numbers, which every expression of the file may use."),
    row(
        "constants.<name>",
        &[Number(Any)],
        Nothing,
        "The value of a constant. Its expression may use the constants above it.",
    ),
    row(
        "tables",
        &[Section],
        Nothing,
        "Names for tables of numbers, which every formula of the file may call as functions: `inflow(y)`.",
    ),
    row("tables.<name>", &[Section], Nothing, "A table: linear between its rows, constant outside of them."),
    row(
        "tables.<name>.file",
        &[Text],
        Required,
        "A file with columns of numbers, separated by blanks or commas; the first column is the argument, which \
         increases. Relative to the pipeline file.",
    ),
    row("tables.<name>.column", &[Whole(2, usize::MAX)], Value("2"), "The column of the values, from 1."),
];

/// The keys that a file ends with.
pub(super) const LAST: &[Row] = &[
    row(
        "checks",
        &[List("checks", &[Section])],
        Nothing,
        "Limits that results must keep. The program ends with exit code 1 if a check does not hold.",
    ),
    row(
        "checks[].value",
        &[Text],
        Required,
        "The path of a value in `summary.json`, such as `error.l2.rho` or `forces.body.cd`.",
    ),
    row(
        "checks[].{below,above}",
        &[Number(Any)],
        Nothing,
        "The value must be less, or greater, than this number. The expression may use `order`.",
    ),
    row(
        "checks[].between",
        &[List("two numbers", &[Number(Any)])],
        Nothing,
        "The value must be in this interval, whose ends are included. The expressions may use `order`.",
    ),
    row(
        "checks[].near",
        &[Number(Any)],
        Nothing,
        "The value must be this number, up to the distance `within`. The expression may use `order`.",
    ),
    row(
        "checks[].within",
        &[Number(AtLeast(0.0)), Text],
        Says("none; required with `near`"),
        "The largest distance from `near`: a number, or a percentage of `near` such as `5%`.",
    ),
    row(
        "references",
        &[List("references", &[Section])],
        Nothing,
        "Tables of published values. `report.md` shows them beside the results, with the ratio.",
    ),
    row(
        "references[].source",
        &[Text],
        Required,
        "Where the values are from, such as `Ghia et al. (1982), Table I`.",
    ),
    row(
        "references[].table",
        &[Text],
        Required,
        "A file with columns that are separated by commas. The first line has their names; lines that begin \
         with `#` are skipped. The path is relative to the pipeline file.",
    ),
    row(
        "references[].value",
        &[Text],
        Required,
        "The path of the value in `summary.json` to compare with, such as `error.l2.rho`.",
    ),
    row("references[].column", &[Text], Says("the path of `value`"), "The column with the published values."),
    row(
        "references[].by",
        &[List("columns", &[Text])],
        Says("none: the first row of the table"),
        "Columns that are named after keys of the file, such as `order` or `mesh.generate.cells`. The row in \
         which they have the values of the run, or of the case of a study, has its published value.",
    ),
    row(
        "references[].factor",
        &[Number(Above(0.0))],
        Value("1"),
        "A factor of the published values, such as 1e-3 for milliseconds where the summary has seconds.",
    ),
    row(
        "study",
        &[Section],
        Nothing,
        "A study: the file is run for every combination of the values of its axes, and a table with the \
         errors and the orders of convergence is printed.",
    ),
    row(
        "study.<axis>",
        &[List("values", &[])],
        Says("none; a study has at least one axis"),
        "The values of a key on one axis of the study. The name is the path of the key, such as \
         `time.cfl`; `order` and `refine` stand for `space.order` and `mesh.refine`. The last axis changes \
         fastest.",
    ),
    row(
        "study.rate_in",
        &[Text],
        Value("h"),
        "What the orders of convergence are measured in: `h`, the size of the elements, or an axis with \
         numbers such as `time.dt`.",
    ),
    row(
        "study.values",
        &[List("paths of the summary", &[Text]), Section],
        Nothing,
        "Values of the summary that become columns of the table: a list, or a section with a number to \
         compare each with.",
    ),
    row(
        "study.values.<path>",
        &[Number(Any)],
        Nothing,
        "The number to compare the value with, or nothing. The name is the path of the value, such as \
         `forces.body.cd`.",
    ),
    row(
        "study.continued",
        &[Flag],
        Value("false"),
        "Whether each case starts from the last state of the case before it. All cases must have the same \
         mesh.",
    )
    .of(FLOW),
    row(
        "ci",
        &[Section],
        Nothing,
        "The changes that the option `--ci` makes, so that an example runs briefly in tests.",
    ),
    row("ci.set", &[Section], Nothing, "Keys and their values in the short run."),
    row(
        "ci.set.<path>",
        &[Text, Number(Any), List("values", &[]), Section],
        Nothing,
        "The value of a key in the short run. The name is the path of the key, such as `time.steps`.",
    ),
    row(
        "ci.checks",
        &[List("checks", &[Section])],
        Says("those of `checks`"),
        "The checks of the short run, in place of `checks`.",
    ),
];
