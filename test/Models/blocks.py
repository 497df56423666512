# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The attention blocks that export.py exports, as their frameworks define them.

Each function builds one block with random weights and small sizes; the layer
itself (projections, masking, softmax, output) is the framework's own code. A
wrapper only calls what the whole model would call around the layer: the mask
builder and the rotary embedding.
"""

import dataclasses
from typing import Callable

import torch
from torch import nn

from exporters import ROUTES, JaxBlock, TorchBlock

BLOCKS = {}


@dataclasses.dataclass
class Recipe:
    """An entry of BLOCKS: how a file is made and what it is."""
    name: str
    build: Callable
    title: str
    route: str
    packages: tuple[str, ...]


def block(*names, packages=("transformers",), route=None):
    """Registers a builder under one or more file names.

    A name's ending gives its route (exporters.ROUTES) unless `route` does. The builder's docstring
    becomes the file's title; `packages` are those that define the block, beside
    the ones of its route.
    """
    def register(build):
        for name in names:
            ending = name.rsplit("-", 1)[-1]
            chosen = route or (ending if ending in ROUTES else "linalg")
            title = " ".join(build.__doc__.split()).rstrip(".")
            BLOCKS[name] = Recipe(name, build, title, chosen, packages)
        return build
    return register


class MaskedLayer(nn.Module):
    """A layer called with the mask that `make_mask` of the framework builds."""

    def __init__(self, layer, make_mask):
        super().__init__()
        self.layer = layer
        self.make_mask = make_mask

    def forward(self, hidden_states, *mask_inputs):
        mask = self.make_mask(hidden_states, *mask_inputs)
        return self.layer(hidden_states, attention_mask=mask)[0]


class RotaryLayer(nn.Module):
    """A layer called with rotary embeddings of positions 0..N-1 and a mask.

    With `rotary` they are computed in the graph, else cos and sin are inputs.
    """

    def __init__(self, layer, rotary, make_mask):
        super().__init__()
        self.layer = layer
        self.rotary = rotary
        self.make_mask = make_mask

    def forward(self, hidden_states, *embeddings):
        if self.rotary is not None:
            embeddings = rotary_embeddings(self.rotary, hidden_states)
        return self.layer(hidden_states, embeddings, self.make_mask(hidden_states))[0]


def rotary_embeddings(rotary, hidden_states):
    """The (cos, sin) that the model's rotary module gives for positions 0..N-1."""
    return rotary(hidden_states, torch.arange(hidden_states.shape[1])[None])


def rotary_block(layer, rotary, make_mask, hidden_states, rotary_inputs=False, dynamic=None):
    """A RotaryLayer; `rotary_inputs` makes cos and sin arguments of the function."""
    inputs = {"hidden_states": hidden_states}
    if rotary_inputs:
        inputs["cos"], inputs["sin"] = rotary_embeddings(rotary, hidden_states)
        rotary = None
    return TorchBlock(RotaryLayer(layer, rotary, make_mask), inputs, dynamic or {})


def causal_mask(config):
    """The causal mask builder of transformers, bound to one configuration."""
    from transformers.masking_utils import create_causal_mask
    return lambda x: create_causal_mask(config, x, None, None)


def padding_mask(batch, length):
    """A {0, 1} padding mask with a different number of keys per sequence."""
    valid = torch.tensor([length - 9 * b for b in range(batch)])
    return (torch.arange(length)[None] < valid[:, None]).long()


# GPT-2 and relatives.

def gpt2_block(dynamic=None):
    from transformers.models.gpt2 import modeling_gpt2 as gpt2
    config = gpt2.GPT2Config(n_embd=256, n_head=4, attn_implementation="eager")
    layer = gpt2.GPT2Attention(config, layer_idx=0)
    return TorchBlock(MaskedLayer(layer, causal_mask(config)),
                 {"hidden_states": torch.randn(2, 48, 256)}, dynamic or {})


@block("gpt2", "gpt2-tosa", "gpt2-tflite")
def build_gpt2():
    """GPT-2 causal self-attention: B=2, H=4, M=N=48, D=64."""
    return gpt2_block()


@block("gpt2-dynamic")
def build_gpt2_dynamic():
    """GPT-2 causal self-attention, dynamic sequence: B=2, H=4, D=64."""
    return gpt2_block({"hidden_states": {1: "sequence"}})


def gpt_neo_block(kind):
    from transformers.models.gpt_neo import modeling_gpt_neo as gpt_neo
    config = gpt_neo.GPTNeoConfig(hidden_size=256, num_heads=4, window_size=12,
                                  max_position_embeddings=64, num_layers=2,
                                  attention_types=[[["global", "local"], 1]])
    layer = gpt_neo.GPTNeoSelfAttention(config, kind, layer_id=0)
    return TorchBlock(MaskedLayer(layer, lambda x: None),
                      {"hidden_states": torch.randn(1, 40, 256)})


@block("gpt-neo")
def build_gpt_neo():
    """GPT-Neo global attention, constant triangle: B=1, H=4, M=N=40, D=64."""
    return gpt_neo_block("global")


@block("gpt-neo-local")
def build_gpt_neo_local():
    """GPT-Neo local attention, constant band of 12: B=1, H=4, M=N=40, D=64."""
    return gpt_neo_block("local")


# Llama and Gemma-2: rotary embedding, grouped-query attention.

def llama_block(dtype=torch.float32, attention="eager", rotary_inputs=False, dynamic=None):
    from transformers.models.llama import modeling_llama as llama
    config = llama.LlamaConfig(hidden_size=256, num_attention_heads=8, num_key_value_heads=2,
                               head_dim=128, attn_implementation=attention)
    return rotary_block(llama.LlamaAttention(config, layer_idx=0).to(dtype),
                        llama.LlamaRotaryEmbedding(config), causal_mask(config),
                        torch.randn(2, 40, 256, dtype=dtype), rotary_inputs, dynamic)


@block("llama")
def build_llama():
    """Llama causal self-attention: B=2, Hq=8, Hkv=2, M=N=40, D=128."""
    return llama_block()


@block("llama-tosa", "llama-tflite")
def build_llama_tosa():
    """Llama causal self-attention, cos and sin as inputs: B=2, Hq=8, Hkv=2, M=N=40, D=128."""
    return llama_block(rotary_inputs=True)


@block("llama-f16")
def build_llama_f16():
    """Llama in f16 with an f32 softmax: B=2, Hq=8, Hkv=2, M=N=40, D=128."""
    return llama_block(torch.float16)


@block("llama-bf16")
def build_llama_bf16():
    """Llama in bf16 with an f32 softmax: B=2, Hq=8, Hkv=2, M=N=40, D=128."""
    return llama_block(torch.bfloat16)


@block("llama-dynamic")
def build_llama_dynamic():
    """Llama causal self-attention, dynamic sequence: B=2, Hq=8, Hkv=2, D=128."""
    return llama_block(dynamic={"hidden_states": {1: "sequence"}})


@block("llama-sdpa")
def build_llama_sdpa():
    """Llama through scaled_dot_product_attention: B=2, Hq=8, Hkv=2, M=N=40, D=128."""
    return llama_block(attention="sdpa")


def gemma2_block(layer_idx, make_mask, rotary_inputs=False):
    from transformers import masking_utils
    from transformers.models.gemma2 import modeling_gemma2 as gemma2
    config = gemma2.Gemma2Config(hidden_size=256, num_attention_heads=4, num_key_value_heads=2,
                                 head_dim=256, query_pre_attn_scalar=256, sliding_window=16,
                                 num_hidden_layers=2, attn_implementation="eager")
    mask = getattr(masking_utils, make_mask)
    return rotary_block(gemma2.Gemma2Attention(config, layer_idx),
                        gemma2.Gemma2RotaryEmbedding(config),
                        lambda x: mask(config, x, None, None),
                        10 * torch.randn(1, 40, 256),  # scores that the soft cap bends
                        rotary_inputs)


@block("gemma2")
def build_gemma2():
    """Gemma-2 global attention, soft cap 50: B=1, Hq=4, Hkv=2, M=N=40, D=256."""
    return gemma2_block(1, "create_causal_mask")


@block("gemma2-tosa", "gemma2-tflite")
def build_gemma2_tosa():
    """Gemma-2 global attention, soft cap 50, cos and sin as inputs: B=1, Hq=4, Hkv=2, M=N=40,
    D=256."""
    return gemma2_block(1, "create_causal_mask", rotary_inputs=True)


@block("gemma2-sliding")
def build_gemma2_sliding():
    """Gemma-2 sliding-window attention, window 16, soft cap 50: B=1, Hq=4, Hkv=2, M=N=40,
    D=256."""
    return gemma2_block(0, "create_sliding_window_causal_mask")


@block("gpt-oss")
def build_gpt_oss():
    """gpt-oss attention with one learned sink logit per head: B=1, Hq=8, Hkv=2, M=N=40, D=64."""
    from transformers.models.gpt_oss import modeling_gpt_oss as gpt_oss
    config = gpt_oss.GptOssConfig(hidden_size=256, num_attention_heads=8, num_key_value_heads=2,
                                  head_dim=64, num_hidden_layers=2, attn_implementation="eager")
    layer = gpt_oss.GptOssAttention(config, layer_idx=1)
    nn.init.normal_(layer.sinks)
    return rotary_block(layer, gpt_oss.GptOssRotaryEmbedding(config), causal_mask(config),
                        torch.randn(1, 40, 256))


@block("deepseek-v3")
def build_deepseek_v3():
    """DeepSeek-V3 latent attention: B=1, H=2, M=N=40, D=192 (128 + 64 rotary), Dv=128."""
    from transformers.models.deepseek_v3 import modeling_deepseek_v3 as deepseek
    config = deepseek.DeepseekV3Config(hidden_size=256, num_attention_heads=2,
                                       num_key_value_heads=2, q_lora_rank=64, kv_lora_rank=64,
                                       attn_implementation="eager")
    return rotary_block(deepseek.DeepseekV3Attention(config, layer_idx=0),
                        deepseek.DeepseekV3RotaryEmbedding(config), causal_mask(config),
                        torch.randn(1, 40, 256))


# Encoders: BERT, ViT, T5.

class BertLayer(nn.Module):
    """BERT self-attention with its output projection, residual and norm."""

    def __init__(self, config, make_mask):
        super().__init__()
        from transformers.models.bert import modeling_bert as bert
        self.layer = bert.BertAttention(config)
        self.make_mask = make_mask

    def forward(self, hidden_states, attention_mask):
        mask = self.make_mask(hidden_states, attention_mask)
        return self.layer(hidden_states, attention_mask=mask)[0]


def bert_config(attention="eager"):
    from transformers.models.bert import modeling_bert as bert
    return bert.BertConfig(hidden_size=256, num_attention_heads=4,
                           attn_implementation=attention)


def bert_padding_block(attention):
    from transformers.masking_utils import create_bidirectional_mask
    config = bert_config(attention)
    module = BertLayer(config, lambda x, mask: create_bidirectional_mask(config, x, mask))
    return TorchBlock(module, {"hidden_states": torch.randn(2, 40, 256),
                          "attention_mask": padding_mask(2, 40)})


@block("bert", "bert-tosa", "bert-tflite")
def build_bert():
    """BERT self-attention, additive key mask as input: B=2, H=4, M=N=40, D=64."""
    module = BertLayer(bert_config(), lambda x, mask: mask)
    additive = (1.0 - padding_mask(2, 40)[:, None, None].float()) * torch.finfo(torch.float32).min
    return TorchBlock(module, {"hidden_states": torch.randn(2, 40, 256),
                               "attention_mask": additive})


@block("bert-padding")
def build_bert_padding():
    """BERT self-attention, mask built from a {0,1} padding mask: B=2, H=4, M=N=40, D=64."""
    return bert_padding_block("eager")


@block("bert-sdpa")
def build_bert_sdpa():
    """BERT through scaled_dot_product_attention with a boolean mask: B=2, H=4, M=N=40, D=64."""
    return bert_padding_block("sdpa")


@block("vit", "vit-tosa")
def build_vit():
    """ViT-Tiny self-attention, no mask: B=1, H=3, M=N=197, D=64."""
    from transformers.models.vit import modeling_vit as vit
    config = vit.ViTConfig(hidden_size=192, num_attention_heads=3, attn_implementation="eager")
    return TorchBlock(MaskedLayer(vit.ViTAttention(config), lambda x: None),
                 {"hidden_states": torch.randn(1, 197, 192)})


class T5Layer(nn.Module):
    """T5 self-attention; a bias given as input comes from the model's first layer."""

    def __init__(self, has_bias):
        super().__init__()
        from transformers.models.t5 import modeling_t5 as t5
        config = t5.T5Config(d_model=256, d_kv=64, num_heads=4, attn_implementation="eager")
        self.layer = t5.T5Attention(config, has_relative_attention_bias=has_bias, layer_idx=0)

    def forward(self, hidden_states, position_bias=None):
        return self.layer(hidden_states, position_bias=position_bias)[0]


@block("t5")
def build_t5():
    """T5 encoder self-attention, relative bias from its table, no scale: B=2, H=4, M=N=40,
    D=64."""
    return TorchBlock(T5Layer(has_bias=True), {"hidden_states": torch.randn(2, 40, 256)})


@block("t5-later-layer", "t5-later-layer-tosa")
def build_t5_later_layer():
    """T5 encoder self-attention, relative bias as input, no scale: B=2, H=4, M=N=40, D=64."""
    return TorchBlock(T5Layer(has_bias=False), {"hidden_states": torch.randn(2, 40, 256),
                                                "position_bias": torch.randn(1, 4, 40, 40)})


@block("bloom")
def build_bloom():
    """BLOOM attention, ALiBi as input, added by baddbmm: B=2, H=4, M=N=40, D=64."""
    from transformers.models.bloom import modeling_bloom as bloom
    config = bloom.BloomConfig(hidden_size=256, n_head=4, attn_implementation="eager")
    make_mask = causal_mask(config)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = bloom.BloomAttention(config, layer_idx=0)

        def forward(self, hidden_states, alibi):
            return self.layer(hidden_states, hidden_states, alibi, make_mask(hidden_states))[0]
    alibi = bloom.build_alibi_tensor(torch.ones(2, 40, dtype=torch.long), 4, torch.float32)
    return TorchBlock(Layer(), {"hidden_states": torch.randn(2, 40, 256), "alibi": alibi})


@block("whisper-cross-attention")
def build_whisper_cross_attention():
    """Whisper decoder cross-attention, scale folded into Q: B=1, H=4, M=24, N=100, D=64."""
    from transformers.models.whisper import modeling_whisper as whisper
    config = whisper.WhisperConfig(d_model=256, attn_implementation="eager")

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = whisper.WhisperAttention(256, 4, layer_idx=0, config=config)

        def forward(self, hidden_states, encoder_states):
            return self.layer(hidden_states, key_value_states=encoder_states)[0]
    return TorchBlock(Layer(), {"hidden_states": torch.randn(1, 24, 256),
                                "encoder_states": torch.randn(1, 100, 256)})


@block("torch-multihead-attention", packages=())
def build_torch_multihead_attention():
    """torch.nn.MultiheadAttention with boolean padding mask, M != N: B=2, H=4, M=32, N=40,
    D=64."""
    torch.backends.mha.set_fastpath_enabled(False)  # one opaque operator otherwise

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.MultiheadAttention(256, 4, batch_first=True)

        def forward(self, query, memory, ignored_keys):
            return self.layer(query, memory, memory, key_padding_mask=ignored_keys)[0]
    return TorchBlock(Layer(), {"query": torch.randn(2, 32, 256),
                                "memory": torch.randn(2, 40, 256),
                                "ignored_keys": padding_mask(2, 40) == 0})


# Stable Diffusion.

def diffusers_attention(processor, **options):
    from diffusers.models import attention_processor
    return attention_processor.Attention(
        processor=getattr(attention_processor, processor)(), **options)


def cross_attention_block(processor, heads, head_dim, context_dim):
    channels = heads * head_dim
    module = diffusers_attention(processor, query_dim=channels, heads=heads, dim_head=head_dim,
                                 cross_attention_dim=context_dim)
    return TorchBlock(module, {"hidden_states": torch.randn(2, 64, channels),
                          "encoder_hidden_states": torch.randn(2, 77, context_dim)})


@block("sd-cross-attention", "sd-cross-attention-tosa",
       "sd-cross-attention-tflite", packages=("diffusers",))
def build_sd_cross_attention():
    """Stable Diffusion 2 UNet cross-attention: B=2, H=5, M=64, N=77, D=64."""
    return cross_attention_block("AttnProcessor", 5, 64, 1024)


@block("sd15-cross-attention", packages=("diffusers",))
def build_sd15_cross_attention():
    """Stable Diffusion 1.5 UNet cross-attention: B=2, H=8, M=64, N=77, D=40."""
    return cross_attention_block("AttnProcessor", 8, 40, 768)


@block("sd-cross-attention-sdpa", packages=("diffusers",))
def build_sd_cross_attention_sdpa():
    """Stable Diffusion 2 cross-attention through scaled_dot_product_attention: B=2, H=5, M=64, N=77,
    D=64."""
    return cross_attention_block("AttnProcessor2_0", 5, 64, 1024)


@block("sd-vae", "sd-vae-tflite", packages=("diffusers",))
def build_sd_vae():
    """Stable Diffusion VAE mid-block attention on an 8x8 image: B=1, H=1, M=N=64, D=512."""
    module = diffusers_attention("AttnProcessor", query_dim=512, heads=1, dim_head=512,
                                 norm_num_groups=32, eps=1e-6, bias=True,
                                 residual_connection=True, upcast_softmax=True,
                                 _from_deprecated_attn_block=True)
    return TorchBlock(module, {"hidden_states": torch.randn(1, 512, 8, 8)})


# JAX.

@block("jax-dot-product-attention", packages=(), route="jax")
def build_jax_dot_product_attention():
    """jax.nn.dot_product_attention, causal, BNHD layout: B=2, Hq=4, Hkv=2, M=N=48, D=64."""
    import jax
    return JaxBlock(lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True),
                    {"query": torch.randn(2, 48, 4, 64), "key": torch.randn(2, 48, 2, 64),
                     "value": torch.randn(2, 48, 2, 64)})


@block("jax-dot-product-attention-bias", packages=(), route="jax")
def build_jax_dot_product_attention_bias():
    """jax.nn.dot_product_attention with bias and boolean mask, BNHD layout: B=2, H=4, M=32,
    N=48, D=64."""
    import jax
    return JaxBlock(lambda q, k, v, bias, mask: jax.nn.dot_product_attention(q, k, v, bias, mask),
                    {"query": torch.randn(2, 32, 4, 64), "key": torch.randn(2, 48, 4, 64),
                     "value": torch.randn(2, 48, 4, 64), "bias": torch.randn(1, 4, 32, 48),
                     "mask": (padding_mask(2, 48) == 1)[:, None, None]})


def static_cache_inputs(rows, dtype):
    """Of a step that appends `rows` rows to caches of 96, at a position."""
    shapes = {"query": (2, 4, rows, 64), "key": (2, 2, rows, 64), "value": (2, 2, rows, 64),
              "key_cache": (2, 2, 96, 64), "value_cache": (2, 2, 96, 64)}
    return ({name: torch.randn(shape).half() for name, shape in shapes.items()} |
            {"position": torch.tensor(41, dtype=dtype)})


@block("jax-decode", packages=(), route="jax")
def build_jax_decode():
    """A decode step of a static cache by lax.dynamic_update_slice, f16: B=2, Hq=4, Hkv=2, M=1, N=96, D=64."""
    import jax
    import jax.numpy as jnp

    def decode(query, key, value, key_cache, value_cache, position):
        zero = jnp.zeros((), position.dtype)
        caches = [jax.lax.dynamic_update_slice(cache, new, (zero, zero, position, zero))
                  for cache, new in ((key_cache, key), (value_cache, value))]
        grouped = query.reshape(2, 2, 2, 64)
        scores = jnp.einsum("bhgd,bhnd->bhgn", grouped, caches[0], preferred_element_type=jnp.float32) / 8
        scores = jnp.where(jnp.arange(96) <= position, scores, -jnp.inf)
        weights = jax.nn.softmax(scores, axis=-1).astype(query.dtype)
        return jnp.einsum("bhgn,bhnd->bhgd", weights, caches[1]).reshape(query.shape), *caches
    return JaxBlock(decode, static_cache_inputs(1, torch.int32))


@block("jax-verify", packages=(), route="jax")
def build_jax_verify():
    """Three guessed tokens over a static cache, as jax-decode, each of which sees those before it: B=2, Hq=4, Hkv=2, M=3, N=96, D=64."""
    import jax
    import jax.numpy as jnp

    def verify(query, key, value, key_cache, value_cache, position):
        zero = jnp.zeros((), position.dtype)
        caches = [jax.lax.dynamic_update_slice(cache, new, (zero, zero, position, zero))
                  for cache, new in ((key_cache, key), (value_cache, value))]
        grouped = query.reshape(2, 2, 2, 3, 64)
        scores = jnp.einsum("bhgmd,bhnd->bhgmn", grouped, caches[0], preferred_element_type=jnp.float32) / 8
        scores = jnp.where(jnp.arange(96) <= position + jnp.arange(3)[:, None], scores, -jnp.inf)
        weights = jax.nn.softmax(scores, axis=-1).astype(query.dtype)
        return jnp.einsum("bhgmn,bhnd->bhgmd", weights, caches[1]).reshape(query.shape), *caches
    return JaxBlock(verify, static_cache_inputs(3, torch.int32))


class StaticCacheStep(nn.Module):
    """A decode step of a cache that is updated as by transformers' StaticCache."""

    def forward(self, query, key, value, key_cache, value_cache, position):
        at = position.reshape(1)
        keys, values = key_cache.index_copy(2, at, key), value_cache.index_copy(2, at, value)
        scores = query @ keys.repeat_interleave(2, dim=1).transpose(2, 3) / 8
        hidden = torch.arange(96) > position
        weights = torch.softmax(scores.float().masked_fill(hidden, float("-inf")), dim=-1)
        return weights.to(query.dtype) @ values.repeat_interleave(2, dim=1), keys, values


@block("torch-decode", packages=())
def build_torch_decode():
    """A decode step of a static cache by index_copy, f16: B=2, Hq=4, Hkv=2, M=1, N=96, D=64."""
    return TorchBlock(StaticCacheStep(), static_cache_inputs(1, torch.int64))


class CacheStep(nn.Module):
    """A decode step of a layer over the keys and values of a cache of transformers, which are arguments
    and, with the new rows, results."""

    def __init__(self, layer, make_cache, make_mask):
        super().__init__()
        self.layer = layer
        self.make_cache = make_cache
        self.make_mask = make_mask

    def forward(self, hidden_states, cos, sin, past_key, past_value, *past_length):
        cache = self.make_cache(past_key, past_value, *past_length)
        mask = self.make_mask(hidden_states, cache)
        output = self.layer(hidden_states, (cos, sin), mask, past_key_values=cache)[0]
        return output, cache.layers[0].keys, cache.layers[0].values


def cache_step(make_cache, past, make_mask=None, dynamic=None, buffer=None, **options):
    """A CacheStep of a Mistral layer, which is Llama's with a window, in f16: B=2, Hq=4, Hkv=2, D=64; `past` rows are there before,
    in a buffer with room for `buffer` ones, if there is one."""
    from transformers.masking_utils import create_causal_mask
    from transformers.models.mistral import modeling_mistral as mistral
    config = mistral.MistralConfig(hidden_size=256, num_attention_heads=4, num_key_value_heads=2, head_dim=64,
                                   attn_implementation="eager", **options)
    layer = mistral.MistralAttention(config, layer_idx=0).half()
    rotary = mistral.MistralRotaryEmbedding(config)
    hidden_states = torch.randn(2, 1, 256).half()
    cos, sin = rotary(hidden_states, torch.tensor([[past]]))
    inputs = {"hidden_states": hidden_states, "cos": cos, "sin": sin,
              "past_key": torch.randn(2, 2, buffer or past, 64).half(), "past_value": torch.randn(2, 2, buffer or past, 64).half()}
    if buffer:
        inputs["past_length"] = torch.tensor(past)
    make_mask = make_mask or create_causal_mask
    return TorchBlock(CacheStep(layer, make_cache, lambda x, cache: make_mask(config, x, None, cache)), inputs, dynamic or {})


def dynamic_cache(keys, values):
    from transformers import DynamicCache
    cache = DynamicCache()
    cache.update(keys, values, 0)
    return cache


@block("mistral-dynamic-cache")
def build_mistral_dynamic_cache():
    """A decode step of Mistral with transformers' DynamicCache, f16: B=2, Hq=4, Hkv=2, M=1, D=64, any number of keys before."""
    return cache_step(dynamic_cache, 41, dynamic={"past_key": {2: "past"}, "past_value": {2: "past"}}, sliding_window=None)


def sliding_cache(keys, values):
    """Of a window that is full."""
    from transformers.cache_utils import Cache, DynamicSlidingWindowLayer
    layer = DynamicSlidingWindowLayer(sliding_window=keys.shape[2] + 1)
    layer.lazy_initialization(keys, values)
    layer.keys, layer.values, layer.cumulative_length = keys, values, 4 * keys.shape[2]
    return Cache(layers=[layer])


@block("mistral-sliding-cache")
def build_mistral_sliding_cache():
    """A decode step of Mistral with transformers' cache of its window, which is full, f16: B=2, Hq=4, Hkv=2, M=1, N=96, D=64."""
    from transformers.masking_utils import create_sliding_window_causal_mask
    return cache_step(sliding_cache, 95, create_sliding_window_causal_mask, sliding_window=96)


def static_sliding_cache(keys, values, length=None):
    """Of a window, in a buffer: with `length` rows, which the layer knows as a number, too, or full."""
    from transformers.cache_utils import Cache, StaticSlidingWindowLayer
    layer = StaticSlidingWindowLayer(max_cache_len=keys.shape[2], sliding_window=keys.shape[2])
    layer.lazy_initialization(keys, values)
    # The layer writes into its buffers, the exported function has them as results.
    layer.keys, layer.values, layer.cumulative_length_int = keys.clone(), values.clone(), 4 * keys.shape[2]
    if length is not None:
        layer.cumulative_length, layer.cumulative_length_int = length.clone(), 41
    return Cache(layers=[layer])


@block("mistral-static-sliding-cache")
def build_mistral_static_sliding_cache():
    """A decode step of Mistral with transformers' StaticCache of its window, which is full, f16: B=2, Hq=4, Hkv=2, M=1, N=96, D=64."""
    from transformers.masking_utils import create_sliding_window_causal_mask
    return cache_step(static_sliding_cache, 96, create_sliding_window_causal_mask, sliding_window=96)


@block("mistral-static-sliding-cache-filling")
def build_mistral_static_sliding_cache_filling():
    """A decode step of Mistral with transformers' StaticCache of its window, of which 41 rows are there, f16: B=2, Hq=4, Hkv=2, M=1, N=96, D=64."""
    from transformers.masking_utils import create_sliding_window_causal_mask
    return cache_step(static_sliding_cache, 41, create_sliding_window_causal_mask, buffer=96, sliding_window=96)


@block("flax-multihead-attention", packages=("flax",), route="jax")
def build_flax_multihead_attention():
    """flax.linen.MultiHeadDotProductAttention, causal mask as input: B=2, H=4, M=N=40, D=64."""
    import flax.linen
    import jax
    layer = flax.linen.MultiHeadDotProductAttention(num_heads=4, qkv_features=256)
    hidden_states = torch.randn(2, 40, 256)
    mask = torch.ones(1, 1, 40, 40).tril().bool()
    variables = layer.init(jax.random.key(0), hidden_states.numpy())
    leaves, tree = jax.tree.flatten_with_path(variables["params"])
    weights = {"/".join(key.key for key in path): torch.randn(leaf.shape) * 0.06
               for path, leaf in leaves}

    def function(hidden_states, mask, *arrays):
        parameters = jax.tree.unflatten(tree, arrays)
        return layer.apply({"params": parameters}, hidden_states, mask=mask)
    return JaxBlock(function, {"hidden_states": hidden_states, "mask": mask} | weights)


# Whole models: two layers of each, with everything around the attentions.

class WholeModel(nn.Module):
    """A transformers model from embeddings to its last hidden state, without a cache."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, inputs_embeds, attention_mask):
        return self.model(inputs_embeds=inputs_embeds, attention_mask=attention_mask,
                          use_cache=False).last_hidden_state


def whole_model(model, length=48, batch=2):
    """A WholeModel on random embeddings of 128 channels, the prompts padded on the left as in generation."""
    return TorchBlock(WholeModel(model), {"inputs_embeds": torch.randn(batch, length, 128),
                                          "attention_mask": padding_mask(batch, length).flip(1)})


@block("gpt2-model")
def build_gpt2_model():
    """GPT-2, two layers: B=2, H=2, M=N=48, D=64."""
    from transformers.models.gpt2 import modeling_gpt2 as gpt2
    config = gpt2.GPT2Config(n_embd=128, n_head=2, n_layer=2, vocab_size=16, n_positions=64,
                             attn_implementation="eager")
    return whole_model(gpt2.GPT2Model(config))


@block("llama-model")
def build_llama_model():
    """Llama, two layers: B=2, Hq=4, Hkv=2, M=N=48, D=64."""
    from transformers.models.llama import modeling_llama as llama
    config = llama.LlamaConfig(hidden_size=128, num_attention_heads=4, num_key_value_heads=2, head_dim=64,
                               intermediate_size=256, num_hidden_layers=2, vocab_size=16,
                               attn_implementation="eager")
    return whole_model(llama.LlamaModel(config))


@block("gemma3-model")
def build_gemma3_model():
    """Gemma-3, one layer with a sliding window of 16 and one without: B=2, Hq=4, Hkv=2, M=N=48, D=64."""
    from transformers.models.gemma3 import modeling_gemma3 as gemma3
    config = gemma3.Gemma3TextConfig(hidden_size=128, num_attention_heads=4, num_key_value_heads=2, head_dim=64,
                                     intermediate_size=256, num_hidden_layers=2, vocab_size=16, sliding_window=16,
                                     layer_types=["sliding_attention", "full_attention"],
                                     attn_implementation="eager")
    return whole_model(gemma3.Gemma3TextModel(config))


class EncoderDecoder(nn.Module):
    """An encoder-decoder model from two embeddings to its last hidden state."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, inputs_embeds, decoder_inputs_embeds):
        return self.model(inputs_embeds=inputs_embeds, decoder_inputs_embeds=decoder_inputs_embeds,
                          use_cache=False).last_hidden_state


@block("t5-model")
def build_t5_model():
    """T5, two layers of encoder and decoder, six attentions: B=2, H=2, M=24, N=48, D=64."""
    from transformers.models.t5 import modeling_t5 as t5
    config = t5.T5Config(d_model=128, d_kv=64, d_ff=256, num_heads=2, num_layers=2, vocab_size=16,
                         attn_implementation="eager")
    return TorchBlock(EncoderDecoder(t5.T5Model(config)),
                      {"inputs_embeds": torch.randn(2, 48, 128),
                       "decoder_inputs_embeds": torch.randn(2, 24, 128)})


class Encoder(nn.Module):
    """A vision transformer from pixels to its last hidden state."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, pixel_values):
        return self.model(pixel_values).last_hidden_state


@block("vit-model")
def build_vit_model():
    """ViT, two layers, from pixels: B=2, H=2, M=N=65, D=64."""
    from transformers.models.vit import modeling_vit as vit
    config = vit.ViTConfig(hidden_size=128, num_attention_heads=2, intermediate_size=256, num_hidden_layers=2,
                           image_size=32, patch_size=4, attn_implementation="eager")
    return TorchBlock(Encoder(vit.ViTModel(config, add_pooling_layer=False)),
                      {"pixel_values": torch.randn(2, 3, 32, 32)})
