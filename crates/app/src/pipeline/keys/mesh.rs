//! Keys of the section `mesh`.

use crate::file::keys::Absent::{Nothing, Required, Says, Value};
use crate::file::keys::Kind::{Flag, Formula, List, Number, Section, Text, Vector, Whole, Words};
use crate::file::keys::Range::{Above, Any};
use crate::file::keys::{Key, key};

pub(super) const KEYS: &[Key] = &[
    key("mesh", &[Section], Required, "Where the mesh comes from, and what is done to it before the run."),
    key(
        "mesh.file",
        &[Text],
        Says("none; one of `file` and `generate` is required"),
        "The path of a Gmsh file (MSH 2.2 or 4.1, text or binary). Its physical groups name the boundaries \
         and regions, and the pairs of its `$Periodic` are joined.",
    ),
    key(
        "mesh.generate",
        &[Section],
        Says("none; one of `file` and `generate` is required"),
        "A mesh without a file. The boundaries of a box are `xmin`, `xmax`, `ymin`, `ymax` and, in space, \
         `zmin`, `zmax`; those of an annulus `inner` and `outer`; those of a channel with a cylinder `inflow`, \
         `outflow`, `walls` and `cylinder`.",
    ),
    key(
        "mesh.generate.kind",
        &[Words(&["box", "annulus", "channel-cylinder"])],
        Value("box"),
        "What is meshed: a box; the plane between two circles; or a channel in the plane with a circular \
         cylinder, by default that of the DFG benchmark. Circles are meshed with curved elements.",
    ),
    key(
        "mesh.generate.shape",
        &[Words(&[
            "tri",
            "quad",
            "tet",
            "hex",
            "prism",
            "pyramid",
            "tri+quad",
            "prism+tet",
            "hex+prism",
            "mixed",
        ])],
        Required,
        "The shape of the elements: one shape, two shapes with half of the box each, or `mixed` for all \
         shapes of the dimension in slabs along x. `tri` or `quad` around circles.",
    ),
    key(
        "mesh.generate.cells",
        &[List("one whole number for each direction", &[Whole(1, 10_000_000)])],
        Required,
        "The number of cells in each direction, before they are cut into elements. Two numbers give a box \
         in the plane, three a box in space. Around circles: the number of layers of cells, and of cells around \
         the circle (around a cylinder in a channel a multiple of 4).",
    ),
    key(
        "mesh.generate.min",
        &[Vector],
        Says("0 in each direction"),
        "The lower corner of the box or channel.",
    ),
    key(
        "mesh.generate.max",
        &[Vector],
        Says("1 in each direction; `[2.2, 0.41]` for a channel"),
        "The upper corner of the box or channel.",
    ),
    key(
        "mesh.generate.diagonal",
        &[Words(&["anti", "main", "alternate"])],
        Value("anti"),
        "How squares are cut into triangles, for the shapes `tri` and `prism` of a box.",
    ),
    key(
        "mesh.generate.centre",
        &[Vector],
        Says("`[0, 0]`; `[0.2, 0.2]` in a channel"),
        "The centre of the annulus or cylinder.",
    ),
    key(
        "mesh.generate.inner",
        &[Number(Above(0.0))],
        Says("none; required for an annulus"),
        "The radius of the inner circle of an annulus.",
    ),
    key(
        "mesh.generate.outer",
        &[Number(Above(0.0))],
        Says("none; required for an annulus"),
        "The radius of the outer circle of an annulus.",
    ),
    key(
        "mesh.generate.radius",
        &[Number(Above(0.0))],
        Says("0.05"),
        "The radius of the cylinder in a channel.",
    ),
    key(
        "mesh.generate.growth",
        &[Number(Above(0.0))],
        Value("1"),
        "The thickness of each layer of cells around a circle divided by that of the layer inside it: above 1, \
         the thinnest layer is at the inner circle or at the cylinder.",
    ),
    key(
        "mesh.generate.order",
        &[Whole(1, 4)],
        Value("3"),
        "The polynomial order of the geometry around a circle.",
    ),
    key(
        "mesh.extrude",
        &[Section],
        Nothing,
        "Layers over a mesh of the plane: triangles become prisms and quadrilaterals hexahedra, curved as they \
         are, and boundaries keep their names. The plane is read or generated and scaled before; the mesh in \
         space is joined by `periodic`, refined and moved by `map` afterwards, so that `scale` does not change \
         `length` and each refinement doubles the layers.",
    ),
    key("mesh.extrude.length", &[Number(Above(0.0))], Required, "The extent of the mesh in z."),
    key("mesh.extrude.layers", &[Whole(1, 10_000_000)], Required, "The number of layers of elements in z."),
    key("mesh.extrude.start", &[Number(Any)], Value("0"), "The lower end of z."),
    key(
        "mesh.extrude.periodic",
        &[Flag],
        Value("true"),
        "Whether the ends `zmin` and `zmax` are joined, which one layer suffices for. Otherwise they are \
         boundaries that need a condition.",
    ),
    key(
        "mesh.periodic",
        &[List("pairs of boundary names", &[List("two names", &[Text])])],
        Says("the pairs of the file's `$Periodic`"),
        "Pairs of boundaries that are joined, such as `[[left, right]]`. A joined boundary has no condition.",
    ),
    key(
        "mesh.refine",
        &[Whole(0, 12)],
        Value("0"),
        "The number of uniform refinements. Curved boundaries stay curved.",
    ),
    key(
        "mesh.partition",
        &[Words(&["curve", "graph"])],
        Value("curve"),
        "How the mesh is cut into a part for each rank: `curve`, ranges of the Hilbert curve through the elements; \
         `graph`, by METIS, which cuts fewer faces and which the program has if it was built with `--features metis`.",
    ),
    key(
        "mesh.scale",
        &[Number(Above(0.0))],
        Value("1"),
        "A factor on all coordinates; of an extruded mesh, on those of the plane.",
    ),
    key(
        "mesh.map",
        &[Section],
        Nothing,
        "Moves all nodes by formulas, after the refinement and the scaling.",
    ),
    key(
        "mesh.map.order",
        &[Whole(1, usize::MAX)],
        Value("3"),
        "The polynomial order of the geometry to which elements are raised before their nodes are moved.",
    ),
    key("mesh.map.{x,y,z}", &[Formula("x, y, z")], Says("the coordinate itself"), "The new coordinate."),
];
