//! Meshes that are written and read again are the same, bit by bit, in every variant of the format.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/checks.rs"]
mod checks;

use checks::{check, data, swirl};
use dgsuite_mesh::{
    Mesh, Shape, SpaceFillingCurve,
    generate::{Annulus, Box, CylinderInChannel, Diagonal, MixedBox},
    gmsh::{self, Format, ReadOptions, Version},
};
use proptest::prelude::*;

fn formats() -> Vec<Format> {
    let mut all = Vec::new();
    for version in [Version::V22, Version::V41] {
        for (binary, big_endian) in [(false, false), (true, false), (true, true)] {
            all.push(Format { version, binary, big_endian });
        }
    }
    all
}

fn back(mesh: &Mesh, format: &Format) -> Mesh {
    let (again, report) = gmsh::read_bytes(&gmsh::to_bytes(mesh, format), &ReadOptions::default()).unwrap();
    assert_eq!((report.version, report.binary), (format.version, format.binary));
    assert_eq!(report.big_endian, format.big_endian);
    again
}

#[derive(Clone, Debug)]
struct Recipe {
    shape: usize,
    cells: [usize; 3],
    order: usize,
    diagonal: usize,
    periodic: [bool; 3],
    bent: bool,
    renumbered: bool,
    refined: bool,
}

fn recipes() -> impl Strategy<Value = Recipe> {
    let cells = [1_usize..4, 1..4, 1..3];
    let flags = (any::<[bool; 3]>(), any::<[bool; 3]>());
    (0_usize..8, cells, 1_usize..=4, 0_usize..3, flags).prop_map(
        |(shape, cells, order, diagonal, (periodic, [bent, renumbered, refined]))| Recipe {
            shape,
            cells,
            order,
            diagonal,
            periodic,
            bent,
            renumbered,
            refined: refined && order < 3,
        },
    )
}

fn make(r: &Recipe) -> Mesh {
    let [nx, ny, nz] = r.cells;
    let [min, max] = [[0.0; 3], [1.0; 3]];
    let mut mesh = match r.shape {
        6 => MixedBox { dim: 2, min, max, cells: [nx + 1, ny, nz] }.build().unwrap(),
        7 => MixedBox { dim: 3, min, max, cells: [5, ny, nz] }.build().unwrap(),
        i => {
            let shape = Shape::ALL[i + 1];
            let diagonal = [Diagonal::Anti, Diagonal::Main, Diagonal::Alternate][r.diagonal];
            Box { shape, min, max, cells: r.cells, diagonal }.build().unwrap()
        }
    };
    for (d, axis) in ["x", "y", "z"].iter().enumerate().take(mesh.dim) {
        if r.periodic[d] {
            mesh.make_periodic(&format!("{axis}max"), &format!("{axis}min")).unwrap();
        }
    }
    let highest = mesh.sets.iter().map(|s| gmsh::max_order(s.shape)).min().unwrap();
    mesh.elevate(r.order.min(highest)).unwrap();
    if r.bent {
        // The map may invert elements of coarse meshes; they stay straight then.
        let _ = mesh.map(swirl);
    }
    if r.refined {
        mesh.refine_uniform().unwrap();
    }
    if r.renumbered {
        mesh.renumber(SpaceFillingCurve::Hilbert);
    }
    mesh
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn written_meshes_read_back_equal(recipe in recipes(), which in 0_usize..6) {
        let mesh = make(&recipe);
        let again = back(&mesh, &formats()[which]);
        check(&again);
        prop_assert_eq!(again.digest(), mesh.digest());
        prop_assert_eq!(again, mesh);
    }
}

#[test]
fn meshes_of_gmsh_survive_reading_writing_and_reading() {
    for name in [
        "square-tri.msh",
        "square-mixed.msh",
        "square-tri-unnamed.msh",
        "cube-tet.msh",
        "cube-prism.msh",
        "blocks-pyramid-o2.msh",
        "annulus-tri-o4.msh",
        "annulus-quad-o3.msh",
        "orders/solid-o4-41.msh",
    ] {
        let mesh = Mesh::read(data(name)).unwrap();
        for format in formats() {
            assert_eq!(back(&mesh, &format), mesh, "{name} {format:?}");
        }
    }
}

#[test]
fn curved_domains_survive_writing_and_reading() {
    let ring = Annulus {
        shape: Shape::Triangle,
        centre: [0.1, 0.2],
        inner: 0.3,
        outer: 0.7,
        cells: [2, 7],
        growth: 1.3,
        order: 4,
    };
    for mesh in [ring.build().unwrap(), CylinderInChannel::dfg().build().unwrap()] {
        check(&mesh);
        for format in formats() {
            let again = back(&mesh, &format);
            assert_eq!(again, mesh, "{format:?}");
            let bits = |mesh: &Mesh| mesh.points.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&again), bits(&mesh), "{format:?}");
        }
    }
}

#[test]
fn files_are_written_and_read_by_path() {
    let directory = tempfile::tempdir().unwrap();
    let mesh = Box::unit(Shape::Prism, 2).build().unwrap();
    let path = directory.path().join("prisms.msh");
    mesh.write(&path, &Format::default()).unwrap();
    assert_eq!(Mesh::read(&path).unwrap(), mesh);
    let nowhere = directory.path().join("no").join("such").join("folder.msh");
    let error = mesh.write(&nowhere, &Format::default()).unwrap_err();
    assert!(error.to_string().contains("folder.msh"), "{error}");
}
