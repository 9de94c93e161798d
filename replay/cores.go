package replay

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// CPUReading is what this process has had of the CPU so far, and what it waited
// for. A part that the system does not tell is negative.
type CPUReading struct {
	At     time.Time
	CPU    time.Duration // used
	Waited time.Duration // its threads were ready to run, and did not run
	Stolen int64         // ticks of the machine that a hypervisor gave to others
	Wanted int64         // ticks of the machine that were not idle, the stolen ones included
	Quota  float64       // cores that the control group allows, 0: no limit
}

// ReadCPU reads where this process stands now.
func ReadCPU() CPUReading {
	r := CPUReading{At: time.Now(), CPU: CPUTime(), Waited: waited("/proc/self/task"), Stolen: -1, Wanted: -1, Quota: quota(cgroups())}
	if data, err := os.ReadFile("/proc/stat"); err == nil {
		r.Stolen, r.Wanted = parseWanted(string(data))
	}
	return r
}

// CPUUse is what a process had of its cores over a while. Negative: not known.
type CPUUse struct {
	CPU, Waited    time.Duration
	Wall           time.Duration
	Stolen, Wanted int64
	Quota          float64
	Cores          int
}

// Since is the use from one reading to a later one, on so many cores.
func (r CPUReading) Since(before CPUReading, cores int) CPUUse {
	u := CPUUse{Wall: r.At.Sub(before.At), CPU: -1, Waited: -1, Stolen: -1, Wanted: -1, Quota: r.Quota, Cores: cores}
	if r.CPU >= 0 && before.CPU >= 0 {
		u.CPU = r.CPU - before.CPU
	}
	if r.Waited >= 0 && before.Waited >= 0 {
		u.Waited = max(0, r.Waited-before.Waited) // a thread that ended takes its part along
	}
	if r.Wanted >= 0 && before.Wanted >= 0 {
		u.Stolen, u.Wanted = r.Stolen-before.Stolen, r.Wanted-before.Wanted
	}
	return u
}

// Got is how many of its cores a process really gets: of the time that its
// threads wanted to run the share in which they ran (the rest is neighbours on
// the same cores, throttling, and threads of its own, so it is no less than what it
// used), less what a hypervisor took, and no more than the control group allows.
// It is all of them where nothing of this is known.
func (u CPUUse) Got() float64 {
	got := float64(u.Cores)
	if u.Quota > 0 {
		got = min(got, u.Quota)
	}
	if u.CPU > 0 && u.Waited > 0 {
		got = min(got, float64(u.Cores)*u.CPU.Seconds()/(u.CPU+u.Waited).Seconds())
	}
	used := 0.0
	if u.CPU > 0 && u.Wall > 0 {
		used = min(float64(u.Cores), u.CPU.Seconds()/u.Wall.Seconds())
	}
	if u.Stolen > 0 && u.Wanted > 0 {
		got *= 1 - float64(u.Stolen)/float64(max(u.Wanted, u.Stolen))
	}
	return max(got, used)
}

// waited sums what the threads below dir, /proc/PID/task, have waited for a core:
// the second of the three numbers of schedstat, ns (Documentation/scheduler/
// sched-stats.rst of the kernel). It is negative where there is none.
func waited(dir string) time.Duration {
	files, _ := filepath.Glob(filepath.Join(dir, "*", "schedstat"))
	sum := time.Duration(-1)
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		if ns := parseWaited(string(data)); ns >= 0 {
			sum = max(sum, 0) + time.Duration(ns)
		}
	}
	return sum
}

func parseWaited(stat string) int64 {
	f := strings.Fields(stat)
	if len(f) != 3 {
		return -1
	}
	ns, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil || ns < 0 {
		return -1
	}
	return ns
}

// parseWanted returns the stolen ticks of /proc/stat's first line, and all that
// were not idle or waiting for a disk; -1 where there is none.
func parseWanted(stat string) (stolen, wanted int64) {
	stolen, all := parseSteal(stat)
	if all < 0 {
		return -1, -1
	}
	line, _, _ := strings.Cut(stat, "\n")
	f := strings.Fields(line)
	idle, _ := strconv.ParseInt(f[4], 10, 64) // parseSteal has read them
	disk, _ := strconv.ParseInt(f[5], 10, 64)
	return stolen, all - idle - disk
}

// quota is the tightest limit on cores of the control groups in dirs, 0 where
// there is none.
func quota(dirs []string) float64 {
	least := 0.0
	for _, dir := range dirs {
		data, err := os.ReadFile(filepath.Join(dir, "cpu.max"))
		if err != nil {
			continue
		}
		if q := parseQuota(string(data)); q > 0 && (least == 0 || q < least) {
			least = q
		}
	}
	return least
}

// parseQuota reads cpu.max, "150000 100000" or "max 100000", as cores; 0 is no
// limit (Documentation/admin-guide/cgroup-v2.rst of the kernel).
func parseQuota(max string) float64 {
	f := strings.Fields(max)
	if len(f) != 2 {
		return 0
	}
	limit, err1 := strconv.ParseInt(f[0], 10, 64)
	period, err2 := strconv.ParseInt(f[1], 10, 64)
	if err1 != nil || err2 != nil || limit <= 0 || period <= 0 {
		return 0
	}
	return float64(limit) / float64(period)
}

// cgroups are the folders of this process's control group (v2) and of those above
// it, the nearest first, and of old systems the one of the CPU.
func cgroups() []string {
	var dirs []string
	if own, err := os.ReadFile("/proc/self/cgroup"); err == nil {
		for line := range strings.Lines(string(own)) {
			path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
			for path = filepath.Clean("/" + path); ok && path != "/"; path = filepath.Dir(path) {
				dirs = append(dirs, filepath.Join("/sys/fs/cgroup", path))
			}
		}
	}
	return append(dirs, "/sys/fs/cgroup", "/sys/fs/cgroup/cpu")
}
