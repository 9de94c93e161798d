"""Runs the workers interleaved and prints the tables.

    python compare.py CORPUS WORK

CORPUS is a folder that corpus.py wrote; a folder with mixed.docs alone will do.

Each round starts every worker once, in an order that turns by one a round, so
that a disturbance of the machine meets all of them alike. A ratio is taken
inside one round. WORK holds the programs and takes the ids.
"""

import json, os, statistics, struct, subprocess, sys

CORPUS, WORK = sys.argv[1], sys.argv[2]
DOCS = os.path.join(CORPUS, "mixed.docs")
HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(os.environ.get("ROUNDS", 5))
ENCODINGS = os.environ.get("ENCODINGS", "o200k_base cl100k_base").split()
CORE = os.environ.get("CORE", "1")
CORES = os.environ.get("CORES", "0,1")
PREFIX = os.environ.get("PREFIX", "").split()  # for runs on one core: two real-time threads that spin for each other never end
SAMPLE = 8  # the timed runs of the slow peers, none of which keeps a cache, take every eighth document
SLOW = {"native bpe-openai", "python bpe-openai", "python tiktoken-batch", "python tiktoken", "tiktoken-go"}

PEERS = [  # name in the table, worker, cores
    ("own", "own", 1), ("own, count only", "own-count", 1),
    ("fastokens, Rust", "native fastokens", 1), ("fastokens, Python batch", "python fastokens-batch", 1), ("fastokens, Python, a call each", "python fastokens", 1),
    ("gigatoken, Python batch", "python gigatoken-batch", 1), ("gigatoken, Python, a call each", "python gigatoken", 1),
    ("bpe-openai, Rust", "native bpe-openai", 1), ("bpe-openai, Python", "python bpe-openai", 1),
    ("tiktoken, Python batch", "python tiktoken-batch", 1), ("tiktoken, Python, a call each", "python tiktoken", 1), ("tiktoken-go", "tiktoken-go", 1),
    ("own, 2 cores", "own", 2), ("fastokens, Rust, 2 cores", "native fastokens", 2), ("gigatoken, batch, 2 cores", "python gigatoken-batch", 2),
]

KIND_PEERS = [("own", "own", 1), ("fastokens, Rust", "native fastokens", 1), ("gigatoken, Python batch", "python gigatoken-batch", 1)]


def read_documents(path):
    data, i, out = open(path, "rb").read(), 0, []
    while i < len(data):
        (n,) = struct.unpack_from("<I", data, i)
        out.append(data[i:i + 4 + n])
        i += 4 + n
    return out


def read_ids(path):
    data, i, out = open(path, "rb").read(), 0, []
    while i < len(data):
        n = 4 + 4 * struct.unpack_from("<I", data, i)[0]
        out.append(data[i:i + n])
        i += n
    return out


def command(worker, encoding, cores, docs, ids):
    ranks = os.path.join(WORK, "ranks", encoding + ".tiktoken")
    kind, _, peer = worker.partition(" ")
    if kind == "native":
        args = [os.path.join(WORK, "native"), peer, encoding, ranks, docs]
    elif kind == "python":
        args = [sys.executable, os.path.join(HERE, "worker.py"), peer, encoding, ranks, docs]
    else:
        args = [os.path.join(WORK, "own"), worker, encoding, docs]
    return (PREFIX if cores == 1 else []) + ["taskset", "-c", CORE if cores == 1 else CORES] + args + [str(cores)] + ids


def run(worker, encoding, cores, docs, ids=()):
    env = dict(os.environ, RAYON_NUM_THREADS=str(cores), GOMAXPROCS=str(cores), TIKTOKEN_CACHE_DIR=os.path.join(WORK, "cache"))
    out = subprocess.run(command(worker, encoding, cores, docs, list(ids)), env=env, stdout=subprocess.PIPE, check=True, timeout=600)
    return json.loads(out.stdout)


def differing(ids, reference):
    if len(ids) != len(reference):
        return f"{len(ids)} of {len(reference)} documents"
    return sum(a != b for a, b in zip(ids, reference))


def check(encoding, sample):
    """Counts, per worker, the documents whose ids are not tiktoken's, and the ids."""
    workers = [w for w in dict.fromkeys(w for _, w, _ in PEERS) if w != "own-count"]
    found, path = {}, os.path.join(WORK, "ids")
    for worker in ["python tiktoken"] + [w for w in workers if w != "python tiktoken"]:
        run(worker, encoding, 1, sample if worker == "tiktoken-go" else DOCS, [path])
        ids = read_ids(path)
        if worker == "python tiktoken":
            reference = ids
        found[worker] = differing(ids, reference[::SAMPLE] if worker == "tiktoken-go" else reference)
        os.remove(path)
    return found, sum(len(r) // 4 - 1 for r in reference)


def spread(values, digits):
    show = lambda v: f"{v:.{digits}f}"
    return f"{show(statistics.median(values))} [{show(min(values))}-{show(max(values))}]"


def table(encoding, results, found, megabytes, sample_mb):
    size = {name: sample_mb if worker in SLOW else megabytes for name, worker, _ in PEERS}
    speed = lambda name, key: [size[name] / r[key] for r in results[name]]
    print(f"\n{'':32s} {'MB/s, first pass':>20s} {'MB/s, second':>20s} {'own / it, first':>18s} {'own / it, second':>18s} {'load ms':>8s} {'RSS MB':>7s} {'differ':>7s}")
    for name, worker, cores in PEERS:
        own = "own" if cores == 1 else "own, 2 cores"
        cells = [spread(speed(name, k), 1) for k in ("cold_s", "warm_s")]
        for k in ("cold_s", "warm_s"):
            cells.append(spread([a / b for a, b in zip(speed(own, k), speed(name, k))], 2))
        load = statistics.median(r["load_ms"] for r in results[name])
        rss = statistics.median(r["rss_mb"] for r in results[name])
        print(f"{name:32s} {cells[0]:>20s} {cells[1]:>20s} {cells[2]:>18s} {cells[3]:>18s} {load:8.0f} {rss:7.0f} {str(found.get(worker, '-')):>7s}")
    for k, label in (("cold_s", "first"), ("warm_s", "second")):
        two = [a[k] / b[k] for a, b in zip(results["own"], results["own, 2 cores"])]
        print(f"own, two cores against one, {label} pass: {spread(two, 2)}")
    last = results["own"][-1]
    print(f"own, second pass: {last['allocs_per_doc']} allocations and {last['alloc_bytes_per_doc']} bytes a document")


def kinds(encoding):
    """One table of own figures per kind of text, beside the fastest peers."""
    names = sorted(f[:-5] for f in os.listdir(CORPUS) if f.endswith(".docs") and f != "mixed.docs")
    if not names:
        return
    print(f"\n{encoding}, {'kind':14s} {'MB':>6s} {'MB/s, first pass':>20s} {'second':>20s} {'allocs a doc':>12s} " + " ".join(f"{'own / ' + n + ', first':>36s}" for n, _, _ in KIND_PEERS[1:]))
    for kind in names:
        path = os.path.join(CORPUS, kind + ".docs")
        megabytes = document_mb(read_documents(path))
        results = {name: [] for name, _, _ in KIND_PEERS}
        for i in range(ROUNDS):
            for name, worker, cores in KIND_PEERS[i % 3:] + KIND_PEERS[:i % 3]:
                results[name].append(run(worker, encoding, cores, path))
        own = results["own"]
        ratios = [[r["cold_s"] / o["cold_s"] for r, o in zip(results[n], own)] for n, _, _ in KIND_PEERS[1:]]
        cells = [f"{spread(r, 2):>36s}" for r in ratios]
        speeds = [spread([megabytes / r[k] for r in own], 1) for k in ("cold_s", "warm_s")]
        print(f"{encoding}, {kind:14s} {megabytes:6.1f} {speeds[0]:>20s} {speeds[1]:>20s} {own[-1]['allocs_per_doc']:12.4f} " + " ".join(cells), flush=True)


def document_mb(docs):
    return (sum(map(len, docs)) - 4 * len(docs)) / 1e6


def main():
    docs = read_documents(DOCS)
    sample = os.path.join(WORK, "sample.docs")
    with open(sample, "wb") as f:
        f.write(b"".join(docs[::SAMPLE]))
    for encoding in ENCODINGS:
        found, tokens = check(encoding, sample)
        print(f"\n{encoding}: {len(docs)} documents, {document_mb(docs):.1f} MB, {tokens} tokens; {ROUNDS} rounds, median [least-most]", flush=True)
        results = {name: [] for name, _, _ in PEERS}
        for i in range(ROUNDS):
            for name, worker, cores in PEERS[i % len(PEERS):] + PEERS[:i % len(PEERS)]:
                results[name].append(run(worker, encoding, cores, sample if worker in SLOW else DOCS))
            print(f"  round {i + 1} done", file=sys.stderr, flush=True)
        table(encoding, results, found, document_mb(docs), document_mb(docs[::SAMPLE]))
        kinds(encoding)


if __name__ == "__main__":
    main()
