//! Prints recorded formulas as CUDA C++ functions.

use super::symbol::{Sym, input, record};
use crate::graph::{Binary, Graph, Id, Node, Parameter, Unary};
use std::fmt::Write;

/// Functions that the printed code calls, besides the C++ library. Place this text before the printed code,
/// after a definition of `real` and after [`ROOTS`] or other functions of those names.
pub const PRELUDE: &str = "\
template <class T> __device__ __forceinline__ T lesser(T a, T b) { return a < b ? a : b; }
template <class T> __device__ __forceinline__ T greater(T a, T b) { return a > b ? a : b; }
";

/// Reciprocal and square root as the compiler implements them. They have separate names, so that a kernel may
/// define faster ones instead.
pub const ROOTS: &str = "\
template <class T> __device__ __forceinline__ T reciprocal(T a) { return T(1) / a; }
template <class T> __device__ __forceinline__ T square_root(T a) { return sqrt(a); }
";

/// Why a formula cannot be printed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TraceError {
    /// One name has two values; the arguments of the kernel have one entry for it.
    #[error("parameter `{name}` has two values in one kernel: {first} and {second}")]
    ParameterConflict {
        /// The parameter.
        name: &'static str,
        /// The first value.
        first: f64,
        /// The other value.
        second: f64,
    },
}

/// The parameters of the functions of one kernel, in the order of first use: the fields of the kernel's
/// argument `parameters`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    list: Vec<Parameter>,
}

impl Parameters {
    /// Makes a list without parameters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the names in order.
    pub fn names(&self) -> Vec<&'static str> {
        self.list.iter().map(|p| p.name).collect()
    }

    /// Returns the values in order; the host passes them as the argument struct.
    pub fn values(&self) -> Vec<f64> {
        self.list.iter().map(|p| p.value).collect()
    }

    /// Returns the C++ definition `struct Parameters { real …; };`. Without parameters it has one unused
    /// field, because a kernel argument must not be empty.
    pub fn definition(&self) -> String {
        if self.list.is_empty() {
            return "struct Parameters { real unused; };\n".to_owned();
        }
        format!("struct Parameters {{ real {}; }};\n", self.names().join(", "))
    }

    fn merge(&mut self, graph: &Graph, live: &[bool]) -> Result<(), TraceError> {
        for (i, node) in graph.nodes().iter().enumerate() {
            let Node::Parameter(k) = *node else { continue };
            if !live[i] {
                continue;
            }
            let p = graph.parameters()[k as usize];
            match self.list.iter().find(|q| q.name == p.name) {
                Some(q) if q.value.to_bits() == p.value.to_bits() => {}
                Some(q) => {
                    let conflict =
                        TraceError::ParameterConflict { name: p.name, first: q.value, second: p.value };
                    return Err(conflict);
                }
                None => self.list.push(p),
            }
        }
        Ok(())
    }
}

/// The arguments of a device function while its body is recorded.
#[derive(Debug)]
pub struct Arguments<'a> {
    list: &'a [(&'a str, usize)],
}

impl Arguments<'_> {
    /// Returns the array argument of this name as symbols.
    ///
    /// # Panics
    /// If there is no argument of this name and length.
    pub fn array<const N: usize>(&self, name: &str) -> [Sym; N] {
        assert!(self.list.contains(&(name, N)), "no argument `{name}` of length {N}");
        std::array::from_fn(|i| input(&format!("{name}[{i}]")))
    }

    /// Returns the array argument of this name as symbols, for any length.
    ///
    /// # Panics
    /// If there is no argument of this name.
    pub fn list(&self, name: &str) -> Vec<Sym> {
        let found = self.list.iter().find(|(n, _)| *n == name);
        let Some((_, len)) = found else { panic!("no argument `{name}`") };
        (0..*len).map(|i| input(&format!("{name}[{i}]"))).collect()
    }

    /// Returns the scalar argument of this name (declared with length 0) as a symbol.
    ///
    /// # Panics
    /// If there is no scalar argument of this name.
    pub fn scalar(&self, name: &str) -> Sym {
        assert!(self.list.contains(&(name, 0)), "no scalar argument `{name}`");
        input(name)
    }
}

/// Records `body` and prints it as
/// `__device__ __forceinline__ void name(const Parameters& parameters, const real (&a)[n]…, real (&out)[m])`.
///
/// `arguments` are names and lengths; length 0 is a scalar. The parameters of the formula are added to
/// `parameters`, so that the functions of a kernel share one argument struct. Equal subexpressions are
/// computed once, unused ones not at all, and the order of operations is that of the Rust formula: without
/// contraction the results agree bit for bit.
///
/// # Errors
/// [`TraceError::ParameterConflict`] if a parameter has another value here than in an earlier function.
///
/// # Panics
/// If `body` uses arguments that are not in the list.
pub fn device_fn<O: IntoIterator<Item = Sym>>(
    name: &str,
    arguments: &[(&str, usize)],
    parameters: &mut Parameters,
    body: impl FnOnce(&Arguments<'_>) -> O,
) -> Result<String, TraceError> {
    let mut body = Some(body);
    print(name, arguments, parameters, &mut |a| {
        let body = body.take().expect("a body is recorded once");
        body(a).into_iter().collect()
    })
}

/// [`device_fn`], compiled once for all formulas: a program has hundreds of them.
fn print(
    name: &str,
    arguments: &[(&str, usize)],
    parameters: &mut Parameters,
    body: &mut dyn FnMut(&Arguments<'_>) -> Vec<Sym>,
) -> Result<String, TraceError> {
    let (graph, out) = record(|| body(&Arguments { list: arguments }));
    let out: Vec<Id> = out.iter().map(|s| s.id()).collect();
    parameters.merge(&graph, &graph.live(&out))?;

    let mut list = vec!["const Parameters& parameters".to_owned()];
    list.extend(
        arguments.iter().map(|(a, n)| {
            if *n == 0 { format!("const real {a}") } else { format!("const real (&{a})[{n}]") }
        }),
    );
    list.push(format!("real (&out)[{}]", out.len()));
    let taken =
        arguments.iter().map(|(a, _)| (*a).to_owned()).chain(["parameters", "out"].map(str::to_owned));
    let mut body = Body::new(&graph, taken.collect());
    let results = body.statements(&out);
    let mut text = format!("__device__ __forceinline__ void {name}({}) {{\n", list.join(", "));
    text.push_str(&body.text);
    for (k, r) in results.iter().enumerate() {
        let _ = writeln!(text, "  out[{k}] = {r};");
    }
    text.push_str("}\n");
    Ok(text)
}

/// Precedence of the outermost operation of a printed expression, as in C++.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Select,
    Or,
    And,
    Comparison,
    Sum,
    Product,
    Sign,
    Atom,
}

/// A printed expression.
#[derive(Clone)]
struct Expression {
    text: String,
    level: Level,
}

impl Expression {
    fn new(text: String, level: Level) -> Self {
        Self { text, level }
    }

    /// Returns the text, in parentheses unless it binds at least as tightly as `level`.
    fn at(&self, level: Level) -> String {
        if self.level >= level { self.text.clone() } else { format!("({})", self.text) }
    }
}

/// The statements of a function body.
struct Body<'a> {
    graph: &'a Graph,
    taken: Vec<String>,
    n_temporaries: usize,
    text: String,
}

impl<'a> Body<'a> {
    /// Longer expressions get a name, for readers.
    const LONG: usize = 88;

    fn new(graph: &'a Graph, taken: Vec<String>) -> Self {
        Self { graph, taken, n_temporaries: 0, text: String::new() }
    }

    /// Writes the statements needed for the outputs; returns the expressions of the outputs.
    fn statements(&mut self, out: &[Id]) -> Vec<String> {
        let live = self.graph.live(out);
        let mut uses = vec![0usize; live.len()];
        for (i, node) in self.graph.nodes().iter().enumerate() {
            if live[i] {
                node.for_each_operand(|a| uses[a.index()] += 1);
            }
        }
        out.iter().for_each(|o| uses[o.index()] += 1);

        let none = Expression::new(String::new(), Level::Atom);
        let mut printed = vec![none; live.len()];
        for (id, node) in self.graph.iter() {
            let i = id.index();
            if !live[i] {
                continue;
            }
            let expression = self.expression(&node, &printed);
            let leaf = matches!(node, Node::Input(_) | Node::Parameter(_) | Node::Literal(_) | Node::Bool(_));
            let label = self.graph.label(id);
            let keep = leaf || (uses[i] == 1 && label.is_none() && expression.text.len() <= Self::LONG);
            printed[i] = if keep { expression } else { self.bind(&node, label, &expression) };
        }
        out.iter().map(|o| printed[o.index()].text.clone()).collect()
    }

    /// Writes `const real name = expression;`.
    fn bind(&mut self, node: &Node, label: Option<&str>, expression: &Expression) -> Expression {
        let name = match label {
            Some(label) if !self.taken.iter().any(|n| n == label) => label.to_owned(),
            _ => loop {
                let name = format!("t{}", self.n_temporaries);
                self.n_temporaries += 1;
                if !self.taken.contains(&name) {
                    break name;
                }
            },
        };
        let kind = if node.is_condition() { "bool" } else { "real" };
        let _ = writeln!(self.text, "  const {kind} {name} = {};", expression.text);
        self.taken.push(name.clone());
        Expression::new(name, Level::Atom)
    }

    fn expression(&self, node: &Node, printed: &[Expression]) -> Expression {
        let p = |id: Id| &printed[id.index()];
        let infix = |a: Id, op: &str, b: Id, left: Level, right: Level| {
            format!("{} {op} {}", p(a).at(left), p(b).at(right))
        };
        let call = |f: &str, a: Id, b: Id| {
            Expression::new(format!("{f}({}, {})", p(a).text, p(b).text), Level::Atom)
        };
        use Level::{And, Atom, Comparison, Or, Product, Select, Sign, Sum};
        match *node {
            Node::Input(i) => Expression::new(self.graph.inputs()[i as usize].clone(), Atom),
            Node::Parameter(i) => {
                let name = self.graph.parameters()[i as usize].name;
                Expression::new(format!("parameters.{name}"), Atom)
            }
            Node::Literal(bits) => Expression::new(literal(f64::from_bits(bits)), Atom),
            Node::Bool(b) => Expression::new(b.to_string(), Atom),
            Node::Unary(Unary::Neg, a) => Expression::new(format!("-{}", p(a).at(Atom)), Sign),
            Node::Unary(op, a) => Expression::new(format!("{}({})", unary_name(op), p(a).text), Atom),
            // Sums and products are printed in the order of computation, because floating-point operations do
            // not associate.
            Node::Binary(Binary::Add, a, b) => Expression::new(infix(a, "+", b, Sum, Product), Sum),
            Node::Binary(Binary::Sub, a, b) => Expression::new(infix(a, "-", b, Sum, Product), Sum),
            Node::Binary(Binary::Mul, a, b) => Expression::new(infix(a, "*", b, Product, Sign), Product),
            Node::Binary(Binary::Div, a, b) => Expression::new(infix(a, "/", b, Product, Sign), Product),
            Node::Binary(Binary::Pow, a, b) => call("pow", a, b),
            Node::Binary(Binary::Atan2, a, b) => call("atan2", a, b),
            Node::Binary(Binary::Min, a, b) => call("lesser", a, b),
            Node::Binary(Binary::Max, a, b) => call("greater", a, b),
            Node::LessEqual(a, b) => Expression::new(infix(a, "<=", b, Sum, Sum), Comparison),
            Node::Less(a, b) => Expression::new(infix(a, "<", b, Sum, Sum), Comparison),
            Node::And(a, b) => Expression::new(infix(a, "&", b, Atom, Atom), And),
            Node::Or(a, b) => Expression::new(infix(a, "|", b, Atom, Atom), Or),
            Node::Not(a) => Expression::new(format!("!{}", p(a).at(Atom)), Sign),
            Node::Select(c, a, b) => {
                Expression::new(format!("{} ? {} : {}", p(c).at(Or), p(a).at(Or), p(b).at(Or)), Select)
            }
        }
    }
}

fn unary_name(op: Unary) -> &'static str {
    match op {
        Unary::Neg => "-",
        Unary::Recip => "reciprocal",
        Unary::Sqrt => "square_root",
        Unary::Abs => "fabs",
        Unary::Exp => "exp",
        Unary::Ln => "log",
        Unary::Sin => "sin",
        Unary::Cos => "cos",
        Unary::Tan => "tan",
        Unary::Tanh => "tanh",
        Unary::Floor => "floor",
        Unary::Erf => "erf",
    }
}

/// A literal that C++ reads back to the same bits; the cast makes it a `float` if `real` is one. Infinities
/// and NaN are quotients, because device compilers without headers have no names for them.
fn literal(x: f64) -> String {
    if x.is_nan() {
        "real(0.0 / 0.0)".to_owned()
    } else if x.is_infinite() {
        format!("real({}1.0 / 0.0)", if x < 0.0 { "-" } else { "" })
    } else {
        format!("real({x:?})")
    }
}
