% Octave's products against sums of elementwise products, which are Octave's own loops (a(:,p)*b(p,:) would be BLAS).
% Comparisons are all(|x - r| <= bound): max would drop a NaN.
1;
function r = loops (a, b)
  r = zeros (rows (a), columns (b));
  for p = 1:columns (a)
    r += double (a(:, p)) .* double (b(p, :));
  end
end
function n = check (name, x, a, b)
  k = columns (a);
  unit = eps (class (x)) / 2;
  bound = 2 * (k + 2) * unit * loops (abs (a), abs (b));
  right = isequal (size (x), [rows(a), columns(b)]) && all (abs (double (x) - loops (a, b))(:) <= bound(:));
  n = ! right;
  if (n)
    printf ("FAIL %s %s m=%d n=%d k=%d\n", name, class (x), rows (a), columns (b), k);
  end
end
rand ("seed", 5);
bad = 0;
calls = 0;
for extents = {[3 4 2], [17 33 65], [64 64 64], [300 200 250], [301 301 301]}
  m = extents{1}(1); n = extents{1}(2); k = extents{1}(3);
  for type = {"double", "single"}
    a = cast (rand (m, k) - 0.5, type{1});
    b = cast (rand (k, n) - 0.5, type{1});
    at = a.';
    bt = b.';
    bad += check ("a*b", a * b, a, b);
    bad += check ("a'*b", at' * b, a, b);
    bad += check ("a*b'", a * bt', a, b);
    bad += check ("a'*b'", at' * bt', a, b);
    whole = cast (round (8 * a), type{1});
    wholeb = cast (round (8 * b), type{1});
    bad += ! isequal (double (whole * wholeb), loops (whole, wholeb));
    calls += 5;
  end
end
printf ("octave: %d products, %d bad\n", calls, bad);
exit (bad != 0);
