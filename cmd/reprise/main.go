// Command reprise turns a day of LLM request logs into a workload spec that
// both sides sign, and replays it at an OpenAI-compatible endpoint.
//
// This package is the command and nothing else: one file per verb, the
// streams, the exit codes. Each verb reads one kind of artifact and writes one
// kind; the work is done by the packages beside cmd.
package main

import (
	"context"
	"io"
	"log"
	"os"

	"github.com/spf13/cobra"
)

func main() { os.Exit(program(true)) }

// program runs the process's command line; headroom says whether replays test
// the client's.
func program(headroom bool) int {
	log.SetOutput(io.Discard)          // net/http tells of the server's faults there; results tell them
	cobra.EnableCommandSorting = false // help lists the verbs in the order of the pipeline
	return start(os.Args[1:], stdio{in: os.Stdin, out: os.Stdout, err: os.Stderr, headroom: headroom})
}

// start runs one command line. The first SIGINT, SIGTERM or SIGHUP cancels
// the context, so that a verb can drain and keep what it has; the second ends
// the drain, or the process where there is none, and the third the process.
func start(args []string, io stdio) int {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	io.hurry = new(hurry)
	defer io.hurry.heed(io.err, stop)()
	return run(ctx, args, io)
}

// run is start without the signals.
func run(ctx context.Context, args []string, io stdio) int {
	root := newRoot(&io)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && ctx.Err() != nil {
		err = interrupted{err}
	}
	return io.exit(err)
}
