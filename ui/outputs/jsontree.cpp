// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/outputs/jsontree.h"

#include "core/base/json.h"
#include "ui/common/plaintext.h"

#include <QCoreApplication>
#include <QHeaderView>
#include <QJsonArray>
#include <QJsonObject>
#include <QTreeWidget>

namespace tw {

namespace {
constexpr int valueRole = Qt::UserRole;
constexpr int filledRole = Qt::UserRole + 1;
constexpr qsizetype mostChildren = 1000;
constexpr int longestText = 300;

QString summary(const QJsonValue &value)
{
    if (value.isObject())
        return QCoreApplication::translate("JsonTree", "%n key(s)", nullptr, int(value.toObject().size()));
    if (value.isArray())
        return QCoreApplication::translate("JsonTree", "%n item(s)", nullptr, int(value.toArray().size()));
    if (value.isString())
        return shortText(value.toString(), longestText);
    return QString::fromUtf8(jsonCompact(value));
}

QTreeWidgetItem *makeItem(const QString &name, const QJsonValue &value)
{
    auto *item = new QTreeWidgetItem({shortText(name, longestText), summary(value)});
    if (value.isString())
        item->setToolTip(1, literalToolTip(shortText(value.toString(), 2000)));
    const bool branch =
        (value.isObject() && !value.toObject().isEmpty()) || (value.isArray() && !value.toArray().isEmpty());
    if (branch) {
        item->setData(0, valueRole, value.toVariant());
        item->setChildIndicatorPolicy(QTreeWidgetItem::ShowIndicator);
    }
    return item;
}

QList<QTreeWidgetItem *> makeChildren(const QJsonValue &value)
{
    QList<QTreeWidgetItem *> items;
    qsizetype count = 0;
    if (value.isArray()) {
        const QJsonArray array = value.toArray();
        count = array.size();
        for (qsizetype i = 0; i < std::min(count, mostChildren); ++i)
            items << makeItem(QString::number(i), array.at(i));
    } else {
        const QJsonObject object = value.toObject();
        count = object.size();
        for (auto member = object.begin(); member != object.end() && items.size() < mostChildren; ++member)
            items << makeItem(member.key(), *member);
    }
    if (count > mostChildren)
        items << new QTreeWidgetItem({QStringLiteral("…"), QCoreApplication::translate("JsonTree", "%n more", nullptr,
                                                                                       int(count - mostChildren))});
    return items;
}

void fill(QTreeWidgetItem *item)
{
    if (item->data(0, filledRole).toBool())
        return;
    item->setData(0, filledRole, true);
    item->addChildren(makeChildren(QJsonValue::fromVariant(item->data(0, valueRole))));
}
} // namespace

void prepareJsonTree(QTreeWidget *tree)
{
    tree->setColumnCount(2);
    tree->setHeaderLabels(
        {QCoreApplication::translate("JsonTree", "Key"), QCoreApplication::translate("JsonTree", "Value")});
    tree->setAlternatingRowColors(true);
    tree->setUniformRowHeights(true);
    tree->header()->setDefaultSectionSize(220);
    QObject::connect(tree, &QTreeWidget::itemExpanded, tree, fill);
}

void showJson(QTreeWidget *tree, const QJsonValue &value)
{
    tree->clear();
    const QList<QTreeWidgetItem *> items = makeChildren(value);
    tree->addTopLevelItems(items);
    for (QTreeWidgetItem *item : items) {
        const QJsonValue inner = QJsonValue::fromVariant(item->data(0, valueRole));
        const qsizetype children = inner.isArray() ? inner.toArray().size() : inner.toObject().size();
        if (children > 0 && children <= 12 && items.size() <= 40)
            item->setExpanded(true);
    }
}

} // namespace tw
