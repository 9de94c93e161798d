package token

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"reprise/trace/token/class"
)

// tekkenConfig is the key config of a tekken.json, the format of mistral-common.
type tekkenConfig struct {
	Pattern  string `json:"pattern"`
	Size     int    `json:"default_vocab_size"`
	Specials int    `json:"default_num_special_tokens"`
}

// newTekken reads a tekken.json. Its vocabulary may hold more tokens than the
// model has: those of the lowest ranks count. Ids follow the special tokens, which
// are never parsed from text.
func newTekken(data []byte, classes *class.Table) (encoder, []string, error) {
	var config, vocab []byte
	r := &jsonReader{data: data}
	err := r.object(func(key []byte) error {
		raw, err := r.skip()
		switch string(key) {
		case "config":
			config = raw
		case "vocab":
			vocab = raw
		}
		return err
	})
	if err == nil && (r.peek() != 0 || r.at < len(data)) {
		err = r.errorf("data after the end of the value")
	}
	if err != nil {
		return nil, nil, err
	}
	var c tekkenConfig
	if err := json.Unmarshal(config, &c); err != nil || c.Pattern == "" {
		return nil, nil, errors.New("config: want an object with a pattern and the sizes of the vocabulary")
	}
	if c.Specials < 0 || c.Size <= c.Specials || c.Size > maxTokenID {
		return nil, nil, fmt.Errorf("config: a vocabulary of %d with %d special tokens", c.Size, c.Specials)
	}
	list, err := tekkenRanks(vocab, c)
	if err != nil {
		return nil, nil, err
	}
	return rankEncoder(list, c.Pattern, classes)
}

func tekkenRanks(raw []byte, c tekkenConfig) (*rankList, error) {
	size := c.Size - c.Specials
	list := newRankList(min(size, len(raw)/16, 1<<19), min(len(raw)/8, 8<<20))
	list.shift = int32(c.Specials)
	r := &jsonReader{data: raw}
	var coded, token []byte
	err := r.array(func() error {
		rank := -1
		coded = coded[:0]
		err := r.object(func(key []byte) (err error) {
			switch string(key) {
			case "rank":
				rank, err = r.uint(maxTokenID)
			case "token_bytes":
				coded, err = r.str(coded[:0])
			default:
				_, err = r.skip()
			}
			return err
		})
		if err != nil || rank >= size {
			return err
		}
		if rank < 0 {
			return errors.New("a token has no rank")
		}
		if token, err = base64.StdEncoding.AppendDecode(token[:0], coded); err != nil {
			return fmt.Errorf("rank %d: token_bytes is not base64", rank)
		}
		if err := list.add(token, rank); err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("vocab: %w", err)
	}
	if len(list.index.ids) != size {
		return nil, fmt.Errorf("vocab: %d of %d tokens", len(list.index.ids), size)
	}
	return list, nil
}
