package main

import (
	"fmt"
	"time"
	_ "time/tzdata" // zones by name, wherever the binary runs

	"github.com/spf13/cobra"
)

// zoneFlag adds --timezone.
func zoneFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "timezone", "", "zone of times in the log that name none, such as Europe/Berlin or +02:00 (default: UTC)")
}

// parseZone reads a zone's name or offset; nil is UTC by default.
func parseZone(s string) (*time.Location, error) {
	if s == "" {
		return nil, nil
	}
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		if t, err := time.Parse(layout, s); err == nil {
			_, offset := t.Zone()
			return time.FixedZone(s, offset), nil
		}
	}
	zone, err := time.LoadLocation(s)
	if err != nil || s == "Local" {
		return nil, fmt.Errorf("--timezone: no zone %q; give a name such as Europe/Berlin, or an offset such as +02:00", s)
	}
	return zone, nil
}
