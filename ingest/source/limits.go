package source

import "fmt"

// Limits are those of decompression; zero fields take the defaults. A file may
// grow to Floor bytes freely and above that to Ratio times its size, and never
// beyond Total.
type Limits struct {
	Floor int64 // 64 MiB
	Ratio int64 // 1000
	Total int64 // 16 TiB
}

func (l Limits) orDefault() Limits {
	if l.Floor <= 0 {
		l.Floor = 64 << 20
	}
	if l.Ratio <= 0 {
		l.Ratio = 1000
	}
	if l.Total <= 0 {
		l.Total = 16 << 40
	}
	return l
}

// check compares the bytes that came out with those that went in.
func (l Limits) check(out, in int64) error {
	if out <= l.Floor {
		return nil
	}
	if out > l.Total || out/l.Ratio > in {
		return &bomb{fmt.Sprintf("%d bytes unpack to more than %d (the limit is %d times and %d bytes in all); unpack it first if it is genuine",
			in, out, l.Ratio, l.Total)}
	}
	return nil
}
