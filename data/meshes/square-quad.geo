// Periodic square [-5,5]^2, unstructured quadrilaterals.
h = 1;
Point(1) = {-5, -5, 0, h};
Point(2) = { 5, -5, 0, h};
Point(3) = { 5,  5, 0, h};
Point(4) = {-5,  5, 0, h};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {4, 3};
Line(4) = {1, 4};
Curve Loop(1) = {1, 2, -3, -4};
Plane Surface(1) = {1};
// A point with a smaller size keeps Gmsh from making a regular grid.
Point(100) = {1.3, -0.8, 0, 0.35*h};
Point {100} In Surface {1};
Periodic Curve {2} = {4} Translate {10, 0, 0};
Periodic Curve {3} = {1} Translate {0, 10, 0};
Physical Curve("bottom") = {1};
Physical Curve("right") = {2};
Physical Curve("top") = {3};
Physical Curve("left") = {4};
Physical Surface("fluid") = {1};
Mesh.Algorithm = 8;
Mesh.RecombinationAlgorithm = 3;
Recombine Surface {1};
