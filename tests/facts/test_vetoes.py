"""What only looks like a newer version of a fact replaces nothing."""

from __future__ import annotations

import pytest

from commonplace.facts.statements import split_statements
from commonplace.facts.versions import judge

APART = [
    # Another subject.
    ("The customer Acme pays 500 EUR a month.", "The customer Globex now pays 700 EUR a month."),
    ("The test suite has 412 tests.", "The e2e suite now has 38 tests."),
    ("Die Praxis von Dr. Klein ist in der Marktstraße 3.", "Die Praxis von Dr. Groß ist jetzt in der Bahnhofstraße 9."),
    ("El coche de Ana es rojo.", "El coche de Luis ahora es azul."),
    ("Rent for the office is 3,000 EUR.", "Rent for the warehouse rose to 1,200 EUR."),
    ("Tom uses vim for Python.", "Tom uses VS Code for Java now."),
    # Something else of it, with another verb.
    # On another day, or for one month.
    ("Weight 82.4 kg this morning (Oct 5).", "Weight 81.9 kg this morning (Oct 14)."),
    ("Blood pressure 128/82 this morning.", "Blood pressure 121/79 this morning."),
    ("Poids 82,4 kg ce matin.", "Poids 81,9 kg ce matin."),
    ("今朝の体重は82.4kg。", "今朝の体重は81.9kg。"),
    # Of what is used there may be several, and something else may be best for another purpose.
    ("Our client Acme uses Slack.", "Our client Acme uses Jira."),
    ("My favorite cafe is Bean for takeaway.", "My favorite cafe to sit down is Nord."),
    # Nothing is said of it, but that somebody wants to know.
    ("Ann leads billing.", "Ask Tom who leads billing."),
    ("Kim wohnt in Köln.", "Tom fragt, wo Kim jetzt wohnt."),
    # Another detail of it.
    ("Max: shoe size 29", "Max: allergic to penicillin"),
    ("API: runs on port 8080", "API: rate limit 100 per minute"),
    ("**Lena**: born 4 May 2017, class 3b, teacher Frau Vogt", "Lena: piano lesson at 17:00 with Frau Lindt."),
    # What a label names changes something else.
    ("Omar: backend", "Omar takes over reviews."),
    ("Omar: backend", "Lena is on leave; Omar takes over reviews."),
    ("Omar: backend", "Omar upgraded the database."),
    ("Omar: backend", "Omar stopped smoking."),
    ("Omar: backend", "Omar übernimmt die Reviews."),
    ("Omar: backend", "Omar asume las revisiones."),
    ("Omar: backend", "Omar reprend les revues."),
    # A part of it, or a whole of which it is a part.
    ("The API runs on port 8080.", "The admin API now runs on port 9090."),
    ("The backup runs at 02:00.", "The backup of the wiki now runs at 03:00."),
    ("The launch party is on 27 November.", "The launch moved to 30 November."),
    # Nothing changed, or not for good.
    ("We use Python 3.11.", "Upgrade to Python 3.12 was rejected for now."),
    ("Team lunch is every Thursday at Roma.", "This week team lunch is on Wednesday instead."),
    ("Priya is the product owner of Falcon.", "Priya is now also product owner of Hawk."),
    ("Standup is at 9:30.", "Standup is at 11 today because of the fire drill."),
    ("Бассейн работает до 22:00.", "В пятницу бассейн работает до 18:00."),
    ("Yusuf does the dishes.", "I did the dishes last night instead of Yusuf."),
    ("Das Training ist mittwochs um 18 Uhr.", "Ausnahmsweise ist das Training am Donnerstag."),
    ("مقر الشركة في دبي.", "يفكرون في نقل مقر الشركة إلى أبوظبي."),
    # It is so only later.
    ("Events are kept 30 days.", "Events are kept 7 days as soon as the new disk arrives."),
    ("Events are kept 30 days.", "Once the contract has been signed, events are kept 7 days."),
    ("The standup is on Monday.", "When Kim is back, the standup moves to Tuesday."),
    ("The deploy day is Friday.", "Once Kim is back, the deploy day is Monday."),
    ("Backups go to S3.", "After the migration, backups go to Hetzner."),
    ("Das Standup ist am Montag.", "Sobald Kim zurück ist, wird das Standup auf Dienstag verschoben."),
    # Other words with the same beginning.
    # It stays as it was.
    ("We live in Hamburg.", "We stay in Hamburg after all."),
    ("Carmen is the manager of the shop.", "Carmen stays after all: she remains the manager."),
    ("Lena wohnt in Bonn.", "Lena bleibt doch in Bonn."),
    ("Auth uses sessions.", "Reverted: auth uses sessions again."),
    # Something else is denied, or past.
    ("Lena is allergic to nuts.", "Lena is not allergic to cats."),
    ("The shop sells stamps.", "The shop does not sell cigarettes."),
    ("Anna has a key to the shop.", "Ben has no key to the shop any more."),
    ("Version 1.3 supports Python 3.9.", "Version 1.4 no longer supports Python 3.9."),
    ("Deploys need an approval.", "Hotfix deploys no longer need an approval."),
    ("Diego works at Siemens.", "Diego used to work at Bosch."),
    ("Lena mag Mathe.", "Lena mag kein Englisch mehr."),
    ("Marta leads the billing team.", "Marta doesn't lead the design team, that was a misunderstanding."),
    # Only some of it.
    ("The timeout is 30 seconds.", "The timeout is 90 seconds in the integration tests."),
    ("The timeout is 30 seconds.", "Set the timeout to 5 seconds locally to reproduce the bug."),
    ("The cache holds 500 entries.", "The second-level cache now holds 5000 entries."),
    ("The API uses JWT for users.", "The API uses mTLS between services now."),
    # Another person, place or room.
    ("My flight to Oslo is on 3 July.", "My flight to Rome was moved to 9 July."),
    ("My flight to Oslo is on 3 July.", "Anna's flight to Oslo is on 4 July now."),
    ("My doctor is Dr. Stein.", "My wife's doctor is now Dr. Kurz."),
    ("Frau Weber nimmt Zucker.", "Herr Weber nimmt keinen Zucker mehr."),
    ("Anna drives Lena to school on Mondays.", "Ben drives Lena to school on Tuesdays now."),
    ("Room 3 has a beamer.", "The beamer was moved from room 5 to room 4."),
    ("Ana lives in Madrid.", "Ana moved to the second row of desks."),
    ("- [ ] ask Priya about webhook signatures", "Marek takes over the webhook service from Priya."),
    # Another case of it.
    ("The request timeout on staging is 30 seconds.", "Raised the request timeout on production to 60 seconds."),
    ("Auf dem Testserver läuft PHP 8.1.", "Auf dem Produktivserver läuft jetzt PHP 8.3."),
    ("测试环境的端口是8080。", "生产环境的端口改成了9090。"),
    ("1階のエアコンは26度に設定しています。", "2階のエアコンは24度に変更しました。"),
    ("The front tyres have 2.4 bar.", "Rear tyres now at 2.6 bar."),
    # Somebody or something of it.
    ("Kim works at Bosch.", "Kim's husband left Bosch."),
    ("هدى تعمل في البنك الأهلي.", "أخت هدى تركت البنك الأهلي."),
    ("王芳在腾讯工作。", "王芳的丈夫离开了腾讯。"),
    ("El hotel tiene 80 habitaciones.", "La planta baja del hotel ahora tiene 6 habitaciones."),
    # Another appointment, another time that something was done.
    ("A consulta da Inês é no dia 3 de maio.", "A consulta da Inês é no dia 9 de novembro."),
    ("The book club has read Middlemarch.", "The book club has now read Stoner."),
    # Another preference, another thing that was moved, another kind of value.
    ("Kim prefers dark mode.", "Kim prefers tabs over spaces."),
    ("Kim prefers dark mode.", "Kim prefers coffee."),
    ("Tom lives in Leeds.", "Tom moved the meeting to Bristol."),
    ("Tom lives in Leeds.", "Tom moved to the platform team."),
    ("Leo moved to Rome.", "Leo moved to a new laptop."),
    ("Lena moved to the security team.", "Lena moved her car to the garage."),
    ("Sara moved to the design team.", "Sara moved the retro to Thursday."),
    ("The meeting with Acme is on 20 November.", "The meeting with Acme is at 14:00."),
    ("The meeting with Acme is at 14:00.", "The meeting with Acme is in room 4."),
    ("The meeting with Acme is on 20 November.", "The meeting with Acme is in room 4."),
    ("Backups run at 02:00.", "Backups run every Sunday."),
    ("The old laptop is with Eva.", "The new laptop is with Jon."),
    # Something else is taken back.
    ("Paul likes tea.", "Paul no longer likes coffee."),
    ("We use feature flags for releases.", "We no longer use feature flags for experiments."),
]
VERSIONS = [
    ("Backups go to S3.", "After the migration, backups now go to Hetzner."),
    ("Backups go to S3.", "After the migration, backups were moved to Hetzner."),
    ("The standup is on Monday.", "When Kim came back, the standup moved to Tuesday."),
    ("Backups go to S3.", "Backups go to Hetzner since the migration."),
    ("The importer is written in Python.", "The importer is now rewritten in Rust."),
    ("The importer is maintained by Yuki.", "The importer is now owned by Sam."),
    ("The wiki is hosted on AWS.", "The wiki is now running on Hetzner."),
    ("The feature is disabled.", "The feature is now enabled for everyone."),
    ("Tom teaches maths.", "Tom is now teaching physics."),
    ("Jana wohnt in Leipzig.", "Jana ist nach Dresden gezogen."),
    ("Standup is at 9:30 on Mondays.", "Standup is now at 10:00 on Wednesdays."),
    ("Yoga is in the big hall.", "Yoga moved to the annex this month."),
    ("Our client Acme uses Slack for chat.", "Our client Acme uses Teams for chat."),
    ("The API rate limit is 100 requests per minute.", "The rate limit is now 250 requests per minute."),
    ("The port is 8080.", "The new port is 9090."),
    ("Kim prefers dark mode.", "Kim prefers light mode."),
    ("Kim prefers tea.", "Kim prefers coffee now."),
    ("Tom is in the data team.", "Tom moved to the platform team."),
    ("The meeting with Acme is at 14:00.", "The meeting with Acme is at 15:00."),
    ("The standup is at 9:30.", "We moved the standup to 10:00."),
    ("The bug is in the parser.", "Turns out the bug is in the lexer."),
    ("The client's budget is 50k.", "I misheard, the client's budget is 15k."),
    ("La reunión es los lunes a las 10.", "A partir de ahora la reunión es los miércoles a las 11."),
    ("Elternabend am 8.10. um 19 Uhr", "Elternabend verschoben auf 15.10., 19 Uhr"),
    ("The launch is on 12 November.", "The launch was postponed to 26 November."),
    ("Ubuntu 20.04 is our base image.", "The base image is Ubuntu 24.04 since this week."),
    ("Paul likes coffee.", "Paul no longer likes coffee."),
    ("Rent is due on the 1st.", "Landlord says rent is due on the 5th from now on."),
    ("The bug is in the frontend.", "Turns out the bug is in the backend."),
    ("El dentista es el 4 de mayo a las 9.", "Cambiaron la cita del dentista al 11 de mayo."),
    ("The heating isn't working.", "The heating's fixed."),
    ("Omar: backend", "Omar switched to frontend."),
    ("Reviews: Lena", "Omar takes over reviews."),
    ("Editor: vim", "The editor is now Emacs."),
]


def is_replaced(older: str, newer: str) -> bool:
    return any(judge(old, new) for old in split_statements(older) for new in split_statements(newer))


@pytest.mark.parametrize(("older", "newer"), APART)
def test_what_only_looks_alike_replaces_nothing(older: str, newer: str) -> None:
    assert not is_replaced(older, newer)


@pytest.mark.parametrize(("older", "newer"), VERSIONS)
def test_what_tells_statements_apart_leaves_true_versions_alone(older: str, newer: str) -> None:
    assert is_replaced(older, newer)
