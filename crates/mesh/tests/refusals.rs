//! Each invalid mesh has its own error, with the numbers that show it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/checks.rs"]
mod checks;

use checks::{check, faces_on, volume};
use dgsuite_mesh::{
    Location, Mesh, MeshError, Shape, UNNAMED,
    generate::Box,
    gmsh::{self, Format, ReadOptions, Report, Version, Warning},
};

fn read(text: &str) -> Result<(Mesh, Report), MeshError> {
    gmsh::read_bytes(text.as_bytes(), &ReadOptions::default())
}

fn refuse(text: &str) -> MeshError {
    match read(text) {
        Ok(_) => panic!("this was read:\n{text}"),
        Err(error) => error,
    }
}

fn accept(text: &str) -> (Mesh, Report) {
    let (mesh, report) = read(text).unwrap();
    check(&mesh);
    (mesh, report)
}

/// MSH 2.2 text from points and lines of elements `type physical entity nodes…`.
fn msh22(points: &[[f64; 3]], elements: &[&str]) -> String {
    let mut text = format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", points.len());
    for ([x, y, z], i) in points.iter().zip(1..) {
        text += &format!("{i} {x} {y} {z}\n");
    }
    text += &format!("$EndNodes\n$Elements\n{}\n", elements.len());
    for (element, i) in elements.iter().zip(1..) {
        let (kind, rest) = element.split_once(' ').unwrap();
        text += &format!("{i} {kind} 2 {rest}\n");
    }
    text + "$EndElements\n"
}

fn names(text: &str, names: &[&str]) -> String {
    let section = format!("$PhysicalNames\n{}\n{}\n$EndPhysicalNames\n$Nodes", names.len(), names.join("\n"));
    text.replacen("$Nodes", &section, 1)
}

const SQUARE: [[f64; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
const TWO: [&str; 2] = ["2 0 1 1 2 3", "2 0 1 1 3 4"];

#[test]
fn a_small_square_is_read() {
    let (mesh, report) = accept(&msh22(&SQUARE, &TWO));
    assert_eq!((mesh.n_elements(), mesh.faces.len()), (2, 5));
    assert_eq!(mesh.boundary_names(), [UNNAMED]);
    assert!(matches!(report.warnings[..], [Warning::UnnamedFaces { count: 4, .. }]));
    // Windows line ends, extra blanks and unknown sections make no difference.
    let crlf = msh22(&SQUARE, &TWO).replace('\n', "\r\n");
    assert_eq!(accept(&crlf).0, mesh);
    let blanks = msh22(&SQUARE, &TWO).replace(' ', "   ").replace("$EndNodes\n", "$EndNodes\n\n\n");
    assert_eq!(accept(&blanks).0, mesh);
    let extra = msh22(&SQUARE, &TWO).replace("$Nodes", "$Comments\n$ 5 cows\n$EndComments\n$Nodes");
    assert_eq!(accept(&extra).0, mesh);
    // As Gmsh 4.15 reads them.
    let first =
        format!("$Comments\nmade by hand: see $Nodes below\n\n$EndComments\n{}", msh22(&SQUARE, &TWO));
    assert_eq!(accept(&first).0, mesh);
    assert!(matches!(refuse("$Comments\n$EndComments\n"), MeshError::NotGmsh { .. }));
}

#[test]
fn other_files_and_versions() {
    assert!(matches!(refuse("# vtk DataFile Version 3.0\n"), MeshError::NotGmsh { found } if found == "#"));
    assert!(matches!(refuse(""), MeshError::NotGmsh { .. }));
    for (version, is) in [("4", "4"), ("4.0", "4.0"), ("1", "1"), ("3.0", "3.0")] {
        let text = msh22(&SQUARE, &TWO).replace("2.2 0 8", &format!("{version} 0 8"));
        assert!(matches!(refuse(&text), MeshError::Version { found, .. } if found == is));
    }
    let text = msh22(&SQUARE, &TWO).replace("2.2 0 8", "2.2 0 4");
    let line = Location { byte: 18, line: Some(2) };
    assert!(matches!(refuse(&text), MeshError::DataSize { location, found: 4 } if location == line));
    let text = msh22(&SQUARE, &TWO).replace("2.2 0 8", "2.2 7 8");
    assert!(matches!(refuse(&text), MeshError::Syntax { .. }));
    let binary = "$MeshFormat\n4.1 1 8\nabcd\n$EndMeshFormat\n";
    assert!(matches!(refuse(binary), MeshError::ByteOrder { .. }));
    let parametric = msh22(&SQUARE, &TWO).replace("$Nodes", "$ParametricNodes");
    let error = refuse(&parametric);
    assert!(matches!(&error, MeshError::UnsupportedSection { section, .. } if section == "ParametricNodes"));
    assert!(error.to_string().contains("Mesh.SaveParametric = 0"));
}

#[test]
fn sections_that_are_missing_repeated_or_cut_off() {
    let text = msh22(&SQUARE, &TWO);
    let head = text.split("$Elements").next().unwrap();
    assert!(matches!(refuse(head), MeshError::MissingSection { section: "Elements" }));
    let nodes = head.split_once("$Nodes").unwrap().1;
    let twice = text.replace("$Elements", &format!("$Nodes{nodes}$Elements"));
    assert!(matches!(refuse(&twice), MeshError::RepeatedSection { section, .. } if section == "Nodes"));
    // A text file cut off anywhere after the header gives the error `Truncated`, and no other.
    for end in text.find("$Nodes").unwrap() + 7..text.len() - 13 {
        let cut = &text[..end];
        let error = refuse(cut);
        let known = matches!(
            error,
            MeshError::Truncated { .. }
                | MeshError::Syntax { .. }
                | MeshError::SectionEnd { .. }
                | MeshError::Count { .. }
                | MeshError::MissingSection { section: "Elements" }
        );
        assert!(known, "cut at {end}: {error:?}");
    }
    let cut = text.split("2 2 2 0 1").next().unwrap();
    let error = refuse(cut);
    assert!(
        matches!(&error, MeshError::Truncated { location: Location { line: Some(13), .. }, section, .. } if section == "Elements"),
        "{error:?}"
    );
    assert!(error.to_string().contains("cut off"), "{error}");
    let unfinished = text.replace("$EndElements\n", "");
    assert!(matches!(refuse(&unfinished), MeshError::Truncated { .. }));
    let open = format!("{text}$Interesting\nthings\n");
    assert!(matches!(refuse(&open), MeshError::Truncated { section, .. } if section == "Interesting"));
}

#[test]
fn counts_that_are_wrong() {
    let text = msh22(&SQUARE, &TWO);
    let with = |from: &str, to: &str| text.replacen(from, to, 1);
    let error = refuse(&with("$Nodes\n4", "$Nodes\n100000000000000"));
    assert!(matches!(error, MeshError::Count { what: "nodes", count: 100_000_000_000_000, .. }), "{error}");
    let error = refuse(&with("$Elements\n2", "$Elements\n18446744073709551615"));
    assert!(matches!(error, MeshError::Count { what: "elements", .. }), "{error}");
    assert!(matches!(refuse(&with("$Nodes\n4", "$Nodes\n99999999999999999999")), MeshError::Syntax { .. }));
    assert!(matches!(refuse(&with("$Nodes\n4", "$Nodes\n-4")), MeshError::Syntax { .. }));
    let error = refuse(&with("$Nodes\n4", "$Nodes\n3"));
    assert!(
        matches!(&error, MeshError::SectionEnd { location: Location { line: Some(9), .. }, section, found } if section == "Nodes" && found == "4"),
        "{error:?}"
    );
    let error = refuse(&with("$Nodes\n4", "$Nodes\n5"));
    assert!(
        matches!(error, MeshError::Syntax { location: Location { line: Some(10), .. }, .. }),
        "{error:?}"
    );
    let mesh = Box::unit(Shape::Triangle, 1).build().unwrap();
    let format = Format { version: Version::V41, binary: false, big_endian: false };
    let text = String::from_utf8(gmsh::to_bytes(&mesh, &format)).unwrap();
    let error = refuse(&text.replacen("$Nodes\n1 4", "$Nodes\n1 5", 1));
    assert!(matches!(error, MeshError::Total { section: "Nodes", announced: 5, found: 4, .. }), "{error}");
}

#[test]
fn text_that_is_no_number() {
    let error = refuse(&msh22(&SQUARE, &TWO).replace("3 1 1 0", "3 1 one 0"));
    let expected = Location { byte: 64, line: Some(8) };
    assert!(
        matches!(&error, MeshError::Syntax { location, found, expected: "a coordinate", .. } if *location == expected && found == "one"),
        "{error:?}"
    );
    assert_eq!(error.to_string(), "line 8, in $Nodes: expected a coordinate, found `one`");
}

#[test]
fn element_types() {
    let error = refuse(&msh22(&SQUARE, &[TWO[0], "77 0 1 1 3 4"]));
    assert!(matches!(
        error,
        MeshError::UnknownElementType { location: Location { line: Some(14), .. }, kind: 77 }
    ));
    assert!(matches!(
        refuse(&msh22(&SQUARE, &["-5 0 1 1 3 4"])),
        MeshError::UnknownElementType { kind: -5, .. }
    ));
    let error = refuse(&msh22(&SQUARE, &["34 0 1 4 1 2 3 4"]));
    assert!(matches!(error, MeshError::UnsupportedElement { element: 1, name: "polygon", .. }), "{error}");
    let error = refuse(&msh22(&SQUARE, &["85 0 1 1"]));
    assert!(matches!(error, MeshError::UnsupportedElement { kind: 85, .. }), "{error}");
    let high: Vec<[f64; 3]> = (0..21).map(|i| [f64::from(i), f64::from(i * i), 0.0]).collect();
    let nodes: Vec<String> = (1..=21).map(|i| i.to_string()).collect();
    let error = refuse(&msh22(&high, &[&format!("25 0 1 {}", nodes.join(" "))]));
    assert!(matches!(error, MeshError::GeometryOrder { shape: Shape::Triangle, order: 5, max: 4 }));
    assert!(matches!(refuse(&msh22(&SQUARE, &["1 0 1 1 2", "15 0 1 1"])), MeshError::NoElements));
}

#[test]
fn nodes_that_are_wrong() {
    let text = msh22(&SQUARE, &TWO);
    assert!(matches!(refuse(&text.replace("4 0 1 0\n", "3 0 1 0\n")), MeshError::DuplicateNode { node: 3 }));
    assert!(matches!(
        refuse(&text.replace("2 2 2 0 1 1 3 4", "2 2 2 0 1 1 3 44")),
        MeshError::MissingNode { element: 2, node: 44 }
    ));
    for bad in ["nan", "inf", "1e999"] {
        let error = refuse(&text.replace("4 0 1 0\n", &format!("4 0 {bad} 0\n")));
        assert!(matches!(error, MeshError::NotFinite { node: 4 }), "{error}");
    }
    // Nodes that nothing uses may lie anywhere, and are ignored.
    let loose = msh22(&[SQUARE.as_slice(), &[[f64::NAN, 5.0, 0.0]]].concat(), &TWO);
    let (mesh, report) = accept(&loose);
    assert_eq!(mesh.points.len(), 4);
    assert!(report.warnings.contains(&Warning::UnusedNodes { count: 1 }));
}

#[test]
fn sparse_numbers_are_read() {
    let text = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n2 4 5 9000000000000000000\n\
        0 1 0 1\n9000000000000000000\n0 0 0\n2 1 1 3\n5\n70000000000\n400\n1 0 0 0 0\n1 1 0 1 0\n0 1 0 1 1\n\
        $EndNodes\n$Elements\n1 2 8 123456789012345\n2 1 2 2\n\
        8 9000000000000000000 5 70000000000\n123456789012345 9000000000000000000 70000000000 400\n$EndElements\n";
    let (mesh, _) = accept(text);
    assert_eq!(mesh.sets[0].tags, [8, 123_456_789_012_345]);
    assert!((volume(&mesh) - 1.0).abs() < 1e-15);
    let twice = text.replacen("\n400\n", "\n5\n", 1);
    assert!(matches!(refuse(&twice), MeshError::DuplicateNode { node: 5 }));
}

#[test]
fn elements_that_are_inverted_or_flat() {
    // Clockwise triangles and quadrilaterals, and an inverted tetrahedron, are reversed.
    let (mesh, report) = accept(&msh22(&SQUARE, &["2 0 1 1 3 2", "2 0 1 1 3 4"]));
    assert!(report.warnings.contains(&Warning::Reoriented { count: 1, first: 1 }));
    assert!((volume(&mesh) - 1.0).abs() < 1e-15);
    let (mesh, _) = accept(&msh22(&SQUARE, &["3 0 1 1 4 3 2"]));
    assert!((volume(&mesh) - 1.0).abs() < 1e-15);
    // A self-intersecting quadrilateral has both signs.
    let error = refuse(&msh22(&SQUARE, &["3 0 1 1 3 2 4"]));
    assert!(
        matches!(error, MeshError::Inverted { element: 1, shape: Shape::Quadrilateral, centroid, min, max, .. } if centroid == [0.5, 0.5, 0.0] && min < 0.0 && max > 0.0),
        "{error}"
    );
    // A quadrilateral with a concave corner.
    let dart = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 0.2, 0.0], [0.0, 1.0, 0.0]];
    assert!(matches!(refuse(&msh22(&dart, &["3 0 1 1 2 3 4"])), MeshError::Inverted { element: 1, .. }));
    // Three points on a line, and one node twice.
    let line = [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [0.0, 1.0, 0.0]];
    let error = refuse(&msh22(&line, &["2 0 1 1 2 4", "2 0 1 1 2 3"]));
    assert!(
        matches!(error, MeshError::Degenerate { element: 2, shape: Shape::Triangle, centroid } if centroid == [1.0, 1.0, 0.0]),
        "{error}"
    );
    assert!(matches!(refuse(&msh22(&SQUARE, &["3 0 1 1 2 3 3"])), MeshError::Degenerate { .. }));
    // A curved triangle whose middle node lies beyond the opposite vertex.
    let curved = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.5, 0.9, 0.0],
        [0.5, 0.5, 0.0],
        [0.0, 0.5, 0.0],
    ];
    assert!(matches!(refuse(&msh22(&curved, &["9 0 1 1 2 3 4 5 6"])), MeshError::Inverted { .. }));
}

#[test]
fn elements_that_do_not_fit_together() {
    let error = refuse(&msh22(&SQUARE, &[TWO[0], TWO[1], "2 0 1 3 1 2"]));
    assert!(matches!(error, MeshError::DuplicateElement { first: 1, second: 3, .. }), "{error}");
    // A third triangle on the diagonal.
    let five = [SQUARE.as_slice(), &[[2.0, 0.2, 0.0]]].concat();
    let error = refuse(&msh22(&five, &[TWO[0], TWO[1], "2 0 1 1 5 3"]));
    assert!(
        matches!(&error, MeshError::NonManifold { elements, centroid } if elements[..] == [1, 2, 3] && *centroid == [0.5, 0.5, 0.0]),
        "{error}"
    );
    // Two triangles on the same side of their common edge.
    let error = refuse(&msh22(&five, &["2 0 1 1 2 3", "2 0 1 1 5 3"]));
    assert!(matches!(error, MeshError::Overlap { first: 1, second: 2, .. }), "{error}");
    // Two halves with separate nodes on the diagonal.
    let torn = [SQUARE.as_slice(), &SQUARE].concat();
    let error = refuse(&msh22(&torn, &["2 0 1 1 2 3", "2 0 1 5 7 8"]));
    assert!(
        matches!(error, MeshError::UnmergedNodes { first: 1, second: 2, centroid } if centroid == [0.5, 0.5, 0.0]),
        "{error}"
    );
    assert!(error.to_string().contains("Coherence"));
    // A node in the middle of the diagonal that belongs to one side only.
    let hanging = [SQUARE.as_slice(), &[[0.5, 0.5, 0.0]]].concat();
    let error = refuse(&msh22(&hanging, &["2 0 1 1 2 3", "2 0 1 1 5 4", "2 0 1 5 3 4"]));
    assert!(
        matches!(error, MeshError::HangingNode { element: 1, neighbour: 2, point } if point == [0.5, 0.5, 0.0]),
        "{error}"
    );
    // The same gaps are accepted where both sides have names: a slit.
    let slit = msh22(&torn, &["2 0 1 1 2 3", "2 0 1 5 7 8", "1 7 1 1 3", "1 8 2 5 7"]);
    assert_eq!(faces_on(&accept(&slit).0, "#7"), 1);
}

#[test]
fn hexahedra_on_tetrahedra_need_pyramids() {
    let cube = Box::unit(Shape::Hexahedron, 1).build().unwrap();
    let at = |i: usize, j: usize, k: usize| [i as f64, j as f64, k as f64];
    let mut points: Vec<[f64; 3]> = Vec::new();
    for k in 0..2 {
        for [i, j] in [[0, 0], [1, 0], [1, 1], [0, 1]] {
            points.push(at(i, j, k));
        }
    }
    points.push([0.5, 0.5, 2.0]);
    let hex = "5 0 1 1 2 3 4 5 6 7 8";
    let error = refuse(&msh22(&points, &[hex, "4 0 1 5 6 7 9", "4 0 1 5 7 8 9"]));
    assert!(
        matches!(error, MeshError::MixedFace { element: 1, neighbour: 2 | 3, centroid } if centroid == [0.5, 0.5, 1.0]),
        "{error}"
    );
    let (mesh, _) = accept(&msh22(&points, &[hex, "7 0 1 5 6 7 8 9"]));
    assert_eq!(mesh.faces.len(), 10);
    assert!((volume(&cube) - 1.0).abs() < 1e-15);
}

#[test]
fn curved_faces_must_agree() {
    // Two quadratic triangles that share vertices but not the middle of the edge.
    let mut points = SQUARE.to_vec();
    points.extend([
        [0.5, 0.0, 0.0],
        [1.0, 0.5, 0.0],
        [0.5, 0.5, 0.0],
        [0.5, 1.0, 0.0],
        [0.0, 0.5, 0.0],
        [0.52, 0.48, 0.0],
    ]);
    accept(&msh22(&points, &["9 0 1 1 2 3 5 6 7", "9 0 1 1 3 4 7 8 9"]));
    let error = refuse(&msh22(&points, &["9 0 1 1 2 3 5 6 7", "9 0 1 1 3 4 10 8 9"]));
    assert!(
        matches!(error, MeshError::CurvedFace { first: 1, second: 2, distance, .. } if (distance - 0.0008_f64.sqrt()).abs() < 1e-12),
        "{error}"
    );
}

#[test]
fn boundary_elements() {
    let named = |elements: &[&str]| {
        let all: Vec<&str> = TWO.iter().chain(elements).copied().collect();
        names(&msh22(&SQUARE, &all), &["1 7 \"south wall\"", "1 8 \"nowhere\"", "2 9 \"sheet\""])
    };
    let (mesh, report) = accept(&named(&["1 7 1 1 2", "1 0 5 2 3"]));
    assert_eq!(mesh.boundary_names(), ["south wall", "#5", UNNAMED]);
    assert!(report.warnings.contains(&Warning::UnusedName { name: "nowhere".to_owned() }));
    // Inside the mesh: ignored with a warning. Both ends inside, but no edge: refused.
    let (mesh, report) = accept(&named(&["1 7 1 1 3"]));
    assert_eq!(mesh.boundary_names(), [UNNAMED]);
    assert!(report.warnings.contains(&Warning::InteriorBoundary { name: "south wall".to_owned(), count: 1 }));
    let error = refuse(&named(&["1 7 1 2 4"]));
    assert!(
        matches!(&error, MeshError::OrphanBoundary { element: 3, boundary, centroid } if boundary == "south wall" && *centroid == [0.5, 0.5, 0.0]),
        "{error}"
    );
    // Without a physical group it is a construction line.
    let (_, report) = accept(&named(&["1 0 6 2 4"]));
    assert!(report.warnings.contains(&Warning::LooseBoundary { name: "#6".to_owned(), count: 1 }));
    // Two names on one edge: the first is used. One element in two groups: Gmsh writes it twice.
    let (mesh, report) = accept(&named(&["1 7 1 1 2", "1 8 2 2 1"]));
    assert_eq!(mesh.boundary_names(), ["south wall", UNNAMED]);
    let double =
        Warning::SeveralBoundaries { first: "south wall".to_owned(), second: "nowhere".to_owned(), count: 1 };
    assert!(report.warnings.contains(&double), "{:?}", report.warnings);
    let repeated = msh22(&SQUARE, &["2 1 1 1 2 3", "2 2 1 1 2 3", "2 1 1 1 3 4", "2 2 1 1 3 4"]);
    let (mesh, report) = accept(&repeated);
    assert_eq!(mesh.n_elements(), 2);
    let regions = Warning::SeveralRegions { first: "#1".to_owned(), second: "#2".to_owned(), count: 2 };
    assert!(report.warnings.contains(&regions), "{:?}", report.warnings);
    // Faces as well, in MSH 2.2 one after the other, in MSH 4.1 by their curve. Where they lie inside the
    // mesh nothing is doubled.
    let twice = named(&["1 7 1 1 2", "1 8 1 1 2", "1 7 1 2 3", "1 8 1 2 3", "1 7 1 1 3", "1 8 1 1 3"]);
    let curve = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n\
        $PhysicalNames\n2\n1 7 \"south wall\"\n1 8 \"nowhere\"\n$EndPhysicalNames\n\
        $Entities\n0 1 1 0\n5 0 0 0 1 1 0 2 7 8 0\n1 0 0 0 1 1 0 0 0\n$EndEntities\n\
        $Nodes\n1 4 1 4\n2 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n$EndNodes\n\
        $Elements\n2 4 1 4\n1 5 1 2\n1 1 2\n2 2 3\n2 1 2 2\n3 1 2 3\n4 1 3 4\n$EndElements\n";
    for text in [&twice, curve] {
        let (mesh, report) = accept(text);
        assert_eq!(mesh.boundary_names(), ["south wall", UNNAMED]);
        let double = Warning::SeveralBoundaries {
            first: "south wall".to_owned(),
            second: "nowhere".to_owned(),
            count: 2,
        };
        assert!(report.warnings.contains(&double), "{:?}", report.warnings);
    }
    let twice = names(&msh22(&SQUARE, &TWO), &["1 7 \"a\"", "1 7 \"b\""]);
    assert!(matches!(
        refuse(&twice),
        MeshError::DuplicatePhysicalGroup { dim: 1, tag: 7, first, second } if first == "a" && second == "b"
    ));
    // Numbers are separate for each dimension.
    accept(&names(&msh22(&SQUARE, &TWO), &["1 7 \"a\"", "2 7 \"b\""]));
}

#[test]
fn planes() {
    let lifted = SQUARE.map(|[x, y, _]| [x, y, 3.0]);
    let (mesh, report) = accept(&msh22(&lifted, &TWO));
    assert!(mesh.points.iter().all(|x| x[2] == 0.0));
    assert!(!report.warnings.iter().any(|w| matches!(w, Warning::ZDropped { .. })));
    let tilted = |slope: f64| msh22(&SQUARE.map(|[x, y, _]| [x, y, slope * (x + y)]), &TWO);
    let error = refuse(&tilted(0.1));
    assert!(matches!(error, MeshError::NotFlat { min: 0.0, max: 0.2 }), "{error}");
    // The rounding of a rotation of coordinates written with eight digits.
    let (_, report) = accept(&tilted(1e-8));
    assert!(report.warnings.contains(&Warning::ZDropped { min: 0.0, max: 2e-8 }));
    let upright = SQUARE.map(|[x, y, _]| [x, 0.0, y]);
    assert!(matches!(refuse(&msh22(&upright, &TWO)), MeshError::NotInPlane { axis: 'y' }));
    // A surface in space, as Gmsh saves it where only surfaces are in physical groups.
    let roof = SQUARE.map(|[x, y, _]| [x, y, x * y]);
    let error = refuse(&msh22(&roof, &TWO));
    assert!(matches!(error, MeshError::SurfaceInSpace) && error.to_string().contains("Physical Volume"));
}

#[test]
fn directories_and_pipes_are_no_meshes() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe.msh");
    // Nobody writes into the pipe: reading from it would never end.
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success());
    for path in [Some(directory.path()), made.then_some(&*pipe)].into_iter().flatten() {
        let error = gmsh::read(path, &ReadOptions::default()).unwrap_err();
        assert!(matches!(error.without_path(), MeshError::NotAFile), "{error}");
    }
}

#[test]
fn periodic_boundaries() {
    let mut mesh = Box { cells: [3, 2, 1], ..Box::unit(Shape::Triangle, 1) }.build().unwrap();
    let error = mesh.make_periodic("xmin", "xmxa").unwrap_err();
    assert!(
        matches!(&error, MeshError::UnknownBoundary { name, known, nearest } if name == "xmxa" && known.len() == 4 && nearest.as_deref() == Some("xmax")),
        "{error}"
    );
    assert!(error.to_string().contains("did you mean `xmax`?"));
    assert!(matches!(mesh.make_periodic("xmin", "xmin"), Err(MeshError::PeriodicSelf { .. })));
    let before = mesh.clone();
    let error = mesh.make_periodic("xmin", "ymin").unwrap_err();
    assert!(
        matches!(&error, MeshError::PeriodicMismatch { first, second, n_first: 2, n_second: 3, .. } if first == "xmin" && second == "ymin"),
        "{error}"
    );
    assert_eq!(mesh, before);
    // One boundary is finer than the other: the error gives the coordinates of the face without partner.
    let uneven = |y: f64| {
        let points = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [1.0, y, 0.0],
            [1.0, 1.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.5, 0.0],
        ];
        let text = msh22(
            &points,
            &[
                "2 0 1 1 2 3",
                "2 0 1 1 3 6",
                "2 0 1 6 3 5",
                "2 0 1 3 4 5",
                "1 1 1 2 3",
                "1 1 1 3 4",
                "1 2 2 1 6",
                "1 2 2 6 5",
            ],
        );
        accept(&text).0
    };
    let error = uneven(0.6).make_periodic("#1", "#2").unwrap_err();
    assert!(
        matches!(&error, MeshError::PeriodicMismatch { n_first: 2, n_second: 2, centroid, .. } if centroid[0] == 1.0),
        "{error}"
    );
    uneven(0.5).make_periodic("#1", "#2").unwrap();
    mesh.make_periodic("xmin", "xmax").unwrap();
    let error = mesh.make_periodic("ymin", "xmax").unwrap_err();
    assert!(
        matches!(&error, MeshError::AlreadyPeriodic { name, other } if name == "xmax" && other == "xmin"),
        "{error}"
    );
    check(&mesh);
}
