package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"reprise/replay/mock"
)

// faultOptions are what the mock does otherwise than a server in good health.
type faultOptions struct {
	faults []string
	shape  string
	buffer string
}

func (o *faultOptions) register(c *cobra.Command) {
	c.Flags().StringArrayVar(&o.faults, "fault", nil, "KIND@WHICH, such as reset@p=0.01 or http_429@n=100-120,retry_after=2, or a .yaml file of them (reprise init faults lists all); may be repeated")
	c.Flags().StringVar(&o.shape, "shape", "", "how streams are cut: "+strings.Join(mock.ShapeKeys(), ", ")+", such as interval=4,crlf,ping=1s")
	c.Flags().StringVar(&o.buffer, "buffer", "", "a proxy that holds answers back: hold=50ms, bytes=4096, whole or gzip, joined by commas")
}

// apply puts the options into a configuration.
func (o *faultOptions) apply(cfg *mock.Config) error {
	for _, text := range o.faults {
		list, err := readFaults(text)
		if err != nil {
			return err
		}
		cfg.Faults = append(cfg.Faults, list...)
	}
	var err error
	if o.shape != "" {
		if cfg.Shape, err = mock.ParseShape(o.shape); err != nil {
			return usageError{err}
		}
	}
	if o.buffer != "" {
		if cfg.Buffer, err = mock.ParseBuffer(o.buffer); err != nil {
			return usageError{err}
		}
	}
	return nil
}

// readFaults reads one in text, or all of a file.
func readFaults(text string) ([]mock.Fault, error) {
	if strings.HasSuffix(text, ".yaml") || strings.HasSuffix(text, ".yml") {
		data, err := os.ReadFile(text)
		if err != nil {
			return nil, err
		}
		list, err := mock.ParseFaults(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		return list, nil
	}
	f, err := mock.ParseFault(text)
	if err != nil {
		return nil, usageError{err}
	}
	return []mock.Fault{f}, nil
}
