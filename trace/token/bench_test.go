package token

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// benchBytes is the size of the text of one kind.
const benchBytes = 2 << 20

// kind is a text that repeats no document.
type kind struct {
	name string
	docs []string
}

// benchKinds returns texts of many kinds, of documents of up to 4 KB: what the Go
// distribution holds, and what the generators below make from it.
func benchKinds(tb testing.TB) []kind {
	root := filepath.Join(runtime.GOROOT(), "src")
	code := split(documents(tb, root, 1<<20, 1<<20, ".go"))
	if len(code) == 0 {
		tb.Skip("the Go distribution's sources are absent")
	}
	rng := rand.New(rand.NewPCG(41, 42))
	kinds := []kind{
		{"code", code},
		{"prose", comments(code)},
		{"json", generate(rng, jsonRecord)},
		{"chinese", generate(rng, chineseSentence)},
		{"german", generate(rng, germanSentence)},
		{"emoji", generate(rng, emojiWords)},
		{"whitespace", generate(rng, whiteSpace)},
		{"base64", generate(rng, base64Line)},
	}
	var mixed []string
	for i := range 1 << 30 {
		k := kinds[i%5]
		if i/5 >= len(k.docs) || len(mixed)*4096 > benchBytes {
			break
		}
		mixed = append(mixed, k.docs[i/5])
	}
	for i := range kinds {
		kinds[i].docs = kinds[i].docs[:min(len(kinds[i].docs), benchBytes/4096)]
	}
	return append(kinds, kind{"mixed", mixed})
}

// split cuts texts into documents of 4 KB.
func split(texts []string) (docs []string) {
	for _, text := range texts {
		for len(text) > 4096 {
			docs = append(docs, strings.ToValidUTF8(text[:4096], ""))
			text = text[4096:]
		}
	}
	return docs
}

// comments returns the comments of Go files as prose.
func comments(code []string) []string {
	var b strings.Builder
	for _, doc := range code {
		for line := range strings.Lines(doc) {
			if text, ok := strings.CutPrefix(strings.TrimSpace(line), "// "); ok {
				b.WriteString(text + "\n")
			}
		}
		if b.Len() > 2*benchBytes {
			break
		}
	}
	return split([]string{b.String()})
}

// generate makes documents of what part writes.
func generate(rng *rand.Rand, part func(*strings.Builder, *rand.Rand)) []string {
	var b strings.Builder
	for b.Len() < benchBytes+1<<16 {
		part(&b, rng)
	}
	return split([]string{b.String()})
}

// pick returns one of the words in list, the first ones more often, as in text.
func pick(rng *rand.Rand, list []string) string {
	return list[int(float64(len(list))*rng.Float64()*rng.Float64())]
}

func jsonRecord(b *strings.Builder, rng *rand.Rand) {
	words := strings.Fields(wordList)
	fmt.Fprintf(b, "{\"id\": \"%08x\", \"role\": \"user\", \"score\": %.4f, \"tags\": [\"%s\", \"%s\"], \"ok\": true, \"content\": \"",
		rng.Uint32(), rng.Float64(), pick(rng, words), pick(rng, words))
	for range rng.IntN(30) {
		b.WriteString(pick(rng, words) + " ")
	}
	b.WriteString("\\n\"}\n")
}

func chineseSentence(b *strings.Builder, rng *rand.Rand) {
	words := strings.Fields("我们 可以 这个 的 是 在 了 和 有 不 模型 数据 系统 服务 用户 请求 时间 问题 通过 使用 需要 如果 因为 所以 但是 进行 测试 结果 性能 分布 序列 缓存 网络 处理 中国 北京 今天 天气 很 好 学习 工作 生活 发展 经济 社会 技术 研究 方法 分析 提高 能力 重要 作用 一个 两个 许多 不同 情况 下面 上面 之间 关系")
	for range 4 + rng.IntN(12) {
		b.WriteString(pick(rng, words))
		if rng.IntN(20) == 0 { // a character that is rarer
			b.WriteRune(rune(0x4E00 + rng.IntN(0x3000)))
		}
	}
	b.WriteString([]string{"，", "。", "：", "；", "？\n"}[rng.IntN(5)])
}

func germanSentence(b *strings.Builder, rng *rand.Rand) {
	words := strings.Fields("der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat daß sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man sein wurde sei Anfrage Größe Straße Übersetzung Häuser können müssen schön Verfügbarkeit Warteschlange Verteilung Speicher")
	parts := strings.Fields("Ver Be Ent Über Zusammen Haupt Neben Vor Rück rechn führ lauf bau mess arbeit speicher zeit größ läng ungs ung heit keit schaft er en el ig lich bar")
	for range 4 + rng.IntN(12) {
		b.WriteString(pick(rng, words) + " ")
		if rng.IntN(8) == 0 {
			b.WriteString(pick(rng, parts) + pick(rng, parts) + pick(rng, parts) + " ")
		}
	}
	b.WriteString("Ende.\n")
}

func emojiWords(b *strings.Builder, rng *rand.Rand) {
	for range 1 + rng.IntN(4) {
		b.WriteRune(rune(0x1F300 + rng.IntN(0x350)))
	}
	b.WriteString([]string{" ", "\u200d", "\ufe0f", " great ", "!\n"}[rng.IntN(5)])
}

func whiteSpace(b *strings.Builder, rng *rand.Rand) {
	b.WriteString(strings.Repeat([]string{" ", "\t", "\n", "  \n"}[rng.IntN(4)], 1+rng.IntN(40)))
	b.WriteString([]string{"x", "end", "}", "1", ""}[rng.IntN(5)])
}

func base64Line(b *strings.Builder, rng *rand.Rand) {
	line := make([]byte, 57)
	for i := range line {
		line[i] = byte(rng.Uint32())
	}
	b.WriteString(base64.StdEncoding.EncodeToString(line) + "\n")
}

// BenchmarkKinds runs both implementations over the same texts, so that their
// ratio can be read from one run: the caches empty at the start, full, and
// counting only.
func BenchmarkKinds(b *testing.B) {
	kinds := benchKinds(b)
	for _, p := range both(b) {
		for _, k := range kinds {
			size := 0
			for _, doc := range k.docs {
				size += len(doc)
			}
			run := func(name string, prepare func(), each func(doc string)) {
				b.Run(p.own.Name()+"/"+k.name+"/"+name, func(b *testing.B) {
					b.SetBytes(int64(size))
					b.ReportAllocs()
					for b.Loop() {
						prepare()
						for _, doc := range k.docs {
							each(doc)
						}
					}
				})
			}
			var ids []int32
			encode := func(doc string) { ids = p.own.Encode(ids[:0], doc) }
			run("cold", func() { forget(p.own) }, encode)
			run("warm", func() {}, encode)
			run("count", func() {}, func(doc string) { p.own.Count(doc) })
			run("tiktoken-go", func() {}, func(doc string) { p.ref.EncodeOrdinary(doc) })
		}
	}
}

// forget drops the caches of a tokenizer.
func forget(t *Tokenizer) { t.enc.(*pieces).workers = workerPool{} }

// BenchmarkWorkers counts the mixed texts with one goroutine for each processor.
func BenchmarkWorkers(b *testing.B) {
	kinds := benchKinds(b)
	docs := kinds[len(kinds)-1].docs
	tok, err := Open("o200k_base")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(strings.Join(docs, ""))))
	b.RunParallel(func(pb *testing.PB) {
		var ids []int32
		for pb.Next() {
			for _, doc := range docs {
				ids = tok.Encode(ids[:0], doc)
			}
		}
	})
}

// BenchmarkRun is the worst case: one unbroken run of a megabyte.
func BenchmarkRun(b *testing.B) {
	rng := rand.New(rand.NewPCG(43, 44))
	letters := make([]byte, 1<<20)
	for i := range letters {
		letters[i] = byte('a' + rng.IntN(26))
	}
	for _, name := range Names() {
		tok, err := Open(name)
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range []struct{ name, text string }{
			{"letter", strings.Repeat("a", 1<<20)}, {"spaces", strings.Repeat(" ", 1<<20)},
			{"dashes", strings.Repeat("-", 1<<20)}, {"emoji", strings.Repeat("👍", 1<<18)},
			{"base64", base64.StdEncoding.EncodeToString(letters)}, {"letters", string(letters)},
		} {
			b.Run(name+"/"+c.name, func(b *testing.B) {
				b.SetBytes(int64(len(c.text)))
				for b.Loop() {
					tok.Count(c.text)
				}
			})
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Open(name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
