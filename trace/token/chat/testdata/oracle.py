"""Makes expected.jsonl: what transformers renders for every template of a folder
and every conversation of conversations.json.

    pip install transformers jinja2
    python oracle.py templates > expected.jsonl

Made with transformers 5.24.0, jinja2 3.1.6, Python 3.11. The steps are those of
PreTrainedTokenizerBase.apply_chat_template(tokenize=False); the clock stands at
2026-01-15 12:34:56. Each line: template, conversation, whether the generation
prompt is asked for, and the text, or null where rendering fails.
"""
import datetime, json, os, sys

from transformers.utils import chat_template_utils as u


class Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 1, 15, 12, 34, 56)


u.datetime = Clock
here = os.path.dirname(os.path.abspath(__file__))
conversations = json.load(open(os.path.join(here, "conversations.json")))
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
for name in sorted(os.listdir(sys.argv[1])):
    if not name.endswith(".jinja"):
        continue
    # newline='' keeps what the file has, as reading JSON would
    source = open(os.path.join(sys.argv[1], name), newline="").read()
    for key, c in conversations.items():
        for prompt in (False, True):
            go_on = c.get("continue_final_message", False)
            if go_on and prompt:
                continue
            why = None
            try:
                chat = u._normalize_chat_messages(c["messages"])
                text = u.render_jinja_template(
                    [chat], tools=c.get("tools"), chat_template=source, add_generation_prompt=prompt,
                    continue_final_message=go_on, **{**SPECIAL, **c.get("kwargs", {})})[0][0]
            except Exception as e:
                text, why = None, f"{type(e).__name__}: {e}"[:200]
            row = {"template": name, "conversation": key, "prompt": prompt, "text": text}
            if why and "-v" in sys.argv:
                row["why"] = why
            print(json.dumps(row, ensure_ascii=False))
