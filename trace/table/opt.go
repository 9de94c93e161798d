package table

// Opt is a value that may be absent. The zero Opt is absent, so a field nobody
// set reads as "not known" and never as a measured zero.
type Opt[T any] struct {
	V  T
	OK bool
}

// Some returns a present value.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, OK: true} }

// Or returns the value, or def when it is absent.
func (o Opt[T]) Or(def T) T {
	if o.OK {
		return o.V
	}
	return def
}
