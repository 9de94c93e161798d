package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"reprise/replay/mock/engine"
)

// scaleValue collects --scale AT:N:COLD.
type scaleValue struct{ to *[]engine.Scale }

func (v scaleValue) String() string { return "" }
func (v scaleValue) Type() string   { return "AT:N:COLD" }

func (v scaleValue) Set(text string) error {
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return fmt.Errorf("give AT:N or AT:N:COLD, such as 30s:3:20s")
	}
	var s engine.Scale
	var err error
	if s.At, err = time.ParseDuration(parts[0]); err != nil {
		return fmt.Errorf("%q is no time, give one such as 30s", parts[0])
	}
	if s.To, err = strconv.Atoi(parts[1]); err != nil {
		return fmt.Errorf("%q is no number of replicas", parts[1])
	}
	if len(parts) == 3 {
		if s.ColdStart, err = time.ParseDuration(parts[2]); err != nil {
			return fmt.Errorf("%q is no time, give one such as 20s", parts[2])
		}
	}
	*v.to = append(*v.to, s)
	return nil
}
