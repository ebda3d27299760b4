"""Ways to name days, language by language: each selects by date, and leaves the words of the question."""

from __future__ import annotations

from datetime import date

import pytest

from commonplace.search.dates import read_dates, strip_request

TODAY = date(2026, 3, 14)  # a Saturday

WEEK_BEFORE_LAST = "2026-02-23 2026-03-01"
MONTH_BEFORE_LAST = "2026-01-01 2026-01-31"
YEAR_BEFORE_LAST = "2024-01-01 2024-12-31"
SINCE_MONDAY = "2026-03-09 2026-03-14"
SINCE_TUESDAY = "2026-03-10 2026-03-14"
LAST_THREE_DAYS = "2026-03-11 2026-03-14"
LAST_SEVEN_DAYS = "2026-03-07 2026-03-14"
LAST_TWO_WEEKS = "2026-02-28 2026-03-14"
LAST_THIRTY_DAYS = "2026-02-12 2026-03-14"
TWO_WEEKS_AGO = "2026-02-25 2026-03-03"
TUESDAY_OF_LAST_WEEK = "2026-03-03 2026-03-03"
FEW_DAYS_AGO = "2026-03-07 2026-03-12"
YESTERDAY_ON = "2026-03-13 2026-03-14"
LAST_WEEK_ON = "2026-03-02 2026-03-14"
LAST_WEEKEND = "2026-03-07 2026-03-08"
WEEKEND_BEFORE_LAST = "2026-02-28 2026-03-01"
HALF_A_YEAR_AGO = "2025-07-15 2025-11-12"

PHRASES = {
    "english": {
        "what did we decide the week before last?": WEEK_BEFORE_LAST,
        "notes of the month before last": MONTH_BEFORE_LAST,
        "what did it cost the year before last?": YEAR_BEFORE_LAST,
        "what changed since Monday?": SINCE_MONDAY,
        "what has Ann done since last Tuesday?": SINCE_TUESDAY,
        "what changed since yesterday?": YESTERDAY_ON,
        "what changed since last week?": LAST_WEEK_ON,
        "what did we decide in the last three days?": LAST_THREE_DAYS,
        "the last three days": LAST_THREE_DAYS,
        "what did Ann say in the past week?": LAST_SEVEN_DAYS,
        "over the past month": LAST_THIRTY_DAYS,
        "over the last two weeks": LAST_TWO_WEEKS,
        "in the last 24 hours": YESTERDAY_ON,
        "within the past 48 hours": "2026-03-12 2026-03-14",
        "two weeks ago": TWO_WEEKS_AGO,
        "a fortnight ago": TWO_WEEKS_AGO,
        "a few days ago": FEW_DAYS_AGO,
        "in the last few days": LAST_SEVEN_DAYS,
        "these past days": LAST_SEVEN_DAYS,
        "what came up in recent days?": LAST_SEVEN_DAYS,
        "who called in the last hour?": YESTERDAY_ON,
        "what did Ann say the other day?": FEW_DAYS_AGO,
        "earlier this month": "2026-03-01 2026-03-14",
        "earlier this week": "2026-03-09 2026-03-14",
        "earlier this year": "2026-01-01 2026-03-14",
        "the night before last": "2026-03-12 2026-03-12",
        "on Tuesday last week": TUESDAY_OF_LAST_WEEK,
        "Tuesday of last week": TUESDAY_OF_LAST_WEEK,
        "last week's Tuesday": TUESDAY_OF_LAST_WEEK,
        "what happened on the 3rd?": "2026-03-03 2026-03-03",
        "what happened on the 21st?": "2026-02-21 2026-02-21",
        "last quarter": "2025-10-01 2025-12-31",
        "this quarter": "2026-01-01 2026-03-31",
    },
    "chinese": {
        "上上周我们决定了什么": WEEK_BEFORE_LAST,
        "上上个星期": WEEK_BEFORE_LAST,
        "上上個月": MONTH_BEFORE_LAST,
        "前年": YEAR_BEFORE_LAST,
        "周一以来有什么变化": SINCE_MONDAY,
        "自周一以来": SINCE_MONDAY,
        "从星期二到现在": SINCE_TUESDAY,
        "最近三天": LAST_THREE_DAYS,
        "过去三天发生了什么": LAST_THREE_DAYS,
        "这三天": LAST_THREE_DAYS,
        "近两周": LAST_TWO_WEEKS,
        "过去一周": LAST_SEVEN_DAYS,
        "最近一个月": LAST_THIRTY_DAYS,
        "两个星期前": TWO_WEEKS_AGO,
        "几天前": FEW_DAYS_AGO,
        "最近几天": LAST_SEVEN_DAYS,
        "这几天": LAST_SEVEN_DAYS,
        "这个月早些时候": "2026-03-01 2026-03-14",
        "大前天": "2026-03-11 2026-03-11",
        "昨天以来": YESTERDAY_ON,
        "上季度": "2025-10-01 2025-12-31",
    },
    "spanish": {
        "¿qué decidimos la semana antepasada?": WEEK_BEFORE_LAST,
        "el mes antepasado": MONTH_BEFORE_LAST,
        "¿qué cambió desde el lunes?": SINCE_MONDAY,
        "desde ayer": YESTERDAY_ON,
        "en los últimos tres días": LAST_THREE_DAYS,
        "las últimas dos semanas": LAST_TWO_WEEKS,
        "hace dos semanas": TWO_WEEKS_AGO,
        "hace unos días": FEW_DAYS_AGO,
        "en los últimos días": LAST_SEVEN_DAYS,
        "en las últimas 24 horas": YESTERDAY_ON,
        "el martes de la semana pasada": TUESDAY_OF_LAST_WEEK,
        "a principios de este mes": "2026-03-01 2026-03-14",
    },
    "french": {
        "la semaine d'avant la dernière": WEEK_BEFORE_LAST,
        "l'avant-dernière semaine": WEEK_BEFORE_LAST,
        "qu'est-ce qui a changé depuis lundi ?": SINCE_MONDAY,
        "depuis hier": YESTERDAY_ON,
        "les trois derniers jours": LAST_THREE_DAYS,
        "au cours des deux dernières semaines": LAST_TWO_WEEKS,
        "il y a deux semaines": TWO_WEEKS_AGO,
        "il y a quinze jours": TWO_WEEKS_AGO,
        "il y a quelques jours": FEW_DAYS_AGO,
        "ces derniers jours": LAST_SEVEN_DAYS,
        "ces dernières 24 heures": YESTERDAY_ON,
        "mardi de la semaine dernière": TUESDAY_OF_LAST_WEEK,
        "plus tôt ce mois-ci": "2026-03-01 2026-03-14",
    },
    "german": {
        "was haben wir vorletzte Woche entschieden?": WEEK_BEFORE_LAST,
        "im vorletzten Monat": MONTH_BEFORE_LAST,
        "vorletztes Jahr": YEAR_BEFORE_LAST,
        "was hat sich seit Montag geändert?": SINCE_MONDAY,
        "seit gestern": YESTERDAY_ON,
        "seit letzter Woche": LAST_WEEK_ON,
        "in den letzten drei Tagen": LAST_THREE_DAYS,
        "die letzten zwei Wochen": LAST_TWO_WEEKS,
        "vor zwei Wochen": TWO_WEEKS_AGO,
        "vor ein paar Tagen": FEW_DAYS_AGO,
        "in den letzten Tagen": LAST_SEVEN_DAYS,
        "in den letzten 24 Stunden": YESTERDAY_ON,
        "Dienstag letzter Woche": TUESDAY_OF_LAST_WEEK,
        "am Dienstag letzte Woche": TUESDAY_OF_LAST_WEEK,
        "Anfang dieses Monats": "2026-03-01 2026-03-14",
        "Anfang dieser Woche": "2026-03-09 2026-03-14",
    },
    "portuguese": {
        "o que decidimos na semana retrasada?": WEEK_BEFORE_LAST,
        "no mês retrasado": MONTH_BEFORE_LAST,
        "o que mudou desde segunda-feira?": SINCE_MONDAY,
        "desde ontem": YESTERDAY_ON,
        "nos últimos três dias": LAST_THREE_DAYS,
        "nas últimas duas semanas": LAST_TWO_WEEKS,
        "há duas semanas": TWO_WEEKS_AGO,
        "há alguns dias": FEW_DAYS_AGO,
        "nos últimos dias": LAST_SEVEN_DAYS,
        "terça-feira da semana passada": TUESDAY_OF_LAST_WEEK,
        "no início deste mês": "2026-03-01 2026-03-14",
    },
    "italian": {
        "due settimane fa": TWO_WEEKS_AGO,
        "la settimana prima della scorsa": WEEK_BEFORE_LAST,
        "cosa è cambiato da lunedì?": SINCE_MONDAY,
        "da ieri": YESTERDAY_ON,
        "negli ultimi tre giorni": LAST_THREE_DAYS,
        "nelle ultime due settimane": LAST_TWO_WEEKS,
        "qualche giorno fa": FEW_DAYS_AGO,
        "negli ultimi giorni": LAST_SEVEN_DAYS,
        "martedì della settimana scorsa": TUESDAY_OF_LAST_WEEK,
        "all'inizio di questo mese": "2026-03-01 2026-03-14",
    },
    "russian": {
        "что мы решили на позапрошлой неделе?": WEEK_BEFORE_LAST,
        "в позапрошлом месяце": MONTH_BEFORE_LAST,
        "в позапрошлом году": YEAR_BEFORE_LAST,
        "что изменилось с понедельника?": SINCE_MONDAY,
        "со вчерашнего дня": YESTERDAY_ON,
        "за последние три дня": LAST_THREE_DAYS,
        "за последние две недели": LAST_TWO_WEEKS,
        "две недели назад": TWO_WEEKS_AGO,
        "несколько дней назад": FEW_DAYS_AGO,
        "в последние дни": LAST_SEVEN_DAYS,
        "во вторник на прошлой неделе": TUESDAY_OF_LAST_WEEK,
        "в начале этого месяца": "2026-03-01 2026-03-14",
    },
    "japanese": {
        "先々週何を決めましたか": WEEK_BEFORE_LAST,
        "先々月": MONTH_BEFORE_LAST,
        "一昨年": YEAR_BEFORE_LAST,
        "おととし": YEAR_BEFORE_LAST,
        "月曜日以来": SINCE_MONDAY,
        "過去3日間": LAST_THREE_DAYS,
        "ここ二週間": LAST_TWO_WEEKS,
        "この1週間": LAST_SEVEN_DAYS,
        "2週間前": TWO_WEEKS_AGO,
        "数日前": FEW_DAYS_AGO,
        "ここ数日": LAST_SEVEN_DAYS,
        "昨日から": YESTERDAY_ON,
    },
    "korean": {
        "지지난주에 무엇을 결정했나요": WEEK_BEFORE_LAST,
        "지지난달": MONTH_BEFORE_LAST,
        "재작년": YEAR_BEFORE_LAST,
        "월요일 이후": SINCE_MONDAY,
        "지난 3일 동안": LAST_THREE_DAYS,
        "최근 2주": LAST_TWO_WEEKS,
        "2주 전": TWO_WEEKS_AGO,
        "며칠 전": FEW_DAYS_AGO,
        "최근 며칠": LAST_SEVEN_DAYS,
        "어제부터": YESTERDAY_ON,
    },
    "hindi": {
        "पिछले से पिछले हफ्ते": WEEK_BEFORE_LAST,
        "सोमवार से क्या बदला": SINCE_MONDAY,
        "पिछले तीन दिनों में": LAST_THREE_DAYS,
        "पिछले दो हफ्तों में": LAST_TWO_WEEKS,
        "दो हफ्ते पहले": TWO_WEEKS_AGO,
        "कुछ दिन पहले": FEW_DAYS_AGO,
        "पिछले कुछ दिनों में": LAST_SEVEN_DAYS,
        "पिछले हफ्ते मंगलवार को": TUESDAY_OF_LAST_WEEK,
    },
    "arabic": {
        "الأسبوع قبل الماضي": WEEK_BEFORE_LAST,
        "الشهر قبل الماضي": MONTH_BEFORE_LAST,
        "ماذا تغير منذ يوم الاثنين": SINCE_MONDAY,
        "منذ أمس": YESTERDAY_ON,
        "في الأيام الثلاثة الماضية": LAST_THREE_DAYS,
        "خلال آخر 3 أيام": LAST_THREE_DAYS,
        "قبل أسبوعين": TWO_WEEKS_AGO,
        "قبل بضعة أيام": FEW_DAYS_AGO,
        "في الأيام الأخيرة": LAST_SEVEN_DAYS,
        "الثلاثاء من الأسبوع الماضي": TUESDAY_OF_LAST_WEEK,
    },
    "bengali": {
        "গত সপ্তাহের আগের সপ্তাহে": WEEK_BEFORE_LAST,
        "সোমবার থেকে": SINCE_MONDAY,
        "গত তিন দিনে": LAST_THREE_DAYS,
        "দুই সপ্তাহ আগে": TWO_WEEKS_AGO,
        "কয়েক দিন আগে": FEW_DAYS_AGO,
        "গত কয়েক দিনে": LAST_SEVEN_DAYS,
    },
    "urdu": {
        "پچھلے سے پچھلے ہفتے": WEEK_BEFORE_LAST,
        "پیر سے": SINCE_MONDAY,
        "پچھلے تین دنوں میں": LAST_THREE_DAYS,
        "دو ہفتے پہلے": TWO_WEEKS_AGO,
        "چند دن پہلے": FEW_DAYS_AGO,
        "پچھلے چند دنوں میں": LAST_SEVEN_DAYS,
    },
    "dutch": {
        "wat hebben we vorige week gedaan?": "2026-03-02 2026-03-08",
        "wat veranderde er sinds maandag?": SINCE_MONDAY,
        "sinds gisteren": YESTERDAY_ON,
        "de afgelopen drie dagen": LAST_THREE_DAYS,
        "de laatste twee weken": LAST_TWO_WEEKS,
        "twee weken geleden": TWO_WEEKS_AGO,
        "een paar dagen geleden": FEW_DAYS_AGO,
        "dinsdag vorige week": TUESDAY_OF_LAST_WEEK,
        "de voorvorige week": WEEK_BEFORE_LAST,
        "vorig weekend": LAST_WEEKEND,
        "het voorvorige weekend": WEEKEND_BEFORE_LAST,
        "een half jaar geleden": HALF_A_YEAR_AGO,
        "gisteravond": "2026-03-13 2026-03-13",
    },
    "polish": {
        "co robiliśmy w zeszłym tygodniu?": "2026-03-02 2026-03-08",
        "podsumuj zeszły tydzień": "2026-03-02 2026-03-08",
        "co się zmieniło od poniedziałku?": SINCE_MONDAY,
        "od wczoraj": YESTERDAY_ON,
        "przez ostatnie trzy dni": LAST_THREE_DAYS,
        "dwa tygodnie temu": TWO_WEEKS_AGO,
        "kilka dni temu": FEW_DAYS_AGO,
        "we wtorek w zeszłym tygodniu": TUESDAY_OF_LAST_WEEK,
        "w zeszły weekend": LAST_WEEKEND,
        "w przedostatni weekend": WEEKEND_BEFORE_LAST,
        "pół roku temu": HALF_A_YEAR_AGO,
        "wczorajsze decyzje": "2026-03-13 2026-03-13",
    },
    "turkish": {
        "geçen hafta ne yaptık?": "2026-03-02 2026-03-08",
        "geçen haftayı özetle": "2026-03-02 2026-03-08",
        "pazartesiden beri ne değişti?": SINCE_MONDAY,
        "dünden beri": YESTERDAY_ON,
        "son üç günde": LAST_THREE_DAYS,
        "son iki hafta": LAST_TWO_WEEKS,
        "iki hafta önce": TWO_WEEKS_AGO,
        "birkaç gün önce": FEW_DAYS_AGO,
        "geçen hafta salı günü": TUESDAY_OF_LAST_WEEK,
        "evvelki hafta": WEEK_BEFORE_LAST,
        "geçen hafta sonu": LAST_WEEKEND,
        "evvelki hafta sonu": WEEKEND_BEFORE_LAST,
        "yarım yıl önce": HALF_A_YEAR_AGO,
        "dünkü kararlar": "2026-03-13 2026-03-13",
    },
    "joined": {
        "গতকালের সিদ্ধান্ত": "2026-03-13 2026-03-13",
        "গতমাসের খরচ": "2026-02-01 2026-02-28",
        "গত মঙ্গলবারের সভা": "2026-03-10 2026-03-10",
        "कलका निर्णय": "2026-03-13 2026-03-13",
        "पिछलेहफ्ते क्या हुआ": "2026-03-02 2026-03-08",
        "ماذا حدث بالأمس": "2026-03-13 2026-03-13",
        "پچھلےہفتے کے فیصلے": "2026-03-02 2026-03-08",
        "вчерашние решения": "2026-03-13 2026-03-13",
        "gestrige Entscheidungen": "2026-03-13 2026-03-13",
    },
    "indonesian": {
        "apa yang berubah sejak Senin?": SINCE_MONDAY,
        "sejak kemarin": YESTERDAY_ON,
        "dalam tiga hari terakhir": LAST_THREE_DAYS,
        "dua minggu terakhir": LAST_TWO_WEEKS,
        "dua minggu yang lalu": TWO_WEEKS_AGO,
        "beberapa hari yang lalu": FEW_DAYS_AGO,
        "beberapa hari terakhir": LAST_SEVEN_DAYS,
        "Selasa minggu lalu": TUESDAY_OF_LAST_WEEK,
        "awal bulan ini": "2026-03-01 2026-03-14",
    },
}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [(language, text, expected) for language, texts in PHRASES.items() for text, expected in texts.items()],
)
def test_a_phrase_selects_days_in_its_language(language: str, text: str, expected: str) -> None:
    dates = read_dates(text, TODAY.toordinal())
    spans = [f"{date.fromordinal(span.first)} {date.fromordinal(span.last)}" for span in dates.spans]
    assert spans == [expected], language
    assert dates.selects_first


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("what did we decide the week before last?", "what did we decide?"),
        ("what changed since Monday?", "what changed?"),
        ("上上周我们决定了什么", "我们决定了什么"),
        ("was haben wir in den letzten drei Tagen entschieden?", "was haben wir entschieden?"),
        ("o que a Ana disse nas últimas três semanas?", "o que a Ana disse?"),
        ("¿qué dijo Ana desde el jueves?", "¿qué dijo Ana?"),
        ("что мы решили на позапрошлой неделе?", "что мы решили?"),
        ("ماذا حدث خلال آخر خمسة أيام", "ماذا حدث"),
        ("昨日の決定", "決定"),
        ("어제의 결정", "결정"),
    ],
)
def test_the_phrase_is_taken_out_of_the_question(text: str, rest: str) -> None:
    assert read_dates(text, TODAY.toordinal()).rest == rest


@pytest.mark.parametrize(
    "text",
    [
        "the last few steps", "the past tense", "what is past due", "die letzten Fragen", "les derniers fichiers",
        "los últimos cambios", "Was machen wir am Wochenende?", "the first quarter of the cake", "it takes a few days", "on the 3rd floor",
        "three days of rest", "a quarter of an hour", "da lunedì a venerdì", "seit langem", "ein paar Tage Urlaub",
        "quelques jours de vacances", "最近的三个问题", "この3つの質問", "先日本に行った", "这一天很好",
    ],
)  # fmt: skip
def test_a_number_of_days_or_a_last_thing_names_no_days(text: str) -> None:
    assert not read_dates(text, TODAY.toordinal()).spans


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what did we do the weekend before last?", WEEKEND_BEFORE_LAST),
        ("Was war am vorletzten Wochenende?", WEEKEND_BEFORE_LAST),
        ("Was haben wir letztes Wochenende gemacht?", LAST_WEEKEND),
        ("qu'avons-nous fait le week-end dernier ?", LAST_WEEKEND),
        ("¿qué pasó el fin de semana antepasado?", WEEKEND_BEFORE_LAST),
        ("o que fizemos no fim de semana passado?", LAST_WEEKEND),
        ("cosa abbiamo fatto lo scorso fine settimana?", LAST_WEEKEND),
        ("что было на позапрошлых выходных?", WEEKEND_BEFORE_LAST),
        ("ماذا حدث في عطلة نهاية الأسبوع قبل الماضي؟", WEEKEND_BEFORE_LAST),
        ("apa yang terjadi akhir pekan lalu?", LAST_WEEKEND),
        ("上上周末发生了什么", WEEKEND_BEFORE_LAST),
        ("先々週末は何をした", WEEKEND_BEFORE_LAST),
        ("지지난 주말에 뭐 했어?", WEEKEND_BEFORE_LAST),
        ("what did we decide half a year ago?", HALF_A_YEAR_AGO),
        ("Was haben wir vor einem halben Jahr entschieden?", HALF_A_YEAR_AGO),
        ("¿qué decidimos hace medio año?", HALF_A_YEAR_AGO),
        ("o que decidimos há meio ano?", HALF_A_YEAR_AGO),
        ("cosa abbiamo deciso mezzo anno fa?", HALF_A_YEAR_AGO),
        ("что мы решили полгода назад?", HALF_A_YEAR_AGO),
        ("半年前我们决定了什么", HALF_A_YEAR_AGO),
        ("반년 전에 무엇을 결정했나?", HALF_A_YEAR_AGO),
    ],
)
def test_weekends_and_half_a_year_ago_select_days(text: str, expected: str) -> None:
    spans = read_dates(text, TODAY.toordinal()).spans
    assert [f"{date.fromordinal(span.first)} {date.fromordinal(span.last)}" for span in spans] == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "summarize {yesterday}", "recap of {last week} please", "catch me up on {last week}", "walk me through {yesterday}",
        "brief me on {last week}", "fill me in on {yesterday}", "summarize {Friday}", "tell me about {Friday}",
        "fasse {gestern} zusammen", "erzähl mir von {gestern}", "fass {Freitag} zusammen", "résume {hier}",
        "résume-moi la {semaine dernière}", "resúmeme lo de {ayer}", "resume la {semana pasada}", "resuma {ontem}",
        "riassumi {ieri}", "подведи итоги {вчерашнего дня}", "суммируй {прошлую неделю}", "总结{昨天}", "回顾{上周}",
        "{昨日}をまとめて", "{昨日}のことを要約して", "{先週}の振り返り", "{어제}를 요약해 줘", "{지난주} 정리해줘", "{कल} का सारांश दो",
        "{গতকালের} সারাংশ দাও", "لخص {أمس}", "لخص لي {الأسبوع الماضي}", "vat {gisteren} samen", "wat is er {gisteren} gebeurd?",
        "podsumuj {wczoraj}", "co się {wczoraj} stało?", "{dünü} özetle", "{dün} ne oldu?", "rangkum {minggu lalu}",
    ],
)  # fmt: skip
def test_a_request_to_sum_up_days_asks_for_nothing_else(text: str) -> None:
    dates = read_dates(strip_request(text.replace("{", "").replace("}", "")), TODAY.toordinal())
    assert len(dates.spans) == 1
    assert not dates.has_content
    assert dates.selects_all


@pytest.mark.parametrize("text", ["summarize the Friday meeting", "tell me about Wednesday Addams", "Friday"])
def test_a_weekday_beside_a_subject_is_no_day_to_sum_up(text: str) -> None:
    assert not read_dates(strip_request(text), TODAY.toordinal()).spans
