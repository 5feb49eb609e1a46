//! Every legal combination of shape, form, geometry, model and order 1 to 4, and the kernels that a device
//! would run for it.

use super::case::{Bend, Case, Flow, Form};
use dgsuite_basis::Shape;
use dgsuite_gpu::cuda::Source;
use dgsuite_gpu::{GpuError, Host};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use crate::flow::KernelChoice;
use crate::two_point::SplitFlux;

const SHAPES: [Shape; 5] =
    [Shape::Triangle, Shape::Quadrilateral, Shape::Tetrahedron, Shape::Hexahedron, Shape::Prism];
const FLOWS: [Flow; 3] = [Flow::Euler, Flow::Source, Flow::NavierStokes];
const ORDERS: [usize; 4] = [1, 2, 3, 4];

/// The kernels of one combination.
#[derive(Clone, Debug)]
pub struct Choice {
    case: Case,
    /// The file of the residual's kernel of each kind of elements; a reason where the scheme is refused.
    names: Result<Vec<String>, String>,
    fast: bool,
    /// Digests of the kernels' texts, by the files' names.
    texts: Vec<(String, u64)>,
}

/// All combinations: of affine elements, of curved ones (of geometry order 2), and of both in one mesh.
/// Pyramids, which only the universal kernels run, are left out.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for shape in SHAPES {
        for (_, form) in Form::ALL {
            let split = matches!(form, Form::Split(_));
            let lines = matches!(shape, Shape::Quadrilateral | Shape::Hexahedron);
            if split && (!lines || form != Form::Split(SplitFlux::Ranocha)) {
                continue;
            }
            for bend in [Bend::None, Bend::All, Bend::Half] {
                for flow in FLOWS {
                    cases.extend(ORDERS.map(|order| Case {
                        flow,
                        shape,
                        above: None,
                        bend,
                        form,
                        order,
                        single: false,
                        size: 0.0,
                    }));
                }
            }
        }
    }
    cases
}

/// Returns the kernels that are chosen for every combination. No device is needed.
///
/// # Errors
/// Errors of the machine.
pub fn choices(threads: usize) -> Result<Vec<Choice>, GpuError> {
    Ok(choices_on(&Arc::new(Host::new(threads)?)))
}

/// As [`choices`], on an existing machine.
pub(super) fn choices_on(host: &Arc<Host>) -> Vec<Choice> {
    host.install(|| cases().into_par_iter().map(|case| Choice::of(case, host)).collect())
}

/// One case of `size` million unknowns for each kernel of each shape, geometry and model: of order 3 where
/// there is one.
pub(super) fn covering(choices: &[Choice], size: f64) -> Vec<Case> {
    let key = |c: &Choice| (c.case.shape, c.case.bend.name(), c.case.flow.name(), c.names.clone());
    let mut chosen: BTreeMap<_, Case> = BTreeMap::new();
    for choice in choices.iter().filter(|c| c.names.is_ok() && c.case.bend != Bend::Half) {
        let case = chosen.entry(key(choice)).or_insert(choice.case);
        if choice.case.order == 3 && case.order != 3 {
            *case = choice.case;
        }
    }
    chosen.into_values().map(|case| Case { size, ..case }).collect()
}

impl Choice {
    fn of(case: Case, host: &Arc<Host>) -> Self {
        let parts = match case.chosen(host) {
            Ok(parts) => parts,
            Err(error) => {
                return Self { case, names: Err(error.to_string()), fast: false, texts: Vec::new() };
            }
        };
        let texts = parts.iter().flat_map(|part| &part.texts).map(digest).collect();
        let names = parts.iter().map(|p| KernelChoice::new(p.shape, p.curved, p.fast, &p.name).name);
        Self { case, names: Ok(names.collect()), fast: parts.iter().all(|part| part.fast), texts }
    }
}

/// The name of a text, and a digest of its lines without comments and unused headers.
/// Only the length of operators in literals counts: their last digits depend on the machine's cosine.
fn digest(source: &Source) -> (String, u64) {
    let mut lines = Vec::new();
    add_lines(&source.text, &source.headers, &mut Vec::new(), &mut lines);
    let defines = source.defines.iter().map(|(name, value)| match value.matches(',').count() {
        n if n > 0 && value.contains('.') => format!("{name} of {n}"),
        _ => format!("{name}={value}"),
    });
    let all = lines.into_iter().map(str::to_owned).chain(defines).collect::<Vec<_>>().join("\n");
    (source.name.clone(), fnv(all.bytes()))
}

/// The lines of a text and of the headers that it includes, each once.
fn add_lines<'a>(
    text: &'a str,
    headers: &'a [(String, String)],
    seen: &mut Vec<&'a str>,
    lines: &mut Vec<&'a str>,
) {
    for line in text.lines().map(|line| line.split("//").next().unwrap_or("").trim_end()) {
        let included = line.strip_prefix("#include \"").map(|rest| rest.trim_end_matches('"'));
        match headers.iter().find(|(name, _)| Some(name.as_str()) == included) {
            Some((name, header)) if !seen.contains(&name.as_str()) => {
                seen.push(name);
                add_lines(header, headers, seen, lines);
            }
            Some(_) => {}
            None if line.is_empty() => {}
            None => lines.push(line),
        }
    }
}

fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    let step = |sum: u64, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.fold(0xcbf2_9ce4_8422_2325, step)
}

/// The list as text: a row for each shape, form, geometry and model, with the kernels of orders 1 to 4; then
/// how many are fast.
#[must_use]
pub fn list(choices: &[Choice]) -> String {
    let mut text = String::new();
    for row in choices.chunks(ORDERS.len()) {
        let Case { shape, form, bend, flow, .. } = row[0].case;
        let _ =
            write!(text, "{:<13} {:<17} {:<11} {:<13}", shape.name(), form.name(), bend.name(), flow.name());
        for choice in row {
            let names = choice.names.as_ref().map_or_else(|_| "refused".to_owned(), |names| names.join("+"));
            let _ = write!(text, " {names:<20}");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    for bend in [&[Bend::None, Bend::All][..], &[Bend::Half]] {
        let of = |c: &&Choice| bend.contains(&c.case.bend) && c.names.is_ok();
        let (all, fast) =
            (choices.iter().filter(of).count(), choices.iter().filter(of).filter(|c| c.fast).count());
        let names: Vec<_> = bend.iter().map(|bend| bend.name()).collect();
        let share = 100.0 * fast as f64 / all.max(1) as f64;
        let _ =
            writeln!(text, "{}: {fast} of {all} combinations are fast ({share:.1} %)", names.join(" and "));
    }
    text
}

/// One line for each file of kernels: how many texts it makes for all combinations, and a digest of them.
#[must_use]
pub fn digests(choices: &[Choice]) -> String {
    let mut files: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (name, digest) in choices.iter().flat_map(|choice| &choice.texts) {
        files.entry(name).or_default().push(*digest);
    }
    let mut text = String::new();
    for (name, digests) in &mut files {
        digests.sort_unstable();
        digests.dedup();
        let sum = fnv(digests.iter().flat_map(|digest| digest.to_le_bytes()));
        let _ = writeln!(text, "{name:<28} {:>5} texts {sum:016x}", digests.len());
    }
    text
}
