// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/trainingparameters.h"

#include "core/component/componenttype.h"
#include "core/train/cachechecks.h"
#include "core/train/devices.h"

namespace tw {

namespace {

QList<ParameterChoice> deviceChoices()
{
    QList<ParameterChoice> choices{{QStringLiteral("auto"), QT_TRANSLATE_NOOP("Parameter", "Automatic")}};
    for (const DeviceInfo &device : devices())
        choices.append(
            {device.id, device.name.isEmpty() ? device.id : QStringLiteral("%1 · %2").arg(device.id, device.name)});
    return choices;
}

void addBasicParameters(ComponentType &type)
{
    type.parameter(
        ParameterSpec::integer("epochs", QT_TRANSLATE_NOOP("Parameter", "Epochs"), 5)
            .above(0)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "How often training goes through all training pictures.")));
    type.parameter(
        ParameterSpec::integer("batch_size", QT_TRANSLATE_NOOP("Parameter", "Batch size"), 16)
            .above(0)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Pictures per step and process; more need more memory.")));
    type.parameter(ParameterSpec::integer("warmup_epochs", QT_TRANSLATE_NOOP("Parameter", "Warmup step number"), 0)
                       .atLeast(0)
                       .withUnit(QT_TRANSLATE_NOOP("Parameter", "epochs"))
                       .withHelp(QT_TRANSLATE_NOOP(
                           "Parameter", "Epochs in which the learning rate rises linearly to its initial value.")));
    type.parameter(ParameterSpec::real("learning_rate", QT_TRANSLATE_NOOP("Parameter", "Learning rate"), 0.001)
                       .above(0)
                       .withHelp(QT_TRANSLATE_NOOP(
                           "Parameter", "Initial learning rate: too high diverges, too low learns slowly.")));
    type.parameter(ParameterSpec::integer("random_seed", QT_TRANSLATE_NOOP("Parameter", "Random seed"), 1)
                       .isAutomatic(QT_TRANSLATE_NOOP("Parameter", "drawn at the start"))
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Seeds weights, shuffling and augmentation; "
                                                                "the same seed gives the same result.")));
    type.parameter(ParameterSpec::integer("patience", QT_TRANSLATE_NOOP("Parameter", "Patience"), 3)
                       .above(0)
                       .withUnit(QT_TRANSLATE_NOOP("Parameter", "epochs"))
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Training stops after this many epochs in a "
                                                                "row without a lower validation loss.")));
    type.parameter(ParameterSpec::integer("print_frequency", QT_TRANSLATE_NOOP("Parameter", "Print frequency"), 10)
                       .above(0)
                       .keepsResult()
                       .withUnit(QT_TRANSLATE_NOOP("Parameter", "iterations"))
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Iterations between two lines of the training log.")));
    type.parameter(ParameterSpec::integer("node_count", QT_TRANSLATE_NOOP("Parameter", "Node count"), 1)
                       .atLeast(1)
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Number of machines that train together.")));
    type.parameter(
        ParameterSpec::integer("process_count_per_node", QT_TRANSLATE_NOOP("Parameter", "Process count per node"), 1)
            .atLeast(1)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Number of training processes on each machine.")));
    type.parameter(ParameterSpec::choice("device", QT_TRANSLATE_NOOP("Parameter", "Device"), "auto",
                                         {{QStringLiteral("auto"), QT_TRANSLATE_NOOP("Parameter", "Automatic")}})
                       .withMachineChoices(deviceChoices)
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "The processor or graphics card to train on; automatic "
                                                                "takes the first graphics card there is.")));
}

void addAdamParameters(ComponentType &type)
{
    const QStringList adam{QStringLiteral("adam"), QStringLiteral("adamw")};
    const auto beta = [&](const char *id, const char *label, double value, const char *help) {
        type.parameter(ParameterSpec::real(id, label, value)
                           .atLeast(0)
                           .below(1)
                           .isAdvanced()
                           .visibleWhen("optimizer", adam)
                           .withHelp(help));
    };
    beta("beta1", QT_TRANSLATE_NOOP("Parameter", "Beta 1"), 0.9,
         QT_TRANSLATE_NOOP("Parameter", "Decay of the running mean of gradients."));
    beta("beta2", QT_TRANSLATE_NOOP("Parameter", "Beta 2"), 0.999,
         QT_TRANSLATE_NOOP("Parameter", "Decay of the running mean of squared gradients."));
}

void addOptimizerParameters(ComponentType &type)
{
    const QStringList sgd{QStringLiteral("sgd")};
    type.parameter(ParameterSpec::choice("optimizer", QT_TRANSLATE_NOOP("Parameter", "Optimizer"), "sgd",
                                         {{QStringLiteral("sgd"), QT_TRANSLATE_NOOP("Parameter", "SGD")},
                                          {QStringLiteral("adam"), QT_TRANSLATE_NOOP("Parameter", "Adam")},
                                          {QStringLiteral("adamw"), QT_TRANSLATE_NOOP("Parameter", "AdamW")}})
                       .isAdvanced()
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "The rule that turns gradients into steps.")));
    type.parameter(
        ParameterSpec::real("momentum", QT_TRANSLATE_NOOP("Parameter", "Momentum"), 0.9)
            .atLeast(0)
            .below(1)
            .isAdvanced()
            .visibleWhen("optimizer", sgd)
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Share of the last step that is kept in the next one.")));
    type.parameter(ParameterSpec::boolean("nesterov", QT_TRANSLATE_NOOP("Parameter", "Nesterov"), true)
                       .isAdvanced()
                       .visibleWhen("optimizer", sgd)
                       .withHelp(QT_TRANSLATE_NOOP(
                           "Parameter", "Looks one step of momentum ahead; without momentum it has no effect.")));
    addAdamParameters(type);
    type.parameter(
        ParameterSpec::real("weight_decay", QT_TRANSLATE_NOOP("Parameter", "Weight decay"), 1e-4)
            .atLeast(0)
            .isAdvanced()
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Pulls all weights towards zero, against overfitting.")));
}

void addScheduleParameters(ComponentType &type)
{
    const QStringList polynomial{QStringLiteral("polynomial")}, step{QStringLiteral("step")};
    type.parameter(ParameterSpec::choice("schedule", QT_TRANSLATE_NOOP("Parameter", "Schedule"), "polynomial",
                                         {{QStringLiteral("polynomial"), QT_TRANSLATE_NOOP("Parameter", "Polynomial")},
                                          {QStringLiteral("cosine"), QT_TRANSLATE_NOOP("Parameter", "Cosine")},
                                          {QStringLiteral("step"), QT_TRANSLATE_NOOP("Parameter", "Step")},
                                          {QStringLiteral("constant"), QT_TRANSLATE_NOOP("Parameter", "Constant")}})
                       .isAdvanced()
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "How the learning rate falls after the warm-up.")));
    type.parameter(ParameterSpec::real("power", QT_TRANSLATE_NOOP("Parameter", "Power"), 2)
                       .above(0)
                       .isAdvanced()
                       .visibleWhen("schedule", polynomial)
                       .withHelp(QT_TRANSLATE_NOOP(
                           "Parameter", "Exponent of the fall: 1 is a straight line, 2 falls faster at first.")));
    type.parameter(ParameterSpec::real("end_learning_rate", QT_TRANSLATE_NOOP("Parameter", "End learning rate"), 0)
                       .atLeast(0)
                       .isAdvanced()
                       .visibleWhen("schedule", {QStringLiteral("polynomial"), QStringLiteral("cosine")})
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Learning rate that the schedule falls to.")));
    type.parameter(ParameterSpec::integer("step_size", QT_TRANSLATE_NOOP("Parameter", "Step size"), 7)
                       .above(0)
                       .isAdvanced()
                       .visibleWhen("schedule", step)
                       .withUnit(QT_TRANSLATE_NOOP("Parameter", "epochs"))
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Epochs between two falls of the learning rate.")));
    type.parameter(ParameterSpec::real("gamma", QT_TRANSLATE_NOOP("Parameter", "Gamma"), 0.1)
                       .above(0)
                       .atMost(1)
                       .isAdvanced()
                       .visibleWhen("schedule", step)
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Factor of the learning rate at each fall.")));
}

void addLayerParameters(ComponentType &type)
{
    type.parameter(
        ParameterSpec::choice("trainable_layers", QT_TRANSLATE_NOOP("Parameter", "Trainable layers"), "all",
                              {{QStringLiteral("all"), QT_TRANSLATE_NOOP("Parameter", "All")},
                               {QStringLiteral("head"), QT_TRANSLATE_NOOP("Parameter", "Head only")}})
            .isAdvanced()
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Head only trains the last layer and leaves all others as the "
                                                     "initial weights have them: quick, and enough for few pictures "
                                                     "that resemble those the weights come from.")));
}

void addLossParameters(ComponentType &type)
{
    type.parameter(ParameterSpec::real("label_smoothing", QT_TRANSLATE_NOOP("Parameter", "Label smoothing"), 0)
                       .atLeast(0)
                       .below(1)
                       .isAdvanced()
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Share of the target that is spread over all classes, "
                                                                "against overconfidence; 0 spreads none.")));
    type.parameter(
        ParameterSpec::choice("class_weights", QT_TRANSLATE_NOOP("Parameter", "Class weights"), "none",
                              {{QStringLiteral("none"), QT_TRANSLATE_NOOP("Parameter", "None")},
                               {QStringLiteral("balanced"), QT_TRANSLATE_NOOP("Parameter", "Balanced")}})
            .isAdvanced()
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Balanced lets rare classes count as much in the training loss as "
                                                     "common ones; validation figures stay unweighted.")));
    type.parameter(
        ParameterSpec::real("gradient_clip_norm", QT_TRANSLATE_NOOP("Parameter", "Gradient clip norm"), 0)
            .atLeast(0)
            .isAdvanced()
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Longer gradients are shortened to this norm; 0 is off.")));
    type.parameter(
        ParameterSpec::integer("accumulation_steps", QT_TRANSLATE_NOOP("Parameter", "Accumulation steps"), 1)
            .atLeast(1)
            .isAdvanced()
            .withUnit(QT_TRANSLATE_NOOP("Parameter", "batches"))
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Batches whose gradients make one step: a larger batch for the "
                                                     "memory of a small one.")));
}

void addStoppingParameters(ComponentType &type)
{
    type.parameter(
        ParameterSpec::real("stop_after_minutes", QT_TRANSLATE_NOOP("Parameter", "Stop after"), 0)
            .atLeast(0)
            .isAdvanced()
            .withUnit(QT_TRANSLATE_NOOP("Parameter", "minutes"))
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Training ends after this time and keeps the best weights; 0 is "
                                                     "off.")));
    type.parameter(
        ParameterSpec::choice("patience_reference", QT_TRANSLATE_NOOP("Parameter", "Patience reference"), "best",
                              {{QStringLiteral("best"), QT_TRANSLATE_NOOP("Parameter", "Best epoch")},
                               {QStringLiteral("previous"), QT_TRANSLATE_NOOP("Parameter", "Previous epoch")}})
            .isAdvanced()
            .withHelp(QT_TRANSLATE_NOOP("Parameter",
                                        "The validation loss that an epoch must be below to be no loss of patience.")));
    type.parameter(
        ParameterSpec::choice("evaluate_training_set", QT_TRANSLATE_NOOP("Parameter", "Evaluate training set"), "never",
                              {{QStringLiteral("never"), QT_TRANSLATE_NOOP("Parameter", "Never")},
                               {QStringLiteral("end"), QT_TRANSLATE_NOOP("Parameter", "At the end")},
                               {QStringLiteral("each_epoch"), QT_TRANSLATE_NOOP("Parameter", "After each epoch")}})
            .isAdvanced()
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Accuracy on the training pictures as validation sees them; "
                                                     "costs a pass over them.")));
}

void addLoopParameters(ComponentType &type)
{
    type.parameter(
        ParameterSpec::choice("keep", QT_TRANSLATE_NOOP("Parameter", "Keep"), "best_top1",
                              {{QStringLiteral("best_top1"), QT_TRANSLATE_NOOP("Parameter", "Best top-1 accuracy")},
                               {QStringLiteral("best_loss"), QT_TRANSLATE_NOOP("Parameter", "Lowest validation loss")},
                               {QStringLiteral("last"), QT_TRANSLATE_NOOP("Parameter", "Last epoch")}})
            .isAdvanced()
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Which epoch's weights become the trained model.")));
    type.parameter(
        ParameterSpec::integer("num_workers", QT_TRANSLATE_NOOP("Parameter", "Loader threads"), std::nullopt)
            .atLeast(0)
            .isAutomatic(QT_TRANSLATE_NOOP("Parameter", "auto"))
            .isAdvanced()
            .keepsResult()
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Threads that load pictures; 0 loads on the training thread.")));
    type.parameter(ParameterSpec::integer("prefetch", QT_TRANSLATE_NOOP("Parameter", "Prefetch"), 2)
                       .atLeast(1)
                       .isAdvanced()
                       .keepsResult()
                       .withUnit(QT_TRANSLATE_NOOP("Parameter", "batches"))
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Batches that each loader thread prepares ahead.")));
    addCacheParameters(type);
    type.parameter(ParameterSpec::choice("on_nan", QT_TRANSLATE_NOOP("Parameter", "On NaN loss"), "stop",
                                         {{QStringLiteral("stop"), QT_TRANSLATE_NOOP("Parameter", "Stop")},
                                          {QStringLiteral("continue"), QT_TRANSLATE_NOOP("Parameter", "Continue")}})
                       .isAdvanced()
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Whether a loss that is not a number ends the "
                                                                "training and keeps the best weights.")));
    type.parameter(ParameterSpec::boolean("require_same_categories",
                                          QT_TRANSLATE_NOOP("Parameter", "Require same categories"), false)
                       .isAdvanced()
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Refuses validation pictures that lack a "
                                                                "category of training instead of warning.")));
    type.parameter(
        ParameterSpec::choice(
            "normalization", QT_TRANSLATE_NOOP("Parameter", "Normalization"), "weights",
            {{QStringLiteral("weights"), QT_TRANSLATE_NOOP("Parameter", "As the initial weights")},
             {QStringLiteral("imagenet"), QT_TRANSLATE_NOOP("Parameter", "ImageNet")},
             {QStringLiteral("half"), QT_TRANSLATE_NOOP("Parameter", "Half (−1 to 1)")},
             {QStringLiteral("dataset"), QT_TRANSLATE_NOOP("Parameter", "Measured on the training pictures")},
             {QStringLiteral("none"), QT_TRANSLATE_NOOP("Parameter", "None (0 to 1)")}})
            .isAdvanced()
            .withHelp(QT_TRANSLATE_NOOP("Parameter",
                                        "Mean and deviation that pixels are scaled by; stored with the model.")));
    type.parameter(
        ParameterSpec::choice("pixel_path", QT_TRANSLATE_NOOP("Parameter", "Training pixels"), "exact",
                              {{QStringLiteral("exact"), QT_TRANSLATE_NOOP("Parameter", "Exact")},
                               {QStringLiteral("fast"), QT_TRANSLATE_NOOP("Parameter", "Fast")}})
            .isAdvanced()
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Exact resizes as Pillow does, bit for bit. Fast decodes large "
                                                     "JPEG pictures smaller and rounds once, for training batches "
                                                     "only; validation is always exact.")));
    type.parameter(ParameterSpec::integer("threads", QT_TRANSLATE_NOOP("Parameter", "Threads"), 0)
                       .atLeast(0)
                       .isAdvanced()
                       .withHelp(QT_TRANSLATE_NOOP("Parameter",
                                                   "Processor threads for the computation; 0 lets LibTorch choose.")));
}

} // namespace

void addTrainingParameters(ComponentType &type)
{
    addBasicParameters(type);
    addOptimizerParameters(type);
    addScheduleParameters(type);
    addLayerParameters(type);
    addLossParameters(type);
    addStoppingParameters(type);
    addLoopParameters(type);
}

} // namespace tw
