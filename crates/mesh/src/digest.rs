//! A 64-bit digest of a mesh's content.

use crate::{Across, Mesh, Side};

/// Mixes words one after another: add, multiply by an odd constant, fold the high half down.
///
/// The constants are the multiplier of Knuth's MMIX generator and the finaliser of SplitMix64
/// (Steele, Lea & Flood 2014). Two meshes that differ have equal digests with a chance of 2⁻⁶⁴.
struct Digest(u64);

impl Digest {
    const fn word(&mut self, w: u64) {
        let x = (self.0 ^ w).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 = x ^ (x >> 29);
    }

    fn text(&mut self, s: &str) {
        self.word(s.len() as u64);
        s.bytes().for_each(|b| self.word(u64::from(b)));
    }

    const fn side(&mut self, s: Side) {
        self.word((s.element as u64) << 8 | s.face as u64);
    }

    const fn finish(self) -> u64 {
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Mesh {
    /// A number computed from points (bit by bit), elements, regions, faces and boundary names, and from
    /// their order; the same on every machine.
    ///
    /// A checkpoint stores it to identify its mesh.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let mut d = Digest(self.dim as u64);
        d.word(self.points.len() as u64);
        for x in &self.points {
            x.iter().for_each(|x| d.word(x.to_bits()));
        }
        for set in &self.sets {
            d.text(set.shape.name());
            d.word(set.order as u64);
            d.word(set.len() as u64);
            set.nodes.iter().for_each(|&n| d.word(u64::from(n)));
            set.regions.iter().for_each(|&r| d.word(u64::from(r)));
        }
        for face in &self.faces {
            d.side(face.minus);
            match face.across {
                Across::Interior { plus, orientation } => {
                    d.side(plus);
                    d.word(u64::from(orientation));
                }
                Across::Periodic { plus, orientation } => {
                    d.side(plus);
                    d.word(0x100 | u64::from(orientation));
                }
                Across::Boundary(b) => d.word(1 << 40 | u64::from(b)),
            }
        }
        self.boundaries.iter().for_each(|b| d.text(&b.name));
        d.finish()
    }
}
