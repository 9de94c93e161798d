package main

import (
	"fmt"
	"strings"
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
		if t, err := time.Parse(layout, strings.TrimPrefix(s, "UTC")); err == nil {
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

// hoursZone reads the zone by whose clock hours are counted. It goes into specs
// by its name in the time zone database, in which an offset of whole hours has
// one too (fit.ZoneName is how people read it); nil is UTC by default.
func hoursZone(s string) (*time.Location, error) {
	zone, err := parseZone(s)
	if zone == nil || err != nil || zone.String() != s {
		return zone, err
	}
	if _, err := time.LoadLocation(s); err == nil {
		return zone, nil
	}
	_, offset := time.Unix(0, 0).In(zone).Zone()
	if offset%3600 != 0 {
		return nil, fmt.Errorf("--timezone: %s is no whole hour; give the zone's name, such as Asia/Kolkata", s)
	}
	if offset == 0 {
		return time.UTC, nil
	}
	return time.LoadLocation(fmt.Sprintf("Etc/GMT%+d", -offset/3600)) // its signs are turned round
}
