// Channel [0, 2.2] x [0, 0.41] with a cylinder of diameter 0.1 at (0.2, 0.2) (Schafer & Turek 1996): layers of curved
// quadrilaterals around the cylinder, triangles outside. Other sizes: make.py channel-cylinder --set n=48 ...
DefineConstant[ n = {24, Name "n"} ]; // quadrilaterals around the cylinder
DefineConstant[ layers = {3, Name "layers"} ]; // layers of quadrilaterals
DefineConstant[ size = {0.06, Name "size"} ]; // size of triangles far from the cylinder
cx = 0.2;
cy = 0.2;
radius = 0.05;
collar = 0.085;
Point(1) = {cx, cy, 0};
For i In {0:3}
  a = i*Pi/2 + Pi/4;
  Point(10 + i) = {cx + radius*Cos(a), cy + radius*Sin(a), 0};
  Point(20 + i) = {cx + collar*Cos(a), cy + collar*Sin(a), 0};
EndFor
For i In {0:3}
  j = (i + 1)%4;
  Circle(10 + i) = {10 + i, 1, 10 + j};
  Circle(20 + i) = {20 + i, 1, 20 + j};
  Line(40 + i) = {10 + i, 20 + i};
EndFor
For i In {0:3}
  j = (i + 1)%4;
  Curve Loop(10 + i) = {40 + i, 20 + i, -(40 + j), -(10 + i)};
  Plane Surface(10 + i) = {10 + i};
  Transfinite Curve {10 + i, 20 + i} = n/4 + 1;
  Transfinite Curve {40 + i} = layers + 1 Using Progression 1.3;
  Transfinite Surface {10 + i};
  Recombine Surface {10 + i};
EndFor
Point(2) = {0, 0, 0};
Point(3) = {2.2, 0, 0};
Point(4) = {2.2, 0.41, 0};
Point(5) = {0, 0.41, 0};
Line(1) = {2, 3};
Line(2) = {3, 4};
Line(3) = {4, 5};
Line(4) = {5, 2};
Curve Loop(1) = {1, 2, 3, 4};
Curve Loop(2) = {20, 21, 22, 23};
Plane Surface(1) = {1, 2};
rim = 2*Pi*collar/n;
// Sizes grow with the distance from the cylinder, and slower behind it.
Field[1] = MathEval;
Field[1].F = Sprintf("min(%g, %g + 0.25*(sqrt((x - 0.2)^2 + (y - 0.2)^2) - %g))", size, rim, collar);
Field[2] = MathEval;
Field[2].F = Sprintf("%g + 0.03*(x - 0.2 + abs(x - 0.2)) + 0.5*(abs(x - 0.2) - x + 0.2) + 0.3*abs(y - 0.2)", 1.3*rim);
Field[3] = Min;
Field[3].FieldsList = {1, 2};
Background Field = 3;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Physical Curve("cylinder") = {10, 11, 12, 13};
Physical Curve("inlet") = {4};
Physical Curve("outlet") = {2};
Physical Curve("walls") = {1, 3};
Physical Surface("fluid") = {1, 10, 11, 12, 13};
