"""The phrases that say that something changed, was taken back or is settled, and of what is likely to change.

In ten languages; each is a regular expression over folded text, between two bars.
"""

from __future__ import annotations

from typing import Literal

ChangeCue = Literal["change", "weak change", "retraction", "decision", "resolution", "hint"]
Cue = ChangeCue | Literal["trouble", "open", "addition", "tentative", "past"]
CHANGE_PHRASES: dict[Cue, dict[str, str]] = {
    "change": {  # something was one way and is another way now
        "english": r"""
            | actually | correction | erratum | mistake | after all | as of tonight | withdr[ae]w\w*
            | called (?:\w+ )?off | don't suit
            | from (?:this|next) (?:week|month|year|monday|tuesday|wednesday|thursday|friday|january|march|september)
            | chang(?:ed|ing) (?:the|our|my|its) | formerly | goes by | relocat\w+ | dropp(?:ed|ing) | drops
            | update: | turns out | instead of | instead | rather than | no longer | not (?:\w+ ){0,3}any ?more
            | anymore | switch(?:ed|ing)? (?:\w+ ){0,4}(?:to|from|over) | chang(?:ed|ing) (?:\w+ ){0,6}(?:to|from)
            | chang(?:ed|ing) (?:my|our|his|her|their) (?:mind|name|plan|job) | has changed | have changed
            | got changed | was changed | moved (?:\w+ ){0,6}(?:to|from|up|back|forward|out of)
            | moving (?:\w+ ){0,5}to | is moving | has moved | postponed | reschedul\w+
            | push(?:ed|ing) (?:\w+ ){0,5}(?:to|back|out) | delayed (?:to|until|till|by) | slip(?:ped|s) (?:to|by)
            | brought forward | renamed | replaced | replaces | replacing | migrated | migrating | rewrote
            | rewritten | new (?:job|role|position) (?:at|with|for|in) | took over | takes over | taking over
            | taken over | hand(?:ed|s|ing) (?:\w+ ){0,4}(?:over|off) | upgraded | downgraded | bumped
            | raised (?:\w+ ){0,5}to | increased (?:\w+ ){0,5}to | decreased (?:\w+ ){0,5}to
            | reduced (?:\w+ ){0,5}to | lowered (?:\w+ ){0,5}to | cut (?:\w+ ){0,5}to | dropped (?:\w+ ){0,3}to
            | went (?:up|down) to | is up to | is down to | from now on
            | as of (?:now|today|this|\d\w*|monday|january|march) | effective | is now | are now | am now
            | now (?:is|are|at|in|on|use|uses|using|works?|lives?|runs?|has|have|owns?|goes|costs?|called)
            | scratch (?:that|what) | forget (?:what|the|that) | my mistake | was wrong | were wrong | was mistaken
            | misspoke | cancel(?:l?ed|s|ling) | called off | reverted | rolled back | went back to | going back to
            | back to | reassigned | transferred to | relocated | extended (?:\w+ ){0,3}to | shortened to | swapped
            | ended up | no more | not (?:\w+ ){1,4}but | isn't (?:\w+ ){1,4}but | used to | stopped | quit
            | gave up | given up | resigned | promoted | retired | left (?:the|his|her|my) | decided against
            | phased out | deprecated | sunset | decommissioned | shut down | superseded | supersedes | obsolete
            | overruled | broke up | divorced | got engaged | got married | traded in | sold (?:my|our|the|his|her)
            | scratch that | got (?:it|that|this) wrong | misheard | misread | miscounted | mistyped
            | misremembered | scrap(?:ped|ping)? | tightened | loosened | relaxed (?:\w+ ){0,4}to
            | scaled (?:\w+ ){0,4}(?:to|up|down|back) | set (?:\w+ ){0,5}(?:to|at)
            | turned (?:\w+ ){0,3}(?:on|off|into) | transferred | converted (?:\w+ ){0,4}(?:to|into)
            | reorgani[sz]ed | stepp(?:ed|ing) down | discontinued | abandoned | reopened | trimmed (?:\w+ ){0,4}to
            | doubled (?:\w+ ){0,4}to | halved (?:\w+ ){0,4}to | grew to | shrank to | rose to | fell to
            | went from | goes from | is off | are off | was off | became | turned out | swap(?:s|ping)?
            | upgrad(?:e|es|ing) to | mov(?:e|es|ing) (?:\w+ ){0,4}to | brought (?:\w+ ){0,3}(?:forward|up|down)
            | rolled (?:\w+ ){0,3}back | reassign(?:s|ing) | deferred | put off | on hold | handover | hand over
            | successor | succeeds | succeeded | filling in for | stands in for | merged (?:\w+ ){0,3}(?:with|into)
            | split (?:\w+ ){0,3}into | reversed | overturned | amended | revised | adjusted (?:\w+ ){0,4}to
            | corrected | (?:change|move|switch|rename|push) (?:the|my|our) (?:\w+ ){1,5}(?:to|with|by|until|from)
            | (?:replace|update|postpone) (?:the|my|our) (?:\w+ ){1,5}(?:to|with|by|until|from) | off the table
            | sold the | sold my | gone to | left for | drop(?:s|ping)? the | bought out | handed in | switch to
            | reverting | restored to | rebranded | retitled | goes under | swapped out | jumped to | climbed to
            | sank to | crept up to | gave (?:\w+ ){0,3}\d\w*
            | (?:go|goes|going|gone|went|is|are|came) (?:up|down) (?:to|by)
            | (?:turned|put|set) (?:\w+ ){1,4}(?:up|down) | down to
            | (?:drop|rise|fall|slip|shift|jump|climb|increase|decrease)s? to
            | got an? (?:extension|raise|increase|discount|refund) | cheaper | pricier | more expensive
            | stepp?ed up | handed (?:\w+ ){1,5}to | pulled (?:forward|back|out) | unpinned
            | gets? (?:\w+ ){0,2}instead | became | changed, | changed:""",
        "spanish": r"""
            | perdón | se cayó | han? (?:subido|bajado|pasado) | cambia a | ya no | en realidad | en vez de
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
            | solía\w* | abandon\w+ | renunci\w+ | ascend\w+ | se jubil\w+ | descart\w+ | obsolet\w+ | divorci\w+
            | vendi\w+ | cambia (?:a|al|de|por) | cambia\w* de (?:opinión|idea) | entregó | traspas\w+
            | mejor (?:\w+ ){0,2}(?:en|por|con|a) | pas(?:é|o|amos|aron) (?:\w+ ){0,4}(?:a|al|de|del)
            | sub(?:ieron|imos|í) (?:\w+ ){0,3}(?:a|de) | baj(?:aron|amos|é) (?:\w+ ){0,3}(?:a|de)
            | actualiz(?:amos|aron|ó|é|ado|ada) (?:\w+ ){0,3}a | dej(?:é|ó|amos|aron) (?:el|la|los|las|mi|de)
            | hoy en día | se llama ahora | le decimos | traslad\w+ | corregi\w+ | correcto es | transfer\w+
            | ces[óa]\w* | suspend\w+ | elimin[oóa]\w* | quit(?:é|ó|amos|aron) | en adelante | me confundí | ya es
            | ya son | ya somos | ya está | renov\w+ a | qued(?:ó|a) en | se fue(?:ron)? a (?:vivir|trabajar)
            | me fui a (?:vivir|trabajar) | se va a (?:vivir|trabajar) | resultó | no era
            | no es (?:el|la)? ?\w+ sino | corrig\w+ | perdona | más (?:caro|cara|barato|barata) | cambió:
            | nos pasamos | se pasó a""",
        "french": r"""
            | erratum | finalement | ne (?:\w+ ){1,2}plus | n'\w+ plus | n'\w+ \w+ plus | en fait | au lieu d\w*
            | à la place | désormais | dorénavant | chang(?:é|ée|és|ent|e|eons|ement) | a changé | déménag\w+
            | déplac\w+ | report(?:é|ée|és|ées|ons|er) | repouss\w+ | avanc(?:é|ée|ons) | annul\w+ | remplac\w+
            | renomm\w+ | migr(?:é|ée|ons|ation) | pass(?:e|é|ée|ons|ent) (?:à|au|aux|de|du|en) | correction
            | à partir d\w+ | arrêté | a repris | reprend | maintenant (?:c'est|à|au|en|il|elle|on|nous|je)
            | rectification | en réalité | il s'avère | plutôt que | et non | mais plutôt | retard\w*
            | reprogramm\w+ | rebaptis\w+ | pris la relève | succèd\w+ | succédé | transmis\w* | transfér\w+
            | augment\w+ | baiss(?:é|ée|e|ent) | rédui\w+ | dès (?:maintenant|aujourd'hui|lundi) | oubli\w+ ce que
            | me suis tromp\w+ | mon erreur | erreur de ma part | revenu\w* à | retour à | prolong\w+ | échang\w+
            | abandonn\w+ | démissionn\w+ | promu\w* | retraite | renonc\w+ | obsolète\w* | divorc\w+ | vendu\w*
            | remis\w* à | mis(?:e|es)? à jour (?:\w+ ){0,3}(?:vers|en|à) | erreur | corrig\w+ | supprim\w+
            | suspend\w+ | arrêt(?:é|e|ons|er|ée) | c'est (?:\w+ ){1,3}qui | s'appelle (?:maintenant|désormais)
            | mont(?:e|é|ée) à | descend\w* à | transféré\w* | rattach\w+ | révis\w+ | modifi\w+ | laiss\w+ tomber
            | prend la suite | de nos jours | quitt(?:é|e|ée)
            | (?:est|sont|suis) partie?s? (?:vivre|habiter|travailler|à|pour) | ce n'est pas | ce n'était pas
            | pardon | je voulais dire | est passée?s? (?:à|au|en) | rangée?s? | rangé | s'est installée?s?
            | s'installe\w* | est partie?s? | plus (?:cher|chère) | moins (?:cher|chère) | monte à | tombe à
            | on est passés? | décal\w+ | repris par""",
        "portuguese": r"""
            | tá errado | está errado | desist\w+ | aument\w+ | foram migrados | já não | não (?:\w+ ){1,4}mais
            | na verdade | em vez de | no lugar de | mud(?:ou|ei|amos|aram|ado|ada|ança)
            | troc(?:ou|ei|amos|aram|ado|ada) | alter(?:ou|ado|ada|amos) | adi(?:ou|ado|ada|amos|aram) | remarc\w+
            | cancel(?:ou|ado|ada|amos|aram|ei) | substitu\w+ | renome\w+ | migr(?:ou|amos|aram|ado)
            | pass(?:ou|amos|aram|a) (?:a|para|de|do|da|pra) | subiu | caiu | correção | a partir de | parei de
            | paramos de | deixei de | deixou de | assumiu | antecip\w+
            | agora (?:é|está|fica|mora|moro|trabalha|trabalho|uso|usamos|são|o|a|em|no|na) | errata | acontece que
            | ao invés de | mas sim | e sim | atras\w+ | reagend\w+ | rebatiz\w+ | transfer\w+ | reduzi\w+
            | baix(?:ou|amos|aram) | de agora em diante | doravante | esque[cç]\w* o que | me enganei | errei
            | erro meu | errad[oa] | volt(?:ou|amos|ei|aram) (?:a|para|ao|à|pra) | prorrog\w+ | estend\w+
            | costumava | parou de | larg(?:uei|ou) | desisti\w* | abandon\w+ | demiti\w+ | promovid\w+
            | aposent\w+ | obsolet\w+ | divorci\w+ | vend(?:i|eu|emos|eram) | entreg(?:ou|uei|amos) | hoje em dia
            | atualiz(?:amos|aram|ou|ei|ado|ada) (?:\w+ ){0,3}para
            | pass(?:ei|amos|aram) (?:\w+ ){0,4}(?:para|pra|a|ao) | suspend\w+ | elimin\w+ | tir(?:ei|amos|aram|ou)
            | corrig\w+ | o certo é | se chama agora | chama agora | virou | par(?:ei|amos|ou|aram) (?:de|com)
            | deix(?:ei|ou|amos|aram) (?:de|a|o) | melhor (?:\w+ ){0,2}(?:em|por|com)
            | foi (?:morar|viver|trabalhar) | foram (?:morar|viver) | fui (?:morar|viver) | enganei-me
            | me confundi | desculpa | não é (?:o|a)? ?\w+, | ficou para | fica para
            | mais (?:caro|cara|barato|barata) | sobe para | cai para | foi para (?:as|o|a)""",
        "german": r"""
            | nachgeschaut | doch jahrgang | ab jetzt | nicht mehr | kein\w* (?:\w+ ){1,4}mehr | statt | anstatt
            | stattdessen | anstelle | neuerdings | ab sofort | inzwischen | mittlerweile | geändert | gewechselt
            | wechselt | verschoben | verlegt | vorgezogen | umgezogen | umbenannt | ersetzt | abgesagt
            | gestrichen | übernommen | übernimmt | umgestellt | umgestiegen | steigen (?:\w+ ){0,4}um
            | stellen (?:\w+ ){0,4}um | migriert | korrektur | doch nicht | doch am | doch erst | aufgehört
            | erhöht | gesenkt | gestiegen auf | gesunken auf | heißt jetzt | ist jetzt | sind jetzt | ist nun
            | jetzt (?:am|im|in|bei|auf|um|mit|bin|ist|sind|wohne|arbeite|nutzen|die|der|das)
            | ziehen (?:\w+ ){0,3}um | zieht (?:\w+ ){0,3}um | berichtigung | stellt sich heraus
            | stellte sich heraus | tatsächlich | sondern | verschiebt | verschieben | verzögert | vertagt
            | abgelöst | löst (?:\w+ ){1,4}ab | übergeben | hochgesetzt | angehoben | herabgesetzt | reduziert
            | gekürzt | verlängert | von nun an | seit (?:heute|gestern|montag|neuestem) | vergiss | vergesst
            | mein fehler | lag falsch | war falsch | stimmte nicht | geirrt | vertan | zurückgesetzt | zurück zu
            | zurück auf | getauscht | gekündigt | aufgegeben | befördert | in rente | verworfen | veraltet
            | abgeschafft | abgeschaltet | geschieden | verkauft | gezogen | zieht um | kommt (?:\w+ ){0,2}erst
            | erst am | erst um | fällt (?:\w+ ){0,3}(?:aus|weg|flach) | entfällt | entfallen | ausgetauscht
            | tausch\w* (?:\w+ ){0,4}(?:gegen|aus) | aktualisiert | hochgestuft | heruntergesetzt | runtergesetzt
            | korrigiert | falsch | verschob\w* | wandert\w* (?:\w+ ){0,3}(?:nach|zu|in) | gewandert | übertragen
            | ging über | löst ab | lieber | doch (?:der|die|das|den|im|in|bei|auf|um|am) | eingestellt
            | verzichte\w* | gestoppt | beendet | ausgelaufen | von jetzt an | fortan | heutzutage | seither
            | bin (?:\w+ ){0,3}gewechselt | ist zu \w+ gezogen | ist nach \w+ gezogen
            | nennt sich (?:jetzt|nun|künftig) | entschuldigung | sorry | meinte | schon am | seit neuestem
            | zahlen wir | liegt (?:jetzt|nun) | kein\w* \w+ (?:mehr|mehr\.) | wieder \w+ | teurer | billiger
            | günstiger | (?:steigt|sinkt|fällt|geht) (?:\w+ ){0,2}auf | umentschieden | anders überlegt
            | hochgestellt | runtergestellt | fällt ins wasser | ins wasser gefallen""",
        "russian": r"""
            | ошиб\w+ | больше не | уже не | на самом деле | вместо | теперь | измени\w+ | поменя\w+ | смени\w+
            | переш\w+ | переход\w+ | перее\w+ | перен[её]с\w+ | перенос\w* | перенес\w+ | отложи\w+ | отмени\w+
            | замени\w+ | переименова\w+ | перевели | поправка | исправление | с сегодняшнего | начиная с
            | перестал\w* | бросил\w* | повыси\w+ | снизи\w+ | выросл\w+ | передал\w* | забрал\w* | сдвину\w+
            | уволил\w* | подня\w+ | оказалось | оказывается | а не | сдвинул\w* | задерж\w+ | мигр\w+ | увелич\w+
            | уменьш\w+ | сократи\w+ | понизи\w+ | отныне | с этого (?:дня|момента) | забудь\w* | неправ\w*
            | верну\w+ к | вернул\w+ | обратно | продл\w+ | обменя\w+ | отказал\w+ | пенси\w+ | устарел\w*
            | расстал\w+ | развел\w+ | продал\w* | принял\w* дела | обнови\w+ | перев[её]л\w* | переключи\w+
            | заменя\w+ | прекрати\w+ | убрал\w* | удалил\w* | закрыл\w* | впредь | в настоящее время | стал\w*
            | назначен\w* новы\w+ | передан\w* | перешл\w+ | лучше (?:по|на|в) | поправл\w+ | исправл\w+ | неверно
            | неправильно | оказал\w+ | сняли | повышен\w* | снижен\w* | поднял\w* | опусти\w+ | уехал\w*
            | переберётся | перебрал\w+ | не в .{1,20} а в | извини\w* | стал\w* \w+ом | зовут теперь
            | теперь зовут | имел\w* в виду | вернее | точнее | подорожал\w* | подешевел\w* | заброс\w+""",
        "hindi": r"""
            | कैंसिल | नहीं, | अब | नहीं रहा | नहीं रही | नहीं रहे | बदल\S* | की जगह | के बजाय | बजाय | दरअसल
            | असल में | रद्द | टल गय\S* | टल गई | टला\S* | टली\S* | टाल\S* | स्थगित | शिफ्ट | छोड़\S* | बंद | बढ़\S*
            | घट गय\S* | घट गई | घटा\S* | घटी\S* | आगे बढ़ | सुधार | पता चला | खिसक\S* | संभाल\S* | सौंप\S*
            | कम कर\S* | अब से | आज से | भूल जा\S* | वापस | इस्तीफ\S* | रिटायर | तलाक | बेच\S* | गलती हुई | गलती से
            | गलत था | गलत थी | टल गया | कर दिया | कर दी | कर दिए | हो गया है | हो गई है | आजकल | आगे से | रख दिया
            | रख दी | हटा \S+ | हटाया | हटाई | सही है | बदला | अपग्रेड | अपडेट | स्थानांतर\S* | माफ़ | माफ़ी | माफी
            | बदलकर | बढ़कर | घटकर | चला गया | चली गई | असल | सही | गलत""",
        "arabic": r"""
            | لم (?:أعد|يعد|تعد|نعد) | ما عاد\w* | بدلا | بدلاً | بدل | الآن | الان | صار\w* | أصبح\w* | اصبح\w*
            | تغي\w+ | غيّر\w* | غيرت\w* | انتقل\w* | نقل\w* | تأجل\w* | أجل\w* | تأجيل | ألغ\w+ | إلغاء | استبدل\w*
            | في الواقع | في الحقيقة | ابتداء\w* | من اليوم | توقف\w* | تصحيح | تحول\w* | ارتفع\w* | انخفض\w*
            | تولى | تولت | خطأ | اخطأت | غلطت | اتضح | تبين | وليست | تسلم\w* | استلم\w* | رفع\w* | زاد\w*
            | خفض\w* | من الآن | انس | رجع\w* | عاد إلى | مدد\w* | تمديد | استقال\w* | تقاعد\w* | تخل\w+ | تأخر\w*
            | باع\w* | مكان | بات\w* | حديث\w*ا | ترقية | حدثنا | رقينا | حذف\w* | أزلنا | أوقف\w*
            | ترك(?:ت|نا|وا|ها|ه)? | من الآن فصاعدا | بعد الآن | عوضا | سيصبح | يصبح | حل محل | خلف\w* | استعاض\w*
            | صحح\w* | الصحيح | عدل\w* | تعديل | قلص\w* | زيادة | أخطأت | عذرا | آسف | غيرنا | غيروا | أقصد | قصدت
            | تحديث | حدث\w* | تم تحديث | تم نقل | تم تغيير | رفعوا | خفضوا | يسكن الآن | صححت""",
        "unspaced": r"""
            | 记错 | 涨到 | 迁到 | 可以停 | 不.{1,6}了 | 不再 | 已经不 | 不是.{1,12}而是 | 其实 | 改成 | 改为
            | 改到 | 改在 | 改用 | 改回 | 换成 | 换到 | 换了 | 变成 | 变更 | 更正 | 搬到 | 搬去 | 搬家 | 搬进
            | 取消 | 推迟 | 延期 | 提前到 | 调整为 | 调到 | 替换 | 代替 | 取代 | 而不是 | 重命名 | 更名 | 改名
            | 迁移 | 转到 | 转用 | 接手 | 接管 | 辞职 | 离职 | 从今天 | 戒[了掉烟酒] | 停用 | 升到 | 降到 | 涨价
            | 没有.{1,8}了 | 现在(?:是|在|用|住|叫|改|由|的|每) | もう.{0,14}(?:ない|ません) | ではなく | じゃなく
            | やめ | 変更 | 変わ | 変え | 移動し | 引っ越 | 中止 | キャンセル | 代わりに | 実は | やっぱり | 今は
            | 今後は | これからは | 現在は | になりました | になった | 切り替え | 移行 | 引き継 | 退職 | 転職
            | 訂正 | 繰り上げ | 前倒し | に移り | 纠正 | 弄错 | 搞错 | 说错 | 写错 | 看错 | 结果发现 | 而非 | 延后
            | 延迟 | 推后 | 改期 | 改叫 | 接任 | 交接 | 移交 | 上调 | 下调 | 提高到 | 降低到 | 减到 | 加到 | 增加到
            | 从现在起 | 今后 | 我的错 | 延长 | 对调 | 放弃 | 升职 | 退休 | 作废 | 废弃 | 淘汰 | 离婚 | 卖了 | 卖掉
            | 間違 | 誤り | 勘違い | 実際は | というより | 延び | 遅れ | 早ま | 改称 | 置き換 | 値上げ | 値下げ
            | 増やし | 減らし | 今後 | 今日から | 忘れて | 戻し | 戻り | 延長 | 交換し | 諦め | あきらめ | 辞め
            | 昇進 | 定年 | 廃止 | 離婚 | 売却 | 升级 | 升级到 | 降级 | 迁移到 | 迁至 | 挪到 | 移到 | 搬回 | 变为
            | 变了 | 转为 | 转给 | 交给 | 换为 | 换人 | 弃用 | 下线 | 停了 | 停止 | 终止 | 不去 | 错了 | 应该是
            | 实际上 | 原来是 | 接替 | 顶替 | 改由 | 扩大到 | 缩短 | 减少到 | 涨了 | 降了 | 修改为 | 調整し | 移し
            | 移転 | 切替 | 更新し | 名前を変 | に代わ | 代わり | 交代 | に替わ | 替え | 乗り換え | 入れ替え | 止め
            | 停止し | 廃し | 誤って | 正しくは | 本当は | 実際には | 引退 | から.{1,12}に変 | 改め | 見送 | に上げ
            | を上げ | に下げ | を下げ | アップグレード | アップデート | バージョンアップ | 上がり | 上がった
            | 下がり | 下がった | 更新到 | 更新为 | 涨 | 别再 | 让我别 | 不让 | なくなりました | なくなった
            | 代わって | 担当が | 入れ替わ | 乗り換 | 切り換え | 戒 | 不吃了 | 不用了 | 挪 | 搬 | 改存 | 归.{1,6}管
            | 走了 | 退了 | 统一""",
    },
    "weak change": {  # may say so, if enough else is the same
        "english": r"""
            | now | since | has been | have been | again | booked | started | currently | these days | nowadays
            | new | finally | final | decided (?:to|on|not) | settled on | chose | picked | went with | going with
            | we go with | in the end | lately | recently | starting (?:today|now|next|this|on|in|from) | raised
            | increased | decreased | reduced | lowered | moved | changed | upgrade | confirmed | agreed
            | this (?:week|month|year) | update | extended""",
        "spanish": r"""
            | ahora | nuev[oa]s? | nuov[oaie] | finalmente | al final | decidi\w+ | actualiza\w+ | por fin
            | últimamente | confirm\w+""",
        "french": r"""
            | maintenant | nouveau | nouvelle | nouvel | finalement | décid\w+ | récemment | confirm\w+ | plus de""",
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
            | 现在 | 目前 | 新的 | 决定 | 最终 | 最后 | 更新 | 以后 | 调整 | 現在 | 新しい | 決ま | 決定 | ことにし
            | 最近""",
    },
    "retraction": {  # something is taken back
        "english": r"""
            | withdr[ae]w\w* | forget (?:what|the|that) | don't suit | gone off | go off | went off | grown? out of
            | not (?:\w+ ){0,2}into | not (?:\w+ ){0,2}keen | isn't for me | doesn't resonate | don't resonate
            | doesn't do it | don't do it | haven't resonated | not a fan | no longer | not (?:\w+ ){0,4}any ?more
            | anymore | any more(?! \w) | used to
            | (?:can|could|please|to|actually) remove (?:\S+ ){1,9}(?:from|off) | no longer on | stopped | quit
            | gave up | given up | changed my mind | change of heart | lost interest | grown? tired | fed up
            | cancel(?:l?ed|s|ling) | called off | scratch that | sick of | tired of | fallen out of
            | moved on from | moved away from | no more | can't stand | over it | decided against | phased out
            | decommissioned | shut down | any more | scrapped | discontinued | abandoned | ditched | axed
            | shelved | is off | are off | fell through | ruled out | called (?:it|the \w+) off | backed out
            | pulled out | opted out | unsubscribed | got rid of | (?<!n't )stop \w+ing | never mind | revoked
            | suspended | dropped | removed | deleted | not happening
            | (?:won't|can't|cannot|not going to|not) (?:\w+ ){0,2}(?:make it|happen|come|attend|join)
            | not (?:\w+ ){1,6}after all | not (?:\w+ing) (?:\w+ ){0,6}(?:this|next|after) | no need (?:to|for)
            | abolished | terminated | off the table | won't be | isn't coming | aren't coming | not coming
            | can't come | stop (?:us|do|tak|send|add|mak|putt|eat|drink|go|call|post)ing
            | over (?:it|that|pottery) | is dead | killed the | called it quits | bailed
            | skipp(?:ed|ing) (?:the|this) | pass on | passing on | isn't (?:happening|going to happen)
            | there's no \w+ any ?more | withdrawn""",
        "spanish": r"""
            | se cayó | ya no | dej[éeoó] de | dejamos de | dejaron de | cancel[oóa]\w* | al final no | abandon\w+
            | renunci\w+ | descart\w+ | anul\w+ | cambi\w+ de (?:opinión|idea) | me cansé | no vamos | no iremos
            | suspend\w+ | elimin[oóa]\w* | dej(?:é|ó|amos|aron) (?:el|la|los|las|mi|mis) | quit(?:é|ó|amos|aron)
            | nada de | se acab\w+ | no habrá | ya nadie | desist\w+""",
        "french": r"""
            | ne (?:\w+ ){1,2}plus | n'\w+ plus | n'\w+ \w+ plus | arrêté | annul\w+ | finalement (?:\w+ ){0,4}pas
            | finalement (?:\w+ )?n'\w+ pas | abandonn\w+ | renonc\w+ | changé d'avis | plus envie | supprim\w+
            | suspend\w+ | laiss\w+ tomber | fini\w* (?:le|la|les|de) | plus de | pas (?:\w+ ){0,3}finalement
            | résili\w+ | quitt(?:é|e|ée) | tombe à l'eau""",
        "portuguese": r"""
            | desist\w+ | não (?:\w+ ){1,4}mais | já não | parei de | paramos de | deixei de | deixou de
            | cancel(?:ou|ado|ada|amos|aram|ei) | desisti\w* | abandon\w+ | larg(?:uei|ou)
            | mud(?:ei|ou|amos) de ideia | parou de | cansei | suspend\w+ | elimin\w+
            | par(?:ei|amos|ou|aram) (?:de|com|a|o) | deix(?:ei|ou|amos|aram) (?:de|a|o|as|os)
            | acab(?:ou|aram) (?:o|a|com) | não vamos | não vai ter | sem mais""",
        "german": r"""
            | nicht mehr | kein\w* (?:\w+ ){1,4}mehr | aufgehört | abgesagt | gestrichen | aufgegeben | verworfen
            | gekündigt | doch nicht | doch kein\w* | abgeschafft | meinung geändert | keine lust mehr
            | fällt (?:\w+ ){0,3}(?:aus|weg|flach) | entfällt | entfallen | eingestellt | gestoppt | beendet
            | storniert | verzichte\w* | wird nichts | kein\w* \w+ mehr | ohne mich | lassen wir | sein gelassen
            | fällt ins wasser | ins wasser gefallen""",
        "russian": r"""
            | больше не | уже не | перестал\w* | бросил\w* | отмени\w+ | отказал\w+ | передумал\w*
            | не буд\w+ больше | надоел\w* | разлюбил\w* | прекрати\w+ | не едем | не поедем | не пойд\w+
            | не буд(?:ем|у|ет) | убрал\w* | удалил\w* | закрыл\w* | снял\w* с | свернул\w* | отпал\w*
            | не покупаем | не буд\w+ | покупать не | раздумал\w* | не состоится | отменяется | заброс\w+""",
        "hindi": r"""
            | कैंसिल | अब (?:\S+ ){0,6}नहीं | नहीं रहा | नहीं रही | नहीं रहे | छोड़\S* | रद्द | बंद | मन बदल\S*
            | नहीं करूँगा | नहीं करेंगे | नहीं जा \S+ | नहीं जाएँगे | नहीं जाएंगे | हटा \S+ | बंद कर \S+ | खत्म
            | छोड़ दी | छोड़ दिया | मना कर \S+ | नहीं खरीद\S* | नहीं ले \S+ | नहीं लेते | नहीं लेता | नहीं लेती
            | नहीं रहे हैं | इरादा छोड़ \S+""",
        "arabic": r"""
            | لم (?:أعد|يعد|تعد|نعد) | ما عاد\w* | توقف\w* | ألغ\w+ | تخل\w+ | إلغاء | غيرت رأي\w* | تركت
            | استغن\w+ | لن (?:\w+) | ترك(?:ت|نا|وا|ها|ه)? | أوقف\w* | حذف\w* | أزلنا | انسحب\w* | استقال\w*
            | لا نريد | لم نعد | ألغينا | ألغي\w* | صرفنا النظر | عدلنا عن | لم (?:نعد|تعد|يعد|أعد)""",
        "unspaced": r"""
            | 可以停 | 不.{1,6}了 | 不再 | 已经不 | 戒[了掉烟酒] | 取消 | 停用 | 没有.{1,8}了
            | もう.{0,14}(?:ない|ません) | やめ | 中止 | キャンセル | 放弃 | 作废 | 不打算 | 不想再 | 改变主意
            | 腻了 | 諦め | あきらめ | 辞め | 廃止 | 気が変わ | 飽き | 不去.{0,8}了 | 不做 | 停止 | 终止 | 下线
            | 弃用 | 退订 | 退出 | 不考虑 | 砍掉 | 停了 | 取り止め | 止め | 見送 | なくな | 打ち切 | 解約 | 退会
            | 断念 | 卒業し | 行かない | 行きません | しないこと | 别喝 | 别吃 | 不买 | 不喝 | 不吃 | 泡汤 | 作罢
            | 飲まなくな | 食べなくな | 行かなくな | 使わなくな | 中断 | 取りやめ | 白紙 | 退了 | 不干了""",
    },
    "resolution": {  # what was broken or under way is settled
        "english": r"""
            | fixed | repaired | works again | working again | resolved | solved | back up | back online | merged
            | approved | accepted | rejected | signed | finished | completed | filled | sold
            | (?:open|green|running|available|healthy) again | is back | are back | back from | closed | picked up
            | delivered | arrived | recovered | restored | paid off | passed | turned (?:on|off)
            | found (?:a|an|the|my|our|his|her) | got (?:my|our|his|her) new | renewed | got into | got accepted
            | back to normal | reopened | works? again | again | is out | was born | went through | came through
            | working now | up and running | refilled | restocked | got the job | submitted | launched | shipped
            | went live | is live | wrapped up | all (?:done|good|set|clear) | handed in | paid | hired
            | had (?:her|the|a) baby | has? shipped | returned | refunded | cleared | replaced the | put (?:a )?new
            | refuelled | topped up""",
        "spanish": r"""
            | ya funciona\w* | arregl\w+ | repar\w+ | resuelt\w+ | solucion\w+ | aprob\w+ | firm(?:ó|aron|ado|ada)
            | termin(?:ó|amos|aron|ado|ada) | vuelve a funcionar | cerrad\w+ | lleg(?:ó|aron) | restaur\w+
            | encontr(?:é|ó|amos|aron) | renov\w+ | lleg(?:ó|aron|aste) | reabri\w+ | volvió
            | pag(?:ué|ó|amos|aron) | recib\w+ | desbloque\w+ | ya va | ya anda
            | ya está (?:listo|lista|arreglad\w+) | recog\w+""",
        "french": r"""
            | répar\w+ | résolu\w* | corrigé\w* | (?:re)?marche à nouveau | remarche\w* | refonctionn\w*
            | approuvé\w* | accepté\w* | signé\w* | terminé\w* | de retour | rétabli\w* | fini\w*
            | fonctionne (?:à|de) nouveau | remarche | refonctionne | trouvée?s? | renouvelée?s? | arrivée?s?
            | rouverte?s? | rouvert | revenue?s? | réussie? | payée?s? | débloquée?s? | reçue?s? | livrée?s?
            | récupér\w+""",
        "portuguese": r"""
            | consert\w+ | resolvid\w+ | resolveram | corrigid\w+ | voltou a funcionar | aprovad\w+ | assinad\w+
            | assinaram | termin(?:ou|amos|ado|ada) | conclu[ií]\w+ | voltou | restaurad\w+ | arrumaram
            | encontr(?:ei|ou|amos|aram) | ach(?:ei|ou|amos|aram) | renov\w+ | cheg(?:ou|aram) | reabri\w+
            | reabert\w+ | pag(?:uei|ou|amos|aram) | receb\w+ | desbloque\w+ | funcionando de novo | voltaram""",
        "german": r"""
            | repariert | behoben | gelöst | (?:geht|läuft|funktioniert) wieder | wieder (?:da|zurück|offen|online)
            | genehmigt | unterschrieben | fertig | erledigt | abgeschlossen | gemergt | freigegeben | gefixt
            | gefunden | wieder frei | wieder auf | wieder | erneuert | angekommen | bestanden | aufgehoben
            | eingetroffen | wiederhergestellt | bezahlt | zurück | abgeholt | geliefert""",
        "russian": r"""
            | починил\w* | исправил\w* | отремонтир\w+ | решен\w+ | работает снова | снова работает | заработал\w*
            | одобрил\w* | подписал\w* | закончил\w* | завершил\w* | вернул\w+ | закрыл\w* | готов\w* | нашёл
            | нашел | нашла | нашли | снова | готово | оплатил\w* | прибыл\w* | приехал\w* | восстанов\w+
            | открыл\w* | получил\w* | принял\w* | привезли | доставили | забрал\w*""",
        "hindi": r"""
            | ठीक हो \S+ | ठीक कर \S+ | सुधर \S+ | मंज़ूर\S* | मंजूर\S* | पूरा हो \S+ | पूरी हो \S+ | चालू हो \S+
            | हल हो \S+ | वापस आ \S+ | मिल गया | मिल गई | चल रही | चल रहा | चलने लग\S* | आ गया | आ गई | पहुँच गया
            | पहुंच गया | बन गया | पास हो \S+ | फिर से""",
        "arabic": r"""
            | إصلاح\w* | أصلح\w* | اصلح\w* | تم الحل | حل\w*ت المشكلة | يعمل من جديد | عاد للعمل | تمت الموافقة
            | وقع\w* العقد | اكتمل\w* | انتهى | انتهت | أنجز\w* | عاد\w* | عادت | وجد\w* | جدد\w* | تم تجديد
            | وصل\w* | افتتح\w* | فتح\w* | دفع\w* | استلم\w* | نجح\w* | يعمل الآن | تعمل الآن""",
        "unspaced": r"""
            | 修好 | 已修复 | 修复了 | 解决了 | 恢复 | 批准了 | 签了 | 完成了 | 通过了 | 合并了 | 好了 | 直り
            | 直った | 修理 | 解決し | 復旧 | 承認され | 完了し | 終わりました | 終わった | 署名し | 再開 | 正常了
            | 恢复正常 | 能用了 | 打开了 | 找到了 | 拿到了 | 补上 | 出院 | 修复 | 解决 | 続行 | 戻りました | 見つか
            | 届きました | 受かり | 合格 | 開通 | 使えるようにな | 動くようにな | 退院 | 治り | 復活""",
    },
    "trouble": {  # something is broken, under way, closed or missing, and will not stay so
        "english": r"""
            | broken | down | offline | pending | in (?:review|progress|transit|repair)
            | out of (?:order|stock|office) | closed | leak(?:s|ing|y)?
            | not (?:\w+ )?(?:working|signed|done|ready|available|paid|approved|finished|merged)
            | (?:doesn't|does not|don't|do not|won't) (?:work|start|load|open|connect) | unavailable | unpaid
            | unsigned | on (?:\w+ )?(?:leave|vacation|holiday|hold|sick leave) | sick | ill | in hospital
            | at the (?:garage|shop|vet) | for sale | is open | are open | still open | fail(?:s|ing|ed)? | blocked
            | stuck | waiting | \d+ ?% done | under (?:construction|repair|review|discussion) | hiring | missing
            | lost | overdue | disabled | flaky | crash(?:es|ing)? | is off | are off | red | empty | draft
            | isn't (?:\w+ )?(?:working|signed|done|ready|available|paid|approved|finished|responding|loading)
            | aren't (?:\w+ )?(?:working|signed|done|ready|available|paid|approved|finished) | expired
            | has expired | looking for | searching for | applying (?:to|for) | unwell | injured | delayed | frozen
            | jammed | not responding | under construction | unemployed | between jobs | pregnant
            | out of (?:milk|stock|order|office|town) | away | grounded
            | still (?:waiting|missing|broken|sick|down|open) | in (?:preparation|the works|the mail)
            | on (?:order|its way) | under way | half(?:way)? (?:done|finished) | being \w+ | awaiting | incomplete
            | unresolved | outstanding | unfinished | undelivered | processing | vacant | unfilled | unoccupied
            | at (?:the )?(?:repair|service) | with it | out of \w+ | leaks | in the queue | backordered | ajar
            | clogged | dead | ordered | en route | in transit""",
        "spanish": r"""
            | rot[oa]s? | averiad[oa]s? | caíd[oa]s? | estropead[oa]s? | no funciona\w* | pendiente\w*
            | cerrad[oa]s? | bloquead[oa]s? | en revisión | en curso | de baja | enferm[oa]s? | de vacaciones
            | sin firmar | falla\w* | fuera de servicio | en venta | atascad[oa]s? | caducad[oa]s? | vencid[oa]s?
            | busc\w+ | perdid[oa]s? | retrasad[oa]s? | falta\w* | agotad[oa]s?
            | sin (?:luz|agua|internet|conexión) | no va | no anda | en el taller | en camino | pedid[oa]s?""",
        "french": r"""
            | en panne | cassée?s? | ne (?:marche|fonctionne)(?:nt)? (?:pas|plus) | en attente | fermée?s?
            | bloquée?s? | en cours | en congé | malade | en vacances | hors service | non signée?s? | à vendre
            | en relecture | en réparation | indisponible | expirée? | cherch\w+ | perdue?s? | en retard
            | indisponibles? | en rade | hors ligne | au garage | manque\w* | en route | commandée?s?""",
        "portuguese": r"""
            | quebrad[oa]s? | com defeito | fora do ar | não funciona\w* | pendente\w* | fechad[oa]s?
            | bloquead[oa]s? | em revisão | em andamento | de licença | doente | de férias | à venda | falhando
            | parad[oa]s? | caiu | vencid[oa]s? | procur\w+ | perdid[oa]s? | atrasad[oa]s? | falta\w*
            | sem (?:luz|água|internet|sinal) | estragad[oa]s? | travad[oa]s? | esgotad[oa]s? | na oficina
            | a caminho | encomendad[oa]s?""",
        "german": r"""
            | kaputt | defekt | geht nicht | gehen nicht | funktioniert nicht | läuft nicht | ausgefallen
            | gesperrt | geschlossen | blockiert | in (?:arbeit|prüfung|elternzeit|reparatur) | krank\w*
            | im urlaub | nicht fertig | nicht unterschrieben | steht aus | hängt | undicht | zu verkaufen
            | abgelaufen | suche\w* | in bearbeitung | verspätet | fehlt | fehlen | vermisst | nicht erreichbar
            | offline | gestört | leer | ist zu | in der werkstatt | unterwegs | bestellt""",
        "russian": r"""
            | сломан\w* | сломал\w* | не работа\w+ | упал\w* | закрыт\w* | заблокирован\w* | на ремонте | в ремонте
            | в отпуске | болеет | на больничном | ожида\w+ | на рассмотрении | в процессе | не подписан\w*
            | завис\w* | продается | продаётся | на ревью | лежит | висит | глючит | сбоит | потерял\w* | ищет
            | ищу | не готов\w* | просрочен\w* | нет в наличии | в (?:авто)?сервисе | задерж\w+ | в пути
            | заказан\w*""",
        "hindi": r"""
            | खराब | ख़राब | टूट\S* | बंद | काम नहीं कर\S* | लंबित | छुट्टी पर | बीमार | अटक\S* | चल रहा | अधूरा
            | खत्म | खो गया | खो गई | ढूँढ\S* | ढूंढ\S* | नहीं चल\S* | देरी | लेट | अधूरी | खाली""",
        "arabic": r"""
            | معطل\w* | عاطل\w* | مكسور\w* | لا يعمل | لا تعمل | متوقف\w* | مغلق\w* | قيد | معلق\w* | في إجازة
            | مريض\w* | خارج الخدمة | انتهت صلاحي\w* | منتهي\w* | يبحث\w* | تبحث | أبحث | مفقود\w* | متأخر\w*
            | مقطوع\w* | لا تفتح | لا يفتح | به عطل | ينقص\w*""",
        "unspaced": r"""
            | 坏了 | 故障 | 不能用 | 宕机 | 挂了 | 无法 | 待审 | 审核中 | 进行中 | 关闭 | 生病 | 休假 | 请假 | 缺货
            | 没签 | 壊れ | 動かない | 動きません | 止まって | 保留 | 審査中 | 休職 | 休暇 | 閉まって | 停止中
            | 修理中 | 使えない | 打不开 | 用不了 | 出问题 | 有问题 | 卡住 | 过期 | 找工作 | 在找 | 未完成 | 没修
            | 停电 | 断网 | 漏水 | 落ちて | 不具合 | 動かな | 調子が悪 | 繋がらない | つながらない | 探して
            | 未完了 | 期限切れ | 切れて | 故障中 | 入院 | 修理厂 | 在路上 | 已下单 | 配送中 | 注文中""",
    },
    "hint": {  # counts only beside the same subject with another value
        "english": r"""
            | since last (?:\w+) | going forward | for the time being | henceforth | meanwhile | checked
            | double-checked | by now | meantime | this time | these days | latest | released | today
            | this morning
            | from (?:january|february|march|april|june|july|august|september|october|november|december) | must
            | should | allowed | instead | wrong | left | joined | hired | removed | leading
            | (?:from|since|starting|beginning|effective) (?:\w+ )?(?:today|tomorrow|tonight|now|\w+day)
            | (?:from|since|starting|beginning|effective) (?:\w+ )?(?:\w+uary|march|april|may|ju[nl][ey]|august|\w+ber)
            | put | puts | placed | stored | talk to | ask | send | sends | goes to | go to | delayed | late""",
        "spanish": r"""
            | desde (?:el|la|los|hoy|ayer|enero|febrero|marzo|abril|mayo|ju[nl]io|agosto|septiembre|octubre|\w+iembre)
            | ya | desde ahora | hoy | con retraso""",
        "french": r"""
            | depuis (?:lundi|mardi|mercredi|jeudi|vendredi|hier|aujourd'hui|le|la|cette|ce) | dès | cette fois
            | actuellement | nouveaux | nouvelles | aujourd'hui""",
        "portuguese": r"""
            | desde (?:o|a|hoje|ontem|janeiro|fevereiro|março|abril|maio|ju[nl]ho|agosto|outubro|\w+embro) | já
            | hoje | atualmente""",
        "german": r"""
            | seit (?:\w+ )?(?:heute|gestern|\w+tag|woche|\w+uar|märz|april|mai|ju[nl]i|august|\w+ember|oktober)
            | derzeit | zurzeit | gerade | wieder | heute | verspätet | verspätung""",
        "russian": r"""
            | с (?:понедельника|\w+ка|среды|четверга|пятницы|\w+[ая]ля|марта|мая|июня|августа|\w+ября|этой|этого|\d+)
            | уже | снова | опять | сегодня""",
        "hindi": r"""
            | आज | से अब | वापस | फिर से | हो गया | हो गई | हो गए | लेट | देरी""",
        "arabic": r"""
            | اليوم | منذ | ابتداء | من الغد | من \w+ القادم""",
        "unspaced": r"""
            | 从.{1,6}(?:起|开始) | 今天起 | から | 今回 | 延误 | 晚点 | 遅延""",
    },
}
