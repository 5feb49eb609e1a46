//! Plans of several ranks: rank 0 reads and cuts the mesh, and sends each other rank its part.

use std::sync::Arc;

use dgsuite_gpu::comm::{CommError, Communicator, one_works};
use dgsuite_mesh::MeshError;
use dgsuite_ops::{Distribution, OpsError, Ranks, agree};

use crate::file::problem::{InputError, Problem};
use crate::pipeline::Document;
use crate::plan::{Choices, Plan, monitors};
use dgsuite_solve::words::{Reader, Words};
use dgsuite_solve::{ROOT, RankMesh};

impl Plan {
    /// Resolves a file on all ranks of `comm`. Rank 0 makes its plan first, on the whole mesh; the others
    /// wait, and make theirs on their parts. Collective.
    ///
    /// # Errors
    /// All mistakes that the first rank with mistakes finds, and that another rank has found some on the
    /// other ranks.
    pub(crate) fn on_ranks(
        document: &Document,
        choices: &Choices,
        comm: &Arc<dyn Communicator>,
    ) -> Result<Self, InputError> {
        let lost = |error: CommError| InputError::from(OpsError::from(error));
        let damaged = |error: MeshError| InputError::from(OpsError::Message(error));
        let prepared = one_works(comm.as_ref(), ROOT, || {
            let mut plan = Self::new(document, choices)?;
            let unfit = |error| InputError::at(plan.outline.places.of(&error), Problem::Setup { error });
            let partition = plan.setup.partition().map_err(unfit)?;
            let told = plan.facts(document)?;
            Ok::<_, InputError>((plan, partition, told))
        });
        let prepared = agree(comm.as_ref(), prepared.map_err(lost)?.transpose())?;
        let cut = one_works(comm.as_ref(), ROOT, || {
            let Some((plan, partition, _)) = &prepared else { return Ok(None) };
            Distribution::new(plan.setup.mesh.seen(), partition, comm.size()).map(Some)
        });
        let cut = agree(comm.as_ref(), cut.map_err(lost)?.transpose().map_err(InputError::from))?;
        let ranks = Ranks::distribute(Arc::clone(comm), ROOT, cut.flatten());
        let ranks = Arc::new(agree(comm.as_ref(), ranks.map_err(InputError::from))?);
        let mut told = prepared.as_ref().map_or_else(Vec::new, |(_, _, told)| told.clone());
        comm.broadcast(ROOT, &mut told).map_err(lost)?;
        let plan = match prepared {
            Some((mut plan, ..)) => {
                plan.setup.mesh = plan.setup.mesh.distributed(ranks);
                plan.outline.mesh = plan.setup.mesh.clone();
                Ok(plan)
            }
            None => {
                let mut told = Reader::new(&told);
                let mesh = RankMesh::of_part(ranks, told.list()).map_err(damaged);
                mesh.and_then(|mesh| Self::on_mesh(document, choices, Some(mesh))).map(|mut plan| {
                    let places = monitors::places(&mut plan.monitors);
                    places.zip(told.places()).for_each(|(to, place)| *to = place);
                    plan
                })
            }
        };
        agree(comm.as_ref(), plan)
    }

    /// What the plans of other ranks need to know: facts of the whole mesh, places of points in it.
    fn facts(&mut self, document: &Document) -> Result<Vec<u8>, InputError> {
        let boundaries = &self.setup.mesh.seen().boundaries;
        let number = |name: &str| boundaries.iter().position(|tag| tag.name == name);
        let mut curved = Vec::new();
        for spec in document.pipeline()?.boundaries {
            if let (Some(corner), Some(number)) = (spec.condition.estimates_curve(), number(&spec.name.value))
            {
                curved.push((number as u32, corner));
            }
        }
        let mut words = Words::default();
        words.list(&self.setup.mesh.facts(self.outline.mesh_digest, &curved));
        let places: Vec<_> = monitors::places(&mut self.monitors).map(|place| *place).collect();
        words.places(places.iter());
        Ok(words.bytes().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dgsuite_gpu::comm::{on_each, threads};

    use super::*;
    use crate::file::source::Source;
    use dgsuite_solve::flow::BoundaryKind;

    const FLOW: &str = "\
mesh:
  generate: { shape: tri, cells: [12, 4] }
  map: { order: 1, x: (1 + 0.4*y)*sin(pi/2*x), y: (1 + 0.4*y)*cos(pi/2*x) }
physics: { model: euler }
space: { order: 1 }
initial: { rho: 1, u: 0.1, v: 0, p: 1 }
boundaries:
  xmin: { type: dirichlet, rho: 1, u: 0.1, v: 0, p: 1 }
  xmax: { type: outflow }
  ymin: { type: curved-slip-wall }
  ymax: { type: slip-wall }
time: { steps: 1 }
output: { surfaces: { boundaries: [xmax] } }
monitors:
  - probe: { points: [[0.1, 1.1], [1.1, 0.1]], fields: [rho], every_steps: 1 }
  - sample: { line: { from: [0, 0], to: [1, 1], points: 9 }, fields: [p], every_steps: 1 }
  - forces: { boundary: ymax, every_steps: 1, reference: { density: 1, length: 1, velocity: 1 } }
";

    fn document(text: &str) -> Document {
        let source = Source::new("a.yaml".to_owned(), text.to_owned());
        Document::parse(&source, Path::new("."), "a", false, &[]).expect("a file")
    }

    /// The plans of `n` ranks.
    fn plans(text: &str, n: usize) -> Vec<Result<Plan, InputError>> {
        let document = document(text);
        on_each(threads(n), |comm| {
            let comm: Arc<dyn Communicator> = Arc::new(comm);
            let choices = Choices { comm: Some(Arc::clone(&comm)), ..Choices::default() };
            Plan::on_ranks(&document, &choices, &comm)
        })
    }

    /// What a plan says of the whole mesh.
    fn said(plan: &mut Plan) -> String {
        let places: Vec<_> = monitors::places(&mut plan.monitors).map(|place| *place).collect();
        let mesh = &plan.setup.mesh;
        let normals = match plan.setup.boundaries.get("ymin") {
            Some(BoundaryKind::CurvedSlipWall { normals }) => {
                let mut values = vec![Vec::new(); 4];
                normals.eval(0.0, &[[0.3, 0.95, 0.0], [0.95, 0.3, 0.0]], &mut values);
                values
            }
            _ => Vec::new(),
        };
        let counts = (mesh.n_elements(), mesh.n_faces(), mesh.set_sizes(), mesh.max_order(), mesh.dim());
        let names = (mesh.boundary_names(), mesh.bounding_box(), plan.outline.mesh_digest);
        let known: Vec<&String> = plan.setup.boundaries.keys().collect();
        format!("{places:?} {normals:?} {counts:?} {names:?} {known:?} {}", mesh.digest())
    }

    #[test]
    fn ranks_other_than_0_hold_their_parts_and_know_the_same_of_the_whole() {
        let mut whole = Plan::new(&document(FLOW), &Choices::default()).expect("a plan");
        let (elements, points) = (whole.setup.mesh.n_elements(), whole.setup.mesh.seen().points.len());
        let expected = said(&mut whole);
        for n in [2, 3, 7] {
            let mut parts = 0;
            for (rank, plan) in plans(FLOW, n).into_iter().enumerate() {
                let mut plan = plan.expect("a plan");
                assert_eq!(said(&mut plan), expected, "rank {rank} of {n}");
                for mesh in [&plan.setup.mesh, &plan.outline.mesh] {
                    assert_eq!(mesh.is_part(), rank > 0);
                    let seen = mesh.seen();
                    let own = mesh.ranks().map_or(0, |ranks| ranks.elements().len());
                    let held = if rank == 0 { elements } else { own };
                    assert_eq!(seen.n_elements(), held, "rank {rank} of {n}");
                    assert!(rank == 0 || held <= elements / n + 16 && seen.points.len() < points * 3 / 4);
                    let last = mesh.ranks().map_or(0, |ranks| ranks.elements()[own - 1] as usize);
                    assert_eq!(mesh.tag(last), whole.setup.mesh.tag(last));
                    parts += own;
                }
            }
            assert_eq!(parts, 2 * elements, "{n} ranks");
        }
    }

    #[test]
    fn rank_0_finds_the_mistakes_in_the_mesh_and_the_plan() {
        for (good, bad) in [("[1.1, 0.1]", "[9, 9]"), ("boundary: ymax", "boundary: yend"), ("12, 4", "1, 1")]
        {
            let wrong = FLOW.replace(good, bad);
            let alone = Plan::new(&document(&wrong), &Choices::default()).err();
            let errors: Vec<InputError> =
                plans(&wrong, 5).into_iter().map(|plan| plan.err().expect("a mistake")).collect();
            if let Some(alone) = alone {
                assert_eq!(errors[0].to_string(), alone.to_string());
            }
            assert!(!errors[0].problem.is_elsewhere(), "{bad}");
            assert!(errors[1..].iter().all(|error| error.problem.is_elsewhere()), "{bad}");
        }
    }
}
