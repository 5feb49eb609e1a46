// Quarter annulus 1 <= r <= 1.384 of 180 straight-sided triangles with edges of about 0.1: mesh A of Fuhry,
// Giuliani and Krivodonova (2014) by its numbers of elements (180) and edges (293, of which 46 on the
// boundary). make.py writes it in the plane of angle and radius, where refinement keeps points on the arcs.
ri = 1;
ro = 1.384;
lc = 0.1;
Point(1) = {0, 0, 0, lc};
Point(2) = {ri, 0, 0, lc};
Point(3) = {ro, 0, 0, lc};
Point(4) = {0, ro, 0, lc};
Point(5) = {0, ri, 0, lc};
Line(1) = {2, 3};
Circle(2) = {3, 1, 4};
Line(3) = {4, 5};
Circle(4) = {5, 1, 2};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Mesh.Algorithm = 2;

// The flow rotates clockwise: inflow at x = 0, outflow at y = 0.
Physical Curve("inner") = {4};
Physical Curve("outer") = {2};
Physical Curve("inlet") = {3};
Physical Curve("outlet") = {1};
Physical Surface("fluid") = {1};
