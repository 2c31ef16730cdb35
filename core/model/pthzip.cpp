// SPDX-License-Identifier: GPL-3.0-or-later
// The zip that torch.save writes since PyTorch 1.6: data.pkl and a member for each storage.
#include "core/model/pthformats.h"
#include "core/model/zipreader.h"

#include <QString>

namespace tw {

namespace {

constexpr std::size_t maxPickleBytes = std::size_t(32) << 20;

class ZipStorages : public StorageSource
{
public:
    explicit ZipStorages(const fs::path &file) : m_file(file) {}
    Result<void> open();
    Result<ZipMember> pickle();
    Result<StorageBytes> read(const StorageName &storage) override;
    bool isBigEndian() const override { return m_bigEndian; }

private:
    Result<void> findRoot();
    Result<void> readByteOrder();
    Error invalid(const char *text, const char *hint) const;

    const fs::path &m_file;
    std::unique_ptr<ZipReader> m_zip;
    std::string m_root;
    bool m_bigEndian = false;
    std::map<std::string, ZipMember> m_members;
};

Error ZipStorages::invalid(const char *text, const char *hint) const
{
    return makeError(errors::InvalidModelDirectory, text, {displayPath(m_file)}, hint);
}

Result<void> ZipStorages::open()
{
    TW_ASSIGN(zip, ZipReader::open(m_file));
    m_zip = std::move(zip);
    TW_TRY(findRoot());
    return readByteOrder();
}

Result<ZipMember> ZipStorages::pickle()
{
    const std::string name = m_root + "data.pkl";
    if (m_zip->statedBytes(name) > maxPickleBytes)
        return invalid(QT_TRANSLATE_NOOP("Error",
                                         "%1 is refused: its data.pkl, the list of its tensors, is larger than "
                                         "the 32 MB that this program reads."),
                       QT_TRANSLATE_NOOP("Error", "Save only the weights: torch.save(model.state_dict(), "
                                                  "\"weights.pth\")."));
    return m_zip->read(name, maxPickleBytes);
}

/// The one folder of the zip that holds data.pkl; its name is free.
Result<void> ZipStorages::findRoot()
{
    const std::string wanted = "/data.pkl";
    for (const std::string &name : m_zip->names()) {
        if (name.ends_with("/constants.pkl"))
            return invalid(QT_TRANSLATE_NOOP("Error", "%1 is a TorchScript archive, not a state_dict."),
                           QT_TRANSLATE_NOOP("Error",
                                             "Load it in Python and save only the weights: "
                                             "torch.save(torch.jit.load(file).state_dict(), \"weights.pth\")."));
        if (name.ends_with(wanted) && name.find('/') == name.size() - wanted.size() && m_root.empty())
            m_root = name.substr(0, name.size() - wanted.size() + 1);
    }
    if (m_root.empty())
        return invalid(QT_TRANSLATE_NOOP("Error", "%1 is a zip file without data.pkl, so torch.save did not write it."),
                       QT_TRANSLATE_NOOP("Error", "Choose a file that torch.save(model.state_dict(), …) wrote."));
    return {};
}

Result<void> ZipStorages::readByteOrder()
{
    const std::string name = m_root + "byteorder";
    if (!m_zip->contains(name))
        return {};
    TW_ASSIGN(member, m_zip->read(name, 64));
    const std::string_view text(reinterpret_cast<const char *>(member.bytes.data()), member.bytes.size());
    m_bigEndian = text == "big";
    if (!m_bigEndian && text != "little")
        return invalid(QT_TRANSLATE_NOOP("Error", "%1 states an unknown byte order."),
                       QT_TRANSLATE_NOOP("Error", "Copy or download the file again."));
    return {};
}

Result<StorageBytes> ZipStorages::read(const StorageName &storage)
{
    const std::string name = m_root + "data/" + storage.key;
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<std::uint64_t>(storage.elements), elementBytes(storage.type), &bytes)
        || (m_zip->contains(name) && m_zip->statedBytes(name) != bytes))
        return pthDamaged(m_file, QStringLiteral("storage '%1' has another size than its tensors say")
                                      .arg(QString::fromStdString(storage.key).left(200)));
    auto found = m_members.find(name);
    if (found == m_members.end()) {
        TW_ASSIGN(member, m_zip->read(name, bytes));
        found = m_members.emplace(name, std::move(member)).first;
    }
    return StorageBytes{found->second.owner, found->second.bytes, found->second.mapped};
}

} // namespace

Result<StateDict> readZipPth(const fs::path &file, WeightsReport *report)
{
    ZipStorages storages(file);
    TW_TRY(storages.open());
    TW_ASSIGN(pickle, storages.pickle());
    PickleMachine machine;
    TW_ASSIGN(root, runPickle(machine, pickle.bytes, file));
    return finishPth(file, machine, root, storages, "pytorch", report);
}

} // namespace tw
