"""Words that say that something changed, was taken back, is open or was decided, in ten languages.

A phrase is a regular expression over folded text, between two bars. To add a phrase or a language, add it to a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Literal, NamedTuple

Cue = Literal["change", "weak change", "retraction", "open", "decision", "addition", "tentative", "past"]

_PHRASES: dict[Cue, dict[str, str]] = {
    "change": {  # something was one way and is another way now
        "english": r"""
            | actually | correction | erratum | mistake | after all | as of tonight | withdr[ae]w\w*
            | called (?:\w+ )?off | don't suit
            | from (?:this|next) (?:week|month|year|monday|tuesday|wednesday|thursday|friday|january|march|september)
            | chang(?:ed|ing) (?:the|our|my|its) | formerly | goes by | relocat\w+ | dropp(?:ed|ing) | drops
            | update: | turns out | instead of | instead | rather than | no longer | not (?:\w+ ){0,3}any ?more
            | anymore | switch(?:ed|ing)? (?:\w+ ){0,4}(?:to|from|over)
            | chang(?:ed|ing) (?:\w+ ){0,6}(?:to|from)
            | chang(?:ed|ing) (?:my|our|his|her|their) (?:mind|name|plan|job) | has changed | have changed
            | got changed | was changed | moved (?:\w+ ){0,6}(?:to|from|up|back|forward|out of)
            | moving (?:\w+ ){0,5}to | is moving | has moved | postponed | rescheduled
            | push(?:ed|ing) (?:\w+ ){0,5}(?:to|back|out) | delayed (?:to|until|till|by) | slipped to
            | slips to | brought forward | renamed | replaced | replaces | replacing | migrated | migrating
            | rewrote | rewritten | new (?:job|role|position) (?:at|with|for|in)
            | took over | takes over | taking over | taken over | hand(?:ed|s|ing) (?:\w+ ){0,4}(?:over|off)
            | upgraded | downgraded | bumped | raised (?:\w+ ){0,3}to | increased (?:\w+ ){0,3}to
            | decreased (?:\w+ ){0,3}to | reduced (?:\w+ ){0,3}to | lowered (?:\w+ ){0,3}to
            | cut (?:\w+ ){0,3}to | dropped (?:\w+ ){0,3}to | went (?:up|down) to | is up to | is down to
            | from now on | as of (?:now|today|this|\d\w*|monday|january|march) | effective | is now | are now
            | am now
            | now (?:is|are|at|in|on|use|uses|using|works?|lives?|runs?|has|have|owns?|goes|costs?|called)
            | scratch (?:that|what) | forget (?:what|the|that) | my mistake | was wrong | were wrong
            | was mistaken | misspoke | cancel(?:l?ed|s|ling) | called off | reverted | rolled back
            | went back to | going back to | back to | reassigned | transferred to | relocated
            | extended (?:\w+ ){0,3}to | shortened to | swapped | ended up | no more | not (?:\w+ ){1,4}but
            | isn't (?:\w+ ){1,4}but | used to | stopped | quit | gave up | given up | resigned | promoted
            | retired | left (?:the|his|her|my) | decided against | phased out | deprecated | sunset
            | decommissioned | shut down | superseded | supersedes | obsolete | overruled | broke up | divorced
            | got engaged | got married | traded in | sold (?:my|our|the|his|her) | scratch that""",
        "spanish": r"""
            | perdón | se cayó | han subido | han bajado | cambia a | ya no | en realidad | en vez de
            | en lugar de | cambi[oóée]\w* | cambiamos | cambiaron | cambiado | mud[oóé]\w* | mudamos | mudado
            | movi[oóeé]\w* | movido | movimos | aplaz\w+ | pospuest\w+ | pospusi\w+ | reprogram\w+
            | cancel[oóa]\w* | dej[éeoó] de | dejamos de | dejaron de | renombr\w+ | reemplaz\w+ | sustitu\w+
            | migr[oóa]\w* | pas(?:ó|a|amos|aron) (?:a|de|del) | sub(?:ió|e|ieron) (?:a|de)
            | baj(?:ó|a|aron) (?:a|de) | corrección | a partir de | desde hoy | me equivoqué | adelant\w+
            | se traslad\w+ | asumió | asume
            | ahora (?:es|está|son|vive|vivo|trabaja|trabajo|uso|usamos|se|lo|la|el|en|a) | resulta que
            | rectific\w+ | más bien | retras\w+ | demor\w+ | se hizo cargo | se encarga ahora | aument\w+
            | subid[oa]s? | reduj\w+ | reducid\w+ | de ahora en adelante | olvida\w* lo | error mío
            | estaba equivocad\w+ | anul\w+ | volv(?:imos|ió|í|ieron) a | reasign\w+ | prorrog\w+ | ampli\w+
            | solía\w* | abandon\w+ | renunci\w+ | ascend\w+ | se jubil\w+ | descart\w+ | obsolet\w+
            | divorci\w+ | vendi\w+ | cambia (?:a|al|de|por) | cambia\w* de (?:opinión|idea) | entregó
            | traspas\w+""",
        "french": r"""
            | erratum | finalement | ne (?:\w+ ){1,2}plus | n'\w+ plus | n'\w+ \w+ plus | en fait
            | au lieu d\w* | à la place | désormais | dorénavant | chang(?:é|ée|és|ent|e|eons|ement) | a changé
            | déménag\w+ | déplac\w+ | report(?:é|ée|és|ées|ons|er) | repouss\w+ | avanc(?:é|ée|ons) | annul\w+
            | remplac\w+ | renomm\w+ | migr(?:é|ée|ons|ation) | pass(?:e|é|ée|ons|ent) (?:à|au|aux|de|du|en)
            | correction | à partir d\w+ | arrêté | a repris | reprend
            | maintenant (?:c'est|à|au|en|il|elle|on|nous|je) | rectification | en réalité | il s'avère
            | plutôt que | et non | mais plutôt | retard\w* | reprogramm\w+ | rebaptis\w+ | pris la relève
            | succèd\w+ | succédé | transmis\w* | transfér\w+ | augment\w+ | baiss(?:é|ée|e|ent) | rédui\w+
            | dès (?:maintenant|aujourd'hui|lundi) | oubli\w+ ce que | me suis tromp\w+ | mon erreur
            | erreur de ma part | revenu\w* à | retour à | prolong\w+ | échang\w+ | abandonn\w+ | démissionn\w+
            | promu\w* | retraite | renonc\w+ | obsolète\w* | divorc\w+ | vendu\w* | remis\w* à""",
        "portuguese": r"""
            | tá errado | está errado | desist\w+ | aument\w+ | foram migrados | já não | não (?:\w+ ){1,4}mais
            | na verdade | em vez de | no lugar de | mud(?:ou|ei|amos|aram|ado|ada|ança)
            | troc(?:ou|ei|amos|aram|ado|ada) | alter(?:ou|ado|ada|amos) | adi(?:ou|ado|ada|amos|aram)
            | remarc\w+ | cancel(?:ou|ado|ada|amos|aram|ei) | substitu\w+ | renome\w+
            | migr(?:ou|amos|aram|ado) | pass(?:ou|amos|aram|a) (?:a|para|de|do|da|pra) | subiu | caiu
            | correção | a partir de | parei de | paramos de | deixei de | deixou de | assumiu | antecip\w+
            | agora (?:é|está|fica|mora|moro|trabalha|trabalho|uso|usamos|são|o|a|em|no|na) | errata
            | acontece que | ao invés de | mas sim | e sim | atras\w+ | reagend\w+ | rebatiz\w+ | transfer\w+
            | reduzi\w+ | baix(?:ou|amos|aram) | de agora em diante | doravante | esque[cç]\w* o que
            | me enganei | errei | erro meu | errad[oa] | volt(?:ou|amos|ei|aram) (?:a|para|ao|à|pra)
            | prorrog\w+ | estend\w+ | costumava | parou de | larg(?:uei|ou) | desisti\w* | abandon\w+
            | demiti\w+ | promovid\w+ | aposent\w+ | obsolet\w+ | divorci\w+ | vend(?:i|eu|emos|eram)
            | entreg(?:ou|uei|amos)""",
        "german": r"""
            | nachgeschaut | doch jahrgang | ab jetzt | nicht mehr | kein\w* (?:\w+ ){1,4}mehr | statt
            | anstatt | stattdessen | anstelle | neuerdings | ab sofort | inzwischen | mittlerweile | geändert
            | gewechselt | wechselt | verschoben | verlegt | vorgezogen | umgezogen | umbenannt | ersetzt
            | abgesagt | gestrichen | übernommen | übernimmt | umgestellt | umgestiegen
            | steigen (?:\w+ ){0,4}um | stellen (?:\w+ ){0,4}um | migriert | korrektur | doch nicht | doch am
            | doch erst | aufgehört | erhöht | gesenkt | gestiegen auf | gesunken auf | heißt jetzt | ist jetzt
            | sind jetzt | ist nun
            | jetzt (?:am|im|in|bei|auf|um|mit|bin|ist|sind|wohne|arbeite|nutzen|die|der|das)
            | ziehen (?:\w+ ){0,3}um | zieht (?:\w+ ){0,3}um | berichtigung | stellt sich heraus
            | stellte sich heraus | tatsächlich | sondern | verschiebt | verschieben | verzögert | vertagt
            | abgelöst | löst (?:\w+ ){1,4}ab | übergeben | hochgesetzt | angehoben | herabgesetzt | reduziert
            | gekürzt | verlängert | von nun an | seit (?:heute|gestern|montag|neuestem) | vergiss | vergesst
            | mein fehler | lag falsch | war falsch | stimmte nicht | geirrt | vertan | zurückgesetzt
            | zurück zu | zurück auf | getauscht | gekündigt | aufgegeben | befördert | in rente | verworfen
            | veraltet | abgeschafft | abgeschaltet | geschieden | verkauft""",
        "russian": r"""
            | ошиб\w+ | больше не | уже не | на самом деле | вместо | теперь | измени\w+ | поменя\w+ | смени\w+
            | переш\w+ | переход\w+ | перее\w+ | перен[её]с\w+ | перенос\w* | перенес\w+ | отложи\w+
            | отмени\w+ | замени\w+ | переименова\w+ | перевели | поправка | исправление | с сегодняшнего
            | начиная с | перестал\w* | бросил\w* | повыси\w+ | снизи\w+ | выросл\w+ | передал\w* | забрал\w*
            | сдвину\w+ | уволил\w* | подня\w+ | оказалось | оказывается | а не | сдвинул\w* | задерж\w+
            | мигр\w+ | увелич\w+ | уменьш\w+ | сократи\w+ | понизи\w+ | отныне | с этого (?:дня|момента)
            | забудь\w* | неправ\w* | верну\w+ к | вернул\w+ | обратно | продл\w+ | обменя\w+ | отказал\w+
            | пенси\w+ | устарел\w* | расстал\w+ | развел\w+ | продал\w* | принял\w* дела""",
        "hindi": r"""
            | कैंसिल | नहीं, | अब | नहीं रहा | नहीं रही | नहीं रहे | बदल\S* | की जगह | के बजाय | बजाय | दरअसल
            | असल में | रद्द | टल\S* | टाल\S* | स्थगित | शिफ्ट | छोड़\S* | बंद | बढ़\S* | घट\S* | आगे बढ़
            | सुधार | पता चला | खिसक\S* | संभाल\S* | सौंप\S* | कम कर\S* | अब से | आज से | भूल जा\S* | वापस
            | इस्तीफ\S* | रिटायर | तलाक | बेच\S*""",
        "arabic": r"""
            | لم (?:أعد|يعد|تعد|نعد) | ما عاد\w* | بدلا | بدلاً | بدل | الآن | الان | صار\w* | أصبح\w*
            | اصبح\w* | تغي\w+ | غي[رّ]\w* | انتقل\w* | نقل\w* | تأجل\w* | أجل\w* | تأجيل | ألغ\w+ | إلغاء
            | استبدل\w* | في الواقع | في الحقيقة | ابتداء\w* | من اليوم | توقف\w* | تصحيح | تحول\w* | ارتفع\w*
            | انخفض\w* | تولى | تولت | خطأ | اخطأت | غلطت | اتضح | تبين | وليست | تسلم\w* | استلم\w* | رفع\w*
            | زاد\w* | خفض\w* | من الآن | انس | رجع\w* | عاد إلى | مدد\w* | تمديد | استقال\w* | تقاعد\w*
            | تخل\w+ | تأخر\w* | باع\w* | مكان""",
        "unspaced": r"""
            | 记错 | 涨到 | 迁到 | 可以停 | 不.{1,6}了 | 不再 | 已经不 | 不是.{1,12}而是 | 其实 | 改成 | 改为
            | 改到 | 改在 | 改用 | 改回 | 换成 | 换到 | 换了 | 变成 | 变更 | 更正 | 搬到 | 搬去 | 搬家 | 搬进
            | 取消 | 推迟 | 延期 | 提前到 | 调整为 | 调到 | 替换 | 代替 | 取代 | 而不是 | 重命名 | 更名 | 改名
            | 迁移 | 转到 | 转用 | 接手 | 接管 | 辞职 | 离职 | 从今天 | 戒了 | 停用 | 升到 | 降到 | 涨价
            | 没有.{1,8}了 | 现在(?:是|在|用|住|叫|改|由|的|每) | もう.{0,14}(?:ない|ません) | ではなく
            | じゃなく | やめ | 変更 | 変わ | 変え | 移動し | 引っ越 | 中止 | キャンセル | 代わりに | 実は
            | やっぱり | 今は | 今後は | これからは | 現在は | になりました | になった | 切り替え | 移行
            | 引き継 | 退職 | 転職 | 訂正 | 繰り上げ | 前倒し | に移り | 纠正 | 弄错 | 搞错 | 说错 | 写错
            | 看错 | 结果发现 | 而非 | 延后 | 延迟 | 推后 | 改期 | 改叫 | 接任 | 交接 | 移交 | 上调 | 下调
            | 提高到 | 降低到 | 减到 | 加到 | 增加到 | 从现在起 | 今后 | 我的错 | 延长 | 对调 | 放弃 | 升职
            | 退休 | 作废 | 废弃 | 淘汰 | 离婚 | 卖了 | 卖掉 | 間違 | 誤り | 勘違い | 実際は | というより
            | 延び | 遅れ | 早ま | 改称 | 置き換 | 値上げ | 値下げ | 増やし | 減らし | 今後 | 今日から | 忘れて
            | 戻し | 戻り | 延長 | 交換し | 諦め | あきらめ | 辞め | 昇進 | 定年 | 廃止 | 離婚 | 売却""",
    },
    "weak change": {  # may say so, if enough else is the same
        "english": r"""
            | now | since | has been | have been | again | booked | started | currently | these days | nowadays
            | new | finally | final | decided (?:to|on|not) | settled on | chose | picked | went with
            | going with | we go with | in the end | lately | recently
            | starting (?:today|now|next|this|on|in|from) | raised | increased | decreased | reduced | lowered
            | moved | changed | upgrade | confirmed | agreed | this (?:week|month|year) | update | extended""",
        "spanish": r"""
            | ahora | nuev[oa]s? | finalmente | al final | decidi\w+ | actualiza\w+ | por fin | últimamente
            | confirm\w+""",
        "french": r"""
            | maintenant | nouveau | nouvelle | nouvel | finalement | décid\w+ | récemment | confirm\w+
            | plus de""",
        "portuguese": r"""
            | agora | nov[oa]s? | finalmente | decidi\w+ | no fim | ultimamente | confirm\w+""",
        "german": r"""
            | jetzt | nun | neue[rsmn]? | endgültig | entschieden | beschlossen | eigentlich | doch | zuletzt
            | bestätigt | aktuell | künftig
            | ab (?:heute|morgen|montag|\d+|januar|februar|märz|april|mai|juni|juli|august)
            | ab (?:september|oktober|november|dezember)""",
        "russian": r"""
            | сейчас | новы[йеом]\w* | новая | новое | решили | решено | решил\w* | в итоге | недавно | лучше
            | наконец | подтвер\w+""",
        "hindi": r"""
            | नया | नई | नए | तय | फैसला | आखिरकार | फिलहाल""",
        "arabic": r"""
            | جديد\w* | الجديد\w* | قرر\w* | تقرر | أخيرا | حاليا | مؤخرا""",
        "unspaced": r"""
            | 现在 | 目前 | 新的 | 决定 | 最终 | 最后 | 更新 | 以后 | 调整 | 現在 | 新しい | 決ま | 決定
            | ことにし | 最近""",
    },
    "retraction": {  # something is taken back
        "english": r"""
            | withdr[ae]w\w* | forget (?:what|the|that) | don't suit | gone off | go off | went off
            | grown? out of | not (?:\w+ ){0,2}into | not (?:\w+ ){0,2}keen | isn't for me | doesn't resonate
            | don't resonate | doesn't do it | don't do it | haven't resonated | not a fan | no longer
            | not (?:\w+ ){0,4}any ?more | anymore | any more(?! \w) | used to
            | (?:can|could|please|to|actually) remove (?:\S+ ){1,9}(?:from|off) | no longer on | stopped | quit
            | gave up | given up | changed my mind | change of heart | lost interest | grown? tired | fed up
            | cancel(?:l?ed|s|ling) | called off | scratch that | sick of | tired of | fallen out of
            | moved on from | moved away from | no more | can't stand | over it | decided against | phased out
            | decommissioned | shut down | any more""",
        "spanish": r"""
            | se cayó | ya no | dej[éeoó] de | dejamos de | dejaron de | cancel[oóa]\w* | al final no
            | abandon\w+ | renunci\w+ | descart\w+ | anul\w+ | cambi\w+ de (?:opinión|idea) | me cansé""",
        "french": r"""
            | ne (?:\w+ ){1,2}plus | n'\w+ plus | n'\w+ \w+ plus | arrêté | annul\w+
            | finalement (?:\w+ ){0,4}pas | finalement (?:\w+ )?n'\w+ pas | abandonn\w+ | renonc\w+
            | changé d'avis | plus envie""",
        "portuguese": r"""
            | desist\w+ | não (?:\w+ ){1,4}mais | já não | parei de | paramos de | deixei de | deixou de
            | cancel(?:ou|ado|ada|amos|aram|ei) | desisti\w* | abandon\w+ | larg(?:uei|ou)
            | mud(?:ei|ou|amos) de ideia | parou de | cansei""",
        "german": r"""
            | nicht mehr | kein\w* (?:\w+ ){1,4}mehr | aufgehört | abgesagt | gestrichen | aufgegeben
            | verworfen | gekündigt | doch nicht | doch kein\w* | abgeschafft | meinung geändert
            | keine lust mehr""",
        "russian": r"""
            | больше не | уже не | перестал\w* | бросил\w* | отмени\w+ | отказал\w+ | передумал\w*
            | не буд\w+ больше | надоел\w* | разлюбил\w*""",
        "hindi": r"""
            | कैंसिल | अब (?:\S+ ){0,6}नहीं | नहीं रहा | नहीं रही | नहीं रहे | छोड़\S* | रद्द | बंद | मन बदल\S*
            | नहीं करूँगा | नहीं करेंगे""",
        "arabic": r"""
            | لم (?:أعد|يعد|تعد|نعد) | ما عاد\w* | توقف\w* | ألغ\w+ | تخل\w+ | إلغاء | غيرت رأي\w* | تركت
            | استغن\w+""",
        "unspaced": r"""
            | 可以停 | 不.{1,6}了 | 不再 | 已经不 | 戒了 | 取消 | 停用 | 没有.{1,8}了
            | もう.{0,14}(?:ない|ません) | やめ | 中止 | キャンセル | 放弃 | 作废 | 不打算 | 不想再 | 改变主意
            | 腻了 | 諦め | あきらめ | 辞め | 廃止 | 気が変わ | 飽き""",
    },
    "open": {  # something is not decided or not known
        "english": r"""
            | tbd | tba | to be (?:decided|determined|confirmed|announced)
            | not (?:yet )?(?:been )?(?:decided|settled|final|confirmed|clear|sure) | undecided | unsure | torn
            | (?:haven't|have not|hasn't|has not) (?:yet )?(?:been )?(?:decided|chosen|picked|settled)
            | still (?:open|undecided|deciding|thinking|waiting|discussing|unclear|looking|unknown)
            | open question | open: | pending | unclear | unknown | (?:don't|do not) know yet | no decision
            | (?:need|have|has|must|needs) to (?:decide|choose|pick) | deciding between | choosing between
            | torn between | considering | unconfirmed | waiting for a decision | up in the air
            | no (?:\w+ )?yet""",
        "spanish": r"""
            | no sabemos | no sé | por decidir | pendiente | sin (?:decidir|definir|confirmar)
            | no (?:hemos|está|se ha) (?:decid|defin)\w+ | aún no | todavía no | no sabemos (?:si|aún|todavía)
            | no sé si | por (?:definir|confirmar|determinar) | sin decisión | indecis\w+
            | hay que (?:decidir|elegir) | dudamos | pregunta abierta""",
        "french": r"""
            | à (?:décider|définir|confirmer) | pas encore | pas décidé | en suspens | reste à | on ne sait pas
            | indécis\w* | question ouverte | reste ouvert | il faut (?:décider|choisir) | on hésite | j'hésite
            | incertain\w*""",
        "portuguese": r"""
            | não sabemos | não sei | a (?:decidir|definir|confirmar) | ainda não | indefinid\w+ | pendente
            | em aberto | não sei se | sem decisão | indecis\w+ | em dúvida | pergunta em aberto""",
        "german": r"""
            | noch offen | offen | noch nicht | unklar | ungeklärt | steht aus | in klärung | unentschieden
            | offene frage | wissen (?:wir )?noch nicht | keine entscheidung | müssen (?:\w+ ){0,4}entscheiden
            | zu klären | klären | unsicher""",
        "russian": r"""
            | не решил\w* | не решено | пока не | ещё не | еще не | неясно | непонятно | открыт\w* вопрос
            | вопрос открыт | не знаем | не знаю | под вопросом | вопрос открыт\w* | не определил\w* | решаем
            | нужно решить | надо решить | сомнева\w+ | не выбрал\w*""",
        "hindi": r"""
            | तय नहीं | अभी तय | पता नहीं | बाकी है | सोच रहे | फैसला नहीं | अनिश्चित | तय करना""",
        "arabic": r"""
            | لم نقرر | لم يتقرر | لم يحدد | لم يتحدد | غير محدد | قيد | لم نحدد | لم يُحسم | لم يحسم | لا نعرف
            | لا ندري | غير مؤكد | سؤال مفتوح | معلق | محتار\w*""",
        "unspaced": r"""
            | 未定 | 待定 | 还没.{0,4}定 | 没决定 | 尚未 | 未决定 | 待确认 | 还不确定 | 不确定 | 検討中 | 未決
            | まだ決ま | まだ決め | 保留 | まだわから | まだ未 | 没想好 | 还在考虑 | 考虑中 | 待讨论 | 不知道
            | 要不要 | 未確定 | 決めかね | 迷って | 悩んで""",
    },
    "decision": {  # something was decided
        "english": r"""
            | decided | decision | agreed | settled on | chose | chosen | picked | went with | going with
            | we go with | we(?:'ll| will) (?:use|go|take|have|do) | final | finally | finali[sz]ed | confirmed
            | approved | will be | resolved | signed | booked | set for | set to | is set
            | it's (?:official|settled|decided)
            | we(?:'ll|will) (?:use|go|take|have|do)""",
        "spanish": r"""
            | decidi\w+ | acord\w+ | elegi\w+ | confirm\w+ | será | quedamos en | quedó | decidid\w+ | optamos
            | vamos con | resuelt\w+ | aprobad\w+ | va a ser""",
        "french": r"""
            | décid\w+ | choisi\w* | convenu | retenu | ce sera | sera | confirm\w+ | validé\w* | tranché
            | c'est décidé | opté | approuvé\w* | réservé\w*""",
        "portuguese": r"""
            | decidi\w+ | escolh\w+ | combin\w+ | confirm\w+ | será | vai ser | ficou | fechamos | fechado
            | optamos | vamos de | resolvid\w+ | resolvemos | aprovad\w+ | definid\w+""",
        "german": r"""
            | entschieden | beschlossen | geeinigt | bestätigt | festgelegt | wird | steht fest | gebucht
            | nehmen | geklärt | wir nehmen | fiel auf | genehmigt | abgestimmt | ausgewählt | gewählt""",
        "russian": r"""
            | решили | решено | решил\w* | выбра\w+ | договорились | утверд\w+ | подтверд\w+ | будет
            | определил\w* | остановил\w+ на | согласова\w+ | одобр\w+ | заброниро\w+""",
        "hindi": r"""
            | तय | फैसला | चुना | चुन | होगा | होगी | तय हो | पक्का | करेंगे | बुक""",
        "arabic": r"""
            | قرر\w* | تقرر | اخترنا | اتفق\w* | اعتمد\w* | تم اختيار | سيكون | ستكون | حدد\w* | استقر\w*
            | تمت الموافقة | وافق\w* | سوف | حسم\w* | حجز\w*""",
        "unspaced": r"""
            | 决定 | 定了 | 定在 | 定为 | 选了 | 选定 | 确定 | 敲定 | 同意 | 最终 | 采用 | 就用 | 決ま | 決め
            | 決定 | 採用 | 選び | 選ん | することにし | にしました | にします | 选择了 | 定下 | 通过了 | 批准
            | 就选 | 選択し | 予約し | 確定""",
    },
    "addition": {  # something is added, and nothing is replaced
        "english": r"""
            | also | too | as well | additionally | in addition | another | add | added | adding | plus
            | besides | on top of that | extra | reminder | remember""",
        "spanish": r"""
            | también | además | otro | otra | añadir | agregar""",
        "french": r"""
            | aussi | également | en plus | ajouter | en outre | un autre | une autre""",
        "portuguese": r"""
            | também | além disso | outro | outra | adicionar""",
        "german": r"""
            | auch | außerdem | zusätzlich | ebenfalls | noch ein\w* | dazu""",
        "russian": r"""
            | также | тоже | ещё и | кроме того | добавить | вдобавок""",
        "hindi": r"""
            | भी | साथ ही | जोड़\S*""",
        "arabic": r"""
            | أيضا | أيضاً | كذلك | إضافة | بالإضافة""",
        "unspaced": r"""
            | 也 | 还有 | 另外 | 添加 | 加上 | も好き | もあり | 追加""",
    },
    "tentative": {  # something may happen, or is only planned
        "english": r"""
            | thinking (?:about|of) | might | maybe | perhaps | could | would like to | considering | someday
            | some day | one day | plan for | planning to | plan to | hope to | hoping to | want to | wants to
            | dream of | try out | trying out | if we | if i | next year | in a couple of years | wondering
            | wish""",
        "spanish": r"""
            | quizás? | tal vez | podría\w* | pensando en | me gustaría | algún día | planeamos | si pudier\w+""",
        "french": r"""
            | peut-être | pourrait | pourrions | pourrons | envisage\w* | aimerait | aimerais | un jour
            | l'an prochain | on pense | réfléchi\w+""",
        "portuguese": r"""
            | talvez | poderia\w* | pensando em | gostaria | um dia | quem sabe | planejamos""",
        "german": r"""
            | vielleicht | könnte\w* | überleg\w+ | möchte\w* | irgendwann | eventuell | planen
            | würde\w* gern\w* | nächstes jahr""",
        "russian": r"""
            | может быть | возможно | подумыва\w+ | думаем | хотел\w* бы | когда-нибудь | планируем | хотим""",
        "hindi": r"""
            | शायद | सोच रह\S* | कभी""",
        "arabic": r"""
            | ربما | قد | نفكر | أفكر | نخطط | يوما ما""",
        "unspaced": r"""
            | 可能 | 也许 | 考虑 | 打算 | 想要 | 将来 | かもしれ | 考えて | いつか | 検討""",
    },
    "past": {  # a question about what was
        "english": r"""
            | what was | what were | what did | who was | where was | where were | when was | which was
            | used to | previously | previous | formerly | former | originally | at first
            | initially | back then | back in | in the past | old | earlier | prior to | history of
            | until when | before""",
        "spanish": r"""
            | antes | antigu\w+ | anterior\w* | solía\w* | qué era | cuál era | al principio | originalmente
            | previamente""",
        "french": r"""
            | avant | ancien\w* | auparavant | autrefois | quel était | quelle était | à l'origine
            | initialement | précédent\w*""",
        "portuguese": r"""
            | antig\w+ | antes | anterior\w* | costumava | qual era | originalmente | no início""",
        "german": r"""
            | früher\w* | vorher\w* | ehemalig\w* | ursprünglich\w* | damals | alte[rsmn]? | zuvor
            | bisherig\w* | was war | wer war | wo war""",
        "russian": r"""
            | раньше | прежн\w+ | прошл\w+ | изначально | сначала | до этого | старый | старая | каким был\w*
            | какой был\w*""",
        "hindi": r"""
            | पहले | पुरान\S*""",
        "arabic": r"""
            | سابق\w* | السابق\w* | قبل | القديم\w* | في الماضي | أصلا""",
        "unspaced": r"""
            | 以前 | 之前 | 原来 | 过去 | 曾经 | 当时 | 原先 | 起初 | 旧的 | 元々 | もともと | 当初 | 前は | 昔
            | かつて""",
    },
}
# `I used to like it`, not `I got used to it` nor `it is used to cut bread`
_BEFORE_OTHER_USES = ("get", "gets", "got", "getting", "being", "is", "are", "be", "was", "were", "am", "never")
_USED_TO = "".join(f"(?<!{word} )" for word in (*_BEFORE_OTHER_USES, "'re", "'m", "'s"))
_WORD = re.compile(r"[\w'ऀ-෿]+")
_LITERAL = re.compile(r"[\w'ऀ-෿]+:?")
_GROUP = re.compile(r"\(\?[:<!][^()]*(?:\([^()]*\)[^()]*)*\)(?:\{[^}]*\}|[?*+])?|.\?")
_PREFIX = 3  # letters of a word that phrases with inflections are asked for first
_SEPARATOR = re.compile(r"\s*\| |\s*\|\n\s*")


def has_cue(folded: str, cue: Cue) -> bool:
    """Return whether a folded text has a phrase of a kind."""
    return find_cue(folded, cue) != ""


def find_cue(folded: str, cue: Cue) -> str:
    """Return the phrase of a kind that a folded text has; empty if it has none."""
    match = None
    if may_have_cue(frozenset(_WORD.findall(folded)), cue):
        match = _pattern(cue).search(folded)
    if not match and not folded.isascii():
        match = _unspaced_pattern(cue).search(folded)
    return match[0] if match else ""


def find_cues(folded: str, cues: Iterable[Cue]) -> frozenset[Cue]:
    """Return which kinds of phrases a folded text has."""
    words = frozenset(_WORD.findall(folded))
    is_ascii = folded.isascii()
    found = [cue for cue in cues if may_have_cue(words, cue) and _pattern(cue).search(folded)]
    if not is_ascii:
        found += [cue for cue in cues if _unspaced_pattern(cue).search(folded)]
    return frozenset(found)


def may_have_cue(words: frozenset[str], cue: Cue) -> bool:
    """Return whether a text with these words may have a phrase of a kind: faster than to look for the phrases."""
    required = _collect_required_words(cue)
    return not required.words.isdisjoint(words) or not required.prefixes.isdisjoint([word[:_PREFIX] for word in words])


class _RequiredWords(NamedTuple):
    """Of each phrase of a kind, a word that every text with that phrase has, or the first three letters of one."""

    words: frozenset[str]
    prefixes: frozenset[str]


@cache
def _collect_required_words(cue: Cue) -> _RequiredWords:
    words: set[str] = set()
    prefixes: set[str] = set()
    for name, table in _PHRASES[cue].items():
        for phrase in () if name == "unspaced" else _split(table):
            tokens = _GROUP.sub("*", phrase).split(" ")
            literals = [token for token in tokens if _LITERAL.fullmatch(token)]
            runs = [match[0] for token in tokens if (match := _LITERAL.match(token))]
            starts = [run[:_PREFIX] for run in runs if len(run) > _PREFIX]
            if literals and (not starts or len(max(literals, key=len)) > _PREFIX):
                words.add(max(literals, key=len).rstrip(":"))
            else:
                prefixes.update(starts[:1] or [token[:_PREFIX] for token in tokens[:1]])
    return _RequiredWords(frozenset(words), frozenset(prefixes))


@cache
def _pattern(cue: Cue) -> re.Pattern[str]:
    phrases = [phrase for name, table in _PHRASES[cue].items() if name != "unspaced" for phrase in _split(table)]
    guarded = "|".join(f"{_USED_TO}{phrase}" if phrase == "used to" else phrase for phrase in phrases)
    return re.compile(rf"(?<!\w)(?:{guarded})(?!\w)")


@cache
def _unspaced_pattern(cue: Cue) -> re.Pattern[str]:
    return re.compile("|".join(_split(_PHRASES[cue]["unspaced"])))


def _split(table: str) -> list[str]:
    """Return the phrases of a table: a bar between two phrases has spaces around it."""
    return [phrase.strip() for phrase in _SEPARATOR.split(f"{table} ") if phrase.strip()]
