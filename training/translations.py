"""Translations for the second static model, out of Debian packages: catalogues, dictionaries, handbooks, CLDR.

`python translations.py fetch --work DIR` gets the packages, `build` writes `pairs-XX.tsv` (English, translation) and
`words-XX.tsv` (English word or name, translation) for each language. No benchmark, nothing crawled.
"""

import argparse
import random
import re
import subprocess
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from multiprocessing import Pool
from pathlib import Path

from corpus import _JUNK, PACKAGES, blocks, catalogue, clean, members

LOCALES = {
    "de": "de",
    "fr": "fr",
    "es": "es",
    "it": "it",
    "pt": "pt",
    "pt_BR": "pt",
    "nl": "nl",
    "pl": "pl",
    "ru": "ru",
    "tr": "tr",
    "ar": "ar",
    "he": "he",
    "fa": "fa",
    "hi": "hi",
    "th": "th",
    "vi": "vi",
    "id": "id",
    "el": "el",
    "ja": "ja",
    "ko": "ko",
}
SCRIPTS = {
    "ru": "\u0400-\u04ff",
    "ar": "\u0600-\u06ff",
    "fa": "\u0600-\u06ff",
    "he": "\u0590-\u05ff",
    "hi": "\u0900-\u097f",
    "th": "\u0e00-\u0e7f",
    "el": "\u0370-\u03ff",
    "ja": "\u3041-\u30ff\u3400-\u9fff",
    "ko": "\uac00-\ud7a3",
}
DICTIONARIES = {  # Debian package dict-freedict-NAME (GPL and CC BY-SA): the language, and whether English comes first
    "eng-deu": ("de", True),
    "eng-fra": ("fr", True),
    "fra-eng": ("fr", False),
    "eng-spa": ("es", True),
    "spa-eng": ("es", False),
    "eng-ita": ("it", True),
    "ita-eng": ("it", False),
    "eng-por": ("pt", True),
    "por-eng": ("pt", False),
    "eng-nld": ("nl", True),
    "nld-eng": ("nl", False),
    "eng-pol": ("pl", True),
    "pol-eng": ("pl", False),
    "eng-rus": ("ru", True),
    "eng-tur": ("tr", True),
    "tur-eng": ("tr", False),
    "eng-ara": ("ar", True),
    "ara-eng": ("ar", False),
    "eng-hin": ("hi", True),
    "eng-ell": ("el", True),
    "ell-eng": ("el", False),
    "eng-ind": ("id", True),
}
BOOKS = ("debian-handbook", "gnome-user-docs")  # the same pages in every language, CC BY-SA 3.0
PROSE = (
    "wesnoth",
    "freeciv",
    "stellarium",
    "gcompris",
    "0ad",
    "kgeography",
    "marble",
    "iso-codes",
    "endless",
    "widelands",
)
OFFICE = tuple(f"libreoffice-l10n-{code.lower().replace('_', '-')}" for code in LOCALES)  # MPL-2.0
MORE = (  # besides packages.txt
    "iso-codes",
    "unicode-cldr-core",
    "freeciv-data",
    "stellarium-data",
    "gcompris-qt-data",
    "kgeography-data",
    "marble-data",
    "wesnoth-1.16-data",
    *BOOKS,
    *OFFICE,
    *(f"dict-freedict-{name}" for name in DICTIONARIES),
)
ENTRIES_A_DICTIONARY = 60_000
PAIRS_A_LANGUAGE = 110_000
PAIRS_A_CATALOGUE = 1_500
CATALOGUE_PACKAGES = 500  # a sample of those in packages.txt
WORDS_A_LANGUAGE = 60_000
_CATALOGUES = re.compile(rf"/({'|'.join(LOCALES)})(?:_[A-Z]+)?/LC_MESSAGES/[^/]+\.mo$")
_RARE_CATALOGUES = re.compile(r"/(he|fa|vi|hi|id|th)(?:_[A-Z]+)?/LC_MESSAGES/[^/]+\.mo$")
_LETTER = re.compile(r"[^\W\d_]|[\s,.!?'\u0300-\u036f\u0590-\u05ff\u064b-\u065f\u0900-\u097f\u0e00-\u0e7f]")
Row = tuple[str, str, str]


def is_prose(text: str) -> bool:
    return not _JUNK.search(text) and len(_LETTER.findall(text)) >= 0.85 * len(text)


def is_written_in(lang: str, text: str) -> bool:
    """Whether half of a text is in the script of a language; any text for a language in Latin script."""
    script = SCRIPTS.get(lang)
    return script is None or len(re.findall(f"[{script}]", text)) * 2 >= len(re.sub(r"\W", "", text))


def usable(lang: str, english: str, other: str) -> bool:
    return (
        english != other
        and english.isascii()
        and is_prose(english)
        and is_written_in(lang, other)
        and is_prose(other)
        and "\t" not in english + other
    )


def from_catalogues(package: Path, wanted: re.Pattern[str] = _CATALOGUES) -> list[Row]:
    """Translations of every catalogue in a package."""
    rows: set[Row] = set()
    try:
        for name, data in members(package, wanted):
            lang = LOCALES[_CATALOGUES.search(name)[1]]
            entries = [(a, b) for a, b in catalogue(data) if b and 3 < len(a) < 500]
            if not package.name.startswith(PROSE):  # labels of buttons abound
                entries = [(a, b) for a, b in entries if a.count(" ") > 1]
                entries = random.Random(len(data)).sample(entries, min(PAIRS_A_CATALOGUE, len(entries)))
            for a, b in entries:
                english, other = clean(a), clean(b)
                if usable(lang, english, other):
                    rows.add((lang, english, other))
    except (tarfile.TarError, OSError, zlib.error, TypeError):
        pass
    return list(rows)


def from_rare_catalogues(package: Path) -> list[Row]:
    """Translations into the languages that have few."""
    return from_catalogues(package, _RARE_CATALOGUES)


def from_book(package: Path) -> Iterator[Row]:
    """Blocks of the pages that have as many blocks in a language as in English."""
    pages: dict[tuple[str, str], list[str]] = {}
    wanted = re.compile(r"/(?:html|help)/([a-zA-Z]{2}(?:[-_][A-Z]{2})?|C)/(.+\.(?:html|page))$")
    for name, data in members(package, wanted):
        code, page = wanted.search(name).groups()
        pages[code.replace("-", "_"), page] = [text for _, text in blocks(data.decode("utf-8", "ignore"))]
    for (code, page), texts in pages.items():
        lang = LOCALES.get(code) or LOCALES.get(code[:2])
        english = pages.get(("en_US", page)) or pages.get(("C", page))
        if lang and english and len(english) == len(texts):
            yield from ((lang, a, b) for a, b in zip(english, texts, strict=True) if usable(lang, a, b))


def from_dictionary(package: Path, lang: str, *, is_english_first: bool) -> Iterator[Row]:
    """Headwords with their translations."""
    for _, data in members(package, re.compile(r"\.dict\.dz$")):
        entries = re.split(r"\n(?=[^\n]*(?: /[^\n]*/| <\w+>))", data.decode("utf-8", "ignore"))
        for entry in entries[:: 1 + len(entries) // ENTRIES_A_DICTIONARY]:
            head, _, rest = entry.partition("\n")
            word = re.sub(r"\s*[/<(\[].*", "", head).strip()
            for number, line in enumerate(rest.split("\n")[:12]):
                if lang == "id" and number and not re.match(r"\s*\d", line):
                    continue  # what a sense means, in English
                line = re.sub(r"\([^)]*\)|\{[^}]*\}|\[[^\]]*\]|<[^>]*>|^\s*\d+\.", "", line).replace("~", " ")
                for part in re.split(r"[,;]", line):
                    part = part.strip(' ."')
                    english, other = (word, part) if is_english_first else (part, word)
                    if 1 < len(other) < 40 and 1 < len(english) < 40 and is_translation(lang, english, other):
                        yield lang, english, other


def is_translation(lang: str, english: str, other: str) -> bool:
    return usable(lang, english, other) and english.count(" ") < 4 and other.count(" ") < 5


def from_cldr(package: Path) -> Iterator[Row]:
    """Names of emoji with their keywords, territories, languages and cities."""
    files: dict[tuple[str, str], dict[str, str]] = {}
    wanted = re.compile(r"/common/(annotations|main)/(\w+)\.xml$")
    entry = re.compile(
        r'<(annotation|territory|language|zone|month|day|currency) (?:cp|type)="([^"]+)"([^>]*)>'
        r"\s*(?:<exemplarCity>)?([^<]+)<"
    )
    for name, data in members(package, wanted):
        kind, code = wanted.search(name).groups()
        if code == "en" or code in LOCALES:
            found = entry.findall(data.decode())
            files[code, kind] = {f"{a}{key}{'tts' in extra}": text.strip() for a, key, extra, text in found}
    for (code, kind), names in files.items():
        for key, text in names.items():
            english = files["en", kind].get(key)
            if code != "en" and english:
                words = zip(english.split(" | "), text.split(" | "), strict=False)
                pairs = [(english, text)] if "|" not in english + text else [(" ".join(w[0] for w in words), text)]
                pairs += [(english.replace(" |", ","), text.replace(" |", ","))]
                yield from (
                    (LOCALES[code], a, b) for a, b in pairs if "|" not in a + b and is_written_in(LOCALES[code], b)
                )


def find(folder: Path, name: str) -> Path | None:
    return next(iter(sorted(folder.glob(f"{name}_*.deb"))), None)


def build(work: Path) -> None:
    deb = work / "deb"
    pairs: set[Row] = set()
    words: set[Row] = set()
    prose: set[Row] = set()
    for name, (lang, is_english_first) in DICTIONARIES.items():
        if path := find(deb, f"dict-freedict-{name}"):
            words |= set(from_dictionary(path, lang, is_english_first=is_english_first))
    if path := find(deb, "unicode-cldr-core"):
        words |= set(from_cldr(path))
    print("dictionaries", len(words), flush=True)
    for name in BOOKS:
        if path := find(deb, name):
            prose |= set(from_book(path))
    print("books", len(prose), flush=True)
    packages = sorted(deb.glob("*.deb"))
    others = [p for p in packages if p.stat().st_size < 25e6 and not p.name.startswith((*PROSE, "dict-"))]
    packages = [p for p in packages if p.name.startswith(PROSE)]
    chosen = random.Random(4).sample(others, min(CATALOGUE_PACKAGES, len(others)))
    packages += chosen
    with Pool(2) as pool:
        for path, rows in zip(packages, pool.imap(from_catalogues, packages, chunksize=2), strict=True):
            for row in rows:
                is_word = row[1].count(" ") < 2
                (words if is_word else prose if path.name.startswith(PROSE) else pairs).add(row)
        rest = sorted(set(others) - set(chosen))
        for rows in pool.imap(from_rare_catalogues, rest, chunksize=4):
            pairs |= set(rows)
    write(work, prose, pairs, words)


def write(work: Path, prose: set[Row], pairs: set[Row], words: set[Row]) -> None:
    """Prose first, then other pairs up to the cap, in a fixed order."""
    rng = random.Random(5)
    for lang in sorted(set(LOCALES.values())):
        first = sorted(r[1:] for r in prose if r[0] == lang)
        others = sorted(r[1:] for r in pairs if r[0] == lang)
        rng.shuffle(first)
        rng.shuffle(others)
        rows = list(dict.fromkeys(first + others))[:PAIRS_A_LANGUAGE]
        names = sorted(r[1:] for r in words if r[0] == lang)
        rng.shuffle(names)
        for kind, kept in (("pairs", rows), ("words", names[:WORDS_A_LANGUAGE])):
            (work / f"{kind}-{lang}.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in kept), "utf-8", "ignore")
        print(lang, "prose", len(first), "pairs", len(rows), "words", len(names), flush=True)


def fetch(work: Path) -> None:
    """Get the packages: those with catalogues in the versions of the first model, the others as Debian 12 has them."""
    (work / "deb").mkdir(parents=True, exist_ok=True)
    names = [*MORE, *PACKAGES.read_text().split()]
    for i in range(0, len(names), 40):
        subprocess.run(["apt-get", "download", "-q", *names[i : i + 40]], cwd=work / "deb", check=False)


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("fetch", "build"))
    parser.add_argument("--work", type=Path, required=True)
    given = parser.parse_args(arguments)
    fetch(given.work) if given.step == "fetch" else build(given.work)


if __name__ == "__main__":
    main()
