"""An open-loop load client as Python ones are made: aiohttp, a task a request, on
asyncio's loop or uvloop's. Of an event it does what vllm bench serve does: chunks
are decoded as they come, cut at blank lines, and what may be a whole message is
parsed to see whether it is, then parsed again for its token.

    loop.py URL RATE SECONDS WARM TOKENS [uvloop]

Prints JSON of the requests that were due after WARM seconds: how late each was
handed over for writing and its TTFT from then on, ms.
"""
import asyncio
import json
import random
import sys
import time

import aiohttp


async def send(session, url, body, due, out):
    record = {"due": due}
    gaps, chars, text, last, first = [], 0, "", None, None
    async with session.post(url, json=body, trace_request_ctx=record) as answer:
        async for chunk in answer.content.iter_any():
            chunk = chunk.strip()
            if not chunk:
                continue
            text += chunk.decode()
            messages = text.split("\n\n")
            text = messages.pop()
            rest = text.removeprefix("data: ")
            if rest == "[DONE]":
                messages.append(text)
                text = ""
            elif rest:
                try:
                    json.loads(rest)
                    messages.append(text)
                    text = ""
                except json.JSONDecodeError:
                    pass
            for message in messages:
                message = message.strip().removeprefix("data: ")
                if message == "[DONE]" or not message:
                    continue
                choices = json.loads(message).get("choices")
                if not choices:
                    continue
                now = time.perf_counter()
                if first is None:
                    first = now
                else:
                    gaps.append(now - last)
                last = now
                chars += len(choices[0].get("text") or "")
    if first is not None:
        out.append((due, record["sent"] - due, first - record["sent"], len(gaps) + 1))


async def run(url, rate, seconds, warm, tokens):
    async def sent(_session, context, _params):
        context.trace_request_ctx["sent"] = time.perf_counter()

    trace = aiohttp.TraceConfig()
    trace.on_request_chunk_sent.append(sent)
    body = {"model": "mock", "prompt": "w " * 31 + "w", "max_tokens": tokens, "stream": True, "ignore_eos": True,
            "temperature": 0, "stream_options": {"include_usage": True}}
    rng, out, tasks = random.Random(1), [], []
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60)
    async with aiohttp.ClientSession(connector=connector, trace_configs=[trace], timeout=aiohttp.ClientTimeout(total=300)) as session:
        start = time.perf_counter() + 0.05
        at = 0.0
        while at < warm + seconds:
            delay = start + at - time.perf_counter()
            if delay > 0:
                await asyncio.sleep(delay)
            tasks.append(asyncio.create_task(send(session, url + "/v1/completions", body, start + at, out)))
            at += rng.expovariate(rate)
        await asyncio.gather(*tasks)
    kept = [r for r in out if r[0] >= start + warm]
    print(json.dumps({"lag_ms": [r[1] * 1e3 for r in kept], "ttft_ms": [r[2] * 1e3 for r in kept], "events": sum(r[3] for r in kept)}))


def main():
    url, rate, seconds, warm, tokens = sys.argv[1], *map(float, sys.argv[2:5]), int(sys.argv[5])
    job = run(url, rate, seconds, warm, tokens)
    if sys.argv[6:] == ["uvloop"]:
        import uvloop
        uvloop.new_event_loop().run_until_complete(job)
    else:
        asyncio.run(job)


main()
