// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/picklemachine.h"
#include "core/model/storagesource.h"
#include "core/model/weightsfile.h"

#include <QStringList>

#include <map>
#include <optional>
#include <set>

namespace tw {

/// The named tensors of what a pickle made, whatever the file around it. Weights are the dictionary
/// itself or lie under one of the usual keys, also one in another; a moving average (EMA) is taken only
/// where nothing else is there.
class CheckpointReader
{
public:
    /// All arguments outlive the reader; `report` may be null.
    CheckpointReader(const fs::path &file, const PickleMachine &machine, StorageSource &source, WeightsReport *report)
        : m_file(file), m_machine(machine), m_source(source), m_report(report)
    {
    }
    /// InvalidModelDirectoryError naming the file and the tensor.
    Result<StateDict> read(std::uint32_t root);
    /// A storage as the pickle names it; nothing where the name is not sound.
    static std::optional<StorageName> storageName(const PickleMachine &machine, const PickleValue &storage);

private:
    using Id = std::uint32_t;
    struct Found
    {
        Id dictionary = 0;
        QStringList path; ///< keys that led there
        bool average = false;
    };
    /// Each dictionary is entered once, so that references that repeat or go in circles cost nothing.
    using Entered = std::set<Id>;
    std::optional<Found> find(Id id, Entered &entered, int depth = 0) const;
    std::optional<Found> findUnder(const PickleValue &checkpoint, bool average, Entered &entered, int depth) const;
    bool isTensor(Id id) const;
    bool holdsTensors(Id id, bool ofLayers) const;
    std::vector<std::string> texts(Id id) const;
    void reportFound(Id root, const Found &found);
    Id reportBeside(const PickleValue &checkpoint, const std::string &led, bool average, Entered &entered);
    Result<StateDict> collect(Id dictionary);
    Error notNamed() const;
    Result<TensorView> view(const std::string &name, const PickleValue &tensor) const;
    Result<StorageName> storageOf(const std::string &name, const PickleValue &tensor) const;
    Result<std::vector<std::int64_t>> integers(const std::string &name, Id id) const;
    Result<TensorBlob> blob(const std::string &name, const TensorView &view);
    Result<void> reserve(const std::string &name, const StorageName &storage, std::uint64_t bytes, bool isCopy);
    Error noWeights(Id root) const;
    Error badTensor(const std::string &name, const char *what) const;

    const fs::path &m_file;
    const PickleMachine &m_machine;
    StorageSource &m_source;
    WeightsReport *m_report;
    std::map<std::string, std::uint64_t> m_storageBytes; ///< of the storages met so far
    std::uint64_t m_copyAllowance = std::uint64_t(64) << 20, m_viewAllowance = m_copyAllowance;
};

} // namespace tw
