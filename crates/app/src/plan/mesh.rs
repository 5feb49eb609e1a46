//! The mesh of a plan: read or generated, extruded, made periodic, refined, scaled and renumbered.

mod distributed;

use std::path::Path;

use dgsuite_basis::Shape;
use dgsuite_mesh::gmsh::{self, ReadOptions, Warning};
use dgsuite_mesh::{ENDS, Mesh, MeshError, SpaceFillingCurve, extruded_shape, generate};

use crate::file::expression::Constants;
use crate::file::number::short;
use crate::file::problem::{InputError, Problem};
use crate::file::source::Place;
use crate::pipeline::mesh::{
    Around, Domain, ExtrudeSpec, Filling, Generator, MapSpec, MeshSource, MeshSpec, PeriodicPair,
};

use super::memory::{self, Load};

/// Largest number of elements of a refined mesh.
const MAX_ELEMENTS: f64 = 1e9;

/// Returns the mesh of the run, and warnings about its file.
///
/// # Errors
/// A file that cannot be read or used, faces that belong to two boundaries, unknown or unmatched periodic
/// boundaries, elements that need more memory than is available.
pub fn build(
    spec: &MeshSpec,
    constants: &Constants,
    base: &Path,
    load: &Load,
) -> Result<(Mesh, Vec<String>), InputError> {
    let (mut mesh, warnings) = prepare(spec, constants, base, load)?;
    // Neighbours are then close to each other in memory.
    mesh.renumber(SpaceFillingCurve::Hilbert);
    Ok((mesh, warnings))
}

/// Returns the mesh alone, for a file: with its elements in the order in which they were generated.
///
/// # Errors
/// As [`build`].
pub fn alone(spec: &MeshSpec, constants: &Constants) -> Result<Mesh, InputError> {
    let geometry = spec.map.as_ref().map_or(1, |map| map.order);
    let load = Load::of_mesh(geometry);
    prepare(spec, constants, Path::new(""), &load).map(|(mesh, _)| mesh)
}

/// Does the same as [`build`] without renumbering the elements.
fn prepare(
    spec: &MeshSpec,
    constants: &Constants,
    base: &Path,
    load: &Load,
) -> Result<(Mesh, Vec<String>), InputError> {
    let growth = |dim: usize| f64::powi(2.0, (dim * spec.refine) as i32);
    let final_elements = |shape: Shape, n: f64| match (&spec.extrude, extruded_shape(shape)) {
        (Some(extrude), Some(solid)) => (solid, n * extrude.layers as f64 * growth(3)),
        _ => (shape, n * growth(shape.dim())),
    };
    // Where memory is asked for: the layers multiply the elements of the source.
    let asked = |source: &Place| spec.extrude.as_ref().map_or(source, |extrude| &extrude.place).clone();
    let mut warnings = Vec::new();
    let mut mesh = match &spec.source {
        MeshSource::File(file) => {
            let path = base.join(&file.value);
            let (mesh, report) = match gmsh::read(&path, &ReadOptions::default()) {
                Ok(read) => read,
                Err(error) => return Err(InputError::at(&file.place, Problem::Mesh { path, error })),
            };
            for warning in report.warnings {
                if let Warning::SeveralBoundaries { first, second, count } = warning {
                    let problem = Problem::SharedFaces { path, count, first, second };
                    return Err(InputError::at(&file.place, problem));
                }
                warnings.push(format!("{}: {warning}", file.value.display()));
            }
            mesh
        }
        MeshSource::Generate(generator) => {
            let (shape, cells) = memory::of_box(generator);
            load.fits(&[final_elements(shape, cells)], &asked(&generator.place))?;
            generated(generator)?
        }
        MeshSource::Around(Around { domain, place }) => {
            let (shape, [layers, around]) = domain.cells();
            load.fits(&[final_elements(shape, (layers * around) as f64)], &asked(place))?;
            match domain {
                Domain::Annulus(ring) => ring.build(),
                Domain::ChannelCylinder(channel) => channel.build(),
            }
            .map_err(|error| InputError::at(place, Problem::Generate { error }))?
        }
    };
    let unfit = |error| InputError::at(&spec.place, Problem::Prepare { error });
    // Checked first, because memory might run out during the extrusion and the refinement.
    let sets: Vec<_> = mesh.sets.iter().map(|set| final_elements(set.shape, set.len() as f64)).collect();
    let elements = sets.iter().map(|(_, n)| n).sum::<f64>();
    if elements > MAX_ELEMENTS {
        let (key, value, place) = match &spec.extrude {
            Some(extrude) if spec.refine == 0 => ("mesh.extrude.layers", extrude.layers, &extrude.place),
            _ => ("mesh.refine", spec.refine, &spec.place),
        };
        let problem = Problem::OutOfRange {
            key: key.into(),
            value: format!("{value}, which gives {elements:.1e} elements"),
            expected: format!("such that there are at most {MAX_ELEMENTS:.0e} elements"),
        };
        return Err(InputError::at(place, problem));
    }
    let mut load = *load;
    if spec.extrude.is_some() {
        // Curved elements in space have far more nodes than those of the plane.
        load.geometry = load.geometry.max(mesh.max_order());
    }
    load.fits(&sets, &asked(&spec.place))?;
    if let Some(extrude) = &spec.extrude {
        mesh.scale(spec.scale).map_err(unfit)?;
        mesh = extruded(&mesh, extrude)?;
    }
    for pair in &spec.periodic {
        join(&mut mesh, pair)?;
    }
    for _ in 0..spec.refine {
        mesh.refine_uniform().map_err(unfit)?;
    }
    if spec.scale != 1.0 && spec.extrude.is_none() {
        mesh.scale(spec.scale).map_err(unfit)?;
    }
    if let Some(map) = &spec.map {
        bend(&mut mesh, map, constants)?;
    }
    Ok((mesh, warnings))
}

/// The mesh in space over a mesh of the plane.
fn extruded(plane: &Mesh, spec: &ExtrudeSpec) -> Result<Mesh, InputError> {
    let unfit = |error| InputError::at(&spec.place, Problem::Prepare { error });
    let mut mesh = plane.extrude([spec.start, spec.start + spec.length], spec.layers).map_err(unfit)?;
    if spec.periodic {
        let [lower, upper] = ENDS;
        mesh.make_periodic(lower, upper).map_err(unfit)?;
    }
    Ok(mesh)
}

/// Moves all nodes by formulas, after raising the order of the geometry.
fn bend(mesh: &mut Mesh, map: &MapSpec, constants: &Constants) -> Result<(), InputError> {
    const AXES: [&str; 3] = ["x", "y", "z"];
    let unfit = |error| InputError::at(&map.place, Problem::Prepare { error });
    let mut formulas = Vec::new();
    for (axis, text) in AXES.iter().zip(&map.formulas) {
        formulas.push(match text {
            Some(text) => Some(constants.located_formula(text, &AXES)?),
            None => None,
        });
        if *axis == "z" && mesh.dim == 2 && text.is_some() {
            let problem = Problem::Misplaced {
                key: "mesh.map.z".into(),
                owner: "a mesh of the plane".into(),
                belongs: "three dimensions".into(),
            };
            return Err(InputError::at(&map.place, problem));
        }
    }
    mesh.elevate(map.order).map_err(unfit)?;
    mesh.map(|x| std::array::from_fn(|d| formulas[d].as_ref().map_or(x[d], |f| f.eval(&x)))).map_err(unfit)
}

fn generated(generator: &Generator) -> Result<Mesh, InputError> {
    let (mut min, mut max, mut cells) = ([0.0; 3], [1.0; 3], [1; 3]);
    for d in 0..generator.dim {
        (min[d], max[d], cells[d]) = (generator.min[d], generator.max[d], generator.cells[d]);
    }
    match generator.shape {
        Filling::One(shape) => generate::Box { shape, min, max, cells, diagonal: generator.diagonal }.build(),
        Filling::Two(shapes) => {
            let lower = cells[generate::Stack::axis(shapes)].div_ceil(2);
            generate::Stack { shapes, min, max, cells, lower }.build()
        }
        Filling::All => generate::MixedBox { dim: generator.dim, min, max, cells }.build(),
    }
    .map_err(|error| InputError::at(&generator.place, Problem::Generate { error }))
}

fn join(mesh: &mut Mesh, (first, second): &PeriodicPair) -> Result<(), InputError> {
    mesh.make_periodic(&first.value, &second.value).map_err(|error| match error {
        MeshError::UnknownBoundary { name, known, .. } => {
            let place = if name == first.value { &first.place } else { &second.place };
            InputError::at(place, Problem::UnknownBoundary { name, known })
        }
        error => {
            let (first_name, second_name) = (first.value.clone(), second.value.clone());
            InputError::at(&first.place, Problem::Periodic { first: first_name, second: second_name, error })
        }
    })
}

/// Returns the period of the mesh in each direction: the distance of two opposite sides that are joined by a
/// translation.
pub fn periods(mesh: &Mesh) -> [f64; 3] {
    let mut periods = [0.0; 3];
    for link in mesh.links.iter().filter(|link| link.is_translation()) {
        let length = link.offset.iter().map(|x| x * x).sum::<f64>().sqrt();
        for d in 0..3 {
            // Only a translation along one axis is a period in that direction.
            if (link.offset[d].abs() - length).abs() <= 1e-9 * length {
                periods[d] = length;
            }
        }
    }
    periods
}

/// Returns whether straight faces of a file have been split, so that the new vertices lie on the old faces.
pub fn splits_faces(spec: &MeshSpec) -> bool {
    spec.refine > 0 && matches!(spec.source, MeshSource::File(_)) && spec.map.is_none()
}

/// Describes in short where the mesh comes from.
pub fn origin(spec: &MeshSpec) -> String {
    let source = match &spec.source {
        MeshSource::File(file) => file.value.display().to_string(),
        MeshSource::Generate(g) => {
            let cells = g.cells.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
            format!("generated box of {cells} cells")
        }
        MeshSource::Around(Around { domain, .. }) => {
            let (_, [layers, around]) = domain.cells();
            format!("generated {}, {layers} layers of {around} cells around", domain.words())
        }
    };
    let source = match &spec.extrude {
        None => source,
        Some(ExtrudeSpec { start, length, layers, .. }) => {
            let layers = if *layers == 1 { "1 layer".to_owned() } else { format!("{layers} layers") };
            format!(
                "{source}, extruded from z = {} to {} over {layers}",
                short(*start),
                short(start + length)
            )
        }
    };
    match spec.refine {
        0 => source,
        n => format!("{source}, refined {n} times"),
    }
}
