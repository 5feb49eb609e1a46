// NACA 0012 with a closed trailing edge at (1, 0), chord 1, in a round domain of radius 50: layers of curved quadrilaterals
// around the airfoil and a fan at its trailing edge, triangles outside, finer in the wake.
DefineConstant[ n = {24, Name "n"} ]; // elements on each side of the airfoil
DefineConstant[ layers = {5, Name "layers"} ]; // layers of quadrilaterals
DefineConstant[ first = {0.008, Name "first"} ]; // height of the first layer
far = 50;
points = 80;
// y = 0.6 (0.2969 √x − 0.1260 x − 0.3516 x² + 0.2843 x³ − 0.1036 x⁴), points dense at both ends.
For i In {0:points}
  s = 0.5*(1 - Cos(Pi*i/points));
  y = 0.6*(0.2969*Sqrt(s) - 0.1260*s - 0.3516*s^2 + 0.2843*s^3 - 0.1036*s^4);
  If (i == 0 || i == points)
    y = 0;
  EndIf
  Point(100 + i) = {s, y, 0};
  If (i > 0 && i < points)
    Point(300 + i) = {s, -y, 0};
  EndIf
EndFor
Spline(1) = {100:100 + points};
Spline(2) = {100, 301:300 + points - 1, 100 + points};
Transfinite Curve {1, 2} = n + 1 Using Bump 0.22;
Point(1) = {0.5, 0, 0};
Point(2) = {0.5 + far, 0, 0};
Point(3) = {0.5 - far, 0, 0};
Circle(11) = {2, 1, 3};
Circle(12) = {3, 1, 2};
Curve Loop(1) = {11, 12};
Curve Loop(2) = {1, -2};
Plane Surface(1) = {1, 2};
Field[1] = BoundaryLayer;
Field[1].CurvesList = {1, 2};
Field[1].FanPointsList = {100 + points};
Field[1].FanPointsSizesList = {4};
Field[1].Size = first;
Field[1].Ratio = 1.35;
Field[1].Thickness = first*(1.35^layers - 1)/0.35 + 1e-6;
Field[1].Quads = 1;
BoundaryLayer Field = 1;
// The distance along x to the chord is (|x| + |x - 1| - 1)/2.
Field[2] = MathEval;
Field[2].F = "0.06 + 0.4*sqrt(((abs(x) + abs(x - 1) - 1)/2)^2 + y^2)";
Field[3] = MathEval;
Field[3].F = "0.06 + 0.1*abs(x - 1) + 0.45*abs(y) + 5*(abs(x - 1) - (x - 1))";
Field[4] = Min;
Field[4].FieldsList = {2, 3};
Background Field = 4;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Physical Curve("airfoil") = {1, 2};
Physical Curve("far") = {11, 12};
Physical Surface("fluid") = {1};
