"""Words that tell how many values a relation has: roles that one holds at a time, states, and what there is much of."""

from __future__ import annotations

from .words import stem, word_set

PREPOSITIONS = word_set(
    """
    in at of by to with for as on from near under into onto during until till about into en de a por para con à
    au chez dans pour par em no na com im bei für mit auf an von в на у с по से में को पर في من إلى على
    """
)
_ROLE_WORDS = """
    name title address email phone number owner manager boss lead leader head chief ceo cto cfo chairperson chairman
    chair president director captain coach mayor minister king queen capital author creator founder developer producer
    performer employer spouse wife husband partner fiance girlfriend boyfriend child son daughter doctor dentist
    therapist teacher trainer religion language citizenship nationality birthday birthplace hometown job role position
    occupation profession status state version port host url branch database framework library language stack provider
    vendor plan tier budget price cost fee rent salary rate limit quota timeout deadline date day time start end due
    schedule slot room location venue place office seat gate flight hotel colour color size weight height age length
    distance goal target priority severity theme topic favourite favorite preferred default current password code wifi
    ssid contact editor editor browser shell os region timezone currency unit format license licence model dose dosage
    medication allergy diet broadcaster headquarters sport genre label company original official mother father maker
    wallpaper primary main best next nickname breakfast lunch dinner
"""
ROLES = frozenset(form for word in _ROLE_WORDS.split() for form in (word, stem(word)))
UNIQUE_ROLES = word_set(
    """
    ceo cto cfo lead leader head owner manager chair chairman chairperson president director captain treasurer
    responsible contact maintainer boss principal mayor capital our
    """
)
OWNING_VERBS = word_set("owns leads manages handles maintains runs chairs own lead manage handle maintain")
STATES = word_set(
    """
    done finished complete completed blocked unblocked open closed cancelled canceled live down up ready pending
    paused released merged approved rejected planned delayed online offline broken fixed deployed enabled
    disabled on off available unavailable active inactive green red yellow public private optional required
    mandatory deprecated draft published signed unsigned started running stopped abandoned
    """
)
MANY_VALUED = frozenset(
    stem(word)
    for word in word_set("""visited bought seen met told asked used liked loved invited given read watched eaten enjoyed
    inspired interested excited surprised proud happy going looking working trying thinking planning talking good
    great full known made afraid fond""")
)
EVENT_VERBS = word_set(
    """
    spent spend bought paid ran walked went had ate slept saw met did took got drank scored lost gained made
    read watched finished completed played swam cycled biked hiked drove flew cooked cleaned studied worked
    wrote sent received called attended joined visited started
    """
)
