package main

import (
	"github.com/spf13/cobra"

	"reprise/replay/openai"
)

// wireFlags say how requests go over the wire.
type wireFlags struct {
	engine   string
	stamps   string
	newConns bool
	resend   bool
}

func (f *wireFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.engine, "engine", "", "raw (own HTTP/1.1) or net (Go's: HTTP/2, proxies, odd servers) (default raw)")
	c.Flags().StringVar(&f.stamps, "stamps", "", "receive stamps: kernel, user or auto (default auto: the kernel's where the system has them)")
	c.Flags().BoolVar(&f.newConns, "new-conns", false, "a new connection for each request")
	c.Flags().BoolVar(&f.resend, "resend", false, "send once more where the server closed a kept connection without a byte; counted")
}

func (f *wireFlags) wire() openai.Wire {
	return openai.Wire{Engine: f.engine, Stamps: f.stamps, NewConns: f.newConns, Resend: f.resend}
}

// args are the flags that were given, for run.json.
func (f *wireFlags) args() []string {
	var out []string
	for _, v := range []struct{ name, value string }{{"--engine", f.engine}, {"--stamps", f.stamps}} {
		if v.value != "" {
			out = append(out, v.name, v.value)
		}
	}
	if f.newConns {
		out = append(out, "--new-conns")
	}
	if f.resend {
		out = append(out, "--resend")
	}
	return out
}
