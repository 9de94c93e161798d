"""Makes the small tokenizers of this folder and the ids that the reference
implementations give for texts.json. Run by hand in a scratch environment:

    pip install tokenizers==0.23.3 tiktoken==0.14.0 mistral-common==1.13.1
    python make_vectors.py TRAINING_TEXT...

The vocabularies are trained here, on the files named (the project's own README,
docs and sources) and on texts.json. Each has the shape of a published tokenizer,
and none of its tokens. ids/NAME.json is a list of token ids for each text.
"""
import base64, json, os, random, sys, unicodedata
from tokenizers import Tokenizer, models, trainers, pre_tokenizers, normalizers, Regex

SUF = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
WHITE = r"\s*[\r\n]+|\s+(?!\S)|\s+"
UP = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
LOW = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
H = r"&&[^\p{Han}]]"
PATTERNS = {
    "cl100k": SUF + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + WHITE,
    "qwen2": SUF + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + WHITE,
    "qwen35": SUF + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + WHITE,
    "o200k": UP + SUF + "?|" + LOW + SUF + r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + WHITE,
    "tekken": UP + "|" + LOW + r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + WHITE,
    "kimi": r"[\p{Han}]+|" + UP.replace("]*[", H + "*[").replace("]+", H + "+") + SUF + "?|"
            + LOW.replace("]+[", H + "+[").replace("]*", H + "*") + SUF
            + r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + WHITE,
    # No known one: interpreted.
    "other": r"(?i:[sdmt]{1,2}|ll|ve|re)'| ?[\p{Lu}\p{Lt}]?[^\P{L}\p{Lu}]+?(?!\p{L})|\p{L}|[\d٪.,]{2,}|\p{Nd}|(?:==|!=|<=?)+|\s+(?=\S)|\s| ?[^\s\p{L}\p{N}]",
}
DEEPSEEK = [r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
            "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"]


def split(p):
    return {"type": "Split", "pattern": {"Regex": p}, "behavior": "Isolated", "invert": False}


def byte_level(prefix=False, regex=False):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}


def seq(*parts):
    return {"type": "Sequence", "pretokenizers": list(parts)}


def replace(a, b):
    return {"type": "Replace", "pattern": {"String": a}, "content": b}


def metaspace(scheme, cut):
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": cut}


def added(*tokens):
    """tokens: content, then letters: s special, n normalized, l lstrip, r rstrip, w single_word."""
    return [{"content": c, "special": "s" in f, "normalized": "n" in f, "lstrip": "l" in f,
             "rstrip": "r" in f, "single_word": "w" in f} for c, f in tokens]


CHAT = added(("<|endoftext|>", "s"), ("<|im_start|>", "s"), ("<|im_end|>", "s"), ("<tool_call>", ""), ("<think>", "n"))
SP = added(("<unk>", "s"), ("<s>", "s"), ("</s>", "s"))
GEMMA = added(("<pad>", "s"), ("<bos>", "s"), ("<unk>", "s"), ("<start_of_turn>", "s"), *[("\n" * n, "") for n in range(2, 8)],
              *[("▁" * n, "") for n in range(2, 8)], ("<h1>", ""), ("<td>", ""))
FLAGS = added(("<l>", "l"), ("<r>", "r"), ("<lr>", "slr"), ("<w>", "w"), ("the", "w"), ("ab", "nlw"), ("abc", "n"), ("Å", "n"),
              (" x", "r"), ("\n", "l"), ("<|im_start|>", "s"), ("<|im", ""), ("end|>", ""), ("e\u0301", "n"), ("中文", ""))


def train(lines, pre, size, alphabet):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre
    t.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False))
    m = json.loads(t.to_str())["model"]
    return m["vocab"], [x if isinstance(x, list) else x.split(" ") for x in m["merges"]]


def all_merges(vocab):
    """Every way of making a token of two, by rank: what the converters of tiktoken and SentencePiece files write."""
    out = []
    for token, rank in vocab.items():
        ways = [(token[:i], token[i:]) for i in range(1, len(token)) if token[:i] in vocab and token[i:] in vocab]
        out += [(rank, vocab[a], vocab[b], a, b) for a, b in ways]
    return [[a, b] for _, _, _, a, b in sorted(out)]


def config(vocab, merges, pre, norm=None, tokens=(), old=False, **model):
    ids = dict(vocab)
    tokens = [dict(t) for t in tokens]
    for t in tokens:
        t["id"] = ids.setdefault(t["content"], len(ids))
    m = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
         "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, **model,
         "vocab": vocab, "merges": [" ".join(x) for x in merges] if old else merges}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": tokens, "normalizer": norm,
            "pre_tokenizer": pre, "post_processor": None, "decoder": None, "model": m}


def hf_configs(lines):
    byte = pre_tokenizers.ByteLevel.alphabet()
    level = lambda *p: pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(x), "isolated") for x in p] + [pre_tokenizers.ByteLevel(False, use_regex=False)])
    nfc = {"type": "NFC"}
    v, m = train(lines, pre_tokenizers.ByteLevel(False), 700, byte)
    yield "gpt2", config(v, m, byte_level(False, True), tokens=CHAT[:1], old=True)
    yield "prefix", config(v, m, seq({"type": "Digits", "individual_digits": True}, byte_level(True, True)), tokens=CHAT[:1])
    yield "flags", config(v, m, byte_level(False, True), nfc, FLAGS)
    v, m = train(lines, level(PATTERNS["cl100k"]), 700, byte)
    yield "cl100k", config(v, m, seq(split(PATTERNS["cl100k"]), byte_level()), tokens=CHAT[:2])
    yield "other", config(v, m, seq(split(PATTERNS["other"]), byte_level()), tokens=CHAT[:2])
    v3 = {**v, "Ġunreachable": len(v), "unreachable": len(v) + 1, "zqxj": len(v) + 2}
    yield "llama3", config(v3, all_merges(v), seq(split(PATTERNS["cl100k"]), byte_level()), tokens=CHAT, ignore_merges=True)
    yield "qwen2", config(v, m, seq(split(PATTERNS["qwen2"]), byte_level()), nfc, CHAT)
    yield "qwen35", config(v, m, seq(split(PATTERNS["qwen35"]), byte_level()), nfc, CHAT)
    v, m = train(lines, level(PATTERNS["o200k"]), 700, byte)
    yield "harmony", config(v, all_merges(v), seq(split(PATTERNS["o200k"]), byte_level()), tokens=CHAT[:3], ignore_merges=True)
    yield "nemo", config(v, m, seq(split(PATTERNS["tekken"]), byte_level()), tokens=SP)
    v, m = train(lines, level(*DEEPSEEK), 700, byte)
    yield "deepseek", config(v, m, seq(*map(split, DEEPSEEK), byte_level()), {"type": "Sequence", "normalizers": []},
                             added(("<｜begin▁of▁sentence｜>", "s"), ("<｜User｜>", ""), ("<think>", "n")), old=True)
    v, m = train([x.replace(" ", "▁") for x in lines], pre_tokenizers.Split("▁", "merged_with_next"), 900, [])
    bytes_ = ["<0x%02X>" % b for b in range(256)]
    sp = {t: i for i, t in enumerate(["<unk>", "<s>", "</s>"] + bytes_ + list(v))}
    kw = dict(unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    rep = replace(" ", "▁")
    pre = {"type": "Prepend", "prepend": "▁"}
    yield "llama2", config(sp, all_merges(v), None, {"type": "Sequence", "normalizers": [pre, rep]}, SP, old=True, **kw)
    yield "mistral", config(sp, all_merges(v), metaspace("first", False), None, SP, **kw)
    yield "metaspace", config(sp, m, {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}, None, SP, **kw)
    few = {t: i for i, t in enumerate(["<unk>"] + list(v))}
    yield "unknown", config(few, m, metaspace("never", True), None, SP[:1], unk_token="<unk>", fuse_unk=True)
    yield "dropped", config({t: i for i, t in enumerate(v)}, m, metaspace("always", True))
    gem = {t["content"]: i for i, t in enumerate(GEMMA)}
    for t in bytes_ + list(v):
        gem.setdefault(t, len(gem))
    yield "gemma2", config(gem, all_merges(v), None, rep, GEMMA, **kw)
    cut = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    yield "gemma3", config(gem, all_merges(v), cut, rep, GEMMA, **kw)


def write(name, ids):
    with open(f"ids/{name}.json", "w") as f:
        f.write("[" + ",\n".join(json.dumps(x, separators=(",", ":")) for x in ids) + "]\n")


def reference(t, text):
    """The ids, or null where the reference stops: tokens that take the space after them may overlap the next one."""
    try:
        return t.encode(text, add_special_tokens=False).ids
    except BaseException as e:
        if type(e).__name__ != "PanicException":
            raise


def ranks(lines, pattern):
    """A rank vocabulary: trained by HuggingFace, its tokens as bytes."""
    v, _ = train(lines, pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                 pre_tokenizers.ByteLevel(False, use_regex=False)]), 900, pre_tokenizers.ByteLevel.alphabet())
    alphabet = {}
    printable = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    n = 0
    for b in range(256):
        if b in printable:
            alphabet[chr(b)] = b
        else:
            alphabet[chr(256 + n)] = b
            n += 1
    return {bytes(alphabet[c] for c in t): i for t, i in v.items()}


def main():
    import tiktoken
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    texts = json.load(open("texts.json"))
    lines = [x for p in sys.argv[1:] for x in open(p).read().splitlines() if x] + texts * 4
    os.makedirs("ids", exist_ok=True)
    for name, c in hf_configs(lines):
        with open(f"{name}.json", "w") as f:
            json.dump(c, f, ensure_ascii=False, separators=(",", ":"))
        t = Tokenizer.from_file(f"{name}.json")
        write(name, [reference(t, x) for x in texts])
    for name in ("kimi", "qwen2"):
        r = ranks(lines, PATTERNS["cl100k"])
        with open(f"{name}.tiktoken", "wb") as f:
            f.write(b"".join(base64.b64encode(t) + b" %d\n" % i for t, i in r.items()))
        e = tiktoken.Encoding(name, pat_str=PATTERNS[name], mergeable_ranks=r, special_tokens={})
        n = (lambda x: unicodedata.normalize("NFC", x)) if name == "qwen2" else (lambda x: x)
        write(name + "_ranks", [e.encode_ordinary(n(x)) for x in texts])
    r = ranks(lines, PATTERNS["tekken"])
    singles = [bytes([b]) for b in range(256)]  # the format wants them first and in order
    r = {t: i for i, t in enumerate(singles + [t for t in r if len(t) > 1])}
    vocab = [{"rank": i, "token_bytes": base64.b64encode(t).decode(), "token_str": None} for t, i in r.items()]
    with open("tekken.json", "w") as f:
        json.dump({"config": {"pattern": PATTERNS["tekken"], "num_vocab_tokens": len(vocab), "default_vocab_size": len(vocab) - 50 + 20,
                   "default_num_special_tokens": 20, "version": "v3"}, "vocab": vocab}, f, separators=(",", ":"))
    t = Tekkenizer.from_file("tekken.json")
    write("tekken", [t.encode(x, bos=False, eos=False) for x in texts])


if __name__ == "__main__":
    main()
