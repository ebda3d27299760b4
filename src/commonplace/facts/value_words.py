"""Words that decide how many values a relation can have: roles held by one at a time, states, and countless things."""

from __future__ import annotations

from .words import stem, word_set, word_sets

DETERMINERS = word_set("values", "DETERMINERS")
ARTICLES = word_set("values", "ARTICLES")
OURS = word_set("values", "OURS")
TITLES = word_set("values", "TITLES")
VAGUE_STARTS = word_set("values", "VAGUE_STARTS")
PREPOSITIONS = word_set("values", "PREPOSITIONS")
GOALS = word_set("values", "GOALS")
PLACE_PREPOSITIONS = word_set("values", "PLACE_PREPOSITIONS")
CASE_PREPOSITIONS = word_set("values", "CASE_PREPOSITIONS")
ROLES = frozenset(form for word in word_set("values", "ROLES") for form in (word, stem(word)))
UNIQUE_ROLES = word_set("values", "UNIQUE_ROLES")
OWNING_VERBS = word_set("values", "OWNING_VERBS")
FAVOURITES = word_set("values", "FAVOURITES")
STATES = word_set("values", "STATES")
SINGLE_VALUED = word_set("values", "SINGLE_VALUED")
MANY_VALUED_NOUNS = word_set("values", "MANY_VALUED_NOUNS")
MANY_VALUED = word_set("values", "MANY_VALUED")
EVENT_WORDS = word_set("values", "EVENT_WORDS")
_SENTIMENTS = word_set("values", "SENTIMENTS")
SENTIMENT_STEMS = frozenset(map(stem, _SENTIMENTS))
NEEDS = word_set("values", "NEEDS")
DONE = word_set("values", "DONE")
KINDS_OF_THINGS = frozenset(
    map(
        stem,
        word_set("values", "KINDS_OF_THINGS"),
    )
)
NO_FEELING = word_set("values", "NO_FEELING")
CHARGES = word_set("values", "CHARGES")
NAMING = word_set("values", "NAMING")
NEGATIONS = word_set("values", "NEGATIONS")
FREE_LABELS = frozenset(stem(word) for word in word_set("values", "FREE_LABELS"))
CONTEXT_LABELS = frozenset(stem(word) for word in word_set("values", "CONTEXT_LABELS"))
_GENERIC_WORDS = word_set("values", "GENERIC_WORDS")
GENERIC = frozenset(map(stem, _GENERIC_WORDS))
_ATTRIBUTES = word_set("values", "ATTRIBUTES")
NO_TOPICS = frozenset(
    form for word in _GENERIC_WORDS - _ATTRIBUTES for form in (word, f"{word}s", f"{word}ed", f"{word}ing")
)
PLANS = word_set("values", "PLANS")
KINDS = word_set("values", "KINDS")
KIND_STEMS = frozenset(map(stem, KINDS))
CONTRASTS = word_sets("values", "CONTRASTS")
RELATIVES = word_set("values", "RELATIVES")
OWNER_MARKS = word_set("values", "OWNER_MARKS")
OF = word_set("values", "OF")
FOR = word_set("values", "FOR")
REPORTING = word_set("values", "REPORTING")
KIN = word_set("values", "KIN")
APPOINTMENTS = word_set("values", "APPOINTMENTS")
