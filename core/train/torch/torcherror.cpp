// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/torcherror.h"

#include <c10/util/Exception.h>

#include <QRegularExpression>

#include <new>

namespace tw {

namespace torcherror {

/// "… you tried to allocate 4398046511104 bytes. …" in words of our own.
QString withoutLibraryWords(const QString &text)
{
    static const QRegularExpression bytes(QStringLiteral("allocate (\\d+) bytes"));
    const auto match = bytes.match(text);
    return match.hasMatch()
               ? QStringLiteral("%1 MB at once could not be had.").arg(match.captured(1).toDouble() * 1e-6, 0, 'f', 0)
               : text;
}

Error outOfMemory(const QString &detail)
{
    return makeError(errors::ModuleOutOfMemory, QT_TRANSLATE_NOOP("Error", "The memory does not suffice: %1"),
                     {withoutLibraryWords(detail)},
                     QT_TRANSLATE_NOOP("Error", "Use a smaller batch_size, smaller images or a "
                                                "smaller network, or close other programs."));
}

Error fromText(const char *text)
{
    const QString message = QString::fromUtf8(text).section(u'\n', 0, 0).trimmed();
    if (message.contains(QLatin1String("can't allocate memory")) || message.contains(QLatin1String("not enough memory"))
        || message.contains(QLatin1String("out of memory")))
        return outOfMemory(message);
    return makeError(errors::Library, QT_TRANSLATE_NOOP("Error", "LibTorch failed: %1"), {message},
                     QT_TRANSLATE_NOOP("Error", "The log of the node says what was being done."));
}

} // namespace torcherror

Error errorFromException() noexcept
{
    try {
        throw;
    } catch (const c10::OutOfMemoryError &error) {
        return torcherror::outOfMemory(QString::fromUtf8(error.what_without_backtrace()).section(u'\n', 0, 0));
    } catch (const c10::Error &error) {
        return torcherror::fromText(error.what_without_backtrace());
    } catch (const std::bad_alloc &) {
        return torcherror::outOfMemory(QStringLiteral("an allocation failed"));
    } catch (const std::exception &error) {
        return torcherror::fromText(error.what());
    } catch (...) {
        return torcherror::fromText("an unknown exception");
    }
}

} // namespace tw
