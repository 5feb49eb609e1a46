// Periodic cube [-1,1]^3: an unstructured square extruded into hexahedra.
h = 0.55;
Point(1) = {-1, -1, -1, h};
Point(2) = { 1, -1, -1, h};
Point(3) = { 1,  1, -1, h};
Point(4) = {-1,  1, -1, h};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {4, 3};
Line(4) = {1, 4};
Curve Loop(1) = {1, 2, -3, -4};
Plane Surface(1) = {1};
// A size that varies keeps Gmsh from making a regular grid.
Field[1] = MathEval;
Field[1].F = "0.4 + 0.4*(x - 0.3)^2 + 0.4*(y + 0.2)^2";
Background Field = 1;
Mesh.MeshSizeFromPoints = 0;
Mesh.MeshSizeExtendFromBoundary = 0;
Periodic Curve {2} = {4} Translate {2, 0, 0};
Periodic Curve {3} = {1} Translate {0, 2, 0};
Recombine Surface {1};
Mesh.Algorithm = 6;
Mesh.RecombinationAlgorithm = 2;
out[] = Extrude {0, 0, 2} { Surface{1}; Layers{4}; Recombine; };
// out: 0 the top, 1 the volume, 2.. the sides over curves 1, 2, 3, 4.
Periodic Surface {out[0]} = {1} Translate {0, 0, 2};
Periodic Surface {out[3]} = {out[5]} Translate {2, 0, 0};
Periodic Surface {out[4]} = {out[2]} Translate {0, 2, 0};
Physical Surface("zmin") = {1};
Physical Surface("zmax") = {out[0]};
Physical Surface("ymin") = {out[2]};
Physical Surface("xmax") = {out[3]};
Physical Surface("ymax") = {out[4]};
Physical Surface("xmin") = {out[5]};
Physical Volume("fluid") = {out[1]};
