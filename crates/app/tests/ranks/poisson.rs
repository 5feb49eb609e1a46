//! Elliptic problems on several ranks leave the files of one rank.

use std::path::Path;

use serde_json::Value;

use crate::support::Case;
use crate::{alone, on_ranks, same_checkpoint, told_once};

/// Thin, graded cells at a wall, with a jump of kappa, so that the smoother has lines.
const LAYERS: &str = "\
title: Layers at a wall
mesh:
  generate: { shape: tri+quad, cells: [12, 10] }
  map: { order: 1, x: x, y: 0.02*y + 0.2*y^3 }
  periodic: [[xmin, xmax]]
physics: { model: poisson, kappa: 1 + 9*x^2, lambda: y, forcing: sin(6*x) + y }
space: { order: 3 }
boundaries:
  ymin: { type: dirichlet, u: x*(1 - x) }
  ymax: { type: robin, alpha: 2, g: 1 }
";

/// A ring of curved cells with an exact solution that is fixed up to a constant.
const RING: &str = "\
title: A ring
mesh:
  generate: { kind: annulus, shape: quad, inner: 1, outer: 2, cells: [4, 20] }
physics: { model: poisson, exact: cos(x)*y }
space: { order: 4 }
boundaries:
  inner: { type: neumann, flux: exact }
  outer: { type: neumann, flux: exact }
";

fn same_files(case: &Case, ranks: usize, results: &str) {
    let files = |folder: &str| -> Vec<(String, Vec<u8>)> {
        let read = |path: &Path| (path.display().to_string(), std::fs::read(path).unwrap());
        ["fields", "monitors"]
            .iter()
            .flat_map(|sub| {
                let entries = std::fs::read_dir(case.path(folder).join(sub)).unwrap();
                let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
                paths.sort();
                paths.iter().map(|path| read(path)).collect::<Vec<_>>()
            })
            .collect()
    };
    let (one, several) = (files("one"), files(results));
    assert_eq!(one.len(), several.len(), "{ranks} ranks");
    for ((name, a), (_, b)) in one.iter().zip(&several) {
        assert!(a == b, "{name} of {ranks} ranks");
    }
    let file = |results: &str| case.path(results).join("checkpoints/step-00000000.dgs");
    same_checkpoint(&file("one"), &file(results), &format!("{ranks} ranks"));
}

#[test]
fn poisson_on_ranks_leaves_the_files_of_one() {
    for (text, keys) in [(LAYERS, &["integral", "mesh"][..]), (RING, &["integral", "mesh", "error"])] {
        let case = Case::new(text);
        let whole = alone(&case, &["--output", "one"]);
        assert_eq!(whole["ranks"], 1);
        let lines = whole["linear"]["linelets"]["lines"].as_u64();
        assert!(lines.is_some_and(|lines| lines > 0), "{whole}");
        for ranks in [2, 3] {
            let results = format!("ranks-{ranks}");
            let args = ["--output", &results, "--set", "threads=1"];
            let Some(output) = on_ranks(&case, ranks, &args) else { return };
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{errors}");
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(said.matches("results in").count(), 1, "{said}");
            let log = std::fs::read_to_string(case.path(&results).join("log.txt")).unwrap();
            assert!(log.contains(&format!("{ranks} ranks (mpi), each on cpu")), "{log}");
            let summary = case.summary(&results);
            assert_eq!(summary["ranks"], ranks);
            let sent = |summary: &Value| summary["communication"]["messages_per_iteration"].as_f64().unwrap();
            assert!(sent(&summary) > 2.0 && sent(&whole) == 0.0, "{}", summary["communication"]);
            for key in keys {
                assert!(summary[key] == whole[key] && !whole[*key].is_null(), "{key} on {ranks} ranks");
            }
            for key in ["iterations", "residuals", "imbalance"] {
                assert_eq!(summary["linear"][key], whole["linear"][key], "{key} on {ranks} ranks");
            }
            let levels = |summary: &Value| -> Vec<Value> {
                let levels = summary["linear"]["levels"].as_array().unwrap().iter();
                levels.flat_map(|level| ["kind", "rows", "nonzeros"].map(|key| level[key].clone())).collect()
            };
            assert_eq!(levels(&summary), levels(&whole), "{ranks} ranks");
            same_files(&case, ranks, &results);
        }
    }
}

#[test]
fn mistakes_in_a_problem_of_several_ranks_are_told_once() {
    if told_once(&LAYERS.replace("ymax:", "top:"), "no boundary `top`").is_none() {
        return;
    }
    told_once(&LAYERS.replace("lambda: y", "lambda: y - 1"), "error[");
    // A datum that only one rank evaluates.
    told_once(&LAYERS.replace("sin(6*x) + y", "1/(x - 0.04)^0.5"), "`physics.forcing` is NaN in element");
    told_once(&LAYERS.replace("cells: [12, 10]", "cells: [1, 10]"), "lines of thin elements are not cut");
}
