// Cylinder of diameter 1 in the box [-20, 40] x [-30, 30]: layers of curved quadrilaterals around the cylinder,
// triangles outside. Other sizes: make.py circular-cylinder --set n=48 ...
DefineConstant[ n = {24, Name "n"} ]; // quadrilaterals around the cylinder
DefineConstant[ layers = {3, Name "layers"} ]; // layers of quadrilaterals
DefineConstant[ wake = {0.8, Name "wake"} ]; // size in the wake, at x = 10
DefineConstant[ far = {8, Name "far"} ]; // largest size
radius = 0.5;
collar = 0.9;
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
  Transfinite Curve {40 + i} = layers + 1 Using Progression 1.3;
  Transfinite Surface {10 + i};
  Recombine Surface {10 + i};
EndFor
Point(2) = {-20, -30, 0};
Point(3) = {40, -30, 0};
Point(4) = {40, 30, 0};
Point(5) = {-20, 30, 0};
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
Field[1].F = Sprintf("%g + 0.35*(sqrt(x^2 + y^2) - %g)", rim, collar);
Field[2] = MathEval;
Field[2].F = Sprintf("%g + %g*(x + abs(x))/20 + 1.5*(abs(x) - x) + 0.35*max(0, abs(y) - 1.5)", 1.3*rim, wake - 1.3*rim);
Field[3] = Min;
Field[3].FieldsList = {1, 2};
Field[4] = MathEval;
Field[4].F = Sprintf("%g", far);
Field[5] = Min;
Field[5].FieldsList = {3, 4};
Background Field = 5;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Physical Curve("cylinder") = {10, 11, 12, 13};
Physical Curve("inlet") = {4};
Physical Curve("outlet") = {2};
Physical Curve("sides") = {1, 3};
Physical Surface("fluid") = {1, 10, 11, 12, 13};
