//! Elliptic problems on several ranks: parts of the mesh, coarse levels that each rank solves for itself, and
//! results on rank 0.
//!
//! Every rank has the whole mesh and the operator of order 1 on it. The other levels of p-multigrid are on
//! the rank's part of the mesh, with one layer of elements beyond it. Below them, residuals are gathered, and
//! all ranks do the same work, so that the iterates do not depend on the number of ranks.

use std::sync::{Arc, Mutex, PoisonError};

use dgsuite_amg::{Preconditioner, Transfer};
use dgsuite_gpu::comm::{Communicator, Joint};
use dgsuite_gpu::{GpuError, Host, HostVector};
use dgsuite_mesh::Partition;
use dgsuite_ops::elliptic::{EllipticRanks, Gathering, Linelets, Sipdg, SipdgOptions};
use dgsuite_ops::{OpsError, Sample, agree};

use super::bridge::Operator;
use super::machine::Number;
use super::work::weights;
use super::{BadDatum, EllipticCondition, EllipticError, EllipticSetup, SmootherKind};
use crate::rank_mesh::ROOT;
use crate::words::gathered::{merge_samples, write_samples};
use crate::words::{Reader, Words};

type Vector<T> = HostVector<T>;

/// The operators of a set-up on several ranks: the one of this rank's part, and that of order 1 on the whole
/// mesh. Collective.
pub(super) fn operators(
    setup: &EllipticSetup,
    host: &Arc<Host>,
    comm: &Arc<dyn Communicator>,
) -> Result<[Operator<f64>; 2], EllipticError> {
    let conditions: Vec<_> = setup.boundaries.iter().map(|c| (c.name.clone(), c.kind)).collect();
    let options = SipdgOptions { penalty: setup.penalty, ..SipdgOptions::new(setup.order) };
    let (kappa, lambda) = (&setup.kappa, &setup.lambda);
    let whole = Sipdg::<f64>::at(
        Arc::clone(&setup.mesh),
        (&options, 1),
        &|element, x| kappa(element, x),
        &|element, x| lambda(element, x),
        &conditions,
        Arc::clone(host),
    );
    let whole = agree(comm.as_ref(), whole.map_err(EllipticError::from))?;
    let lines = match setup.solver.smoother() {
        SmootherKind::Linelets => whole.linelets().clone(),
        _ => Linelets::default(),
    };
    let chains = lines.elements();
    let weights = weights(&setup.mesh, setup.order, setup.device, &chains);
    let joint = Arc::new(Joint::new(Arc::clone(comm)));
    let ranks = Partition::along_chains(&setup.mesh, comm.size(), |element| weights[element], &chains)
        .map_err(EllipticError::from)
        .and_then(|partition| Ok(EllipticRanks::new(Arc::clone(&setup.mesh), partition, &lines, joint)?));
    let ranks = Arc::new(agree(comm.as_ref(), ranks)?);
    let number = |element: usize| ranks.elements()[element] as usize;
    let part = Sipdg::<f64>::on_ranks(
        &ranks,
        &options,
        &|element, x| kappa(number(element), x),
        &|element, x| lambda(number(element), x),
        &conditions,
        Arc::clone(host),
    )?;
    Ok([Operator(Arc::new(part)), Operator(Arc::new(whole))])
}

/// The operator of an order on the whole mesh, in the numbers of a level.
pub(super) fn whole_at<T: Number>(whole: &Operator<f64>, order: usize) -> Result<Operator<T>, OpsError> {
    Ok(Operator(Arc::new(T::of(whole_of_order(&whole.0, order)?)?)))
}

/// The operator of an order on the whole mesh; of the same order with its own penalty.
pub(super) fn whole_of_order(whole: &Sipdg<f64>, order: usize) -> Result<Sipdg<f64>, OpsError> {
    if order == whole.order() { whole.at_lower_order(order) } else { whole.at_order(order) }
}

/// Copies between vectors of a part and of the whole mesh, on some machine.
pub(super) trait Gather<V>: Send + Sync {
    /// The whole vector, from all ranks. Collective.
    fn gather(&self, part: &V, whole: &mut V);
    /// Copies this rank's entries, with those of the layer, into a whole vector.
    fn put(&self, part: &V, whole: &mut V);
    /// Copies them from a whole vector.
    fn pick(&self, whole: &V, part: &mut V);
}

impl<T: Number> Gather<Vector<T>> for Gathering<T> {
    fn gather(&self, part: &Vector<T>, whole: &mut Vector<T>) {
        Gathering::gather(self, part, whole);
    }

    fn put(&self, part: &Vector<T>, whole: &mut Vector<T>) {
        Gathering::put(self, part, whole);
    }

    fn pick(&self, whole: &Vector<T>, part: &mut Vector<T>) {
        Gathering::pick(self, whole, part);
    }
}

/// Vectors of the whole mesh.
pub(super) struct Whole<V> {
    gathering: Box<dyn Gather<V>>,
    vectors: Mutex<[V; 2]>,
}

impl<V> Whole<V> {
    /// A gathering, and two vectors of the whole mesh.
    pub(super) fn new(gathering: impl Gather<V> + 'static, vectors: [V; 2]) -> Self {
        Self { gathering: Box::new(gathering), vectors: Mutex::new(vectors) }
    }
}

impl<T: Number> Whole<Vector<T>> {
    /// Between an operator on several ranks and that on the whole mesh. Collective.
    pub(super) fn on_host(part: &Sipdg<T>, whole: &Sipdg<T>, host: &Host) -> Result<Self, EllipticError> {
        let zeros = || Vector::zeros(host, whole.len());
        let vectors = [zeros()?, zeros()?];
        Ok(Self::new(Gathering::new(part, whole)?, vectors))
    }
}

/// A solver of a coarse level on the whole mesh, for vectors of a part.
pub(super) struct GatheredSolver<V> {
    /// A solver for vectors of the whole mesh.
    pub(super) inner: Box<dyn Preconditioner<V> + Send>,
    pub(super) whole: Whole<V>,
}

impl<V: dgsuite_gpu::Vector> Preconditioner<V> for GatheredSolver<V> {
    fn apply(&mut self, r: &V, z: &mut V) {
        let Whole { gathering, vectors } = &mut self.whole;
        let [whole_r, whole_z] = vectors.get_mut().unwrap_or_else(PoisonError::into_inner);
        gathering.gather(r, whole_r);
        self.inner.apply(whole_r, whole_z);
        gathering.pick(whole_z, z);
    }
}

/// The transfer from a level on parts to a coarser one on the whole mesh.
pub(super) struct GatheredTransfer<V> {
    /// A transfer from vectors of the whole mesh.
    pub(super) inner: Box<dyn Transfer<V> + Send + Sync>,
    pub(super) whole: Whole<V>,
}

impl<V: dgsuite_gpu::Vector> Transfer<V> for GatheredTransfer<V> {
    fn restrict(&self, fine: &V, coarse: &mut V) {
        let mut vectors = self.whole.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        self.whole.gathering.gather(fine, &mut vectors[0]);
        self.inner.restrict(&vectors[0], coarse);
    }

    fn prolong_add(&self, coarse: &V, fine: &mut V) {
        let mut vectors = self.whole.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        // The sums of this rank's entries are those of one rank; the others are not used.
        self.whole.gathering.put(fine, &mut vectors[0]);
        self.inner.prolong_add(coarse, &mut vectors[0]);
        self.whole.gathering.pick(&vectors[0], fine);
    }
}

/// The messages of all ranks on rank 0; none on others and after a failure, which the ranks keep.
fn gather(ranks: &EllipticRanks, words: &Words) -> Vec<Vec<u8>> {
    let gathered = ranks.joint().comm().gather(ROOT, words.bytes());
    ranks.joint().kept(gathered).flatten().unwrap_or_default()
}

/// The samples of all ranks, in the order of elements, on rank 0; none on others. Collective.
pub(super) fn samples(ranks: &EllipticRanks, own: &[Sample]) -> Vec<Sample> {
    let mut words = Words::default();
    write_samples(own, ranks.elements(), &mut words);
    merge_samples(&gather(ranks, &words))
}

/// The coefficients of all elements of the whole mesh, `[element][node]`, on rank 0; none on others.
/// Collective.
pub(crate) fn coefficients(ranks: &EllipticRanks, part: &Sipdg<f64>, u: &[f64]) -> Vec<f64> {
    let mut words = Words::default();
    for (local, entries) in part.blocks_of_unknowns().into_iter().enumerate() {
        if ranks.owns(local) {
            words.number(ranks.elements()[local] as usize);
            words.reals(entries.iter().map(|&entry| u[entry as usize]));
        }
    }
    let mut of_element = vec![Vec::new(); ranks.whole().n_elements()];
    let messages = gather(ranks, &words);
    for message in &messages {
        let mut reader = Reader::new(message);
        while !reader.is_empty() {
            let (element, values) = (reader.number(), reader.reals());
            if let Some(place) = of_element.get_mut(element) {
                *place = values;
            }
        }
    }
    of_element.concat()
}

/// The first failure of the communication.
pub(super) fn failure(operator: &Operator<f64>) -> Option<GpuError> {
    operator.0.ranks().and_then(|ranks| ranks.joint().take_failure()).map(GpuError::from)
}

impl Operator<f64> {
    /// The number in the whole mesh of an element of this rank's mesh.
    pub(super) fn number(&self, element: usize) -> usize {
        self.0.ranks().map_or(element, |ranks| ranks.elements()[element] as usize)
    }

    /// Right-hand side and conditions as functions of the elements of this rank's mesh.
    pub(super) fn data(
        &self,
        setup: &EllipticSetup,
    ) -> (impl Fn(usize, [f64; 3]) -> f64 + Sync + use<>, Vec<EllipticCondition>) {
        let (operator, forcing) = (self.clone(), Arc::clone(&setup.forcing));
        let forcing = move |element: usize, x| forcing(operator.number(element), x);
        let of = |condition: &EllipticCondition| {
            let (operator, data) = (self.clone(), Arc::clone(&condition.data));
            let data = move |element: usize, x: [f64; 3], normal: [f64; 3]| {
                data(operator.number(element), x, normal)
            };
            EllipticCondition { data: Arc::new(data), ..condition.clone() }
        };
        (forcing, setup.boundaries.iter().map(of).collect())
    }

    /// The bad datum that the lowest rank has found. Collective.
    pub(super) fn agreed(&self, found: Option<BadDatum>) -> Option<BadDatum> {
        let Some(ranks) = self.0.ranks() else { return found };
        let comm = ranks.joint().comm();
        let mut first = [if found.is_some() { -(comm.rank() as f64) } else { f64::NEG_INFINITY }];
        ranks.joint().max(&mut first);
        if !first[0].is_finite() {
            return found;
        }
        let mut bytes = found.as_ref().map_or_else(Vec::new, BadDatum::to_bytes);
        let told = comm.broadcast(-first[0] as usize, &mut bytes);
        ranks.joint().kept(told).and_then(|()| BadDatum::from_bytes(&bytes)).or(found)
    }
}
