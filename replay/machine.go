package replay

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// ThisEnvironment describes the machine that runs this process.
func ThisEnvironment() Environment {
	return Environment{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version(),
		Procs: runtime.GOMAXPROCS(0)}
}

// steal returns the stolen and all CPU ticks of the machine so far, from the
// first line of /proc/stat (user nice system idle iowait irq softirq steal …,
// see proc(5)); -1 where there is none.
func steal() (stolen, all int64) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return -1, -1
	}
	return parseSteal(string(data))
}

func parseSteal(stat string) (stolen, all int64) {
	line, _, _ := strings.Cut(stat, "\n")
	f := strings.Fields(line)
	if len(f) < 9 || f[0] != "cpu" {
		return -1, -1
	}
	for i, s := range f[1:9] { // guest time is in user already
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return -1, -1
		}
		all += v
		if i == 7 {
			stolen = v
		}
	}
	return stolen, all
}

// throttled returns the cgroup's throttled periods so far, -1 when unknown.
func throttled() int64 {
	for _, dir := range cgroups() {
		data, err := os.ReadFile(filepath.Join(dir, "cpu.stat"))
		if err != nil {
			continue
		}
		if n := parseThrottled(string(data)); n >= 0 {
			return n
		}
	}
	return -1
}

func parseThrottled(stat string) int64 {
	for line := range strings.Lines(stat) {
		if v, ok := strings.CutPrefix(line, "nr_throttled "); ok {
			if n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}
