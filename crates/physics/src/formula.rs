//! Formulas of users: parsed once, evaluated in batches, differentiated, or recorded for a GPU.
//!
//! # Language
//! Numbers, the variables and constants of a [`Names`], `pi`, `deg` (π/180); `+ - * /`, `^` or `**` (right
//! associative, above a sign: `-2^2` is −4, `2^3^2` is 512); `< <= > >= == !=`, `&& || !`;
//! `if(condition, a, b)`; functions of one number `sin cos tan asin acos atan sinh cosh tanh exp log (= ln)
//! log10 sqrt abs sign floor erf`, of two `atan2 pow`, of two or more `min max`. `/` is real division. A
//! condition used as a number is 1 or 0; a number used as a condition is true unless it is 0. A value that is
//! infinite or NaN does not become 0 by multiplication with 0.
//!
//! ```
//! use dgsuite_physics::formula::{Formula, Names};
//!
//! let names = Names::new(["x", "t"]).constant("M", 0.5)?;
//! let f = Formula::parse("1 + M*sin(2*pi*(x - t))", &names)?;
//! assert_eq!(f.eval(&[0.25, 0.0]), 1.5);
//!
//! let error = Formula::parse("1 + M*sn(x)", &names).unwrap_err();
//! assert_eq!(error.snippet(), "1 + M*sn(x)\n      ^^");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod fields;
mod functions;
mod names;
mod parser;
mod table;
mod token;

pub use error::{FormulaError, FormulaErrorKind};
pub(crate) use fields::parse_fields;
pub use fields::{FieldsError, FormulaExact};
pub use names::{NameError, Names};
pub use table::{Table, TableError};

use crate::graph::{Graph, Id, Node, Tape};
use crate::real::{Dual, Real};
use crate::trace::{Sym, input, record};

/// A parsed formula: a number as a function of the variables of its [`Names`].
#[derive(Clone, Debug)]
pub struct Formula {
    text: String,
    graph: Graph,
    root: Id,
    tape: Tape,
}

impl Formula {
    /// Parses a formula.
    ///
    /// # Errors
    /// [`FormulaError`] with the text, the place of the error, and a hint if there is one.
    pub fn parse(text: &str, names: &Names) -> Result<Self, FormulaError> {
        let (graph, root) = parser::parse(text, names)?;
        let tape = Tape::new(&graph, &[root]);
        Ok(Self { text: text.to_owned(), graph, root, tape })
    }

    /// Records a formula of these variables; `text` stands for it in messages.
    ///
    /// ```
    /// use dgsuite_physics::formula::{Formula, Names};
    /// use dgsuite_physics::{Closure, closures};
    /// let variables = ["u_x", "v_x", "u_y", "v_y"];
    /// let rate = Formula::record("rate", &variables, |g| {
    ///     Closure::Smagorinsky.rate(&closures::in_space(&[[g[0], g[1]], [g[2], g[3]]]))
    /// });
    /// let names = Names::new(variables).formula("rate", rate);
    /// assert_eq!(Formula::parse("2*rate", &names)?.eval(&[0.0, 0.0, 3.0, 0.0]), 6.0);
    /// # Ok::<(), dgsuite_physics::formula::FormulaError>(())
    /// ```
    pub fn record(text: &str, variables: &[&str], f: impl FnOnce(&[Sym]) -> Sym) -> Self {
        let body = || {
            let variables: Vec<Sym> = variables.iter().map(|name| input(name)).collect();
            f(&variables).id()
        };
        let (graph, root) = record(body);
        let tape = Tape::new(&graph, &[root]);
        Self { text: text.to_owned(), graph, root, tape }
    }

    /// Returns the text that was parsed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns all variables that it may use, in the order of its arguments.
    pub fn names(&self) -> &[String] {
        self.graph.inputs()
    }

    /// Returns the variables on which its value depends.
    pub fn variables(&self) -> Vec<&str> {
        let live = self.graph.live(&[self.root]);
        let name = |(id, node): (Id, Node)| match node {
            Node::Input(i) if live[id.index()] => Some(self.graph.inputs()[i as usize].as_str()),
            _ => None,
        };
        self.graph.iter().filter_map(name).collect()
    }

    /// Returns whether its value depends on this variable.
    pub fn depends_on(&self, variable: &str) -> bool {
        self.variables().contains(&variable)
    }

    /// Returns its value, if it is the same for all values of variables and parameters.
    pub fn constant(&self) -> Option<f64> {
        self.graph.literal_value(self.root)
    }

    /// Evaluates it at one point.
    ///
    /// # Panics
    /// If `values` does not have one entry for each variable of its names.
    pub fn eval(&self, values: &[f64]) -> f64 {
        self.trace(values)
    }

    /// Evaluates it at many points: `out[i]` from `values[v][i]`, variable `v` at point `i`. A slice of
    /// length 1 is a variable that is the same at all points. Nothing is allocated after the first calls on a
    /// thread.
    ///
    /// # Panics
    /// If `values` does not have one entry per variable, each as long as `out` or of length 1.
    pub fn eval_batch(&self, values: &[&[f64]], out: &mut [f64]) {
        self.check_count(values.len());
        self.tape.eval(out.len(), values, &mut |_, range, block| out[range].copy_from_slice(block));
    }

    /// Evaluates over any number type: dual numbers give derivatives, symbols record the formula.
    ///
    /// ```
    /// use dgsuite_physics::Dual;
    /// use dgsuite_physics::formula::{Formula, Names};
    /// let f = Formula::parse("x^3", &Names::new(["x"]))?;
    /// assert_eq!(f.trace(&[Dual::variable(2.0)]).derivative, 12.0);
    /// # Ok::<(), dgsuite_physics::formula::FormulaError>(())
    /// ```
    ///
    /// # Panics
    /// If `values` does not have one entry per variable.
    pub fn trace<R: Real>(&self, values: &[R]) -> R {
        self.check_count(values.len());
        self.graph.eval(values, &[self.root])[0]
    }

    /// Returns it and its derivative along a direction of its first `n` variables, both as formulas of these
    /// variables `w`, the direction `d_w`, and the other variables.
    ///
    /// ```
    /// use dgsuite_physics::formula::{Formula, Names};
    /// let f = Formula::parse("p^2*x", &Names::new(["p", "x"]))?;
    /// let [value, derivative] = f.tangent(1);
    /// assert_eq!(derivative.names(), ["p", "d_p", "x"]);
    /// assert_eq!(value.eval(&[3.0, 0.5, 2.0]), 18.0);
    /// assert_eq!(derivative.eval(&[3.0, 0.5, 2.0]), 6.0);
    /// # Ok::<(), dgsuite_physics::formula::FormulaError>(())
    /// ```
    #[must_use]
    pub fn tangent(&self, n: usize) -> [Self; 2] {
        let own = self.graph.inputs();
        let n = n.min(own.len());
        let directions: Vec<String> = own[..n].iter().map(|name| format!("d_{name}")).collect();
        let names: Vec<&str> =
            own[..n].iter().chain(&directions).chain(&own[n..]).map(String::as_str).collect();
        let part = |text: String, of: fn(Dual<Sym>) -> Sym| {
            Self::record(&text, &names, |inputs| {
                let varied = (0..n).map(|i| Dual::new(inputs[i], inputs[n + i]));
                let values: Vec<Dual<Sym>> =
                    varied.chain(inputs[2 * n..].iter().map(|x| Dual::constant(*x))).collect();
                of(self.graph.eval_with_tips(&values, &[self.root])[0])
            })
        };
        let derivative = format!("derivative of {}", self.text);
        [part(self.text.clone(), |f| f.value), part(derivative, |f| f.derivative)]
    }

    /// Adds its nodes to a graph, and returns that of its value.
    fn graft_into(&self, graph: &mut Graph) -> Id {
        graph.graft(&self.graph, self.root)
    }

    #[track_caller]
    fn check_count(&self, given: usize) {
        let expected = self.graph.inputs().len();
        assert_eq!(given, expected, "values for the variables {:?}", self.graph.inputs());
    }
}
