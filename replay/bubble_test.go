package replay

import (
	"runtime"
	"testing"
	"testing/synctest"
)

// bubble is synctest.Test for what writes or reads results: their codecs lie in
// pools afterwards, with channels that no test outside may use, until two
// collections have emptied the pools.
func bubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	synctest.Test(t, f)
	runtime.GC()
	runtime.GC()
}
