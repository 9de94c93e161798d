package columnar

import "math"

// half is the value of a float of 16 bits (IEEE 754 binary16).
func half(b uint16) float64 {
	exp, frac := int(b>>10&0x1f), float64(b&0x3ff)
	v := math.Ldexp(1+frac/1024, exp-15)
	switch {
	case exp == 0:
		v = math.Ldexp(frac, -24)
	case exp == 0x1f && frac == 0:
		v = math.Inf(1)
	case exp == 0x1f:
		v = math.NaN()
	}
	if b&0x8000 != 0 {
		v = -v
	}
	return v
}
