"""The words that tell how a statement is built, in ten languages: function words, contractions, numbers and dates."""

from __future__ import annotations

FUNCTION_WORDS = {
    "english": """
        a about after again ago all already also am an and any are as at be been being but by can could did do does
        doing done each either else ever for from get gets getting go goes going got had has have having he her here
        hers him his how i if in into is it its just let lets like lot made make me might more most much must my no
        nor not now of off oh ok okay on one only or our ours out over please quite rather really s she should so some
        soon still such than thank thanks that the their theirs them then there these they thing things think this
        those to too under until up us very want wants was we well were what when where which while who whom whose
        why will with without would yeah yes yet you your yours 's
        actually anymore any currently anyway instead longer used recently lately nowadays these today
        each other others different every another same long
        know say says said feel felt find found little bit way something anything nothing everything someone kind
        sure sounds great good nice hey hi hello wow""",
    "spanish": """
        a al ahora algo aqui asi aun como con cual cuando cuanto de del desde donde el él ella ellas ellos en entre era
        eran es esa ese eso esta está estaba están este esto fue ha han hasta hay he la las le les lo los mas más me mi
        mis mucho muy ni no nos nosotros o para pero por porque que qué quien se sea ser será si sí sin sobre solo sólo
        son su sus también te tengo tiene tienen todo tu tus un una unas uno unos va vamos voy y ya yo""",
    "french": """
        a ai au aussi aux avec avons c ce cela ces cet cette chez comme d dans de depuis des du elle elles en encore
        entre es est et étais était être eu fait il ils j je l la le les leur leurs lui m ma maintenant mais me même
        mes moi mon n ne non nos notre nous on ont ou où par pas plus pour qu quand que qui s sa sans se sera ses si
        son sont sous suis sur t ta te tes toi ton toujours tout très tu un une va vais vos votre vous y à ça""",
    "portuguese": """
        a agora ao aos as até cá com como da das de dela dele do dos e é ela elas ele eles em entre era essa esse esta
        está estão este eu foi há isso isto já lá lhe mais mas me meu meus minha minhas muito na não nas no nos nós
        nossa nosso num numa o onde os ou para pela pelo por porque qual quando que quem são se sem ser será seu seus
        só sobre sua suas também te tem temos tenho ter tudo um uma vai vamos você vocês vou""",
    "german": """
        aber als also am an auch auf aus bei bin bis bitte da das dass dein dem den der des die dies diese dieser dir
        doch du ein eine einem einen einer eines er es für gibt habe haben hat hatte ich ihm ihn ihr ihre im in ins
        ist ja jetzt kann kein keine mal man mehr mein meine meinem meinen meiner mich mir mit nach nicht noch nun nur
        ob oder ohne schon sehr sein seine seit sich sie sind so über um und uns unser unsere unter vom von vor war
        waren was weil wenn wer werden wie wieder wir wird wo wurde zu zum zur""",
    "russian": """
        а без бы был была были было быть в вам вас ваш во вот все всё вы да для до его ее её если есть еще ещё же за и
        из или им их к как когда кто ли меня мне мой моя мои мы на над нам нас наш наша наши не него нее нет ни них но
        о об он она они оно от очень по под при про с сейчас со так также там теперь то тоже только тот ты у уже что
        чтобы эта эти это этот я больше""",
    "hindi": """
        अपना अपनी अपने अब इन इस इसका उन उस उसका एक और का कि किस की कुछ के को गई गए गया जो तक तो था थी थे नहीं ने पर
        बहुत भी मुझे में मेरा मेरी मेरे मैं यह या ये रहा रही रहे लिए वह वे से हम हमारा हमारी हमारे हमें ही है हैं हूँ हूं हो
        होगा होगी होंगे कर करता करती करते किया""",
    "arabic": """
        أن أنا أنت أو أي إلى إن الآن التي الذي الى ان بعد بعض بين تم ثم جدا حتى ذلك عن على عند غير فقط في قد كان كانت
        كل كما لا لكن لم لن له لها لي ليس ما مع من منذ نحن هذا هذه هناك هو هي و ولا يا يكون عم عندي انا هاد""",
    "chinese": """
        请 的 了 是 我 你 他 她 它 们 在 和 也 都 就 不 有 这 那 个 吗 呢 吧 啊 很 到 要 把 被 对 从 现 已 经 还 再""",
    "japanese": "の に は を た が で て と し れ さ あ い も す る か な う よ り え ま せ ん く こ そ だ つ お や ね",
}

CONTRACTIONS = {
    "i'm": "i am",
    "i've": "i have",
    "i'll": "i will",
    "i'd": "i would",
    "we're": "we are",
    "we've": "we have",
    "we'll": "we will",
    "you're": "you are",
    "they're": "they are",
    "it's": "it is",
    "that's": "that is",
    "there's": "there is",
    "what's": "what is",
    "where's": "where is",
    "who's": "who is",
    "here's": "here is",
    "he's": "he is",
    "she's": "she is",
    "let's": "let us",
    "can't": "can not",
    "won't": "will not",
    "shan't": "shall not",
    "ain't": "is not",
    "o'clock": "oclock",
}

MONTHS_AND_DAYS = """
    january february march april june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
    sundays mon tue tues wed thu thur thurs fri sat sun am pm noon midnight morning afternoon evening
    daily weekly biweekly monthly quarterly yearly
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre lunes martes miércoles
    miercoles jueves viernes sábado sabado domingo
    janvier février fevrier mars avril mai juin juillet août aout septembre octobre novembre décembre decembre lundi
    mardi mercredi jeudi vendredi samedi dimanche
    janeiro fevereiro março abril maio junho julho setembro outubro novembro dezembro segunda terça terca quarta quinta
    sexta domingo
    januar februar märz maerz juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag sonnabend
    sonntag montags dienstags mittwochs donnerstags freitags
    samstags sonntags
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря понедельник вторник среда среду
    четверг пятница пятницу суббота субботу воскресенье понедельникам вторникам средам четвергам пятницам субботам
    воскресеньям
    सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार जनवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर
    नवंबर दिसंबर
    الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر
    نوفمبر ديسمبر
"""

NUMBER_WORDS = """
    two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty hundred thousand
    million dos tres cuatro cinco seis siete ocho nueve diez deux trois quatre cinq sept huit neuf
    dix dois três quatro sete oito nove dez zwei drei vier fünf sechs sieben acht neun zehn elf zwölf два две три
    четыре пять шесть семь восемь девять десять 一 二 三 四 五 六 七 八 九 十 百 千 万 两 〇
    दो तीन चार पाँच छह सात आठ नौ दस
"""
