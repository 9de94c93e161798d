package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/trace/token"
	"reprise/trace/token/chat/jinja"
)

// maxConfig bounds the files that are read.
const maxConfig = 64 << 20

// ErrNone says that a file or folder holds no chat template.
var ErrNone = errors.New("there is no chat template")

// The files of a model's folder.
const (
	jinjaFile  = "chat_template.jinja"
	jsonFile   = "chat_template.json"
	configFile = "tokenizer_config.json"
)

// Open reads the template of a tokenizer_config.json (chat_template as text or
// as a list of named ones), of a chat_template.json, of a Jinja file, or of the
// folder that holds one of them; a chat_template.jinja counts before the
// config, as in transformers. The special tokens come from the
// tokenizer_config.json of the same folder, where there is one. The error is
// ErrNone where the file or folder is there but holds no template.
func Open(path string) (*Template, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("template %s: %w", path, cause(err))
	}
	dir, names := filepath.Dir(path), []string{filepath.Base(path)}
	if st.IsDir() {
		dir, names = path, []string{jinjaFile, jsonFile, configFile}
	}
	for _, name := range names {
		t, err := openIn(dir, name)
		switch {
		case err == nil:
			return t, nil
		case st.IsDir() && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNone)):
		default:
			return nil, fmt.Errorf("template %s: %w", filepath.Join(dir, name), cause(err))
		}
	}
	return nil, fmt.Errorf("template %s: %w", path, ErrNone)
}

// cause takes the path off an error that names it already.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func openIn(dir, name string) (*Template, error) {
	data, err := readFile(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(name, ".json") {
		c, err := readConfig(dir)
		if err != nil {
			return nil, err
		}
		c.sources = map[string]string{"default": string(data)}
		return c.template(name)
	}
	c, err := parseConfig(data)
	if err != nil {
		return nil, err
	}
	if len(c.sources) == 0 {
		return nil, ErrNone
	}
	if name != configFile {
		tokens, err := readConfig(dir)
		if err != nil {
			return nil, err
		}
		tokens.sources = c.sources
		c = tokens
	}
	return c.template(name)
}

func readFile(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxConfig {
		return nil, fmt.Errorf("no file of at most %d bytes", maxConfig)
	}
	return os.ReadFile(path)
}

// config is what a tokenizer_config.json says about templates.
type config struct {
	sources map[string]string // by name
	vars    map[string]string // special tokens by name of the variable
	added   []token.Special
}

// readConfig reads the tokenizer_config.json of a folder, if it has one.
func readConfig(dir string) (*config, error) {
	data, err := readFile(filepath.Join(dir, configFile))
	if errors.Is(err, fs.ErrNotExist) {
		return &config{}, nil
	}
	if err != nil {
		return nil, err
	}
	return parseConfig(data)
}

// tokenText reads a token: its text, or an object with it.
type tokenText string

func (t *tokenText) UnmarshalJSON(data []byte) error {
	var o struct {
		Content string `json:"content"`
	}
	if len(data) > 0 && data[0] == '{' {
		err := json.Unmarshal(data, &o)
		*t = tokenText(o.Content)
		return err
	}
	var s *string
	err := json.Unmarshal(data, &s)
	if s != nil {
		*t = tokenText(*s)
	}
	return err
}

func parseConfig(data []byte) (*config, error) {
	var raw struct {
		Template json.RawMessage `json:"chat_template"`
		BOS      tokenText       `json:"bos_token"`
		EOS      tokenText       `json:"eos_token"`
		UNK      tokenText       `json:"unk_token"`
		SEP      tokenText       `json:"sep_token"`
		PAD      tokenText       `json:"pad_token"`
		CLS      tokenText       `json:"cls_token"`
		Mask     tokenText       `json:"mask_token"`
		Added    map[int32]struct {
			Content string `json:"content"`
		} `json:"added_tokens_decoder"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("not a tokenizer's configuration: %w", err)
	}
	c := &config{vars: map[string]string{}}
	for name, v := range map[string]tokenText{"bos_token": raw.BOS, "eos_token": raw.EOS, "unk_token": raw.UNK,
		"sep_token": raw.SEP, "pad_token": raw.PAD, "cls_token": raw.CLS, "mask_token": raw.Mask} {
		if v != "" {
			c.vars[name] = string(v)
		}
	}
	for id, t := range raw.Added {
		if t.Content != "" {
			c.added = append(c.added, token.Special{Text: t.Content, ID: id})
		}
	}
	slices.SortFunc(c.added, func(a, b token.Special) int { return int(a.ID) - int(b.ID) })
	var err error
	c.sources, err = parseSources(raw.Template)
	return c, err
}

// parseSources reads chat_template: a text, or a list of {name, template}.
func parseSources(raw json.RawMessage) (map[string]string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return map[string]string{"default": one}, nil
	}
	var list []struct{ Name, Template string }
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("chat_template is neither a text nor a list of named ones")
	}
	out := map[string]string{}
	for _, t := range list {
		out[t.Name] = t.Template
	}
	return out, nil
}

// template parses the default template, and the one for tools where there is
// such a one.
func (c *config) template(name string) (*Template, error) {
	source, ok := c.sources["default"]
	if !ok {
		return nil, errors.New("it has several chat templates and none is called default")
	}
	t := &Template{name: name, vars: c.vars, specials: c.added}
	var err error
	if t.plain, err = jinja.Parse(source); err != nil {
		return nil, err
	}
	t.parts = t.plain.LoopsOver("content")
	hash := sha256.New()
	hash.Write([]byte(source))
	if tools, ok := c.sources["tool_use"]; ok {
		if t.withTools, err = jinja.Parse(tools); err != nil {
			return nil, fmt.Errorf("tool_use: %w", err)
		}
		hash.Write([]byte(tools))
	}
	t.sha256 = hex.EncodeToString(hash.Sum(nil))
	return t, nil
}
