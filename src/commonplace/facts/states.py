"""States that verbs tell of and verbs change: `lives in`, `moved to`; `works at`, `left`; `leads`, `took over from`.

`Ute moved to Lübeck` shares one word with `Ute lives in Kiel`, and says all the same where Ute lives now. A table has,
for each relation and language, the forms (`forms.py`) that tell of a state, of its change, and of its end. In them, `S`
is what it is about, `V` the value, and `X` what came before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Literal, NamedTuple

from ..caching import cache_within
from ..patterns import lazy_pattern
from .claims import split_clauses
from .forms import Form, compile_forms
from .relations import FIRST_PERSON, list_verbs
from .value_words import ARTICLES, OURS, PREPOSITIONS
from .words import (
    compile_pattern,
    content_stems,
    fold,
    function_words,
    has_kana_or_kanji,
    is_number,
    is_unspaced,
    split_words,
    word_set,
)

Phase = Literal["state", "change", "end"]
Verdict = Literal["changed", "ended", "other"]
WRITER = ("i",)  # the subject of what somebody says of themselves
_MOVED = "moved/relocated/transferred/migrated/shifted"
_BACK = "back/over/out/down/up/away?"
_HAVE = "has/have/had/is/are/was/were? just/recently/finally/now/already/been/all? been/since?"
_WE = "we/i/they/he/she? have/has/just/finally/recently?"
_I = "i/we/ich/wir/j/je/on/nous/yo/nosotros/eu/nós/я/мы/أنا/نحن/मैं/हम?"
# relation -> phase -> forms, of all languages with spaces between words
_FORMS: dict[str, dict[Phase, str]] = {
    "place": {  # where somebody or something is
        "state": f"""
            S live/lives/living/reside/resides/stay/stays/sit/sits/lie/lies in/at/on/with/near/under V
            S is/are/am/remains now/currently? based/located/parked/housed/situated in/at/on/with V
            S wohnt/wohne/wohnen/lebt/lebe/leben jetzt/nun? in/im/bei/auf/am/an V
            S habite/vit/vis/habitent/vivent/se_trouve/se_trouvent maintenant? à/au/en/dans/sur/chez V
            S vive/viven/vivo ahora? en V
            S mora/moram/moro/vive/vivem agora? em/no/na/nos/nas V
            S живёт/живет/живут/живу теперь? в/на/у V
            S V1 में/पर रहता/रहती/रहते/रखा/रखी/रखे/है/हैं
            S يسكن/تسكن/يعيش/تعيش/يقيم/تقيم/موجود/موجودة في V
            يسكن/تسكن/يعيش/تعيش/يقيم/تقيم S في V
            {_I} live/stay in/at/with/near V
            {_I} vivo/vivimos en V
            {_I} moro/moramos em/no/na V
            {_I} живу/живём/живем в/на V
            {_I} أسكن/أعيش/نسكن/نعيش في V
        """,
        "change": f"""
            S {_HAVE} {_MOVED} {_BACK} to/into/onto V
            {_WE} {_MOVED} S {_BACK} to/into/onto V
            S moved/moves in with V
            S ist/sind/bin vor? kürzlich/jetzt/gestern? nach/ins/in/zu/zur/zum/auf V gezogen/umgezogen/gewandert
            S zieht/zog/ziehen/zogen nach/in/zu V
            S a/ont/ai/est/sont/vient_de? déménagé/déménager/emménagé/parti/partie/installé/installée à/au/en/dans V
            S se_mudó/se_mudaron/se_ha_mudado/se_trasladó/se_ha_trasladado/se_fue_a_vivir a V
            S mudou-se/se_mudou/mudou/mudaram/foi_morar/foram_morar se? para/pra/em/no/na o/a? V
            S переехал/переехала/переехали/переезжает/перебрался/перебралась в/на/к V
            S V1 में/को? शिफ्ट/चला/चली/चले/आ_गया हो/गया/गई/गए/कर
            S انتقل/انتقلت/انتقلوا إلى/الى V
            انتقل/انتقلت/انتقلوا S إلى/الى V
            {_I} moved/relocated to V
            {_I} bin/sind nach/in V gezogen/umgezogen
            {_I} ai/avons déménagé à/au/en V
            {_I} me_mudé/nos_mudamos/me_he_mudado a V
            {_I} me_mudei/mudei/mudei_me/nos_mudamos para/pra V
            {_I} переехал/переехала/переехали в/на V
            {_I} انتقلت/انتقلنا إلى/الى V
        """,
    },
    "spot": {  # where something is kept or runs: what it moves to, and what it switches to, change that
        "state": """
            S is/are/remains now/currently? stored/kept/hosted in/at/on/with V
            S liegt/liegen/steht/stehen jetzt/nun? in/im/bei/auf/am/an V
            S está/están/se_encuentra ahora? alojado/alojada/guardado/guardada? en V
            S fica/ficam/está/estão agora? hospedado/hospedada/guardado/guardada? em/no/na/nos/nas V
            S лежит/лежат/хранится/хранятся/находится/находятся теперь? в/на/у V
        """,
    },
    "work": {  # for whom somebody works
        "state": f"""
            S work/works/working/employed currently? at/for V
            S arbeitet/arbeite/arbeiten bei/für V
            S travaille/travaillent chez/pour/à V
            S trabaja/trabajan/trabajo en/para V
            S trabalha/trabalham/trabalho em/no/na/para V
            S работает/работают/работаю в/на V
            S V में काम_करता/काम_करती/काम_करते
            S يعمل/تعمل في/لدى V
            {_I} work at/for V
            {_I} trabajo en/para V
            {_I} trabalho na/no/em/para V
            {_I} работаю в/на V
            {_I} أعمل في/لدى V
        """,
        "change": f"""
            S has/have? just/recently? joined/joins V
            S starts/started at/with V
            S has/have/got/took/found/started a/his/her/their? new/different? job/position/role at/with/in V
            S left/quit/leaves X for V
            S ist/sind zu V gewechselt
            S hat/haben bei V angefangen
            S a rejoint V
            S a commencé/démarré chez V
            S empezó/ha_empezado/entró a_trabajar? en V
            S se_fue/se_ha_ido a V
            S começou/entrou a_trabalhar? na/no/em V
            S foi para/pra a/o? V
            S устроился/устроилась/перешёл/перешел/перешла на_работу? в V
            {_I} joined V
            {_I} started at/with V
            {_I} got/took/have/started a? new job at/with/in V
        """,
        "end": """
            S has/have? just/finally? left/quit V
            S resigned/departed/retired from V
            S hat/haben V verlassen
            S hat/haben bei V gekündigt/aufgehört
            S a quitté V
            S ha? dejado/dejó V
            S deixou/saiu_da/saiu_do V
            S уволился/уволилась/ушёл/ушел/ушла из V
            S ने V छोड़
            S ترك/تركت V
            ترك/تركت S V
        """,
    },
    "name": {  # what something is called
        "state": """
            S is/are now/currently? called/named/titled V
            name/title of S is V
            S 's name/title is V
            S heißt/heißen jetzt/nun? V
            S s appelle/appellent maintenant/désormais? V
            S se llama/llaman ahora? V
            S agora? se chama/chamam V
            S теперь? называется/зовут V
            S का नाम V1 है
            اسم S1 V
        """,
        "change": f"""
            {_WE} renamed/rebranded/retitled S to/into/as? V1
            {_WE} are/were? now? decided_to? call/calling/named/called S V1
            S {_HAVE} renamed/rebranded to/into? V
            S wurde/heißt in/jetzt/nun V umbenannt?
            wir/ich? haben/habe S in V umbenannt
            S a_été/est rebaptisé/rebaptisée/renommé/renommée en? V
            S переименовали/переименован/переименована в V
            переименовали S в V
        """,
    },
    "tool": {  # with what something is done, or what it runs on
        "state": """
            we/i/they? use/uses/using/run/runs now/currently? V for/as/in the/our/my/all? S
            S use/uses/using now/currently? V
            my/our S is/are V
            S run/runs/goes/go/live/lives now? on/in/with/through/via V
            S is/are now? done/built/written/made/hosted/managed/tracked/handled? on/in/with/through/via V
            wir/ich? nutzen/verwenden/benutzen/nutze/verwende jetzt/nun? V für S
            für S nutzen/verwenden/benutzen/nutze wir/ich? V
            wir/ich schreiben/schreibe/machen/mache/führen/verwalten S in/mit V
            S läuft/laufen/liegt/liegen jetzt/nun? auf/über/mit/in/bei V
            on/nous utilise/utilisons V pour S
            usamos/utilizamos/uso V para S
            usamos/utilizamos/uso/usam V para/pra S
            S usa/usam/utiliza V
            используем/использую V для S
            S ist/sind in/mit/auf V geschrieben/gebaut/programmiert
            S est/sont écrit/écrite/écrits/codé/codée/fait/faite en/avec V
            S está/es/están/son escrito/escrita/hecho/hecha/programado/programada en/con V
            S é/está/são escrito/escrita/feito/feita/programado/programada em/com V
            S написан/написана/написано/написаны/сделан/сделана на/в V
            S V1 में लिखा/लिखी/बना/बनी
            S مكتوب/مكتوبة/مبني/مبنية ب/على? V
            نستخدم/أستخدم V ل? S
        """,
        "change": f"""
            {_WE} switched/{_MOVED}/upgraded/converted/ported/rewrote/rebuilt S {_BACK} to/into/in/onto/with V
            S {_HAVE} switched/{_MOVED}/upgraded/converted/ported/rewritten/rebuilt {_BACK} to/into/in/onto/with V
            S wurde/wurden/ist/sind/haben auf/zu/nach V umgestellt/migriert/umgezogen/umgestiegen/aktualisiert
            wir/ich? haben/habe S auf/zu/nach V umgestellt/migriert/umgezogen
            nous/on avons/a migré/basculé/passé S sur/vers/à V
            S est/sont passé/passés/passée/passées à/sur/sous V
            migramos/pasamos/cambiamos S a V
            atualizamos/migramos/passamos/mudamos S para V
            перевели/перенесли/обновили/переписали/переделали S на/в V
            S перевели/перенесли/обновили/переписали/переделали на/в V
            wir/ich? haben/habe S in/mit/auf V neu_geschrieben/umgeschrieben/neu_gebaut
            nous/on avons/a réécrit/refait S en/avec V
            hemos/reescribimos reescrito/rehecho? S en/con V
            reescrevemos/refizemos S em/com V
            S को V1 में दोबारा? लिखा/लिख
        """,
        "end": f"""
            {_WE} cancelled/canceled/dropped/retired/uninstalled/discontinued/stopped_using/no_longer_use/got_rid_of V
        """,
    },
    "lead": {  # who is in charge of something
        "state": """
            V lead/leads/own/owns/manages/manage/handles/handle/maintains/runs/chairs/oversees S
            V is/are the/our? lead/leader/head/owner/manager/maintainer/captain/director/chair/coach of/for/on S
            V is/are now/currently? leading/running/managing/handling/owning/maintaining/responsible_for/in_charge_of S
            lead/leader/head/owner/manager/maintainer/captain/director/chair/contact of/for/on S is/are now? V
            S is/are owned/handled/led/managed/maintained/run/overseen by V
            V leitet/betreut/verantwortet/führt/verwaltet S
            V ist/sind zuständig/verantwortlich für S
            V gère/dirige/gèrent/dirigent maintenant/désormais? S
            S est/sont maintenant/désormais? géré/gérée/gérés/gérées/dirigé/dirigée par V
            V lleva/gestiona/dirige/coordina S
            V cuida/gere/gerencia/coordena/dirige d'/do/da/de/dos/das? S
            quem cuida/gere/coordena de/do/da/dos/das? S é o/a? V
            quien lleva/gestiona/coordina S es V
            c est V qui gère/dirige/coordonne S
            um S kümmert sich jetzt/nun? V
            V kümmert sich jetzt/nun? um S
            V se encarga/ocupa de S
            de S se encarga/ocupa V
            V s occupe de S
            за S отвечает/отвечают теперь? V
            V отвечает/отвечают за S
            V ведёт/ведет/курирует/руководит S
            S теперь? ведёт/ведет/курирует V
            S V1 संभालता/संभालती/संभालते/देखता/देखती/देखते/चलाता/चलाती/चलाते
            V مسؤول/مسؤولة/مسؤولا عن S
        """,
        "change": """
            V has/have? taken/took/takes/taking over S from X
            V has/have? taken/took/takes/taking over S
            V takes/took S over from X
            V replaces/replaced/succeeds/succeeded/follows X as/on/at/in/for S
            V inherits/inherited S
            ownership of S has/was/is? now? goes/went/passed/passes/moved/transferred to V
            S has/was/is/were? now? been? passed/handed/transferred/reassigned over? to V
            V hat S von X übernommen
            V hat bei/in/im S von X übernommen
            V hat S übernommen
            V übernimmt ab_sofort? S
            V a repris S
            V a pris la_suite/la_relève de/d' X à/au/pour/sur/dans S
            X a passé/transmis/confié S à V
            V asumió/asume/assumiu S
            V se_hizo_cargo/se_ha_hecho_cargo/se_encarga_ahora/se_encargará de S
            X le? pasó/entregó/traspasó S a V
            X passou/entregou S para/pra/ao/à o/a? V
            S passou para/pra a/o? V
            V принял/приняла/взял/взяла S у X
            S теперь у V
            V1 ने S संभाल
            X ने S V1 को सौंप/दे
            تولى/تولت V1 S
            سلم/سلمت/نقل/نقلت V0 S إلى/الى V
        """,
    },
}
_CHANGED_BY = {"spot": ("place", "tool"), "place": ("spot",)}  # other relations whose changes change a state, too
# What is said of something that is no more. `E` is said of its subject, `O` of what somebody had or planned.
_ENDED = r"""(?:
    (?:has|have|had|is|are|was|were)\ (?:now\ |finally\ )?(?:been\ )?(?:permanently\ |officially\ )?
        (?:closed(?:\ down)?|shut\ down|died|dissolved|discontinued|disbanded|cancell?ed|gone|defunct|ended|retired)
    |(?:died|passed\ away|closed\ down|shut\ down|went\ (?:bankrupt|out\ of\ business)|disbanded|no\ longer\ exists)
    |(?:hat|haben)\ (?:\w+\ )?(?:zugemacht|geschlossen|dichtgemacht|aufgehört)
    |(?:ist|sind|wurde|wurden)\ (?:\w+\ )?
        (?:gestorben|verstorben|geschlossen|eingestellt|aufgelöst|abgesagt|insolvent|pleite)
    |(?:a|ont|est|sont)\ (?:définitivement\ )?(?:fermés?|morte?|décédée?|annulée?|dissous)
    |(?:ha\ |han\ )?(?:cerró|cerrado|cerraron|murió|muerto|falleció|quebró)
    |(?:fechou|fecharam|morreu|faleceu|faliu|encerrou|foi\ cancelad[oa])
    |(?:закрыл(?:ся|ась|ось|ись|и)|умер|умерла|скончал(?:ся|ась)|отменили|обанкротил\w+)
    |(?:हमेशा\ के\ लिए\ )?(?:बंद\ हो\ (?:गया|गई|गए)|गुज़र\ (?:गया|गई|गए)|रद्द\ हो\ (?:गया|गई))
    |(?:أغلق|أغلقت|توفي|توفيت|مات|ماتت|أفلس|أفلست)
)"""
_AFTER_END = r"""(?=$|\ (?:for|permanently|on|in|last|this|yesterday|today|after|because|since
    |für|endgültig|am|im|gestern|letzte\w*|définitivement|hier|le|definitivamente|para|el|ayer|ontem
    |навсегда|вчера|है|हैं|في|أمس|اليوم|نهائيا)\b)"""
_END = lazy_pattern(rf"^(?P<s>\S+(?:\ \S+){{0,4}}?)\ {_ENDED}{_AFTER_END}", re.VERBOSE)
_ARABIC_END = lazy_pattern(r"^(?:أغلق|أغلقت|توفي|توفيت|مات|ماتت|أفلس|أفلست) (?P<s>\S+(?: \S+){0,3})$")
_UNSPACED_END = lazy_pattern(
    r"^(?P<s>[^、，。,]{2,14}?)(?:は|が|已经|已|就)*(?:关门|倒闭|停业|关张|去世|閉店|閉業|廃業|倒産|亡くな|他界)"
)
_UNSPACED_CONJUNCTIONS = word_set("直到 后来 之后 随后 于是 因此 他 她 它 他们 また その後 のち やがて 彼 彼女 それ")
_RENEWED = lazy_pattern(
    r"^(?:(?:we|i|wir|ich|nous|on|j) )?(?:have |have got |got )?"
    r"(?:(?:just |finally )?(?:switched|changed|replaced)(?: our| my)?|a new"
    r"|haben (?:jetzt |nun )?(?:einen neuen|eine neue)"
    r"|(?:avons|a|ai) (?:un nouveau|une nouvelle)|tenemos (?:un nuevo|una nueva)|temos (?:um novo|uma nova)"
    r"|у нас нов(?:ый|ая)) (?P<s>\S+(?: \S+)?)$"
)
# What every text has of which the longer patterns can match: most have none of it.
_RENEWAL_HINT = lazy_pattern("switched|changed|replaced|new |neue|nouve|nuev|nov[oa]|нов")
_END_HINT = lazy_pattern(
    "clos|shut down|died|passed away|dissol|discontinued|disbanded|cancel|gone|defunct|ended|retired|bankrupt|of bus"
    "|no longer exists|zugemacht|dichtgemacht|aufgehört|gestorben|eingestellt|aufgelöst|abgesagt|insolvent|pleite|fermé"
    "|mort|décédé|annulé|dissous|cerr|muri|muerto|falleci|quebró|fech|morreu|faleceu|faliu|encerrou|закры|умер|скончал"
    "|отменили|обанкрот|बंद|गुज़र|रद्द|أغلق|توفي|مات|أفلس|关门|倒闭|停业|关张|去世|閉店|閉業|廃業|倒産|亡くな|他界|geschlossen|verstorben"
)
_WHO = "(?P<s>.{0,8}?)"  # before the verb of Chinese
_TOPIC = "(?:(?P<s>.{1,8}?)は)?(?P<v>[^は]{2,10}?)"  # and the place before the verb of Japanese
_UNSPACED: dict[str, dict[Phase, tuple[str, ...]]] = {
    "place": {
        "state": (
            f"{_WHO}(?:(?:现在|目前)?住在|(?:现在|目前)在|(?<=[^现])在)(?P<v>(?!.*(?:工作|上班))[^了]{{2,8}}?)$",
            f"{_TOPIC}に(?:住んで|あり|置いて|保管)",
        ),
        "change": (
            f"{_WHO}(?:已经|刚|都)*(?:搬到|搬去|搬至|迁到)(?P<v>.{{2,8}}?)(?:了|$)",
            f"{_TOPIC}[にへ](?:引っ越|移転|転居|移し|移り)",
        ),
    },
    "work": {
        "state": (f"{_WHO}在(?P<v>.{{2,10}}?)(?:工作|上班)", f"{_TOPIC}[でに](?:働いて|勤めて|勤務)"),
        "change": (
            f"{_WHO}(?:跳槽到|跳槽去|去了|入职|加入了?)(?P<v>.{{2,10}}?)(?:工作|上班|了|$)",
            f"{_TOPIC}に(?:転職|入社)",
        ),
        "end": (f"{_WHO}(?:离开了|从)(?P<v>.{{2,10}}?)(?:离职了?|辞职了?|$)", f"{_TOPIC}を(?:辞め|退職|退社)"),
    },
}
_UNSPACED["lead"] = {
    "state": (
        "(?P<s>.{1,10}?)(?:现在|改)?由(?P<v>.{1,6}?)负责",
        "(?P<v>.{1,6}?)负责(?P<s>.{2,10}?)$",
        "(?P<s>.{1,10}?)の担当者?は(?P<v>.{1,8}?)(?:です|だ|に|$)",
        "(?:今は|現在は)?(?P<v>.{1,8}?)が(?P<s>.{1,10}?)の?担当",
        "(?P<v>[^は]{1,8}?)は(?P<s>[^は]{1,10}?)を担当",
    ),
    "change": (
        "(?P<v>.{1,6}?)接手了?(?P<s>.{2,10}?)了?$",
        ".{1,6}?把(?P<s>.{2,10}?)(?:交给|转给|移交给)了?(?P<v>.{1,6}?)了?$",
        "(?P<v>[^が]{1,8}?)が(?:.{1,8}?から)?(?P<s>.{1,10}?)を引き継",
    ),
}
_UNSPACED_TIMES = lazy_pattern(
    "上个?月|上周|去年|今年|昨天|今天|最近|现在|已经|先月|先週|昨日|去年|今は?|刚刚?|さん|さま|先生$"
)
_LEAD = word_set(
    """
    and but so then also update fyi btw sorry ok okay today yesterday actually heute gestern und hoy ayer y hier et
    ontem e вчера и а अब теперь ahora agora jetzt now كما
    """
)
# A value ends before one of these.
_VALUE_ENDS = word_set(
    """
    and but since because as last this next from until after now so which who where when yesterday today in on for und
    seit weil jetzt et depuis y desde e и с لأن منذ الآن
    """
)
_GLUE = word_set("of 's von vom der des de du d' da do dos das del di по के की का of for")
_FILLERS = word_set("week month year weekend s woche monat jahr semaine mois semana mes mês неделю месяц")
_WRITERS = FIRST_PERSON | {"j", "on", "私", "僕", "俺", "我", "我们"}
_SLOTS = {
    "S": r"(?P<s>\S+(?: \S+){0,5}?)",
    "V": r"(?P<v>\S+(?: \S+){0,3}?)",
    "V1": r"(?P<v>\S+)",
    "S1": r"(?P<s>\S+(?: \S+)?)",
    "V0": r"\S+",
    "X": r"\S+(?: \S+){0,2}?",
}
_LAST_SLOTS = {"S": r"(?P<s>\S+(?: \S+){0,5})", "V": r"(?P<v>\S+(?: \S+){0,4})"}  # up to where the clause ends


class State(NamedTuple):
    """What a clause says of a subject: that it has a value, got one, or has one no more."""

    relation: str
    phase: Phase
    subject: tuple[str, ...]
    value: frozenset[str]
    is_own: bool = False  # the subject is named as that of the writer: `my sister Nadia`


@cache_within(500_000)
def read_states(text: str) -> tuple[State, ...]:
    """Return what the clauses of a note say of states; cached, as a note is compared with many."""
    return tuple(dict.fromkeys(state for clause in split_clauses(text) for state in _read_clause(clause)))


def compare_states(older: str, newer: str, *, says_change: bool) -> tuple[Verdict, State] | None:
    """Return what a newer note makes of a state that an older one tells of; None if they have nothing in common. With
    `says_change`, the newer note may just name the new state: `CI runs on GitHub Actions now`."""
    other: tuple[Verdict, State] | None = None
    changes = [state for state in read_states(newer) if state.phase != "state" or says_change]
    for change, state in product(changes, read_states(older) if changes else ()):
        is_given_up = change.phase == "end" and change.subject == WRITER and change.relation == state.relation
        is_comparable = change.relation in (state.relation, *_CHANGED_BY.get(state.relation, ()))
        if state.phase == "end" or not (is_given_up or _are_of_one(state, change)):
            continue
        verdict = _compare(state, change) if is_comparable else "other"
        if verdict != "other":
            return verdict, state
        if change.phase != "state":
            other = verdict, state
    return other


def _compare(state: State, change: State) -> Verdict:
    """Return whether a state ended or has another value now; `other` if it is the same again, or is about another
    value."""
    if change.phase == "end":
        return "ended" if _is_inflected(state.value, change.value) else "other"
    is_again = change.value <= state.value or state.value <= change.value
    return "other" if is_again else "changed"


def _is_inflected(first: frozenset[str], second: frozenset[str]) -> bool:
    """Return whether two values are the same but for their endings: `в Озоне`, `из Озона`."""
    one, other = ("".join(sorted(each)) for each in (first, second))
    return one == other or (not one.isascii() and len(one) == len(other) and one[:-1] == other[:-1])


def _are_of_one(first: State, second: State) -> bool:
    """Return whether two states are of the same thing: `my sister Nadia` is `Nadia`, and `Nadia's brother` is not."""
    if first.subject == second.subject:
        return True
    short, long = sorted((first, second), key=_count_words)
    return long.is_own and long.subject[-len(short.subject) :] == short.subject


def _count_words(state: State) -> int:
    return len(state.subject)


@cache_within(500_000)
def find_ended(text: str) -> tuple[str, ...]:
    """Return the words for what, according to a note, is no more; empty if there is no such thing."""
    if not _END_HINT.search(fold(text)):
        return ()
    for clause in split_clauses(text):
        folded = fold(clause)
        joined = " ".join(split_words(folded))
        match = _END.match(joined) or _ARABIC_END.match(joined) or _UNSPACED_END.match(folded)
        if match:
            ended = strip_articles(split_words(match["s"]))
            return ended if _names_something(ended) else ()
    return ()


def _names_something(words: Sequence[str]) -> bool:
    """Return whether words name something: `it` and `until` do not."""
    return not all(map(function_words().__contains__, words)) and "".join(words) not in _UNSPACED_CONJUNCTIONS


@cache_within(500_000)
def find_renewed(text: str) -> tuple[str, ...]:
    """Return the stems of what the writer now has another one of: `we changed vets`, `we have a new adviser`."""
    if not _RENEWAL_HINT.search(fold(text)):
        return ()
    for clause in split_clauses(text):
        match = _RENEWED.match(" ".join(split_words(fold(clause))))
        if match:
            return tuple(content_stems(match["s"].split(" ")))
    return ()


def is_about(words: Sequence[str], subject: tuple[str, ...]) -> bool:
    """Return whether a statement is about something, and not about a part of it, as `the museum café` is."""
    if not subject:
        return False
    stated = strip_articles(words)
    rest = stated[len(subject) :]
    if stated[: len(subject)] != subject or not rest or rest[0] in _GLUE:
        return False
    if rest[0].isascii() and rest[0].endswith("ed"):  # `the beta slipped by a week`
        return True
    return is_unspaced(rest[0]) or rest[0] in function_words() or rest[0] in PREPOSITIONS or rest[0] in list_verbs()


def strip_articles(words: Sequence[str]) -> tuple[str, ...]:
    """Return words from the first one that names something."""
    start = next((at for at, word in enumerate(words) if word not in ARTICLES and word not in _LEAD), len(words))
    return tuple(words[start:])


_Tag = tuple[str, Phase]  # a relation, and what is said of it


def _read_clause(clause: str) -> Iterator[State]:
    folded = fold(clause)
    words = strip_articles(split_words(folded))
    joined = " ".join(words)
    for form in {form: None for word in words for form in _index_forms().get(word, ())}:
        match = compile_pattern(form.pattern).match(joined)
        state = _make_state(*form.tag, match.groupdict()) if match else None
        if state:
            yield state
    if has_kana_or_kanji(folded):
        yield from _read_unspaced(folded)


def _make_state(relation: str, phase: Phase, slots: Mapping[str, str]) -> State | None:
    named = slots["s"].split(" ") if "s" in slots else ["i"]
    subject = _read_subject(named)
    value = frozenset(content_stems(_cut(slots["v"].split(" "))))
    numbers = [each for each in value if is_number(each) and (relation != "tool" or each.isalpha())]
    is_of_many = relation == "tool" and subject == WRITER and phase != "end"  # `I use vim`
    if not subject or not value or numbers or is_of_many:  # `moved to Tuesday` is no place
        return None
    return State(relation, phase, subject, value, named[0] in OURS)


def _read_unspaced(folded: str) -> Iterator[State]:
    for relation, phases in _UNSPACED.items():
        for phase, pattern in ((phase, pattern) for phase, patterns in phases.items() for pattern in patterns):
            match = compile_pattern(pattern).match(folded)
            if not match:
                continue
            subject, value = (_UNSPACED_TIMES.sub("", match[name] or "") for name in "sv")
            if value and not any(map(is_number, split_words(value))):
                writer = not subject or subject in _WRITERS
                yield State(relation, phase, WRITER if writer else (subject,), frozenset((value,)))


def _read_subject(words: list[str]) -> tuple[str, ...]:
    """Return the stems of what a clause is about; empty if it only points at it."""
    if all(word in _WRITERS or word in _FILLERS for word in words):
        return WRITER if not _WRITERS.isdisjoint(words) else ()
    if words[0] in PREPOSITIONS and words[0] != "a":  # `runs on …`; not `assumiu a loja`
        return ()
    stems = (stem for stem in content_stems(_cut(words)) if stem not in _FILLERS)
    return tuple(stem for stem in stems if stem.isdigit() or not is_number(stem))  # parcel 7 is not parcel 8


def _cut(words: list[str]) -> list[str]:
    """Return the words up to the end of what they name."""
    return words[: next((at for at, word in enumerate(words) if at and word in _VALUE_ENDS), len(words))]


@cache
def _index_forms() -> dict[str, list[Form[_Tag]]]:
    """Return the forms by their triggers."""
    table = [((relation, phase), rows) for relation, phases in _FORMS.items() for phase, rows in phases.items()]
    index: dict[str, list[Form[_Tag]]] = {}
    for form in compile_forms(table, _SLOTS, _LAST_SLOTS, longest_first=False, is_whole=False):
        for word in form.triggers:
            index.setdefault(word, []).append(form)
    return index
