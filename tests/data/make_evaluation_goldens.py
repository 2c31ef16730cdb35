#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes evaluation_goldens.json beside this file: scored tables and what they say, worked out with
NumPy straight from the definitions (no sorting, no streaming, no formula shared with the program).

Areas under the ROC curve are shares of pairs (Mann and Whitney), average precision goes over the
distinct scores as scikit-learn's does, the interval of a paired difference is Newcombe's method 10
with Wilson's limits as roots of their quadratic, McNemar's p a sum of exact fractions.
"""
import fractions
import json
import math
import pathlib

import numpy as np

EPSILON = np.finfo(np.float64).eps


def rounded(probabilities):
    """As a scored table holds them: 9 significant digits."""
    return np.array([[float("%.9g" % value) for value in row] for row in probabilities])


def probabilities_of(generator, truth, classes, skill, step):
    logits = generator.normal(size=(len(truth), classes))
    logits[np.arange(len(truth)), truth % classes] += skill
    values = np.exp(logits)
    values /= values.sum(axis=1, keepdims=True)
    if step:  # few distinct values: many ties
        values = np.round(values / step) * step
    return rounded(values)


def auc(positive, score):
    wins = score[positive][:, None] - score[~positive][None, :]
    return float((np.sum(wins > 0) + np.sum(wins == 0) / 2) / wins.size) if wins.size else None


def average_precision(positive, score):
    if not positive.any():
        return None
    total, before = 0.0, 0.0
    for threshold in sorted(set(score), reverse=True):
        chosen = score >= threshold
        recall = np.sum(positive & chosen) / np.sum(positive)
        total += (recall - before) * np.sum(positive & chosen) / np.sum(chosen)
        before = recall
    return float(total)


def mean(values):
    kept = [value for value in values if value is not None]
    return float(np.mean(kept)) if kept else None


def ratio(part, whole):
    return float(part) / float(whole) if whole else None


def calibration(confidence, right):
    bins, error, largest = [], 0.0, 0.0
    for i in range(15):
        inside = (confidence > i / 15) & (confidence <= (i + 1) / 15)
        if i == 0:
            inside |= confidence == 0
        count = int(inside.sum())
        row = {"count": count, "mean_confidence": None, "accuracy": None}
        if count:
            row["mean_confidence"] = float(confidence[inside].mean())
            row["accuracy"] = float(right[inside].mean())
            gap = abs(row["mean_confidence"] - row["accuracy"])
            error += gap * count / len(confidence)
            largest = max(largest, gap)
        bins.append(row)
    return bins, float(error), float(largest)


def expectation(truth, probabilities, classes):
    n = len(truth)
    predicted = np.argmax(probabilities, axis=1)
    right = predicted == truth
    known = truth < classes
    labels = max(classes, int(truth.max()) + 1)
    confusion = np.zeros((labels, labels), dtype=int)
    for t, p in zip(truth, predicted):
        confusion[t, p] += 1
    support, chosen, hits = confusion.sum(axis=1), confusion.sum(axis=0), np.diag(confusion)
    precision = [ratio(hits[i], chosen[i]) for i in range(labels)]
    recall = [ratio(hits[i], support[i]) for i in range(labels)]
    f1 = [ratio(2 * hits[i], support[i] + chosen[i]) for i in range(labels)]
    order = np.argsort(-probabilities, axis=1, kind="stable")
    top5 = [t in row[:min(5, classes)] for t, row in zip(truth, order)]
    onehot = np.zeros((n, classes))
    onehot[np.arange(n)[known], truth[known]] = 1
    clipped = np.clip(probabilities, EPSILON, 1 - EPSILON)
    loss = float(-np.log(clipped[np.arange(n), truth]).mean()) if known.all() else None
    brier = float((((probabilities - onehot) ** 2).sum(axis=1) + ~known).mean())
    bins, error, largest = calibration(probabilities.max(axis=1), right)
    areas = [auc(onehot[:, i] == 1, probabilities[:, i]) for i in range(classes)]
    precisions = [average_precision(onehot[:, i] == 1, probabilities[:, i]) for i in range(classes)]
    return {
        "figures": {
            "Overall_Accuracy": float(right.mean()), "Correct": int(right.sum()), "Total": n,
            "Top_5_Accuracy": float(np.mean(top5)), "Micro_Precision": float(right.mean()),
            "Macro_Precision": mean(precision), "Micro_Recall": float(right.mean()), "Macro_Recall": mean(recall),
            "Micro_F1": float(right.mean()), "Macro_F1": mean(f1), "Log_Loss": loss, "Brier_Score": brier,
            "Expected_Calibration_Error": error, "Maximum_Calibration_Error": largest,
            "Micro_AUC": auc(onehot.ravel() == 1, probabilities.ravel()), "Macro_AUC": mean(areas),
            "Micro_Average_Precision": average_precision(onehot.ravel() == 1, probabilities.ravel()),
            "Macro_Average_Precision": mean(precisions)},
        "classes": [{"precision": precision[i], "recall": recall[i], "f1": f1[i], "support": int(support[i]),
                     "auc": areas[i] if i < classes else None,
                     "average_precision": precisions[i] if i < classes else None} for i in range(labels)],
        "confusion_matrix": confusion.tolist(), "bins": bins}


def table(name, seed, n, classes, present, skill, step=0.0):
    """`present`: the true classes that occur; one of `classes` or more is unknown to the model."""
    generator = np.random.default_rng(seed)
    truth = np.array([present[i % len(present)] for i in range(n)])
    probabilities = probabilities_of(generator, truth, classes, skill, step)
    return {"name": name, "classes": classes, "truth": truth.tolist(), "probabilities": probabilities.tolist(),
            "expect": expectation(truth, probabilities, classes)}


Z = 1.959963984540054


def wilson(hits, n):
    """Roots of (share - p)^2 = z^2 p (1 - p) / n."""
    share = hits / n
    low, high = sorted(np.roots([1 + Z * Z / n, -(2 * share + Z * Z / n), share * share]).real)
    return low, high


def newcombe(a, b, c, d):
    """Second (a + c) less first (a + b) of n pairs: both right, first only, second only, neither."""
    n = a + b + c + d
    p1, p2 = (a + c) / n, (a + b) / n
    (l1, u1), (l2, u2) = wilson(a + c, n), wilson(a + b, n)
    product = (a + b) * (c + d) * (a + c) * (b + d)
    excess = a * d - b * c
    if excess > 0:
        excess = max(excess - n / 2, 0)
    phi = excess / math.sqrt(product) if product else 0
    lower = math.sqrt((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2)
    upper = math.sqrt((p2 - l2) ** 2 - 2 * phi * (p2 - l2) * (u1 - p1) + (u1 - p1) ** 2)
    return p1 - p2, p1 - p2 - lower, p1 - p2 + upper


def mcnemar(b, c):
    tail = sum(fractions.Fraction(math.comb(b + c, k), 2 ** (b + c)) for k in range(min(b, c) + 1))
    return float(min(fractions.Fraction(1), 2 * tail))


def pair(a, b, c, d):
    difference, lower, upper = newcombe(a, b, c, d)
    return {"counts": [a, b, c, d], "difference": difference, "lower": lower, "upper": upper, "p": mcnemar(b, c)}


def main():
    goldens = {
        "tables": [table("four classes", 1, 60, 4, [0, 1, 2, 3], 1.5),
                   table("seven classes, two absent", 2, 70, 7, [0, 1, 3, 5, 6], 1.0),
                   table("many ties", 3, 80, 3, [0, 1, 2, 2], 1.0, 0.1),
                   table("two classes, sure", 4, 40, 2, [0, 1], 30.0),
                   table("a category the model lacks", 5, 50, 3, [0, 1, 2, 3, 2], 1.5),
                   table("one class only", 6, 20, 3, [1], 0.5)],
        "pairs": [pair(*counts) for counts in ((36, 12, 2, 0), (20, 12, 2, 16), (43, 0, 7, 0), (0, 5, 3, 0), (10, 0, 0, 0),
                                               (800, 61, 84, 55), (53, 0, 0, 1), (900, 700, 300, 100))]}
    target = pathlib.Path(__file__).with_name("evaluation_goldens.json")
    target.write_text(json.dumps(goldens) + "\n")
    print(target)


if __name__ == "__main__":
    main()
