// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/common/theme.h"

#include "ui/common/resources.h"

#include <QApplication>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusVariant>
#include <QFile>
#include <QHash>
#include <QPalette>
#include <QStandardPaths>
#include <QStyleFactory>

namespace tw {

namespace {

constexpr char portalService[] = "org.freedesktop.portal.Desktop";
constexpr char portalPath[] = "/org/freedesktop/portal/desktop";
constexpr char portalSettings[] = "org.freedesktop.portal.Settings";
constexpr char appearanceGroup[] = "org.freedesktop.appearance";
constexpr char schemeKey[] = "color-scheme";
constexpr uint preferDark = 1;

ThemeColors lightColors()
{
    ThemeColors c;
    c.canvas = QColor(0xf3f5f8);
    c.grid = QColor(0xd5dbe3);
    c.gridStrong = QColor(0xc4ccd7);
    c.node = QColor(0xffffff);
    c.nodeBorder = QColor(0xc3cbd6);
    c.nodeHover = QColor(0x8fa0b5);
    c.nodeFooter = QColor(0xf6f8fa);
    c.text = QColor(0x1b2430);
    c.mutedText = QColor(0x566273);
    c.faintText = QColor(0x7d8897);
    c.accent = QColor(0x1f6feb);
    c.onAccent = QColor(0xffffff);
    c.good = QColor(0x1a7f3c);
    c.warning = QColor(0x9a5b00);
    c.bad = QColor(0xc6262e);
    c.info = QColor(0x0b6e8f);
    c.panel = QColor(0xf9fafb);
    c.field = QColor(0xffffff);
    c.border = QColor(0xd3d9e1);
    return c;
}

ThemeColors darkColors()
{
    ThemeColors c;
    c.canvas = QColor(0x15181d);
    c.grid = QColor(0x2a2f38);
    c.gridStrong = QColor(0x353c47);
    c.node = QColor(0x252a32);
    c.nodeBorder = QColor(0x414957);
    c.nodeHover = QColor(0x6b7889);
    c.nodeFooter = QColor(0x20242b);
    c.text = QColor(0xe6eaf0);
    c.mutedText = QColor(0xa9b3c1);
    c.faintText = QColor(0x808b9a);
    c.accent = QColor(0x4d94ff);
    c.onAccent = QColor(0x0b1220);
    c.good = QColor(0x4ac776);
    c.warning = QColor(0xe3a33b);
    c.bad = QColor(0xff6b6b);
    c.info = QColor(0x54c0e0);
    c.panel = QColor(0x1d2127);
    c.field = QColor(0x171a1f);
    c.border = QColor(0x363d48);
    return c;
}

QPalette paletteFor(const ThemeColors &c, bool dark)
{
    QPalette palette(c.text, c.panel);
    palette.setColor(QPalette::Window, c.panel);
    palette.setColor(QPalette::WindowText, c.text);
    palette.setColor(QPalette::Base, c.field);
    palette.setColor(QPalette::AlternateBase, dark ? QColor(0x1c2026) : QColor(0xf5f7fa));
    palette.setColor(QPalette::Text, c.text);
    palette.setColor(QPalette::PlaceholderText, c.faintText);
    palette.setColor(QPalette::Button, dark ? QColor(0x2b313a) : QColor(0xf2f4f7));
    palette.setColor(QPalette::ButtonText, c.text);
    palette.setColor(QPalette::BrightText, c.bad);
    palette.setColor(QPalette::Light, dark ? QColor(0x3a424e) : QColor(0xffffff));
    palette.setColor(QPalette::Midlight, dark ? QColor(0x323944) : QColor(0xe9edf2));
    palette.setColor(QPalette::Mid, dark ? QColor(0x2a2f38) : QColor(0xc3cbd6));
    palette.setColor(QPalette::Dark, dark ? QColor(0x0f1216) : QColor(0xa9b3c0));
    palette.setColor(QPalette::Shadow, dark ? QColor(0x07090b) : QColor(0x6f7a88));
    palette.setColor(QPalette::Highlight, c.accent);
    palette.setColor(QPalette::HighlightedText, c.onAccent);
    palette.setColor(QPalette::Link, c.accent);
    palette.setColor(QPalette::ToolTipBase, dark ? QColor(0x313844) : QColor(0x1f2833));
    palette.setColor(QPalette::ToolTipText, QColor(0xf3f6fa));
    for (auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, dark ? QColor(0x6b7585) : QColor(0x9aa4b1));
    palette.setColor(QPalette::Disabled, QPalette::Highlight, c.border);
    palette.setColor(QPalette::Inactive, QPalette::Highlight, c.accent);
    return palette;
}

QString styleSheetFor(const ThemeColors &c)
{
    QFile file(QStringLiteral(":/styles/application.qss"));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QString sheet = QString::fromUtf8(file.readAll());
    const std::pair<const char *, QColor> colors[] = {
        {"@border", c.border},   {"@panel", c.panel},      {"@field", c.field},   {"@muted", c.mutedText},
        {"@faint", c.faintText}, {"@text", c.text},        {"@accent", c.accent}, {"@canvas", c.canvas},
        {"@bad", c.bad},         {"@onAccent", c.onAccent}};
    for (const auto &[name, color] : colors)
        sheet.replace(QLatin1String(name), color.name());
    return sheet;
}

bool hasSessionBus()
{
    return !qEnvironmentVariableIsEmpty("DBUS_SESSION_BUS_ADDRESS");
}

uint schemeFromVariant(QVariant value)
{
    // The portal wraps the number in one variant (ReadOne) or two (Read).
    while (value.canConvert<QDBusVariant>())
        value = value.value<QDBusVariant>().variant();
    return value.toUInt();
}

} // namespace

Theme &Theme::instance()
{
    static Theme theme;
    return theme;
}

Theme::Theme()
{
    initResources();
}

const ThemeColors &Theme::colors() const
{
    static const ThemeColors light = lightColors();
    static const ThemeColors dark = darkColors();
    return m_dark ? dark : light;
}

const ThemeColors &themeColors()
{
    return Theme::instance().colors();
}

QString Theme::choiceId(ThemeChoice choice)
{
    switch (choice) {
    case ThemeChoice::Light:
        return QStringLiteral("light");
    case ThemeChoice::Dark:
        return QStringLiteral("dark");
    case ThemeChoice::System:
        break;
    }
    return QStringLiteral("system");
}

ThemeChoice Theme::choiceFromId(const QString &id)
{
    if (id == u"light")
        return ThemeChoice::Light;
    return id == u"dark" ? ThemeChoice::Dark : ThemeChoice::System;
}

void Theme::setChoice(ThemeChoice choice)
{
    m_choice = choice;
    if (choice == ThemeChoice::System) {
        askDesktop();
        apply(m_desktopDark);
    } else {
        apply(choice == ThemeChoice::Dark);
    }
}

void Theme::apply(bool dark)
{
    if (m_applied && m_dark == dark)
        return;
    if (!m_applied)
        QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    m_dark = dark;
    m_applied = true;
    QApplication::setPalette(paletteFor(colors(), dark));
    qApp->setStyleSheet(styleSheetFor(colors()));
    Q_EMIT changed(dark);
}

void Theme::askDesktop()
{
    if (m_watching || !hasSessionBus())
        return;
    m_watching = true;
    QDBusConnection bus = QDBusConnection::sessionBus();
    bus.connect(QLatin1String(portalService), QLatin1String(portalPath), QLatin1String(portalSettings),
                QStringLiteral("SettingChanged"), this, SLOT(desktopSettingChanged(QString, QString, QDBusVariant)));
    QDBusMessage call = QDBusMessage::createMethodCall(QLatin1String(portalService), QLatin1String(portalPath),
                                                       QLatin1String(portalSettings), QStringLiteral("Read"));
    call << QLatin1String(appearanceGroup) << QLatin1String(schemeKey);
    auto *watcher = new QDBusPendingCallWatcher(bus.asyncCall(call), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this](QDBusPendingCallWatcher *reply) {
        const QDBusPendingReply<QDBusVariant> answer = *reply;
        if (answer.isValid())
            desktopSettingChanged(QLatin1String(appearanceGroup), QLatin1String(schemeKey), answer.value());
        reply->deleteLater();
    });
}

void Theme::desktopSettingChanged(const QString &group, const QString &key, const QDBusVariant &value)
{
    if (group != QLatin1String(appearanceGroup) || key != QLatin1String(schemeKey))
        return;
    m_desktopDark = schemeFromVariant(QVariant::fromValue(value)) == preferDark;
    if (m_choice == ThemeChoice::System)
        apply(m_desktopDark);
}

QColor categoryColor(const QString &category)
{
    static const QHash<QString, QRgb> known = {{QStringLiteral("Data Input"), 0x2f80c3},
                                               {QStringLiteral("Computer Vision"), 0x2a9d8f},
                                               {QStringLiteral("Models"), 0x8a63d2},
                                               {QStringLiteral("Model Training"), 0xd9772b},
                                               {QStringLiteral("Model Scoring"), 0xc2527f},
                                               {QStringLiteral("Model Evaluation"), 0x5b8c3a},
                                               {QStringLiteral("Model Scoring & Evaluation"), 0xc2527f}};
    const auto found = known.constFind(category);
    if (found != known.constEnd())
        return QColor(*found);
    uint hue = 17;
    for (const QChar letter : category)
        hue = hue * 31 + letter.unicode();
    return QColor::fromHsv(int(hue % 360), 130, 175);
}

QColor dataTypeColor(DataType type)
{
    const bool dark = Theme::instance().isDark();
    switch (type) {
    case DataType::AnyDirectory:
        return QColor(dark ? 0x9aa7b8 : 0x6b7889);
    case DataType::ImageDirectory:
        return QColor(dark ? 0x3fc1b0 : 0x158a7c);
    case DataType::TransformationDirectory:
        return QColor(dark ? 0xe6c04f : 0xb08400);
    case DataType::UntrainedModelDirectory:
        return QColor(dark ? 0xb79bf0 : 0x7a4fc9);
    case DataType::ModelDirectory:
        return QColor(dark ? 0xf29a55 : 0xcc6414);
    case DataType::DataTable:
        return QColor(dark ? 0x6fb1f2 : 0x2272bd);
    case DataType::EvaluationResult:
        return QColor(dark ? 0xf07fb0 : 0xb93c75);
    }
    return QColor(Qt::gray);
}

} // namespace tw
