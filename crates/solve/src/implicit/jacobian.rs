//! Products with the Jacobian of the right-hand side, `R′(u) v`, by the tangent equation.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use dgsuite_gpu::Host;
use dgsuite_ops::{Discretization, Ranks};
use rayon::prelude::*;

use super::places::{self, Places};
use crate::SystemError;
use crate::setup::Setup;

/// Exact products with the Jacobian of a discretisation, for vectors in canonical order,
/// `[element][field][basis function]`.
pub(crate) struct Jacobian {
    inner: Mutex<Inner>,
    host: Arc<Host>,
    /// The place of each entry of a direction among those of the tangent state.
    places: Vec<u32>,
    /// Places of copies, with their entries.
    copies: Vec<(u32, u32)>,
    /// Offset of the entries of each element, then the total.
    pub(super) offsets: Vec<usize>,
    fields: usize,
    t: f64,
}

struct Inner {
    tangent: Discretization<f64>,
    /// State and direction.
    state: Vec<f64>,
    rate: Vec<f64>,
    products: u64,
    seconds: f64,
}

/// Entries that one task copies.
const CHUNK: usize = 1 << 13;

impl Jacobian {
    /// The Jacobian of a set-up, on one rank or of the part of one among others.
    pub(crate) fn new(
        setup: &Setup,
        host: &Arc<Host>,
        ranks: Option<&Arc<Ranks>>,
        fields: usize,
    ) -> Result<Self, SystemError> {
        let tangent = super::tangent::discretization(setup, host, ranks)?;
        let offsets = places::offsets(&tangent, fields);
        let Places { places, copies } =
            Places::new(&tangent, &offsets, (2, 1)).ok_or_else(|| SystemError::Unavailable {
                law: setup.law.name(),
                what: "by Newton steps in this space".to_owned(),
            })?;
        let (state, rate) = (vec![0.0; tangent.len()], vec![0.0; tangent.len()]);
        let inner = Mutex::new(Inner { tangent, state, rate, products: 0, seconds: 0.0 });
        Ok(Self { inner, host: Arc::clone(host), places, copies, offsets, fields, t: 0.0 })
    }

    /// The number of unknowns.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// The number of unknowns of the law.
    pub(super) fn fields(&self) -> usize {
        self.fields
    }

    /// The products so far.
    pub(crate) fn products(&self) -> u64 {
        self.lock().products
    }

    /// Their seconds.
    pub(crate) fn seconds(&self) -> f64 {
        self.lock().seconds
    }

    /// Bytes of the tangent equation with its vectors.
    pub(crate) fn bytes(&self) -> usize {
        let inner = self.lock();
        inner.tangent.bytes() + 16 * inner.state.len() + 4 * self.places.len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the state and the time at which products are taken.
    pub(crate) fn linearise(&mut self, t: f64, u: &[f64]) {
        self.t = t;
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut both = vec![0.0; 2 * u.len()];
        for range in self.offsets.windows(2) {
            both[2 * range[0]..range[0] + range[1]].copy_from_slice(&u[range[0]..range[1]]);
        }
        // The lengths agree by construction. Elements that fill up blocks get valid states, too.
        let _ = inner.tangent.from_canonical(&both, &mut inner.state);
    }

    /// The rate itself at the state, without sources of place and time.
    pub(super) fn rate(&self) -> Vec<f64> {
        let inner = &mut *self.lock();
        inner.tangent.eval(self.t, &inner.state, &mut inner.rate);
        let both = inner.tangent.to_canonical(&inner.rate);
        self.offsets.windows(2).flat_map(|r| both[2 * r[0]..r[0] + r[1]].to_vec()).collect()
    }

    /// Shows columns of the Jacobian: for each colour, and as long as one of its elements has a column `j`,
    /// `seed` writes this column's direction in the element into a vector of zeros, and `take` reads the
    /// product with all of them, `(element, j, vector)`. `columns` is the number of columns of an element.
    pub(super) fn by_colours(
        &self,
        colours: &[Vec<u32>],
        columns: impl Fn(usize) -> usize,
        seed: impl Fn(usize, usize, &mut [f64]),
        mut take: impl FnMut(usize, usize, &[f64]),
    ) {
        let (mut v, mut y) = (vec![0.0; self.len()], vec![0.0; self.len()]);
        for colour in colours {
            let most = colour.iter().map(|&e| columns(e as usize)).max().unwrap_or(0);
            for j in 0..most {
                let seeded = || colour.iter().map(|&e| e as usize).filter(|&e| j < columns(e));
                v.fill(0.0);
                seeded().for_each(|e| seed(e, j, &mut v));
                self.multiply(&v, &mut y);
                seeded().for_each(|e| take(e, j, &y));
            }
        }
    }

    /// `out ← R′(u) v`.
    pub(crate) fn multiply(&self, v: &[f64], out: &mut [f64]) {
        let inner = &mut *self.lock();
        inner.products += 1;
        let begun = Instant::now();
        // Each place is that of one entry; the copies are cheaper than the product by far.
        for (&place, &x) in self.places.iter().zip(v) {
            inner.state[place as usize] = x;
        }
        // The values at faces may be those of a copy.
        for &(place, entry) in &self.copies {
            inner.state[place as usize] = v[entry as usize];
        }
        inner.tangent.eval(self.t, &inner.state, &mut inner.rate);
        let rate = &inner.rate;
        self.host.install(|| {
            out.par_chunks_mut(CHUNK).zip(self.places.par_chunks(CHUNK)).for_each(|(out, places)| {
                for (y, &place) in out.iter_mut().zip(places) {
                    *y = rate[place as usize];
                }
            });
        });
        inner.seconds += begun.elapsed().as_secs_f64();
    }
}
