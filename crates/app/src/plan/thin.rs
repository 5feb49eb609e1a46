//! What thin elements have to do with the iterations of linear solvers: warnings, and causes of failed
//! solves.

use dgsuite_mesh::Mesh;

use super::Plan;
use crate::file::number::{grouped, short};
use dgsuite_solve::elliptic::{
    LineDescription, Preconditioning, SHORT, SmootherKind, SolverOptions, ThinElement, ThinElements, is_thin,
    linelets,
};
use dgsuite_solve::flow::Law;
use dgsuite_solve::{LinearSystem, SystemError};

/// The aspect ratio of an element and its place, in words.
pub(crate) fn place(thin: &ThinElement, mesh: &Mesh) -> String {
    let at: Vec<String> = thin.at[..mesh.dim].iter().map(|&x| short(x)).collect();
    format!("{} in element {} at ({})", short(thin.aspect_ratio), thin.element, at.join(", "))
}

/// The number of thin elements of a mesh, in words.
fn counted(thin: &ThinElements, mesh: &Mesh) -> String {
    let place =
        thin.thinnest.map(|thinnest| format!(", up to an aspect ratio of {}", place(&thinnest, mesh)));
    format!(
        "{} of {} elements are thin{}",
        grouped(thin.count),
        grouped(mesh.n_elements()),
        place.unwrap_or_default()
    )
}

/// A warning about a smoother that was chosen for a mesh with many thin elements; `key` are the options as
/// given.
pub(crate) fn doubt(key: &str, given: &SolverOptions, order: usize, mesh: &Mesh) -> Option<String> {
    let smoother = given.smoother.filter(|smoother| *smoother != SmootherKind::Linelets)?;
    let suited = SmootherKind::suited(order, mesh);
    if given.preconditioner != Preconditioning::PmgAmg || smoother == suited || !is_thin(mesh) {
        return None;
    }
    Some(format!(
        "{key}.smoother: {} takes iterations that grow with the aspect ratio, and {}; {} is the default here",
        smoother.word(),
        counted(&ThinElements::of(mesh), mesh),
        suited.word()
    ))
}

/// Why a solve with these options takes many iterations on a mesh, and what helps. Of a mesh that has nothing
/// to do with it nothing is said.
pub(crate) fn causes(
    key: &str,
    options: &SolverOptions,
    mesh: &Mesh,
    lines: Option<&LineDescription>,
) -> Vec<String> {
    let thin = is_thin(mesh);
    let all = || counted(&ThinElements::of(mesh), mesh);
    let on_thin = if thin { format!(" with `{key}.smoother: linelets`") } else { String::new() };
    match options.preconditioner {
        Preconditioning::PmgAmg => {}
        Preconditioning::Amg if thin => {
            return vec![format!("{}: try `{key}.preconditioner: pmg-amg`{on_thin}", all())];
        }
        Preconditioning::Amg => return vec![format!("try `{key}.preconditioner: pmg-amg`")],
        _ => {
            let why = if thin { format!("; {}", all()) } else { String::new() };
            let multigrid = format!("multigrid (`{key}.preconditioner: pmg-amg`){on_thin}");
            return vec![format!("{multigrid} needs far fewer iterations{why}")];
        }
    }
    if thin && !options.has_lines() {
        let word = options.smoother().word();
        return vec![format!(
            "{}, and iterations with {word} grow with it: try `{key}.smoother: linelets`",
            all()
        )];
    }
    let short = lines.filter(|_| options.has_lines()).map(|lines| lines.short);
    let many = short.filter(|short| 100 * short.count > mesh.n_elements());
    let cause = many.map(|short| {
        let place = short.thinnest.map(|thinnest| place(&thinnest, mesh));
        format!(
            "{} of {} elements are thin and in no line of more than {SHORT} for `{key}.smoother: linelets`, up to \
             an aspect ratio of {}: layers in columns have longer ones, as `dgsuite mesh lines` shows",
            grouped(short.count),
            grouped(mesh.n_elements()),
            place.unwrap_or_default()
        )
    });
    cause.into_iter().collect()
}

/// The causes for a linear system of a step of incompressible flow; none for other errors.
pub(crate) fn causes_in_step(plan: &Plan, error: &SystemError) -> Vec<String> {
    let (SystemError::Solve { system, .. }, Law::Incompressible(law)) = (error, &plan.setup.law) else {
        return Vec::new();
    };
    let setup = &plan.setup;
    match system {
        LinearSystem::Pressure => {
            let mesh = setup.mesh.seen();
            let order = law.pressure_order.of(setup.order);
            let options = law.pressure.on(setup.device, order, mesh);
            let found = options.has_lines().then(|| linelets(mesh).ok()).flatten();
            let lines = found.map(|lines| LineDescription::new(mesh, &lines));
            causes("solver.pressure", &options, mesh, lines.as_ref())
        }
        LinearSystem::Penalties if law.penalties.divergence.max(law.penalties.continuity) > LARGE => {
            vec!["iterations grow with the factors of `space.penalties`, which are usually 1: make them smaller".to_owned()]
        }
        LinearSystem::Penalties | LinearSystem::Velocity | LinearSystem::Scalars => Vec::new(),
    }
}

/// Penalties above this take noticeably more iterations than those of 1.
pub(crate) const LARGE: f64 = 2.0;
