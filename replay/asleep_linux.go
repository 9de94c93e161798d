package replay

import (
	"time"

	"golang.org/x/sys/unix"
)

// asleep is how long the machine has been suspended since it started: the clock
// that counts it less the one that does not, by which a run goes (see
// clock_gettime(2)). Neither moves when the wall clock is set. -1 where it is
// not known.
func asleep() int64 {
	for range 20 {
		before, err1 := clock(unix.CLOCK_MONOTONIC)
		boot, err2 := clock(unix.CLOCK_BOOTTIME)
		after, err3 := clock(unix.CLOCK_MONOTONIC)
		if err1 != nil || err2 != nil || err3 != nil {
			return -1
		}
		if after-before < int64(time.Millisecond) { // read together
			return boot - before
		}
	}
	return -1
}

func clock(id int32) (int64, error) {
	var t unix.Timespec
	err := unix.ClockGettime(id, &t)
	return t.Nano(), err
}
