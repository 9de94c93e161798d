//go:build !unix

package replay

// cpuTime returns the CPU time of this process in ns, -1 when unknown.
func cpuTime() int64 { return -1 }

// fileLimit returns how many descriptors this process may have, -1 when unknown.
func fileLimit() int64 { return -1 }
