"""Builds a corpus of mixed text without repetition from what is installed.

    python corpus.py OUT [MEGABYTES [ROOT...]]

Sources: the Go distribution and module cache, Python packages, documentation,
manuals and message catalogues of the system, and further ROOTs. Output: one
KIND.docs a kind and mixed.docs with all of them shuffled. A .docs file is a
sequence of documents of 2 to 10 KB, each behind its length in bytes as a
little-endian uint32. The same files give the same corpus.
"""

import ast, base64, gettext, gzip, hashlib, html, io, json, os, random, re, struct, subprocess, sys, sysconfig

# Shares of the mixed corpus in percent, near to the mix of the figures that the
# peers publish: mostly English and code, a quarter other languages.
SHARES = {
    "english": 20, "german": 8, "french": 5, "chinese": 8, "japanese": 5, "multilingual": 9,
    "go": 9, "python": 9, "javascript": 3, "c": 4, "json": 9, "markdown": 7,
    "emoji": 1, "whitespace": 1, "encoded": 2,
}
CODE = {"go", "python", "javascript", "c", "json", "markdown"}
EXTENSIONS = {
    ".go": "go", ".py": "python", ".js": "javascript", ".mjs": "javascript", ".ts": "javascript", ".tsx": "javascript",
    ".c": "c", ".h": "c", ".cc": "c", ".cpp": "c", ".hpp": "c",
    ".json": "json", ".jsonl": "json", ".ndjson": "json", ".md": "markdown", ".rst": "markdown",
    ".html": "html", ".htm": "html", ".txt": "text", ".po": "po", ".mo": "mo",
}
LANGUAGE = re.compile(r"^(ar|bg|bn|ca|cs|da|de|el|es|et|eu|fa|fi|fr|gl|gu|he|hi|hr|hu|hy|id|is|it|ja|ka|kk|km|kn|ko|lt|lv|mk|ml|mn|mr|ms|my|nb|nl|pa|pl|pt|ro|ru|sk|sl|sq|sr|sv|ta|te|th|tr|uk|ur|uz|vi|zh)([-_@][A-Za-z]{2,6})?$")
NOT_LATIN = set("ar bg bn el fa gu he hi hy ja ka kk km kn ko mk ml mn mr my pa ru sr ta te th uk ur zh".split())
ACCENTED = set("cs de eo es et fr hu is lt lv pl pt ro sk sl sv tr vi".split())
MAX_FILE = 2 << 20
FROM_ONE_FILE = {"json": 256 << 10}  # and 48 KB of the other kinds: no file gives more, so that no single table or log dominates


def roots(extra):
    go = lambda v: subprocess.run(["go", "env", v], capture_output=True, text=True).stdout.strip()
    paths = [go("GOROOT"), go("GOMODCACHE"), sysconfig.get_paths()["purelib"], sysconfig.get_paths()["stdlib"]]
    paths += ["/usr/share/doc", "/usr/share/man", "/usr/share/locale", "/usr/include", "/usr/share/libreoffice/help", "/usr/lib/node_modules"]
    seen, out = set(), []
    for p in extra + paths:
        p = os.path.realpath(p) if p else ""
        if os.path.isdir(p) and p not in seen:
            seen.add(p)
            out.append(p)
    return out


def language(path):
    for part in reversed(re.split(r"[/.]", path)):
        m = LANGUAGE.match(part)
        if m:
            return m.group(1)
    return "en"


def files(root):
    """Yields (relative path, path), in an order that depends on the names alone."""
    found = []
    for folder, dirs, names in os.walk(root):
        dirs.sort()
        for n in names:
            p = os.path.join(folder, n)
            rel = os.path.relpath(p, root)
            found.append((hashlib.blake2b(rel.encode("utf-8", "replace"), digest_size=8).digest(), rel, p))
    found.sort()
    return [(rel, p) for _, rel, p in found]


def kind_of(rel):
    name = rel[:-3] if rel.endswith(".gz") else rel
    ext = os.path.splitext(name)[1].lower()
    if re.search(r"(^|/)man[1-8]/[^/]+\.[1-8][a-z]*$", "/" + name):
        return "man"
    if re.search(r"(^|/)api/|\.min\.|_tables\.|/tables|bookmarks|package-lock", name):
        return None
    return EXTENSIONS.get(ext)


def read(path):
    data = open(path, "rb").read(MAX_FILE)
    if path.endswith(".gz"):
        data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(MAX_FILE)
    return data


TAGS = re.compile(r"<(script|style|head|nav|pre)\b.*?</\1>|<!--.*?-->", re.S | re.I)
BREAKS = re.compile(r"</?(p|div|li|h\d|tr|dt|dd|br|ul|table|section|td|th|dl|ol)\b[^>]*>", re.I)


def plain_html(text):
    text = BREAKS.sub("\n", TAGS.sub("", re.sub(r"\s*\n\s*", " ", text)))
    text = html.unescape(re.sub(r"<[^>]*>", "", text))
    lines = [re.sub(r"[ \t\xa0]+", " ", l).strip() for l in text.split("\n")]
    return "\n".join(l for l in lines if len(l) > 24)


def plain_man(text):
    out = []
    for l in text.split("\n"):
        m = re.match(r"^\.(?:[BI]|[BIR]{2}|SS|SH|TP|IP)\s+(.*)$", l)
        if m:
            l = m.group(1)
        elif l[:1] in ".'":
            continue
        l = re.sub(r"\\f.|\\[0-9 ]|\\&|\\/|\\,|\\:|\\s[-+]?\d", "", l)
        out.append(re.sub(r"\\\(..|\\\[[^\]]*\]", "'", l).replace("\\-", "-").replace("\\e", "\\"))
    return "\n".join(out)


def messages(data, mo):
    if mo:
        table = gettext.GNUTranslations(io.BytesIO(data))._catalog
        return "\n".join(v for k, v in table.items() if isinstance(k, str) and k and v != k and len(v) > 24)
    text, out = data.decode("utf-8", "replace"), []
    for m in re.finditer(r'^msgstr(?:\[\d\])? ((?:"(?:[^"\\]|\\.)*"\s*)+)', text, re.M):
        try:
            s = "".join(ast.literal_eval(q) for q in re.findall(r'"(?:[^"\\]|\\.)*"', m.group(1)))
        except (SyntaxError, ValueError):
            continue
        if len(s) > 24 and "Project-Id-Version" not in s:
            out.append(s)
    return "\n".join(out)


def comments(text):
    """Runs of three and more comment lines of Go source: English prose."""
    out, run = [], []
    for l in text.split("\n") + [""]:
        l = l.strip()
        if l.startswith("// ") and "opyright" not in l:
            run.append(l[3:])
            continue
        if len(run) >= 3:
            out.append("\n".join(run))
        run = []
    return "\n\n".join(out)


def prose_kind(text, lang):
    sample = text[:20000]
    n = sum(c.isalpha() for c in sample) or 1
    kana = sum("\u3040" <= c <= "\u30ff" for c in sample)
    han = sum("\u4e00" <= c <= "\u9fff" for c in sample)
    if kana > n / 20:
        return "japanese"
    if han > n / 5:
        return "chinese"
    if sum(c > "\u0250" for c in sample) > n / 4:
        return "multilingual"
    return {"de": "german", "fr": "french", "en": "english"}.get(lang, "multilingual")


class Corpus:
    def __init__(self, total):
        self.rng = random.Random(20261130)
        self.want = {k: total * s // 100 for k, s in SHARES.items()}
        self.docs = {k: [] for k in SHARES}
        self.size = dict.fromkeys(SHARES, 0)
        self.lines = set()

    def full(self, kind):
        return self.size[kind] >= self.want[kind]

    def known(self, line):
        line = line.strip()
        if len(line) < 24:
            return False
        h = hash_line(line)
        if h in self.lines:
            return True
        self.lines.add(h)
        return False

    def add(self, kind, text, lang="en"):
        """Cuts text into documents and keeps those that are new: in code at most a
        fifth of the long lines may have been seen before, in prose none is kept.
        Lines that a translation left in English are left out."""
        text = text.replace("\r\n", "\n")
        if kind == "json":  # minified documents have one line
            text = re.sub(r"([^\n]{6000})", r"\1\n", text)
        accents = 0.15 if lang in NOT_LATIN else 0.01 if lang in ACCENTED else 0
        doc, size, seen, goal, start = [], 0, 0, self.goal(), self.size[kind]
        for line in text.split("\n"):
            n = len(line.encode("utf-8", "replace")) + 1
            if n > 20000 or n > 40 and n - 1 - len(line) < int(accents * n):
                continue
            if self.known(line):
                seen += n
                if kind not in CODE:
                    continue
            doc.append(line)
            size += n
            if size >= goal:
                self.keep(kind, doc, size, seen)
                doc, size, seen, goal = [], 0, 0, self.goal()
                if self.size[kind] - start > FROM_ONE_FILE.get(kind, 48 << 10):
                    return
        if size >= 2048:
            self.keep(kind, doc, size, seen)

    def goal(self):
        return int(2048 * 4.5 ** self.rng.random())

    def keep(self, kind, doc, size, seen):
        text = "\n".join(doc)
        # gigatoken takes names of special tokens in text for the tokens.
        if self.full(kind) or (kind in CODE and seen * 5 > size) or re.search(r"<\|(end|fim)", text):
            return
        self.put(kind, text)

    def put(self, kind, text):
        data = text.encode("utf-8", "replace")
        self.docs[kind].append(data)
        self.size[kind] += len(data)


def hash_line(line):
    return int.from_bytes(hashlib.blake2b(line.encode("utf-8", "replace"), digest_size=8).digest(), "little")


def collect(corpus, root):
    for i, (rel, path) in enumerate(files(root)):
        kind = kind_of(rel)
        if kind is None:
            continue
        if kind in SHARES and corpus.full(kind) and not (kind == "go" and not corpus.full("english")):
            continue
        try:
            data = read(path)
        except (OSError, EOFError, gzip.BadGzipFile):
            continue
        if len(data) < 400 or b"\0" in data[:1000] and kind != "mo":
            continue
        if kind == "mo" or kind == "po":
            try:
                text = messages(data, kind == "mo")
            except Exception:  # a broken catalogue is no loss
                continue
        else:
            try:
                text = data.decode()
            except UnicodeDecodeError:
                continue
        if kind == "go" and i % 3 == 0:
            if not corpus.full("english"):
                corpus.add("english", comments(text))
        elif kind in SHARES:
            corpus.add(kind, text)
        else:
            text = {"html": plain_html, "man": plain_man}.get(kind, str)(text)
            lang = language(rel)
            if len(text) > 400:
                prose = prose_kind(text, lang)
                if not corpus.full(prose):
                    corpus.add(prose, text, lang)


def words(corpus):
    text = b" ".join(corpus.docs["english"][:400]).decode("utf-8", "replace")
    return sorted(set(re.findall(r"[A-Za-z]{2,12}", text)))


def emoji(corpus, vocabulary):
    rng, bases = corpus.rng, [chr(c) for r in ((0x1F300, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F900, 0x1F9FF), (0x2600, 0x27BF)) for c in range(r[0], r[1] + 1)]
    tones = [chr(c) for c in range(0x1F3FB, 0x1F400)]
    flags = [chr(c) for c in range(0x1F1E6, 0x1F200)]
    while not corpus.full("emoji"):
        parts, goal = [], corpus.goal()
        while sum(map(len, parts)) < goal // 3:
            parts.append(rng.choice([
                lambda: " " + rng.choice(vocabulary), lambda: rng.choice(bases), lambda: rng.choice(bases) + "\ufe0f",
                lambda: rng.choice("👍👋🙏💪🤞") + rng.choice(tones), lambda: rng.choice("👩👨🧑") + "\u200d" + rng.choice("💻🔬🚒🎨🌾"),
                lambda: rng.choice(flags) + rng.choice(flags), lambda: rng.choice(["\n", "! ", " :) ", "!!"])])())
        corpus.put("emoji", "".join(parts))


def whitespace(corpus, vocabulary):
    rng = corpus.rng
    while not corpus.full("whitespace"):
        parts, goal = [], corpus.goal()
        while sum(map(len, parts)) < goal:
            parts.append(rng.choice([" ", "\n", "\t", "\r\n", "\n ", "  \n", "\u00a0", "\u3000"]) * int(60 ** rng.random()))
            if rng.random() < 0.6:
                parts.append(rng.choice(vocabulary) + rng.choice(["", ",", ";", "|", " "]))
        corpus.put("whitespace", "".join(parts))


def encoded(corpus):
    """Base64, hex, UUIDs, decimals and JSON Web Tokens, some inside JSON."""
    rng = corpus.rng
    while not corpus.full("encoded"):
        goal = corpus.goal()
        raw = rng.randbytes(goal)
        text = rng.choice([
            lambda: base64.b64encode(raw).decode()[:goal], lambda: base64.encodebytes(raw).decode()[:goal], lambda: raw.hex()[:goal],
            lambda: base64.urlsafe_b64encode(raw).decode()[:goal], lambda: json.dumps({"data": base64.b64encode(raw).decode()[:goal], "ok": True}),
            lambda: "\n".join("-".join([h[:8], h[8:12], h[12:16], h[16:20], h[20:32]]) for h in (raw[i:i + 16].hex() for i in range(0, goal // 3, 16))),
            lambda: " ".join(str(int.from_bytes(raw[i:i + 4], "big")) for i in range(0, goal // 3, 4)),
        ])()
        corpus.put("encoded", text)


def write(path, docs):
    with open(path, "wb") as f:
        for d in docs:
            f.write(struct.pack("<I", len(d)))
            f.write(d)


def main():
    out = sys.argv[1]
    total = int(float(sys.argv[2]) * 1e6) if len(sys.argv) > 2 else 48_000_000
    corpus = Corpus(total)
    for root in roots(sys.argv[3:]):
        collect(corpus, root)
    vocabulary = words(corpus)
    emoji(corpus, vocabulary)
    whitespace(corpus, vocabulary)
    encoded(corpus)
    os.makedirs(out, exist_ok=True)
    mixed = []
    for kind in sorted(corpus.docs):
        docs = corpus.docs[kind]
        corpus.rng.shuffle(docs)
        write(os.path.join(out, kind + ".docs"), docs)
        mixed += docs
        print(f"{kind:13s} {len(docs):6d} documents {corpus.size[kind] / 1e6:6.2f} MB of {corpus.want[kind] / 1e6:5.2f}")
    corpus.rng.shuffle(mixed)
    write(os.path.join(out, "mixed.docs"), mixed)
    print(f"{'mixed':13s} {len(mixed):6d} documents {sum(map(len, mixed)) / 1e6:6.2f} MB")


if __name__ == "__main__":
    main()
