//! The sections of a Gmsh file as they are written, without interpretation.

use std::collections::{BTreeMap, HashMap};

use nom::number::Endianness;

use crate::{
    Location, MeshError,
    gmsh::{
        Version,
        input::{Encoding, Input},
        kinds::Kind,
        v2, v4,
    },
};

/// Elements of one type on one geometrical entity.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) kind: Kind,
    /// Number of the entity, which has the dimension of the kind.
    pub(crate) entity: i32,
    /// Number of the physical group (MSH 2.2; in MSH 4.1 the entity has it).
    pub(crate) physical: Option<i32>,
    pub(crate) tags: Vec<u64>,
    /// Node numbers `[element][node]` in Gmsh's order.
    pub(crate) nodes: Vec<u64>,
}

/// A geometrical entity of MSH 4.1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entity {
    pub(crate) physical: Vec<i32>,
    /// The entity that this one is a partition of.
    pub(crate) parent: Option<(usize, i32)>,
}

/// A periodic pair of entities.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) dim: usize,
    pub(crate) slave: i32,
    pub(crate) master: i32,
    /// The map from master to slave, 4 × 4 by rows.
    pub(crate) affine: Option<[f64; 16]>,
    /// Nodes of the slave and of the master.
    pub(crate) pairs: Vec<(u64, u64)>,
}

/// All data used from a file.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    pub(crate) version: Version,
    pub(crate) encoding: Encoding,
    /// Dimension, number and name of physical groups.
    pub(crate) names: Vec<(usize, i32, String)>,
    pub(crate) entities: HashMap<(usize, i32), Entity>,
    pub(crate) node_tags: Vec<u64>,
    pub(crate) coordinates: Vec<[f64; 3]>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) links: Vec<Link>,
    /// Elements that MSH 2.2 repeats because they belong to several physical groups: the later copies, by
    /// kind, entity, previous group and own group.
    pub(crate) repeated: BTreeMap<(u32, i32, i32, i32), Block>,
    /// Names of sections that were skipped.
    pub(crate) skipped: Vec<String>,
}

/// Read the sections of a file.
pub(crate) fn parse(bytes: &[u8]) -> Result<Raw, MeshError> {
    let mut input = Input::new(bytes);
    let (version, encoding) = header(&mut input)?;
    input.set_encoding(encoding);
    let mut raw = Raw {
        version,
        encoding,
        names: Vec::new(),
        entities: HashMap::new(),
        node_tags: Vec::new(),
        coordinates: Vec::new(),
        blocks: Vec::new(),
        links: Vec::new(),
        repeated: BTreeMap::new(),
        skipped: Vec::new(),
    };
    let mut seen: Vec<String> = vec!["MeshFormat".to_owned()];
    while input.skip_space() {
        let here = input.here();
        let section = input.section()?;
        let once = ["MeshFormat", "PhysicalNames", "Entities", "Nodes", "Elements", "Periodic"];
        if once.contains(&section.as_str()) && seen.contains(&section) {
            return Err(MeshError::RepeatedSection { location: input.location_of(here), section });
        }
        match (section.as_str(), version) {
            ("PhysicalNames", _) => raw.names = input.in_text(physical_names)?,
            ("Nodes", Version::V22) => v2::nodes(&mut input, &mut raw)?,
            ("Nodes", Version::V41) => v4::nodes(&mut input, &mut raw)?,
            ("Elements", Version::V22) => v2::elements(&mut input, &mut raw)?,
            ("Elements", Version::V41) => v4::elements(&mut input, &mut raw)?,
            ("Entities", Version::V41) => v4::entities(&mut input, &mut raw)?,
            ("PartitionedEntities", Version::V41) => v4::partitioned_entities(&mut input, &mut raw)?,
            ("Periodic", Version::V22) => input.in_text(|input| v2::periodic(input, &mut raw))?,
            ("Periodic", Version::V41) => v4::periodic(&mut input, &mut raw)?,
            ("ParametricNodes", _) => {
                let (location, fix) = (input.location_of(here), "Mesh.SaveParametric = 0");
                return Err(MeshError::UnsupportedSection { location, section, fix });
            }
            _ => {
                input.skip_section()?;
                raw.skipped.push(section);
                continue;
            }
        }
        input.end()?;
        seen.push(section);
    }
    for section in ["Nodes", "Elements"] {
        if !seen.iter().any(|s| s == section) {
            return Err(MeshError::MissingSection { section });
        }
    }
    Ok(raw)
}

/// `$MeshFormat`, before which comments may stand: version, encoding, word size, and in binary files the
/// integer 1.
fn header(input: &mut Input<'_>) -> Result<(Version, Encoding), MeshError> {
    let mut more = input.skip_space();
    while more && input.next_word_is(b"$Comments") {
        input.section()?;
        input.skip_section()?;
        more = input.skip_space();
    }
    if !more || !input.next_word_is(b"$MeshFormat") {
        let found = input.word("$MeshFormat").unwrap_or_default().chars().take(24).collect();
        return Err(MeshError::NotGmsh { found });
    }
    input.section()?;
    let version = match input.word("the version")? {
        "2.2" => Version::V22,
        "4.1" => Version::V41,
        other => {
            let found = other.chars().take(24).collect();
            return Err(MeshError::Version { found, fix: "gmsh FILE -save -format msh41 -o NEW" });
        }
    };
    let binary = input.int("the file type, 0 or 1")?;
    let location = input.location();
    let size = input.int("the size of a word")?;
    if size != 8 {
        return Err(MeshError::DataSize { location, found: i64::from(size) });
    }
    if !matches!(binary, 0 | 1) {
        return Err(MeshError::Syntax {
            location,
            section: "MeshFormat".to_owned(),
            expected: "the file type, 0 or 1",
            found: binary.to_string(),
        });
    }
    input.line();
    let mut encoding = Encoding::Text;
    if binary == 1 {
        let location = input.location();
        let Ok(one) = input.bytes(4, "the byte order") else {
            return Err(MeshError::ByteOrder { location });
        };
        encoding = match one {
            [1, 0, 0, 0] => Encoding::Binary(Endianness::Little),
            [0, 0, 0, 1] => Encoding::Binary(Endianness::Big),
            _ => return Err(MeshError::ByteOrder { location: Location { line: None, ..location } }),
        };
    }
    input.end()?;
    Ok((version, encoding))
}

/// `$PhysicalNames`: dimension, number and quoted name, a line each.
fn physical_names(input: &mut Input<'_>) -> Result<Vec<(usize, i32, String)>, MeshError> {
    let n = input.count("physical names", 6)?;
    let mut names: Vec<(usize, i32, String)> = Vec::with_capacity(n);
    let mut by_tag: HashMap<(usize, i32), usize> = HashMap::with_capacity(n);
    for _ in 0..n {
        let dim = input.size("the dimension of a physical name")? as usize;
        let tag = input.int("the number of a physical name")?;
        let before = input.here();
        let line = input.line();
        let (Some(from), Some(to)) =
            (line.find('"'), line.rfind('"').filter(|&to| Some(to) != line.find('"')))
        else {
            return Err(MeshError::Syntax {
                location: input.location_of(before),
                section: "PhysicalNames".to_owned(),
                expected: "a name in double quotes",
                found: line.trim().chars().take(24).collect(),
            });
        };
        let name = line[from + 1..to].to_owned();
        match by_tag.get(&(dim, tag)) {
            Some(&i) if names[i].2 != name => {
                let (first, second) = (names[i].2.clone(), name);
                return Err(MeshError::DuplicatePhysicalGroup { dim, tag: i64::from(tag), first, second });
            }
            Some(_) => {}
            None => {
                by_tag.insert((dim, tag), names.len());
                names.push((dim, tag, name));
            }
        }
    }
    Ok(names)
}
