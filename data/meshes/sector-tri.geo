// A sector of 60 degrees of the annulus 1 <= r <= 2, periodic by rotation about z.
h = 0.3;
c = Cos(Pi/3);
s = Sin(Pi/3);
Point(1) = {0, 0, 0};
Point(2) = {1, 0, 0, h};
Point(3) = {2, 0, 0, h};
Point(4) = {2*c, 2*s, 0, h};
Point(5) = {c, s, 0, h};
Line(1) = {2, 3};
Circle(2) = {3, 1, 4};
Line(3) = {5, 4};
Circle(4) = {2, 1, 5};
Curve Loop(1) = {1, 2, -3, -4};
Plane Surface(1) = {1};
Periodic Curve {3} = {1} Rotate {{0, 0, 1}, {0, 0, 0}, Pi/3};
// A negative number reverses the elements; the group is the same.
Physical Curve("lower") = {-1};
Physical Curve("outer") = {2};
Physical Curve("upper") = {3};
Physical Curve("inner") = {4};
Physical Surface("fluid") = {-1};
