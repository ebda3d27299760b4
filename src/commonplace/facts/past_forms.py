"""Past forms of verbs: from the form in which a task names them, to those in which people say that it is done.

Regular verbs are formed by rule, so that every language has a few lines. Irregular ones are in a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ..caching import cache_within
from ..patterns import lazy_pattern
from .words import fold

_MIN_ROOT_CHARACTERS = 2
_ENDINGS = (  # the ending of the infinitive, and those of the past and of the participle that take its place
    ("ar", "ado ada ados adas é ó amos aron aste ei ou aram"),  # Spanish, Portuguese
    ("er", "ido ida idos idas í ió imos ieron eu emos eram é ée és ées"),  # and French
    ("ir", "ido ida idos idas í ió imos ieron iu iram i ie is ies"),
    ("re", "u ue us ues"),
    ("are", "ato ata ati ate ai ò ammo arono"),  # Italian
    ("ere", "uto uta uti ute ei é emmo erono"),
    ("ire", "ito ita iti ite ii ì immo irono"),
    ("ать", "ал ала али ало ан ана ано аны"),  # Russian
    ("ять", "ял яла яли яло ян яна яно яны"),
    ("ить", "ил ила или ило ен ена ено ены ён"),
    ("еть", "ел ела ели ело"),
    ("нуть", "нул нула нули нуто нут нута"),
    ("ти", "л ла ли ло"),
)
_SEPARABLE = (
    "ab an auf aus bei ein fest frei her hin los mit nach um vor weg weiter zu zurück zusammen af op in uit door"
)
_INSEPARABLE = ("be", "ver", "er", "ent", "zer", "miss", "ge", "über", "unter", "wider", "her", "ont")
_DOUBLED = lazy_pattern("([^aeiouy][aeiouy])([bdgklmnprtvz])$")
_LONG_VOWEL = lazy_pattern("(?<![aeiou])([aeou])([bcdfgklmnprstvz])$")  # written once in an open syllable of Dutch
_IRREGULAR = {
    "english": """
        be=was,were,been begin=began,begun bind=bound bring=brought build=built buy=bought catch=caught
        choose=chose,chosen deal=dealt do=did,done draw=drew,drawn drive=drove,driven eat=ate,eaten feed=fed find=found
        fly=flew,flown forgive=forgave,forgiven get=got,gotten give=gave,given go=went,gone grow=grew,grown hang=hung
        have=had hear=heard hide=hid,hidden hold=held keep=kept lay=laid lead=led leave=left lend=lent lose=lost
        make=made meet=met pay=paid rebuild=rebuilt rewrite=rewrote,rewritten ring=rang,rung
        run=ran say=said see=saw,seen sell=sold send=sent sing=sang,sung sow=sown speak=spoke,spoken
        spend=spent stick=stuck sweep=swept take=took,taken teach=taught tell=told think=thought
        throw=threw,thrown understand=understood undo=undid,undone wake=woke,woken
        wear=wore,worn win=won withdraw=withdrew,withdrawn write=wrote,written""",
    "german": """
        schreiben=schrieb,geschrieben bringen=brachte,gebracht nehmen=nahm,genommen gehen=ging,gegangen
        sprechen=sprach,gesprochen treffen=traf,getroffen finden=fand,gefunden geben=gab,gegeben lesen=las,gelesen
        ziehen=zog,gezogen schließen=schloss,geschlossen denken=dachte,gedacht tun=tat,getan gießen=goss,gegossen
        unterschreiben=unterschrieb,unterschrieben abgeben=abgegeben anrufen=rief,angerufen abschließen=abgeschlossen
        überweisen=überwies,überwiesen verschieben=verschoben kennen=gekannt
        besprechen=besprochen bestehen=bestanden abbrechen=abgebrochen beschreiben=beschrieben schneiden=geschnitten""",
    "dutch": """
        schrijven=schreef,geschreven kopen=kocht,gekocht brengen=bracht,gebracht geven=gaf,gegeven lezen=las,gelezen
        sluiten=sloot,gesloten zoeken=zocht,gezocht nemen=nam,genomen doen=deed,gedaan krijgen=gekregen
        verzenden=verzonden zenden=gezonden kijken=gekeken""",
    "spanish": """
        hacer=hice,hizo,hicimos,hecho escribir=escrito poner=puse,puso,pusimos,puesto ver=visto decir=dije,dijo,dicho
        traer=traje,trajo ir=fui,fue,fuimos abrir=abierto devolver=devuelto resolver=resuelto pagar=pagué buscar=busqué
        entregar=entregué llegar=llegué sacar=saqué enviar=envié,envió empezar=empecé pedir=pidió""",
    "french": """
        faire=fait,faite prendre=pris,prise mettre=mis,mise écrire=écrit,écrite dire=dit lire=lu,lue voir=vu,vue
        recevoir=reçu,reçue ouvrir=ouvert,ouverte rendre=rendu,rendue apprendre=appris conduire=conduit
        inscrire=inscrit,inscrite transmettre=transmis,transmise remettre=remis,remise appeler=appelé,appelée""",
    "portuguese": """
        fazer=fiz,fez,fizemos,feito escrever=escrito pôr=pus,pôs,posto ver=vi,viu,visto dizer=disse,dito trazer=trouxe
        ir=fui,foi,fomos abrir=aberto pagar=paguei,pago entregar=entreguei,entregue marcar=marquei buscar=busquei
        ligar=liguei enviar=enviei,enviou ganhar=ganho""",
    "italian": """
        fare=fatto,feci,fatta prendere=preso,presa mettere=messo,messa scrivere=scritto,scritta leggere=letto,letta
        chiudere=chiuso,chiusa aprire=aperto,aperta dire=detto rispondere=risposto chiedere=chiesto,chiesta
        spedire=spedito,spedita correggere=corretto,corretta rendere=reso,resa vedere=visto,vista""",
    "russian": """
        найти=нашёл,нашел,нашла,нашли оплатить=оплачен,оплачена,оплачено,оплачены купить=куплен,куплена,куплено,куплены
        отправить=отправлен,отправлена,отправлено,отправлены подготовить=подготовлен,подготовлена,подготовлено
        принести=принёс,принес,принесла,принесли отнести=отнёс,отнес,отнесла пойти=пошёл,пошел,пошла
        сдать=сдан,сдана,сдано""",
}


@cache_within(250_000)
def list_past_forms(verb: str) -> frozenset[str]:
    """Return the past forms of a word, as if it were a verb as a dictionary lists it."""
    regular = (*_form_english(verb), *_form_by_ending(verb), *_form_germanic(verb), *_form_arabic(verb))
    return _irregular().get(verb, frozenset()).union(regular) - {verb}


@cache
def _irregular() -> dict[str, frozenset[str]]:
    table: dict[str, frozenset[str]] = {}
    for text in _IRREGULAR.values():
        for row in fold(text).split():
            base, _, forms = row.partition("=")
            table[base] = table.get(base, frozenset()) | frozenset(forms.split(","))
    return table


@cache
def _irregular_pasts() -> frozenset[str]:
    return frozenset[str]().union(*_irregular().values())


def may_be_past(word: str) -> bool:
    """Return whether a word looks like the past of a verb, whichever that is."""
    return word in _irregular_pasts() or _past_pattern().search(word) is not None


@cache
def _past_pattern() -> re.Pattern[str]:
    endings = sorted({each for _, pasts in _ENDINGS for each in pasts.split()})
    return re.compile(
        rf"(?<=\w\w)(?:ed|{'|'.join(endings)})$|ge\w+(?:t|d|en)$|^(?:{'|'.join(_INSEPARABLE)})\w+(?:t|d|en)$"
        r"|iert$|tet?e?n?$|[\u0600-\u06ff](?:ت|نا)$"
    )


def _form_english(verb: str) -> Iterator[str]:
    if not verb.isascii() or len(verb) < _MIN_ROOT_CHARACTERS:
        return
    if verb.endswith("e"):
        yield f"{verb}d"
    elif verb.endswith("y") and verb[-2] not in "aeiou":
        yield f"{verb[:-1]}ied"
    else:
        yield f"{verb}ed"
        if _DOUBLED.search(verb):
            yield f"{verb}{verb[-1]}ed"


def _form_by_ending(verb: str) -> Iterator[str]:
    for ending, pasts in _ENDINGS:
        root = verb.removesuffix(ending)
        if root != verb and len(root) >= _MIN_ROOT_CHARACTERS:
            yield from (root + past for past in pasts.split())


def _form_germanic(verb: str) -> Iterator[str]:
    """Yield the forms of a German or Dutch verb: buchen, gebucht; abholen, abgeholt; betalen, betaald."""
    root = verb.removesuffix("en") if verb.endswith("en") else verb.removesuffix("n")
    if root == verb or len(root) < _MIN_ROOT_CHARACTERS:
        return
    for each in {root, _LONG_VOWEL.sub(r"\1\1\2", root)}:
        yield from (each + ending for ending in ("te", "ten", "ete", "eten", "de", "den"))
        yield from (f"ge{each}{ending}" for ending in ("t", "et", "d", "en"))
        if each.startswith(_INSEPARABLE) or each.endswith("ier"):
            yield from (each + ending for ending in ("t", "et", "d"))
        for prefix in _SEPARABLE.split():
            if each.startswith(prefix) and len(each) > len(prefix) + _MIN_ROOT_CHARACTERS:
                yield from (f"{prefix}ge{each[len(prefix) :]}{ending}" for ending in ("t", "et", "d", "en"))


def _form_arabic(verb: str) -> Iterator[str]:
    if "\u0600" <= verb[:1] <= "\u06ff":
        yield from (f"{verb}ت", f"{verb}نا")
