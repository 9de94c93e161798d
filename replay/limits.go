package replay

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// openFiles counts the file descriptors of this process, -1 when unknown.
func openFiles() int64 {
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		f, err := os.Open(dir)
		if err != nil {
			continue
		}
		n := int64(-1) // the one by which they are read
		for {
			names, err := f.Readdirnames(4096)
			if n += int64(len(names)); err == io.EOF {
				f.Close()
				return n
			}
			if err != nil {
				break
			}
		}
		f.Close()
	}
	return -1
}

// tcpSockets counts the TCP sockets of the machine (of its network namespace),
// those in TIME_WAIT included; -1 when unknown. See /proc/net/sockstat in
// proc(5).
func tcpSockets() int64 {
	data, err := os.ReadFile("/proc/net/sockstat")
	if err != nil {
		return -1
	}
	six, _ := os.ReadFile("/proc/net/sockstat6") // not there without IPv6
	return parseSockets(string(data) + string(six))
}

func parseSockets(stat string) int64 {
	n, known := int64(0), false
	for line := range strings.Lines(stat) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != "TCP:" && f[0] != "TCP6:" {
			continue
		}
		for i := 1; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseInt(f[i+1], 10, 64); err == nil && (f[i] == "inuse" || f[i] == "tw") {
				n, known = n+v, true
			}
		}
	}
	if !known {
		return -1
	}
	return n
}

// portLimit returns how many ports the system gives to connections to one
// address, -1 when unknown.
func portLimit() int64 {
	data, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return -1
	}
	return parsePorts(string(data))
}

func parsePorts(text string) int64 {
	var lo, hi int64
	if n, err := fmt.Sscan(text, &lo, &hi); n != 2 || err != nil || hi < lo {
		return -1
	}
	return hi - lo + 1
}

// Limits are what the system lets this process have; -1 where it is not known,
// or there is none.
type Limits struct {
	Files int64 // descriptors still free
	Ports int64 // for connections to one address
}

// ThisMachine returns the limits of this process.
func ThisMachine() Limits {
	l := Limits{Files: -1, Ports: portLimit()}
	if limit := fileLimit(); limit >= 0 {
		l.Files = max(limit-max(openFiles(), 0), 0)
	}
	return l
}

// ownFiles is what a run opens besides its connections: results, spool, timers,
// the server's metrics.
const ownFiles = 32

// timeWait is how long a port is held after its connection was closed by this
// side (TCP_TIMEWAIT_LEN of Linux, 60 s).
const timeWait = 60 * time.Second

// Connections is how many connections a run can have besides its own files, -1
// where there is no limit or none is known.
func (l Limits) Connections() int64 {
	if l.Files < 0 {
		return -1
	}
	return max(l.Files-ownFiles, 0)
}

// Tell says what of a plan the limits do not allow, nothing when all fits.
// sure tells that requests must fail; else it depends on how fast the server
// answers. each says that every request has a connection of its own.
func (l Limits) Tell(p *Plan, each bool) (notes []string, sure bool) {
	most, certain := p.connections()
	files := l.Connections()
	if files == 0 && most > 0 {
		return []string{fmt.Sprintf("this process can open %d more files, and a run wants %d for itself and one for each request under way: raise ulimit -n", l.Files, ownFiles)}, true
	}
	tell := func(limit int64, what, raise string) {
		if limit < 0 || most <= limit {
			return
		}
		if certain {
			notes, sure = append(notes, fmt.Sprintf("%d connections at once are planned and %s: %s", most, what, raise)), true
			return
		}
		notes = append(notes, fmt.Sprintf("the plan has %d requests and %s: should so many be under way at once, further ones cannot connect; %s", most, what, raise))
	}
	tell(files, fmt.Sprintf("this process can open %d more files", files), "raise ulimit -n")
	tell(l.Ports, fmt.Sprintf("the system has %d ports for them", l.Ports), "widen net.ipv4.ip_local_port_range or share the load out (--shard)")
	if rate := p.peakRate(timeWait); each && l.Ports >= 0 && rate > l.Ports {
		notes = append(notes, fmt.Sprintf("with a new connection for each request the plan opens %d within a minute, and a port is held for a minute after its connection; the system has %d: leave --new-conns out, widen net.ipv4.ip_local_port_range or share the load out (--shard)", rate, l.Ports))
	}
	return notes, sure
}

// connections returns how many connections a plan has open at the most; certain
// when the plan has so many, not only may have.
func (p *Plan) connections() (n int64, certain bool) {
	if len(p.levels) > 0 {
		for _, l := range p.levels {
			n = max(n, int64(l.Concurrency))
		}
		return n, true
	}
	return int64(len(p.Jobs)), false
}

// peakRate returns the most requests of a schedule within a time.
func (p *Plan) peakRate(d time.Duration) (most int64) {
	if len(p.levels) > 0 {
		return 0
	}
	from := 0
	for i := range p.Jobs {
		for p.Jobs[i].Sched-p.Jobs[from].Sched > d.Nanoseconds() {
			from++
		}
		most = max(most, int64(i-from+1))
	}
	return most
}
