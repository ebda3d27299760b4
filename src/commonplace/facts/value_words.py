"""Words that tell how many values a relation has: roles that one holds at a time, states, and what there is much of."""

from __future__ import annotations

from .words import stem, word_set

DETERMINERS = word_set("the our my your der die das den unser unsere mein meine la el los las le les il lo gli o os")
ARTICLES = word_set("the a an der die das ein eine le la les l' el los las o os as un une")
# Before what belongs to the writer: `our vet`.
OURS = word_set(
    """
    my our mein meine unser unsere mon ma notre mi nuestro nuestra meu minha nosso nossa мой моя наш наша मेरा मेरी मेरे
    हमारा हमारी हमारे
    """
)
TITLES = word_set("mr mrs ms miss dr prof frau herr señor señora sr sra don doña monsieur madame m mme signor signora")
VAGUE_STARTS = word_set("it this that these those they he she")  # they only point at something
PREPOSITIONS = word_set(
    """
    in at of by to with for as on from near under into onto during until till about into en de a por para con à
    au chez dans pour par em no na com im bei für mit auf an von gegen contra contre
    против в на у с по से में को पर في من إلى على
    """
)
# What stands before the new value of what changed: `moved to`, `verlegt auf`, `passé à`.
GOALS = word_set(
    """
    to until till into onto nach auf zu zum zur bis à au aux vers jusqu al hasta para pra ao até в на до к إلى الى حتى
    तक に へ 到 为 成 至 给
    """
)
# What stands before a place, a tool or a person in a value.
PLACE_PREPOSITIONS = word_set(
    """
    in at on under with by to from near via through into im am in bei mit auf unter an beim en chez dans sur avec à au
    con em no na nos nas com в на у с под через في على مع ب में पर से で に 上 里
    """
)
# What follows one of these within a value says in which case it holds: `30 seconds for reads`.
CASE_PREPOSITIONS = word_set("for in on per with during under if when für bei auf mit para em pour dans для при")
_ROLE_WORDS = """
    name title address email phone number owner manager boss lead leader head chief ceo cto cfo chairperson chairman
    chair president director captain coach mayor minister king queen capital author creator founder developer producer
    performer employer spouse wife husband partner fiance girlfriend boyfriend child doctor dentist
    therapist teacher trainer religion language citizenship nationality birthday birthplace hometown job role position
    occupation profession status state version port host url branch database framework library language stack provider
    vendor plan tier budget price cost fee rent salary rate limit quota timeout deadline date day time start end due
    schedule slot room location venue place office seat gate flight hotel colour color size weight height age length
    distance goal target priority severity theme topic favourite favorite preferred default current password code wifi
    ssid contact editor editor browser shell os region timezone currency unit format license licence model dose dosage
    medication diet broadcaster headquarters sport genre label company original official mother father maker
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
FAVOURITES = word_set("favorite favourite favorites favourites name job major hometown birthday nickname type genre")
STATES = word_set(
    """
    done finished complete completed blocked unblocked open closed cancelled canceled live down up ready pending
    paused released merged approved rejected planned delayed online offline broken fixed deployed enabled
    disabled on off available unavailable active inactive green red yellow public private optional required
    mandatory deprecated draft published signed unsigned started running stopped abandoned single engaged married
    divorced widowed
    """
)
# What a thing is in one way at a time: `located in`, `married to`, `due on`.
SINGLE_VALUED = word_set(
    """
    based living working employed enrolled located situated married registered staying born written created developed
    produced founded performed directed composed sung led headed owned managed maintained hosted stored kept parked
    assigned due scheduled set planned booked moved named called famous affiliated associated citizen built made run
    taught chaired published released manufactured designed broadcast held sponsored signed reported capped limited
    configured pinned deployed delivered sent paid billed open available educated
    """
)
# What one may have several of: a second one does not replace the first.
MANY_VALUED_NOUNS = word_set(
    """
    allergy allergies hobby hobbies interest interests pet pets friend friends children kid kids son sons daughter
    daughters brother brothers sister sisters dependency dependencies risk risks blocker blockers skill skills member
    """
)
MANY_VALUED = word_set(
    """
    visited bought seen met told asked used liked loved invited given read watched eaten enjoyed inspired interested
    excited surprised proud happy going looking working trying thinking planning talking good great full known made
    afraid fond fan likes like love loves enjoy enjoys visit visits
    """
)
# What happened once: another one of these is another event.
EVENT_WORDS = word_set(
    """
    spent spend bought paid ran walked went ate slept saw met did took got drank scored lost gained read watched
    finished completed played swam cycled biked hiked drove flew cooked cleaned studied wrote sent received attended
    joined visited failed crashed today yesterday tonight hoy ayer comprado compré corrido corrí visité gasté fui
    aujourd hier acheté couru visité hoje ontem comprei corri visitei gastei heute gestern gekauft gelaufen besucht
    сегодня вчера купил купила пробежал пробежала сходил был ездил посетил ली लिया खरीदा दौड़ा आज कल زرت اشتريت ركضت
    اليوم أمس 今 昨
    """
)
_SENTIMENTS = word_set(
    """
    like likes liked love loves loved loving enjoy enjoys enjoyed enjoying prefer prefers preferred preference
    favorite favourite fan into adore hate hates dislike dislikes disliked interested appreciate drawn taste
    tastes keen dream avoid care wanted admire admired captivated listening gusta gustan encanta aime aiment
    adore gosto gosta mag mögen liebe люблю любит нравится पसंद أحب يحب 喜 好 fond
    """
)
SENTIMENT_STEMS = frozenset(map(stem, _SENTIMENTS))
NEEDS = word_set("need needs todo remind reminds schedule must have")  # what is to be done
DONE = word_set("list track remove removed longer completed finished")  # said of what need not be done any more
# What things that people like have in common: `90s music` and `jazz music` are not the same.
KINDS_OF_THINGS = frozenset(
    map(
        stem,
        word_set(
            "music movie movies film films book books climate climates genre genres style destination travel food show "
            "shows song songs game games sport sports series place places weather city cities country countries art"
        ),
    )
)
NO_FEELING = word_set("feel feels feeling felt sound sounds look looks seem seems would just more things something")
# What somebody does who is in charge: another name before the same words is another person in charge.
CHARGES = word_set(
    """
    own owns owned lead leads leading manage manages managed handle handles maintain maintains care responsible charge
    approve approves approved runs oversee oversees looks betreut betreuen kümmert zuständig verantwortlich leitet gère
    responsable lleva encarga gestiona dirige cuida responsável gerencia отвечает ведёт ведет занимается руководит देखता
    देखती देखते संभालता संभालती ज़िम्मेदार مسؤول مسؤولة المسؤول المسؤولة يدير تدير teaches teacher clés key keys llaves chave
    chaves ключи चाबी مفاتيح المفاتيح
    """
)
NAMING = word_set(
    """
    name named names call called calls codename title titled renamed publish published heißt heissen nennt nennen name
    appelle appelons nom llama llamamos nombre chama chamamos nome зовут называется назвали имя नाम اسم اسمه اسمها
    """
)
NEGATIONS = word_set(
    """
    not no never none without kein keine keinen keiner nicht nie pas jamais sans ni nunca jamás não nunca sem не нет без
    никогда नहीं मत बिना لا لم لن ليس ليست بدون
    """
)
# Labels that tell nothing of what follows, and may come again.
FREE_LABELS = frozenset(
    stem(word)
    for word in word_set(
        """
        note notes todo idea ideas lesson lessons fixed done meeting update updates question questions next reminder
        decision decisions ps fyi warning tip tips example summary remember learned context why how result results
        issue bug fix log plan today tomorrow step add list lists source link see also re user assistant system entry
        topic task tasks done mood erledigt behoben gelöst fait corrigé résolu hecho corregido resuelto arreglado feito
        corrigido resolvido fatto risolto сделано исправлено
        """
    )
)
# Labels that mean something else in every place.
CONTEXT_LABELS = frozenset(
    stem(word)
    for word in word_set(
        """
        deadline due date day time start end status state owner name title type kind version size cost price budget
        total count number place location room contact priority goal target value default description category author
        url link path file id
        """
    )
)
# Words that are in many statements, and tell little of what they are about.
_GENERIC_WORDS = word_set(
    """
    actually speaking know really guess definitely lately recently honestly feelings changed change changing tastes
    taste style work works working time times day days week weeks month year years new old best better last next
    take takes taking look looking keep make making need needs use using people person thing things life lot part
    place start started going come came back see seen help helps try trying talk think feel tell ask call name
    challenges things preferences idea stuff way person good great nice name open question decide
    decided unsure sure yet still whether track list remove completed finished handled already need task tasks
    love loves wait awesome amazing excited cheers show gonna wow sorry glad happy hear fun chat chatted talked
    forward experience hard sound sounds never always
    personal mind opinion totally completely shifted evolved absolutely lately reminds remember soon
"""
)
GENERIC = frozenset(map(stem, _GENERIC_WORDS))
# Of these, what is no attribute of something: `name` and `time` are what a note may be about.
_ATTRIBUTES = word_set("name time times day days place style taste list track task tasks question idea part work life")
NO_TOPICS = frozenset(
    form for word in _GENERIC_WORDS - _ATTRIBUTES for form in (word, f"{word}s", f"{word}ed", f"{word}ing")
)
# What is planned or paid for: `the trip to Japan` is `Japan` in short.
PLANS = word_set(
    """
    trip plan plans visit class classes course membership subscription project event meeting thing reise plan kurs
    mitgliedschaft abo urlaub voyage plan cours abonnement séjour viaje plan clases clase curso suscripción viagem plano
    aula aulas curso assinatura поездка поездку план курс подписка подписку यात्रा प्लान योजना السفر رحلة خطة 旅行 計画
    计划 行程 appointment booking termin rendez vous cita consulta встреча موعد अपॉइंटमेंट 预约 予約
    """
)
# What only says what kind of thing a name names: `the billing service` is `billing`.
KINDS = word_set(
    """
    service team project app application domain server repo repository database system module feature flag package
    library cluster website site component tool company dienst projekt anwendung seite datenbank firma servicio equipo
    proyecto aplicación módulo servidor sitio empresa équipe projet application serveur module entreprise serviço equipe
    projeto aplicativo servidor команда проект сервис сервер сайт модуль टीम प्रोजेक्ट सर्वर فريق مشروع خدمة خادم
    """
)
KIND_STEMS = frozenset(map(stem, KINDS))
# Cases that hold side by side: what is said of one says nothing of another.
CONTRASTS = tuple(
    word_set(each)
    for each in (
        """
        production prod live staging stage dev development test testing local locally ci qa preprod sandbox demo
        produktiv produktion produktivserver testserver producción pruebas produção homologação préproduction
        боевом тестовом боевой тестовый продакшене الإنتاج الاختبار
        """,
        "frontend backend worker webhook api webhooks",
        "old new alte neue ancien nouveau ancienne nouvelle viejo nuevo vieja nueva",
        "ios android web desktop mobile",
        "front rear left right upper lower top bottom upstairs downstairs inner outer",
        "read reads write writes",
        "upload uploads download downloads",
        "images videos image video photos audio",
        "weekday weekdays weekend weekends",
        "adults children kids students seniors",
        "summer winter sommer winter été hiver verano invierno verão inverno летом зимой",
        "monthly weekly daily yearly annual quarterly hourly",
        "min max minimum maximum minimal maximal",
        "internal external incoming outgoing inbound outbound",
        "breakfast lunch dinner",
        "kitchen bedroom bathroom hall office garage küche schlafzimmer bad salon chambre cuisine cocina dormitorio "
        "baño cozinha quarto кухне спальне बेडरूम हॉल रसोई",
    )
)
RELATIVES = word_set("أخ أخت أم أب زوجة زوج ابن ابنة والد والدة عم عمة خال خالة جد جدة صديق صديقة")  # whose comes next
OWNER_MARKS = word_set("का की के")  # after an owner
OWNED_MARKS = word_set("von of de d' du da do del di")  # before an owner
# What one may have several of, on other days.
APPOINTMENTS = word_set(
    """
    appointment appointments checkup lesson call visit termin termine cita rendez consulta встреча приём موعد अपॉइंटमेंट
    """
)
