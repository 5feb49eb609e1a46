//! Writes a cubic cell for ParaView and draws it with its contours, as SVG and PNG.
//!
//! ```text
//! cargo run --release -p dgsuite-output --example picture [FOLDER]
//! ```

use std::error::Error;
use std::io::Write as _;
use std::path::PathBuf;

use dgsuite_basis::{Shape, lattice::lattice};
use dgsuite_output::picture::{Picture, Run};
use dgsuite_output::writer::{CellBlock, Field, UnstructuredFields, VtuOptions, atomic, pvd::Series};

fn main() -> Result<(), Box<dyn Error>> {
    let folder =
        std::env::args().nth(1).map_or_else(|| std::env::temp_dir().join("dgsuite-cell"), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    let order = 3;
    let points = lattice(Shape::Quadrilateral, order);
    let values = points.iter().map(|[x, y, _]| x * x * y - y * y).collect();
    let point_data = vec![Field::real("Pressure", 1, values)];
    let cell = CellBlock { shape: Shape::Quadrilateral, order, points, point_data, cell_data: Vec::new() };
    let fields = UnstructuredFields { time: 0.0, pieces: vec![cell] };
    let file = Series::create(folder.join("fields.pvd"))?.write(&fields, &VtuOptions::default())?;

    let runs = [Run::open(&folder)?];
    let page = Picture { mesh: true, even_contours: 9, ..Picture::default() }.draw(&runs)?;
    let (svg, png) = (folder.join("cell.svg"), folder.join("cell.png"));
    atomic::write(&svg, page.svg().as_bytes())?;
    atomic::write(&png, &page.image(1.0).png())?;
    for path in [file, svg, png] {
        writeln!(std::io::stdout(), "{}", path.display())?;
    }
    Ok(())
}
