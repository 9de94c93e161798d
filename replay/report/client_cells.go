package report

import (
	"fmt"
	"strings"
)

// clientCells say whether the client may be believed, and what it did.
func (s *Summary) clientCells() [][]string {
	c := &s.Client
	out := [][]string{{"Client", "value", "note "}}
	add := func(name, value, note string) { out = append(out, []string{name, value, note}) }
	add("Verdict", strings.ToUpper(strings.ReplaceAll(c.Verdict, "_", "-")), c.Reason)
	add("Send lag p50, ms", msOr(c.LagP50MS), s.planned()+" to bytes handed over")
	add("Send lag p99, ms", msOr(c.LagP99MS), plural(c.LagN, "request"))
	add("Send lag max, ms", msOr(c.LagMaxMS), fmt.Sprintf("%s over 5 ms late", count(c.Late)))
	if c.KernelP99MS != nil {
		add("Kernel to reader p99, ms", msOr(c.KernelP99MS), "over the run"+after("; worst second ", worst(c.Health.kernel())))
	} else if v := c.Health.kernel(); v != nil {
		add("Kernel to reader p99, ms", msOr(v), fmt.Sprintf("worst of %d seconds", c.Health.Seconds))
	}
	if c.HeartP99MS != nil {
		add("Heartbeat late p99, ms", msOr(c.HeartP99MS), "over the run; longest stall "+msOr(c.HeartMaxMS)+" ms")
	} else if v := c.Health.heart(); v != nil {
		add("Heartbeat late p99, ms", msOr(v), "worst second")
	}
	if c.Shared != nil {
		add("Events sharing a read", shareText(c.Shared), "with the event before"+after("; of an answer alone ", shareOr(c.SharedAlone)))
	}
	if c.HeadroomText != "" {
		short, why, late := strings.Cut(c.HeadroomText, ": ")
		if late {
			why += ", "
		}
		add("Headroom before the run", short, why+c.HeadroomWhy)
	}
	if c.Resent > 0 {
		add("Sent a second time", count(c.Resent), "their kept connection proved dead (--resend); in their latency")
	}
	c.Health.cells(add, s.Source.Environment.CPUs)
	s.pathCells(add)
	return out
}

// cells adds what the machine did.
func (h *Health) cells(add func(name, value, note string), cpus int) {
	if h == nil {
		return
	}
	add("CPU, cores", fmt.Sprintf("%.2f", h.CPU), fmt.Sprintf("busiest second, of %d; %s", cpus, plural(h.GC, "garbage collection")))
	if h.Throttled != nil {
		add("Throttled periods", count(*h.Throttled), "of the cgroup")
	}
	if h.Steal != nil {
		add("CPU stolen", shareText(h.Steal), "worst second")
	}
	if h.Files != nil {
		add("Open files", count(h.Files.Most), "at most, of "+count(h.Files.Limit)+" allowed")
	}
	if h.Ports != nil {
		add("TCP sockets of the machine", count(h.Ports.Most), "at most, waiting ones included; "+plural(h.Ports.Limit, "port")+" for connections to one address")
	}
}

func (h *Health) kernel() *float64 {
	if h == nil {
		return nil
	}
	return h.KernelMS
}

func (h *Health) heart() *float64 {
	if h == nil {
		return nil
	}
	return h.HeartMS
}

// worst is a reading in words, empty where there is none.
func worst(v *float64) string {
	if v == nil {
		return ""
	}
	return msText(*v)
}

func shareOr(v *float64) string {
	if v == nil {
		return ""
	}
	return shareText(v)
}
