//! Keys of the section `output`.

use crate::file::beginning::CONDITION;
use crate::file::keys::Absent::{Nothing, Required, Says, Value};
use crate::file::keys::Kind::{Flag, List, Number, Section, Text, Whole, Words};
use crate::file::keys::Range::{Above, Any};
use crate::file::keys::{FLOW, FLUID, Key, key};

const TIME: crate::file::keys::Kind = Number(Above(0.0));
const STEPS: crate::file::keys::Kind = Whole(1, usize::MAX);
const FORMATS: &[&str] = &["vtu", "vtkhdf"];
const NAMES: crate::file::keys::Kind = List("names of fields, or `Name: formula`", &[Text, Section]);

pub(super) const KEYS: &[Key] = &[
    key("output", &[Section], Nothing, "The results: where they are written, which, and when."),
    key(
        "output.directory",
        &[Text],
        Says("`out/` and the file's name"),
        "The directory of the results, relative to the pipeline file.",
    ),
    key(
        "output.fields",
        &[Words(&["none"]), Section],
        Says("the usual fields at the start and the end"),
        "Fields for ParaView, in `fields.pvd` and `fields/*.vtu` or in `fields.vtkhdf`; `none` writes none.",
    ),
    key(
        "output.fields.every",
        &[TIME],
        Nothing,
        "The interval of time between files, beside those at the start and the end.",
    )
    .of(FLOW),
    key(
        "output.fields.every_steps",
        &[STEPS],
        Nothing,
        "The number of steps between files, in place of `every`.",
    )
    .of(FLOW),
    key(
        "output.fields.names",
        &[NAMES],
        Says("Density, Velocity and Pressure; u of advection; u and error of poisson"),
        "The fields: predefined names, variables, derivatives, or names of your own with a formula of the solution.",
    ),
    key(
        "output.fields.format",
        &[Words(FORMATS)],
        Value("vtu"),
        "The format of these fields and of those on boundaries: `vtu`, a file for each time and a list of them, or \
         `vtkhdf`, one file with all times.",
    ),
    key(
        "output.fields.precision",
        &[Words(&["single", "double"])],
        Value("single"),
        "The precision of the numbers in the files.",
    ),
    key(
        "output.surfaces",
        &[Section],
        Nothing,
        "Fields on boundaries alone, in `surfaces.pvd` and `surfaces/*.vtu` or in `surfaces.vtkhdf`.",
    )
    .of(FLOW),
    key("output.surfaces.boundaries", &[List("names of boundaries", &[Text])], Required, "The boundaries.")
        .of(FLOW),
    key(
        "output.surfaces.every",
        &[TIME],
        Nothing,
        "The interval of time between files, beside those at the start and the end.",
    )
    .of(FLOW),
    key(
        "output.surfaces.every_steps",
        &[STEPS],
        Nothing,
        "The number of steps between files, in place of `every`.",
    )
    .of(FLOW),
    key("output.surfaces.names", &[NAMES], Says("as in `output.fields`"), "The fields.").of(FLOW),
    key(
        "output.averages",
        &[Words(&["none"]), Section],
        Value("none"),
        "Means of fields over time, in `averages.vtu` at the end and in checkpoints; `none` computes none.",
    )
    .of(FLOW),
    key(
        "output.averages.from",
        &[Number(Any), Section],
        Value("0"),
        "The time from which samples are taken, or `when: CONDITION`.",
    )
    .of(FLOW),
    key(
        "output.{fields,surfaces}.from",
        &[Number(Any), Section],
        Says("the start"),
        "The time from which files are written, or `when: CONDITION`. The end is always written.",
    )
    .of(FLOW),
    key(
        "output.{fields,surfaces,averages}.from.when",
        &[CONDITION],
        Required,
        "The condition that must hold once: a formula in `t`, `step` and columns of monitors, such as \
         `integral_energy` or `forces_cd`.",
    )
    .of(FLOW),
    key(
        "output.averages.every",
        &[TIME],
        Nothing,
        "The interval of time between samples, in place of `every_steps`.",
    )
    .of(FLOW),
    key(
        "output.averages.every_steps",
        &[Words(&["auto"]), STEPS],
        Says("1 for incompressible flow on CPUs, otherwise `auto`"),
        "The number of steps between samples. `auto`: a hundredth of the steps since the first sample, at least \
         1 and at most 20 (on a GPU 100, of incompressible flow 10): short runs sample each step, and the \
         samples of long ones cost little.",
    )
    .of(FLOW),
    key("output.averages.names", &[NAMES], Says("as in `output.fields`"), "The fields.").of(FLOW),
    key(
        "output.averages.deviations",
        &[Flag],
        Value("false"),
        "Writes the standard deviation over time of every field beside its mean, as `NAME_std`.",
    )
    .of(FLOW),
    key(
        "output.averages.reynolds_stresses",
        &[Flag],
        Value("false"),
        "Writes `ReynoldsStresses`, the covariances over time of the components of the velocity: xx, yy, zz, xy, \
         yz, xz.",
    )
    .of(FLUID),
    key(
        "output.checkpoint",
        &[Words(&["none"]), Section],
        Says("one checkpoint at the end"),
        "Checkpoints, from which a run can be continued; `none` writes none.",
    )
    .of(FLOW),
    key(
        "output.checkpoint.every",
        &[TIME],
        Nothing,
        "The interval of time between checkpoints, beside the one at the end.",
    )
    .of(FLOW),
    key(
        "output.checkpoint.every_steps",
        &[STEPS],
        Nothing,
        "The number of steps between checkpoints, in place of `every`.",
    )
    .of(FLOW),
    key(
        "output.checkpoint.keep",
        &[Whole(1, usize::MAX)],
        Value("2"),
        "The number of checkpoints that are kept, the latest ones.",
    )
    .of(FLOW),
];
