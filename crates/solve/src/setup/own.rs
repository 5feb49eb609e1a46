//! Numerical fluxes of a gas from other crates, and boundary conditions of a gas as values.
//!
//! Both are behind pointers here: a flux is compiled in its own crate for laws, dimensions and precisions,
//! and meets every condition, its own ones and those of `dgsuite-physics`, by outer states alone.
//!
//! ```
//! use dgsuite_physics::{Boundary, DiffusiveBoundary, Euler, Law, NavierStokes, Diffusion, Real};
//! use dgsuite_solve::own::{OwnCondition, condition};
//!
//! /// A wall that mirrors the normal velocity.
//! #[derive(Clone, Copy, Debug)]
//! struct Mirror;
//!
//! impl<const D: usize, const N: usize> Boundary<Euler, D, N> for Mirror
//! where
//!     Euler: Law<D, N>,
//! {
//!     const NAME: &'static str = "mirror";
//!     const USES_DATA: bool = false;
//!
//!     fn outer<R: Real>(&self, _: &Euler, um: &[R; N], n: &[R; D], _: &[R; N]) -> [R; N] {
//!         let mut up = *um;
//!         let normal = (0..D).fold(R::lit(0.0), |sum, d| um[1 + d].mul_add(n[d], sum));
//!         (0..D).for_each(|d| up[1 + d] = um[1 + d] - R::lit(2.0) * normal * n[d]);
//!         up
//!     }
//! }
//!
//! /// Without friction.
//! impl<const D: usize, const N: usize> DiffusiveBoundary<NavierStokes, D, N> for Mirror
//! where
//!     NavierStokes: Diffusion<D, N>,
//! {
//! }
//!
//! assert_eq!(condition(Mirror).name(), "mirror");
//! ```

use std::fmt;
use std::sync::Arc;

use dgsuite_ops::{
    AboveWallOf, BoundaryKernel, BoundaryOf, DiffusiveBoundaryOf, Height, PointKernels, Pointwise,
    WithDataAbove, WithDiffusion,
};
use dgsuite_physics::{
    AboveWall, Boundary, DiffusiveBoundary, Euler, NavierStokes, NumericalFlux, Tangent, WallModel,
};

/// A numerical flux of a gas in the plane and in space, in double and in single precision.
pub trait OwnFlux: fmt::Debug + Send + Sync {
    /// The word in pipeline files.
    fn name(&self) -> &'static str;

    /// The kernels of a gas in the plane.
    fn plane(&self, law: Euler) -> Box<dyn PointKernels<f64>>;

    /// The kernels of a gas in space.
    fn space(&self, law: Euler) -> Box<dyn PointKernels<f64>>;

    /// [`plane`](Self::plane) in single precision.
    fn plane_single(&self, law: Euler) -> Box<dyn PointKernels<f32>>;

    /// [`space`](Self::space) in single precision.
    fn space_single(&self, law: Euler) -> Box<dyn PointKernels<f32>>;

    /// [`plane`](Self::plane) with its derivative along a direction, for implicit steps.
    fn plane_tangent(&self, law: Euler) -> Box<dyn PointKernels<f64>>;

    /// [`space`](Self::space) with its derivative along a direction.
    fn space_tangent(&self, law: Euler) -> Box<dyn PointKernels<f64>>;
}

#[derive(Debug)]
struct FluxOf<F>(F);

impl<F> OwnFlux for FluxOf<F>
where
    F: NumericalFlux<Euler, 2, 4> + NumericalFlux<Euler, 3, 5> + Copy + fmt::Debug,
    Pointwise<Euler, F, 2, 4>: PointKernels<f64> + PointKernels<f32>,
    Pointwise<Euler, F, 3, 5>: PointKernels<f64> + PointKernels<f32>,
{
    fn name(&self) -> &'static str {
        <F as NumericalFlux<Euler, 2, 4>>::NAME
    }

    fn plane(&self, law: Euler) -> Box<dyn PointKernels<f64>> {
        Box::new(Pointwise::<_, _, 2, 4> { law, flux: self.0 })
    }

    fn space(&self, law: Euler) -> Box<dyn PointKernels<f64>> {
        Box::new(Pointwise::<_, _, 3, 5> { law, flux: self.0 })
    }

    fn plane_single(&self, law: Euler) -> Box<dyn PointKernels<f32>> {
        Box::new(Pointwise::<_, _, 2, 4> { law, flux: self.0 })
    }

    fn space_single(&self, law: Euler) -> Box<dyn PointKernels<f32>> {
        Box::new(Pointwise::<_, _, 3, 5> { law, flux: self.0 })
    }

    fn plane_tangent(&self, law: Euler) -> Box<dyn PointKernels<f64>> {
        Box::new(Pointwise::<_, _, 2, 8> { law: Tangent::<_, 4>(law), flux: Tangent::<_, 4>(self.0) })
    }

    fn space_tangent(&self, law: Euler) -> Box<dyn PointKernels<f64>> {
        Box::new(Pointwise::<_, _, 3, 10> { law: Tangent::<_, 5>(law), flux: Tangent::<_, 5>(self.0) })
    }
}

/// Makes a numerical flux known, for [`Riemann::Own`](crate::setup::Riemann::Own). It lives as long as the
/// program.
pub fn flux<F>(flux: F) -> Flux
where
    F: NumericalFlux<Euler, 2, 4> + NumericalFlux<Euler, 3, 5> + Copy + fmt::Debug,
    Pointwise<Euler, F, 2, 4>: PointKernels<f64> + PointKernels<f32>,
    Pointwise<Euler, F, 3, 5>: PointKernels<f64> + PointKernels<f32>,
{
    Flux(Box::leak(Box::new(FluxOf(flux))))
}

/// A numerical flux of another crate. Two of the same name are the same.
#[derive(Clone, Copy, Debug)]
pub struct Flux(pub &'static dyn OwnFlux);

impl PartialEq for Flux {
    fn eq(&self, other: &Self) -> bool {
        self.0.name() == other.0.name()
    }
}

impl Eq for Flux {}

/// A boundary condition of a gas, with and without viscosity, in the plane and in space, in double and in
/// single precision.
pub trait OwnCondition: fmt::Debug + Send + Sync {
    /// The word in pipeline files.
    fn name(&self) -> &'static str;

    /// Whether it is a wall: the momentum of the convective flux through it is a pressure.
    fn is_wall(&self) -> bool;

    /// The thickness of a layer with the friction of the condition, `μ v/l`: elements that are much thicker
    /// make it stiff.
    fn friction_length(&self) -> Option<f64>;

    /// The height above the boundary from which the condition takes a state, if it does.
    fn height(&self) -> Option<Height> {
        None
    }

    /// The wall model, if the condition is one.
    fn model(&self) -> Option<WallModel> {
        None
    }

    /// The velocity of a wall with a model.
    fn velocity(&self) -> Option<[f64; 3]> {
        None
    }

    /// Whether heat can pass the boundary: not an adiabatic wall.
    fn passes_heat(&self) -> bool {
        true
    }

    /// What the name does not say, for people.
    fn details(&self) -> Option<String> {
        None
    }

    /// The kernels of a gas in the plane.
    fn plane(&self, law: Euler) -> Box<dyn BoundaryKernel<f64>>;

    /// The kernels of a gas in space.
    fn space(&self, law: Euler) -> Box<dyn BoundaryKernel<f64>>;

    /// The kernels of a viscous gas in the plane.
    fn viscous_plane(&self, law: NavierStokes) -> Box<dyn BoundaryKernel<f64>>;

    /// The kernels of a viscous gas in space.
    fn viscous_space(&self, law: NavierStokes) -> Box<dyn BoundaryKernel<f64>>;

    /// [`plane`](Self::plane) in single precision.
    fn plane_single(&self, law: Euler) -> Box<dyn BoundaryKernel<f32>>;

    /// [`space`](Self::space) in single precision.
    fn space_single(&self, law: Euler) -> Box<dyn BoundaryKernel<f32>>;

    /// [`viscous_plane`](Self::viscous_plane) in single precision.
    fn viscous_plane_single(&self, law: NavierStokes) -> Box<dyn BoundaryKernel<f32>>;

    /// [`viscous_space`](Self::viscous_space) in single precision.
    fn viscous_space_single(&self, law: NavierStokes) -> Box<dyn BoundaryKernel<f32>>;

    /// [`plane`](Self::plane) with its derivative along a direction, for implicit steps.
    fn plane_tangent(&self, law: Euler) -> Box<dyn BoundaryKernel<f64>>;

    /// [`space`](Self::space) with its derivative along a direction.
    fn space_tangent(&self, law: Euler) -> Box<dyn BoundaryKernel<f64>>;

    /// [`viscous_plane`](Self::viscous_plane) with its derivative along a direction.
    fn viscous_plane_tangent(&self, law: NavierStokes) -> Box<dyn BoundaryKernel<f64>>;

    /// [`viscous_space`](Self::viscous_space) with its derivative along a direction.
    fn viscous_space_tangent(&self, law: NavierStokes) -> Box<dyn BoundaryKernel<f64>>;
}

#[derive(Debug)]
struct ConditionOf<B> {
    condition: B,
    is_wall: bool,
    friction_length: Option<f64>,
}

/// The methods of a condition for one dimension and precision.
macro_rules! kernels {
    ($gas:ident, $viscous:ident, $t:ty, $d:literal, $n:literal) => {
        fn $gas(&self, law: Euler) -> Box<dyn BoundaryKernel<$t>> {
            Box::new(BoundaryOf::<_, _, $d, $n> { law, condition: self.condition })
        }

        fn $viscous(&self, law: NavierStokes) -> Box<dyn BoundaryKernel<$t>> {
            let condition = self.condition;
            let diffusive = DiffusiveBoundaryOf::<_, _, $d, $n> { diffusion: law, condition };
            Box::new(WithDiffusion::<$t> { inviscid: self.$gas(law.gas), diffusive: Box::new(diffusive) })
        }
    };
}

/// Likewise with the derivative along a direction; `$m` is twice `$n`.
macro_rules! tangent_kernels {
    ($gas:ident, $viscous:ident, $d:literal, $n:literal, $m:literal) => {
        fn $gas(&self, law: Euler) -> Box<dyn BoundaryKernel<f64>> {
            let (law, condition) = (Tangent::<_, $n>(law), Tangent::<_, $n>(self.condition));
            Box::new(BoundaryOf::<_, _, $d, $m> { law, condition })
        }

        fn $viscous(&self, law: NavierStokes) -> Box<dyn BoundaryKernel<f64>> {
            let (diffusion, condition) = (Tangent::<_, $n>(law), Tangent::<_, $n>(self.condition));
            let diffusive = DiffusiveBoundaryOf::<_, _, $d, $m> { diffusion, condition };
            Box::new(WithDiffusion::<f64> { inviscid: self.$gas(law.gas), diffusive: Box::new(diffusive) })
        }
    };
}

impl<B> OwnCondition for ConditionOf<B>
where
    B: Boundary<Euler, 2, 4> + Boundary<Euler, 3, 5> + Copy + fmt::Debug,
    B: DiffusiveBoundary<NavierStokes, 2, 4> + DiffusiveBoundary<NavierStokes, 3, 5>,
{
    fn name(&self) -> &'static str {
        <B as Boundary<Euler, 2, 4>>::NAME
    }

    fn is_wall(&self) -> bool {
        self.is_wall
    }

    fn friction_length(&self) -> Option<f64> {
        self.friction_length
    }

    fn passes_heat(&self) -> bool {
        !self.is_wall
    }

    kernels!(plane, viscous_plane, f64, 2, 4);
    kernels!(space, viscous_space, f64, 3, 5);
    kernels!(plane_single, viscous_plane_single, f32, 2, 4);
    kernels!(space_single, viscous_space_single, f32, 3, 5);
    tangent_kernels!(plane_tangent, viscous_plane_tangent, 2, 4, 8);
    tangent_kernels!(space_tangent, viscous_space_tangent, 3, 5, 10);
}

/// Makes a boundary condition known, for [`BoundaryKind::Own`](crate::setup::BoundaryKind::Own).
pub fn condition<B>(condition: B) -> Arc<dyn OwnCondition>
where
    B: Boundary<Euler, 2, 4> + Boundary<Euler, 3, 5> + Copy + fmt::Debug,
    B: DiffusiveBoundary<NavierStokes, 2, 4> + DiffusiveBoundary<NavierStokes, 3, 5>,
{
    Arc::new(ConditionOf { condition, is_wall: false, friction_length: None })
}

/// [`condition`] for an adiabatic wall, with the [friction length](OwnCondition::friction_length) if it has
/// one.
pub fn wall<B>(condition: B, friction_length: Option<f64>) -> Arc<dyn OwnCondition>
where
    B: Boundary<Euler, 2, 4> + Boundary<Euler, 3, 5> + Copy + fmt::Debug,
    B: DiffusiveBoundary<NavierStokes, 2, 4> + DiffusiveBoundary<NavierStokes, 3, 5>,
{
    Arc::new(ConditionOf { condition, is_wall: true, friction_length })
}

/// A wall with its height, and the model that uses it.
#[derive(Debug)]
struct AboveOf<B> {
    wall: ConditionOf<B>,
    setting: ModelSetting,
}

/// What a wall with a model is beside the formulas of its condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelSetting {
    /// The model.
    pub model: WallModel,
    /// The height above each point from which the model takes the state.
    pub height: Height,
    /// Whether heat passes the wall.
    pub passes_heat: bool,
    /// The velocity of the wall; `None` at rest.
    pub velocity: Option<[f64; 3]>,
}

/// The methods of a wall with a height for one dimension and precision.
macro_rules! kernels_above {
    ($gas:ident, $viscous:ident, $t:ty, $d:literal, $n:literal) => {
        fn $gas(&self, law: Euler) -> Box<dyn BoundaryKernel<$t>> {
            self.wall.$gas(law)
        }

        fn $viscous(&self, law: NavierStokes) -> Box<dyn BoundaryKernel<$t>> {
            let Self { wall, setting: ModelSetting { height, .. } } = self;
            let above =
                AboveWallOf::<_, _, $d, $n> { diffusion: law, condition: wall.condition, height: *height };
            Box::new(WithDataAbove::<$t> { condition: wall.$viscous(law), above: Box::new(above) })
        }
    };
}

/// Likewise with the derivative along a direction.
macro_rules! tangent_kernels_above {
    ($gas:ident, $viscous:ident, $d:literal, $n:literal, $m:literal) => {
        fn $gas(&self, law: Euler) -> Box<dyn BoundaryKernel<f64>> {
            self.wall.$gas(law)
        }

        fn $viscous(&self, law: NavierStokes) -> Box<dyn BoundaryKernel<f64>> {
            let Self { wall, setting: ModelSetting { height, .. } } = self;
            let (diffusion, condition) = (Tangent::<_, $n>(law), Tangent::<_, $n>(wall.condition));
            let above = AboveWallOf::<_, _, $d, $m> { diffusion, condition, height: *height };
            Box::new(WithDataAbove::<f64> { condition: wall.$viscous(law), above: Box::new(above) })
        }
    };
}

impl<B> OwnCondition for AboveOf<B>
where
    B: Boundary<Euler, 2, 4> + Boundary<Euler, 3, 5> + Copy + fmt::Debug,
    B: DiffusiveBoundary<NavierStokes, 2, 4> + DiffusiveBoundary<NavierStokes, 3, 5>,
    B: AboveWall<NavierStokes, 2, 4> + AboveWall<NavierStokes, 3, 5>,
{
    fn name(&self) -> &'static str {
        self.wall.name()
    }

    fn is_wall(&self) -> bool {
        true
    }

    fn friction_length(&self) -> Option<f64> {
        None
    }

    fn height(&self) -> Option<Height> {
        Some(self.setting.height)
    }

    fn details(&self) -> Option<String> {
        let at = match self.setting.height {
            Height::Length(h) => format!("at the height {h}"),
            Height::Share(share) => format!("at {share} of the thickness of the elements"),
        };
        let moves = self
            .setting
            .velocity
            .map_or_else(String::new, |[u, v, w]| format!(", moving by ({u}, {v}, {w})"));
        Some(format!("{} {at}{moves}", self.setting.model.name()))
    }

    fn model(&self) -> Option<WallModel> {
        Some(self.setting.model)
    }

    fn passes_heat(&self) -> bool {
        self.setting.passes_heat
    }

    fn velocity(&self) -> Option<[f64; 3]> {
        self.setting.velocity
    }

    kernels_above!(plane, viscous_plane, f64, 2, 4);
    kernels_above!(space, viscous_space, f64, 3, 5);
    kernels_above!(plane_single, viscous_plane_single, f32, 2, 4);
    kernels_above!(space_single, viscous_space_single, f32, 3, 5);
    tangent_kernels_above!(plane_tangent, viscous_plane_tangent, 2, 4, 8);
    tangent_kernels_above!(space_tangent, viscous_space_tangent, 3, 5, 10);
}

/// [`wall`] for a wall whose friction and heat flux follow from the state at a height above it, by a model.
pub fn wall_with_height<B>(condition: B, setting: ModelSetting) -> Arc<dyn OwnCondition>
where
    B: Boundary<Euler, 2, 4> + Boundary<Euler, 3, 5> + Copy + fmt::Debug,
    B: DiffusiveBoundary<NavierStokes, 2, 4> + DiffusiveBoundary<NavierStokes, 3, 5>,
    B: AboveWall<NavierStokes, 2, 4> + AboveWall<NavierStokes, 3, 5>,
{
    let wall = ConditionOf { condition, is_wall: true, friction_length: None };
    Arc::new(AboveOf { wall, setting })
}
