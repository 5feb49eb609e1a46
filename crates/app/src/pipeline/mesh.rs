//! The section `mesh`: a file or a built-in generator, layers over it, periodic pairs, refinement and scale.

mod around;
mod extrude;

use std::path::{Path, PathBuf};

use dgsuite_basis::Shape;
use dgsuite_mesh::Cutting;
use dgsuite_mesh::generate::Diagonal;

pub use self::around::{Around, Domain};
pub use self::extrude::ExtrudeSpec;
use crate::file::expression::wrong_type;
use crate::file::key::{Key, Needed, Parts, Usual, key, keys};
use crate::file::keys::Kind::{List, Text, Whole};
use crate::file::keys::Range::{Above, Any};
use crate::file::problem::InputError;
use crate::file::section::{self, Section};
use crate::file::source::{Located, Place};
use crate::file::tree::Tree;

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

/// The words for the elements of a box; of two shapes the first is in the lower half, or at lower x.
const FILLINGS: [(&str, Filling); 10] = [
    ("tri", Filling::One(Shape::Triangle)),
    ("quad", Filling::One(Shape::Quadrilateral)),
    ("tet", Filling::One(Shape::Tetrahedron)),
    ("hex", Filling::One(Shape::Hexahedron)),
    ("prism", Filling::One(Shape::Prism)),
    ("pyramid", Filling::One(Shape::Pyramid)),
    ("tri+quad", Filling::Two([Shape::Triangle, Shape::Quadrilateral])),
    ("prism+tet", Filling::Two([Shape::Prism, Shape::Tetrahedron])),
    ("hex+prism", Filling::Two([Shape::Hexahedron, Shape::Prism])),
    ("mixed", Filling::All),
];

/// The kinds of generated meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Box,
    Annulus,
    ChannelCylinder,
}

/// The largest number of cells in a direction.
const MAX_CELLS: usize = 10_000_000;

keys! { KEYS:
    MESH: Needed<Parts> = key("mesh")
        .section()
        .text("Where the mesh comes from, and what is done to it before the run.")
        .required("mesh: { file: MESH.msh }");
    FILE: Key<String> = key("mesh.file")
        .any()
        .text("The path of a Gmsh file (MSH 2.2 or 4.1, text or binary). Its physical groups name the boundaries \
               and regions, and the pairs of its `$Periodic` are joined.")
        .says("none; one of `file` and `generate` is required");
    GENERATE: Key<Parts> = key("mesh.generate")
        .section()
        .text("A mesh without a file. The boundaries of a box are `xmin`, `xmax`, `ymin`, `ymax` and, in space, \
               `zmin`, `zmax`; those of an annulus `inner` and `outer`; those of a channel with a cylinder \
               `inflow`, `outflow`, `walls` and `cylinder`.")
        .says("none; one of `file` and `generate` is required");
    KIND: Usual<Kind> = key("mesh.generate.kind")
        .words(&[("box", Kind::Box), ("annulus", Kind::Annulus), ("channel-cylinder", Kind::ChannelCylinder)])
        .text("What is meshed: a box; the plane between two circles; or a channel in the plane with a circular \
               cylinder, by default that of the DFG benchmark. Circles are meshed with curved elements.")
        .default(Kind::Box);
    SHAPE: Needed<Filling> = key("mesh.generate.shape")
        .words(&FILLINGS)
        .text("The shape of the elements: one shape, two shapes with half of the box each, or `mixed` for all \
               shapes of the dimension in slabs along x. `tri` or `quad` around circles.")
        .required("");
    CELLS: Needed<Vec<f64>> = key("mesh.generate.cells")
        .list(List("one whole number for each direction", &[Whole(1, MAX_CELLS)]))
        .text("The number of cells in each direction, before they are cut into elements. Two numbers give a box \
               in the plane, three a box in space. Around circles: the number of layers of cells, and of cells \
               around the circle (around a cylinder in a channel a multiple of 4).")
        .required("cells in each direction; around a circle its layers, and the cells around it");
    MIN: Key<Vec<f64>> = key("mesh.generate.min")
        .vector()
        .text("The lower corner of the box or channel.")
        .says("0 in each direction");
    MAX: Key<Vec<f64>> = key("mesh.generate.max")
        .vector()
        .text("The upper corner of the box or channel.")
        .says("1 in each direction; `[2.2, 0.41]` for a channel");
    DIAGONAL: Usual<Diagonal> = key("mesh.generate.diagonal")
        .words(&[("anti", Diagonal::Anti), ("main", Diagonal::Main), ("alternate", Diagonal::Alternate)])
        .text("How squares are cut into triangles, for the shapes `tri` and `prism` of a box.")
        .default(Diagonal::Anti);
    CENTRE: Key<Vec<f64>> = key("mesh.generate.centre")
        .vector()
        .text("The centre of the annulus or cylinder.")
        .says("`[0, 0]`; `[0.2, 0.2]` in a channel");
    INNER: Key<f64> = key("mesh.generate.inner")
        .number(Above(0.0))
        .text("The radius of the inner circle of an annulus.")
        .says("none; required for an annulus");
    OUTER: Key<f64> = key("mesh.generate.outer")
        .number(Above(0.0))
        .text("The radius of the outer circle of an annulus.")
        .says("none; required for an annulus");
    RADIUS: Key<f64> = key("mesh.generate.radius")
        .number(Above(0.0))
        .text("The radius of the cylinder in a channel.")
        .says("0.05");
    GROWTH: Usual<f64> = key("mesh.generate.growth")
        .number(Above(0.0))
        .text("The thickness of each layer of cells around a circle divided by that of the layer inside it: above 1, \
               the thinnest layer is at the inner circle or at the cylinder.")
        .default(1.0);
    CURVE: Usual<usize> = key("mesh.generate.order")
        .whole(1, 4)
        .text("The polynomial order of the geometry around a circle.")
        .default(3);
    EXTRUDE: Key<Parts> = key("mesh.extrude")
        .section()
        .text("Layers over a mesh of the plane: triangles become prisms and quadrilaterals hexahedra, curved as they \
               are, and boundaries keep their names. The plane is read or generated and scaled before; the mesh in \
               space is joined by `periodic`, refined and moved by `map` afterwards, so that `scale` does not change \
               `length` and each refinement doubles the layers.");
    LENGTH: Needed<f64> = key("mesh.extrude.length")
        .number(Above(0.0))
        .text("The extent of the mesh in z.")
        .required("the extent in z");
    LAYERS: Needed<usize> = key("mesh.extrude.layers")
        .whole(1, MAX_CELLS)
        .text("The number of layers of elements in z.")
        .required("the number of layers of elements in z");
    START: Usual<f64> = key("mesh.extrude.start").number(Any).text("The lower end of z.").default(0.0);
    JOINED: Usual<bool> = key("mesh.extrude.periodic")
        .flag()
        .text("Whether the ends `zmin` and `zmax` are joined, which one layer suffices for. Otherwise they are \
               boundaries that need a condition.")
        .default(true);
    PERIODIC: Key<Parts> = key("mesh.periodic")
        .parts(List("pairs of boundary names", &[List("two names", &[Text])]))
        .text("Pairs of boundaries that are joined, such as `[[left, right]]`. A joined boundary has no condition.")
        .says("the pairs of the file's `$Periodic`");
    REFINE: Usual<usize> = key("mesh.refine")
        .whole(0, 12)
        .text("The number of uniform refinements. Curved boundaries stay curved.")
        .default(0);
    PARTITION: Usual<Cutting> = key("mesh.partition")
        .words(&[("curve", Cutting::Curve), ("graph", Cutting::Graph)])
        .text("How the mesh is cut into a part for each rank: `curve`, ranges of the Hilbert curve through the \
               elements; `graph`, by METIS, which cuts fewer faces and which the program has if it was built with \
               `--features metis`.")
        .default(Cutting::Curve);
    SCALE: Usual<f64> = key("mesh.scale")
        .number(Above(0.0))
        .text("A factor on all coordinates; of an extruded mesh, on those of the plane.")
        .default(1.0);
    MAP: Key<Parts> = key("mesh.map")
        .section()
        .text("Moves all nodes by formulas, after the refinement and the scaling.");
    MAP_ORDER: Usual<usize> = key("mesh.map.order")
        .whole(1, usize::MAX)
        .text("The polynomial order of the geometry to which elements are raised before their nodes are moved.")
        .default(3);
    COORDINATE: Key<String> = key("mesh.map.{x,y,z}")
        .formula("x, y, z")
        .text("The new coordinate.")
        .says("the coordinate itself");
}

impl MeshSpec {
    /// Reads the section.
    ///
    /// # Errors
    /// No origin or two of them, or values of the wrong type.
    pub fn read(top: &Section<'_>) -> Result<Self, InputError> {
        let section = MESH.open(top)?;
        section.exclusive("file", "generate")?;
        let source = match (FILE.read(&section)?, GENERATE.open(&section)?) {
            (Some(file), _) => MeshSource::File(file.with(PathBuf::from(&file.value))),
            (None, Some(generate)) => generated(&generate)?,
            (None, None) => return Err(section.missing("file", "the path of a Gmsh mesh, or `generate`")),
        };
        Ok(Self {
            source,
            refine: REFINE.read(&section)?,
            extrude: ExtrudeSpec::read(&section)?,
            periodic: periodic_pairs(&section)?,
            cutting: PARTITION.read(&section)?,
            scale: SCALE.read(&section)?,
            map: MapSpec::read(&section)?,
            place: section.place().clone(),
        })
    }

    /// Writes out the defaults, and the path of a file relative to `base`.
    pub fn write(&self, tree: &mut Tree, base: &Path) {
        if let MeshSource::File(file) = &self.source {
            tree.file("mesh.file", &base.join(&file.value));
        }
        if let Some(extrude) = &self.extrude {
            START.write(tree, &extrude.start);
            JOINED.write(tree, &extrude.periodic);
        }
        PARTITION.write(tree, &self.cutting);
        REFINE.write(tree, &self.refine);
        SCALE.write(tree, &self.scale);
    }
}

impl MapSpec {
    fn read(mesh: &Section<'_>) -> Result<Option<Self>, InputError> {
        let Some(section) = MAP.open(mesh)? else { return Ok(None) };
        let formula = |axis: &str| COORDINATE.read_as(&section, axis);
        Ok(Some(Self {
            order: MAP_ORDER.read(&section)?,
            formulas: [formula("x")?, formula("y")?, formula("z")?],
            place: section.place().clone(),
        }))
    }
}

fn periodic_pairs(section: &Section<'_>) -> Result<Vec<PeriodicPair>, InputError> {
    let Some(items) = PERIODIC.items(section)? else { return Ok(Vec::new()) };
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
fn generated(section: &Section<'_>) -> Result<MeshSource, InputError> {
    Ok(match KIND.read(section)? {
        Kind::Box => MeshSource::Generate(Generator::read(section)?),
        kind => MeshSource::Around(Around::read(section, kind)?),
    })
}

impl Generator {
    fn read(section: &Section<'_>) -> Result<Self, InputError> {
        for key in ["centre", "inner", "outer", "radius", "growth", "order"] {
            if section.has(key) {
                let belongs = "the kinds annulus and channel-cylinder";
                return Err(section.misplaced(key, "the kind box", belongs));
            }
        }
        let shape = SHAPE.read(section)?.value;
        let cells = CELLS.read(section)?;
        // A mixture has the dimension of its cells.
        let dim = match shape {
            Filling::One(shape) | Filling::Two([shape, _]) => shape.dim(),
            Filling::All => cells.value.len().clamp(2, 3),
        };
        let corner = |key: &Key<Vec<f64>>, default: f64| -> Result<Vec<f64>, InputError> {
            match key.read(section)? {
                None => Ok(vec![default; dim]),
                Some(v) if v.value.len() == dim => Ok(v.value),
                Some(v) => {
                    Err(InputError::range(&v.with(shown(&v.value)), format!("a list of {dim} numbers")))
                }
            }
        };
        let (min, max) = (corner(&MIN, 0.0)?, corner(&MAX, 1.0)?);
        if let Some(d) = (0..dim).find(|&d| max[d] <= min[d]) {
            let place = section.entry("max").map_or(section.place(), |e| &e.place);
            let what = Located { value: shown(&max), key: section.key("max"), place: place.clone() };
            return Err(InputError::range(&what, format!("greater than {} in direction {d}", min[d])));
        }
        let cells = whole_numbers(&cells, dim)?;
        let diagonal = DIAGONAL.read(section)?;
        if DIAGONAL.is_given(section) && !matches!(shape, Filling::One(Shape::Triangle | Shape::Prism)) {
            return Err(section.misplaced("diagonal", "this shape", "the shapes tri and prism"));
        }
        Ok(Self { shape, dim, min, max, cells, diagonal, place: section.place().clone() })
    }
}

/// Numbers of cells, `n` of them.
fn whole_numbers(given: &Located<Vec<f64>>, n: usize) -> Result<Vec<usize>, InputError> {
    let whole = |x: &f64| x.fract() == 0.0 && (1.0..=MAX_CELLS as f64).contains(x);
    if given.value.len() == n && given.value.iter().all(whole) {
        return Ok(given.value.iter().map(|&x| x as usize).collect());
    }
    let expected = format!("a list of {n} whole numbers from 1 to {MAX_CELLS}");
    Err(InputError::range(&given.with(shown(&given.value)), expected))
}

fn shown(values: &[f64]) -> String {
    format!("[{}]", values.iter().map(f64::to_string).collect::<Vec<_>>().join(", "))
}
