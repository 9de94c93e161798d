package fit

import (
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/fit/dist"
)

func TestDescribeEdges(t *testing.T) {
	if d := Describe(dist.Values{}); d.N != 0 || d.SD.OK() || d.CV.OK() {
		t.Errorf("nothing is described as %+v", d)
	}
	if d := Describe(dist.NewValues([]float64{0, 0})); d.Zeros != 2 || d.CV.OK() || d.SD.Value != 0 {
		t.Errorf("zeros are described as %+v", d)
	}
	fits, missing := FitFamilies(dist.NewValues([]float64{0, 0}))
	if len(fits) != 0 || len(missing) != len(dist.Families()) {
		t.Errorf("zeros are fitted: %v, %v", fits, missing)
	}
}

// TestAtomsAndCaps has the masses stated in the reference for Azure: inputs of
// the code trace end in a cap, outputs of the conversation trace do not.
func TestAtomsAndCaps(t *testing.T) {
	code, conv := load(t, "azure2023_code"), load(t, "azure2023_conv")
	if s := CapShare(dist.FromInts(code.input, 1)); s < 0.039 || s > 0.045 {
		t.Errorf("the cap of Azure-code inputs holds %.3f, the reference says 4.0 %% within 7430-7437", s)
	}
	if s := CapShare(dist.FromInts(conv.output, 1)); s > 0.01 {
		t.Errorf("Azure-conv outputs look capped: %.3f", s)
	}
	// fidelity_lengths: 59 atoms with a mass of 0.30946.
	var mass float64
	atoms := Atoms(dist.FromInts(conv.input, 1), 0.003)
	for _, a := range atoms {
		mass += a.Share
	}
	if len(atoms) != 59 || relative(mass, 0.30946) > 1e-5 {
		t.Errorf("%d atoms with a mass of %.5f, the reference says 59 with 0.30946", len(atoms), mass)
	}
}

// TestStrata checks the medians by input decile that the reference states for
// Azure-conv, where Spearman's 0.07 hides a strong dependence.
func TestStrata(t *testing.T) {
	s := load(t, "azure2023_conv")
	strata, err := Strata(s.input, s.output)
	check(t, err)
	if len(strata) != 10 {
		t.Fatalf("%d strata, want 10", len(strata))
	}
	var n int64
	want := []float64{161, 76, 96, 98, 395, 406, 407, 396, 95, 58}
	for i, st := range strata {
		n += st.N
		if len(st.Output.P) != len(jointGrid()) {
			t.Errorf("stratum %d has a table of %d points", i, len(st.Output.P))
		}
		// Ties at the deciles may fall on either side.
		if m := st.Output.At(0.5); relative(m, want[i]) > 0.06 {
			t.Errorf("the median output of stratum %d is %g, the reference says %g", i, m, want[i])
		}
	}
	if n != 19366 || strata[9].Upto != 14050 {
		t.Errorf("strata hold %d requests up to %d", n, strata[9].Upto)
	}
}

func TestStrataMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, n := range []int{0, 1, 49, 99, 120, 499, 1000} {
		for _, distinct := range []int32{1, 2, 7, 10_000} {
			in, out := make([]int32, n), make([]int32, n)
			for i := range in {
				in[i], out[i] = r.Int32N(distinct), r.Int32N(100)
			}
			strata, err := Strata(in, out)
			check(t, err)
			var sum int64
			for i, s := range strata {
				sum += s.N
				if len(strata) > 1 && s.N < minStratum || i > 0 && s.Upto <= strata[i-1].Upto {
					t.Errorf("n %d, %d values: stratum %d is %+v", n, distinct, i, s)
				}
			}
			if sum != int64(n) || n > 0 && strata[len(strata)-1].Upto != slices.Max(in) {
				t.Errorf("n %d, %d values: strata hold %d", n, distinct, sum)
			}
		}
	}
	if _, err := Strata([]int32{1}, nil); err == nil {
		t.Error("lists of two lengths are taken")
	}
}

func TestCorrelationEdges(t *testing.T) {
	if Spearman([]int32{1, 2}, []int32{1}).OK() || Spearman(nil, nil).OK() || Pearson([]int32{3, 3}, []int32{1, 2}).OK() {
		t.Error("a correlation of nothing is given")
	}
	if s := Spearman([]int32{1, 10, 100, -5}, []int32{2, 3, 4, 1}); !s.OK() || relative(s.Value, 1) > 1e-15 {
		t.Errorf("a rising pair has Spearman %+v", s)
	}
}

func BenchmarkJoint(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	in, out := make([]int32, 1_000_000), make([]int32, 1_000_000)
	for i := range in {
		in[i], out[i] = int32(r.ExpFloat64()*2000)+1, int32(r.ExpFloat64()*300)+1
	}
	b.Run("spearman", func(b *testing.B) {
		for b.Loop() {
			Spearman(in, out)
		}
	})
	b.Run("strata", func(b *testing.B) {
		for b.Loop() {
			if _, err := Strata(in, out); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("describe+families", func(b *testing.B) {
		for b.Loop() {
			v := dist.FromInts(in, 1)
			Describe(v)
			FitFamilies(v)
		}
	})
}
