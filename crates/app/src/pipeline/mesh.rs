//! The section `mesh`: a file or a built-in generator, layers over it, periodic pairs, refinement and scale.

mod around;
mod extrude;

use std::path::PathBuf;

use dgsuite_basis::Shape;
use dgsuite_mesh::Cutting;
use dgsuite_mesh::generate::Diagonal;

pub use self::around::{Around, Domain};
pub use self::extrude::ExtrudeSpec;
use super::keys::Scope;
use crate::file::expression::wrong_type;
use crate::file::problem::InputError;
use crate::file::section::{self, Section};
use crate::file::source::{Located, Place};

/// The origin of the mesh, and its changes before the run.
#[derive(Clone, Debug)]
pub struct MeshSpec {
    /// File or generator.
    pub source: MeshSource,
    /// Layers over the mesh of the plane, after it was scaled.
    pub extrude: Option<ExtrudeSpec>,
    /// Pairs of boundary names that are joined.
    pub periodic: Vec<PeriodicPair>,
    /// Uniform refinements.
    pub refine: usize,
    /// How the mesh is cut into a part for each rank.
    pub cutting: Cutting,
    /// Factor on all coordinates.
    pub scale: f64,
    /// A map of the nodes of the refined and scaled mesh.
    pub map: Option<MapSpec>,
    /// Where the section starts.
    pub place: Place,
}

/// A map of the mesh's nodes, by formulas in `x, y, z`; a coordinate without a formula does not change.
#[derive(Clone, Debug)]
pub struct MapSpec {
    /// The order of the geometry to which elements are raised first.
    pub order: usize,
    /// New coordinates.
    pub formulas: [Option<Located<String>>; 3],
    /// Where the map was written.
    pub place: Place,
}

/// Two boundaries that are joined.
pub type PeriodicPair = (Located<String>, Located<String>);

/// The origin of a mesh.
#[derive(Clone, Debug)]
pub enum MeshSource {
    /// A Gmsh file; relative to the pipeline file.
    File(Located<PathBuf>),
    /// A box.
    Generate(Generator),
    /// A domain around a circle.
    Around(Around),
}

/// The elements that the cells of a box are divided into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filling {
    /// Elements of one shape.
    One(Shape),
    /// One half of the box of one shape, the other half of another.
    Two([Shape; 2]),
    /// All shapes of the dimension, in slabs.
    All,
}

/// A box of one element shape, of two, or of all of its dimension.
#[derive(Clone, Debug)]
pub struct Generator {
    /// The elements' shapes.
    pub shape: Filling,
    /// 2 or 3.
    pub dim: usize,
    /// Lower corner, one number for each direction.
    pub min: Vec<f64>,
    /// Upper corner.
    pub max: Vec<f64>,
    /// Cells in each direction (before they are cut into simplices).
    pub cells: Vec<usize>,
    /// How squares are cut into triangles, for those and for prisms.
    pub diagonal: Diagonal,
    /// Where the generator was written.
    pub place: Place,
}

/// The words for shapes.
pub const SHAPES: [(&str, Shape); 6] = [
    ("tri", Shape::Triangle),
    ("quad", Shape::Quadrilateral),
    ("tet", Shape::Tetrahedron),
    ("hex", Shape::Hexahedron),
    ("prism", Shape::Prism),
    ("pyramid", Shape::Pyramid),
];

/// The words for two shapes; the first is in the lower half, or at lower x.
const PAIRS: [(&str, [Shape; 2]); 3] = [
    ("tri+quad", [Shape::Triangle, Shape::Quadrilateral]),
    ("prism+tet", [Shape::Prism, Shape::Tetrahedron]),
    ("hex+prism", [Shape::Hexahedron, Shape::Prism]),
];

const DIAGONALS: [(&str, Diagonal); 3] =
    [("anti", Diagonal::Anti), ("main", Diagonal::Main), ("alternate", Diagonal::Alternate)];

/// The kinds of generated meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Box,
    Annulus,
    ChannelCylinder,
}

const KINDS: [(&str, Kind); 3] =
    [("box", Kind::Box), ("annulus", Kind::Annulus), ("channel-cylinder", Kind::ChannelCylinder)];

const CUTTINGS: [(&str, Cutting); 2] = [("curve", Cutting::Curve), ("graph", Cutting::Graph)];

/// The largest number of cells in a direction.
const MAX_CELLS: f64 = 1e7;

/// The largest number of uniform refinements; in three dimensions each multiplies the number of elements
/// by 8.
const MAX_REFINE: usize = 12;

impl MeshSpec {
    /// Reads the section.
    ///
    /// # Errors
    /// No origin or two of them, or values of the wrong type.
    pub fn read(top: &Section<'_>) -> Result<Self, InputError> {
        let section = top.section("mesh")?.ok_or_else(|| top.missing("mesh", "mesh: { file: MESH.msh }"))?;
        section.exclusive("file", "generate")?;
        let source = match (section.text("file")?, section.node("generate")) {
            (Some(file), _) => MeshSource::File(file.with(PathBuf::from(&file.value))),
            (None, Some(_)) => generated(&section)?,
            (None, None) => return Err(section.missing("file", "the path of a Gmsh mesh, or `generate`")),
        };
        let refine = section.count("refine", 0)?;
        if let Some(refine) = refine.as_ref().filter(|r| r.value > MAX_REFINE) {
            return Err(InputError::range(refine, format!("from 0 to {MAX_REFINE}")));
        }
        Ok(Self {
            source,
            extrude: ExtrudeSpec::read(&section)?,
            periodic: periodic_pairs(&section)?,
            refine: refine.map_or(0, |r| r.value),
            cutting: section.choice("partition", &CUTTINGS)?.map_or(Cutting::Curve, |c| c.value),
            scale: section.positive("scale")?.map_or(1.0, |s| s.value),
            map: MapSpec::read(&section)?,
            place: section.place().clone(),
        })
    }
}

/// The default order of the geometry of a mapped mesh.
const DEFAULT_MAP_ORDER: usize = 3;

impl MapSpec {
    fn read(mesh: &Section<'_>) -> Result<Option<Self>, InputError> {
        let Some(section) = mesh.section("map")? else { return Ok(None) };
        let order = section.count("order", 1)?;
        let formula = |axis: &str| {
            section.node(axis).map(|node| section.constants().text(node, &section.key(axis))).transpose()
        };
        Ok(Some(Self {
            order: order.map_or(DEFAULT_MAP_ORDER, |n| n.value),
            formulas: [formula("x")?, formula("y")?, formula("z")?],
            place: section.place().clone(),
        }))
    }
}

fn periodic_pairs(section: &Section<'_>) -> Result<Vec<PeriodicPair>, InputError> {
    let Some(items) = section.list("periodic")? else { return Ok(Vec::new()) };
    let expected = "a pair of boundary names such as [left, right]";
    items
        .iter()
        .enumerate()
        .map(|(i, item)| {
            let key = format!("{}.{i}", section.key("periodic"));
            let pair = section::list(item, &key).map_err(|_| wrong_type(item, &key, expected))?;
            match pair {
                [a, b] => Ok((section::text(a, &key, expected)?, section::text(b, &key, expected)?)),
                _ => Err(wrong_type(item, &key, expected)),
            }
        })
        .collect()
}

/// Reads the section `generate` of any kind.
fn generated(mesh: &Section<'_>) -> Result<MeshSource, InputError> {
    let section = mesh.section("generate")?.ok_or_else(|| mesh.missing("generate", "a box"))?;
    let kind = section.choice("kind", &KINDS)?.map_or(Kind::Box, |kind| kind.value);
    Ok(match kind {
        Kind::Box => MeshSource::Generate(Generator::read(&section)?),
        kind => MeshSource::Around(Around::read(&section, kind)?),
    })
}

/// Reads the shape.
fn filling(section: &Section<'_>) -> Result<Located<Filling>, InputError> {
    let words: Vec<_> = (SHAPES.iter().map(|&(word, shape)| (word, Filling::One(shape))))
        .chain(PAIRS.iter().map(|&(word, pair)| (word, Filling::Two(pair))))
        .chain([("mixed", Filling::All)])
        .collect();
    section
        .choice("shape", &words)?
        .ok_or_else(|| section.missing("shape", &section.words("shape", Scope::default()).join(", ")))
}

impl Generator {
    fn read(section: &Section<'_>) -> Result<Self, InputError> {
        for key in ["centre", "inner", "outer", "radius", "growth", "order"] {
            if section.has(key) {
                let belongs = "the kinds annulus and channel-cylinder";
                return Err(section.misplaced(key, "the kind box", belongs));
            }
        }
        let shape = filling(section)?.value;
        let cells =
            section.vector("cells")?.ok_or_else(|| section.missing("cells", "cells in each direction"))?;
        // A mixture has the dimension of its cells.
        let dim = match shape {
            Filling::One(shape) | Filling::Two([shape, _]) => shape.dim(),
            Filling::All => cells.value.len().clamp(2, 3),
        };
        let corner = |key: &str, default: f64| -> Result<Vec<f64>, InputError> {
            match section.vector(key)? {
                None => Ok(vec![default; dim]),
                Some(v) if v.value.len() == dim => Ok(v.value),
                Some(v) => {
                    Err(InputError::range(&v.with(shown(&v.value)), format!("a list of {dim} numbers")))
                }
            }
        };
        let (min, max) = (corner("min", 0.0)?, corner("max", 1.0)?);
        if let Some(d) = (0..dim).find(|&d| max[d] <= min[d]) {
            let place = section.entry("max").map_or(section.place(), |e| &e.place);
            let what = Located { value: shown(&max), key: section.key("max"), place: place.clone() };
            return Err(InputError::range(&what, format!("greater than {} in direction {d}", min[d])));
        }
        let cells = whole_numbers(&cells, dim)?;
        let diagonal = section.choice("diagonal", &DIAGONALS)?;
        if diagonal.is_some() && !matches!(shape, Filling::One(Shape::Triangle | Shape::Prism)) {
            return Err(section.misplaced("diagonal", "this shape", "the shapes tri and prism"));
        }
        Ok(Self {
            shape,
            dim,
            min,
            max,
            cells,
            diagonal: diagonal.map_or(Diagonal::Anti, |d| d.value),
            place: section.place().clone(),
        })
    }
}

/// Numbers of cells, `n` of them.
fn whole_numbers(given: &Located<Vec<f64>>, n: usize) -> Result<Vec<usize>, InputError> {
    let whole = |x: &f64| x.fract() == 0.0 && (1.0..=MAX_CELLS).contains(x);
    if given.value.len() == n && given.value.iter().all(whole) {
        return Ok(given.value.iter().map(|&x| x as usize).collect());
    }
    let expected = format!("a list of {n} whole numbers from 1 to {MAX_CELLS}");
    Err(InputError::range(&given.with(shown(&given.value)), expected))
}

fn shown(values: &[f64]) -> String {
    format!("[{}]", values.iter().map(f64::to_string).collect::<Vec<_>>().join(", "))
}
