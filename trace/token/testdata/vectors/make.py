"""Makes the test vectors of this folder with OpenAI's tiktoken.

    TIKTOKEN_CACHE_DIR=DIR python make.py OUT [CORPUS.docs...]

writes OUT/vectors.json.gz (the small part, kept here), and beside it, for a test
over every document, NAME.docs with the documents and NAME.ENCODING.ids with
their ids' count and hash. README.md describes the formats.
"""

import gzip, hashlib, json, os, struct, sys, unicodedata
from array import array

from bpe_openai import _bindings as bpe_openai
import tiktoken

ENCODINGS = ["cl100k_base", "o200k_base"]
MASK = (1 << 64) - 1


class SplitMix64:
    """Steele, Lea and Flood 2014; the Go test has the same."""

    def __init__(self, seed):
        self.state = seed & MASK

    def next(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (z ^ (z >> 31)) % n


FRAGMENTS = [
    " ", "  ", "   ", "\n", "\n\n", "\r\n", "\r", "\t", "\u00a0", "\u2028", "\u0085", "\u3000", "\u200b", "\ufeff", "\v", "\f",
    "'", "'s", "'S", "'LL", "'ll", "'\u017f", "'re", "'Ve", "'d", "'m", "'t", "\u2019s", "a", "B", "ab", "AB", "Ab", "aB", "the", "The", "THE", "ing", "tion",
    "中", "文字", "ひらがな", "한국", "ʰ", "ǅ", "\u0301", "\u0e31", "ก", "\u0903", "\u20dd", "1", "23", "456", "7890", "½", "٣", "Ⅷ", "²", "𝟘",
    ".", ",", "/", "//", "=", "==", "...", "!\n", "?/\r\n", "é", "ß", "İ", "ı", "ſ", "Ω", "я", "Я", "ა", "Ა",
    "👍", "🏽", "\u200d", "\ufe0f", "\U0001F1E9", "\U0001F9D1", "_", "-", "\\", '"', "{", "}", "(", ")", ";", "#", "@", "<|endoftext|>", "<|fim_prefix|>", "<|im_start|>",
    "\x00", "\x01", "\x7f", "\u00ad", "\ue000", "\U000F0000", "\ufffd", "\U0010FFFF", "\u0378", "http", "://", "www", "0x", "µ", "°", "€", "¿",
]
SPACE = [" ", "\n", "\r\n", "\t", "\r", "\u00a0", "\u3000", "\u2028", "\u0085", "\v", "x", "1", "!"]
WORDS = list("aeinorstlcdumhpgbyfvkwzxjqAEST") + ["ing", "er", "un", "qu", "th"]
SCRIPTS = [chr(c) for lo, hi in [
    (0x61, 0x7A), (0x41, 0x5A), (0xC0, 0xFF), (0x300, 0x30F), (0x391, 0x3C9), (0x410, 0x44F), (0x5D0, 0x5EA), (0x620, 0x64A), (0x905, 0x939), (0x93E, 0x94D),
    (0xE01, 0xE30), (0xE31, 0xE3A), (0x1100, 0x1112), (0x10A0, 0x10C5), (0x10D0, 0x10F0), (0x3041, 0x3096), (0x4E00, 0x4E60), (0xAC00, 0xAC40), (0x1F600, 0x1F64F), (0x1D400, 0x1D41F),
] for c in range(lo, hi + 1)] + [" "] * 60
SYNTAX = list("(){}[]<>;:,.!?+-*/=%&|^~#$@\\\"'`_") + [" ", "  ", "\n", "\n\t", "\r\n", "x", "0", "12", "//", "/*", "*/", "->", "::", "<!--", "&&"]

FAMILIES = [  # name, parts, documents, least and most parts of a document, seed
    ("fragments", FRAGMENTS, 40000, 1, 16, 1),
    ("words", WORDS, 6000, 1, 400, 2),
    ("space", SPACE, 8000, 1, 60, 3),
    ("scripts", SCRIPTS, 8000, 1, 80, 4),
    ("syntax", SYNTAX, 8000, 1, 60, 5),
]

B64 = list("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
LOWER = list("abcdefghijklmnopqrstuvwxyz")
ZALGO = [chr(c) for c in range(0x300, 0x370)]
LONG = [  # name, parts, seed of the choice or 0 for one after the other
    ("one letter", ["a"], 0), ("one capital", ["A"], 0), ("random a-z, one word", LOWER, 11), ("random A-Z, one word", [c.upper() for c in LOWER], 12),
    ("random aA, one word", ["a", "A"], 13), ("spaces", [" "], 0), ("newlines", ["\n"], 0), ("carriage returns", ["\r"], 0), ("CRLF", ["\r\n"], 0),
    ("tabs", ["\t"], 0), ("space and newline", [" ", "\n"], 0), ("random blanks", [" ", "\t", "\n", "\r"], 14), ("no-break spaces", ["\u00a0"], 0), ("ideographic spaces", ["\u3000"], 0),
    ("1000 spaces and x", [" " * 1000 + "x"], 0), ("1000 spaces and a newline", [" " * 1000 + "\n"], 0), ("newline and 1000 spaces", ["\n" + " " * 1000], 0), ("x and 1000 newlines", ["x" + "\n" * 1000], 0),
    ("equals signs", ["="], 0), ("slashes", ["/"], 0), ("apostrophes", ["'"], 0), ("apostrophe and s", ["'s"], 0), ("don't", ["n't"], 0), ("random punctuation", list("!#$%&()*+,-./:;<=>?@[]^_{|}~"), 15),
    ("one ideograph", ["中"], 0), ("random ideographs", [chr(c) for c in range(0x4E00, 0x9FA6)], 16), ("random kana", [chr(c) for c in range(0x3041, 0x3097)], 17), ("random hangul", [chr(c) for c in range(0xAC00, 0xD7A4)], 18),
    ("one emoji", ["😀"], 0), ("family emoji", ["👩\u200d👩\u200d👧\u200d👦"], 0), ("flags", ["\U0001F1E9\U0001F1EA"], 0), ("combining acute", ["\u0301"], 0), ("letter and acute", ["e\u0301"], 0), ("zalgo", ["a"] + ZALGO, 19),
    ("base64", B64, 20), ("hex", list("0123456789abcdef"), 21), ("one digit", ["0"], 0), ("random digits", list("0123456789"), 22), ("letter and digit", ["a", "1"], 0), ("letter and full stop", ["a", "."], 0),
    ("hebrew", [chr(c) for c in range(0x5D0, 0x5EB)], 23), ("arabic, right to left marks", [chr(c) for c in range(0x621, 0x64B)] + ["\u200f", " "], 24), ("thai, no blanks", [chr(c) for c in range(0xE01, 0xE3B)], 25),
    ("NUL", ["\x00"], 0), ("DEL", ["\x7f"], 0), ("replacement characters", ["\ufffd"], 0), ("private use", [chr(c) for c in range(0xE000, 0xE100)], 26), ("last code points", ["\U0010FFFD", "\U0010FFFE", "\U0010FFFF"], 27),
    ("special tokens", ["<|endoftext|>"], 0), ("byte order marks", ["\ufeff"], 0), ("upper, then lower", ["A" * 500 + "b" * 500], 0), ("word of the vocabulary", ["ization"], 0), ("letters and long s", ["'\u017f"], 0),
]
LONG_BYTES = 1 << 20

# X stands for the code point.
CONTEXTS = ["xXx", "AXb", " X1", "!X\n", "X  X", "1X1'X"]


def nasty():
    """Strings written by hand, by what they are about."""
    yield from (s for s in [
        "", " ", "  ", "   ", "a", " a", "  a", "   a", "a ", "a  ", "a   ", " a ", "\n", "\n\n", "\n\n\n", " \n", "\n ", " \n ", "  \n  \n", "\t", "\t\t", " \t", "\t ", "\r", "\r\r", "\r\n", "\r\n\r\n", "\n\r", " \r\n \r\n ", "a\r\nb", "a \r\n b", "a\n    \n    b", "x \n \n \ny", "\n\t\n\ty",
        "\v", "\f", "\x1c", "\x1d\x1e\x1f", "\u0085", "a\u0085b", "\u0085\u0085", "\u00a0", "\u00a0a", "a\u00a0\u00a0b", "\u1680", "\u180e", "\u2000\u2001\u2002\u200a", "\u2028", "a\u2028b", "\u2029\n", "\u202f", "\u205f", "\u3000", "\u3000\u3000x", "\ufeff", "\ufeffa", "a\ufeff", "\u200b", "a\u200bb", "\u200c\u200d\u2060", "\u00ad",
        "\x00", "a\x00b", "\x00\x00\x00", "\x01\x02", "\x7f", "a\x7fb", "\x80", "\x9f", "\x1b[31mred\x1b[0m", "\b\b",
        "it's", "IT'S", "It'S", "we're", "WE'RE", "you've", "I'm", "I'M", "he'd", "HE'D", "they'll", "THEY'LL", "don't", "DON'T", "don't'd've", "'s", "'S", " 's", "''s", "s's's", "'t", "'re", "'ve", "'m", "'ll", "'d", "'l", "'r", "'v", "'st", "'tis", "'twas", "'em", "rock'n'roll", "o'clock", "l'été", "d'Artagnan", "'\u017f", "don'\u017f", "x'\u017fy", "'\u017f\u017f", "\u017f", "don\u2019t", "I\u2019ll", "''", "'''", "'\n", "' s", "a'", "a''b", "'sx", "'SX", "'llx", "'reX", "'\u212a", "K\u212a's", "1's", "!'s", "é's", "中's", "\u0301's", " 'S\u0301", "'s\u0301", "'S's'S",
        "HELLOworld", "helloWORLD", "camelCase", "CamelCaseWord", "XMLHttpRequest", "iPhone", "iOS", "McDonald", "ABC", "ABc", "AbC", "aBC", "a1B2c3", "snake_case", "SCREAMING_SNAKE", "kebab-case", "__init__", "_x", "x_", "ǅ", "ǅungla", "aǅb", "ʰ", "ʰABC", "Aʰʰ", "aʰB", "ABC中文ABC", "abc中文abc", "中A", "A中", "a中B", "中a", "Aª", "ªA", "ºB", "ⓐⒷ", "ᾈ", "ᾳ", "ßẞ", "İI", "ıi", "ﬁ", "ŉ",
        "e\u0301", "E\u0301", "é", "\u0301", " \u0301", "!\u0301", "1\u0301", "\n\u0301", "a\u0301b", "A\u0301B", "\u0301A", "\u0301a", "a\u0301'll", "A\u0301B'VE", "\u0301\u0301\u0301", "!\u0301!", "\u20dd1", "क्षि", "नमस्ते", "தமிழ்", "ภาษาไทย", "สวัสดีครับ", "မြန်မာ", "ខ្មែរ", "አማርኛ", "ქართული", "ᲥᲐᲠᲗᲣᲚᲘ", "שָׁלוֹם", "السَّلَامُ", "\u0600\u0661", "বাংলা", "ગુજરાતી", "ଓଡ଼ିଆ", "తెలుగు", "ಕನ್ನಡ", "മലയാളം", "සිංහල", "བོད་ཡིག", "ᠮᠣᠩᠭᠣᠯ", "ⲁⲃⲅ", "𐌰𐌱𐌲", "𓀀𓀁", "𒀀𒀁", "ꙮ",
        "1", "12", "123", "1234", "12345", "123456", "1234567", "1,234,567.89", "0x1F", "1e10", "3.14159", "1/2", "½", "½¼¾", "²³", "x²", "Ⅷ", "ⅷⅸ", "٣٤٥٦", "१२३४", "๑๒๓", "〇一二三", "𝟘𝟙𝟚𝟛", "①②③", "1a2b", "12ab34", "1.2.3.4", "1 2 3", "1  2", "12:34:56", "2026-11-30T09:00:00Z", "+49 (0)30 123456", "1_000", "1'000",
        "!", "!!", "!!!", "?!?!", "...", "....", "…", "—", "--", "---", "=====", "*****", "#####", "~~~", "```", "```go\n", "///", "//\n", "/\n/", "/\r\n", "!\n", "!\n\n", "!\r\n\r\n", "! \n", "!/", "!/\n/", "a/b", "a/\nb", "/*\n*/", "//////\n\n", "=/\n", ".\n.", "a.b", "a. b", "a .b", " .", "  .", " ..", "\t.", "\n.", ")\n(", "();", "{}\n", "[[]]", "<>", "<html>", "</div>\n", "&amp;", "%20", "$x", "@user", "#tag", "a@b.c", "C:\\path\\to", "\\n", "\\u00e9", "\"\"", "“quoted”", "«guillemets»", "„tief“", "‚‘", "「」", "、。", "！？", "·", "•", "©®™", "€£¥", "→←", "∑∫√", "≤≥≠", "\u2044", "\ufffd", "\ufffd\ufffd", "\ufffe", "\uffff",
        "👍", "👍🏽", "👩\u200d💻", "👩\u200d👩\u200d👧\u200d👦", "🇩🇪", "🇩🇪🇫🇷", "🇩", "❤", "❤️", "❤️\u200d🔥", "1️⃣", "#️⃣", "😀😀😀", "😀 😀", "a😀", "😀a", "😀1", "🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F", "🫠", "🪿", "\U0001FAE9", "🀄", "㊙", "☺", "☺\ufe0e", "🧑🏿\u200d🚀!!\n",
        "我们今天去北京看长城。", "東京タワーは高い。", "お誕生日おめでとう", "한국어 문장입니다", "中 文", "中\n文", "中1文", "ＡＢＣ１２３", "ｶﾀｶﾅ", "㈱", "㍿", "𠀀𠮷", "﨑", "Привет, мир!", "ПРИВЕТмир", "Γειά σου Κόσμε", "ΑΒΓαβγ", "Tiếng Việt", "Straße", "naïve café", "Ærøskøbing", "Łódź", "İstanbul", "ĳsland",
        "<|endoftext|>", "a<|endoftext|>b", "<|fim_prefix|><|fim_middle|><|fim_suffix|>", "<|endofprompt|>", "<|im_start|>user\nhi<|im_end|>\n", "<|endoftext", "|endoftext|>", "< |endoftext| >", "<|ENDOFTEXT|>", "<|start|>assistant<|channel|>final<|message|>", "<|begin_of_text|>", "[INST] x [/INST]", "<s></s>", "<<SYS>>", "<think>\n</think>",
        "\ue000", "\uf8ff", "\U000F0000", "\U0010FFFF", "\u0378", "\u0897", "\u1c89", "\ua7cb", "\ua7da", "\U000105C0", "\U00010D40", "\U000113D0", "\U0001E5F0", "\U00011BC0", "\U0001CCF0", "\U00016D40", "\U00013460", "\U0001F8B2", "\u1c8a", "\U000116D0",
        '{"role":"user","content":"C:\\\\path\\\\to\\\\file \\u00e9","n":[1,2,3.5e-10],"ok":true}', "if err != nil {\n\t\treturn nil, fmt.Errorf(\"x: %w\", err)\n\t}\n", "def f(x):\n    return x\n\n\nclass A:\n    pass\n", "  - name: x\n    value: 1\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "SELECT * FROM t WHERE id=42;", "<a href=\"x\">y</a>\n", "$ ls -la\ntotal 0\n", "diff --git a/x b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n", "\\begin{equation}\n\\frac{1}{2}\n\\end{equation}", "QmFzZTY0IGVuY29kZWQgZGF0YQ==/+/+aGVsbG8gd29ybGQ", "550e8400-e29b-41d4-a716-446655440000", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ])
    runs = ["a", "A", "aA", " ", "\n", "\r", "\r\n", "\t", " \n", "\n ", "=", "-", "/", ".", "'", "'s", "0", "1a", "中", "\u0301", "e\u0301", "👍", "\u200d", "\x00", "\u00a0", "ab ", "  x", "\u3000", "é", "я", "\ufffd", "<|"]
    for unit in runs:
        for n in [2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257]:
            if len(unit.encode()) * n <= 520:
                yield unit * n
                if n in (8, 16, 64):
                    yield from ("x" + unit * n, unit * n + "x", " " + unit * n + " ", "1" + unit * n + "!\n")


def invalid():
    """Bytes that are not UTF-8, with every kind of truncation, alone and in text."""
    bad = ["80", "bf", "c0", "c1", "c2", "df", "e0", "e0a0", "e080", "e09f80", "e1", "e180", "e18041", "ed", "eda080", "edbfbf", "eda080edb080", "ed9f", "ee80", "efbf", "f0", "f090", "f09080", "f08080", "f0808080",
           "f0808080af", "f1", "f180", "f18080", "f480", "f48fbf", "f4908080", "f5", "f7bfbfbf", "f8888080 80".replace(" ", ""), "fe", "ff", "feff", "fffe", "c0af", "e080af", "c328", "a0a1", "e228a1", "e28228", "f0288cbc", "f09028bc", "f0288c28",
           "c2c2", "c2c2a2", "e4b8", "e4b8e4b8ad", "f09f98", "f09f98f09f9880", "8080808080808080", "ffffffffffffffff", "e4e4e4e4", "c3c3c3c3a9"]
    for b in bad:
        raw = bytes.fromhex(b)
        yield from (raw, raw * 2, b"a" + raw + b"b", b" " + raw + b" ", "中".encode() + raw + "文".encode(), b"1" + raw + b"\n" + raw, raw + b"'s", b"\n\n" + raw)
    rng = SplitMix64(99)
    pool = [b"a", b" ", b"\n", b"1", b"!", b"\x80", b"\xbf", b"\xc3", b"\xa9", b"\xe4", b"\xb8", b"\xad", b"\xf0", b"\x9f", b"\x98", b"\x80", b"\xed", b"\xa0", b"\xf4", b"\x90", b"\xff", "é".encode(), "中".encode(), "😀".encode()]
    for _ in range(1500):
        yield b"".join(pool[rng.next(len(pool))] for _ in range(1 + rng.next(16)))
    for lead in range(0xC0, 0x100):  # every lead byte with edges of the second
        for second in [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]:
            yield bytes([lead, second, 0x80, 0x80, 0x78])


def fuzz(parts, docs, least, most, seed):
    for k in range(docs):
        rng = SplitMix64(seed << 32 | k)
        n = least + rng.next(most - least + 1)
        yield "".join(parts[rng.next(len(parts))] for _ in range(n))


def long_text(parts, seed):
    out, size, i = [], 0, 0
    rng = SplitMix64(seed)
    while size < LONG_BYTES:
        p = parts[rng.next(len(parts)) if seed else i % len(parts)]
        out.append(p)
        size += len(p.encode())
        i += 1
    return "".join(out)


def block(first):
    """The documents of 256 code points from first: code point by code point, every context."""
    for c in range(first, first + 256):
        if not 0xD800 <= c <= 0xDFFF:
            for context in CONTEXTS:
                yield context.replace("X", chr(c))


def id_bytes(ids):
    return array("I", ids).tobytes()


class Hash:
    """SHA-256, cut to 64 bits, over each document's count of ids and ids, all uint32 little-endian."""

    def __init__(self):
        self.h = hashlib.sha256()

    def add(self, ids):
        self.h.update(struct.pack("<I", len(ids)) + id_bytes(ids))

    def hex(self):
        return self.h.hexdigest()[:16]


def digest(encodings, docs):
    out = {}
    for e in encodings:
        h = Hash()
        for d in docs:
            h.add(e.encode_ordinary(d))
        out[e.name] = h.hex()
    return out


def write_docs(path, docs):
    with open(path, "wb") as f:
        for d in docs:
            d = d if isinstance(d, bytes) else d.encode()
            f.write(struct.pack("<I", len(d)) + d)


def read_docs(path):
    data, i = open(path, "rb").read(), 0
    while i < len(data):
        (n,) = struct.unpack_from("<I", data, i)
        yield data[i + 4:i + 4 + n]
        i += 4 + n


def write_ids(path, encoding, docs):
    with open(path, "wb") as f:
        for d in docs:
            ids = encoding.encode_ordinary(d.decode("utf-8", "replace") if isinstance(d, bytes) else d)
            f.write(struct.pack("<I", len(ids)) + hashlib.sha256(id_bytes(ids)).digest()[:8])


def encode_long(encoding, text):
    """Ids and who gave them. The regular expressions of tiktoken 0.14 overflow their stack
    on some of these texts; bpe-openai's do not. Where both answer they must agree."""
    ids = bpe_openai.tokenizer_for_encoding(encoding.name).encode(text)
    try:
        reference = encoding.encode_ordinary(text)
    except BaseException as e:  # a panic of Rust is no Exception
        if type(e).__name__ != "PanicException":
            raise
        return ids, "bpe-openai"
    assert reference == ids, "tiktoken and bpe-openai differ"
    return reference, "tiktoken"


def small(encodings):
    rows = lambda docs, key, show: [{key: show(d)} | {e.name: e.encode_ordinary(d.decode("utf-8", "replace") if isinstance(d, bytes) else d) for e in encodings} for d in docs]
    families = []
    for name, parts, docs, least, most, seed in FAMILIES:
        texts = list(fuzz(parts, docs, least, most, seed))
        hashes = [digest(encodings, texts[i:i + 500]) for i in range(0, docs, 500)]
        families.append({"name": name, "parts": parts, "documents": docs, "least": least, "most": most, "seed": seed, "hashes": hashes})
    blocks = list(range(0, 0x40000, 0x100)) + list(range(0xE0000, 0xE1000, 0x100)) + list(range(0xF0000, 0xF0100, 0x100)) + [0x10FF00]
    long = []
    for name, parts, seed in LONG:
        text = long_text(parts, seed)
        row = {"name": name, "parts": parts, "seed": seed, "bytes": LONG_BYTES, "by": {}, "tokens": {}, "hashes": {}}
        for e in encodings:
            (ids, row["by"][e.name]), h = encode_long(e, text), Hash()
            h.add(ids)
            row["tokens"][e.name], row["hashes"][e.name] = len(ids), h.hex()
        long.append(row)
    return {
        "made with": f"tiktoken {tiktoken.__version__}",
        "nasty": rows(list(dict.fromkeys(nasty())), "text", str),
        "invalid": rows(list(dict.fromkeys(invalid())), "hex", bytes.hex),
        "fuzz": families,
        "contexts": CONTEXTS,
        "code points": [{"first": b} | digest(encodings, list(block(b))) for b in blocks],
        "long": long,
    }


def dump(path, vectors):
    """One row a line, for those who unpack it."""
    line = lambda v: json.dumps(v, ensure_ascii=True, separators=(",", ":"))
    parts = []
    for key, value in vectors.items():
        rows = "[\n" + ",\n".join(line(v) for v in value) + "\n]" if isinstance(value, list) else line(value)
        parts.append("\n" + line(key) + ":" + rows)
    with open(path, "wb") as f, gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=f, mtime=0) as z:
        z.write(("{" + ",".join(parts) + "\n}\n").encode())


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    encodings = [tiktoken.get_encoding(n) for n in ENCODINGS]
    vectors = small(encodings)
    dump(os.path.join(out, "vectors.json.gz"), vectors)
    sets = {"nasty": list(dict.fromkeys(nasty())), "invalid": list(dict.fromkeys(invalid()))}
    for name, *args in FAMILIES:
        sets["fuzz-" + name] = list(fuzz(*args))
    sets["codepoints"] = [d for b in range(0, 0x110000, 0x100) for d in block(b)]
    for path in sys.argv[2:]:
        sets["corpus-" + os.path.basename(path).removesuffix(".docs")] = list(read_docs(path))
    for name, docs in sets.items():
        write_docs(os.path.join(out, name + ".docs"), docs)
        for e in encodings:
            write_ids(os.path.join(out, f"{name}.{e.name}.ids"), e, docs)
        print(f"{name:20s} {len(docs):8d} documents", flush=True)
    print("Unicode of this Python:", unicodedata.unidata_version)


if __name__ == "__main__":
    main()
