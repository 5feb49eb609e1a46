// The shell between the spheres of radius 0.8 and 20, of tetrahedra, finer behind the inner one. make.py fills the layers between
// it and the sphere of diameter 1 with prisms. Other sizes: make.py sphere --set size=0.2 …
SetFactory("OpenCASCADE");
DefineConstant[ size = {0.42, Name "size"} ]; // size of triangles on the sphere of radius 0.8
DefineConstant[ wake = {0.9, Name "wake"} ]; // size at x = 6
Sphere(1) = {0, 0, 0, 20};
Sphere(2) = {0, 0, 0, 0.8};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
Field[1] = MathEval;
Field[1].F = Sprintf("%g + 0.55*(sqrt(x^2 + y^2 + z^2) - 0.8)", size);
// |x| - x counts in front of the body only.
Field[2] = MathEval;
Field[2].F = Sprintf("%g + %g*(x + abs(x))/12 + 2*(abs(x) - x) + 0.6*sqrt(y^2 + z^2)", size, wake - size);
Field[3] = Min;
Field[3].FieldsList = {1, 2};
Background Field = 3;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Mesh.MeshSizeMax = 8;
