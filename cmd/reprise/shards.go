package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"reprise/replay"
)

// shardFlags say which part of a run this client machine sends.
type shardFlags struct {
	shard   string
	startAt string
	k8s     k8sFlags

	part replay.Shard
	at   time.Time
}

func (o *shardFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.shard, "shard", "", "I/N: send the I-th (from 0) of N parts: N client machines make one run, together at the rate or --concurrency given, with --start-at")
	f.StringVar(&o.startAt, "start-at", "", "when the trace's zero is, for instance 2026-11-30T12:00:00Z; the same for all shards (default: as soon as all is ready)")
	o.k8s.add(c)
}

// parse reads the flags; now is the time.
func (o *shardFlags) parse(now time.Time) error {
	var err error
	if o.startAt != "" {
		if o.at, err = time.Parse(time.RFC3339Nano, o.startAt); err != nil {
			return usagef("--start-at is a time as 2026-11-30T12:00:00Z, not %q", o.startAt)
		}
		if o.at.Before(now) {
			return usagef("--start-at %s has passed", o.startAt)
		}
	}
	if o.shard == "" {
		return nil
	}
	if o.part, err = replay.ParseShard(o.shard); err != nil {
		return usagef("--shard: %w", err)
	}
	if o.startAt == "" {
		return usagef("--shard needs --start-at: the instant at which all parts begin")
	}
	return nil
}

// take reads the flags, and gives all machines one salt.
func (o *shardFlags) take(salt *int64) error {
	if err := o.parse(time.Now()); err != nil {
		return err
	}
	if o.shard != "" && *salt == 0 {
		*salt = replay.ShardSalt(o.at)
	}
	return nil
}

// describe enters the part in run.json; planned are the requests of all parts.
func (o *shardFlags) describe(run *replay.Run, planned int64) {
	if o.shard == "" {
		return
	}
	s := o.part
	s.StartAt, s.Planned = o.at.UTC().Format(time.RFC3339Nano), planned
	run.Shard = &s
}

// args is what the flags say, for run.json.
func (o *shardFlags) args() []string {
	var out []string
	if o.shard != "" {
		out = append(out, "--shard", o.shard)
	}
	if o.startAt != "" {
		out = append(out, "--start-at", o.startAt)
	}
	return out
}

// ready refuses a start that has passed while the client got ready.
func (o *shardFlags) ready(s *stdio) error {
	if o.at.IsZero() {
		return nil
	}
	left := time.Until(o.at)
	if left < 0 {
		return withHint(usagef("--start-at passed %v before this client was ready", (-left).Round(time.Millisecond)), "leave more time for the preflight")
	}
	which := ""
	if o.shard != "" {
		which = fmt.Sprintf("this machine sends part %s of the load; ", o.shard)
	}
	s.talk("ready; %sthe clock starts in %v", which, left.Round(time.Millisecond))
	return nil
}

func lastOf(path string) string { return filepath.Base(filepath.Clean(path)) }
