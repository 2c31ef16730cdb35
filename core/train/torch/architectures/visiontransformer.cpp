// SPDX-License-Identifier: GPL-3.0-or-later
// Vision transformer (Dosovitskiy et al., arXiv:2010.11929) with torchvision's parameter names, layer
// order and initialisation.
#include "core/train/torch/architecturelist.h"
#include "core/train/torch/blocks.h"
#include "core/train/torch/layernorm.h"
#include "core/train/torch/layers.h"

#include <array>
#include <cmath>

namespace tw {

namespace visiontransformer {

struct Variant
{
    const char *name;
    int patch; ///< pixels of a patch's edge
};

constexpr std::array<Variant, 2> variants{{{"vit_b_16", 16}, {"vit_b_32", 32}}};

constexpr int layers = 12, heads = 12, width = 768, hiddenWidth = 3072;
constexpr int usualImage = 224, maximumImage = 1 << 12;
constexpr double positionDeviation = 0.02, hiddenBiasDeviation = 1e-6;

struct Options
{
    int patch = 16, image = usualImage, classes = 1000;
    double dropout = 0, attentionDropout = 0;
    std::int64_t tokens() const { return std::int64_t(image / patch) * (image / patch) + 1; }
};

/// torch.nn.MultiheadAttention of one sequence with itself, batch first: N×L×width → N×L×width.
class SelfAttention : public Module
{
public:
    explicit SelfAttention(double dropout)
        : m_dropout(dropout), m_inWeight(addParameter("in_proj_weight", {3 * width, width})),
          m_inBias(addParameter("in_proj_bias", {3 * width})), m_out(addChild<Linear>("out_proj", width, width))
    {
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        const std::int64_t pictures = input.size(0), tokens = input.size(1);
        if (input.is_meta()) {
            addMultiplyAdds(pictures * tokens * (m_inWeight.numel() + 2 * tokens * width));
            return m_out.forward(input);
        }
        const at::Tensor all = at::linear(input, m_inWeight, m_inBias)
                                   .view({pictures, tokens, 3, heads, width / heads})
                                   .permute({2, 0, 3, 1, 4});
        const at::Tensor mixed = at::scaled_dot_product_attention(all.select(0, 0), all.select(0, 1), all.select(0, 2),
                                                                  {}, isTraining() ? m_dropout : 0.0);
        return m_out.forward(mixed.transpose(1, 2).reshape({pictures, tokens, width}));
    }
    void initialise(at::Generator &generator) override
    {
        Module::initialise(generator);
        drawXavierUniform(m_inWeight, generator);
        c10::NoGradGuard noGrad;
        m_inBias.zero_();
        m_out.zeroBias();
    }

private:
    double m_dropout;
    at::Tensor m_inWeight, m_inBias;
    Linear &m_out;
};

/// The names are the places in torchvision's sequence of layers.
class Mlp : public Module
{
public:
    explicit Mlp(double dropout)
        : m_first(addChild<Linear>("0", width, hiddenWidth)), m_dropout1(addChild<Dropout>("2", dropout)),
          m_second(addChild<Linear>("3", hiddenWidth, width)), m_dropout2(addChild<Dropout>("4", dropout))
    {
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        const at::Tensor hidden = m_dropout1.forward(at::gelu(m_first.forward(input)));
        return m_dropout2.forward(m_second.forward(hidden));
    }
    void initialise(at::Generator &generator) override
    {
        Module::initialise(generator);
        c10::NoGradGuard noGrad;
        for (Linear *layer : {&m_first, &m_second}) {
            const std::vector<at::Tensor> parameters = layer->parameters();
            drawXavierUniform(parameters.at(0), generator);
            parameters.at(1).normal_(0, hiddenBiasDeviation, generator);
        }
    }

private:
    Linear &m_first;
    Dropout &m_dropout1;
    Linear &m_second;
    Dropout &m_dropout2;
};

class EncoderLayer : public Module
{
public:
    explicit EncoderLayer(const Options &options)
        : m_norm1(addChild<LayerNorm>("ln_1", width)),
          m_attention(addChild<SelfAttention>("self_attention", options.attentionDropout)),
          m_dropout(addChild<Dropout>("dropout", options.dropout)), m_norm2(addChild<LayerNorm>("ln_2", width)),
          m_mlp(addChild<Mlp>("mlp", options.dropout))
    {
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        const at::Tensor x = m_dropout.forward(m_attention.forward(m_norm1.forward(input))) + input;
        return x + m_mlp.forward(m_norm2.forward(x));
    }

private:
    LayerNorm &m_norm1;
    SelfAttention &m_attention;
    Dropout &m_dropout;
    LayerNorm &m_norm2;
    Mlp &m_mlp;
};

class Encoder : public Module
{
public:
    explicit Encoder(const Options &options)
        : m_positions(addParameter("pos_embedding", {1, options.tokens(), width})),
          m_dropout(addChild<Dropout>("dropout", options.dropout)),
          m_layers(addChild<EncoderLayers>("layers", options)), m_norm(addChild<LayerNorm>("ln", width))
    {
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        return m_norm.forward(m_layers.forward(m_dropout.forward(input + m_positions)));
    }
    void initialise(at::Generator &generator) override
    {
        c10::NoGradGuard noGrad;
        m_positions.normal_(0, positionDeviation, generator);
        Module::initialise(generator);
    }

private:
    class EncoderLayers : public Module
    {
    public:
        explicit EncoderLayers(const Options &options)
        {
            for (int i = 0; i < layers; ++i)
                addChild<EncoderLayer>("encoder_layer_" + std::to_string(i), options);
        }
        at::Tensor forward(const at::Tensor &input) override
        {
            at::Tensor x = input;
            for (const auto &child : children())
                x = child.second->forward(x);
            return x;
        }
    };

    at::Tensor m_positions;
    Dropout &m_dropout;
    EncoderLayers &m_layers;
    LayerNorm &m_norm;
};

class Heads : public Module
{
public:
    explicit Heads(int classes) : m_head(addChild<Linear>("head", width, classes)) {}
    at::Tensor forward(const at::Tensor &input) override { return m_head.forward(input); }

private:
    Linear &m_head;
};

class VisionTransformer : public Network
{
public:
    explicit VisionTransformer(const Options &options)
        : m_image(options.image), m_classToken(addParameter("class_token", {1, 1, width})),
          m_patches(addChild<Conv2d>("conv_proj", 3, width, options.patch, Conv2d::Options{.stride = options.patch})),
          m_encoder(addChild<Encoder>("encoder", options)), m_heads(addChild<Heads>("heads", options.classes))
    {
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        TORCH_CHECK(input.size(2) == m_image && input.size(3) == m_image, "the network reads pictures of ", m_image,
                    " x ", m_image, " pixels only");
        const at::Tensor patches = m_patches.forward(input).flatten(2).transpose(1, 2);
        const at::Tensor tokens = at::cat({m_classToken.expand({input.size(0), -1, -1}), patches}, 1);
        return m_heads.forward(m_encoder.forward(tokens).select(1, 0));
    }
    void initialise(at::Generator &generator) override
    {
        Module::initialise(generator);
        c10::NoGradGuard noGrad;
        m_classToken.zero_();
        const std::vector<at::Tensor> projection = m_patches.parameters();
        drawTruncatedNormal(projection.at(0), std::sqrt(1.0 / double(projection.at(0)[0].numel())), generator);
        projection.at(1).zero_();
        for (at::Tensor &head : m_heads.parameters())
            head.zero_();
    }
    std::string headPrefix() const override { return "heads.head."; }

private:
    std::int64_t m_image;
    at::Tensor m_classToken;
    Conv2d &m_patches;
    Encoder &m_encoder;
    Heads &m_heads;
};

/// The edge of the pictures that the positions are for: 1 and a square number of patches.
std::optional<QJsonObject> argumentsOf(const Variant &variant, const StateDict &weights)
{
    for (const TensorBlob &blob : weights) {
        if (blob.name != "encoder.pos_embedding" || blob.shape.size() != 3)
            continue;
        constexpr std::int64_t most = maximumImage;
        const std::int64_t patches = std::min(blob.shape[1] - 1, most * most);
        const auto edge = std::int64_t(std::llround(std::sqrt(double(std::max<std::int64_t>(patches, 0)))));
        if (edge < 1 || edge * edge != blob.shape[1] - 1 || edge * variant.patch > most)
            return std::nullopt;
        if (edge * variant.patch == usualImage)
            return QJsonObject();
        return QJsonObject{{QStringLiteral("image_size"), qint64(edge * variant.patch)}};
    }
    return QJsonObject();
}

/// torchvision's files of 2022 name the dense layers of a block otherwise.
std::string currentName(const std::string &name)
{
    for (const auto &[old, current] :
         {std::pair(".mlp.linear_1.", ".mlp.0."), std::pair(".mlp.linear_2.", ".mlp.3.")}) {
        if (const std::size_t at = name.find(old); at != std::string::npos)
            return std::string(name).replace(at, std::char_traits<char>::length(old), current);
    }
    return name;
}

Result<std::unique_ptr<Network>> make(const Variant &variant, const ModelConfig &config)
{
    NetworkArguments arguments(config);
    Options options;
    options.patch = variant.patch;
    options.classes = arguments.integer("num_classes", 1000, 1, 1 << 20);
    options.image = arguments.integer("image_size", usualImage, variant.patch, maximumImage, variant.patch);
    options.dropout = arguments.number("dropout", 0, 0, 1);
    options.attentionDropout = arguments.number("attention_dropout", 0, 0, 1);
    TW_TRY(arguments.finish());
    return std::unique_ptr<Network>(std::make_unique<VisionTransformer>(options));
}

} // namespace visiontransformer

void registerArchitectures_visiontransformer(ArchitectureList &list)
{
    for (const visiontransformer::Variant &variant : visiontransformer::variants) {
        Architecture architecture;
        architecture.name = QString::fromLatin1(variant.name);
        architecture.channelsLast = false;
        architecture.squareInput = true;
        architecture.minimumSize = variant.patch;
        architecture.make = [&variant](const ModelConfig &config) { return visiontransformer::make(variant, config); };
        architecture.currentName = visiontransformer::currentName;
        architecture.argumentsOf = [&variant](const StateDict &weights) {
            return visiontransformer::argumentsOf(variant, weights);
        };
        list.add(std::move(architecture));
    }
}

} // namespace tw
