// A matrix of a reference element by rows; the counterpart of `MatrixArgument` of universal.rs.
#pragma once

// Rows of equal length, [entry][row]; shorter rows are padded with zeros.
struct Matrix {
    const real* values;
    const unsigned* columns;
    unsigned rows, width;
};
