// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

#include <functional>

class QHBoxLayout;
class QLabel;

namespace tw {

/// A message above the canvas that blocks nothing: text, buttons, a cross. Hidden when it has nothing to say.
class InfoBar : public QFrame
{
    Q_OBJECT
public:
    enum class Kind { Note, Warning, Problem };
    struct Choice
    {
        QString text;
        std::function<void()> run;
    };

    explicit InfoBar(QWidget *parent = nullptr);
    /// Replaces what was shown. A choice's click also closes the bar.
    void showMessage(Kind kind, const QString &text, const QList<Choice> &choices = {});
    QString message() const;

private:
    void paintKind();

    QLabel *m_text;
    QHBoxLayout *m_buttons;
    Kind m_kind = Kind::Note;
};

} // namespace tw
