//go:build !unix

package mock

import "time"

// processCPU is not known here.
func processCPU() time.Duration { return 0 }
