//! Damaged files: no panic, bounded memory, and whatever is accepted is a valid mesh.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/checks.rs"]
mod checks;

use checks::{data, structure};
use dgsuite_mesh::{
    Shape,
    generate::{Box, MixedBox},
    gmsh::{self, Format, ReadOptions, Version},
};
use proptest::prelude::*;

/// Small valid files of every kind.
fn seeds() -> Vec<Vec<u8>> {
    let mut files: Vec<Vec<u8>> = Vec::new();
    for name in [
        "orders/plane-o1-22.msh",
        "orders/plane-o2-22-binary.msh",
        "orders/plane-o3-41.msh",
        "orders/solid-o1-41-binary.msh",
        "orders/solid-o2-22-binary.msh",
        "orders/solid-o2-41.msh",
        "square-tri-partitioned.msh",
    ] {
        files.push(std::fs::read(data(name)).unwrap());
    }
    let mut square = Box { cells: [2, 2, 1], ..Box::unit(Shape::Triangle, 1) }.build().unwrap();
    square.make_periodic("xmin", "xmax").unwrap();
    let mixed = MixedBox { dim: 3, min: [0.0; 3], max: [1.0; 3], cells: [5, 1, 1] }.build().unwrap();
    for mesh in [&square, &mixed] {
        for version in [Version::V22, Version::V41] {
            for (binary, big_endian) in [(false, false), (true, false), (true, true)] {
                files.push(gmsh::to_bytes(mesh, &Format { version, binary, big_endian }));
            }
        }
    }
    files
}

/// Peak resident memory of this process in bytes, where the system reports it.
fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    Some(1024 * line.split_whitespace().nth(1)?.parse::<usize>().ok()?)
}

fn survive(bytes: &[u8]) {
    if let Ok((mesh, _)) = gmsh::read_bytes(bytes, &ReadOptions::default()) {
        structure(&mesh);
    }
}

/// One way to damage a file.
#[derive(Clone, Debug)]
enum Damage {
    Cut(usize),
    Flip(usize, u8),
    Word(usize, u64),
    Delete(usize, usize),
    Repeat(usize, usize),
    Number(usize, usize),
}

const NUMBERS: [&str; 10] =
    ["0", "-1", "1", "2", "7", "99999999999", "18446744073709551615", "-9223372036854775808", "nan", "1e308"];

fn damages() -> impl Strategy<Value = Damage> {
    let at = 0_usize..1 << 20;
    prop_oneof![
        1 => at.clone().prop_map(Damage::Cut),
        3 => (at.clone(), any::<u8>()).prop_map(|(i, b)| Damage::Flip(i, b)),
        2 => (at.clone(), prop_oneof![any::<u64>(), 0_u64..20, Just(u64::MAX), Just(1 << 40)])
            .prop_map(|(i, w)| Damage::Word(i, w)),
        1 => (at.clone(), 1_usize..40).prop_map(|(i, n)| Damage::Delete(i, n)),
        1 => (at.clone(), 1_usize..60).prop_map(|(i, n)| Damage::Repeat(i, n)),
        3 => (at, 0_usize..NUMBERS.len()).prop_map(|(i, n)| Damage::Number(i, n)),
    ]
}

fn apply(file: &mut Vec<u8>, damage: &Damage) {
    if file.is_empty() {
        return;
    }
    let len = file.len();
    match *damage {
        Damage::Cut(i) => file.truncate(i % len),
        Damage::Flip(i, b) => file[i % len] ^= b,
        Damage::Word(i, w) => {
            let i = i % len;
            for (to, from) in file[i..].iter_mut().zip(w.to_le_bytes()) {
                *to = from;
            }
        }
        Damage::Delete(i, n) => {
            let i = i % len;
            file.drain(i..(i + n).min(len));
        }
        Damage::Repeat(i, n) => {
            let i = i % len;
            let part = file[i..(i + n).min(len)].to_vec();
            file.splice(i..i, part);
        }
        Damage::Number(i, n) => {
            // Replace the word around a place in the text.
            let space = |b: &u8| b.is_ascii_whitespace();
            let i = i % len;
            let from = file[..i].iter().rposition(space).map_or(0, |p| p + 1);
            let to = file[i..].iter().position(space).map_or(len, |p| i + p);
            file.splice(from.min(to)..to, NUMBERS[n].bytes());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_refused_or_make_valid_meshes(
        which in 0_usize..19,
        damage in prop::collection::vec(damages(), 1..4),
    ) {
        thread_local!(static SEEDS: Vec<Vec<u8>> = seeds());
        let mut file = SEEDS.with(|s| s[which % s.len()].clone());
        damage.iter().for_each(|d| apply(&mut file, d));
        survive(&file);
    }
}

#[test]
fn every_cut_of_small_files_is_survived() {
    for file in seeds().iter().filter(|f| f.len() < 3000) {
        assert!(gmsh::read_bytes(file, &ReadOptions::default()).is_ok());
        for end in 0..file.len() {
            survive(&file[..end]);
        }
    }
}

#[test]
fn huge_counts_ask_for_no_memory() {
    let head = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";
    let big = "9999999999999";
    let mut files: Vec<Vec<u8>> = [
        format!("{head}$Nodes\n{big} {big} 1 {big}\n"),
        format!("{head}$Nodes\n1 {big} 1 {big}\n2 1 0 {big}\n"),
        format!("{head}$Elements\n{big} {big} 1 1\n"),
        format!("{head}$Elements\n1 3 1 3\n3 1 98 {big}\n"),
        format!("{head}$Entities\n{big} {big} {big} {big}\n"),
        format!("{head}$Entities\n1 0 0 0\n1 0 0 0 {big} 1\n"),
        format!("{head}$Periodic\n1\n1 1 2\n{big} 1\n"),
        format!("{head}$Periodic\n1\n1 1 2\n0\n{big}\n1 2\n"),
        format!("{head}$PhysicalNames\n{big}\n1 1 \"a\"\n"),
    ]
    .map(String::into_bytes)
    .to_vec();
    for big in [u64::MAX, u64::MAX / 8, 1 << 50, 1 << 61] {
        for section in ["Nodes", "Elements", "Entities", "PartitionedEntities", "Periodic"] {
            let mut file = b"$MeshFormat\n4.1 1 8\n\x01\0\0\0\n$EndMeshFormat\n$".to_vec();
            file.extend(section.bytes());
            file.push(b'\n');
            for _ in 0..40 {
                file.extend(big.to_le_bytes());
            }
            files.push(file);
        }
    }
    for kind in [2_i32, 98] {
        let mut file = b"$MeshFormat\n2.2 1 8\n\x01\0\0\0\n$EndMeshFormat\n$Elements\n3\n".to_vec();
        for word in [kind, i32::MAX, i32::MAX, 1, 1, 1, 1] {
            file.extend(word.to_le_bytes());
        }
        files.push(file);
    }
    for file in &files {
        assert!(gmsh::read_bytes(file, &ReadOptions::default()).is_err());
    }
    match peak_memory() {
        Some(bytes) => assert!(bytes < 256 << 20, "{} MiB", bytes >> 20),
        None => println!("SKIPPED the memory bound: no /proc/self/status here"),
    }
}

#[test]
fn a_star_of_many_elements_on_one_node_takes_no_quadratic_time() {
    // All sides share their lowest vertex; sorting keeps the cost of the bucket low.
    let n = 60_000;
    let mut text = format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n1 0 0 0\n", n + 1);
    for i in 0..n {
        let a = std::f64::consts::TAU * f64::from(i) / f64::from(n);
        text += &format!("{} {} {} 0\n", i + 2, a.cos(), a.sin());
    }
    text += &format!("$EndNodes\n$Elements\n{n}\n");
    for i in 0..n {
        text += &format!("{} 2 2 0 1 1 {} {}\n", i + 1, i + 2, (i + 1) % n + 2);
    }
    text += "$EndElements\n";
    let start = std::time::Instant::now();
    let (mesh, _) = gmsh::read_bytes(text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(mesh.faces.len(), 2 * n as usize);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
