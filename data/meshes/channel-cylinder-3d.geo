// Channel [0, 2.5] x [0, 0.41] x [0, 0.41] with a cylinder of diameter 0.1 along z at x = 0.5, y = 0.2 (Schafer & Turek
// 1996): a plane mesh that is extruded along z, hexahedra around the cylinder, prisms outside.
// Other sizes: make.py channel-cylinder-3d --set n=24 ...
DefineConstant[ n = {16, Name "n"} ]; // hexahedra around the cylinder
DefineConstant[ layers = {2, Name "layers"} ]; // layers of hexahedra
DefineConstant[ deep = {4, Name "deep"} ]; // elements along z
DefineConstant[ size = {0.15, Name "size"} ]; // size of elements far from the cylinder
cx = 0.5;
cy = 0.2;
radius = 0.05;
collar = 0.09;
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
Point(3) = {2.5, 0, 0};
Point(4) = {2.5, 0.41, 0};
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
Field[1].F = Sprintf("min(%g, %g + 0.35*(sqrt((x - 0.5)^2 + (y - 0.2)^2) - %g))", size, rim, collar);
Field[2] = MathEval;
Field[2].F = Sprintf("%g + 0.05*(x - 0.5 + abs(x - 0.5)) + 0.5*(abs(x - 0.5) - x + 0.5) + 0.4*abs(y - 0.2)", 1.3*rim);
Field[3] = Min;
Field[3].FieldsList = {1, 2};
Background Field = 3;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
// Of each surface, the list is: the surface at the other end, the volume, the surfaces of its sides in order of its loops.
box() = Extrude {0, 0, 0.41} { Surface{1}; Layers{deep}; Recombine; };
Physical Surface("inlet") = {box[5]};
Physical Surface("outlet") = {box[3]};
walls() = {1, box[0], box[2], box[4]};
volumes() = {box[1]};
body() = {};
For i In {0:3}
  ring() = Extrude {0, 0, 0.41} { Surface{10 + i}; Layers{deep}; Recombine; };
  walls() += {10 + i, ring[0]};
  volumes() += {ring[1]};
  body() += {ring[5]};
EndFor
Physical Surface("walls") = {walls()};
Physical Surface("cylinder") = {body()};
Physical Volume("fluid") = {volumes()};
