// Periodic cube [-1,1]^3, unstructured tetrahedra.
SetFactory("OpenCASCADE");
Box(1) = {-1, -1, -1, 2, 2, 2};
Mesh.MeshSizeMin = 0.6;
Mesh.MeshSizeMax = 0.6;
// OpenCASCADE numbers the faces of a box: 1 xmin, 2 xmax, 3 ymin, 4 ymax, 5 zmin, 6 zmax.
Periodic Surface {2} = {1} Translate {2, 0, 0};
Periodic Surface {4} = {3} Translate {0, 2, 0};
Periodic Surface {6} = {5} Translate {0, 0, 2};
Physical Surface("xmin") = {1};
Physical Surface("xmax") = {2};
Physical Surface("ymin") = {3};
Physical Surface("ymax") = {4};
Physical Surface("zmin") = {5};
Physical Surface("zmax") = {6};
Physical Volume("fluid") = {1};
