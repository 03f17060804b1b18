# SPDX-License-Identifier: Apache-2.0
"""Transformers: its Flax models (releases before 5), each from a small configuration."""

import functools
import inspect

import jax
import jax.numpy as jnp
import transformers as hf

from libraries.common import Program, f32, i32, mean_square, train_step


@functools.wraps(jnp.clip)
def clip(x, min=None, max=None, *, a_min=None, a_max=None, clip=jnp.clip):
    """T5 still names the bounds as older releases of JAX did."""
    return clip(x, a_min if min is None else min, a_max if max is None else max)


jnp.clip = clip
TEXT = dict(
    vocab_size=99,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=64,
    max_position_embeddings=64,
)
SEQUENCE = dict(
    vocab_size=99,
    d_model=32,
    encoder_layers=2,
    decoder_layers=2,
    encoder_attention_heads=4,
    decoder_attention_heads=4,
    encoder_ffn_dim=64,
    decoder_ffn_dim=64,
    max_position_embeddings=64,
)
T5 = dict(vocab_size=99, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0)
IMAGE = dict(
    hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=16, patch_size=4
)
IDS = dict(input_ids=i32(2, 16))
BOTH = dict(input_ids=i32(2, 16), decoder_input_ids=i32(2, 8))
PIXELS = dict(pixel_values=f32(2, 3, 16, 16))

# Name: (model, configuration, its numbers, inputs).
MODELS = dict(
    bert=("FlaxBertForMaskedLM", "BertConfig", TEXT, IDS),
    bert_classes=("FlaxBertForSequenceClassification", "BertConfig", TEXT, IDS),
    roberta=("FlaxRobertaForQuestionAnswering", "RobertaConfig", TEXT, IDS),
    electra=("FlaxElectraForPreTraining", "ElectraConfig", {**TEXT, "embedding_size": 16}, IDS),
    albert=("FlaxAlbertForMaskedLM", "AlbertConfig", {**TEXT, "embedding_size": 16}, IDS),
    distilbert=(
        "FlaxDistilBertForMaskedLM",
        "DistilBertConfig",
        dict(vocab_size=99, dim=32, n_layers=2, n_heads=4, hidden_dim=64),
        IDS,
    ),
    roformer=("FlaxRoFormerForMaskedLM", "RoFormerConfig", TEXT, IDS),
    big_bird=("FlaxBigBirdForMaskedLM", "BigBirdConfig", {**TEXT, "attention_type": "original_full"}, IDS),
    big_bird_sparse=(
        "FlaxBigBirdForMaskedLM",
        "BigBirdConfig",
        {**TEXT, "block_size": 4, "num_random_blocks": 2},
        dict(input_ids=i32(1, 64)),
    ),
    gpt2=(
        "FlaxGPT2LMHeadModel",
        "GPT2Config",
        dict(vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64),
        IDS,
    ),
    gpt_neo=(
        "FlaxGPTNeoForCausalLM",
        "GPTNeoConfig",
        dict(
            vocab_size=99,
            hidden_size=32,
            num_layers=2,
            num_heads=4,
            attention_types=[[["global", "local"], 1]],
            window_size=4,
            max_position_embeddings=64,
        ),
        IDS,
    ),
    gptj=(
        "FlaxGPTJForCausalLM",
        "GPTJConfig",
        dict(vocab_size=99, n_embd=32, n_layer=2, n_head=4, rotary_dim=4, n_positions=64),
        IDS,
    ),
    opt=(
        "FlaxOPTForCausalLM",
        "OPTConfig",
        dict(
            vocab_size=99,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            ffn_dim=64,
            max_position_embeddings=64,
            word_embed_proj_dim=32,
        ),
        IDS,
    ),
    bloom=("FlaxBloomForCausalLM", "BloomConfig", dict(vocab_size=99, hidden_size=32, n_layer=2, n_head=4), IDS),
    xglm=(
        "FlaxXGLMForCausalLM",
        "XGLMConfig",
        dict(vocab_size=99, d_model=32, ffn_dim=64, num_layers=2, attention_heads=4, max_position_embeddings=64),
        IDS,
    ),
    llama=("FlaxLlamaForCausalLM", "LlamaConfig", TEXT, IDS),
    mistral=("FlaxMistralForCausalLM", "MistralConfig", {**TEXT, "num_key_value_heads": 2, "sliding_window": 8}, IDS),
    gemma=("FlaxGemmaForCausalLM", "GemmaConfig", {**TEXT, "num_key_value_heads": 2, "head_dim": 8}, IDS),
    t5=("FlaxT5ForConditionalGeneration", "T5Config", T5, BOTH),
    mt5=("FlaxMT5ForConditionalGeneration", "MT5Config", {**T5, "feed_forward_proj": "gated-gelu"}, BOTH),
    long_t5=(
        "FlaxLongT5ForConditionalGeneration",
        "LongT5Config",
        {**T5, "local_radius": 3, "encoder_attention_type": "local"},
        BOTH,
    ),
    bart=("FlaxBartForConditionalGeneration", "BartConfig", SEQUENCE, BOTH),
    mbart=("FlaxMBartForConditionalGeneration", "MBartConfig", SEQUENCE, BOTH),
    pegasus=("FlaxPegasusForConditionalGeneration", "PegasusConfig", SEQUENCE, BOTH),
    marian=("FlaxMarianMTModel", "MarianConfig", {**SEQUENCE, "pad_token_id": 1}, BOTH),
    blenderbot=("FlaxBlenderbotForConditionalGeneration", "BlenderbotConfig", SEQUENCE, BOTH),
    whisper=(
        "FlaxWhisperForConditionalGeneration",
        "WhisperConfig",
        dict(
            vocab_size=99,
            d_model=32,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=64,
            decoder_ffn_dim=64,
            num_mel_bins=8,
            max_source_positions=20,
            max_target_positions=16,
            pad_token_id=0,
            bos_token_id=0,
            eos_token_id=0,
            decoder_start_token_id=0,
            suppress_tokens=None,
            begin_suppress_tokens=None,
        ),
        dict(input_features=f32(2, 8, 40), decoder_input_ids=i32(2, 6)),
    ),
    wav2vec2=(
        "FlaxWav2Vec2ForCTC",
        "Wav2Vec2Config",
        dict(
            vocab_size=32,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=64,
            conv_dim=(16, 16),
            do_stable_layer_norm=True,
            conv_stride=(4, 4),
            conv_kernel=(8, 8),
            num_conv_pos_embeddings=8,
            num_conv_pos_embedding_groups=2,
            feat_extract_norm="layer",
        ),
        dict(input_values=f32(2, 1024)),
    ),
    vit=("FlaxViTForImageClassification", "ViTConfig", IMAGE, PIXELS),
    beit=("FlaxBeitForImageClassification", "BeitConfig", {**IMAGE, "vocab_size": 99}, PIXELS),
    dinov2=("FlaxDinov2ForImageClassification", "Dinov2Config", {**IMAGE, "image_size": 16}, PIXELS),
    resnet=(
        "FlaxResNetForImageClassification",
        "ResNetConfig",
        dict(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 2]),
        dict(pixel_values=f32(2, 3, 32, 32)),
    ),
    regnet=(
        "FlaxRegNetForImageClassification",
        "RegNetConfig",
        dict(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], groups_width=8),
        dict(pixel_values=f32(2, 3, 32, 32)),
    ),
    clip=(
        "FlaxCLIPModel",
        "CLIPConfig",
        dict(text_config=TEXT, vision_config=IMAGE, projection_dim=16),
        dict(**IDS, **PIXELS),
    ),
)


@functools.cache
def built(name):
    """The model, and the shapes of its parameters."""
    model, config, numbers, inputs = MODELS[name]
    config = getattr(hf, config)(**numbers)
    options = dict(input_shape=inputs["input_ids"].shape) if name == "big_bird_sparse" else {}
    made = getattr(hf, model)(config, _do_init=False, **options)
    return made, made.params_shape_tree, inputs


def plain(params):
    """Without the wrapper of some models."""
    return jax.tree.map(lambda s: jax.ShapeDtypeStruct(s.shape, s.dtype), dict(params))


def apply(model, names, params, *values):
    still = dict(train=False) if "train" in inspect.signature(model.__call__).parameters else {}
    done = model(**dict(zip(names, values)), params=params, **still)
    return jax.tree.leaves(
        tuple(v for k, v in done.items() if "logits" in k or k in ("last_hidden_state", "pooler_output"))
    )


def infer(name):
    model, params, inputs = built(name)
    return Program(functools.partial(apply, model, list(inputs)), (plain(params), *inputs.values()))


def train(name, donate=True, again=False):
    model, params, inputs = built(name)
    forward = functools.partial(apply, model, list(inputs))
    forward = jax.checkpoint(forward) if again else forward
    loss = lambda params, *values: mean_square(forward(params, *values))
    return train_step(loss, plain(params), tuple(inputs.values()), donate=donate)


def generate(name, **options):
    """Decoding in a loop with a cache."""
    model, params, inputs = built(name)
    options = dict(max_length=24, pad_token_id=0, eos_token_id=1, **options)
    run = lambda params, ids: model.generate(ids, params=params, **options).sequences
    return Program(run, (plain(params), inputs["input_ids"]))


PROGRAMS = {f"{name}_infer": functools.partial(infer, name) for name in MODELS}
PROGRAMS |= {
    f"{name}_train": functools.partial(train, name)
    for name in MODELS
    if name
    in (
        "bert",
        "albert",
        "electra",
        "gpt2",
        "gpt_neo",
        "opt",
        "llama",
        "mistral",
        "t5",
        "bart",
        "vit",
        "wav2vec2",
        "clip",
        "resnet",
        "big_bird_sparse",
    )
}
PROGRAMS |= {f"{name}_kept": functools.partial(train, name, donate=False) for name in ("bert", "gpt2", "t5")}
PROGRAMS |= {f"{name}_again": functools.partial(train, name, again=True) for name in ("bert", "llama", "vit")}
PROGRAMS |= {
    f"{name}_greedy": functools.partial(generate, name, do_sample=False)
    for name in ("gpt2", "llama", "t5", "bart", "opt")
}
PROGRAMS |= {f"{name}_beam": functools.partial(generate, name, num_beams=3) for name in ("gpt2", "t5")}
