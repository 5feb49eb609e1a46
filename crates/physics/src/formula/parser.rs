//! Operator-precedence (Pratt) parser: converts a text to a graph.

use super::error::{FormulaError, FormulaErrorKind};
use super::functions::{self, condition, equal, number, power, product, quotient};
use super::names::{Names, Value, permanent};
use super::token::{Token, tokens};
use crate::graph::{Binary, Graph, Id, Unary};
use crate::suggest::nearest;
use std::ops::Range;

/// Largest number of levels of parentheses, signs and exponents; deeper formulas are an error instead of a
/// stack overflow.
const DEEPEST: usize = 200;

/// The number of arguments of a table, in words.
const ONE: &str = "one argument";

/// Binding power of a sign: above products, below powers.
const PREFIX: u8 = 11;

/// Left and right binding powers of an operator; the right one is smaller for right-associative operators.
fn binding(sign: &str) -> Option<(u8, u8)> {
    Some(match sign {
        "||" => (1, 2),
        "&&" => (3, 4),
        "<" | "<=" | ">" | ">=" | "==" | "!=" => (5, 6),
        "+" | "-" => (7, 8),
        "*" | "/" => (9, 10),
        "^" => (14, 13),
        _ => return None,
    })
}

/// Returns the graph of a formula, whose inputs are the variables in order, and the node of its value.
pub(super) fn parse(text: &str, names: &Names) -> Result<(Graph, Id), FormulaError> {
    let mut graph = Graph::new();
    for v in names.variables() {
        graph.input(v);
    }
    let mut parser = Parser { text, names, tokens: tokens(text)?, at: 0, depth: 0, graph };
    if parser.peek() == &Token::End {
        return Err(parser.error(FormulaErrorKind::Empty, 0..0, None));
    }
    let root = parser.expression(0)?;
    match parser.peek() {
        Token::End => {}
        Token::Sign(")") => {
            let hint = Some("there is no parenthesis to close".to_owned());
            return Err(parser.unexpected("an operator or the end", hint));
        }
        _ => return Err(parser.missing_operator()),
    }
    let root = number(&mut parser.graph, root);
    Ok((parser.graph, root))
}

struct Parser<'a> {
    text: &'a str,
    names: &'a Names,
    tokens: Vec<(Token, Range<usize>)>,
    at: usize,
    depth: usize,
    graph: Graph,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Range<usize> {
        self.tokens[self.at].1.clone()
    }

    /// Advances to the next token, but never beyond the closing [`Token::End`].
    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn error(&self, kind: FormulaErrorKind, span: Range<usize>, hint: Option<String>) -> FormulaError {
        FormulaError { text: self.text.to_owned(), span, kind, hint }
    }

    fn unexpected(&self, expected: &'static str, hint: Option<String>) -> FormulaError {
        let found = self.peek().describe();
        self.error(FormulaErrorKind::Unexpected { found, expected }, self.span(), hint)
    }

    /// The error for a value that follows a value: probably a product is meant.
    fn missing_operator(&self) -> FormulaError {
        let before = self.at.checked_sub(1).map(|i| self.tokens[i].1.clone());
        let hint = before.map(|b| {
            let (left, right) = (&self.text[b], &self.text[self.span()]);
            format!("for a product, write {left}*{right}")
        });
        self.unexpected("an operator or the end", hint.filter(|_| self.starts_value()))
    }

    fn starts_value(&self) -> bool {
        matches!(self.peek(), Token::Number(_) | Token::Name(_) | Token::Sign("("))
    }

    /// Parses an expression whose operators bind at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Result<Id, FormulaError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(FormulaErrorKind::TooDeep, self.span(), None));
        }
        let mut left = self.value()?;
        while let Token::Sign(sign) = *self.peek() {
            let Some((power_left, power_right)) = binding(sign) else { break };
            if power_left < least {
                break;
            }
            self.next();
            let right = self.expression(power_right)?;
            left = self.infix(sign, left, right);
            if power_left == 5 && matches!(*self.peek(), Token::Sign(s) if binding(s) == Some((5, 6))) {
                let hint = Some("write a < b && b < c".to_owned());
                return Err(self.error(FormulaErrorKind::ChainedComparison, self.span(), hint));
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Parses a number, a name, a function call, a parenthesis, or one of them with a sign.
    fn value(&mut self) -> Result<Id, FormulaError> {
        let span = self.span();
        match self.next() {
            Token::Number(x) => Ok(self.graph.literal(x)),
            Token::Name(name) => self.name(&name, span),
            Token::Sign("(") => {
                let inner = self.expression(0)?;
                self.close(span)?;
                Ok(inner)
            }
            Token::Sign("-") => {
                let a = self.expression(PREFIX)?;
                let a = number(&mut self.graph, a);
                Ok(self.graph.unary(Unary::Neg, a))
            }
            Token::Sign("+") => {
                let a = self.expression(PREFIX)?;
                Ok(number(&mut self.graph, a))
            }
            Token::Sign("!") => {
                let a = self.expression(PREFIX)?;
                let a = condition(&mut self.graph, a);
                Ok(self.graph.not(a))
            }
            other => {
                let kind = FormulaErrorKind::Unexpected { found: other.describe(), expected: "a value" };
                Err(self.error(kind, span, None))
            }
        }
    }

    /// Parses the parenthesis that closes the one at `open`.
    fn close(&mut self, open: Range<usize>) -> Result<(), FormulaError> {
        match self.peek() {
            Token::Sign(")") => {
                self.next();
                Ok(())
            }
            Token::End => Err(self.error(FormulaErrorKind::Unclosed, open, None)),
            Token::Sign(",") => {
                let hint = Some("a comma separates arguments of a function only".to_owned());
                Err(self.unexpected("an operator or `)`", hint))
            }
            _ => Err(self.missing_operator()),
        }
    }

    fn name(&mut self, name: &str, span: Range<usize>) -> Result<Id, FormulaError> {
        let function = functions::find(name);
        let names = self.names;
        let table = names.find_table(name);
        if self.peek() == &Token::Sign("(") {
            return match (function, table) {
                (Some(function), _) => {
                    let count = (function.least, function.most, function.count);
                    let arguments = self.arguments(function.name, count, span)?;
                    Ok(function.apply(&mut self.graph, &arguments))
                }
                (None, Some(table)) => {
                    let arguments = self.arguments(permanent(name), (1, 1, ONE), span)?;
                    let argument = number(&mut self.graph, arguments[0]);
                    Ok(table.apply(&mut self.graph, argument))
                }
                (None, None) => Err(self.no_function(name, span)),
            };
        }
        if let Some(count) = function.map(|f| f.count).or(table.map(|_| ONE)) {
            let hint = Some(format!("`{name}` takes {count} in parentheses"));
            return Err(self.unexpected("`(` after the function's name", hint));
        }
        if self.names.variables().iter().any(|v| v == name) {
            return Ok(self.graph.input(name));
        }
        if let Some(definition) = names.definition(name) {
            return Ok(definition.graft_into(&mut self.graph));
        }
        match self.names.value(name) {
            Some(Value::Constant(x)) => Ok(self.graph.literal(x)),
            Some(Value::Parameter(name, x)) => Ok(self.graph.parameter(name, x)),
            None => {
                let hint = match nearest(
                    name,
                    self.names.known().chain(functions::known()).chain(self.names.tables()),
                ) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known: {}", self.names.known().collect::<Vec<_>>().join(", ")),
                };
                Err(self.error(FormulaErrorKind::UnknownName(name.to_owned()), span, Some(hint)))
            }
        }
    }

    fn no_function(&self, name: &str, span: Range<usize>) -> FormulaError {
        let hint = if self.names.known().any(|k| k == name) {
            Some(format!("for a product, write {name}*(…)"))
        } else {
            nearest(name, functions::known().chain(self.names.tables()))
                .map(|near| format!("did you mean `{near}`?"))
        };
        self.error(FormulaErrorKind::UnknownFunction(name.to_owned()), span, hint)
    }

    /// Parses arguments in parentheses, from the least to the largest number of them, which is also given in
    /// words.
    fn arguments(
        &mut self,
        function: &'static str,
        (least, most, count): (usize, usize, &'static str),
        span: Range<usize>,
    ) -> Result<Vec<Id>, FormulaError> {
        let open = self.span();
        self.next();
        let mut arguments = Vec::new();
        if self.peek() != &Token::Sign(")") {
            loop {
                arguments.push(self.expression(0)?);
                if self.peek() != &Token::Sign(",") {
                    break;
                }
                self.next();
            }
        }
        self.close(open)?;
        let found = arguments.len();
        if found < least || found > most {
            let kind = FormulaErrorKind::ArgumentCount { function, expected: count, found };
            let end = self.tokens[self.at - 1].1.end;
            return Err(self.error(kind, span.start..end, None));
        }
        Ok(arguments)
    }

    fn infix(&mut self, sign: &str, left: Id, right: Id) -> Id {
        let g = &mut self.graph;
        if sign == "&&" || sign == "||" {
            let (a, b) = (condition(g, left), condition(g, right));
            return if sign == "&&" { g.and(a, b) } else { g.or(a, b) };
        }
        let (a, b) = (number(g, left), number(g, right));
        match sign {
            "+" => g.binary(Binary::Add, a, b),
            "-" => g.binary(Binary::Sub, a, b),
            "*" => product(g, a, b),
            "/" => quotient(g, a, b),
            "^" => power(g, a, b),
            "<" => g.less(a, b),
            "<=" => g.less_equal(a, b),
            ">" => g.less(b, a),
            ">=" => g.less_equal(b, a),
            "==" => equal(g, a, b),
            "!=" => {
                let same = equal(g, a, b);
                g.not(same)
            }
            other => unreachable!("`{other}` has no binding power"),
        }
    }
}
