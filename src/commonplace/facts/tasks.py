"""Open tasks: texts that say that something is still to be done, and questions that ask for them.

`what is left to do?` shares no word with `TODO: rotate the key` or `- [ ] book the train`. So a passage with an open
task is also indexed under `OPEN_TASK`, and a question about open tasks is looked up under it.

All patterns are for folded text (lower case, no accents). To add a language, add it to the tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from ..caching import cache_within
from .words import fold, strip_accents

OPEN_TASK = "☐"  # which some people write themselves

_LABELS = {  # what a line with a task begins with, before a colon
    "english": r"todos?|to-?do'?s?|to do|fixme|pending|next steps?|action items?|outstanding|unfinished|reminder"
    r"|open(?: (?:questions?|points?|items?|tasks?|issues?|bugs?|tickets?))?|still to do|left to do",
    "german": r"offen|offene (?:punkte|fragen|aufgaben)|(?:noch )?zu (?:tun|erledigen)|noch offen|nachste schritte",
    "spanish": r"pendientes?|por hacer|tareas|proximos pasos",
    "french": r"(?:reste )?a faire|en attente|en suspens|prochaines etapes",
    "portuguese": r"pendentes?|pendencias?|por fazer|a fazer|tarefas",
    "italian": r"da fare|in sospeso|prossimi passi",
    "dutch": r"te doen|nog te doen|openstaand|volgende stappen",
    "russian": r"сделать|задачи|осталось|следующие шаги",
}
_PHRASES = {  # what says so anywhere in a line
    "english": r"\btodo\b(?! (?:list|app)s?\b)|\bstill (?:needs?|has|have) to\b|\bremind (?:me|us) to\b"
    r"|\b(?:don't|do not) forget to\b|\b(?:is|are) still (?:open|missing|pending|outstanding|to be done)\b"
    r"|\bremains? to be done\b|\b(?:is|are) left to (?:do|be done)\b"
    r"|\b(?:not|isn't|aren't) (?:done|finished|completed) yet\b|\bnot yet (?:done|finished|completed)\b",
    "german": r"\b(?:muss|mussen) noch\b|\bnoch (?:offen|zu (?:tun|erledigen|klaren))\b|\bsteht noch aus\b"
    r"|\bnicht vergessen\b",
    "spanish": r"\b(?:queda|quedan|falta|faltan) por\b|\b(?:tarea|asunto) pendiente\b|\bno olvidar\b",
    "french": r"\breste a\b|\bne pas oublier\b",
    "portuguese": r"\b(?:fica|falta|faltam) por\b|\bnao esquecer\b",
    "italian": r"\b(?:resta|ancora) da fare\b|\bnon dimenticare\b",
    "dutch": r"\bmoet(?:en)? nog\b|\bniet vergeten\b",
    "russian": r"\bосталось\b|\b(?:нужно|надо) еще\b|\bеще (?:нужно|надо)\b|\bне забыть\b",
    "chinese": r"待[办辦]|待处理|未完成|还要做|还需要|别忘了",
    "japanese": r"やること|要対応|残タスク|未完了|しなければならない|忘れずに",
    "korean": r"할 일|해야 (?:한다|함|합니다)|미완료|잊지 말",
    "arabic": r"\bلم يتم بعد\b|\bلا تنس\b|\bمهم[هة] معلق[هة]\b",
    "hindi": r"करना (?:है|बाकी)|बाकी है|लंबित",
}
# What a note begins with that says what its writer has to do. Many such notes are no tasks to ask for, so they are not
# indexed as open; but what they name may be done.
_OBLIGATIONS = {
    "english": r"(?:(?:i|we|i've|we've) )?(?:still |also |really )?(?:need|have|got) to |(?:(?:i|we) )?(?:still )?must "
    r"|(?:(?:i|we) )?gotta ",
    "german": r"(?:ich |wir )?(?:muss|mussen) (?:ich |wir )?(?:noch )?",
    "spanish": r"hay que |(?:tengo|tenemos) que |(?:debo|debemos|necesito|necesitamos) ",
    "french": r"il (?:me |nous )?faut |(?:je dois|on doit|nous devons) ",
    "portuguese": r"(?:preciso|precisamos|devo|devemos) (?:de )?|(?:tenho|temos) (?:que|de) ",
    "italian": r"bisogna |(?:devo|dobbiamo) ",
    "dutch": r"(?:ik |we )?(?:moet|moeten) (?:ik |we )?(?:nog )?",
    "russian": r"(?:мне |нам )?(?:надо|нужно|необходимо) |(?:я |мы )?(?:должен|должна|должны) ",
    "arabic": r"يجب (?:ان |علي |علينا )?|لازم |علينا ان |علي ان ",
    "chinese": "(?:我|我们)?(?:还)?(?:得|要|需要|必须)",
}
_QUESTIONS = {
    "english": r"\b(?:left|remains|remaining|still) to (?:do|be done|finish)\b|\bnext steps?\b|\baction items?\b"
    r"|\b(?:open|pending|outstanding|unfinished|remaining) (?:to-?dos?|tasks?|items?|points?|work|things?|business)\b"
    r"|\b(?:my|our|the|any|all) to-?dos?\b(?! app)|\bto-?dos\b|\bto-?do list\b|^\W*to-?do\W*$"
    r"|\bwhat (?:else )?(?:do|should|must) (?:i|we) (?:still )?(?:have to |need to )?do(?: next| now)?\W*$"
    r"|\bwhat(?:'s| is| are) (?:still )?(?:open|pending|left|unfinished|outstanding|missing|to do)\W*$",
    "german": r"\b(?:noch )?zu (?:tun|erledigen)\b|\boffenen? (?:punkte|aufgaben|themen)\b|\bist (?:noch )?offen\b"
    r"|\bsteht noch (?:an|aus)\b|\bnachsten? schritte\b|\b(?:muss|mussen) (?:ich|wir|man) noch\b",
    "spanish": r"\b(?:tareas|cosas|temas|asuntos) pendientes\b|\b(?:queda|esta|hay) (?:algo )?pendiente\b"
    r"|\b(?:(?:queda|quedan|falta|hay) )?(?:algo )?por hacer\b|\bproximos pasos\b|\b(?:tengo|tenemos) que hacer\b",
    "french": r"\b(?:reste|est)(?:-t-il)? a faire\b|\btaches (?:ouvertes|restantes|en attente)\b|\bprochaines etapes\b",
    "portuguese": r"\b(?:tarefas|coisas) pendentes\b|\b(?:falta|por) fazer\b|\bproximos passos\b"
    r"|\b(?:tenho|temos) (?:que|de) fazer\b",
    "italian": r"\b(?:resta|rimane|ancora) da fare\b|\bin sospeso\b|\bprossimi passi\b",
    "dutch": r"\bnog te doen\b|\bopenstaande taken\b|\bvolgende stappen\b|\bmoet(?:en)? (?:ik|we) nog\b",
    "russian": r"\bосталось сделать\b|\b(?:нужно|надо) (?:еще )?сделать\b|\bоткрыт\w+ задач\w*|\bследующ\w+ шаг\w*"
    r"|\bнезаверш\w+ (?:дел|задач)\w*",
    "chinese": r"待[办辦](?:事[项項])?|下一步|还有什么(?:要做|没做|没完成)|还(?:要|需要)做什么|未完成的?(?:任务|工作)",
    "japanese": r"(?:やること|(?:残っている|残りの)(?:作業|タスク)|次のステップ|(?:すべき|やるべき)こと)は?|未完了",
    "korean": r"(?:(?:해야 )?할|남은) (?:일|작업)(?:이|은)?(?: (?:뭐|무엇)\S*)?|다음 단계|미완료",
    "arabic": r"\b(?:ما الذي|ماذا|ما) تبق[ىي]\b|\bالمهام (?:المفتوح|المتبقي|المعلق)[هة]\b|\bالخطوات التالي[هة]\b",
    "hindi": r"क्या (?:करना )?बाकी|क्या करना है|लंबित (?:काम|कार्य)|अगले कदम",
}
_DONE = r"\[x\]|[✓✔✅]|\b(?:done|erledigt|hecho|fait|feito|fatto|gedaan|сделано|готово)\W*$|已完成|完了し|완료"
_UNSPACED_HINT = (
    "待[办辦处]|未完成|还要做|还需要|别忘了|やること|要対応|残タスク|未完了|なければ|忘れずに|할|해야|미완료|잊지"
)
_FREQUENT = frozenset(["has", "have", "needs", "need", "are", "not", "don", "list", "app", "nao", "non", "ist"])
_MAX_QUESTION_CHARACTERS = 300
_CHECKBOX = r"^\s*(?:[-*+]|\d+[.)])\s+\[ \]\s"


def has_open_task(folded: str) -> bool:
    """Return whether a folded text says that something is still to be done."""
    return any(_find_task().search(line) and not says_done(line) for line in folded.splitlines())


def names_tasks(line: str) -> bool:
    """Return whether a line names the list below it as tasks: a heading, or a label."""
    is_heading = line.startswith("#")
    name = line.strip("#*_: ：\t\r")
    has_label = is_heading or line.rstrip("*_ \t\r").endswith((":", "："))
    return has_label and bool(name) and has_open_task(strip_accents(f"{fold(name)}:"))


def says_done(folded: str) -> bool:
    """Return whether a folded line says itself that it is done."""
    return _find_done().search(folded) is not None


def has_obligation(folded: str) -> bool:
    """Return whether a folded text begins with what its writer has to do."""
    return _find_obligation().match(folded) is not None


def find_task_text(text: str) -> str:
    """Return what is to be done: a text, folded, without the words that say that it is to be done."""
    folded = fold(text)
    plain = strip_accents(folded)
    if len(plain) != len(folded):
        folded = plain
    for match in [*_find_task().finditer(plain)][::-1]:
        folded = f"{folded[: match.start()]} {folded[match.end() :]}"
    obligation = _find_obligation().match(folded)
    return folded[obligation.end() :] if obligation else folded


def may_have_open_task(text: str, words: Iterable[str]) -> bool:
    """Return whether a text, by its folded words, is worth a look: most texts have no word that a task has."""
    if "[ ]" in text:
        return True
    known = _list_words_of_tasks()
    return any(word in known or (not word.isascii() and _find_unspaced().search(word)) for word in words)


@cache_within(100_000)
def find_task_question(folded: str) -> str:
    """Return the words by which a folded query asks for open tasks; empty for any other query. Cached, as a search asks
    several times."""
    if len(folded) > _MAX_QUESTION_CHARACTERS:
        return ""
    match = _find_question().search(folded)
    return match[0] if match else ""


@cache
def _find_task() -> re.Pattern[str]:
    label = "|".join(_LABELS.values())
    return re.compile("|".join([rf"^\W*(?:{label})\W{{0,3}}[:：]", _CHECKBOX, *_PHRASES.values()]))


@cache
def _find_obligation() -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(_OBLIGATIONS.values())})(?=\w)")


@cache
def _find_done() -> re.Pattern[str]:
    return re.compile(_DONE)


@cache
def _find_question() -> re.Pattern[str]:
    return re.compile("|".join(_QUESTIONS.values()))


@cache
def _list_words_of_tasks() -> frozenset[str]:
    """Return every word of the patterns for texts, with its optional last letter and without it."""
    patterns = " ".join([*_LABELS.values(), *_PHRASES.values()])
    plain = re.sub(r"(\w+)(\w)\?", r"\1 \1\2", re.sub(r"\\.", " ", patterns))
    return frozenset(re.findall(r"\w{3,}", plain)) - _FREQUENT


@cache
def _find_unspaced() -> re.Pattern[str]:
    return re.compile(_UNSPACED_HINT)
