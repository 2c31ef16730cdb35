// SPDX-License-Identifier: GPL-3.0-or-later
// float32 passes of a network here against float64 passes of torchvision's from the same weights.
#pragma once

#include <QJsonObject>
#include <QString>

namespace tw::test {

/// tests/data/network_goldens.json by network; tests/data/make_network_goldens.py writes it.
QJsonObject networkGoldens();
/// Logits in evaluation (of two sizes) and in training, gradients of every parameter and running statistics after three
/// training passes, within the tolerances; the golden logits must say something too. The first thing that is
/// wrong, else empty. Prints which part of each tolerance is used.
QString parityProblem(const QString &name, const QJsonObject &golden);

/// Adds the column "name" and a row for each network: the residual ones, which take most of the time and so
/// have a program of their own, or all others.
void addParityRows(bool residual);

} // namespace tw::test
