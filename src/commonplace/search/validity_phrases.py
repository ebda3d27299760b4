"""How people say until when, or from when on, something holds, in twelve languages.

Templates are those of `date_phrases`, with more parts: `{date}` is any way to name a day, a week, a month or a year, as
seen from the day on which it was written. `first` and `last` say of which end a template with `{date}` speaks.
"""

from __future__ import annotations

from typing import NamedTuple


class ValidityWords(NamedTuple):
    """What one language adds to its vocabulary of days."""

    until: str  # templates with {date}, the last day
    start: str  # templates with {date}, the first day
    coming: str  # templates with {amount} and {units}: from now on for so long
    next: str  # before or after a weekday: the one to come
    end: str  # templates with {unit} or {month}: the end of it
    weekdays: str  # further forms of the days of the week, from Monday
    units: str  # further forms of week, month and year, in this order
    days: dict[int, str]  # further names of days, by how many they are from today
    between: str  # templates with {date} and {end}: from one day to another
    past: str  # a word of these before the phrase tells of the past: nothing is valid any more


ENGLISH = ValidityWords(
    r"(?:until|till|'?til|through(?! this)|expires(?: on)?|ends on)(?: the)? {date}(?: inclusive)?",
    r"(?:starting(?: from| on)?|beginning(?: on)?|effective(?: from)?|as (?:of|from))(?: the)? {date}"
    r" | (?<![^\n.;:!?,(]) ?from(?: the)? {date}(?! (?:to|until|till|through|-) ) | from(?: the)? {date} on(?:wards?)?",
    r"(?:for|over|during) the (?:next|coming) {amount} {units} | for the (?:next|coming) {units}",
    r"(?:next|this|this coming|the coming)",
    r"(?:the )?end of (?:the |this )?{unit} | (?:the )?end of {month}",
    "",
    "",
    {0: "today | tonight", 1: "tomorrow", 2: "the day after tomorrow"},
    r"(?:from )?(?:the )?{date} ?(?:to|until|till|through|thru|-|–) ?(?:the )?{end}",
    r"was|were|had|did|didn't|lasted|waited|worked|stayed|lived|slept|kept|talked|ran|went|took|spent|studied|played|"
    r"sat|read|drove|partied|danced|travelled|traveled|remained|used to",
)
OTHERS = {
    "german": ValidityWords(
        r"bis(?: (?:einschließlich|zum|zur|inkl\.?))? {date}",
        r"(?:ab|ab dem|beginnend|mit wirkung vom) {date}",
        r"(?:fur |in |wahrend )?(?:die|den|der)? ?(?:nachsten|kommenden) {amount} {units}",
        r"(?:nachsten?|kommenden?|diesen?)",
        r"ende (?:der |des )?{unit} | ende {month} | {unit}s?ende",
        "montags dienstags mittwochs donnerstags freitags samstags sonntags",
        "woche monats?|monats jahres?",
        {},
        r"(?:von |vom )?(?:dem )?{date} ?(?:bis|-|–) ?(?:zum |zur )?{end}",
        "war|waren|hatte|hatten|wurde|wurden|arbeitete|wartete|blieb|blieben|dauerte|schlief|lebte|wohnte|ging",
    ),
    "french": ValidityWords(
        r"jusqu(?:'au|'a|'en|'aux)(?: la| l')? ?{date}",
        r"(?:a partir (?:du|de|d')|des(?: le)?|a compter (?:du|de)) ?{date}",
        r"(?:pendant |pour |dans |durant )?les {amount} prochain(?:e)?s {units}"
        r" | (?:pendant |pour )?les prochain(?:e)?s {amount} {units}",
        r"(?:ce|le|la)",
        r"(?:la )?fin (?:de la |du |de l'|de cette |d')?{unit} | (?:la )?fin (?:du mois de )?{month}",
        "",
        "",
        {},
        r"(?:du |de |d')?{date} ?(?:au|a|jusqu'au|jusqu'a|-|–) ?{end}",
        "etait|etaient|avait|avaient|fut|a dure|ai travaille|avons|attendu|reste|suis reste|dormi",
    ),
    "spanish": ValidityWords(
        r"hasta(?: el| la)?(?: dia)? ?{date}",
        r"(?:a partir (?:del|de la|de)|a contar (?:del|de)|desde) {date}(?: en adelante)?",
        r"(?:durante |por |en )?(?:las|los) proxim[oa]s {amount} {units}",
        r"(?:el proximo|este|el|proximo)",
        r"(?:fin|finales|el final|el fin) (?:de (?:la |este |esta |el )?|del )?{unit}"
        r" | (?:fin|finales|el final|el fin) de {month}",
        "",
        "",
        {},
        r"(?:del? |desde (?:el )?)?{date} ?(?:al?|hasta(?: el)?|-|–) ?{end}",
        "estuvo|estuvieron|estaba|estaban|era|fue|trabaje|trabajo hasta tarde|espero|espere|duro|quedo|vivio|dormi",
    ),
    "portuguese": ValidityWords(
        r"ate(?: (?:ao|a|o|dia|o dia|ao dia))? ?{date}",
        r"(?:a partir d[eoa]|a contar d[eoa]|desde)(?: o| a)? {date}(?: em diante)?",
        r"(?:durante |por |n)?(?:as|os) proxim[oa]s {amount} {units}",
        r"(?:proxim[oa]|est[ae]|a|o)",
        r"(?:o |ao )?(?:fim|final) (?:d[eoa]|dest[ae])(?: o| a)? ?{unit} | (?:o |ao )?(?:fim|final) de {month}",
        "segunda terca quarta quinta sexta sabado domingo",
        "",
        {},
        r"(?:de |desde (?:o |a )?)?{date} ?(?:ao?|ate(?: o| a| ao)?|-|–) ?{end}",
        "esteve|estiveram|estava|estavam|era|foi|trabalhei|esperei|esperou|durou|ficou|fiquei|morou|dormi",
    ),
    "italian": ValidityWords(
        r"fino (?:a|al|alla|all')(?: prossim[oa])? ?{date}",
        r"(?:a partire (?:da|dal|dalla)|a decorrere dal?|da|dal) {date}(?: in poi)?",
        r"(?:per |durante |nelle |nei )?(?:le|i|gli)? ?prossim[ei] {amount} {units}",
        r"(?:prossim[oa]|quest[oa])",
        r"(?:la )?fine (?:della |del |dell'|di )?{unit} | (?:la )?fine (?:di )?{month} | fine {unit}",
        "",
        "",
        {},
        r"(?:dal? |dalla )?{date} ?(?:al?|alla|fino al?|-|–) ?{end}",
        "era|erano|fu|stato|stata|ho lavorato|ha lavorato|aspettato|rimasto|durato|dormito|abitato",
    ),
    "russian": ValidityWords(
        r"(?:до|по) {date}(?: включительно)?",
        r"(?:начиная с|с) {date}(?! (?:по|до) )",
        r"(?:в течение |на )?(?:следующ(?:их|ие)|ближайш(?:их|ие)) {amount} {units}",
        r"(?:следующ(?:его|ей|ий|ую|ую)|эт(?:ого|ой))",
        r"конца {unit} | конца {month}",
        "понедельника вторника среды четверга пятницы субботы воскресенья",
        "недели|неделю месяца года",
        {0: "сегодня", 1: "завтра", 2: "послезавтра"},
        r"(?:с )?{date} ?(?:по|до|-|–) ?{end}",
        "был|была|было|были|работал|работала|ждал|ждала|ждали|жил|жила|спал|спала|длилось|длился",
    ),
    "hindi": ValidityWords(
        r"{date}(?: के)? तक",
        r"{date} से",
        r"(?:अगले|आने वाले) {amount} {units}(?: तक| के लिए| में)?",
        r"(?:अगले|इस|आने वाले)",
        r"(?:इस )?{unit} के (?:अंत|आखिर) | {month} के (?:अंत|आखिर)",
        "",
        "",
        {0: "आज", 1: "कल", 2: "परसों"},
        r"{date} से {end}(?: तक)?",
        "था|थी|थे",
    ),
    "arabic": ValidityWords(
        r"(?:حتى|حتي|لغاية|لغايه)(?: يوم)? {date}",
        r"(?:ابتداء من|اعتبارا من|بدءا من|من يوم|منذ الان حتي)(?: يوم)? {date}",
        r"(?:خلال |لمده )?(?:ال)?{units}(?: ال{amount})? (?:القادمه|القادمة|المقبله|المقبلة|القادمين|المقبلين)",
        r"(?:يوم)",
        r"نهاي[هة] {unit} | نهاي[هة] {month}",
        "",
        "",
        {1: "الغد | غدا | غد"},
        r"(?:من )?(?:يوم )?{date} (?:الى|الي|حتى|حتي) (?:يوم )?{end}",
        "كان|كانت|كانوا|عمل|انتظر|بقي",
    ),
}
MORE_NUMBERS = {"russian": "одной/одного двух трех четырех пяти шести семи восьми девяти десяти"}
# Chinese, Japanese and Korean have no spaces, and say it before or after the date.
UNSPACED = ValidityWords(
    r"(?:有效期?(?:至|到)|一?直到|截至|截止到?|(?<![迟遲期后後前动動成移改])[到至]){date}(?:为止|為止|之前|前)?"
    r" | {date}(?:为止|為止) | {date}まで(?!に) | {date}\s?까지",
    r"(?:从|從|自){date}(?:起|开始|開始) | {date}(?:起|开始|開始)(?!床) | {date}(?:から|以降|より) | {date}\s?부터",
    r"(?:接下来|接下來|未来|未來|今后|今後|往后)的?{amount}(?:个|個)?{units}"
    r" | (?:今後|これから|向こう){amount}{units} | (?:앞으로|다음|향후)\s?{amount}\s?{units}",
    "",
    "",
    "",
    "",
    {},
    r"(?:从|從|自)?{date}(?:起|开始)?(?:到|至|から|부터\s?|~|～|-){end}(?:为止|まで|까지)?",
    "昨|曾|했다|했습니다|였다",
)
UNSPACED_DAYS = {0: "今天|今日|本日|오늘", 1: "明天|明日|あした|내일", 2: "后天|後天|明後日|あさって|모레"}
UNSPACED_DATES = (
    r"(?:(?P<year>[0-9]{4})[年년]\s?)?(?P<month>1[0-2]|0?[1-9])[月월]\s?(?P<day>[0-9]{1,2})[日号號일]",
    r"(?P<week>(?:这|這|本|今|이번\s?)(?:个|個)?(?:周末|週末|周|週|星期|주말|주))",
    r"(?P<month_>(?:这个?|這個?|本|今|이번\s?)?(?:月底|月末|달\s?말|월말)|(?:本|今)月|이번\s?달)",
    r"(?P<year_>年底|年末|今年底?|올해(?:\s?말)?|연말)",
    r"(?P<following>)(?P<week>(?:下(?:个|個)?|来|다음\s?)(?:周|週|星期|주)(?![一二三四五六日天末]))",
    r"(?P<following>)(?P<month_>(?:下(?:个|個)?|来|다음\s?)(?:月|달)(?:底|末|\s?말)?)",
    r"(?P<following>)(?P<year_>明年|来年|내년)",
    r"(?P<next>下(?:个|個)?|来週の?|다음\s?주\s?)?(?:这|這|本|今週の?|이번\s?주\s?)?"
    r"(?:周|週|星期|礼拜|禮拜)(?P<weekday>[一二三四五六日天])",
    r"(?P<next>来週の?|다음\s?주\s?)?(?:今週の?|이번\s?주\s?)?(?P<weekday>[月火水木金土日월화수목금토일])(?:曜日?|요일)",
    r"(?:(?P<year>[0-9]{4})[年년]\s?)?(?P<month>1[0-2]|0?[1-9])[月월](?:底|末|\s?말)?",
    r"(?P<year>20[0-9]{2})[年년](?:底|末|말)?",
)
UNSPACED_UNITS = ("天|日間?|일간?", "周|週間?|星期|礼拜|주간?", "个月|個月|か月間?|ヶ月間?|カ月間?|개월|달", "年間?|년")
UNSPACED_NUMBERS = "一/한 二/两/兩/두 三/세 四/네 五/다섯 六/여섯 七/일곱 八/여덟 九/아홉 十/열 十一 十二"
# A sentence with one of these tells what is so again and again: it has no end.
RECURRING = (
    r"(?:each|every) (?:other |single )?(?:day|night|morning|afternoon|evening|week|weekend|weekday|month|quarter|year|"
    r"sprint|term|semester|season|time|release|cycle|mon|tue|wed|thu|fri|sat|sun)\w*",
    r"weekly|fortnightly|monthly|quarterly|daily|nightly|yearly|annually|usually|always|habit\w*|regularly|routine\w*",
    r"as a rule|normally|typically|generally|mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays",
    r"jede[nrsm]?|immer(?! noch)|ublicherweise|gewohnlich|normalerweise|wochentlich|monatlich|taglich|jahrlich|montags",
    r"dienstags|mittwochs|donnerstags|freitags|samstags|sonntags|chaque|tous les|toutes les|d'habitude|habituellement",
    r"cada|todos los|todas las|siempre|normalmente|habitualmente|todos os|todas as|toda|sempre|geralmente|ogni|tutti i",
    r"tutte le|di solito|кажд\w+|обычно|всегда|ежедневно|еженедельно|हर|हमेशा|كل (?:يوم|اسبوع|شهر|سنه|عام)|دائما|عاده",
)
RECURRING_UNSPACED = "每|毎|매주|매달|매일|항상|いつも|总是|總是|通常"
