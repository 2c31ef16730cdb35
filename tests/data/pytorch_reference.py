#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains what tst_pytorchinterop trained, with PyTorch, and prints how far apart the weights are.

    train FOLDER   case.json, initial.pth, result.pth, images (IDX) in FOLDER
    fresh FOLDER   case.json, initial.pth: weights drawn from a seed
Prints one JSON object. Needs torch; a residual network needs torchvision too.
"""
import json
import math
import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional as F


class SmallCnn(nn.Module):
    def __init__(self, classes, channels, size):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.fc1 = nn.Linear(64 * (size // 4) ** 2, 128)
        self.fc2 = nn.Linear(128, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


class Mlp(nn.Module):
    def __init__(self, classes, channels, size):
        super().__init__()
        self.fc1 = nn.Linear(channels * size * size, 10)
        self.fc2 = nn.Linear(10, classes)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def build(case):
    if case["architecture"] == "small_cnn":
        return SmallCnn(case["classes"], case["channels"], case["size"])
    if case["architecture"] == "mlp":
        return Mlp(case["classes"], case["channels"], case["size"])
    import torchvision
    return getattr(torchvision.models, case["architecture"])(num_classes=case["classes"])


def load_images(case, folder):
    count, size = len(case["labels"]), case["size"]
    data = (folder / case["images"]).read_bytes()[16:]
    pixels = torch.frombuffer(bytearray(data), dtype=torch.uint8).reshape(count, 1, size, size)
    images = (pixels.float() / 255 - 0.5) / 0.5
    return images.expand(-1, case["channels"], -1, -1).contiguous(), torch.tensor(case["labels"])


def learning_rate(case, step, total):
    lr, end = case["learning_rate"], case["end_learning_rate"]
    if case["schedule"] == "cosine":
        return end + (lr - end) * (1 + math.cos(math.pi * step / total)) / 2
    if case["schedule"] == "constant":
        return lr
    return end + (lr - end) * (1 - step / total) ** case["power"]


def make_optimizer(case, parameters):
    options = {"lr": case["learning_rate"], "weight_decay": case["weight_decay"]}
    if case["optimizer"] == "sgd":
        return torch.optim.SGD(parameters, momentum=case["momentum"], nesterov=case["nesterov"], **options)
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[case["optimizer"]]
    return kind(parameters, betas=(case["beta1"], case["beta2"]), **options)


def class_weights(case, labels, dtype):
    """scikit-learn's "balanced": n / (K n_k)."""
    if not case["balanced"]:
        return None
    counts = torch.bincount(labels, minlength=case["classes"])
    return (len(labels) / (case["classes"] * counts)).to(dtype)


def largest_difference(ours, theirs):
    assert list(ours) == list(theirs), "the names differ"
    return max(((ours[k].double() - theirs[k].double()).abs() / (1 + theirs[k].double().abs())).max().item()
               for k in ours)


def run_steps(case, folder, dtype):
    """Losses, validation loss and final state of the case's steps, computed in `dtype`."""
    model = build(case)
    model.load_state_dict(torch.load(folder / "initial.pth", weights_only=True), strict=True)
    model = model.to(dtype)
    if case["head"]:  # all else keeps its values: no gradients, and statistics as they are
        model.eval()
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(name.startswith(case["head"]))
    images, labels = load_images(case, folder)
    images = images.to(dtype)
    optimizer = make_optimizer(case, [parameter for parameter in model.parameters() if parameter.requires_grad])
    weights = class_weights(case, labels, dtype)
    # With accumulation a step sees its batches as one: without batch norm that is the same.
    groups = torch.tensor(case["order"]).split(case["batch_size"] * case["accumulation"])
    losses = []
    for step, batch in enumerate(groups):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(case, step, len(groups))
        loss = F.cross_entropy(model(images[batch]), labels[batch], weight=weights,
                               label_smoothing=case["label_smoothing"])
        optimizer.zero_grad()
        loss.backward()
        if case["clip"] > 0:
            nn.utils.clip_grad_norm_(model.parameters(), case["clip"])
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        validation = F.cross_entropy(model(images), labels).item()
    return losses, validation, model.state_dict()


def train(case, folder):
    losses, validation, state = run_steps(case, folder, torch.float32)
    exact_losses, exact_validation, exact_state = run_steps(case, folder, torch.float64)
    result = torch.load(folder / "result.pth", weights_only=True)
    # How far float32 itself is from float64: batch norm over few values amplifies last digits.
    rounding = max([largest_difference(state, exact_state), abs(validation - exact_validation)]
                   + [abs(a - b) for a, b in zip(losses, exact_losses)])
    return {"difference": largest_difference(result, state), "rounding": rounding, "losses": losses,
            "val_loss": validation}


def fresh(case, folder):
    torch.manual_seed(case["seed"])
    model = build(case)
    initial = torch.load(folder / "initial.pth", weights_only=True)
    return {"difference": largest_difference(initial, model.state_dict())}


if __name__ == "__main__":
    torch.set_num_threads(1)
    print("ready", flush=True)
    for line in sys.stdin:
        what, _, place = line.rstrip("\n").partition(" ")
        place = pathlib.Path(place)
        try:
            answer = {"train": train, "fresh": fresh}[what](json.loads((place / "case.json").read_text()), place)
        except Exception as error:  # told to the test, which goes on with the next case
            answer = {"error": repr(error)}
        print(json.dumps(answer), flush=True)
