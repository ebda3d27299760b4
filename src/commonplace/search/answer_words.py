"""Words of questions that ask for a kind of value (`when`, `how much`, `which colour`), and words that are such values.

Patterns are compared with folded text (`date_phrases.fold_phrase`); lists are folded when they are first used. In a
list, a word that ends with `*` stands for all words that begin so.
"""

from __future__ import annotations

# What asks for each kind, by script; of two that begin at the same place, the first one counts. A line that does not
# begin with a bar and a space goes on with the phrase before it.
_LATIN_QUESTIONS = {
    "clock": r"""
        (?:(?:at )?(?:what|which) (?:time|hour)(?! of (?:the )?(?:year|month|week)| ?zone))
        | (?:um wie ?viel uhr|wie spat|zu welcher (?:uhrzeit|stunde)) | a que horas? | a quelle heure | a che ora
        | hoe laat | jam berapa | pukul berapa
    """,
    "date": r"""
        (?:on |by |until )?(?:what|which) (?:day|date|weekday)s?
        | (?:an|auf|zu|bis zu) welche[mn] (?:tag|datum|wochentag) | welche[rns] (?:tag|wochentag) | welches datum
        | (?:en |a )?que (?:dia|fecha) | (?:em )?que (?:dia|data) | quel (?:jour|est le jour)
        | quelle (?:date|est la date) | (?:in )?che (?:giorno|data) | (?:in )?quale (?:giorno|data)
        | op welke (?:dag|datum) | hari apa | tanggal berapa
    """,
    "day": r"""
        (?:by |since |until |till )?when(?!ever) | how (?:early|late|soon) | (?:bis |seit |ab )?wann
        | (?:desde |hasta |para |ate )?(?:cuando|quando) | (?:depuis |jusqu'a )?quand | (?:da |fino a )?quando
        | (?:vanaf |tot )?wanneer | kapan
    """,
    "age": r"""
        how old | wie alt | cuantos anos tiene\w* | quantos anos tem | quel age | quanti anni ha | hoe oud
        | (?:berapa )?(?:usia|umur) berapa | berapa (?:usia|umur)
    """,
    "duration": r"""
        (?:for )?how (?:long|often|many (?:minutes|hours|days|weeks|months|years)) | wie (?:lange?|oft)
        | wie viele (?:minuten|stunden|tage|wochen|monate|jahre)
        | (?:durante |por )?cuanto (?:tiempo|tarda\w*|dura\w*) | cuantos (?:minutos|dias|meses)
        | cuantas (?:horas|semanas) | (?:durante |por )?quanto (?:tempo|demora\w*|dura\w*)
        | quantos (?:minutos|dias|meses) | quantas (?:horas|semanas)
        | (?:pendant )?combien (?:de temps|d'heures|de jours|de semaines|de mois) | (?:per )?quanto (?:tempo|dura)
        | hoe lang | berapa lama
    """,
    "money": r"""
        how (?:much (?:money|[^?]*\b(?:cost|pay|paid|charge|earn|spen[dt]|owe|borrow|lend|lent)\w*)|expensive)
        | what (?:do|does|did|will|would) [^?]*\b(?:costs?|pay(?! attention)|earn|charge|spend)\b
        | what (?:is|are|was) [^?]*\b(?:price|costs?|fee|rent|salary|wage|deposit)(?= *[?.]*$| (?:of|for|per|a|each
        |to)\b) | (?:what|which) (?:price|fee|amount|sum) | (?:wie ?viel|was) (?:be)?zahl\w*
        | (?:wie ?viel|was) [^?]*\b(?:kostet\w*|gekostet|kosten|bezahl\w*|verdien\w*)
        | wie ?viel [^?]*\b(?:zahl\w*|geld|euro)
        | wie (?:teuer|hoch ist (?:die|der|das) (?:\w*(?:miete|kaution|preis|gebuhr|rechnung|gehalt|beitrag)))
        | (?:cuanto|que|quanto) (?:nos |me |te |se )?(?:cuesta\w*|costo|costaba|costara|pag(?:o|a|as|amos|an|ar|ue
        |aste)|cobra\w*|cost[aoi]\w*|cust\w*)
        | (?:cuanto|quanto) (?:nos |me |te |se )?(?:vale\w*|gana\w*|debe\w*|debo|deve\w*|dinero|dinheiro|ganh\w*
        |guadagn\w*)
        | (?:cual|qual|quale) (?:es|e|era) (?:el |o |il )?(?:precio|coste|preco|custo|valor|prezzo|costo)
        | (?:combien|que) [^?]*\b(?:cout\w*|paie\w*|pay(?:e|er|ons|ez|ent))
        | combien [^?]*\b(?:vaut|gagn\w*|argent|d'argent|euros?) | quel (?:est le )?(?:prix|tarif|montant|loyer)
        | hoeveel [^?]*\b(?:kost\w*|betaal\w*|verdien\w*|geld) | berapa (?:harga|biaya|ongkos|gaji)
        | (?:harga|biaya)\w* [^?]*berapa
    """,
    "count": r"how many | wie ?viele | cuant[oa]s | quant[oa]s | quant[ie] | combien d[e'] | hoeveel",
    "amount": r"""
        how (?:much|big|large|far|high|tall|heavy|fast) | wie (?:viel|gross|weit|hoch|schwer|schnell) | cuant[oa]
        | quant[oa] | combien | berapa
    """,
    "phone": r"""
        (?:what|which)\b[^?]*\b(?:phone|telephone|mobile|cell|fax) ?(?:number|no|nr)\b
        | how (?:can|do|could|should) (?:i|we) (?:call|ring|phone)\b
        | (?:welche|wie lautet|wie ist|was ist)\b[^?]*\b(?:telefon|handy|mobil|fax)nummer
        | wie kann ich [^?]*\banrufen | (?:cual|que|qual)\b[^?]*\b(?:telefono|telefone|celular|movil)\b
        | quel(?:le)?s?\b[^?]*\b(?:telephone|portable)\b | qual\b[^?]*\btelefono\b | wat is\b[^?]*\btelefoonnummer
        | nomor (?:telepon|hp)
    """,
    "email": r"""
        (?:what|which|wie lautet|was ist|welche|cual|qual|quel|quelle)\b[^?]*\b(?:e-?mail|mail-?adresse
        |correo electronico|courriel)\b(?! (?:provider|client|program|app|server|service|list))
    """,
    "code": r"""
        (?:what|which)\b[^?]*\b(?:(?:account|policy|serial|order|invoice|customer|registration|tax|passport|flight
        |card|licence plate|license plate|post)[ -]?(?:number|no|nr|code)s?|bank account|port|iban|pin|zip code
        |(?:number|licence|license|registration) plate|version)\b
        | (?:wie lautet|was ist|welche[sr]?)\b[^?]*\b(?:(?:konto|kunden|rechnungs|serien|policen|versicherungs
        |steuer|auftrags|bestell)nummer|iban|pin|postleitzahl|plz|kennzeichen|version)\b
        | (?:cual|que|qual)\b[^?]*\b(?:numero de (?:cuenta|cliente|poliza|serie|conta|apolice)|cuenta bancaria
        |conta bancaria|iban|pin|placa|matricula|codigo postal|cep|version|versao)\b
        | quel(?:le)?s?\b[^?]*\b(?:numero de (?:compte|client|serie|contrat)|compte bancaire|iban|immatriculation
        |plaque|code postal|version)\b
        | qual\b[^?]*\b(?:numero di (?:conto|cliente|serie)|iban|targa|cap|versione)\b
    """,
    "person": r"""
        (?:(?:to|with|by|from|for|of) )?who(?:m|se)?\b(?! (?:is|was|are) \w+ *[?]*$)
        | (?:von |mit |bei |zu |fur |an )?we[rnm]\b(?! (?:ist|war) \w+ *[?]*$) | wessen
        | (?:a |con |de |para |por )?quien(?:es)?\b(?! (?:es|era) \w+ *[?]*$)
        | (?:com |de |para |por |a )?quem\b(?! (?:e|era) \w+ *[?]*$)
        | (?:a |avec |chez |pour |par |de )?qui\b(?! (?:est|etait) \w+ *[?]*$) | (?:a |con |di |da |per )?chi\b
        | (?:met |van |door )?wie\b(?= (?:is|heeft|gaat|maakt|doet|komt|was)\b) | siapa
        | wie heisst (?:der|die|unser\w*|mein\w*) \w*(?:arzt|arztin|lehrer|lehrerin|chef|chefin|vermieter
        |vermieterin|nachbar|nachbarin|trainer|trainerin|anwalt|berater|beraterin|makler|friseur|hausmeister)
        | como se (?:llama|chama) (?:el|la|o|a|nuestr[oa]|mi|meu|minha|noss[oa]) (?:medic|doctor|dentista|veterinari
        |profesor|professor|maestr|jef|vecin|duen|entrenador|abogad|contador|encanador|fontaner)\w*
        | comment s'appelle (?:le|la|notre|mon|ma) (?:medecin|dentiste|docteur|veterinaire|professeur|maitresse|chef
        |voisin|comptable|plombier|avocat)\w* | which (?:company|person|team|group|colleague|department|firm)
        | welche (?:firma|person|abteilung|kollegin) | welcher (?:kollege|mitarbeiter)
        | quelle (?:entreprise|personne|equipe|societe) | que (?:empresa|persona|equipo|pessoa|equipe)
        | what is (?:the name of )?(?:my|our|the) (?:doctor|dentist|teacher|boss|landlord|vet|plumber|neighbour
        |neighbor|lawyer)(?:'s name)?
    """,
    "place": r"""
        (?:from )?where(?!as|ver)\b(?! (?:is|was) \w+ *[?]*$) | wo(?:hin|her)?\b(?! (?:ist|war) \w+ *[?]*$)
        | (?:a |de |en |por )?a?donde\b(?! esta \w+ *[?]*$)
        | (?:de |por |para )?a?onde\b(?! esta (?:[oa] )?\w+ *[?]*$)
        | (?:d')?ou\b(?= (?:est|sont|se|fait|a|ont|puis|peut|faut|va|vas|vais|habit\w*|trouv\w*|travaill\w*|dois
        |doit|etait|avons|as|on|ranger?|met\w*)) | (?:di |da )?dove\b | dov'e | waar(?:heen)?\b
        | (?:di|ke|dari) mana
        | (?:in )?(?:what|which) (?:city|town|country|village|street|room|place|building|office|platform)
        | in welche[rm] (?:stadt|land|dorf|strasse|raum|zimmer|ort|gebaude) | an welchem ort
        | (?:en|em) (?:que|cual|qual) (?:ciudad|pais|pueblo|calle|sala|lugar|sitio|edificio|cidade|bairro|rua|predio
        |local)
        | (?:dans |de |sur |a )?quel(?:le)? (?:est (?:la|le) )?(?:ville|pays|rue|salle|lieu|endroit|batiment|quai)
        | in quale (?:citta|paese|via|stanza|sala|luogo|posto)
    """,
    "colour": r"""
        (?:what|which) colou?rs? | welche farben? | welcher farbe | (?:de |en )?que color(?:es)?
        | (?:de |em )?(?:que|qual) cor(?:es)? | (?:de )?quel(?:le)?s? couleurs? | (?:di )?che colore
        | (?:di )?quale colore | welke kleur | warna apa
    """,
    "size": r"""
        (?:what|which)(?: shoe)? sizes? | welche \w*grossen?
        | (?:de )?(?:que|cual es la|qual e o) (?:talla|tamano|tamanho|numero de (?:zapatos?|sapatos?))
        | quelle (?:taille|pointure) | (?:di )?che (?:taglia|misura) | welke maat | ukuran (?:apa|berapa)
    """,
    "other": r"""
        what | which | how | was | welche\w* | wie | que | cual(?:es)? | como | quel(?:le)?s? | comment | pourquoi
        | why | warum | qual | quais | che | quale | quali | come | perche | porque | por que | wat | welke | waarom
        | hoe | apa | bagaimana | mengapa
    """,
}
_CYRILLIC_QUESTIONS = {
    "clock": r"(?:во|в|к) сколько | в котором часу | в какое время(?! года)",
    "date": r"""
        (?:в|на|к|до) как(?:ои|ому|ого|ое) (?:день|дню|дня|число|числу|числа|дату|дате|даты) | какого числа
        | по каким дням
    """,
    "day": r"(?:до |с )?когда | к какому сроку",
    "age": r"сколько (?:\w+ )?лет | какого возраста",
    "duration": r"как долго | сколько (?:времени|дней|недель|месяцев|часов|минут) | на какои срок | надолго ли",
    "money": r"""
        сколько (?:будет |\w+ )?(?:стои(?:т|л|ла|ло|ли|ть))
        | сколько [^?]*(?:плат\w+|заплат\w+|денег|рублеи|зараба\w+)
        | (?:на |за )?как(?:ую|ая|ои|ова|ов) (?:сумм\w+|цен\w+|стоимость|плата|зарплата|аренд\w+) | почем
    """,
    "amount": r"сколько",
    "phone": r"как(?:ои|ов) [^?]*(?:телефон\w*|номер телефона) | как (?:мне )?позвонить",
    "email": r"как(?:ои|ая|ов) [^?]*(?:e-?mail|электронн\w+ (?:адрес|почт)\w*|почт\w*)",
    "code": r"""
        как(?:ои|ая|ов) [^?]*(?:номер (?:счета|договора|полиса|заказа|карты|машины)|индекс|пароль от карты|пин
        |версия)
    """,
    "person": r"(?:с |у |к |от |за |для )?к(?:то|ого|ому|ем)(?!\w) | чеи | чья | чье",
    "place": r"""
        где(?! \w+ *[?]*$) | куда | откуда
        | в как(?:ом|ои) (?:городе|стране|деревне|улице|кабинете|комнате|зале|здании|месте)
    """,
    "colour": r"какого цвета | какои цвет | каких цветов",
    "size": r"какого размера | какои (?:\w+ )?размер",
    "other": r"что | чего | чему | чем | как\w* | почему | зачем | котор\w+",
}
_ARABIC_QUESTIONS = {
    "clock": r"في (?:اي ساعه|اي ساعة) | كم الساعة | (?:في )?اي ساعة",
    "date": r"(?:في )?اي (?:يوم|تاريخ) | ما (?:هو )?تاريخ",
    "day": r"متى | حتى متى | منذ متى",
    "age": r"كم (?:عمر|سنة عمر)\w*",
    "duration": r"كم (?:من الوقت|المدة|مدة|يوما|ساعة|شهرا|اسبوعا|تستغرق|يستغرق) | ما (?:هي )?مدة",
    "money": r"""
        (?:ب)?كم (?:سعر|ثمن|تكلف\w*|يكلف|كلف\w*|ندفع|ادفع|تدفع|يدفع|راتب|ايجار)\w*
        | ما (?:هو |هي )?(?:سعر|ثمن|تكلفة|ايجار|راتب|اجرة) | بكم
    """,
    "amount": r"كم(?: عدد)?",
    "phone": r"(?:ما (?:هو )?)?رقم (?:ال)?(?:هاتف|جوال|موبايل|تليفون)\w*",
    "person": r"(?:مع |ل)?من(?= (?:هو|هي|ي\w+|ت\w+|الذي|التي|ا?ل?مسؤول\w*|صاحب|كتب|قام)) | لمن",
    "place": r"(?:من |الى )?اين | في اي (?:مدينة|بلد|شارع|غرفة|مكان|قاعة)",
    "colour": r"ما (?:هو )?لون | اي لون",
    "size": r"ما (?:هو )?(?:مقاس|حجم) | اي (?:مقاس|حجم)",
    "other": r"ما | ماذا | كيف | لماذا | اي",
}
_DEVANAGARI_QUESTIONS = {
    "clock": r"कितने बजे | किस समय",
    "date": r"किस (?:दिन|तारीख) | कौन से दिन | कौन सी तारीख",
    "day": r"कब",
    "age": r"कितने साल क[ाीे] | उम्र (?:क्या|कितनी) | कितनी उम्र",
    "duration": r"कितने (?:दिन|घंटे|मिनट|महीने|हफ्ते|साल) | कितनी देर | कितना समय | कब तक",
    "money": r"""
        कितन[ेाी] (?:का|की|के|रुपये|रुपए|पैसे|किराया|फीस|दाम|कीमत|खर्च|वेतन)
        | (?:कीमत|दाम|किराया|फीस|वेतन) (?:क्या|कितन[ाीे])
    """,
    "amount": r"कितन[ेाी]",
    "phone": r"(?:फोन|फ़ोन|मोबाइल|टेलीफोन) (?:का )?नंबर",
    "person": r"कौन(?! (?:सा|सी|से)) | किसने | किसका | किसकी | किसके | किसे | किससे",
    "place": r"कह(?:ाँ|ां) | किस (?:शहर|देश|कमरे|जगह|गली)",
    "colour": r"(?:किस|कौन सा|कौन से|क्या) रंग | रंग क्या",
    "size": r"(?:किस|कौन सा|क्या) (?:साइज|साइज़|आकार) | (?:साइज|साइज़|आकार|नाप) क्या",
    "other": r"क्या | कैसे | क्यों",
}
_UNSPACED_QUESTIONS = {
    "clock": r"[几幾][点點時时] | 何時(?!間) | 什么钟点 | 몇\s?시(?!간)",
    "date": r"""
        哪[一]?[天日] | 几[号號] | [几幾]月 | (?:星期|周|週|礼拜)[几幾] | 何日(?!間) | 何曜日? | 何月 | どの日
        | 며칠 | 무슨\s?요일
    """,
    "day": r"什[么麼]时候 | 什[么麼]時候 | 什么时间 | 何时 | いつ(?!も) | 언제",
    "age": r"多大(?:年[纪紀龄齡]|岁数|了|$|[?？]) | [几幾多少][岁歲] | 何[歳才] | おいくつ | 몇\s?살",
    "duration": r"""
        多久 | 多[长長]时间 | 多[长長]時間 | [几幾多少](?:天|周|个月|年|小时|分钟)
        | 何(?:時間|日間|週間|ヶ月|か月|年間|分) | どの(?:くらい|ぐらい)の(?:間|期間) | 얼마나\s?(?:오래|걸)
    """,
    "money": r"""
        多少[钱錢] | 多少(?:工资|租金|费用|薪水|元|块) | 什么价 | (?:价格|價格|价钱|费用|房租|工资)(?:是)?多少
        | いくら | 値段は | 料金は | 얼마(?!나)
    """,
    "count": r"""
        [几幾][个個只隻台本位人名条張张辆間间] | 何(?:人|個|本|枚|台|匹|冊|回) | いくつ
        | 몇\s?(?:명|개|대|마리|권|번)
    """,
    "amount": r"多少 | どの(?:くらい|ぐらい) | どれ(?:くらい|ぐらい) | 多[大高重远遠快] | 얼마나",
    "phone": r"""
        (?:电话|電話|手机|手機|携帯)(?:的)?(?:号码|號碼|番号) | 内線(?:番号)? | 전화\s?번호
        | (?:电话|手机)(?:号)?(?:是)?(?:多少|什么)
    """,
    "email": r"(?:邮箱|电子邮件|メールアドレス)(?:地址)?(?:は|是)",
    "person": r"(?<!无论)[谁誰] | だれ | どなた | 누[구가] | 何人が",
    "place": r"哪里 | 哪裡 | 哪裏 | 哪[儿兒] | 什么地方 | 在哪 | 何处 | どこ | 場所は | 어디",
    "colour": r"什[么麼][颜顏]色 | 哪种颜色 | 何色 | どんな色 | 무슨\s?색",
    "size": r"多大(?:尺寸|码|号) | 几码 | 什么尺[寸码] | どの(?:サイズ|大きさ) | サイズは | 사이즈",
    "other": r"""
        什[么麼] | 怎[么麼样] | 为什么 | 哪 | 何 | どう | なぜ | どんな | どの | どれ | 무엇 | 뭐 | 왜 | 어떻게
    """,
}
QUESTIONS = {
    "": _LATIN_QUESTIONS,
    "\u0400-\u04ff": _CYRILLIC_QUESTIONS,
    "\u0600-\u06ff": _ARABIC_QUESTIONS,
    "\u0900-\u097f": _DEVANAGARI_QUESTIONS,
    "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af": _UNSPACED_QUESTIONS,
}

# Words that tell when: beside the names of days and months, which `date_phrases.py` has.
TIME_WORDS = """
    today tonight tomorrow yesterday weekend weekends weekday weekdays day days week weeks month months year years
    weekly daily monthly yearly annually quarterly biweekly fortnight* spring summer autumn fall winter christmas
    easter
    halloween thanksgiving holiday holidays term semester eve immediately overnight every each after before during
    until till since when whenever while once twice soon
    later now always never ago next last beginning mid early late quarter season
    heute morgen ubermorgen gestern vorgestern wochenende werktags taglich* wochentlich* monatlich* jahrlich* tag
    tage tagen woche* monat* jahr* fruhling
    fruhjahr sommer* herbst* winter* weihnacht* ostern pfingsten silvester advent feierabend semester ferien
    feiertag* sofort jede jeden jeder jedes jedem nach vor wahrend bis
    seit sobald wenn ab bald spater jetzt immer nie anfang ende mitte nachste* letzte* kommende* quartal mal abends
    morgens mittags nachts
    hoy manana ayer anteayer anoche semana* dia dias mes meses ano anos diario diari* semanal* mensual* anual*
    primavera verano otono
    invierno navidad* pascua* vacaciones quincena cada todos todas despues antes durante hasta desde cuando pronto
    ahora siempre
    nunca hace proxim* ultim* pasad* principios finales trimestre
    hoje amanha ontem ano mensal* anual* diari* verao outono inverno natal pascoa ferias depois ate logo agora
    sempre
    aujourd demain hier avant-hier semaine* jour jours mois ans annee* quotidien* hebdomadaire* mensuel* annuel*
    printemps ete
    automne hiver noel paques rentree vacances chaque tous toutes apres avant pendant jusqu* depuis quand bientot
    maintenant
    toujours jamais prochain* dernier* derniere* debut trimestre week-end lors
    oggi domani ieri settiman* giorn* mese mesi anno anni estate inverno natale pasqua ogni dopo prima entro fino
    vandaag morgen gisteren dagelijks wekelijks maand* jaar* zomer kerst pasen elke tijdens sinds
    hari ini besok kemarin minggu bulan tahun setiap setelah sebelum sampai sejak selama
    сегодня завтра послезавтра вчера позавчера недел* день дня днеи дни дню месяц* год* лет ежедневн* еженедельн*
    ежемесячн* ежегодн* весн* лет*
    осен* зим* рождеств* праздник* каникул* кажд* после перед до пока когда скоро сеичас всегда никогда назад
    следующ* прошл*
    начал* конц* квартал* выходн* утр* вечер* полгода
    اليوم غدا امس اسبوع* الاسبوع يوم يوما ايام شهر* الشهر سنة السنة عام العام كل بعد قبل خلال حتى منذ عندما قريبا
    الان دائما
    القادم* الماضي* نهاية بداية الصيف الشتاء الربيع الخريف رمضان العيد
    आज कल परसों हफ्ते हफ्ता सप्ताह दिन महीने महीना साल रोज हर बाद पहले तक से दौरान जब अभी हमेशा अगले पिछले गर्मी सर्दी
    दिवाली होली
"""
HOUR_WORDS = """
    bed bedtime sleep meal meals overnight never always morning mornings noon afternoon afternoons evening evenings
    night nights midnight breakfast lunch dinner supper
    sunrise sunset dawn dusk clock oclock am pm hour half quarter past after before
    morgens vormittag* mittag* nachmittag* abend* nachts nacht mitternacht fruhstuck* mittagessen abendessen schlaf*
    essen feierabend uhr fruh halb viertel
    manana tarde noche mediodia medianoche desayuno comida almuerzo cena madrugada noite manha almoco jantar
    matin matinee midi soir soiree nuit minuit dejeuner diner heure heures
    mattin* mezzogiorno pomeriggio serata notte colazione pranzo cena
    ochtend middag avond nacht ontbijt pagi siang sore malam
    утр* полдень полдня вечер* ноч* полноч* завтрак* обед* ужин* час* днем после до
    صباح* ظهر* مساء* ليل* الفجر الساعة الصباح المساء الظهر بعد قبل العصر المغرب
    सुबह दोपहर शाम रात बजे बाद पहले
"""
NUMBER_WORDS = """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million half
    zwei* drei* vier* funf* sechs* sech* sieb* acht* neun* zehn* elf* zwolf* zwanzig hundert* tausend* anderthalb*
    einein*
    halb halbes halbe
    dos tres cuatro cinco seis siete ocho nueve diez doce trece catorce quince veinte treinta cuarenta cincuenta
    noventa
    cien ciento cientos doscientos quinientos mil medio media dieci* veinti* quincena docena* decena*
    dois duas quatro oito dez onze doze quinze vinte trinta quarenta cinquenta sessenta cem duzentos meio meia
    dezes* dezen* dezo* dezena* duzia*
    deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize vingt trente quarante
    cinquante
    soixante vingts cent cents mille demi demie dizaine* douzaine* quinzaine* vingtaine* trentaine* centaine*
    due tre quattro cinque sei sette otto nove dieci undici dodici vent* trent* quarant* cinquant* cento duecento
    mille mila mezzo mezza dici* decina
    twee drie vier vijf zes zeven negen tien twaalf twintig honderd duizend
    dua tiga empat lima enam tujuh delapan sembilan sepuluh ratus ribu
    два две двух* трех* пяти* шести* семи* десяти* три четыре четырех пять пяти шесть шести семь семи восемь восьми
    девять девяти десять десяти
    одиннадцать двенадцать тринадцать четырнадцать пятнадцать шестнадцать семнадцать восемнадцать девятнадцать
    двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто сто сотн* двести триста пятьсот
    тысяч*
    половин* полтор* двое трое четверо пятеро шестеро семеро десяток
    اثنان اثنين اثنتان ثلاث* اربعة اربعون خمس* ستة سبع* ثماني* تسع* عشر* مئة مائة مئت* مائت* الف الفا الفان الفين
    الاف نصف ربع ثاني* ثالث* رابع* خامس* سادس* سابع* ثامن* تاسع* عاشر*
    दो तीन चार पाँच पांच छह छः सात आठ नौ दस ग्यारह बारह बीस तीस चालीस पचास सौ हजार हज़ार आधा
"""
QUANTITY_WORDS = """
    one all alone enough full whole every each lot plenty handful pinch bit nothing nobody everyone twins daily
    weekly both
    couple pair dozen several few many much none no some single double triple twice once only first and lots
    alle alles genug ganz* etwas nichts jede* handvoll wenig* allein* ein eins eine einen einem beide* paar dutzend
    mehrere einige viel viele keine kein keinen und
    todo toda todos todas bastante poco poca mucho mucha un una uno ambos par docena varios varias pocos muchos
    ningun* sin solo y
    um uma ambas duzia nenhum* sem e tout toute tous assez peu beaucoup rien une plusieurs quelques aucun* sans et
    entrambi ed een satu dan
    все всё весь кажд* немного достаточно ничего один одна одно одну оба обе пара несколько много мало нет без и
    واحد واحدة بعض عدة و एक कई कुछ दोनों और
"""
# What stands before a time of the day, and before a number that is a name rather than an amount.
CLOCK_PREPOSITIONS = """
    at from by before after until till around about um ab bis gegen vor nach las a as ate la le alle dalle verso
    vers des
    jusqu'a в к с до около после om pukul jam الساعة
"""
# A text with one of these may say where the number is: `the landlord's number is in the blue folder`.
NUMBER_NOUNS = """
    number numbers phone* telephone* nummer* telefon* handynummer rufnummer numero* numeros telefono* telefone*
    телефон* номер* هاتف رقم फोन फ़ोन नंबर
"""
LABELS = """
    number no nr ext extension dial durchwahl poste room size sizes page week line port version chapter shelf
    platform gate track policy floor bus flight
    unit block house nummer raum zimmer grosse schuhgrosse seite kw linie gleis stock haus numero n talla calza sala
    habitacion planta tamanho quarto andar taille pointure salle chambre quai piso taglia stanza размер номер
    комната
    комнате кабинет кабинете этаж дом автобус رقم غرفة नंबर
"""
# Between an amount and the time that it is for: `16 pounds an hour`.
PER = "a an per each every pro je im pro par por al au ao all в за cada l'"
AFTER_LABELS = "floor stock etage этаж этаже размер размера размере андар andar piso st"
MONEY_WORDS = """
    euro* eur dollar* usd pound* gbp cent* pence quid bucks franc* chf yen yuan rmb rupee* inr ruble* rouble* real
    reais
    brl peso* mxn krona kronor kroner dkk sek nok zloty lira rand won dirham* riyal* dinar* taka rupiah
    free included nothing covered paid inklusive inbegriffen nichts inclus* incluid* compris gratis kostenlos
    umsonst gratuit* gratuito* gratuita* bezahlt libra* libras franken rappen livre* euros
    рубл* руб коп* евро доллар* бесплатн* тенге гривн* دولار* يورو جنيه ريال درهم دينار مجانا मुफ्त रुपय* रुपए रुपये
    रु डॉलर यूरो
"""
SPAN_WORDS = """
    seconds minute minutes min mins hour hours hr hrs day days night nights week weeks month months year years
    forever permanent* always until till sekunde* minute* stunde* tag* nacht nachte woche* monat* jahr* dauerhaft
    immer bis
    segundo* minuto* hora horas dia* noche* semana* mes meses ano anos siempre hasta noite* ate sempre
    seconde* heure* jour* nuit* semaine* mois ans annee* jusqu* toujours
    minut* ora ore giorn* settiman* mese mesi anno anni fino uur uren dag dagen weken maand* jaar jam menit hari
    minggu
    bulan tahun
    секунд* минут* час* день дня днеи сутки суток ноч* недел* месяц* год* лет полгода полчаса навсегда до полтора
    ثانية دقيق* دقائق ساع* يوم* ايام اسبوع* اسابيع شهر* اشهر سنة سنت* سنوات عام* حتى
    मिनट घंटे घंटा दिन हफ्ते हफ्ता महीने महीना साल तक
"""
UNITS = """
    % percent kg g gram* grams kilo* mg lb lbs pound* km m cm mm metre* meter* mile* l ml litre* liter* kb mb gb tb
    ms px
    prozent kilogramm liter litro* metro* litre* metre* степен* килограмм* грамм* литр*
    метр* км кг см процент* किलो ग्राम लीटर मीटर किमी كيلو* غرام* متر* لتر* كم
    degrees degree grad grados degres градус*
"""
COLOUR_WORDS = """
    red blue green yellow black white grey gray brown pink purple violet orange turquoise beige gold golden silver
    navy
    teal cream crimson maroon magenta cyan ivory lilac olive khaki bronze copper mint sage scarlet indigo lavender
    ruby
    burgundy charcoal tan coral salmon mustard peach plum striped dark light bright pale clear oak walnut rainbow
    colour* color* coloured transparent multicolour*
    rot* blau* dunkelblau* hellblau* grun* dunkelgrun* hellgrun* dunkelrot* gelb* schwarz* weiss* grau* hellgrau*
    dunkelgrau* braun* rosa lila violett* turkis* hell* dunkel* gold* silber* beige* cremefarben* anthrazit* bunt*
    farb*
    rojo roja rojos rojas azul* verde* amarill* negr* blanc* gris* marron* rosa* morad* naranja* dorad* platead*
    celeste
    granate turquesa crema
    vermelh* amarel* pret* branc* cinza* castanh* rox* laranja* dourad* pratead* bege vinho cor cores
    rouge* bleu* vert verte* jaune* noir* blanche* marron brun* rose* violet* orange* dore* argent* creme bordeaux
    marine
    couleur*
    rosso rossa rossi blu giall* ner[oai] nero nera bianc* grigi* arancion* viola celeste color*
    rood rode blauw* groen* geel gele zwart* wit witte grijs* bruin* roze paars* oranje kleur*
    merah biru hijau kuning hitam putih abu coklat ungu jingga warna
    красн* син* зелен* желт* черн* бел* сер* коричн* розов* фиолетов* оранж* голуб* золот* серебр* бежев* бордов*
    цвет*
    احمر حمراء الاحمر ازرق زرقاء اخضر خضراء اصفر صفراء اسود سوداء ابيض بيضاء رمادي* بني* وردي* بنفسجي* برتقالي*
    ذهبي* فضي* لون*
    लाल नीला नीली नीले हरा हरी हरे पीला पीली पीले काला काली काले सफेद सफ़ेद भूरा भूरी गुलाबी बैंगनी नारंगी सुनहरा
    स्लेटी रंग
"""
SIZE_WORDS = """
    size* small* medium large* big tiny huge xl xxl xs wide narrow tall short long
    gross* klein* mittel* winzig breit* schmal* lang* kurz* schuhgross* talla* taman* calza* pequen* median* grande*
    chic*
    tamanho* larg* calca taille* pointure* petit* grand* moyen* larg* chausse taglia misura piccol* porta maat groot
    klein
    ukuran besar kecil размер* маленьк* больш* средн* крупн* مقاس* حجم* كبير* صغير* متوسط* साइज* साइज़ आकार नाप छोटा
    बड़ा
"""
# People and groups that a sentence may name without a name of their own.
PERSON_WORDS = """
    i me my mine myself we us our ours you your he him his she her they them their everyone everybody anyone someone
    mother father mum mom dad parent* sister* brother* daughter* wife husband partner uncle aunt* cousin*
    grandma* grandpa* grandmother grandfather granny child children kid kids friend* neighbour* neighbor* colleague*
    team* group* department* company companies firm agency office family landlord owner boss manager teacher*
    doctor*
    nurse* coach* trainer* customer* client* staff crew user* students* volunteers contractor* provider* vendor*
    supplier*
    director president secretary assistant* engineer* developer* lawyer* accountant* plumber* electrician* mr mrs ms
    dr
    prof guy people person woman man boy girl ltd inc gmbh accounting support sales hr reception school
    ich mir mich mein* wir uns unser* du dein* er ihm ihn sie ihr* mutter vater mama papa eltern schwester* bruder*
    sohn
    tochter frau mann onkel tante oma opa kind kinder freund* nachbar* kolleg* team abteilung* firma verein familie
    vermieter* chef* lehrer* arzt* arztin hausmeister* anwalt* berater* herr kunde* kundin alle jeder handwerker*
    leute
    yo mi mis me nosotros nos nuestr* tu tus su sus el ella ellos madre padre mama papa padres herman* hij[oa]*
    espos*
    marido mujer tio tia abuel* nino* nina* amig* vecin* companer* equipo* grupo* departamento empresa familia duen*
    jef*
    profesor* maestr* medic* doctor* abogad* senor* don dona cliente* gente persona*
    eu meu* minha* nos noss* voce* ele ela eles elas seu* sua* mae pai pais irma* irmao* filh* espos* tio tia avo
    vizinh*
    coleg* equipe* grupo empresa familia don[oa] chefe professor* medic* advogad* senhor* seu pessoa*
    je moi mon ma mes nous notre nos vous votre il elle ils elles lui leur mere pere maman papa parents soeur*
    frere* fils
    fille* femme mari oncle tante grand-mere grand-pere enfant* ami amis amie* voisin* collegue* equipe* groupe*
    entreprise societe famille proprietaire* chef* professeur* medecin* docteur avocat* monsieur madame m mme
    client*
    io mio mia noi nostr* lui lei loro madre padre mamma sorell* fratell* figli* moglie marito zio zia nonn* amic*
    vicin*
    collegh* squadra gruppo azienda famiglia capo professore* medico dottor* signor*
    я меня мне мои моя мое мы нас нам наш* ты твои вы ваш* он она они его ее их ему еи мама мать папа отец родител*
    сестр* брат* сын* доч* жена муж дяд* тет* бабушк* дедушк* ребен* дет* друг* друз* сосед* коллег* команд* групп*
    отдел*
    компани* фирм* семь* хозя* начальн* директор* менеджер* учител* врач* юрист* клиент* люди человек
"""
# What may stand before a place, in each language: what some of these words mean in another one is no preposition.
PLACE_PREPOSITIONS = {
    "english": """
        in at on under near behind beside inside outside above below between opposite with from to into by via
        through of
        for
    """,
    "german": """
        im am an auf in ins bei beim neben unter uber hinter vor zwischen gegenuber zu zum zur aus vom von mit nach
        durch fur
    """,
    "spanish": "en a al sobre bajo debajo junto cerca dentro fuera detras encima frente entre con por desde hacia para",
    "portuguese": """
        em no na nos nas num numa ao aos a sob perto dentro fora atras cima frente entre com por pelo pela para
    """,
    "french": "a au aux dans sur sous chez pres derriere devant entre en avec par vers pour",
    "italian": """
        in nel nella nei nelle nell a al alla allo alle sul sulla da dal dalla presso sotto sopra dietro con per
    """,
    "dutch": "in op aan bij naast onder boven achter voor met van naar te",
    "indonesian": "di ke pada dari dekat dengan",
    "russian": "в во на у под над за около рядом возле между через от из с со к при",
    "arabic": "في على عند تحت فوق قرب بجانب خلف امام بين داخل خارج من الى مع",
    "hindi": "में पर पास नीचे ऊपर पीछे आगे अंदर बाहर से",
}
PLACE_WORDS = """
    upstairs downstairs home abroad online street road avenue room building hall house station airport address
    drawer
    shelf cupboard wardrobe cellar basement garage kitchen bathroom bedroom garden attic box folder desk left right
    corner
    schublade* regal* schrank* keller* kuche bad garten dachboden links rechts ecke kiste ordner tisch*
    cajon estante armario sotano garaje cocina bano jardin izquierda derecha gaveta prateleira cozinha garagem
    quintal
    tiroir etagere placard cave garage cuisine jardin grenier gauche droite armoire cassetto armadio cucina cantina
    zuhause daheim strasse* str hausnummer raum zimmer halle gebaude adresse* gleis* bahnsteig oben unten
    casa calle avenida plaza edificio direccion anden rua praca predio endereco
    maison rue boulevard bd batiment adresse quai gare etage piazza binario thuis straat rumah jalan ruang
    дома улиц* ул комнат* этаж* здани* адрес* кабинет* платформ* شارع غرفة مبنى قاعة بيت الطابق عنوان घर गली सड़क
    कमरा कमरे मंजिल
"""
# How words for what people do end: a `caretaker`, a `plombier`.
PERSON_ENDINGS = """
    er ers or ors ist ists ian ians ant ants eur eurs ier iere ienne ero era ista
    istas dor dora nte erin erinnen eiro eira тель ник щик чик ист ница телем ником
"""
