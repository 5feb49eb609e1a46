//! A pipeline file to begin with for a mesh of Gmsh: its boundaries by name, with conditions guessed from the
//! names.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use dgsuite_mesh::Mesh;
use dgsuite_mesh::gmsh::{self, ReadOptions};

use crate::file::number::grouped;
use crate::pipeline::checks::rounded;
use crate::plan::print::counted_shapes;

/// What the name of a boundary says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Wall,
    Symmetry,
    Inlet,
    Outlet,
    Far,
    /// Nothing that is known.
    Unknown,
}

impl Role {
    /// Parts of names, in the order in which they are looked for.
    const NAMES: [(Self, &'static [&'static str]); 5] = [
        (Self::Symmetry, &["sym"]),
        (Self::Outlet, &["out", "exit", "exhaust"]),
        (Self::Inlet, &["inl", "inf", "intake", "entr", "nozzle"]),
        (Self::Far, &["far", "free", "open", "ambient", "atmos"]),
        (
            Self::Wall,
            &[
                "wall", "airfoil", "aerofoil", "foil", "cylinder", "sphere", "body", "wing", "blade",
                "solid", "hull", "slip", "plate", "bump", "ramp", "step", "hub", "shroud", "lid", "surface",
                "car",
            ],
        ),
    ];

    fn of(name: &str) -> Self {
        let name = name.to_lowercase();
        // `outer` is no outlet.
        if name.contains("outer") {
            return Self::Far;
        }
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        Self::NAMES.iter().find(|(_, parts)| has(parts)).map_or(Self::Unknown, |(role, _)| *role)
    }

    /// The condition of a model, as the value of its key.
    fn condition(self, model: &str, state: &str, velocity: &str) -> String {
        match (model, self) {
            ("poisson", Self::Symmetry | Self::Outlet) => "{ type: neumann, flux: 0 }".to_owned(),
            ("poisson", _) => "{ type: dirichlet, u: 0 }".to_owned(),
            (_, Self::Symmetry) => "{ type: symmetry }".to_owned(),
            ("incompressible", Self::Outlet) => "{ type: outflow }".to_owned(),
            ("incompressible", Self::Inlet | Self::Far) => format!("{{ type: dirichlet, {velocity} }}"),
            ("incompressible" | "navier-stokes", Self::Wall | Self::Unknown) => {
                "{ type: no-slip-wall }".to_owned()
            }
            (_, Self::Outlet) => "{ type: pressure-outlet, p: p_ref }".to_owned(),
            (_, Self::Inlet | Self::Far) => format!("{{ type: far-field, {state} }}"),
            (_, Self::Wall | Self::Unknown) => "{ type: slip-wall }".to_owned(),
        }
    }
}

/// The text of the file `pipeline` for a model on the mesh in a file.
///
/// # Errors
/// Those of the reader of meshes.
pub(super) fn text(model: &str, mesh: &Path, pipeline: &Path, stem: &str) -> anyhow::Result<String> {
    let (read, _) = gmsh::read(mesh, &ReadOptions::default())?;
    // Paths are relative to the pipeline file.
    let folder = pipeline.parent().filter(|folder| !folder.as_os_str().is_empty());
    let path = match (folder, mesh.parent()) {
        (None, _) => mesh.to_owned(),
        (Some(folder), Some(own)) if folder == own => {
            mesh.file_name().map_or_else(PathBuf::new, PathBuf::from)
        }
        _ => std::path::absolute(mesh)?,
    };
    Ok(of_mesh(model, &read, &path.display().to_string(), stem))
}

fn of_mesh(model: &str, mesh: &Mesh, file: &str, stem: &str) -> String {
    let dim = mesh.dim;
    let velocity = ["u: u_ref", "v: v_ref", "w: w_ref"][..dim].join(", ");
    let state = format!("rho: rho_ref, {velocity}, p: p_ref");
    let gas = matches!(model, "euler" | "shock" | "navier-stokes");
    let law = if model == "shock" { "euler" } else { model };
    let [low, high] = mesh.bounding_box();
    let extent = (0..dim).map(|d| high[d] - low[d]).fold(0.0, f64::max);
    let ranges: Vec<String> = (0..dim)
        .map(|d| format!("{} from {} to {}", ["x", "y", "z"][d], rounded(low[d]), rounded(high[d])))
        .collect();
    let mut out = String::new();
    let mut line = |text: &str| {
        let _ = writeln!(out, "{text}");
    };
    line(&format!("# {law} on {file}: {}, {}.", counted_shapes(&mesh.set_sizes()), ranges.join(", ")));
    line("#");
    line(&format!("#   dgsuite check {stem}.yaml        checks the file and prints what would run"));
    line(&format!("#   dgsuite run {stem}.yaml          runs it; results go to out/{stem}"));
    line(&format!("#   dgsuite picture out/{stem}       draws a field"));
    line(&format!("title: {}", yaml_text(&format!("{law} on {file}"))));
    line("");
    line(&format!(
        "mesh: {{ file: {} }}        # `scale: 0.001` turns millimetres into metres",
        yaml_text(file)
    ));
    line("");
    match law {
        "poisson" => line("physics: { model: poisson, forcing: 1 }"),
        "euler" => line("physics: { model: euler, reference: { mach: 0.3 } }        # angle: 4*deg"),
        "navier-stokes" => {
            line("physics:");
            line("  model: navier-stokes");
            line("  # The length of the Reynolds number: that of the body, in the units of the mesh.");
            line("  reference: { mach: 0.2, reynolds: 100, length: 1 }        # angle: 4*deg");
        }
        _ => {
            line("physics:");
            line("  model: incompressible");
            line("  # The length of the Reynolds number: that of the body, in the units of the mesh.");
            line("  reference: { reynolds: 100, length: 1, velocity: 1 }");
        }
    }
    line("");
    match model {
        "shock" => line("space: { order: 2, shock: entropy-filter }"),
        _ => line("space: { order: 3 }"),
    }
    line("");
    if gas {
        line(&format!("initial: {{ {state} }}"));
        line("");
    } else if law == "incompressible" {
        line(&format!("initial: {{ {velocity} }}"));
        line("");
    }
    line("# The boundaries of the mesh. Each condition is a guess from the name: look at all of them.");
    line("# `dgsuite keys boundaries` explains the types.");
    line("boundaries:");
    let counts = mesh.boundary_counts();
    let mut walls: Vec<String> = Vec::new();
    for (boundary, count) in mesh.boundaries.iter().zip(counts).filter(|(_, count)| *count > 0) {
        let role = Role::of(&boundary.name);
        let name = yaml_text(&boundary.name);
        let condition = role.condition(law, &state, &velocity);
        let guess = if role == Role::Unknown { ": nothing is known about it" } else { "" };
        line(&format!("  {name}: {condition}        # {} faces{guess}", grouped(count)));
        if matches!(role, Role::Wall | Role::Unknown) {
            walls.push(name);
        }
    }
    line("");
    if law == "poisson" {
        return out;
    }
    line(&format!("time: {{ end: {} }}        # in units of length over speed", rounded(extent)));
    line("");
    line("output:");
    line(&format!("  fields: {{ every: {} }}        # for ParaView: fields.pvd", rounded(extent / 10.0)));
    line(&format!(
        "  checkpoint: {{ every: {} }}    # continue with --restart latest",
        rounded(extent / 4.0)
    ));
    line("");
    line("monitors:");
    line("  - residual: { every_steps: 50 }");
    if let Some(wall) = walls.first() {
        let of = if walls.len() == 1 { wall.clone() } else { format!("[{}]", walls.join(", ")) };
        line("  # The area and the length are those of the coefficients.");
        line(&format!(
            "  - forces: {{ boundary: {of}, every_steps: 20, reference: {{ area: 1, length: 1 }} }}"
        ));
    }
    if model == "shock" {
        line("  - limited: { every_steps: 10 }");
    }
    out
}

/// A text as a YAML scalar, within quotes where it needs them.
fn yaml_text(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./ ".contains(c);
    let word = text.starts_with(char::is_alphabetic) && text.chars().all(plain) && !text.ends_with(' ');
    let taken = ["true", "false", "null", "yes", "no", "on", "off"].contains(&text.to_lowercase().as_str());
    if word && !taken {
        text.to_owned()
    } else {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_roles() {
        for (name, role) in [
            ("Inlet", Role::Inlet),
            ("outlet_1", Role::Outlet),
            ("outer", Role::Far),
            ("farfield", Role::Far),
            ("freestream", Role::Far),
            ("airfoil", Role::Wall),
            ("WALL", Role::Wall),
            ("symmetry", Role::Symmetry),
            ("zmin", Role::Unknown),
        ] {
            assert_eq!(Role::of(name), role, "{name}");
        }
    }

    #[test]
    fn names_are_quoted_where_yaml_needs_it() {
        assert_eq!(yaml_text("far field"), "far field");
        for (text, quoted) in
            [("1", "\"1\""), ("no", "\"no\""), ("a: b", "\"a: b\""), ("say \"x\"", "\"say \\\"x\\\"\"")]
        {
            assert_eq!(yaml_text(text), quoted);
        }
    }
}
