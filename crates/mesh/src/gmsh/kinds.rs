//! Gmsh's element types: shape, order, number of nodes, and whether they are supported.

use dgsuite_basis::{Shape, lattice::lattice_len};

/// The family of an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// A single node.
    Point,
    /// A complete Lagrange element; order 0 is the element with one node at its centre.
    Complete(Shape, usize),
    /// Any other type, with its shape if it is one of the seven.
    Other(Option<Shape>, Defect),
}

/// Why an element type is not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    /// Nodes on the edges (or faces) only.
    Serendipity,
    /// Polygons, bubbles, cut cells.
    Special,
}

/// One of Gmsh's element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) number: u32,
    pub(crate) name: &'static str,
    pub(crate) family: Family,
    pub(crate) n_nodes: usize,
}

impl Kind {
    /// Dimension; `None` for special types, which have no fixed one here.
    pub(crate) const fn dim(&self) -> Option<usize> {
        match self.family {
            Family::Point => Some(0),
            Family::Complete(shape, _) | Family::Other(Some(shape), _) => Some(shape.dim()),
            Family::Other(None, _) => None,
        }
    }

    /// Number of vertices, which are the first nodes; elements of order 0 have none.
    pub(crate) const fn n_vertices(&self) -> usize {
        match self.family {
            Family::Complete(_, 0) | Family::Other(None, _) => 0,
            Family::Complete(shape, _) | Family::Other(Some(shape), _) => shape.n_vertices(),
            Family::Point => 1,
        }
    }

    /// The remedy for a type that is not supported.
    pub(crate) const fn fix(&self) -> &'static str {
        match self.family {
            Family::Other(_, Defect::Serendipity) => {
                "set `Mesh.SecondOrderIncomplete = 0` for complete elements"
            }
            Family::Complete(_, 0) => "set `Mesh.ElementOrder = 1` or higher",
            _ => "mesh with triangles, quadrilaterals, tetrahedra, hexahedra, prisms and pyramids",
        }
    }
}

/// Type numbers of the complete elements from order 1 on.
const COMPLETE: [(Shape, &[u32]); 7] = [
    (Shape::Line, &[1, 8, 26, 27, 28, 62, 63, 64, 65, 66]),
    (Shape::Triangle, &[2, 9, 21, 23, 25, 42, 43, 44, 45, 46]),
    (Shape::Quadrilateral, &[3, 10, 36, 37, 38, 47, 48, 49, 50, 51]),
    (Shape::Tetrahedron, &[4, 11, 29, 30, 31, 71, 72, 73, 74, 75]),
    (Shape::Hexahedron, &[5, 12, 92, 93, 94, 95, 96, 97, 98]),
    (Shape::Prism, &[6, 13, 90, 91, 106, 107, 108, 109, 110]),
    (Shape::Pyramid, &[7, 14, 118, 119, 120, 121, 122, 123, 124]),
];

/// Type numbers of the elements with one node.
const CONSTANT: [(Shape, u32); 7] = [
    (Shape::Line, 84),
    (Shape::Triangle, 85),
    (Shape::Quadrilateral, 86),
    (Shape::Tetrahedron, 87),
    (Shape::Hexahedron, 88),
    (Shape::Prism, 89),
    (Shape::Pyramid, 132),
];

/// Serendipity elements: shape, first number, node counts of consecutive numbers.
const SERENDIPITY: [(Shape, u32, &[usize]); 16] = [
    (Shape::Quadrilateral, 16, &[8]),
    (Shape::Hexahedron, 17, &[20]),
    (Shape::Prism, 18, &[15]),
    (Shape::Pyramid, 19, &[13]),
    (Shape::Triangle, 20, &[9]),
    (Shape::Triangle, 22, &[12]),
    (Shape::Triangle, 24, &[15]),
    (Shape::Tetrahedron, 32, &[22, 28]),
    (Shape::Quadrilateral, 39, &[12, 16, 20]),
    (Shape::Triangle, 52, &[18, 21, 24, 27, 30]),
    (Shape::Quadrilateral, 57, &[24, 28, 32, 36, 40]),
    (Shape::Tetrahedron, 79, &[34, 40, 46, 52, 58]),
    (Shape::Hexahedron, 99, &[32, 44, 56, 68, 80, 92, 104]),
    (Shape::Prism, 111, &[24, 33, 42, 51, 60, 69, 78]),
    (Shape::Pyramid, 125, &[21, 29, 37, 45, 53, 61, 69]),
    (Shape::Tetrahedron, 137, &[16]),
];

/// Types without a fixed number of nodes, or outside nodal finite elements.
const SPECIAL: [(u32, &str); 13] = [
    (34, "polygon"),
    (35, "polyhedron"),
    (67, "line with a border"),
    (68, "triangle with a border"),
    (69, "polygon with a border"),
    (70, "line of a cut cell"),
    (133, "point of a cut cell"),
    (134, "line of a cut cell"),
    (135, "triangle of a cut cell"),
    (136, "tetrahedron of a cut cell"),
    (138, "triangle with a bubble"),
    (139, "tetrahedron with a bubble"),
    (140, "trihedron"),
];

const fn serendipity_name(shape: Shape) -> &'static str {
    match shape {
        Shape::Triangle => "serendipity triangle",
        Shape::Quadrilateral => "serendipity quadrilateral",
        Shape::Tetrahedron => "serendipity tetrahedron",
        Shape::Hexahedron => "serendipity hexahedron",
        Shape::Prism => "serendipity prism",
        Shape::Pyramid => "serendipity pyramid",
        Shape::Line => "serendipity line",
    }
}

/// The type with this number.
pub(crate) fn kind(number: u32) -> Option<Kind> {
    let make = |name, family, n_nodes| Some(Kind { number, name, family, n_nodes });
    if number == 15 {
        return make("point", Family::Point, 1);
    }
    for (shape, numbers) in COMPLETE {
        if let Some(i) = numbers.iter().position(|&n| n == number) {
            return make(shape.name(), Family::Complete(shape, i + 1), lattice_len(shape, i + 1));
        }
    }
    if let Some(&(shape, _)) = CONSTANT.iter().find(|c| c.1 == number) {
        return make(shape.name(), Family::Complete(shape, 0), 1);
    }
    for (shape, first, counts) in SERENDIPITY {
        if let Some(&n) = number.checked_sub(first).and_then(|i| counts.get(i as usize)) {
            return make(serendipity_name(shape), Family::Other(Some(shape), Defect::Serendipity), n);
        }
    }
    let &(_, name) = SPECIAL.iter().find(|s| s.0 == number)?;
    make(name, Family::Other(None, Defect::Special), 0)
}

/// The number of the complete element of a shape and order.
pub(crate) fn number_of(shape: Shape, order: usize) -> Option<u32> {
    let (_, numbers) = COMPLETE.iter().find(|(s, _)| *s == shape)?;
    numbers.get(order.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number and nodes of every type, from `gmsh.model.mesh.getElementProperties` of Gmsh 4.15 (for prisms
    /// from order 3 on, which it refuses: from the names in its `GmshDefines.h`).
    const NODES: &[(u32, usize)] = &[
        (1, 2),
        (2, 3),
        (3, 4),
        (4, 4),
        (5, 8),
        (6, 6),
        (7, 5),
        (8, 3),
        (9, 6),
        (10, 9),
        (11, 10),
        (12, 27),
        (13, 18),
        (14, 14),
        (15, 1),
        (16, 8),
        (17, 20),
        (18, 15),
        (19, 13),
        (20, 9),
        (21, 10),
        (22, 12),
        (23, 15),
        (24, 15),
        (25, 21),
        (26, 4),
        (27, 5),
        (28, 6),
        (29, 20),
        (30, 35),
        (31, 56),
        (32, 22),
        (33, 28),
        (36, 16),
        (37, 25),
        (38, 36),
        (39, 12),
        (40, 16),
        (41, 20),
        (42, 28),
        (43, 36),
        (44, 45),
        (45, 55),
        (46, 66),
        (47, 49),
        (48, 64),
        (49, 81),
        (50, 100),
        (51, 121),
        (52, 18),
        (53, 21),
        (54, 24),
        (55, 27),
        (56, 30),
        (57, 24),
        (58, 28),
        (59, 32),
        (60, 36),
        (61, 40),
        (62, 7),
        (63, 8),
        (64, 9),
        (65, 10),
        (66, 11),
        (71, 84),
        (72, 120),
        (73, 165),
        (74, 220),
        (75, 286),
        (79, 34),
        (80, 40),
        (81, 46),
        (82, 52),
        (83, 58),
        (84, 1),
        (85, 1),
        (86, 1),
        (87, 1),
        (88, 1),
        (89, 1),
        (90, 40),
        (91, 75),
        (92, 64),
        (93, 125),
        (94, 216),
        (95, 343),
        (96, 512),
        (97, 729),
        (98, 1000),
        (99, 32),
        (100, 44),
        (101, 56),
        (102, 68),
        (103, 80),
        (104, 92),
        (105, 104),
        (106, 126),
        (107, 196),
        (108, 288),
        (109, 405),
        (110, 550),
        (111, 24),
        (112, 33),
        (113, 42),
        (114, 51),
        (115, 60),
        (116, 69),
        (117, 78),
        (118, 30),
        (119, 55),
        (120, 91),
        (121, 140),
        (122, 204),
        (123, 285),
        (124, 385),
        (125, 21),
        (126, 29),
        (127, 37),
        (128, 45),
        (129, 53),
        (130, 61),
        (131, 69),
        (132, 1),
        (137, 16),
    ];

    #[test]
    fn every_type_has_the_nodes_that_gmsh_gives_it() {
        for &(number, n) in NODES {
            assert_eq!(kind(number).map(|k| k.n_nodes), Some(n), "type {number}");
        }
        for number in 0..200 {
            let known = NODES.iter().any(|&(n, _)| n == number) || SPECIAL.iter().any(|&(n, _)| n == number);
            assert_eq!(kind(number).is_some(), known, "type {number}");
        }
    }

    #[test]
    fn complete_elements_are_found_by_shape_and_order() {
        for shape in Shape::ALL {
            for order in 1..=9 {
                let number = number_of(shape, order).unwrap();
                assert_eq!(kind(number).unwrap().family, Family::Complete(shape, order));
            }
        }
    }
}
