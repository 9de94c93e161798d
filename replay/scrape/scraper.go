package scrape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"reprise/replay"
)

// maxBody bounds what a scrape reads; vLLM answers some 100 KB.
const maxBody = 16 << 20

// histogramsEvery is how many scrapes pass from one to the next that keeps
// buckets: enough that a run that is killed has some, few enough that they do
// not make up the file.
const histogramsEvery = 10

// Scraper follows the metrics of one server. It is a replay.ServerWatch.
type Scraper struct {
	URL    string
	Client *http.Client  // nil: one with a connection of its own
	Header http.Header   // of each scrape
	Every  time.Duration // 0: 1 s
	Limit  time.Duration // for one scrape; 0: 5 s
	// Points keeps the buckets of every scrape: a run of several load points has
	// histograms of each.
	Points bool

	names  *names
	before []replay.ServerRow
	at     time.Time
	failed int
	reason error
}

// lead is how long before the zero of a run that starts at a set time the scrape
// begins from which its counts are taken: long enough to have an answer before
// the first request, short enough that the other client machines have sent all
// that they send to get ready.
const lead = 200 * time.Millisecond

// Before scrapes once, ahead of the clock, and returns which server it is
// (vLLM, SGLang, TGI, llama.cpp). Its rows stand in the results at a negative instant. It
// fails where nothing answers, or nothing with a role.
func (s *Scraper) Before(ctx context.Context) (engineName string, err error) {
	s.names = newNames()
	if s.Client == nil {
		s.Client = &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	}
	s.at = time.Now()
	s.before, err = s.scrape(ctx, true)
	if err != nil {
		return "", err
	}
	if len(s.before) == 0 {
		return "", errors.New("the metrics have none of vLLM's, SGLang's, TGI's or llama.cpp's names")
	}
	return engine(s.before[0].Name), nil
}

// Watch keeps the rows of Before, scrapes just before the clock's zero where
// that is to come, then until ctx ends, and once more after that.
func (s *Scraper) Watch(ctx context.Context, t replay.Timer, keep func(replay.ServerRow) error) error {
	every := s.Every
	if every <= 0 {
		every = time.Second
	}
	if err := keepAll(s.before, s.at.Sub(t.At(0)).Nanoseconds(), keep); err != nil {
		return err
	}
	if err := s.start(ctx, t, keep); err != nil {
		return err
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-tick.C:
			if err := s.once(ctx, t, s.Points || n%histogramsEvery == 0, keep); err != nil {
				return err
			}
		case <-ctx.Done():
			if err := s.once(context.WithoutCancel(ctx), t, true, keep); err != nil {
				return err
			}
			if s.failed > 0 {
				return fmt.Errorf("%d scrapes of the metrics failed: %w", s.failed, s.reason)
			}
			return nil
		}
	}
}

// start scrapes a little before a zero that is to come: other client machines of
// the run, and their preflights, come between Before and that.
func (s *Scraper) start(ctx context.Context, t replay.Timer, keep func(replay.ServerRow) error) error {
	left := time.Duration(-t.Now())
	if left <= 0 || !s.at.Before(t.At(-int64(lead))) { // Before was as late itself
		return nil
	}
	wait := time.NewTimer(left - lead)
	defer wait.Stop()
	select {
	case <-wait.C:
		return s.once(ctx, t, true, keep)
	case <-ctx.Done():
		return nil
	}
}

// once scrapes and keeps. A scrape that fails is counted, and the run goes on.
func (s *Scraper) once(ctx context.Context, t replay.Timer, histograms bool, keep func(replay.ServerRow) error) error {
	at := t.Now()
	rows, err := s.scrape(ctx, histograms)
	if err != nil {
		if ctx.Err() == nil {
			s.failed, s.reason = s.failed+1, err
		}
		return nil
	}
	return keepAll(rows, at, keep)
}

func keepAll(rows []replay.ServerRow, at int64, keep func(replay.ServerRow) error) error {
	for _, r := range rows {
		r.TNS = at
		if err := keep(r); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scraper) scrape(ctx context.Context, histograms bool) (rows []replay.ServerRow, err error) {
	limit := s.Limit
	if limit <= 0 {
		limit = 5 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	data, err := s.get(ctx)
	if err != nil {
		return nil, err
	}
	err = Parse(data, func(name []byte) bool {
		_, part, ok := s.names.find(string(name))
		return ok && (histograms || part != Bucket)
	}, func(name, labels []byte, v float64) {
		rows = append(rows, replay.ServerRow{Name: string(name), Labels: string(labels), Value: v})
	})
	return rows, err
}

func (s *Scraper) get(ctx context.Context) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		return nil, errors.New("the metrics' URL does not parse")
	}
	for name, values := range s.Header {
		req.Header[name] = values
	}
	req.Header.Set("Accept", "text/plain; version=0.0.4")
	resp, err := s.Client.Do(req)
	if err != nil {
		return nil, errors.New("the metrics do not answer")
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the metrics answer HTTP %d", resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err == nil && len(data) > maxBody {
		err = errors.New("the metrics are over 16 MiB")
	}
	return data, err
}
