// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/errorpages.h"

#include "core/base/result.h"

namespace tw {

namespace {

ErrorPage page(const char *name, const char *meaning, const QStringList &causes, const QStringList &remedies)
{
    return {QString::fromLatin1(name), QString::fromUtf8(meaning), causes, remedies};
}

void addDataPages(QList<ErrorPage> &pages)
{
    pages.append(page(errors::InvalidDataset, "The pictures cannot be used as a data set.",
                      {"The path does not exist, may not be read, or is of a kind that is not read.",
                       "A class folder has no pictures, or no pictures were found at all.",
                       "The validation data has a class that the training data lacks, or there are fewer than two "
                       "training classes.",
                       "A picture is smaller than the crop, pictures of a batch differ in size, or more than a tenth "
                       "of them cannot be read.",
                       "An archive is broken, or has members that lead out of it."},
                      {"Look at what is there with: trainwright-cli data PATH",
                       "Give each class a folder of its own directly below the data set, with pictures in it.",
                       "Turn on allow_empty_classes to keep a class without pictures.",
                       "Resize before cropping, so that all pictures have one size."}));
    pages.append(page(errors::NotLabeledDataset, "Pictures with classes are needed, and these have none.",
                      {"The pictures lie directly in the chosen folder, without a folder for each class.",
                       "The folder chosen is one level too deep."},
                      {"Sort the pictures into one folder a class, or choose the folder above.",
                       "Pictures without classes can be scored, but not used for training or evaluation."}));
    pages.append(page(errors::InvalidModelDirectory, "The model or weights file cannot be used.",
                      {"model.json or the weights file is missing, cut short, or of another version.",
                       "The weights belong to another network: names or shapes differ, which the sentence lists.",
                       "The file is a whole pickled program rather than a state_dict; such files are never run.",
                       "Pretrained weights are not in the cache and could not be downloaded."},
                      {"Look at what the file holds with: trainwright-cli inspect FILE",
                       "Choose the network that the weights were made with.",
                       "In Python, save model.state_dict() instead of the model.",
                       "Copy the model directory or the weights file again."}));
    pages.append(page(errors::InvalidTransformationDirectory, "The list of picture transformations cannot be used.",
                      {"transforms.json is missing, damaged, or written by a newer version.",
                       "A transformation or one of its arguments is not known."},
                      {"Run the pipeline again so that Init Image Transformation writes the list anew.",
                       "Connect the output of an Init Image Transformation."}));
    pages.append(page(
        errors::NotScoredDataset, "A table of scored pictures is needed, and this is none.",
        {"The table lacks the columns of scored probabilities and labels.",
         "The scored pictures have no classes, so that nothing can be compared."},
        {"Connect the output of Score Image Model to Evaluate Model.", "Score pictures that lie in class folders."}));
}

void addValuePages(QList<ErrorPage> &pages)
{
    const QStringList remedies{"Set the parameter to a value within the range that the sentence gives.",
                               "See the ranges of a component with: trainwright-cli describe COMPONENT"};
    pages.append(page(errors::NotInRangeValue, "A value lies outside its range, which has two ends.",
                      {"A share or probability is not between 0 and 1.", "A value was given in another unit."},
                      remedies));
    pages.append(page(errors::GreaterThan, "A value must be greater than a limit.",
                      {"A number of epochs, a batch size or a learning rate is 0 or negative."}, remedies));
    pages.append(page(errors::GreaterThanOrEqualTo, "A value must not be less than a limit.",
                      {"A size or a number is below the least that makes sense."}, remedies));
    pages.append(page(errors::LessThanOrEqualTo, "A value must not be greater than a limit.",
                      {"The batch is larger than the number of training pictures.",
                       "The warm-up is longer than the training, or the lower end of a range is above its upper end."},
                      remedies));
    pages.append(
        page(errors::NullOrEmpty, "A value that is needed is missing.",
             {"A required parameter, such as the path of a data set, was never set.", "A list was left empty."},
             {"Set the parameter that the sentence names.", "On the command line: --set NODE.PARAMETER=VALUE"}));
    pages.append(page(errors::DuplicateName, "Two things have one name where each needs its own.",
                      {"Two nodes, two pipeline parameters or two classes are called alike.",
                       "Two pipeline parameters set the same parameter of a node."},
                      {"Rename or remove one of them."}));
}

void addMachinePages(QList<ErrorPage> &pages)
{
    pages.append(
        page(errors::ModuleOutOfMemory, "The memory of the machine or of the graphics card is not enough.",
             {"The batch is too large for the network and the picture size.",
              "Other programs hold much of the memory, or a limit of the system is low."},
             {"Lower batch_size; the sentence says what fits where that is known.",
              "Use smaller pictures or a smaller network.", "Close other programs, or free the graphics card."}));
    pages.append(
        page(errors::FailedToWriteOutputs, "Something could not be written, or a stored output is damaged.",
             {"The disk is full or read-only, or you may not write there.",
              "The target exists already and is not empty.", "Files in the workspace were removed or changed by hand."},
             {"Free some space, or choose a folder that you can write to and that does not exist yet.",
              "Run the pipeline again: outputs that are damaged are made anew."}));
    pages.append(page(errors::TimeoutOccurred, "Something did not answer within its time limit.",
                      {"A training process on this or another machine died or hangs.",
                       "The network between the machines is interrupted or blocked."},
                      {"Look at the log of the process that the sentence names: trainwright-cli logs JOB --rank N",
                       "Check that the machines reach each other, then resume from the last checkpoint."}));
    pages.append(page(errors::InvalidResourceLayout, "More training processes are asked for than there are processors.",
                      {"process_count_per_node is larger than the number of graphics cards or processor cores.",
                       "node_count asks for machines that are not there."},
                      {"Lower process_count_per_node or node_count to what the sentence gives.",
                       "See what there is with: trainwright-cli devices"}));
    pages.append(page(errors::DeviceUnavailable, "The device to compute on is not there or cannot be used.",
                      {"The graphics card has another number, or there is none.",
                       "The driver is missing or too old for this build.", "The pipeline was made on another machine."},
                      {"Choose the device auto or cpu, or one that this lists: trainwright-cli devices --test",
                       "Install the driver of the graphics card."}));
    pages.append(page(errors::CheckpointMismatch, "A checkpoint cannot be continued with.",
                      {"The network, its parameters or the data were changed since it was written.",
                       "The file is damaged or was written by another version."},
                      {"Restore what was changed, or start the training anew.",
                       "Use the weights alone as initial weights of a new training."}));
    pages.append(page(errors::Canceled, "The job was canceled; this is no fault.",
                      {"Somebody canceled it, pressed Ctrl-C twice, or the system is shutting down."},
                      {"Run it again. What was finished before is reused."}));
}

void addProgramPages(QList<ErrorPage> &pages)
{
    pages.append(page(errors::InvalidImage, "A single picture cannot be decoded.",
                      {"The file is cut short or damaged, or no picture at all.",
                       "The kind of picture is not read: float TIFF, for example.",
                       "The picture has more points than are allowed."},
                      {"Open the picture in another program and save it anew.",
                       "Leave it out, or let Convert to Image Directory skip what cannot be read (on_unreadable)."}));
    pages.append(
        page(errors::InvalidPipeline, "The pipeline, or a setting given for it, cannot be used.",
             {"The file is no pipeline, is damaged, or was written by a newer version.",
              "A node, port or parameter is misspelt, or a value is of the wrong kind.",
              "Connections are missing, of different types, or form a circle."},
             {"Correct the place that the sentence names.", "Check without running: trainwright-cli validate FILE"}));
    pages.append(page(errors::InvalidWorkspace, "The workspace folder or its store cannot be used.",
                      {"The folder is read-only or no folder, or the job asked for is not in it.",
                       "Another program holds the store for too long.",
                       "The store is damaged, or was written by a newer version."},
                      {"Choose another workspace: --workspace DIR",
                       "Close the program that holds it, and see the jobs with: trainwright-cli jobs list",
                       "Move a damaged studio.db away; the files of the jobs stay."}));
    pages.append(
        page(errors::Library, "Something that was not foreseen failed; the sentence has the library's words.",
             {"A fault of this program or of a library that it uses.", "Damaged installation, hardware faults."},
             {"Run the job again, on the processor (device cpu) if it used a graphics card.",
              "Report it with the log of the node and environment.json of the job."}));
    pages.append(page("UsageError", "The command line was not understood; nothing was done.",
                      {"A command, option or word is misspelt, missing or too many."},
                      {"See the options with: trainwright-cli COMMAND --help"}));
}

} // namespace

const QList<ErrorPage> &errorPages()
{
    static const QList<ErrorPage> pages = [] {
        QList<ErrorPage> made;
        addDataPages(made);
        addValuePages(made);
        addMachinePages(made);
        addProgramPages(made);
        return made;
    }();
    return pages;
}

const ErrorPage *errorPage(const QString &name)
{
    for (const ErrorPage &one : errorPages())
        if (one.name.compare(name, Qt::CaseInsensitive) == 0
            || one.name.compare(name + QStringLiteral("Error"), Qt::CaseInsensitive) == 0)
            return &one;
    return nullptr;
}

} // namespace tw
