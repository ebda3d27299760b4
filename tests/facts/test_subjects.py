"""A note about somebody or something else, or about another place, replaces nothing, whatever words of change it has."""

from __future__ import annotations

import pytest

from commonplace.facts.statements import split_statements
from commonplace.facts.versions import judge

APART = [
    # Another person, by the title or the name.
    ("Mrs. Okafor wants the report by email.", "Mr. Okafor no longer wants the report by email."),
    ("Herr Vogel nimmt Zucker in den Tee.", "Frau Vogel nimmt keinen Zucker mehr in den Tee."),
    ("Madame Roux reçoit la newsletter.", "Monsieur Faure ne reçoit plus la newsletter."),
    ("Mme Petit boit du café le matin.", "M. Petit ne boit plus de café le matin."),
    ("Don Luis quiere el informe impreso.", "Doña Marta ya no quiere el informe impreso."),
    ("O senhor Costa quer a fatura em papel.", "A senhora Lima já não quer a fatura em papel."),
    ("La signora Conti vuole la fattura in PDF.", "Il signor Greco non vuole più la fattura in PDF."),
    ("Г-жа Орлова получает счёт по почте.", "Г-н Орлов больше не получает счёт по почте."),
    ("श्री वर्मा को बिल ईमेल से चाहिए।", "श्रीमती शर्मा को अब बिल ईमेल से नहीं चाहिए।"),
    ("السيد حسن يريد الفاتورة بالبريد.", "السيدة ليلى لم تعد تريد الفاتورة بالبريد."),
    ("Nora has a latex allergy, carries a card.", "It turns out Norman (her cousin) has no latex allergy."),
    ("Grandma takes her tablets at 8am.", "Grandpa now takes his tablets at 7pm."),
    ("La abuela toma sus pastillas a las 8.", "El abuelo ahora toma sus pastillas a las 19."),
    ("Ольга любит короткие ответы.", "Олег больше не любит короткие ответы."),
    ("سارة تحب القهوة.", "منى لم تعد تحب القهوة."),
    ("王先生要纸质发票。", "李女士不再要纸质发票。"),
    ("用户小林喜欢深色模式。", "用户小凌不再喜欢深色模式。"),
    ("老王抽烟。", "老陈不再抽烟了。"),
    ("李医生在三号诊室。", "刘医生搬到五号诊室了。"),
    ("伊藤さんは肉を食べる。", "加藤さんはもう肉を食べない。"),
    # Somebody of theirs.
    ("鈴木さんは名古屋に住んでいる。", "鈴木さんのお姉さんは仙台に引っ越した。"),
    ("マイクさんは東京に住んでいる。", "マイクさんの奥さんは京都に引っ越した。"),
    ("小周住在南京。", "小周的爷爷搬到了苏州。"),
    # Another project, service or branch.
    ("Проект «Сокол» собирается на Java 17.", "Проект «Беркут» перевели на Java 21."),
    ("Модуль «Отчёты» на Java 11.", "Модуль «Платежи» обновили до Java 21."),
    ("El proyecto Cóndor usa Python 3.11.", "El proyecto Jaguar pasó a Python 3.12."),
    ("订单服务用的是 Java 17。", "支付服务已经升级到 Java 21。"),
    ("订单服务的端口是 8080。", "支付服务的端口改成 9090 了。"),
    ("在庫サービスのポートは8080。", "決済サービスのポートは9090に変更した。"),
    ("検索APIのタイムアウトは30秒。", "決済APIのタイムアウトを60秒に変更した。"),
    # Another place.
    ("Replica count in eu-west-1 is 3.", "Bumped the replica count in us-east-1 to 6."),
    ("The quota on cluster-a is 4.", "Lowered the quota on cluster-b to 2."),
    ("Parking at Terminal 1 costs 20 euros.", "Parking at Terminal 2 went up to 25 euros."),
    ("The build on Debian uses gcc 12.", "On Alpine the build uses gcc 14 now."),
    ("Speicherlimit auf node-1 ist 2 GB.", "Speicherlimit auf node-2 auf 4 GB erhöht."),
    ("La mémoire sur srv-a est de 2 Go.", "On a augmenté la mémoire sur srv-b à 4 Go."),
    ("A memória no servidor-a é de 2 GB.", "Aumentamos a memória no servidor-b para 4 GB."),
    ("Лимит в Москве — 3.", "Лимит в Казани подняли до 6."),
    ("الحد في القاهرة هو 3.", "رفعنا الحد في دبي إلى 6."),
    ("北京机房的副本数是 3。", "上海机房的副本数改成 6 了。"),
    ("東京リージョンのレプリカ数は3。", "大阪リージョンのレプリカ数を6に増やした。"),
]
VERSIONS = [
    # The same person, project or place.
    ("Mr. Okafor wants the report by email.", "Mr. Okafor no longer wants the report by email."),
    ("M. Dupont prend le train de 8h.", "M. Dupont ne prend plus le train de 8h."),
    ("Nora has a latex allergy, carries a card.", "It turns out Nora has no latex allergy."),
    ("加藤さんは肉を食べる。", "加藤さんはもう肉を食べない。"),
    ("用户小林喜欢深色模式。", "用户小林不再喜欢深色模式。"),
    ("Проект «Сокол» собирается на Java 17.", "Проект «Сокол» перевели на Java 21."),
    ("订单服务用的是 Java 17。", "订单服务已经升级到 Java 21。"),
    ("在庫サービスのポートは8080。", "在庫サービスのポートは9090に変更した。"),
    ("Replica count in Frankfurt is 3.", "Bumped the replica count in Frankfurt to 6."),
    ("CI on Linux runs Python 3.11.", "On Linux CI runs Python 3.12 now."),
    ("Parking at Terminal 2 costs 20 euros.", "Parking at Terminal 2 went up to 25 euros."),
    # The place is what changed.
    ("The database is in eu-west-1.", "The database moved from eu-west-1 to us-east-1."),
    ("The offsite is in Berlin on 5 May.", "The offsite is now in Hamburg on 7 May."),
    ("服务器在上海。", "服务器迁到北京了。"),
    # Somebody else does it now.
    ("Ben leads the search team.", "Tom took over the search team from Ben."),
    ("Frau Weber leitet das Team.", "Herr Klein leitet das Team jetzt."),
    ("The CEO is Ms. Adams.", "Mr. Brown is the new CEO."),
    ("小李负责前端。", "小王接手前端了。"),
    ("Julie gère la comptabilité.", "C'est Karim qui gère la comptabilité depuis lundi."),
    # A verb without a subject is none.
    ("Não bebo café.", "Voltei a beber café."),
    ("On utilise Jira pour les tickets.", "On a remplacé Jira par Linear."),
    ("家长会定在周五晚上七点。", "家长会提前到周四晚上七点。"),
]


def is_replaced(older: str, newer: str) -> bool:
    return any(judge(old, new) for old in split_statements(older) for new in split_statements(newer))


@pytest.mark.parametrize(("older", "newer"), APART)
def test_what_is_about_somebody_or_something_else_replaces_nothing(older: str, newer: str) -> None:
    assert not is_replaced(older, newer)


@pytest.mark.parametrize(("older", "newer"), VERSIONS)
def test_what_names_the_same_subject_or_its_successor_replaces_it(older: str, newer: str) -> None:
    assert is_replaced(older, newer)
