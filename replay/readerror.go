package replay

// ReadErrorMS is by how much, at p99, the client may have stamped bytes later
// than they came, ms; stamps is Clock.Stamps. The kernel's own stamps are not
// late, unless many events share a read: of those it stamps the last alone, and
// any other is wrong by up to what the process was late. A stamp taken after the
// read is late by the delay of the read, or where that is not known by what the
// heartbeat was. It is 0 where nothing is known.
func (v *ClientVerdict) ReadErrorMS(stamps string) float64 {
	heart := orNil(v.HeartP99MS)
	switch {
	case stamps == "kernel" && v.hides():
		return heart
	case stamps == "kernel":
		return 0
	case stamps == "user" && v.KernelP99MS != nil:
		return *v.KernelP99MS
	}
	return max(heart, orNil(v.KernelP99MS))
}

// hides tells that more events share a read than those of an answer alone do, by
// so many that stalls of this client may hide in them.
func (v *ClientVerdict) hides() bool {
	return v.Shared != nil && *v.Shared-orNil(v.SharedAlone) > hiding
}

func orNil(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}
