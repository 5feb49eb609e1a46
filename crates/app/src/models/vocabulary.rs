//! The names that formulas of the solution may use, and the fields known by name: one table for output,
//! monitors, exports and source terms.

use dgsuite_physics::Real;
use dgsuite_physics::closures::EddyViscosity;
use dgsuite_physics::formula::{Formula, FormulaError, Names};
use dgsuite_physics::trace::Sym;

use super::variables::Variables;
use crate::file::expression::Constants;
use crate::file::problem::{InputError, Problem};
use crate::file::source::Located;
use dgsuite_solve::flow::{FILTER_WIDTH, Law};
use dgsuite_solve::incompressible::{Incompressible, TEMPERATURE};

/// A field known by name, with the formula of each component: one, or three for a vector.
pub type KnownField = (&'static str, Vec<&'static str>);

/// The name of the field of the velocity.
pub const VELOCITY: &str = "Velocity";

/// The name of the eddy viscosity of a closure.
const EDDY_VISCOSITY: &str = "EddyViscosity";

/// The total energy per volume in two and in three dimensions.
const ENERGY: [&str; 2] = ["p/(gamma - 1) + rho*(u^2 + v^2)/2", "p/(gamma - 1) + rho*(u^2 + v^2 + w^2)/2"];

/// The fields known by name for a gas, in two and three dimensions.
fn gas_fields(dim: usize) -> Vec<KnownField> {
    let (energy, mach) = if dim == 3 {
        (ENERGY[1], "sqrt((u^2 + v^2 + w^2)*rho/(gamma*p))")
    } else {
        (ENERGY[0], "sqrt((u^2 + v^2)*rho/(gamma*p))")
    };
    let momentum = if dim == 3 { vec!["rho*u", "rho*v", "rho*w"] } else { vec!["rho*u", "rho*v", "0"] };
    let mut fields = vec![
        ("Density", vec!["rho"]),
        velocity(dim),
        ("Pressure", vec!["p"]),
        ("Mach", vec![mach]),
        ("Momentum", momentum),
        ("Energy", vec![energy]),
        ("Temperature", vec!["p/(rho*gas_constant)"]),
        ("SoundSpeed", vec!["sqrt(gamma*p/rho)"]),
        ("Entropy", vec!["log(p/rho^gamma)"]),
    ];
    fields.extend(derivatives(dim));
    // The magnitude of the density gradient, as in schlieren pictures.
    let schlieren = if dim == 3 { "sqrt(rho_x^2 + rho_y^2 + rho_z^2)" } else { "sqrt(rho_x^2 + rho_y^2)" };
    fields.push(("Schlieren", vec![schlieren]));
    fields
}

/// The fields known by name for incompressible flow, and the number of those that are written by default.
fn incompressible_fields(law: &Incompressible, dim: usize) -> (Vec<KnownField>, usize) {
    let mut fields = vec![velocity(dim), ("Pressure", vec!["p"])];
    let scalars = law.scalars.iter().map(|scalar| scalar.name);
    fields.extend(scalars.map(|name| (if name == TEMPERATURE { "Temperature" } else { name }, vec![name])));
    let usual = fields.len();
    fields.extend(derivatives(dim));
    (fields, usual)
}

/// The velocity, with three components.
pub fn velocity(dim: usize) -> KnownField {
    (VELOCITY, if dim == 3 { vec!["u", "v", "w"] } else { vec!["u", "v", "0"] })
}

/// The fields of derivatives of the velocity.
fn derivatives(dim: usize) -> Vec<KnownField> {
    let three = dim == 3;
    // Q = (|Ω|² − |S|²)/2 = −½ ∂v_i/∂x_j ∂v_j/∂x_i.
    let q = match three {
        true => "-(u_x^2 + v_y^2 + w_z^2)/2 - u_y*v_x - u_z*w_x - v_z*w_y",
        false => "-(u_x^2 + v_y^2)/2 - u_y*v_x",
    };
    vec![
        // In two dimensions it is the component along the normal of the plane.
        ("Vorticity", if three { vec!["w_y - v_z", "u_z - w_x", "v_x - u_y"] } else { vec!["v_x - u_y"] }),
        ("QCriterion", vec![q]),
        ("Divergence", vec![if three { "u_x + v_y + w_z" } else { "u_x + v_y" }]),
    ]
}

/// Returns the fields known by name for a law, and the number of those that are written by default.
pub fn known_fields(law: &Law, dim: usize) -> (Vec<KnownField>, usize) {
    match law {
        Law::Advection { .. } => (Vec::new(), 0),
        Law::Euler { .. } | Law::NavierStokes(_) => (gas_fields(dim), 3),
        Law::Incompressible(law) => incompressible_fields(law, dim),
    }
}

/// The eddy viscosity `ν_t` of a closure, a kinematic one, as a formula of these arguments.
fn eddy_viscosity(closure: &EddyViscosity, dim: usize, arguments: &[&str]) -> Formula {
    Formula::record(EDDY_VISCOSITY, arguments, |values| {
        let value = |name: &str| {
            arguments.iter().position(|a| *a == name).map_or_else(|| Sym::lit(0.0), |i| values[i])
        };
        let slope = |i: usize, d: usize| value(&format!("{}_{}", ["u", "v", "w"][i], ["x", "y", "z"][d]));
        let within = |i: usize, d: usize| if i.max(d) < dim { slope(i, d) } else { Sym::lit(0.0) };
        let gradient = std::array::from_fn(|d| std::array::from_fn(|i| within(i, d)));
        let EddyViscosity { closure, constant, .. } = *closure;
        closure.mixing(constant, value(FILTER_WIDTH)) * closure.rate(&gradient)
    })
}

/// The names that a formula of the solution may use.
pub struct Vocabulary {
    /// With the constants of the file, which hide derived quantities of the same name.
    names: Names,
    /// Without them, for the formulas of the derived quantities.
    own: Names,
    /// The derived quantities, in the order of the tables.
    derived: Vec<String>,
}

impl Vocabulary {
    /// All names: the arguments are the primitive variables, their derivatives, `x, y, z, t`, and with a
    /// closure the filter width. Derived quantities are `gamma` and `gas_constant` of a gas, the conserved
    /// variables, the eddy viscosity of a closure, and the components of the known fields: `Mach`,
    /// `Vorticity`, of vectors `Momentum_x`.
    pub fn new(variables: &Variables, constants: &Constants) -> Self {
        Self::with_arguments(variables, constants, &variables.arguments())
    }

    /// The names with other arguments; derived quantities that need more than these are not among them.
    pub fn with_arguments(variables: &Variables, constants: &Constants, arguments: &[&str]) -> Self {
        let all = variables.arguments();
        let mut own = Names::new(all.iter().copied());
        let mut derived: Vec<(String, &str)> = Vec::new();
        let dim = variables.dim();
        if let Some(gas) = variables.law().gas() {
            for (name, value) in [("gamma", gas.gamma), ("gas_constant", variables.law().gas_constant())] {
                // No variable has one of these names.
                own = own.clone().constant(name, value).unwrap_or(own);
                derived.push((name.to_owned(), name));
            }
            let energy = ENERGY[usize::from(dim == 3)];
            let conserved = ["rho", "rho*u", "rho*v"].into_iter().chain((dim == 3).then_some("rho*w"));
            let texts = conserved.chain([energy]);
            derived.extend(variables.conserved.iter().map(|&name| name.to_owned()).zip(texts));
        }
        for (name, components) in known_fields(variables.law(), dim).0 {
            if variables.primitive.contains(&name) {
                continue;
            }
            match components[..] {
                [only] => derived.push((name.to_owned(), only)),
                _ => {
                    let axes = ["x", "y", "z"].iter().zip(components).take(dim);
                    derived.extend(axes.map(|(axis, text)| (format!("{name}_{axis}"), text)));
                }
            }
        }
        let mut names = constants.names(arguments);
        for (name, text) in &derived {
            // The texts of the tables are formulas in these names, which a test checks.
            names = names.clone().define(name, text, &own).unwrap_or(names);
        }
        let mut derived: Vec<String> = derived.into_iter().map(|(name, _)| name).collect();
        if let Some(closure) = variables.law().closure() {
            let formula = eddy_viscosity(closure, dim, &all);
            own = own.formula(EDDY_VISCOSITY, formula.clone());
            names = names.formula(EDDY_VISCOSITY, formula);
            derived.push(EDDY_VISCOSITY.to_owned());
        }
        Self { names, own, derived }
    }

    /// Parses a formula of the file.
    ///
    /// # Errors
    /// The mistake in the text, with an excerpt of the file.
    pub fn formula(&self, text: &Located<String>) -> Result<Formula, InputError> {
        self.parse(&text.value).map_err(|error| InputError::formula(text, error))
    }

    /// Parses a formula of the file.
    ///
    /// # Errors
    /// The mistake in the text.
    pub fn parse(&self, text: &str) -> Result<Formula, FormulaError> {
        Formula::parse(text, &self.names)
    }

    /// Parses the formula of a known quantity `name`, in which constants of the file have no meaning.
    ///
    /// # Errors
    /// A mistake in the text, which is one of this program.
    pub fn known(&self, name: &str, text: &str) -> Result<Formula, InputError> {
        Formula::parse(text, &self.own)
            .map_err(|error| InputError::nowhere(Problem::Formula { key: name.to_owned(), error }))
    }

    /// Returns whether a name is that of a derived quantity.
    pub fn is_derived(&self, name: &str) -> bool {
        self.derived.iter().any(|derived| derived == name)
    }

    /// Returns the names of derived quantities.
    pub fn derived(&self) -> impl Iterator<Item = &str> {
        self.derived.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_solve::flow::Law;

    fn gas() -> Law {
        Law::Euler { gamma: 1.3, gas_constant: 2.0 }
    }

    #[test]
    fn names_of_conserved_variables_are_those_variables() {
        for (dim, state) in [(2, vec![1.5, 0.3, -0.2, 0.9]), (3, vec![1.5, 0.3, -0.2, 0.7, 0.9])] {
            let variables = Variables::of(&gas(), dim);
            let vocabulary = Vocabulary::new(&variables, &Constants::default());
            let mut arguments = state.clone();
            arguments.resize(state.len() * (1 + dim) + 4, 0.25);
            let conserved = variables.conserved.iter();
            let mut values: Vec<Vec<f64>> =
                conserved.map(|name| vec![vocabulary.parse(name).unwrap().eval(&arguments)]).collect();
            variables.to_primitive(&mut values);
            for (found, given) in values.iter().zip(&state) {
                assert!((found[0] - given).abs() < 1e-14, "{dim}: {values:?}");
            }
            let value = |text: &str| vocabulary.parse(text).unwrap().eval(&arguments);
            assert_eq!(value("gamma + t"), 1.55);
            let speed = if dim == 2 { "sqrt(u^2 + v^2)" } else { "sqrt(u^2 + v^2 + Velocity_z^2)" };
            assert!((value(&format!("Mach*SoundSpeed/{speed}")) - 1.0).abs() < 1e-14);
            assert!((value("Temperature") - 0.3).abs() < 1e-14);
        }
    }

    #[test]
    fn every_derived_quantity_is_a_formula_in_the_variables_of_its_law() {
        let liquid = Law::Incompressible(dgsuite_solve::incompressible::Incompressible::new(0.1));
        for law in [gas(), liquid] {
            for dim in [2, 3] {
                let variables = Variables::of(&law, dim);
                let vocabulary = Vocabulary::new(&variables, &Constants::default());
                for name in vocabulary.derived() {
                    vocabulary.parse(name).unwrap();
                }
                assert!(vocabulary.is_derived(if dim == 2 { "Vorticity" } else { "Vorticity_z" }));
                // Without derivatives among the arguments there are no quantities that need them.
                let state =
                    Vocabulary::with_arguments(&variables, &Constants::default(), &variables.primitive);
                assert!(state.parse("Velocity_y").is_ok() && state.parse("Divergence").is_err());
            }
        }
    }

    #[test]
    fn the_file_knows_the_names_of_all_states() {
        for dim in [2, 3] {
            let variables = Variables::of(&gas(), dim);
            let vocabulary = Vocabulary::new(&variables, &Constants::default());
            for name in variables.with_gradients().into_iter().chain(vocabulary.derived()) {
                assert!(crate::file::expression::STATE.contains(&name), "{name} is not in STATE");
            }
        }
    }

    #[test]
    fn a_constant_of_the_file_hides_a_derived_quantity_but_not_inside_of_others() {
        let variables = Variables::of(&gas(), 2);
        let constants = Constants::default().and("gamma", 9.0).and("Mach", 0.5);
        let vocabulary = Vocabulary::new(&variables, &constants);
        let mut arguments = vec![1.0, 0.0, 0.0, 1.3];
        arguments.resize(16, 0.0);
        let value = |text: &str| vocabulary.parse(text).unwrap().eval(&arguments);
        assert_eq!((value("gamma"), value("Mach")), (9.0, 0.5));
        assert!((value("SoundSpeed") - 1.3).abs() < 1e-14);
    }
}
