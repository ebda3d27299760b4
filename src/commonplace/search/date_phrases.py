"""How people name days in the languages that most people use: vocabularies, from which `dates.py` makes patterns.

A template has `{unit}` (a week, month or year), `{amount}`, `{units}` (days, weeks, months or years), `{weekday}`,
`{day}` or `{month}`; alternatives are separated by ` | `. All text is folded before it is compared.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..index.tokenizer import fold_accents

# Arabic letters that are often written without their hamza, the apostrophe, and digits of Arabic, Persian, Hindi and
# Bengali.
_PLAIN_CHARACTERS = str.maketrans("أإآ’٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹०१२३४५६७८९০১২৩৪৫৬৭৮৯", "ااا'" + "0123456789" * 4)
_ODD_CHARACTERS = "[\u0600-\u06ff\u0966-\u096f\u09e6-\u09ef\u2019]"
# Vowel signs of Devanagari, Bengali and Arabic are no letters to `\w`, and parts of a word all the same.
WORD_CHARACTERS = r"\w\u0900-\u09ff\u064b-\u0652"
WORD_START = rf"(?<![{WORD_CHARACTERS}])"
WORD_END = rf"(?![{WORD_CHARACTERS}])"
NOT_OF = r"(?! (?:of|des|du|del|de cada|de chaque|von jede|dell|каждого) )"  # `the last week of May` is another one
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
CHINESE_WEEKDAYS = "一二三四五六日"
JAPANESE_WEEKDAYS = "月火水木金土日"
KOREAN_WEEKDAYS = "월화수목금토일"


def fold_phrase(text: str) -> str:
    """Return a text as phrases are compared: without case and accents, and with plain digits."""
    if text.isascii():
        return text.lower()
    plain = fold_accents(text)
    return plain.translate(_PLAIN_CHARACTERS) if re.search(_ODD_CHARACTERS, plain) else plain


class Vocabulary(NamedTuple):
    """The words of one language. Lists are in calendar order; forms of one word are separated by `/`."""

    language: str
    script: str  # a range of characters that every phrase has; empty for Latin script
    hints: str  # in Latin script: a phrase has one of these
    days: dict[int, str]  # by how many days they are from today
    week: str
    month: str
    year: str
    last: str
    this: str
    next: str
    ago: str
    units: tuple[str, str, str, str]  # days, weeks, months and years as they are counted
    numbers: str  # from one
    months: str
    weekdays: str
    weekday: str  # templates with a weekday of the past
    day_of_month: str
    in_month: str


GERMAN = Vocabulary(
    "german",
    "",
    "heut gestern morgen tag woch monat jahr stunde janua februar marz mai juni juli oktober dezember april august "
    "september november",
    {
        0: "heute(?: (?:morgen|fruh|abend|mittag|nachmittag))?",
        -1: "gestern(?: (?:abend|morgen|fruh))?",
        -2: "vorgestern",
        1: "(?<!am )(?<!guten )(?<!jeden )morgen",
        2: "ubermorgen",
    },
    "woche",
    "monats?",
    "jahr(?:es)?",
    "(?:letzte|vergangene|vorige)[nrms]? {unit}",
    "diese[nrms]? {unit}",
    "(?:nachste|kommende)[nrms]? {unit}",
    "vor {amount} {units}",
    ("tag(?:en?)?", "wochen?", "monat(?:en?)?", "jahr(?:en?)?"),
    "ein/eine/einem/einer/einen zwei drei vier funf sechs sieben acht neun zehn",
    "januar/janner/jan februar/feb marz april mai juni juli august/aug september/sept oktober/okt november/nov "
    "dezember/dez",
    "montag dienstag mittwoch donnerstag freitag samstag/sonnabend sonntag",
    "(?:am|letzten|vergangenen|vorigen|am letzten) {weekday}",
    r"{day}\.? {month}",
    "(?:im|in|im monat) {month}",
)
FRENCH = Vocabulary(
    "french",
    "",
    "aujourd hier matin soir midi demain semaine mois an jour heure quinzaine di janvier fevrier mars avril mai juin "
    "juillet aout septembre octobre novembre decembre",
    {
        0: "aujourd'?hui | ce matin | ce soir | cet apres-midi",
        -2: "avant-hier",
        -1: "hier(?: (?:soir|matin))?",
        1: "demain",
        2: "apres-demain",
    },
    "semaine",
    "mois",
    "an(?:nee)?",
    "(?:la |le |l')?{unit} (?:derniere?|passee?)",
    "ce(?:tte|t)? {unit}(?:-ci)?",
    "(?:la |le |l')?{unit} prochaine?",
    "il y a {amount} {units}",
    ("jours?", "semaines?", "mois", "an(?:nee)?s?"),
    "un/une deux trois quatre cinq six sept huit neuf dix",
    "janvier/janv fevrier/fevr mars avril mai juin juillet aout septembre/sept octobre/oct novembre/nov decembre/dec",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "{weekday} (?:dernier|passe)",
    "(?:le )?{day}(?:er)? {month}",
    "(?:en|au mois de|pendant) {month}",
)
SPANISH = Vocabulary(
    "spanish",
    "",
    "hoy ayer anoche antier manana tarde noche semana mes ano dia hora lunes martes mierc jueves viernes sabado "
    "domingo ero marzo abril mayo jun jul agosto bre",
    {
        0: "hoy | esta manana | esta tarde | esta noche",
        -2: "anteayer | antier | antes de ayer",
        -1: "ayer | anoche",
        1: "(?<!la )(?<!esta )(?<!cada )manana",
        2: "pasado manana",
    },
    "semana",
    "mes",
    "ano",
    "(?:la |el )?{unit} pasad[oa] | (?:la |el )?(?:ultim[oa]|pasad[oa]) {unit}",
    "est[ae] {unit}",
    "(?:la |el )?proxim[oa] {unit} | (?:la |el )?{unit} que viene",
    "hace {amount} {units}",
    ("dias?", "semanas?", "mes(?:es)?", "anos?"),
    "un/una/uno dos tres cuatro cinco seis siete ocho nueve diez",
    "enero febrero marzo abril mayo junio julio agosto septiembre/setiembre octubre noviembre diciembre",
    "lunes martes miercoles jueves viernes sabado domingo",
    "(?:el|el pasado|este) {weekday} | el {weekday} pasado",
    "(?:el )?{day} de {month}",
    "(?:en|durante) {month}",
)
PORTUGUESE = Vocabulary(
    "portuguese",
    "",
    "hoje ontem manha tarde noite semana mes ano dia hora feira segunda terca quarta quinta sexta sabado domingo "
    "eiro marco abril maio junho julho agosto bro",
    {
        0: "hoje | esta manha | esta tarde | esta noite",
        -2: "anteontem | antes de ontem",
        -1: "ontem",
        1: "amanha",
        2: "depois de amanha",
    },
    "semana",
    "mes",
    "ano",
    "(?:na |no |a |o )?{unit} passad[oa] | (?:na |no |a |o )?(?:ultim[oa]|passad[oa]) {unit}",
    "n?(?:est|ess)[ae] {unit}",
    "(?:na |no |a |o )?proxim[oa] {unit} | (?:na |no |a |o )?{unit} que vem",
    "ha {amount} {units}(?: atras)? | {amount} {units} atras",
    ("dias?", "semanas?", "mes(?:es)?", "anos?"),
    "um/uma dois/duas tres quatro cinco seis sete oito nove dez",
    "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "segunda-feira/segunda terca-feira/terca quarta-feira/quarta quinta-feira/quinta sexta-feira/sexta sabado domingo",
    # `na segunda` also means `in the second`, unless the sentence ends with it.
    "(?:na |no |n?a ultima |n?o ultimo )?{weekday} passad[oa] | (?:na|no|na ultima|no ultimo) {weekday}"
    r"(?:(?<=feira)|(?<=sabado)|(?<=domingo)|(?=\s*(?:[?!.,;]|$)))",
    "(?:em |no dia |dia )?{day} de {month}",
    "(?:em|durante) {month}",
)
ITALIAN = Vocabulary(
    "italian",
    "",
    "oggi stama mattina stasera ieri domani settiman mes ann giorn ultim lunedi martedi mercoledi giovedi venerdi "
    "sabato domenica aio marzo aprile maggio giugno luglio agosto bre",
    {
        0: "oggi | stamattina | stamani | stasera | questa mattina | questa sera",
        -2: "l'altro ieri | avantieri | ieri l'altro",
        -1: "ieri(?: sera)?",
        1: "domani",
        2: "dopodomani",
    },
    "settimana",
    "mese",
    "anno",
    "(?:la |il |l')?{unit} (?:scors|passat)[oa] | (?:la |il |l')?(?:scors|ultim)[oa] {unit} | lo scorso {unit}",
    "quest(?:[oa] |'){unit}",
    "(?:la |il )?prossim[oa] {unit} | (?:la |il )?{unit} prossim[oa]",
    "{amount} {units} fa",
    ("giorn[oi]", "settiman[ae]", "mes[ei]", "ann[oi]"),
    "un/una/uno due tre quattro cinque sei sette otto nove dieci",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "lunedi martedi mercoledi giovedi venerdi sabato domenica",
    "{weekday} (?:scors|passat)[oa] | l[oa] scors[oa] {weekday}",
    "(?:il )?{day} {month}",
    "(?:a|in|nel mese di) {month}",
)
RUSSIAN = Vocabulary(
    "russian",
    "\u0400-\u04ff",
    "",
    {0: "сегодня(?: утром| вечером)?", -2: "позавчера", -1: "вчера(?:шнего дня)?", 1: "завтра", 2: "послезавтра"},
    "недел[еюяи]",
    "месяц[еа]?",
    "год[уа]?",
    "(?:на |в )?прошл(?:ой|ую|ом|ый|ое|ого|ая) {unit}",
    "(?:на |в )?(?:этой|эту|этом|этот|эта|текущем|текущей) {unit}",
    "(?:на |в )?следующ(?:ей|ую|ем|ий|ая) {unit}",
    "(?:{amount} )?{units} назад",
    ("день|дня|дней|сутки|суток", "недел[юиья]|недель", "месяц(?:а|ев)?", "год(?:а)?|лет"),
    "один/одну/одна два/две три четыре пять шесть семь восемь девять десять",
    "январь/января/январе февраль/февраля/феврале март/марта/марте апрель/апреля/апреле май/мая/мае июнь/июня/июне "
    "июль/июля/июле август/августа/августе сентябрь/сентября/сентябре октябрь/октября/октябре ноябрь/ноября/ноябре "
    "декабрь/декабря/декабре",
    "понедельник/понедельника вторник/вторника среда/среду/среды четверг/четверга пятница/пятницу/пятницы "
    "суббота/субботу/субботы воскресенье/воскресенья",
    "(?:в|во|в прошлый|в прошлую|в прошлое) {weekday}",
    "{day}(?:-го)? {month}",
    "(?:в|за|в начале|в конце) {month}",
)
HINDI = Vocabulary(
    "hindi",
    "\u0900-\u097f",
    "",
    {0: "आज", -2: "परसों", -1: "(?:बीते )?कल"},
    "हफ्ते|हफ़्ते|सप्ताह|हफ्ता",
    "महीने|महीना|माह",
    "साल|वर्ष",
    "(?:पिछले|पिछला|बीते|गत) {unit}",
    "इस {unit}",
    "(?:अगले|अगला) {unit}",
    "{amount} {units} पहले",
    ("दिन|दिनों", "हफ्ते|हफ़्ते|हफ्तों|हफ्ता|सप्ताह", "महीने|महीनों|महीना|माह", "साल|सालों|वर्ष|वर्षों"),
    "एक दो तीन चार पाँच/पांच छह/छः सात आठ नौ दस",
    "जनवरी फ़रवरी/फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर/सितम्बर अक्टूबर/अक्तूबर नवंबर/नवम्बर दिसंबर/दिसम्बर",
    "सोमवार मंगलवार बुधवार गुरुवार/बृहस्पतिवार शुक्रवार शनिवार रविवार/इतवार",
    "{weekday} को | पिछले {weekday}",
    "{day} {month}",
    "{month} (?:में|के दौरान)",
)
ARABIC = Vocabulary(
    "arabic",
    "\u0600-\u06ff",
    "",
    {
        0: "اليوم | هذا الصباح | هذا المساء",
        -2: "أول (?:من )?أمس",
        -1: "أمس | البارحة | مبارح",
        1: "غدا|غد\u064bا|غدا\u064b",
        2: "بعد غد",
    },
    "الأسبوع",
    "الشهر",
    "السنة|العام",
    "(?:في )?{unit} (?:الماضية|الماضي|المنصرم|الفائت|السابق)",
    "(?:في )?(?:هذا|هذه) {unit}",
    "(?:في )?{unit} (?:القادمة|القادم|المقبل|المقبلة)",
    "(?:قبل|منذ) (?:{amount} )?{units}",
    ("يوما?|أيام", "أسبوعا?|أسابيع", "شهرا?|أشهر|شهور", "سنة|سنوات|عاما?|أعوام"),
    "واحد/واحدة اثنين/اثنتين ثلاثة/ثلاث أربعة/أربع خمسة/خمس ستة/ست سبعة/سبع ثمانية/ثماني تسعة/تسع عشرة/عشر",
    "يناير/كانون_الثاني فبراير/شباط مارس/آذار أبريل/نيسان مايو/أيار يونيو/حزيران يوليو/تموز أغسطس/آب سبتمبر/أيلول "
    "أكتوبر/تشرين_الأول نوفمبر/تشرين_الثاني ديسمبر/كانون_الأول",
    "الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد",
    "(?:يوم )?{weekday} (?:الماضية|الماضي) | يوم {weekday}",
    "{day} {month}",
    "(?:في|خلال|في شهر) {month}",
)
BENGALI = Vocabulary(
    "bengali",
    "\u0980-\u09ff",
    "",
    {
        0: "আজ(?:কে)? | আজ সকালে | আজ রাতে",
        -2: "গত পরশু",
        -1: "গতকাল | গত কাল | কাল(?:কে)?",
        1: "আগামীকাল",
        2: "আগামী পরশু",
    },
    "সপ্তাহ(?:ে|ের|টা)?",
    "মাস(?:ে|ের)?",
    "বছর(?:ে|ের)?",
    "(?:গত|বিগত|আগের) {unit}",
    "(?:এই|এ|চলতি) {unit}",
    "(?:আগামী|পরের) {unit}",
    "{amount} {units} আগে",
    ("দিন", "সপ্তাহ", "মাস", "বছর"),
    "এক দুই/দু তিন চার পাঁচ ছয় সাত আট নয় দশ",
    "জানুয়ারি/জানুয়ারী ফেব্রুয়ারি/ফেব্রুয়ারী মার্চ এপ্রিল মে জুন জুলাই আগস্ট/অগাস্ট সেপ্টেম্বর অক্টোবর নভেম্বর ডিসেম্বর",
    "সোমবার মঙ্গলবার বুধবার বৃহস্পতিবার শুক্রবার শনিবার রবিবার/রোববার",
    "(?:গত|আগের) {weekday}",
    "{day}(?:শে|ই|লা|রা|ঠা)? {month}(?:ে|ের)?",
    "{month}(?:ে|তে| মাসে)",
)
URDU = Vocabulary(
    "urdu",
    "\u0679\u067e\u0686\u0688\u0691\u06a9\u06af\u06ba\u06be\u06c1\u06cc\u06d2",  # letters that Arabic does not have
    "",
    {0: "آج(?: صبح| رات)?", -2: "پرسوں", -1: "کل | گزشتہ روز"},
    "ہفتے|ہفتہ",
    "مہینے|مہینہ|ماہ",
    "سال|برس",
    "(?:پچھلے|پچھلا|گزشتہ|گذشتہ) {unit}",
    "(?:اس|رواں) {unit}",
    "(?:اگلے|اگلا|آئندہ) {unit}",
    "{amount} {units} پہلے",
    ("دن|دنوں", "ہفتے|ہفتہ|ہفتوں", "مہینے|مہینہ|مہینوں|ماہ", "سال|سالوں|برس"),
    "ایک دو تین چار پانچ چھ/چھے سات آٹھ نو دس",
    "جنوری فروری مارچ اپریل مئی جون جولائی اگست ستمبر اکتوبر نومبر دسمبر",
    "پیر/سوموار منگل بدھ جمعرات جمعہ/جمعے سنیچر اتوار",
    "{weekday} کو | (?:پچھلے|گزشتہ) {weekday}",
    "{day} {month}",
    "{month} (?:میں|کے دوران)",
)
INDONESIAN = Vocabulary(
    "indonesian",
    "",
    "hari kemarin semalam malam pagi esok minggu pekan bulan tahun jam senin selasa rabu kamis jumat sabtu "
    "januari februari maret april mei juni juli agustus "
    "september oktober november desember",
    {
        0: "hari ini | pagi ini | sore ini | malam ini | tadi pagi",
        -2: "kemarin dulu",
        -1: "kemarin | semalam | tadi malam",
        1: "hari esok",
    },
    "minggu|pekan",
    "bulan",
    "tahun",
    "{unit} (?:yang )?(?:lalu|kemarin)",
    "{unit} ini",
    "{unit} depan",
    "{amount} {units} (?:yang )?lalu",
    ("hari", "minggu|pekan", "bulan", "tahun"),
    "satu dua tiga empat lima enam tujuh delapan sembilan sepuluh",
    "januari februari maret april mei juni juli agustus september oktober november desember",
    "senin selasa rabu kamis jumat sabtu minggu",
    "(?:pada )?hari {weekday}(?: (?:lalu|kemarin))? | {weekday} (?:yang )?(?:lalu|kemarin)",
    "(?:pada )?(?:tanggal )?{day} {month}",
    "(?:pada|di|selama|bulan|pada bulan) {month}",
)
_ALL = (GERMAN, FRENCH, SPANISH, PORTUGUESE, ITALIAN, RUSSIAN, HINDI, ARABIC, BENGALI, URDU, INDONESIAN)
VOCABULARIES = {vocabulary.language: vocabulary for vocabulary in _ALL}


class RecentPhrases(NamedTuple):
    """How one language names days shortly before today, in templates. Besides the above, these have `{any_unit}`, which
    is `{unit}` a second time; `{plural}`, units that are surely several; `{last_week}`."""

    few: str  # words for a number that nobody knows exactly
    hours: str
    before_last: str  # with a unit: the one before the last one
    up_to_now: str  # with units: so many of them, until today
    since_weekday: str
    weekday_of_last_week: str
    early: str  # with a unit: from its beginning until today
    plurals: tuple[str, str, str, str] | None = None  # where these are others than the units as they are counted
    two_weeks: str = ""  # in place of an amount and a unit


RECENT = {
    "english": RecentPhrases(
        "few/a_few/several",
        "hours?",
        "(?:in |during )?(?:the )?{unit} before last",
        "(?:in |over |during |within |for )?(?:the )?(?:last|past) {amount} {units}"
        " | (?:in |over |during |within |for )?(?:the |these |this )?(?:last|past) {plural}"
        " | (?:in |over )?(?:the |these )?recent {plural}"
        " | (?:in|over|during|within) the (?:last|past) {units} | (?:the|this) past {unit}",
        "since (?:last |this )?{weekday}",
        "(?:on )?{weekday} (?:of |in )?last week | last week(?:'s)? (?:on )?{weekday}",
        "earlier this {unit} | (?:at )?the (?:beginning|start) of (?:this|the) {unit}",
        ("days", "weeks", "months", "years"),
        "fortnight",
    ),
    "german": RecentPhrases(
        "ein_paar/paar/einigen/einige/wenigen/mehreren",
        "stunden?",
        "(?:im |in der )?vorletzte[nrms]? {unit}",
        "(?:in den |die |der |wahrend der )?(?:letzten|vergangenen) {amount} {units}"
        " | (?:in den |die |der |wahrend der )?(?:letzten|vergangenen) {plural}",
        "seit (?:dem )?(?:letzte[mn] |diese[mn] )?{weekday}",
        "(?:am )?{weekday} (?:in der |der )?{last_week}",
        "(?:zu |am )?(?:anfang|beginn) diese[rs] {unit} | fruher (?:in )?diese[rmns]? {unit}",
        ("tagen?", "wochen", "monaten?", "jahren?"),
        "vierzehn tagen",
    ),
    "french": RecentPhrases(
        "quelques",
        "heures?",
        "(?:la |le |l')?{unit} d'avant (?:la |le )?dernier?e? | (?:a )?l'avant-derniere? {unit}",
        "(?:au cours des |durant les |pendant les |les |ces |des ){amount} (?:derniers|dernieres) {units}"
        " | (?:au cours des |durant les |pendant les |les |ces |des )(?:derniers|dernieres) {amount} {units}"
        " | (?:au cours des |durant les |pendant les |les |ces |des )(?:derniers|dernieres) {plural}",
        "depuis (?:le |ce )?{weekday}(?: dernier)?",
        "(?:le )?{weekday} (?:de )?{last_week}",
        "plus tot ce(?:tte|t)? {unit}(?:-ci)? | (?:au|en) debut de ce(?:tte|t)? {unit}(?:-ci)?",
        None,
        "quinze jours|une quinzaine",
    ),
    "spanish": RecentPhrases(
        "unos/unas/algunos/algunas/pocos/pocas",
        "horas?",
        "(?:la |el )?{unit} antepasad[oa] | (?:la |el )?penultim[oa] {unit}",
        "(?:en |durante )?(?:los |las )?(?<!n[oa]s )ultim[oa]s {amount} {units}"
        " | (?:en |durante )?(?:los |las )?(?<!n[oa]s )ultim[oa]s {plural}"
        " | (?:en |durante )?(?:los |las ){amount} ultim[oa]s {units}",
        "desde (?:el |este )?{weekday}(?: pasado)?",
        "(?:el )?{weekday} (?:de )?{last_week}",
        "(?:a principios|a comienzos|al comienzo|al inicio) de est[ae] {unit}",
        None,
        "quince dias",
    ),
    "portuguese": RecentPhrases(
        "alguns/algumas/uns/umas/poucos/poucas",
        "horas?",
        "(?:na |no |a |o )?{unit} retrasad[oa] | (?:na |no |a |o )?penultim[oa] {unit}",
        "(?:nos |nas |os |as |durante os |durante as )?ultim[oa]s {amount} {units}"
        " | (?:nos |nas |os |as |durante os |durante as )?ultim[oa]s {plural}",
        "desde (?:a |o )?(?:ultim[oa] )?{weekday}(?: passad[oa])?",
        "(?:na |no )?{weekday} (?:da |de )?{last_week}",
        "no (?:inicio|comeco) d(?:est|ess)[ae] {unit}",
        None,
        "quinze dias",
    ),
    "italian": RecentPhrases(
        "qualche/alcuni/alcune/pochi/poche",
        "or[ae]",
        "(?:la |il |l')?{unit} prima dell[ao] (?:scors|ultim|passat)[oa] | (?:la |il )?penultim[oa] {unit}",
        "(?:negli |nelle |gli |le )?ultim[ie] {amount} {units} | (?:negli |nelle |gli |le )?ultim[ie] {plural}",
        "da(?:l|llo)? (?:scors[oa] )?{weekday}(?: scors[oa])?(?! a )",
        "{weekday} (?:della |di )?{last_week}",
        "all'inizio di quest(?:[oa] |'){unit}",
        None,
        "quindici giorni",
    ),
    "russian": RecentPhrases(
        "несколько/пару",
        "час(?:а|ов)?",
        "(?:на |в )?позапрошл(?:ой|ую|ом|ый|ое|ого|ая) {unit}",
        "(?:за |в )?последни[ех] {amount} {units} | (?:за |в )?последни[ех] {plural} | за последн(?:юю|ий) {unit}",
        "со? (?:прошлого |прошлой )?{weekday}",
        "(?:во? )?{weekday} {last_week}",
        "в начале (?:этого|этой|текущего|текущей) {unit}",
        ("дни|дней", "недел[ьи]", "месяц(?:ы|ев)", "годы|лет"),
    ),
    "hindi": RecentPhrases(
        "कुछ/चंद",
        "घंटे|घंटों",
        "(?:पिछले|पिछला) से (?:पिछले|पिछला) {unit}",
        "(?:पिछले|बीते|गत) {amount} {units}(?: में| से)?",
        "{weekday} से(?! पहले)",
        "{last_week} (?:के )?{weekday}(?: को)?",
        "इस {unit} (?:की शुरुआत|के शुरू) में",
    ),
    "arabic": RecentPhrases(
        "بضعة/بضع/عدة",
        "ساعات|ساعة",
        "(?:في )?{unit} قبل (?:الماضية|الماضي)",
        "(?:في |خلال )?(?:آخر|اخر) {amount} {units} | (?:في |خلال )?ال{plural} ال{amount} (?:الماضية|الأخيرة)"
        " | (?:في |خلال )?ال{plural} (?:الماضية|الأخيرة)",
        "منذ (?:يوم )?{weekday}(?: (?:الماضية|الماضي))?",
        "(?:يوم )?{weekday} (?:من |في )?{last_week}",
        "(?:في )?بداية (?:هذا |هذه ){unit}",
        ("أيام", "أسابيع", "أشهر|شهور", "سنوات|أعوام"),
    ),
    "bengali": RecentPhrases(
        "কয়েক",
        "ঘণ্টা",
        "(?:গত|বিগত) {any_unit} আগের {unit}",
        "(?:গত|বিগত) {amount} {units}(?:ে|ের|ায়)?",
        "{weekday} থেকে",
        "{last_week} {weekday}",
        "(?:এই|এ|চলতি) {unit} (?:শুরুতে|শুরুর দিকে)",
    ),
    "urdu": RecentPhrases(
        "چند/کچھ",
        "گھنٹے|گھنٹوں",
        "(?:پچھلے|گزشتہ) سے (?:پچھلے|پچھلا|گزشتہ) {unit}",
        "(?:پچھلے|گزشتہ) {amount} {units}(?: میں| سے)?",
        "{weekday} سے(?! پہلے)",
        "{last_week} (?:کے )?{weekday}(?: کو)?",
        "(?:اس|رواں) {unit} کے (?:شروع|آغاز) میں",
    ),
    "indonesian": RecentPhrases(
        "beberapa",
        "jam",
        "{unit} sebelum {any_unit} (?:yang )?lalu",
        "(?:dalam |selama )?{amount} {units} (?:terakhir|belakangan ini|belakangan)",
        "sejak (?:hari )?{weekday}(?: (?:lalu|kemarin))?",
        "(?:hari )?{weekday} {last_week}",
        "(?:di |pada )?awal {unit} ini",
    ),
}
# How a year is named, `{year}`.
IN_YEAR = {
    "german": "(?:im jahre?|anno|in) {year}",
    "french": "(?:en|pendant|durant)(?: l'an(?:nee)?)? {year}",
    "spanish": "(?:en|durante)(?: el ano)? {year}",
    "portuguese": "(?:em|durante|no ano de) {year}",
    "italian": "(?:nel|nell'anno|durante il) {year}",
    "russian": r"(?:в|за) {year} (?:году|год|г\.?) | в {year}(?=\s*(?:[?!.,;]|$))",
    "hindi": "{year} (?:में|के दौरान)",
    "arabic": "(?:في|خلال)(?: (?:عام|سنة|العام))? {year}",
    "bengali": "{year} (?:সালে|সালের|সাল)",
    "urdu": "{year} (?:میں|کے دوران)",
    "indonesian": "(?:pada|di|selama)(?: tahun)? {year} | tahun {year}",
}
# Words of one language alone, by which a short phrase is recognised.
OWN_WORDS = {
    "german": "gestern vorgestern heute ubermorgen letzte letzten letztes letzter vorige voriges vergangene "
    "vergangenen vorletzte vorletzten vorletztes vorletzter seit tagen wochen dieser dieses",
    "french": "aujourd demain derniere dernier derniers dernieres prochaine prochain quelques quinze depuis "
    "jours debut",
    "spanish": "ayer anteayer anoche hoy pasado pasada antepasado antepasada ultimos ultimas hace dias desde "
    "principios",
    "portuguese": "ontem anteontem hoje amanha passado passada retrasado retrasada ultimos ultimas neste nesta vem ha "
    "dias desde inicio comeco",
    "italian": "ieri oggi domani dopodomani scorso scorsa stamattina stasera ultimi ultime fa giorni giorno "
    "settimana inizio",
    "indonesian": "kemarin semalam lalu yang minggu pekan tahun terakhir sejak beberapa awal",
}
# In Arabic, two days (weeks, months, years) are one word.
ARABIC_DUALS = {"day": "يومين", "week": "أسبوعين", "month": "شهرين", "year": "سنتين|عامين"}
# A text names days as seen from its own only if it has one of these.
RELATIVE_WORDS = (
    r"yesterday|today|tonight|tomorrow|\bago\b|\b(?:last|next|past|this) (?:week|month|year|night|[mtwfs])"
    r"|gestern|heute|\bmorgen\b|\b(?:letzte|nachste|kommende|vorige|diese)[nrs]?\b|\bvor "
    r"|\bhier\b|aujourd|demain|dernier|prochain|il y a|\bayer\b|\bhoy\b|anoche|manana|pasad|proxim|\bhace\b"
    r"|ontem|\bhoje\b|amanha|passad|atras|\bieri\b|\boggi\b|domani|scors|prossim|\bfa\b"
    r"|вчера|сегодня|завтра|прошл|следующ|назад|कल|आज|परसों|पिछ|अगल|पहल|امس|البارحه|البارحة|اليوم|غد|الماضي|القادم|قبل"
    r"|[昨今明前上下先来來][天日周週月年晚夜个個]|去年|星期|어제|오늘|내일|지난|다음|이번|전"
)
