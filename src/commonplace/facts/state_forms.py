"""The forms that tell of a state, of its change, and of its end, by relation and in all languages with spaces.

In a form (`forms.py`), `S` is what it is about, `V` the value, and `X` what came before.
"""

from __future__ import annotations

from typing import Literal

Phase = Literal["state", "change", "end"]
_MOVED = "moved/relocated/transferred/migrated/shifted"
_BACK = "back/over/out/down/up/away?"
_HAVE = "has/have/had/is/are/was/were? just/recently/finally/now/already/been/all? been/since?"
_WE = "we/i/they/he/she? have/has/just/finally/recently?"
_I = "i/we/ich/wir/j/je/on/nous/yo/nosotros/eu/nós/я/мы/أنا/نحن/मैं/हम?"
# relation -> phase -> forms, of all languages with spaces between words
FORMS: dict[str, dict[Phase, str]] = {
    "place": {  # where somebody or something is
        "state": f"""
            S live/lives/living/reside/resides/stay/stays/sit/sits/lie/lies in/at/on/with/near/under V
            S is/are/am/remains now/currently? based/located/parked/housed/situated in/at/on/with V
            S wohnt/wohne/wohnen/lebt/lebe/leben jetzt/nun? in/im/bei/auf/am/an V
            S habite/vit/vis/habitent/vivent/se_trouve/se_trouvent maintenant? à/au/en/dans/sur/chez V
            S vive/viven/vivo ahora? en V
            S mora/moram/moro/vive/vivem agora? em/no/na/nos/nas V
            S живёт/живет/живут/живу теперь? в/на/у V
            S V1 में/पर रहता/रहती/रहते/रखा/रखी/रखे/है/हैं
            S يسكن/تسكن/يعيش/تعيش/يقيم/تقيم/موجود/موجودة في V
            يسكن/تسكن/يعيش/تعيش/يقيم/تقيم S في V
            {_I} live/stay in/at/with/near V
            {_I} vivo/vivimos en V
            {_I} moro/moramos em/no/na V
            {_I} живу/живём/живем в/на V
            {_I} أسكن/أعيش/نسكن/نعيش في V
        """,
        "change": f"""
            S {_HAVE} {_MOVED} {_BACK} to/into/onto V
            {_WE} {_MOVED} S {_BACK} to/into/onto V
            S moved/moves in with V
            S ist/sind/bin vor? kürzlich/jetzt/gestern? nach/ins/in/zu/zur/zum/auf V gezogen/umgezogen/gewandert
            S zieht/zog/ziehen/zogen nach/in/zu V
            S a/ont/ai/est/sont/vient_de? déménagé/déménager/emménagé/parti/partie/installé/installée à/au/en/dans V
            S se_mudó/se_mudaron/se_ha_mudado/se_trasladó/se_ha_trasladado/se_fue_a_vivir a V
            S mudou-se/se_mudou/mudou/mudaram/foi_morar/foram_morar se? para/pra/em/no/na o/a? V
            S переехал/переехала/переехали/переезжает/перебрался/перебралась в/на/к V
            S V1 में/को? शिफ्ट/चला/चली/चले/आ_गया हो/गया/गई/गए/कर
            S انتقل/انتقلت/انتقلوا إلى/الى V
            انتقل/انتقلت/انتقلوا S إلى/الى V
            {_I} moved/relocated to V
            {_I} bin/sind nach/in V gezogen/umgezogen
            {_I} ai/avons déménagé à/au/en V
            {_I} me_mudé/nos_mudamos/me_he_mudado a V
            {_I} me_mudei/mudei/mudei_me/nos_mudamos para/pra V
            {_I} переехал/переехала/переехали в/на V
            {_I} انتقلت/انتقلنا إلى/الى V
        """,
        "end": """
            S is/are/am/came/got/has_come/have_come back/home from V
            S returned/left/has_returned/have_returned from? V
            S ist/sind/bin wieder? aus/von V zurück/zurückgekehrt
            S est/sont revenu/revenue/revenus/rentré/rentrée de/d/du V
            S volvió/volvieron/regresó/ha_vuelto de V
            S voltou/voltaram/regressou de/do/da V
            S вернулся/вернулась/вернулись из/с V
            S V1 से लौट/वापस
            عاد/عادت S من V
        """,
    },
    "spot": {  # where something is kept or runs: what it moves to, and what it switches to, change that
        "state": """
            S is/are/remains now/currently? stored/kept/hosted in/at/on/with V
            S liegt/liegen/steht/stehen jetzt/nun? in/im/bei/auf/am/an V
            S está/están/se_encuentra ahora? alojado/alojada/guardado/guardada? en V
            S fica/ficam/está/estão agora? hospedado/hospedada/guardado/guardada? em/no/na/nos/nas V
            S лежит/лежат/хранится/хранятся/находится/находятся теперь? в/на/у V
        """,
    },
    "work": {  # for whom somebody works
        "state": f"""
            S work/works/working/employed currently? at/for V
            S arbeitet/arbeite/arbeiten bei/für V
            S travaille/travaillent chez/pour/à V
            S trabaja/trabajan/trabajo en/para V
            S trabalha/trabalham/trabalho em/no/na/para V
            S работает/работают/работаю в/на V
            S V में काम_करता/काम_करती/काम_करते
            S يعمل/تعمل في/لدى V
            {_I} work at/for V
            {_I} trabajo en/para V
            {_I} trabalho na/no/em/para V
            {_I} работаю в/на V
            {_I} أعمل في/لدى V
        """,
        "change": f"""
            S has/have? just/recently? joined/joins V
            S starts/started at/with V
            S has/have/got/took/found/started a/his/her/their? new/different? job/position/role at/with/in V
            S left/quit/leaves X for V
            S ist/sind zu V gewechselt
            S hat/haben bei V angefangen
            S a rejoint V
            S a commencé/démarré chez V
            S empezó/ha_empezado/entró a_trabajar? en V
            S se_fue/se_ha_ido a V
            S começou/entrou a_trabalhar? na/no/em V
            S foi para/pra a/o? V
            S устроился/устроилась/перешёл/перешел/перешла на_работу? в V
            {_I} joined V
            {_I} started at/with V
            {_I} got/took/have/started a? new job at/with/in V
        """,
        "end": """
            S has/have? just/finally? left/quit V
            S resigned/departed/retired from V
            S hat/haben V verlassen
            S hat/haben bei V gekündigt/aufgehört
            S a quitté V
            S ha? dejado/dejó V
            S deixou/saiu_da/saiu_do V
            S уволился/уволилась/ушёл/ушел/ушла из V
            S ने V छोड़
            S ترك/تركت V
            ترك/تركت S V
        """,
    },
    "name": {  # what something is called
        "state": """
            S is/are now/currently? called/named/titled/nicknamed/known_as V
            name/title/codename/nickname of S is V
            S 's? name/title/codename/nickname is V
            S goes/go now? by/under V
            S is/are now? published/released/sold/listed as/under_the_name V
            S heißt/heißen jetzt/nun? V
            S s appelle/appellent maintenant/désormais? V
            S se llama/llaman ahora? V
            S agora? se chama/chamam V
            S теперь? называется/зовут V
            S का नाम V1 है
            اسم S1 V
        """,
        "change": f"""
            {_WE} renamed/rebranded/retitled S to/into/as? V1
            {_WE} are/were? now? decided_to? call/calling/named/called S V1
            S {_HAVE} renamed/rebranded/retitled to/into/as? V
            S became/becomes V1
            S got/has/gets its/a/his/her/their final/new/real/official? name = V
            S wurde/heißt in/jetzt/nun V umbenannt?
            wir/ich nennen/nenne S jetzt/nun/ab_jetzt/künftig V
            on/nous appelle/appelons maintenant/désormais? S maintenant/désormais? V
            llamamos ahora? S ahora? V
            S pasa/pasó a llamarse V
            S foi/é/passou rebatizado/renomeado/rebatizada/renomeada/a_se_chamar de/para? V
            S fue rebautizado/rebautizada/renombrado/renombrada como/a? V
            wir/ich? haben/habe S in V umbenannt
            S a_été/est rebaptisé/rebaptisée/renommé/renommée en? V
            S переименовали/переименован/переименована в V
            переименовали S в V
        """,
    },
    "tool": {  # with what something is done, or what it runs on
        "state": """
            we/i/they? use/uses/using/run/runs now/currently? V for/as/in the/our/my/all? S
            we/i are/am now? with/on V for S
            S use/uses/using now/currently? V
            my/our S is/are V
            S run/runs/goes/go/live/lives now? on/in/with/through/via V
            S is/are now? done/built/written/made/hosted/managed/tracked/handled? on/in/with/through/via V
            wir/ich? nutzen/verwenden/benutzen/nutze/verwende jetzt/nun? V für S
            für S nutzen/verwenden/benutzen/nutze wir/ich? V
            wir/ich schreiben/schreibe/machen/mache/führen/verwalten S in/mit V
            S läuft/laufen/liegt/liegen jetzt/nun? auf/über/mit/in/bei V
            on/nous utilise/utilisons V pour S
            usamos/utilizamos/uso V para S
            usamos/utilizamos/uso/usam V para/pra S
            S usa/usam/utiliza V
            используем/использую V для S
            S ist/sind in/mit/auf V geschrieben/gebaut/programmiert
            S est/sont écrit/écrite/écrits/codé/codée/fait/faite en/avec V
            S está/es/están/son escrito/escrita/hecho/hecha/programado/programada en/con V
            S é/está/são escrito/escrita/feito/feita/programado/programada em/com V
            S написан/написана/написано/написаны/сделан/сделана на/в V
            S V1 में लिखा/लिखी/बना/बनी
            S مكتوب/مكتوبة/مبني/مبنية ب/على? V
            نستخدم/أستخدم V ل? S
        """,
        "change": f"""
            {_WE} switched/{_MOVED}/upgraded/converted/ported/rewrote/rebuilt S {_BACK} to/into/in/onto/with V
            S {_HAVE} switched/{_MOVED}/upgraded/converted/ported/rewritten/rebuilt {_BACK} to/into/in/onto/with V
            S wurde/wurden/ist/sind/haben auf/zu/nach V umgestellt/migriert/umgezogen/umgestiegen/aktualisiert
            wir/ich? haben/habe S auf/zu/nach V umgestellt/migriert/umgezogen
            nous/on avons/a migré/basculé/passé S sur/vers/à V
            S est/sont passé/passés/passée/passées à/sur/sous V
            migramos/pasamos/cambiamos S a V
            atualizamos/migramos/passamos/mudamos S para V
            перевели/перенесли/обновили/переписали/переделали S на/в V
            S перевели/перенесли/обновили/переписали/переделали на/в V
            wir/ich? haben/habe S in/mit/auf V neu_geschrieben/umgeschrieben/neu_gebaut
            nous/on avons/a réécrit/refait S en/avec V
            hemos/reescribimos reescrito/rehecho? S en/con V
            reescrevemos/refizemos S em/com V
            S को V1 में दोबारा? लिखा/लिख
        """,
        "end": f"""
            {_WE} cancelled/canceled/dropped/retired/uninstalled/discontinued/stopped_using/no_longer_use/got_rid_of V
        """,
    },
    "lead": {  # who is in charge of something, or has it
        "state": """
            S now? belong/belongs now? to V
            S is/are now? registered/assigned/signed/lent/leased to/with/under V
            S is/are now? with V
            S gehört/gehören jetzt/nun? V
            S appartient/appartiennent maintenant/désormais? à/au V
            S pertenece/pertenecen/es ahora? a/al/de/del V
            S pertence/é agora? a/ao/à/de/do/da V
            S теперь? принадлежит V
            V lead/leads/own/owns/manages/manage/handles/handle/maintains/runs/chairs/oversees S
            V is/are the/our? lead/leader/head/owner/manager/maintainer/captain/director/chair/coach of/for/on S
            V is/are now/currently? leading/running/managing/handling/owning/maintaining/responsible_for/in_charge_of S
            lead/leader/head/owner/manager/maintainer/captain/director/chair/contact of/for/on S is/are now? V
            S is/are owned/handled/led/managed/maintained/run/overseen by V
            V leitet/betreut/verantwortet/führt/verwaltet S
            V ist/sind zuständig/verantwortlich für S
            V gère/dirige/gèrent/dirigent maintenant/désormais? S
            S est/sont maintenant/désormais? géré/gérée/gérés/gérées/dirigé/dirigée par V
            V lleva/gestiona/dirige/coordina S
            V cuida/gere/gerencia/coordena/dirige d'/do/da/de/dos/das? S
            quem cuida/gere/coordena de/do/da/dos/das? S é o/a? V
            quien lleva/gestiona/coordina S es V
            c est V qui gère/dirige/coordonne S
            um S kümmert sich jetzt/nun? V
            V kümmert sich jetzt/nun? um S
            V se encarga/ocupa de S
            de S se encarga/ocupa V
            V s occupe de S
            за S отвечает/отвечают теперь? V
            V отвечает/отвечают за S
            V ведёт/ведет/курирует/руководит S
            S теперь? ведёт/ведет/курирует V
            S V1 संभालता/संभालती/संभालते/देखता/देखती/देखते/चलाता/चलाती/चलाते
            V مسؤول/مسؤولة/مسؤولا عن S
        """,
        "change": f"""
            V has/have? taken/took/takes/taking over S from X
            V has/have? taken/took/takes/taking over S
            V takes/took S over from X
            V replaces/replaced/succeeds/succeeded/follows X as/on/at/in/for S
            V inherits/inherited S
            ownership of S has/was/is? now? goes/went/passed/passes/moved/transferred to V
            S has/was/is/were? now? been? passed/handed/transferred/reassigned over? to V
            X handed/passed/gave/transferred/delegated/sold/lent/reassigned over? S over? to V
            {_WE} handed/passed/gave/transferred/delegated/sold/lent/reassigned over? S over? to V
            {_WE} handed/passed/gave/transferred/delegated/sold/lent/reassigned over? S over? from X to V
            V got/bought/inherited/took/received S from X
            X hat S an V übergeben/abgegeben/weitergegeben/verkauft/übertragen
            X a vendu/donné/cédé/remis/transféré S à/au V
            X le? vendió/dio/cedió/transfirió S a V
            X vendeu/deu/cedeu/transferiu S para/pra/ao/à/a o/a? V
            X0 передал/передала/отдал/отдала/продал/продала S V1
            V hat S von X übernommen
            V hat bei/in/im S von X übernommen
            V hat S übernommen
            V übernimmt ab_sofort? S
            V a repris S
            V a pris la_suite/la_relève de/d' X à/au/pour/sur/dans S
            X a passé/transmis/confié S à V
            V asumió/asume/assumiu S
            V se_hizo_cargo/se_ha_hecho_cargo/se_encarga_ahora/se_encargará de S
            X le? pasó/entregó/traspasó S a V
            X passou/entregou S para/pra/ao/à o/a? V
            S passou para/pra a/o? V
            V принял/приняла/взял/взяла S у X
            S теперь у V
            V1 ने S संभाल
            X ने S V1 को सौंप/दे
            تولى/تولت V1 S
            سلم/سلمت/نقل/نقلت V0 S إلى/الى V
        """,
        "end": """
            V has/have? sold/gave_away/donated S
            V hat/haben S verkauft/verschenkt
            V a/ont vendu/donné S
            V vendió/vendieron/vendeu/venderam S
            V продал/продала/продали S
        """,
    },
    "diet": {  # `D` is a diet, and `M` what some diets are without
        "state": """
            S is/are/am/ist/bin/est/suis/es/soy/é/sou a/ein/eine/un/une? D
            S D है/हैं
        """,
        "change": """
            S eat/eats/eating now? M again/now
            S isst/esse/essen jetzt? wieder M
            S mange/mangent de/du/de_la/à_nouveau/de_nouveau? M à_nouveau/de_nouveau/maintenant/désormais
            S vuelve/volvió/vuelvo a comer M
            S come/como/comen/comem otra_vez/de_nuevo/ahora/de_novo/agora M
            S voltou/voltei a comer M
            S снова/опять/теперь ест/ем/едят M
        """,
    },
}
