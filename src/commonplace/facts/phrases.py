"""The phrases that say that something is open, decided, only planned, added, or past; with those of changes.

In ten languages; each is a regular expression over folded text, between two bars.
"""

from __future__ import annotations

from .change_phrases import CHANGE_PHRASES, Cue

PHRASES: dict[Cue, dict[str, str]] = {
    **CHANGE_PHRASES,
    "open": {  # something is not decided or not known
        "english": r"""
            | tbd | tba | to be (?:decided|determined|confirmed|announced)
            | not (?:yet )?(?:been )?(?:decided|settled|final|confirmed|clear|sure) | undecided | unsure | torn
            | (?:haven't|have not|hasn't|has not) (?:yet )?(?:been )?(?:decided|chosen|picked|settled)
            | still (?:open|undecided|deciding|thinking|waiting|discussing|unclear|looking|unknown) | open question
            | open: | pending | unclear | unknown | (?:don't|do not) know yet | no decision
            | (?:need|have|has|must|needs) to (?:decide|choose|pick) | deciding between | choosing between
            | torn between | considering | unconfirmed | waiting for a decision | up in the air | no (?:\w+ )?yet
            | not fixed | not (?:yet )?(?:chosen|picked|agreed|set|known|determined)
            | under (?:discussion|consideration|review) | waiting (?:for|on|to hear) | no (?:\w+ ){1,6}yet
            | haven't (?:\w+ ){0,2}(?:chosen|picked|found|decided|booked|heard) | which \w+ (?:to|do|should)
            | thinking about \w+ or | need (?:to|a) (?:find|pick|choose|decide) | still need | to do: decide
            | either \w+ or""",
        "spanish": r"""
            | no sabemos | no sé | por decidir | pendiente | sin (?:decidir|definir|confirmar)
            | no (?:hemos|está|se ha) (?:decid|defin)\w+ | aún no | todavía no | no sabemos (?:si|aún|todavía)
            | no sé si | por (?:definir|confirmar|determinar) | sin decisión | indecis\w+
            | hay que (?:decidir|elegir) | dudamos | pregunta abierta
            | falta (?:decidir|elegir|definir|confirmar|saber) | por elegir | en discusión | estamos viendo
            | a la espera | sin confirmar""",
        "french": r"""
            | à (?:décider|définir|confirmer) | pas encore | pas décidé | en suspens | reste à | on ne sait pas
            | indécis\w* | question ouverte | reste ouvert | il faut (?:décider|choisir) | on hésite | j'hésite
            | incertain\w* | à (?:choisir|trancher|voir) | en discussion | en attente
            | pas (?:fixée?|choisie?|arrêtée?)""",
        "portuguese": r"""
            | não sabemos | não sei | a (?:decidir|definir|confirmar) | ainda não | indefinid\w+ | pendente
            | em aberto | não sei se | sem decisão | indecis\w+ | em dúvida | pergunta em aberto
            | falta (?:decidir|escolher|definir|confirmar) | em discussão | a escolher | sem definição
            | por decidir""",
        "german": r"""
            | noch offen | offen | noch nicht | unklar | ungeklärt | steht aus | in klärung | unentschieden
            | offene frage | wissen (?:wir )?noch nicht | keine entscheidung | müssen (?:\w+ ){0,4}entscheiden
            | zu klären | klären | unsicher | noch kein\w* | steht noch (?:nicht|aus) | in diskussion | wird noch
            | warten auf | müssen noch | nicht entschieden | welche\w* \w+ wir nehmen""",
        "russian": r"""
            | не решил\w* | не решено | пока не | ещё не | еще не | неясно | непонятно | открыт\w* вопрос
            | вопрос открыт | не знаем | не знаю | под вопросом | вопрос открыт\w* | не определил\w* | решаем
            | нужно решить | надо решить | сомнева\w+ | не выбрал\w* | ещё нет | еще нет | обсужда\w+ | выбираем
            | ждём | ждем | надо выбрать | не утвержд\w+""",
        "hindi": r"""
            | तय नहीं | अभी तय | पता नहीं | बाकी है | सोच रहे | फैसला नहीं | अनिश्चित | तय करना | अभी नहीं
            | चुनना बाकी | विचार चल | तय होना | सोचना बाकी""",
        "arabic": r"""
            | لم نقرر | لم يتقرر | لم يحدد | لم يتحدد | غير محدد | قيد | لم نحدد | لم يُحسم | لم يحسم | لا نعرف
            | لا ندري | غير مؤكد | سؤال مفتوح | معلق | محتار\w* | لم يتم | بعد لم | ننتظر | قيد النقاش
            | قيد الدراسة | يجب أن نقرر | لم نختر""",
        "unspaced": r"""
            | 未定 | 待定 | 还没.{0,4}定 | 没决定 | 尚未 | 未决定 | 待确认 | 还不确定 | 不确定 | 検討中 | 未決
            | まだ決ま | まだ決め | 保留 | まだわから | まだ未 | 没想好 | 还在考虑 | 考虑中 | 待讨论 | 不知道
            | 要不要 | 未確定 | 決めかね | 迷って | 悩んで | 还没 | 没定 | 讨论中 | 等.{0,6}确认 | 选哪 | 哪个好
            | 决めていない | 決めていない | 決まっていない | 相談中 | 未決定 | 検討し | どれにするか
            | どちらにするか | 未確認""",
    },
    "decision": {  # something was decided
        "english": r"""
            | decided | decision | agreed | settled on | chose | chosen | picked | went with | going with
            | we go with | we(?:'ll|\swill) (?:use|go|take|have|do) | final | finally | finali[sz]ed | confirmed
            | approved | will be | resolved | signed | booked | set for | set to | is set
            | it's (?:official|settled|decided) | fixed | it is | goes? with | settled | presents | named | hired""",
        "spanish": r"""
            | decidi\w+ | acord\w+ | elegi\w+ | confirm\w+ | será | quedamos en | quedó | decidid\w+ | optamos
            | vamos con | resuelt\w+ | aprobad\w+ | va a ser | fijad\w+ | qued(?:a|ó) | escogi\w+ | eleg\w+
            | se llamará""",
        "french": r"""
            | décid\w+ | choisi\w* | convenu | retenu | ce sera | sera | confirm\w+ | validé\w* | tranché
            | c'est décidé | opté | approuvé\w* | réservé\w* | fixée? | retenue? | on prend | on part sur
            | s'appellera | se fera | aura lieu""",
        "portuguese": r"""
            | decidi\w+ | escolh\w+ | combin\w+ | confirm\w+ | será | vai ser | ficou | fechamos | fechado
            | optamos | vamos de | resolvid\w+ | resolvemos | aprovad\w+ | definid\w+ | marcad\w+ | escolhid\w+
            | vai se chamar | fic(?:a|ou)""",
        "german": r"""
            | entschieden | beschlossen | geeinigt | bestätigt | festgelegt | wird | steht fest | gebucht | nehmen
            | geklärt | wir nehmen | fiel auf | genehmigt | abgestimmt | ausgewählt | gewählt | festgesetzt | steht
            | nehmen wir | es wird | haben uns für""",
        "russian": r"""
            | решили | решено | решил\w* | выбра\w+ | договорились | утверд\w+ | подтверд\w+ | будет | определил\w*
            | остановил\w+ на | согласова\w+ | одобр\w+ | заброниро\w+ | назначен\w* | выбран\w* | берём | берем
            | взять | возьм\w+""",
        "hindi": r"""
            | तय | फैसला | चुना | चुन | होगा | होगी | तय हो | पक्का | करेंगे | बुक | तय हुआ | लेंगे | रखेंगे
            | चुन लिया | मंज़ूर""",
        "arabic": r"""
            | قرر\w* | تقرر | اخترنا | اتفق\w* | اعتمد\w* | تم اختيار | سيكون | ستكون | حدد\w* | استقر\w*
            | تمت الموافقة | وافق\w* | سوف | حسم\w* | حجز\w* | تم تحديد | وقع الاختيار | تم الاتفاق | اختار\w*
            | تم اعتماد""",
        "unspaced": r"""
            | 决定 | 定了 | 定在 | 定为 | 选了 | 选定 | 确定 | 敲定 | 同意 | 最终 | 采用 | 就用 | 決ま | 決め
            | 決定 | 採用 | 選び | 選ん | することにし | にしました | にします | 选择了 | 定下 | 通过了 | 批准
            | 就选 | 選択し | 予約し | 確定 | 选 | 就是 | 定的是 | 用的是 | に決 | とする | にする | 選定
            | となりました""",
    },
    "addition": {  # something is added, and nothing is replaced
        "english": r"""
            | also | too(?! \w) | as well | additionally | in addition | another | add | added | adding | plus
            | besides | on top of that | extra | reminder | remember | don't forget""",
        "spanish": r"""
            | también | además | otro | otra | añadir | agregar | recuerda | recordatorio | no olvid\w+""",
        "french": r"""
            | aussi | également | en plus | ajouter | en outre | un autre | une autre | rappel | n'oublie\w*""",
        "portuguese": r"""
            | também | além disso | outro | outra | adicionar | lembrete | lembra\w* | não esque\w+""",
        "german": r"""
            | auch | außerdem | zusätzlich | ebenfalls | noch ein\w* | dazu | erinnerung | nicht vergessen""",
        "russian": r"""
            | также | тоже | ещё и | кроме того | добавить | вдобавок | напомина\w+ | не забудь\w* | ещё один
            | еще один""",
        "hindi": r"""
            | भी | साथ ही | जोड़\S* | याद रखना | याद दिला\S* | एक और | दूसरा""",
        "arabic": r"""
            | أيضا | أيضاً | كذلك | إضافة | بالإضافة | تذكير | لا تنس\w* | ثان\w*""",
        "unspaced": r"""
            | 也 | 还有 | 另外 | 添加 | 加上 | も好き | もあり | 追加 | 提醒 | 别忘 | 第二个 | リマインド | 忘れず
            | お忘れなく | もう一つ""",
    },
    "tentative": {  # something may happen, or is only planned
        "english": r"""
            | thinking (?:about|of) | might | maybe | perhaps | could | would like to | considering | someday
            | some day | one day | plan for | planning to | plan to | hope to | hoping to | want to | wants to
            | dream of | try out | trying out | if we | if i | next year | in a couple of years | wondering | wish
            | if | someone suggested | looking into | suggest(?:s|ed|ing)? | propos(?:e|es|ed|al) | should think
            | could we | would love | exploring | unless""",
        "spanish": r"""
            | quizás? | tal vez | podría\w* | pensando en | me gustaría | algún día | planeamos | si pudier\w+
            | habría que | deberíamos | propuso | propongo | a lo mejor""",
        "french": r"""
            | peut-être | pourrait | pourrions | pourrons | envisage\w* | aimerait | aimerais | un jour
            | l'an prochain | on pense | réfléchi\w+ | on pourrait | il faudrait | propos\w+ | et si""",
        "portuguese": r"""
            | talvez | poderia\w* | pensando em | gostaria | um dia | quem sabe | planejamos | a gente teste
            | poderíamos | deveríamos | propôs | proponho | seria bom""",
        "german": r"""
            | vielleicht | könnte\w* | überleg\w+ | möchte\w* | irgendwann | eventuell | planen | würde\w* gern\w*
            | nächstes jahr | sollten wir | wenn | falls | vorschlag | schlägt vor | wäre""",
        "russian": r"""
            | может быть | возможно | подумыва\w+ | думаем | хотел\w* бы | когда-нибудь | планируем | хотим | может
            | стоит попробовать | если | предлага\w+ | предложил\w* | хорошо бы""",
        "hindi": r"""
            | शायद | सोच रह\S* | कभी | अगर | सुझाव | हो सकता""",
        "arabic": r"""
            | ربما | قد | نفكر | أفكر | يفكر\w* | تفكر\w* | نخطط | يوما ما | لو | إذا | اقترح\w* | نجرب""",
        "unspaced": r"""
            | 可能 | 也许 | 考虑 | 打算 | 想(?:要|搬|换|去|买|改|学|试) | 将来 | かもしれ | 考えて | いつか | 検討
            | 如果 | 建议 | 试试 | 要不 | もし | 提案 | 試してみ | たらどう | したい""",
    },
    "past": {  # a question about what was
        "english": r"""
            | what was | what were | what did | who was | where was | where were | when was | which was | used to
            | previously | previous | formerly | former | originally | at first | initially | back then | back in
            | in the past | old | earlier | prior to | history of | until when (?:was|were|did)""",
        "spanish": r"""
            | antigu\w+ | anterior\w* | solía\w* | qué era | cuál era | al principio | originalmente | previamente""",
        "french": r"""
            | ancien\w* | auparavant | autrefois | quel était | quelle était | à l'origine | initialement
            | précédent\w*""",
        "portuguese": r"""
            | antig\w+ | anterior\w* | costumava | qual era | originalmente | no início""",
        "german": r"""
            | früher\w* | vorher\w* | ehemalig\w* | ursprünglich\w* | damals | alte[rsmn]? | zuvor | bisherig\w*
            | was war | wer war | wo war""",
        "russian": r"""
            | раньше | прежн\w+ | прошл\w+ | изначально | сначала | до этого | старый | старая | каким был\w*
            | какой был\w*""",
        "hindi": r"""
            | पुरान\S*""",
        "arabic": r"""
            | سابق\w* | السابق\w* | القديم\w* | في الماضي | أصلا""",
        "unspaced": r"""
            | 以前 | 原来 | 过去 | 曾经 | 当时 | 原先 | 起初 | 旧的 | 元々 | もともと | 当初 | 昔 | かつて""",
    },
}
