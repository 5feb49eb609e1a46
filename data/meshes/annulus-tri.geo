// Quarter annulus 1 <= r <= 1.384 of curved triangles: the supersonic vortex.
ri = 1;
ro = 1.384;
Point(1) = {0, 0, 0};
Point(2) = {ri, 0, 0};
Point(3) = {ro, 0, 0};
Point(4) = {0, ro, 0};
Point(5) = {0, ri, 0};
Line(1) = {2, 3};
Circle(2) = {3, 1, 4};
Line(3) = {4, 5};
Circle(4) = {5, 1, 2};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve {1, 3} = 4;
Transfinite Curve {2, 4} = 13;

// The flow rotates clockwise: inflow at x = 0, outflow at y = 0.
Physical Curve("inner") = {4};
Physical Curve("outer") = {2};
Physical Curve("inlet") = {3};
Physical Curve("outlet") = {1};
Physical Surface("fluid") = {1};
