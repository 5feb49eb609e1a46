// Square cylinder of side 1 in the box [-16, 25] x [-22, 22]: triangles, finer near the corners and in the wake.
// Other sizes: make.py square-cylinder --set body=0.06 --set wake=0.2
DefineConstant[ body = {0.15, Name "body"} ]; // size at the body
DefineConstant[ wake = {0.5, Name "wake"} ]; // size in the wake, at x = 10
DefineConstant[ far = {6, Name "far"} ]; // largest size
For i In {0:3}
  s = (i == 1 || i == 2) ? 0.5 : -0.5;
  t = (i >= 2) ? 0.5 : -0.5;
  Point(10 + i) = {s, t, 0};
EndFor
Point(1) = {-16, -22, 0};
Point(2) = {25, -22, 0};
Point(3) = {25, 22, 0};
Point(4) = {-16, 22, 0};
For i In {0:3}
  Line(1 + i) = {1 + i, 1 + (i + 1)%4};
  Line(10 + i) = {10 + i, 10 + (i + 1)%4};
EndFor
Curve Loop(1) = {1, 2, 3, 4};
Curve Loop(2) = {10, 11, 12, 13};
Plane Surface(1) = {1, 2};
Field[1] = MathEval;
Field[1].F = Sprintf("%g + 0.3*max(0, max(abs(x), abs(y)) - 0.5)", body);
Field[2] = MathEval;
Field[2].F = Sprintf("%g + %g*(x + abs(x))/20 + 1.5*(abs(x) - x) + 0.35*max(0, abs(y) - 1.5)", 1.4*body, wake - 1.4*body);
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
Physical Surface("fluid") = {1};
