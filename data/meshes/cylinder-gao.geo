// Circular cylinder of diameter 1 in the box of Gao et al. 2022, [-15, 30] x [-15, 15]: layers of curved quadrilaterals
// around the body, triangles outside, finer in the wake. Other sizes: make.py cylinder-gao --set n=64 --set layers=10
DefineConstant[ n = {32, Name "n"} ]; // quadrilaterals around the body
DefineConstant[ layers = {5, Name "layers"} ]; // layers of quadrilaterals
DefineConstant[ wake = {0.9, Name "wake"} ]; // size of triangles in the wake, at x = 10
radius = 0.5;
collar = 1.1;
Point(1) = {0, 0, 0};
For i In {0:3}
  a = i*Pi/2 + Pi/4;
  Point(10 + i) = {radius*Cos(a), radius*Sin(a), 0};
  Point(20 + i) = {collar*Cos(a), collar*Sin(a), 0};
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
  Transfinite Curve {40 + i} = layers + 1 Using Progression 1.15;
  Transfinite Surface {10 + i};
  Recombine Surface {10 + i};
EndFor
Point(30) = {-15, -15, 0};
Point(31) = {30, -15, 0};
Point(32) = {30, 15, 0};
Point(33) = {-15, 15, 0};
Line(30) = {30, 31};
Line(31) = {31, 32};
Line(32) = {32, 33};
Line(33) = {33, 30};
Curve Loop(1) = {20, 21, 22, 23};
Curve Loop(2) = {30, 31, 32, 33};
Plane Surface(1) = {2, 1};
// Sizes grow with the distance from the body, and slower behind it.
rim = 2*Pi*collar/n;
Field[1] = MathEval;
Field[1].F = Sprintf("%g + 0.4*(sqrt(x^2 + y^2) - %g)", rim, collar);
// |x| - x counts in front of the body only.
Field[2] = MathEval;
Field[2].F = Sprintf("%g + %g*(x + abs(x))/20 + 2*(abs(x) - x) + 0.45*abs(y)/(1 + 0.02*abs(x))", rim, wake - rim);
Field[4] = Min;
Field[4].FieldsList = {1, 2};
Background Field = 4;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Physical Curve("cylinder") = {10, 11, 12, 13};
Physical Curve("inlet") = {33};
Physical Curve("outlet") = {31};
Physical Curve("sides") = {30, 32};
Physical Surface("fluid") = {1, 10, 11, 12, 13};
