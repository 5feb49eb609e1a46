//! Means over time, standard deviations and covariances: time integrals of fields and of products of fields
//! at the points of the cells, stored in checkpoints.
//!
//! With `⟨f⟩ = (1/T) ∫ f dt`, the standard deviation of a field is `√(⟨f²⟩ − ⟨f⟩²)` and the Reynolds stress
//! of two components of the velocity is `⟨u v⟩ − ⟨u⟩⟨v⟩`, without the density.

mod content;

use std::path::PathBuf;
use std::sync::Arc;

use dgsuite_basis::Shape;
use dgsuite_timeint::TimePoint;
use serde::{Deserialize, Serialize};

use self::content::Content;

use super::named::{self, FieldSpec, OutputField};
use super::schedule::Schedule;
use super::{At, Context, Kept, Kind, Opener, Opening, Resolved, Spec, Writer, sampled};
use crate::file::beginning::{Begin, Beginning};
use crate::file::every::{Every, STEPS, TIME};
use crate::file::expression::Constants;
use crate::file::keys::Absent::{Nothing, Says, Value};
use crate::file::keys::Kind::{Flag, Number, Section as Of, Words};
use crate::file::keys::Range::Any;
use crate::file::keys::{FLOW, FLUID, row};
use crate::file::problem::{InputError, Problem};
use crate::file::source::Located;
use crate::models::variables::Variables;
use crate::models::vocabulary::{self, VELOCITY, Vocabulary};
use crate::monitors::MonitorError;
use dgsuite_output::checkpoint::Section;
use dgsuite_output::writer::{Field, UnstructuredFields, Values, VtuOptions, WriterError};
use dgsuite_solve::flow::{Flow, Law};

/// Means over time.
pub static OUTPUT: Kind = Kind {
    name: "averages",
    keys: &[
        row(
            "output.averages",
            &[Words(&["none"]), Of],
            Value("none"),
            "Means of fields over time, in `averages.vtu` at the end and in checkpoints; `none` computes none.",
        )
        .of(FLOW),
        row(
            "output.averages.from",
            &[Number(Any), Of],
            Value("0"),
            "The time from which samples are taken, or `when: CONDITION`.",
        )
        .of(FLOW),
        row(
            "output.averages.every",
            &[TIME],
            Nothing,
            "The interval of time between samples, in place of `every_steps`.",
        )
        .of(FLOW),
        row(
            "output.averages.every_steps",
            &[Words(&["auto"]), STEPS],
            Says("1 for incompressible flow on CPUs, otherwise `auto`"),
            "The number of steps between samples. `auto`: a hundredth of the steps since the first sample, at least \
             1 and at most 20 (on a GPU 100, of incompressible flow 10): short runs sample each step, and the \
             samples of long ones cost little.",
        )
        .of(FLOW),
        row(
            "output.averages.deviations",
            &[Flag],
            Value("false"),
            "Writes the standard deviation over time of every field beside its mean, as `NAME_std`.",
        )
        .of(FLOW),
        row(
            "output.averages.reynolds_stresses",
            &[Flag],
            Value("false"),
            "Writes `ReynoldsStresses`, the covariances over time of the components of the velocity: xx, yy, zz, xy, \
             yz, xz.",
        )
        .of(FLUID),
    ],
    read: |section| {
        Ok(Arc::new(AveragesSpec {
            from: Beginning::read(section)?.unwrap_or(Beginning::Time(0.0)),
            every: Every::given_or_auto(section)?,
            names: FieldSpec::read_all(section)?,
            deviations: section.flag("deviations")?.is_some_and(|flag| flag.value),
            reynolds_stresses: section.flag("reynolds_stresses")?.filter(|flag| flag.value),
        }))
    },
    usual: |_, _| None,
    writes_files: false,
    after_all: false,
};

#[derive(Debug)]
struct AveragesSpec {
    from: Beginning,
    /// How often samples are taken; `None` for as often as is cheap.
    every: Option<Every>,
    names: Option<Vec<FieldSpec>>,
    deviations: bool,
    reynolds_stresses: Option<Located<bool>>,
}

impl AveragesSpec {
    /// Returns how often samples are taken: by default in each step at first, later at intervals of up to
    /// `most` steps.
    ///
    /// The means of a short run need each step. In a long one the steps between two samples, a hundredth of
    /// all, carry nothing that the means would notice.
    fn sampled(&self, most: usize) -> Every {
        self.every.unwrap_or(if most == 1 { Every::Steps(1) } else { Every::Growing(most) })
    }
}

impl Spec for AveragesSpec {
    fn resolve(&self, context: &Context<'_>) -> Result<Resolved, InputError> {
        let fields = context.at_points(self.names.as_deref())?;
        let every = self.sampled(context.most);
        let plan = Arc::new(AveragesPlan {
            every,
            fields: averaged(self.reynolds_stresses.as_ref(), fields, context.variables)?,
            deviations: self.deviations,
            reynolds_stresses: self.reynolds_stresses.is_some(),
        });
        let about = format!("means of {} sampled", named::list(&plan.fields));
        let open: Opener = Box::new(move |opening| Ok(Box::new(Averages::new(Arc::clone(&plan), opening))));
        Ok(Resolved { every, about, open })
    }

    fn from(&self) -> Option<&Beginning> {
        Some(&self.from)
    }

    fn is_mean(&self) -> bool {
        true
    }

    // Means with deviations, and the values of the last sample.
    fn kept(&self, numbers: &dyn Fn(Option<&[FieldSpec]>) -> usize) -> usize {
        numbers(self.names.as_deref()) * if self.deviations { 3 } else { 2 }
    }

    fn chosen(&self, most: usize) -> Option<(&'static str, Every)> {
        self.every.is_none().then(|| ("every_steps", self.sampled(most)))
    }
}

/// Means over time, resolved.
#[derive(Debug)]
struct AveragesPlan {
    /// How often samples are taken.
    every: Every,
    fields: Vec<OutputField>,
    deviations: bool,
    /// Whether the covariances of the components of the field `Velocity`, which is there then, are written.
    reynolds_stresses: bool,
}

/// The fields whose means are taken: those of the file, and the velocity where its covariances are wanted.
///
/// # Errors
/// Covariances for a law without velocity; a formula of the file that takes the name of the velocity.
fn averaged(
    wanted: Option<&Located<bool>>,
    mut fields: Vec<OutputField>,
    variables: &Variables,
) -> Result<Vec<OutputField>, InputError> {
    let Some(wanted) = wanted else { return Ok(fields) };
    let refuse = |owner: &str, belongs: &str| {
        let (key, owner, belongs) = (wanted.key.clone(), owner.to_owned(), belongs.to_owned());
        Err(InputError::at(&wanted.place, Problem::Misplaced { key, owner, belongs }))
    };
    if matches!(variables.law(), Law::Advection { .. }) {
        return refuse("an equation without velocity", "flow of a gas or a liquid");
    }
    let velocity = |field: &OutputField| field.name == VELOCITY;
    if fields.iter().any(|field| velocity(field) && field.components.len() != 3) {
        return refuse("a file with a formula of the name `Velocity`", "fields with another name");
    }
    if !fields.iter().any(velocity) {
        let vocabulary = Vocabulary::new(variables, &Constants::default());
        let texts = vocabulary::velocity(variables.dim()).1;
        let compiled = texts.into_iter().map(|text| vocabulary.known(VELOCITY, text));
        let components = compiled.collect::<Result<_, _>>()?;
        fields.push(OutputField {
            name: VELOCITY.to_owned(),
            components,
            gradients: false,
            of_element: None,
        });
    }
    Ok(fields)
}

/// The components of a symmetric tensor in the order of VTK: xx, yy, zz, xy, yz, xz.
const SYMMETRIC: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2)];

/// What a checkpoint says about its means.
#[derive(Deserialize, Serialize)]
struct About {
    #[serde(flatten)]
    content: Content,
    /// The step of the first sample.
    #[serde(default)]
    since: u64,
}

/// Time integrals by the trapezoidal rule, starting at a given time.
struct Averages {
    plan: Arc<AveragesPlan>,
    schedule: Schedule,
    content: Content,
    lattice_order: usize,
    /// From when on samples are taken.
    from: Begin,
    path: PathBuf,
    options: VtuOptions,
    /// The integrals: all fields of all cells, one after the other, then the products in the same order.
    sum: Vec<f64>,
    /// The time that they span.
    length: f64,
    /// The last sample and its time.
    last: Option<(f64, Vec<f64>)>,
    /// The content of integrals and sample, if these are those of a run with other means.
    other: Option<Content>,
    /// A sentence for the log.
    news: Option<String>,
}

impl Averages {
    /// Starts from zero, or from the integrals in a checkpoint: they continue if they have all that is wanted
    /// now, and no more time.
    fn new(plan: Arc<AveragesPlan>, opening: &Opening<'_>) -> Self {
        let Opening { now, begun, .. } = *opening;
        let lattice_order = opening.lattice_order();
        let mut new = Self {
            schedule: Schedule::new(plan.every, now),
            content: Content::of(&plan, lattice_order),
            plan,
            lattice_order,
            from: opening.from,
            path: opening.directory.averages(),
            options: opening.fields.options(),
            sum: Vec::new(),
            length: 0.0,
            last: None,
            other: None,
            news: None,
        };
        let Some(saved) = opening.saved else { return new };
        let [length, time, values @ ..] = &saved.averages[..] else { return new };
        // Checkpoints of older versions do not say what their means are of.
        let about = saved.section(content::SECTION).and_then(Section::description::<About>);
        let since = about.as_ref().map_or(0, |about| about.since);
        let other = about.map_or_else(|| new.content.clone(), |about| about.content);
        new.news = new.why_anew((*length, *time), &other, begun, now.t);
        if begun && new.news.is_none() {
            let (sum, last) = values.split_at(values.len() / 2);
            (new.length, new.sum, new.last) = (*length, sum.to_vec(), Some((*time, last.to_vec())));
            new.other = (other != new.content).then_some(other);
            new.schedule = Schedule::since(since, new.plan.every, now);
        }
        new
    }

    /// Says why means do not continue those of a checkpoint, which span a time of `length` up to `time`, if
    /// that is so.
    fn why_anew(&self, (length, time): (f64, f64), other: &Content, begun: bool, now: f64) -> Option<String> {
        let start = time - length;
        let more = self.content.more_than(other);
        let reason = match self.from {
            _ if !begun => format!("those in the checkpoint, from t = {start:.6} on, are left out"),
            // The start is a difference of sums.
            Begin::At(from) if start < from && (from - start) > 1e-9 * time.abs().max(length) => {
                format!(
                    "those in the checkpoint began at t = {start:.6}, before output.averages.from, {from}"
                )
            }
            _ if !more.is_empty() => format!("the checkpoint has none of {}", more.join(", ")),
            _ => return None,
        };
        let when = if begun { format!("anew at t = {now}") } else { "later".to_owned() };
        Some(format!("warning: means (output.averages) begin {when}: {reason}"))
    }

    /// Takes a sample if one is due now or if there is none yet, once means have begun.
    fn record(&mut self, solver: &Flow, now: TimePoint, between: bool) {
        let due = if between { self.schedule.due_between(now) } else { self.schedule.due(now) };
        if between && !due {
            return;
        }
        if !(due || self.last.is_none() || self.other.is_some()) {
            return;
        }
        let fields = self.sample(solver, now.t);
        let values = moments(&self.plan, &fields);
        self.convert(&fields, values.len(), now.t);
        if !(due || self.last.is_none()) {
            return;
        }
        match &self.last {
            Some((before, earlier)) => {
                self.length += now.t - before;
                add(&mut self.sum, now.t - before, earlier, &values);
            }
            None => {
                self.sum = vec![0.0; values.len()];
                self.length = 0.0;
                self.schedule = Schedule::new(self.plan.every, now);
            }
        }
        self.last = Some((now.t, values));
    }

    /// Converts the numbers of a checkpoint of other means to `n` numbers of these, on the cells of `fields`.
    fn convert(&mut self, fields: &UnstructuredFields, n: usize, now: f64) {
        let Some((time, last)) = self.last.take() else { return };
        let sum = std::mem::take(&mut self.sum);
        let converted = match self.other.take() {
            Some(other) => {
                let cells: Vec<(Shape, usize)> =
                    fields.pieces.iter().map(|piece| (piece.shape, piece.n_cells())).collect();
                let [sum, last] = [&sum, &last].map(|numbers| self.content.convert(&other, &cells, numbers));
                sum.zip(last)
            }
            None => Some((sum, last)),
        };
        match converted.filter(|(sum, last)| (sum.len(), last.len()) == (n, n)) {
            Some((sum, last)) => (self.sum, self.last) = (sum, Some((time, last))),
            None => {
                self.news = Some(format!(
                    "warning: means (output.averages) begin anew at t = {now}: those in the checkpoint are of other fields \
                     or another order"
                ));
            }
        }
    }

    /// Writes the means up to now, if any time has passed. The sums stay, so that stopping and continuing a
    /// run does not change them.
    ///
    /// # Errors
    /// The errors of the writer.
    fn write_means(&self, solver: &Flow, t: f64) -> Result<(), WriterError> {
        let Some((before, earlier)) = &self.last else { return Ok(()) };
        let length = self.length + (t - before);
        let mut means = self.sample(solver, t);
        let values = moments(&self.plan, &means);
        if length <= 0.0 || self.other.is_some() || values.len() != earlier.len() {
            return Ok(());
        }
        let mut sum = self.sum.clone();
        add(&mut sum, t - before, earlier, &values);
        sum.iter_mut().for_each(|sum| *sum /= length);
        replace(&self.plan, &mut means, &sum);
        means.write(&self.path, &self.options).map(|_| ())
    }

    fn sample(&self, solver: &Flow, t: f64) -> UnstructuredFields {
        sampled::sample(solver, t, self.lattice_order, &self.plan.fields, false)
    }
}

impl Writer for Averages {
    fn schedule(&mut self) -> &mut Schedule {
        &mut self.schedule
    }

    fn wanted(&mut self, at: &At) -> bool {
        at.begun || at.end
    }

    fn write(&mut self, solver: &mut Flow, at: &At, _: Kept) -> Result<(), MonitorError> {
        if at.begun {
            self.record(solver, at.now, at.between);
        }
        if at.end { Ok(self.write_means(solver, at.now.t)?) } else { Ok(()) }
    }

    /// The integrals with the last sample, and what they are of.
    fn sums(&self) -> Option<(Vec<f64>, Section<'static>)> {
        let (time, last) = self.last.as_ref()?;
        let numbers = [self.length, *time].into_iter().chain(self.sum.iter().copied());
        let content = self.other.as_ref().unwrap_or(&self.content).clone();
        let about = About { content, since: self.schedule.start() };
        let section = Section::optional(content::SECTION, 1).about(&about);
        Some((numbers.chain(last.iter().copied()).collect(), section))
    }

    fn news(&mut self) -> Option<String> {
        self.news.take()
    }
}

/// The values of all fields, cell blocks one after the other, then those of their products.
fn moments(plan: &AveragesPlan, fields: &UnstructuredFields) -> Vec<f64> {
    let fields: Vec<&Field> = fields.pieces.iter().flat_map(|piece| &piece.point_data).collect();
    let products_of = |field: &Field| products(plan, field).iter().map(|p| p.factors.len()).sum::<usize>();
    let len = |field: &&Field| real(field).len() * (field.components + products_of(field)) / field.components;
    let mut moments = Vec::with_capacity(fields.iter().map(len).sum());
    fields.iter().for_each(|field| moments.extend_from_slice(real(field)));
    for field in fields {
        for product in products(plan, field) {
            for v in real(field).chunks_exact(field.components) {
                product.factors.iter().for_each(|&(a, b)| moments.push(v[a] * v[b]));
            }
        }
    }
    moments
}

/// Replaces the values of fields by their means, and adds the fields that follow from means of products, from
/// the means of all [`moments`].
fn replace(plan: &AveragesPlan, fields: &mut UnstructuredFields, means: &[f64]) {
    let mut means = means.iter().copied();
    for field in fields.pieces.iter_mut().flat_map(|piece| &mut piece.point_data) {
        if let Values::Real(values) = &mut field.values {
            values.iter_mut().zip(means.by_ref()).for_each(|(x, mean)| *x = mean);
        }
    }
    for piece in &mut fields.pieces {
        let mut more = Vec::new();
        for field in &piece.point_data {
            for Product { name, deviation, factors } in products(plan, field) {
                // Rounding may leave a variance below zero.
                let root = |x: f64| if deviation { x.max(0.0).sqrt() } else { x };
                let points = real(field).chunks_exact(field.components);
                let pairs = points.flat_map(|v| factors.iter().map(|&(a, b)| v[a] * v[b]));
                let covariances = pairs.zip(means.by_ref()).map(|(product, mean)| root(mean - product));
                more.push(Field::real(name, factors.len(), covariances.collect()));
            }
        }
        piece.point_data.extend(more);
    }
}

/// The products of a field's values whose means are taken, too.
fn products(plan: &AveragesPlan, field: &Field) -> Vec<Product> {
    let mut products = Vec::new();
    if plan.deviations {
        let factors = (0..field.components).map(|c| (c, c)).collect();
        products.push(Product { name: format!("{}_std", field.name), deviation: true, factors });
    }
    if plan.reynolds_stresses && field.name == VELOCITY {
        let factors = SYMMETRIC.to_vec();
        products.push(Product { name: "ReynoldsStresses".to_owned(), deviation: false, factors });
    }
    products
}

/// Products of the components of a field at one point.
struct Product {
    /// The name of the field of their covariances.
    name: String,
    /// Whether the square root is written.
    deviation: bool,
    /// The components that are multiplied.
    factors: Vec<(usize, usize)>,
}

/// Adds a trapezoid of width `dt`.
fn add(sum: &mut [f64], dt: f64, earlier: &[f64], now: &[f64]) {
    for ((sum, a), b) in sum.iter_mut().zip(earlier).zip(now) {
        *sum += 0.5 * dt * (a + b);
    }
}

/// The values of a field of real numbers.
fn real(field: &Field) -> &[f64] {
    match &field.values {
        Values::Real(values) => values,
        Values::Integer(_) => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_output::writer::CellBlock;
    use std::f64::consts::{FRAC_1_SQRT_2, TAU};

    /// Two blocks with one point each: `p = 3 + sin t`, and a velocity that turns about `(2, 1, 0)`.
    fn at(t: f64) -> UnstructuredFields {
        let block = |scale: f64| CellBlock {
            shape: Shape::Triangle,
            order: 1,
            points: vec![[0.0; 3]],
            point_data: vec![
                Field::real("p", 1, vec![3.0 + scale * t.sin()]),
                Field::real(VELOCITY, 3, vec![2.0 + scale * t.cos(), 1.0 + scale * (t.cos() + t.sin()), 0.0]),
            ],
            cell_data: Vec::new(),
        };
        UnstructuredFields { time: t, pieces: vec![block(1.0), block(2.0)] }
    }

    #[test]
    fn deviations_and_stresses_are_those_of_a_harmonic_oscillation() {
        let plan = AveragesPlan {
            every: Every::Steps(1),
            fields: Vec::new(),
            deviations: true,
            reynolds_stresses: true,
        };
        let times: Vec<f64> = (0..=16).map(|i| TAU * f64::from(i) / 16.0).collect();
        let samples: Vec<Vec<f64>> = times.iter().map(|&t| moments(&plan, &at(t))).collect();
        let mut sum = vec![0.0; samples[0].len()];
        times.windows(2).zip(samples.windows(2)).for_each(|(t, s)| add(&mut sum, t[1] - t[0], &s[0], &s[1]));
        sum.iter_mut().for_each(|sum| *sum /= TAU);
        let mut fields = at(0.3);
        replace(&plan, &mut fields, &sum);
        for (piece, scale) in fields.pieces.iter().zip([1.0_f64, 2.0]) {
            let expected = [
                ("p", vec![3.0]),
                (VELOCITY, vec![2.0, 1.0, 0.0]),
                ("p_std", vec![scale * FRAC_1_SQRT_2]),
                ("Velocity_std", vec![scale * FRAC_1_SQRT_2, scale, 0.0]),
                ("ReynoldsStresses", [0.5, 1.0, 0.0, 0.5, 0.0, 0.0].map(|x| x * scale * scale).to_vec()),
            ];
            assert_eq!(piece.point_data.len(), expected.len());
            for (field, (name, values)) in piece.point_data.iter().zip(expected) {
                assert_eq!((&*field.name, field.components), (name, values.len()));
                let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-7;
                assert!(real(field).iter().zip(&values).all(near), "{name}: {:?}", real(field));
            }
        }
    }
}
