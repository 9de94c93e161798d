"""Make a tiny random-weight Llama whose byte-level BPE holds the words of surrogate prompts, each as one token.

With it a real vLLM can be sent prompts of text of exactly planned lengths, by chat and by completions; its answers mean nothing.
Needs torch, transformers and tokenizers, as vLLM brings them.

usage: model.py OUT_DIR
"""
import pathlib
import random
import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

END, START, STOP = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
WORDS = pathlib.Path(__file__).resolve().parents[3] / "trace" / "token" / "words.txt"


def corpus():
    """Every word at the start of a text and behind a space, often enough that all of its merges are learnt."""
    words, rnd = WORDS.read_text().split(), random.Random(0)
    for _ in range(40):
        rnd.shuffle(words)
        yield from words
        yield " ".join(words)
    yield from (f"{START}{role}\n" for role in ("user", "assistant", "system") for _ in range(100))


def main(out):
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator(
        corpus(),
        trainers.BpeTrainer(vocab_size=16384, special_tokens=[END, START, STOP],
                            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    fast = PreTrainedTokenizerFast(tokenizer_object=tok, bos_token=END, eos_token=STOP, pad_token=END)
    fast.chat_template = TEMPLATE
    fast.save_pretrained(out)
    torch.manual_seed(0)
    config = LlamaConfig(vocab_size=len(fast), hidden_size=256, intermediate_size=512, num_hidden_layers=2,
                         num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=8192,
                         bos_token_id=0, eos_token_id=2, pad_token_id=0, tie_word_embeddings=False)
    LlamaForCausalLM(config).float().save_pretrained(out)


if __name__ == "__main__":
    main(sys.argv[1])
