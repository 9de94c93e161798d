"""Makes the files of this folder with pyarrow 26; run in this folder.

    python make.py PARQUET_TESTING_FOLDER

rows.json: for every file of apache/parquet-testing that we keep, what pyarrow
reads, in the notation of ingest/columnar. log.*: one small log in the types
that LLM logs have, as Parquet, Arrow file and Arrow stream. polars.zstd.arrow: of
polars 2.1, whose files have no schema message at their start.
"""
import datetime as d, decimal, glob, json, math, os, sys
import pyarrow as pa, pyarrow.parquet as pq, pyarrow.ipc as ipc, pyarrow.feather as feather


def text(b):
    try:
        return b.decode()
    except UnicodeDecodeError:
        return b.hex()


def instant(ns, utc):
    if not -62167219200 <= ns // 10**9 < 253402300800:  # years 1 to 9999
        return None
    at = d.datetime(1970, 1, 1) + d.timedelta(seconds=ns // 10**9)
    frac = f"{ns % 10**9:09d}".rstrip("0")
    return at.isoformat() + ("." + frac if frac else "") + ("Z" if utc else "")


def value(t, v):
    if v is None:
        return None
    if pa.types.is_dictionary(t):
        return value(t.value_type, v)
    if pa.types.is_struct(t):
        return {f.name: value(f.type, v[f.name]) for f in t}
    if pa.types.is_map(t):
        return {(lambda k: k if isinstance(k, str) else json.dumps(k))(value(t.key_type, k)): value(t.item_type, x) for k, x in v}
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        return [value(t.value_type, x) for x in v]
    if pa.types.is_timestamp(t):
        return instant(v, t.tz is not None)
    if pa.types.is_date(t):
        return v.isoformat()
    if pa.types.is_decimal(t):
        return {"decimal": format(v, "f")}
    if pa.types.is_fixed_size_binary(t):
        return v.hex()
    if isinstance(v, bytes):
        return text(v)
    if isinstance(v, float) and not math.isfinite(v):
        return None
    return v


def rows(table):
    columns = []
    for f, c in zip(table.schema, table.columns):
        if pa.types.is_timestamp(f.type):
            scale = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[f.type.unit]
            columns.append([None if x is None else value(f.type, x * scale) for x in c.cast(pa.int64()).to_pylist()])
        else:
            columns.append([value(f.type, x) for x in c.to_pylist(maps_as_pydicts=None)])
    return [dict(zip(table.schema.names, r)) for r in zip(*columns)]


def expected(folder):
    out = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.parquet"))):
        table = pq.read_table(path, coerce_int96_timestamp_unit="us" if "int96" in path else None)
        got = rows(table)
        out[os.path.basename(path)] = {"rows": len(got), "first": got[:40], "last": got[-2:]}
    json.dump(out, open("rows.json", "w"), ensure_ascii=True, separators=(",", ":"), sort_keys=True)


def log():
    at = [d.datetime(2026, 3, 2, 14, 5, 11, 482_000 + i, tzinfo=d.timezone.utc) for i in range(6)]
    message = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
    says = [[{"role": "system", "content": "be brief"}, {"role": "user", "content": f"hello {i}"}] for i in range(6)]
    table = pa.table({
        "arrival": pa.array(at, pa.timestamp("us", tz="Europe/Vienna")),
        "naive": pa.array([a.replace(tzinfo=None) for a in at], pa.timestamp("ns")),
        "model": pa.array(["m", "n", None] * 2).dictionary_encode(),
        "messages": pa.array(says, message),
        "usage": pa.array([[("input", 5 + i), ("output", 2)] for i in range(6)], pa.map_(pa.string(), pa.uint64())),
        "cost": pa.array([decimal.Decimal("0.0021"), decimal.Decimal("-1.5"), None] * 2, pa.decimal128(20, 6)),
        "tokens": pa.array([1.0, float("nan"), 3.0] * 2),
        "flags": pa.array([{"stream": True, "deep": {"n": 1}}, None, {"stream": False, "deep": None}] * 2,
                          pa.struct([("stream", pa.bool_()), ("deep", pa.struct([("n", pa.int16())]))])),
        "day": pa.array([d.date(2026, 3, 2)] * 6),
        "took": pa.array([0.5, 0.25, 0.125] * 2, pa.float32()),
        "raw": pa.array([b"\x00\xff", b"text", None] * 2),
    })
    json.dump(rows(table), open("log.json", "w"), ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    pq.write_table(table, "log.parquet", row_group_size=2, compression="zstd", data_page_version="2.0")
    feather.write_feather(table, "log.lz4.feather", compression="lz4", chunksize=2)
    feather.write_feather(table, "log.zstd.feather", compression="zstd", chunksize=4)
    with ipc.new_stream("log.arrows", table.schema) as w:
        w.write_table(table, max_chunksize=4)
    more = table.append_column("big", table["model"].cast(pa.dictionary(pa.int8(), pa.large_string()))) \
        .append_column("view", table["model"].cast(pa.string()).cast(pa.string_view())) \
        .append_column("large", table["messages"].cast(pa.large_list(message.value_type)))
    with ipc.new_stream("more.arrows", more.schema) as w:
        w.write_table(more)


def polars():
    import polars as pl
    at = [d.datetime(2026, 3, 2, 14, 5, 11) + d.timedelta(milliseconds=137 * i) for i in range(200)]
    pl.DataFrame({"timestamp": at, "input_tokens": [1] * 200, "output_tokens": [2] * 200, "model": ["m"] * 200}) \
        .write_ipc("polars.zstd.arrow", compression="zstd")


expected(sys.argv[1])
log()
polars()
