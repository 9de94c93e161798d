"""One peer's Python interface over a corpus.

    python worker.py PEER ENCODING RANKS DOCS THREADS [IDS]

prints one line of JSON: load_ms and rss_mb with the vocabulary ready and the
library imported, before the corpus is read; cold_s and warm_s, the first and the
second pass. IDS, if named, gets each document's count of ids and ids as uint32.
"""

import json, struct, sys, time


def resident_mb():
    for line in open("/proc/self/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024


def documents(path):
    data, i, out = open(path, "rb").read(), 0, []
    while i < len(data):
        (n,) = struct.unpack_from("<I", data, i)
        out.append(data[i + 4:i + 4 + n].decode())
        i += 4 + n
    return out


def each(encode):
    """Every document by a call of its own; ids are dropped at once."""
    def run(docs):
        for d in docs:
            encode(d)
    return run, lambda docs: map(encode, docs)


def open_peer(peer, encoding, ranks, threads):
    """Returns what encodes all documents, and what yields their ids."""
    if peer.startswith("tiktoken"):
        import tiktoken
        t = tiktoken.get_encoding(encoding)
        if peer == "tiktoken":
            return each(t.encode_ordinary)
        run = lambda docs: t.encode_ordinary_batch(docs, num_threads=threads)
        return run, run
    if peer == "bpe-openai":
        from bpe_openai import _bindings  # the interface above it refuses long texts
        return each(_bindings.tokenizer_for_encoding(encoding).encode)
    if peer.startswith("gigatoken"):
        import gigatoken, numpy
        t = gigatoken.Tokenizer.from_tiktoken(ranks)
        if peer == "gigatoken":
            return each(t.encode)
        run = lambda docs: t.encode_batch(docs, parallel=threads > 1)
        return run, lambda docs: (numpy.asarray(r) for r in run(docs))
    if peer.startswith("fastokens"):
        import fastokens, numpy
        t = fastokens.Tokenizer.from_tiktoken(ranks, encoding=encoding)
        if peer == "fastokens":
            return each(lambda d: t.encode_ordinary(d).ids)
        run = lambda docs: t.encode_batch_flat(docs, split_special_tokens=True)

        def rows(docs):
            flat, offsets = run(docs)
            flat, offsets = numpy.frombuffer(flat, "<u4"), numpy.frombuffer(offsets, "<u8")
            return (flat[a:b] for a, b in zip(offsets[:-1], offsets[1:]))
        return run, rows
    sys.exit("no peer " + peer)


def main():
    peer, encoding, ranks, path, threads = sys.argv[1:6]
    start = time.perf_counter()
    run, rows = open_peer(peer, encoding, ranks, int(threads))
    run(["ready"])  # what is imported or built at the first call belongs to the start
    load, rss = time.perf_counter() - start, resident_mb()
    docs, seconds = documents(path), []
    for _ in range(2):
        start = time.perf_counter()
        out = run(docs)
        seconds.append(time.perf_counter() - start)
        del out
    print(json.dumps({"load_ms": load * 1e3, "rss_mb": rss, "cold_s": seconds[0], "warm_s": seconds[1]}), flush=True)
    if len(sys.argv) > 6:
        with open(sys.argv[6], "wb") as f:
            for ids in rows(docs):
                f.write(struct.pack(f"<I{len(ids)}I", len(ids), *ids))


if __name__ == "__main__":
    main()
