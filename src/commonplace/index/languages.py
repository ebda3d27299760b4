"""Stop words and inflectional endings of the languages that most people use, for the words of a query.

Accents are left out: words are folded before they are compared.
"""

from __future__ import annotations

ENGLISH = "english"
STOP_WORDS = {
    ENGLISH: """
        a about all also am an and any are as at be been being but by can could current currently did do
        does doing each for from had has have having he her here hers him his how i if in into is it its
        just latest let me might must my newest no nor not of off on or our ours out over please shall she
        should so some such than that the their theirs them then there these they this those to too under up
        upon us very was we were what when where which while who whom whose why will with would you your
        yours""",
    "spanish": """
        a al algo ante aquel como con cual cuales cuando cuanto cuantos de del desde donde el ella ellas ellos
        en entre era es esa esas ese eso esos esta estaba estamos estan estar este esto estos fue ha han hasta
        hay he la las le les lo los mas me mi mis muy ni no nos nosotros nuestra nuestro o para pero por porque
        que quien quienes se ser si sin sobre son su sus tambien te tiene tienen tenemos tu tus un una unas uno
        unos y ya yo""",
    "french": """
        a ai au aux avec avons c ce cela ces cet cette chez comment d dans de depuis des dois doit du elle elles
        en entre est et etait etre eu fait faire faut il ils j je l la le les leur leurs lui ma mais me mes moi
        mon n ne nos notre nous on ont ou par pas peut plus pour pourquoi qu quand que quel quelle quelles quels
        qui quoi s sa sans se sera ses si son sont sous sur ta te tes toi ton tu un une va vos votre vous y""",
    "portuguese": """
        a ao aos as ate com como da das de dela dele deles do dos e ela elas ele eles em entre era essa esse
        esta estamos estao estar este eu faz fazemos foi foram ha isso isto ja la lhe mais mas me meu meus minha
        muito na nao nas no nos nossa nosso num numa o onde os ou para pela pelo por porque qual quais quando
        quanto que quem sao se sem ser seu seus sobre sua suas tambem te tem temos ter um uma voce voces""",
    "german": """
        aber aktuell aktuelle aktuellen aktueller aktuelles als am an auf aus bei bin bis da das dass dein
        dem den der derzeit des dich die dies diese dieser dieses dir doch du durch ein eine einem einen
        einer eines er es euch euer fur gibt habe haben hat hatte hatten ich ihm ihn ihnen ihr ihre im in
        ins ist ja kann kein keine konnen machen macht man mein meine mich mir mit nach nicht noch nur ob
        oder ohne sein seine sich sie sind so uber um und uns unser unsere unter vom von vor wann war waren
        warum was weil welche welchem welchen welcher welches wem wen wenn wer werden wie wieso wir wird wo
        wohin wurde wurden zu zum zur""",
    "italian": """
        a abbiamo ai al alla alle anche c che chi ci come con cosa cui da dal dalla dei del della delle di do
        dove e era essere fa facciamo gli ha hanno ho i il in io la le lei li lo loro lui ma mi mia mio ne nei
        nel nella noi non nostra nostro o per perche piu qual quale quali quando quanto quel quella quello
        quelli questa queste questi questo se sei si sono su sua sul sulla suo tra tu un una uno vi voi""",
    "dutch": """
        aan als bij dan dat de den deze die dit door een en er geen had heb hebben heeft het hij hoe hun ik in is je
        jij kan met mijn na naar niet nog of om ons onze ook op over te tot uit van veel voor waar wanneer was wat we
        welke werd wie wij worden zal ze zich zij zijn zo""",
    "polish": """
        a aby ale bez bo byc byl byla bylo byly ci co czy dla do gdzie i ich ile jak jaka jaki jakie jako jej jego
        jest jestem juz kiedy kto ktora ktore ktory ktorym ma mam mnie moj moje na nad nam nas nasz nie o od on ona
        oni po pod przed przez przy sa sie sobie tak tam te tego tej ten to tu tym w we z za ze""",
    "turkish": """
        ama bana ben beni benim bir biz bize bu bunu cok da daha de degil diye en gibi hangi hic icin ile ise kac
        kadar kim mi mu ne neden nedir nerede o olan olarak oldu olup onun sen siz sonra su tarafindan var ve veya ya
        yok""",
    "indonesian": """
        ada adalah akan aku anda apa apakah atau bagaimana bagi bahwa banyak berapa bisa dalam dan dapat dari dengan
        di dia harus ini itu jika juga kami kapan karena kami ke kita lebih mana mengapa mereka oleh pada para saat
        saya sebagai siapa sudah telah tidak untuk yang""",
    "greek": """
        αν απο για δεν εγω εδω ειναι εκει ενα ενας εχει εχω η ηταν θα και κατα με μετα μη μια μου να ο οι οπου οποια
        οποιο οποιος οταν οτι περι ποια ποιο ποιος που πριν προς πως σαν σας σε στα στη στην στις στο στον στους τα
        τη την της τι τις το τον του τους των ως""",
    "persian": """
        آن از است اما اگر او این با باید بر برای بود به تا چه چرا چگونه خود در را شد شده که کجا کدام ما می من نه هر
        هم و یا یک""",
    "russian": """
        а без бы был была были было быть в вам вас ваш во вот все вы где да для до его ее если есть еще же за и
        из или им их к как какая какие какой какую когда кого ко который кто куда ли мне мной мои мой моя мы на
        над нам нас наш наша наше наши не него нее нет ни них но о об он она они оно от по под почему при про с
        сколько со так также там то тот ты у уже чего чем что чтобы эта эти это этот я""",
    "hindi": """
        अपना अपनी अपने इन इस इसका इसकी उन उनका उनकी उनके उस उसका उसकी उसके एक और कब कहाँ कहां का कि किस किसका
        किसने की कुछ के कैसे को कौन कौनसा क्या क्यों गई गए गया जब जा जो तक तब तुम तो था थी थे ने पर में मुझे
        मेरा मेरी मेरे मैं यह या ये रहा रही रहे लिए वह वाला वाली वाले वे सकते सकता से हम हमने हमारा हमारी हमारे
        हमें है हैं हो होता होती होते""",
    "arabic": """
        أن أنا أنت أو أي أين إلى إن الذي التي بعد بين تم ثم حتى حول ذلك على عن عند عندما في قد كان كانت كل كم
        كيف لا لكن لم لماذا لن لنا له لها ما ماذا متى مع من نا نحن هؤلاء هذا هذه هل هم هناك هو هي و يا يكون""",
}
# Stop words that are also English words: alone, they do not show that a query is in another language.
ALSO_ENGLISH_WORDS = """
    an as bin c car come comment com con d dem den des die do dos dove du e era eu fa fait far has hat he i im
    ins j l la lei li lo loro ma man mas mi mit n ne nos o on par pas per plus pour s sans sea see sei ser si
    sin son sous su sur ta tan te the ton tra tu um un uns va vi war wen wo y
"""
# Words of questions about a day, besides stop words: `what happened today`, `was ist gestern passiert`.
DAY_QUESTION_WORDS = """
    happen happened happening remind anything everything going new news done noted wrote written recorded logged
    recap summary summarise summarize zusammenfassung zusammen fasse fass fassen
    resumen resume resumeme resumir resumeix resumo resuma resumir repaso
    recapitule recap resumer bilan riassunto riassumi riassumere riepilogo riepiloga
    итоги итог подведи подвести суммируй резюмируй перескажи сводка кратко вчерашний
    सारांश संक्षेप दो दीजिए बताओ बताइए ملخص لخص تلخيص خلاصة কী কি সারাংশ সংক্ষেপে সংক্ষেপ দাও দিন বলো করো হয়েছে হয়েছিল করেছি
    خلاصہ دو بتاؤ کرو کے کی کا میں نے کیا ہوا ringkas ringkasan ringkaskan rangkum rangkuman terjadi lakukan kerjakan
    samenvatting samenvatten vat samen gebeurd gebeurde gedaan deden nieuws wat hebben hebt heeft er van het
    podsumuj podsumowanie streść streszczenie robiliśmy zrobiliśmy działo stało wydarzyło nowego co się z
    özetle özet özetini yaptık oldu ne neler yeni apa saja yang لي
    总结 總結 回顾 回顧 概括 まとめ まとめて 要約 要約して 振り返り 振り返って
    요약 요약해 요약해줘 정리 정리해 정리해줘 줘 주세요
    paso pasado ocurrio sucedio hicimos hecho nuevo nueva novedades
    passe arrive produit quoi neuf nouveau
    aconteceu fizemos feito novo nova novidades passou
    passiert geschah geschehen los neues gemacht getan
    successo accaduto fatto nuovo
    произошло случилось было делали сделали нового
    हुआ हुई किया
    حدث حصل فعلنا جديد
    做 は し か
"""
# The same for a coming day: `what is planned for Friday?`.
COMING_QUESTION_WORDS = """
    plan plans planned scheduled schedule agenda appointment appointments calendar coming upcoming s
    etwas termin termine geplant ansteht steht plane vorgesehen
    planes planeado planeada citas cita previsto
    prevu prevue rendez programme
    planejado planeado compromissos marcado
    programma programmato impegni appuntamenti
    планы запланировано будет будем нас
    योजना
    لدينا عندنا مواعيد خطط
    有 安排 计划 計劃 予定 予定は 예정 일정 일정이 뭐가
"""
# Words for `what` and, in one word, `what of`, `what on`.
WHAT_WORDS = """
    what woran woruber worum wovon womit wat co ne apa কী
    que qu quoi che cosa что чем чём क्या ماذا 什么 什麼 啥 何 뭐 뭘 무엇
"""
GERMAN_WHAT = "was"  # another word in English
# Words that people ask with, and that no answer has.
REQUEST_WORDS = """
    describe explain please remind show tell
    erklare erklar nenne zeig zeige
    dime explica muestra
    decris explique montre
    descreva mostre
    descrivi dimmi mostra spiega
    найди объясни опиши перечисли покажи расскажи скажи
    اشرح اذكر اعرض
"""
# Words before the kind of thing that is asked for: `which city`, `how many children`.
KIND_QUESTION_WORDS = """
    which what many much
    welche welcher welches welchem welchen viel viele
    que cual cuanto cuanta cuantos cuantas
    quel quelle quels quelles combien quelque
    qual quais quanto quanta quantos quantas quale quali quanti quante
    какой какая какое какие каком какую сколько
    أي كم
    कौन कितने कितना कितनी
"""
# Words that stand for what the answer names, and that no answer has: `is Max allergic to anything?`.
INDEFINITE_WORDS = """
    anything something everything nothing anyone someone everyone anybody somebody everybody anywhere somewhere
    etwas irgendetwas irgendwas nichts jemand jemanden jemandem irgendjemand irgendwer irgendwo
    algo alguien nada nadie
    quelqu rien
    alguem ninguem
    qualcosa qualcuno niente nessuno
    iets iemand ktos birisi sesuatu seseorang
    нибудь либо ничего
    कुछ किसी कोई
    شيء شيئا أحد أحدا
"""
# Verbs that say little about what is asked for: `which port does Redis use?` is answered by `Redis is on port 6390`.
LIGHT_VERBS = """
    use uses used using have has had need needs get gets got do does make makes take takes go goes want wants like likes
    may might can could know knows call called find keep keeps say says put come comes give gives work works run runs
    happen happens
    nutzen nutzt benutzen benutzt verwenden verwendet haben hat brauchen braucht machen macht nehmen nimmt gehen geht
    wollen will mogen mag wissen weiß kennen kennt finden findet geben gibt kommen kommt liegen liegt lauten lautet
    usar usa usan usamos tener tiene tenemos hacer hace hacemos querer quiere saber sabe ir va poner pone dar da
    utiliser utilise utilisons avoir avons faire fait faisons vouloir veut aimer aime savoir sait prendre prend aller
    ter tem temos fazer faz fazemos querer quer gostar gosta saber sabe
    usare usiamo avere ha abbiamo fare fa facciamo volere vuole piacere sapere sa andare
    использовать использует используем иметь имеет делать делает хотеть хочет любить любит знать знает находится
"""
# What people ask about a day without naming a subject: `what did we agree on yesterday?`. Each list has one meaning,
# in any language; an answer has a word of the same list.
DAY_QUESTION_VERBS = (
    """
    agree agreed agreeing agreement agreements decide decided deciding decision decisions conclude concluded settle
    settled choose chose chosen resolve resolved
    decidimos decidido decidio decidieron decision decisiones acordamos acordado acordo acuerdo acuerdos elegimos
    decide decidez decidions decisions convenu choisi
    decidiu decidiram decisao decisoes combinamos combinado escolhemos
    entschieden entscheidung entscheidungen beschlossen beschluss beschlusse vereinbart vereinbarung
    deciso decisione decisioni concordato scelto
    besloten besluit besluiten beslissing beslissingen
    решили решение решения договорились договоренность выбрали решено
    तय फैसला फैसले फैसलों निर्णय निर्णयों সিদ্ধান্ত فیصلہ فیصلے
    keputusan diputuskan memutuskan zdecydowaliśmy decyzja decyzje decyzję ustaliliśmy postanowiliśmy
    karar kararı kararlar kararlaştırdık
    قررنا قرار قرارات اتفقنا اتفاق
    决定 決定 商定 同意 决议 約定 约定 選んだ 選択 决策 決め 決ま 결정 합의
    """,
    """
    discuss discussed discussing discussion talk talked spoke spoken
    hablamos discutimos
    discute parle
    falamos conversamos
    besprochen diskutiert geredet
    discusso parlato
    besproken
    обсуждали обсудили говорили
    चर्चा
    ناقشنا تحدثنا
    讨论 討論 谈了 話し 논의
    """,
    """
    plan planned planning plans planeamos planejamos prevu geplant planung pianificato gepland
    планировали 计划 計画 계획
    """,
    """
    learn learned learnt learning aprendimos appris aprendemos gelernt imparato geleerd
    узнали выучили 学到 学んだ 배운
    """,
)
# Verbs that say no more than such a noun beside them: `which decisions did we take?`
NOUN_VERBS = """
    make made making take took taken reach reached
    tomamos tomado prises pris prendre tomadas getroffen gefallen gefasst prese preso genomen приняли
"""

# Removed from text in scripts without spaces, longest first.
CHINESE_STOP_WORDS = """
    为什么 有没有 是不是 能不能 可以 我们的 你们的 他们的 我们 你们 他们 她们 咱们 自己 什么 怎么样 怎么 怎样
    如何 哪里 哪些 哪个 哪儿 多少 几个 这个 那个 这些 那些 这里 那里 一下 一个 关于 以及 还是 或者 因为 所以
    但是 如果 发生 事情 请问 告诉 谁 吗 呢 吧 啊 的 了 是 我 你 他 她 它 我們 你們 他們 什麼 怎麼 哪裡 這個 那個
    嗎 為什麼 發生 什么时候 什麼時候 什么时间 什麼時間 何时 何時 哪天 哪一天 几点 幾點 几号 幾號
    周几 週幾 星期几 星期幾 礼拜几
    多久 多长时间 多長時間 怎样 怎樣 是否
"""
JAPANESE_STOP_WORDS = """
    について に関する ですか ましたか ますか でした ました ください していた している される された したか する
    した です ます から まで より など どこ いつ だれ 誰 なに 何 なぜ どう どの どんな どれ いくら いくつ これ
    それ あれ この その あの ここ そこ 私たち 私 あなた ある いる なった なる あった あります ありました こと
    もの ため よう という
"""
JAPANESE_PARTICLES = "はがをにのでともへやか"
KOREAN_STOP_WORDS = """
    무엇 무엇을 뭐 뭘 무슨 어떤 어떻게 어디 어디에 어디서 언제 누가 누구 왜 우리 우리는 우리가 나는 내가 저는
    제가 너는 그 이 저 것 수 있다 있는 있나요 있어 했다 했나요 했지 했어 하는 하다 인가요 입니까 입니다 그리고
    또는 및 대한 대해
"""
KOREAN_PARTICLES = """
    에서는 으로는 에게서 이라고 에서 에게 으로 까지 부터 한테 이나 처럼 보다 은 는 이 가 을 를 에 의 로 와 과 도
    만
"""

# Endings that may be removed from a word to compare it with another.
ENDINGS = {
    "spanish": """
        s es as os a o e ar er ir amos emos imos an en ado ada ados adas ido ida idos idas ando iendo aron ieron
        aba aban ia ian aste iste io""",
    "french": "s x e es ee ees er ez ent ons ant ait aient ir it is ie ies issons issez",
    "portuguese": """
        s es as os a o e ar er ir amos emos imos am em ado ada ados adas ido ida idos idas ando endo indo aram
        eram iram ava avam ia iam ou eu iu""",
    "german": "e en er es em n s ern t te ten tet st est end innen",
    "italian": "i e a o are ere ire ato ata ati ate uto ito iamo ando endo ono ano ava avano iva",
    "russian": """
        а я о е ы и у ю ь й ам ям ами ями ах ях ов ев ей ой ом ем ём ою ею ий ый ая яя ое ее ые ие ого его ому
        ему ым им ых их ую юю ыми ими ть ти л ла ло ли ал ала ало али ил ила ило или ел ела ели ет ит ут ют ат
        ят ешь ишь ете ите ешь ать ить еть ется ится лся лась лись ться ал ан ана аны ен ена ены нный нная нные""",
    "hindi": "ें ों ीं ी ा े ो ि ियाँ ियां ियों याँ यों ाएँ ाएं ना ने नी ता ते ती ाया ाई ाए",
    "arabic": "ات ون ين ان ة ه ها هم هن كم نا ي ت وا",
}
ARABIC_PREFIXES = ("وال", "بال", "كال", "فال", "ال", "لل", "و", "ب", "ل")
# Languages in Latin script, distinguished by their stop words.
LATIN = (ENGLISH, "spanish", "french", "portuguese", "german", "italian", "dutch", "polish", "turkish", "indonesian")
SPACED_LATIN = ("spanish", "french", "portuguese", "german", "italian")

IRREGULAR_ENGLISH = """
    be: is are was were been; go: goes went gone; do: does did done; have: has had; make: made; buy: bought;
    pay: paid; say: said; tell: told; send: sent; spend: spent; build: built; keep: kept; leave: left; meet:
    met; lose: lost; hold: held; find: found; think: thought; bring: brought; teach: taught; catch: caught;
    sell: sold; write: wrote written; break: broke broken; choose: chose chosen; speak: spoke spoken; give: gave
    given; take: took taken; eat: ate eaten; see: saw seen; run: ran; begin: began begun; drink: drank drunk;
    drive: drove driven; grow: grew grown; know: knew known; get: got gotten; win: won; wear: wore worn; fly:
    flew flown; sleep: slept; feel: felt; man: men; woman: women; child: children; person: people; foot: feet;
    tooth: teeth; mouse: mice; analysis: analyses; index: indices; life: lives; wife: wives; knife: knives;
    shelf: shelves
"""
