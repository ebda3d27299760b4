"""Versions of a fact: which of two statements replaces the other, and which are two facts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.facts.statements import Statement, lookup_keys, split_statements, stored_keys
from commonplace.facts.versions import judge
from commonplace.facts.words import fold, is_amount, may_have_number, split_words


def read(text: str, *, is_turn: bool = False) -> Statement:
    return split_statements(text, is_turn=is_turn)[0]


VERSIONS = [
    ("We use Trello for tasks.", "We no longer use Trello, we moved to Linear.", "retraction"),
    ("Usamos Trello para las tareas.", "Ya no usamos Trello, nos pasamos a Linear.", "retraction"),
    ("Wir nutzen Trello für Aufgaben.", "Wir nutzen Trello nicht mehr, wir sind zu Linear gewechselt.", "retraction"),
    ("Carmen trabaja en Telefónica.", "Carmen dejó Telefónica y ahora trabaja en Indra.", "retraction"),
    ("Kate's last name is Miller.", "Kate got married, her last name is Torres now.", "correction"),
    ("Tom works at Initech.", "Tom changed jobs, he works at Acme now.", "correction"),
    ("The capital of Romania is Bucharest.", "The capital of Romania is Rajanpur.", "frame"),
    ("The launch deadline is 12 November.", "The launch deadline is now 26 November.", "frame"),
    ("The standup is at 9:30 in room 4", "The standup is at 10:00 in room 4", "frame"),
    ("Tom Simpson is a citizen of United Kingdom.", "Tom Simpson is a citizen of United States of America.", "frame"),
    ("Anna lives in Berlin.", "Anna lives in Munich.", "frame"),
    ("Anna owns the billing service", "Tom owns the billing service", "frame"),
    ("Max upload size = 25 MB", "Max upload size = 100 MB", "frame"),
    ("We use Postgres for billing.", "Billing no longer uses Postgres, it is on MySQL now.", "retraction"),
    ("The database for analytics: not decided yet.", "We chose ClickHouse as the analytics database.", "answer"),
    ("The API listens on port 8000.", "The API listens on port 8080.", "frame"),
    ("The API base URL is https://a.example.com.", "The API base URL is https://b.example.org.", "frame"),
    ("The config file is config.yaml.", "The config file is settings.toml.", "frame"),
    ("Feature flag checkout is off in production.", "Feature flag checkout is on in production.", "frame"),
    ("Deploys happen on Fridays.", "Deploys happen on Tuesdays.", "frame"),
    ("The release is blocked by the audit.", "The release is unblocked.", "frame"),
    ("The frontend is written in Vue 3.", "We rewrote the frontend in Svelte.", "correction"),
    ("We use Jest for tests.", "We migrated the tests to Vitest.", "correction"),
    ("The default branch is master.", "Renamed master to main.", "correction"),
    ("We use Datadog for metrics.", "We cancelled Datadog.", "retraction"),
    ("Nora works at Acme.", "Nora has a new job at Initech.", "correction"),
    ("Where is the offsite in May? Not decided yet.", "The offsite in May is in Porto.", "answer"),
    ("The retro is in the last week of May.", "Retro postponed until June.", "correction"),
    ("Invoices are kept in Dropbox.", "Invoices now live in Drive.", "correction"),
    ("Max queue length is 200.", "Bumped the max queue length to 500.", "correction"),
    ("The p95 budget is 300 ms.", "Tightened the p95 budget to 200 ms.", "correction"),
    ("Formatting is done with black.", "Replaced black with ruff.", "correction"),
    ("The parser returns a list.", "The parser returns an iterator, not a list.", "correction"),
    ("Vera is our landlord.", "Our landlord is Mr. Kim now.", "correction"),
    ("The scanner on floor 2 is broken.", "The scanner on floor 2 works again.", "correction"),
    ("The visa application is pending.", "The visa application was approved.", "correction"),
    ("I live in Graz.", "Moved to Linz last weekend.", "correction"),
    ("We're building a desktop app.", "Scrapped the desktop app.", "retraction"),
    ("Undecided on the colour of the hall.", "Going with white for the hall.", "answer"),
    ("Which hotel we take in Lisbon for the offsite is not decided yet.", "Hotel: Vila Galé", "answer"),
    ("Her exam is on 4 June.", "I got it wrong, her exam is on 6 June.", "correction"),
    ("Gas bill runs about 40 a month.", "gas bill jumped to 55", "correction"),
    ("Passes are in the drawer.", "I put the passes in the safe.", "correction"),
    ("Olaf takes care of the garden.", "Ines takes care of the garden now.", "correction"),
    ("Backups run on Sunday.", "Per the cron file, backups run on Saturday.", "correction"),
    ("The heating isn't working.", "The heating is fixed.", "correction"),
    ("Otto eats no meat.", "Otto eats meat again.", "correction"),
    ("There's a bonus for referrals.", "The referral bonus has been scrapped.", "retraction"),
]
IN_OTHER_LANGUAGES = [
    ("小王的生日是5月3日。", "我记错了,小王的生日是5月13日。"),
    ("El límite de usuarios es de 50.", "Han subido el límite de usuarios a 80."),
    ("Костя живёт в Казани.", "Костя переехал в Самару."),
    ("Chloé habite à Nantes.", "Chloé a déménagé à Lyon."),
    ("Elternabend am 8.10. um 19 Uhr", "Elternabend verschoben auf 15.10., 19 Uhr"),
    ("योग क्लास सुबह 6 बजे है", "योग क्लास अब शाम 7 बजे है"),
    ("ملفات المشروع على Google Drive", "نقلنا ملفات المشروع من Google Drive إلى OneDrive"),
    ("O voo pra Recife sai às 22h10", "o voo pra Recife agora sai às 23h45"),
    ("歯医者の予約は15時です", "すみません、歯医者の予約は15時ではなく16時でした"),
    ("Bitte auf Französisch antworten.", "Bitte ab jetzt auf Deutsch antworten."),
    ("J'habite à Lille.", "J'ai déménagé à Brest."),
    ("Moro em Natal.", "Me mudei para Belém."),
    ("On utilise Trello pour les tâches.", "On a remplacé Trello par Asana."),
    ("Лифт не работает.", "Лифт починили."),
    ("Документы лежат на диске.", "Документы теперь лежат в Notion."),
    ("我住在广州。", "我搬到深圳了。"),
    ("例会在每周一上午九点。", "例会改到每周四下午三点。"),
    ("資料はDropboxに置いています。", "資料はGoogleドライブに移しました。"),
    ("موعد الحفل 5 مايو.", "تأجل الحفل إلى 19 مايو."),
    ("परीक्षा 5 मई को है।", "परीक्षा 19 मई तक टल गई है।"),
    ("Die Räder stehen im Keller.", "Die Räder stehen jetzt in der Garage."),
    ("Herr Braun betreut das Projekt.", "Das Projekt betreut nun Frau Keller."),
    ("Поезд в 7:45.", "Поезд не в 7:45, а в 8:45."),
    ("他是广东人。", "他不是广东人,是广西人。"),
    ("エレベーターが故障中です。", "エレベーターが直りました。"),
]
TWO_FACTS = [
    ("I like mango lassi.", "I like ginger tea."),
    ("Visited the Rijksmuseum with the kids.", "Visited the Van Gogh Museum with the kids."),
    ("Spent $35 on lunch with Anna.", "Spent $12 on lunch with Anna."),
    ("Maria works at Philips.", "Marta works at Ericsson."),
    ("Priya speaks Tamil.", "Priya also speaks a bit of French."),
    ("The garden is lovely in spring.", "The garden is a lot of work."),
    ("Anna lives in Berlin.", "Anna lives in Berlin."),
    ("Anna lives in Berlin.", "Anna works at Siemens."),
    ("We live in Ghent.", "We are thinking about moving to Antwerp in a couple of years."),
    ("packing list: sunscreen, hat", "packing list: add mosquito net"),
    ("Hoy he corrido 5 km por el río", "Hoy he corrido 9 km por el río"),
    ("Staging DB: db-stg-2", "Production DB: db-prd-1"),
    ("Max file size is 10 MB for images.", "Max file size is 50 MB for videos."),
    ("The timeout is 30 seconds for reads.", "The timeout is 60 seconds for writes."),
    ("Cache TTL is 60 seconds in dev.", "Cache TTL is 600 seconds in prod."),
    ("Memory limit is 512 MB on the web pods.", "Memory limit is 2 GB on the worker pods."),
    ("Timeout: 30 s for reads", "Timeout: 60 s for writes"),
    ("The API listens on port 8000 in dev.", "The API listens on port 8080 in prod."),
    ("The desk is made of oak.", "Moved the desk to the office."),
    ("It was really frustrating when I needed it.", "Frustrating, but now I know to save more often!"),
    ("Take care and see you soon!", "Take care of yourself and embrace new beginnings."),
    ("What was the best part?", "Best for: those who want error checking."),
    ("They make me so happy.", "I'm so happy for you and your new wife!"),
    ("The branch main is protected.", "Renamed master to main."),
    ("We use Redis for caching.", "We migrated the tests to Vitest."),
    ("Backups run at 2 am.", "Backups are kept for 90 days as of today."),
    ("We use Postgres for orders.", "We replaced Celery by Temporal for orders."),
    ("We use Jenkins.", "Someone suggested trying Buildkite instead of Jenkins."),
    ("Das Büro ist in Wien.", "Das Büro in Wien hat jetzt eine Küche."),
    ("The offsite is in the first week of May.", "The offsite will be in Porto."),
    ("The branch is merged.", "We stopped using feature branches."),
    ("Error tracking is in Sentry.", "Me equivoqué, el error está en el índice."),
    ("Staging is on Hetzner.", "Staging is down."),
    ("Ticket OPS-12 was closed.", "Ticket OPS-15 was reopened."),
    ("Leo plays football.", "Leo plays football and started swimming."),
    ("Room A seats 20.", "Room B was extended to 40 seats."),
    ("El coche de Ana es rojo.", "El coche de Luis ahora es azul."),
    ("Booked a table for 4 at Luigi's.", "Booked a table for 6 at Mario's."),
    ("Cancelled the gym trial.", "Cancelled the magazine trial."),
    ("兄は会社員です。", "弟は今は会社員です。"),
]


@pytest.mark.parametrize(("older", "newer", "kind"), VERSIONS)
def test_a_newer_value_of_the_same_fact_is_a_version_of_it(older: str, newer: str, kind: str) -> None:
    link = judge(read(older), read(newer))
    assert link
    assert link.kind == kind
    assert link.reason
    assert link.evidence


@pytest.mark.parametrize(("older", "newer", "kind"), VERSIONS)
def test_versions_of_a_fact_share_a_key(older: str, newer: str, kind: str) -> None:
    assert {*lookup_keys(read(older))} & {*stored_keys(read(newer))}


@pytest.mark.parametrize(("older", "newer"), IN_OTHER_LANGUAGES)
def test_versions_are_found_in_other_languages(older: str, newer: str) -> None:
    assert judge(read(older), read(newer))
    assert {*lookup_keys(read(older))} & {*stored_keys(read(newer))}


def test_a_speaker_takes_back_what_they_like() -> None:
    older = read("user: Speaking of classics, I absolutely love Grace Kelly and her films.", is_turn=True)
    newer = read("user: I used to like Grace Kelly, but lately I prefer Rita Hayworth.", is_turn=True)
    link = judge(older, newer)
    assert link
    assert link.kind == "retraction"
    assert judge(read("user: I really love Rita Hayworth.", is_turn=True), newer) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The default branch is master.", "The default branch is main, don't push to master."),
        ("The entrance is on Hill Street.", "They rebuilt everything, the entrance is on Mill Lane."),
    ],
)
def test_one_clause_of_a_note_may_replace_an_older_note(older: str, newer: str) -> None:
    link = judge(read(older), read(newer))
    assert link
    assert link.kind == "frame"


@pytest.mark.parametrize(
    "newer",
    ["In winter, the office opens at 9.", "If it snows, the office opens at 9.", "Bonn: the office opens at 9."],
)
def test_a_clause_that_holds_in_some_cases_replaces_nothing(newer: str) -> None:
    assert judge(read("The office opens at 8."), read(newer)) is None


@pytest.mark.parametrize(("older", "newer"), TWO_FACTS)
def test_two_facts_are_no_versions_of_each_other(older: str, newer: str) -> None:
    assert judge(read(older), read(newer)) is None
    assert judge(read(newer), read(older)) is None


def test_what_one_speaker_says_of_themselves_does_not_replace_what_another_does() -> None:
    ann = read("user (Ann): I live in Berlin.", is_turn=True)
    assert judge(ann, read("user (Bob): I live in Munich.", is_turn=True)) is None
    assert judge(ann, read("user (Ann): I live in Munich now.", is_turn=True))


def test_a_short_label_means_the_same_only_in_the_same_place() -> None:
    older = read("Deadline: 12 Nov")
    newer = read("Deadline: 26 Nov")
    assert judge(older, newer) is None
    assert judge(older, newer, is_same_place=True)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "Pavel asked for an alert when a queue has more than 10,000 pending messages.",
            "Pavel: on call until 15 November",
        ),
        ("Bob is allergic to peanuts.", "Bob is allergic to shellfish."),
        ("Anna ist allergisch gegen Nüsse.", "Anna ist allergisch gegen Milch."),
        ("Mia's allergy is to penicillin.", "Mia's allergy is to latex."),
        ("Bug 12 is fixed.", "Bug 13 is fixed."),
        ("Ticket 881 is assigned to Kim.", "Ticket 882 is assigned to Kim."),
        ("Chapter 3 has 20 pages.", "Chapter 4 has 31 pages."),
        ("Room 4 is booked for Sue.", "Room 5 is booked for Sue."),
        ("Ran the migration on shard 1.", "Ran the migration on shard 2."),
        ("Call with Acme at 10:00.", "Call with Acme at 15:00."),
        ("Tom's daughter is Mia.", "Tom's daughter is Lea."),
        ("Carol is responsible for payments.", "Carol is responsible for invoices."),
        ("Service A depends on service B.", "Service A depends on service C."),
        ("The API supports JSON.", "The API supports XML."),
        ("The release is blocked by the login bug.", "The release is blocked by the missing certificate."),
        ("The API port is 9090.", "The staging API port is 7070."),
        ("The monthly report is due on the 5th.", "The weekly report is due on Monday."),
        ("Since 1 September the VPN needs a hardware key.", "From 1 October the VPN needs a hardware key."),
        ("entry 0: नौका चली और किसी ने नहीं बताया।", "entry 1: नौका चली और किसी ने नहीं बताया।"),
        ("Batch 3: the pump did not start", "Batch 4: the pump did not start"),
        ("Evening: free time to relax near the hotel garden", "Evening: debrief and review of the new footage"),
        ("Ana lives in Porto.", "Ana was promoted to team lead."),
        ("The importer is written in Rust.", "The importer is now maintained by Yuki."),
        ("Ship 3 left the port at noon, with a crew of 20.", "Ship 4 left the port at noon, with a crew of 24."),
        ("Write chapter 3 of the manual.", "Done: write chapter 4 of the manual."),
        ("The staging database is on port 5403.", "Ship 7 left the port at noon, with a crew of 27 and bananas."),
    ],
)
def test_what_is_true_side_by_side_is_no_version(first: str, second: str) -> None:
    (older,) = split_statements(first)
    (newer,) = split_statements(second)
    assert judge(older, newer) is None


def test_liking_is_taken_back_by_who_liked_it_and_disliking_by_who_did_not() -> None:
    disliked = read("user: I'm really not a fan of Eastern Europe.", is_turn=True)
    liked = read("user: I absolutely love Eastern Europe.", is_turn=True)
    used_to_like = read("user: I used to like Eastern Europe, but not any more.", is_turn=True)
    used_to_dislike = read("user: I used to dislike Eastern Europe, but now I love it.", is_turn=True)
    assert judge(liked, used_to_like)
    assert judge(disliked, used_to_dislike)
    assert judge(liked, used_to_dislike) is None
    assert judge(disliked, used_to_like) is None


def test_one_kind_of_a_thing_is_not_taken_back_by_another() -> None:
    newer = read("user: I used to love jazz music, but I'm not into it any more.", is_turn=True)
    assert judge(read("user: I really like jazz music.", is_turn=True), newer)
    assert judge(read("user: I really like folk music.", is_turn=True), newer) is None


def test_a_decade_is_the_same_in_long_and_short() -> None:
    newer = read("user: I used to really like 80s music, but I've gone off it.", is_turn=True)
    assert judge(read("user: I've always been a big fan of 1980s music.", is_turn=True), newer)


def test_what_was_to_be_done_is_taken_back_when_it_is_finished() -> None:
    newer = read('user: I actually completed "Update wardrobe" from my personal tasks.', is_turn=True)
    assert judge(read("user: I need to update my wardrobe soon.", is_turn=True), newer)
    finished = read("user: I just finished the novel and I liked reading it.", is_turn=True)
    assert judge(read("user: I like reading about modernism.", is_turn=True), finished) is None


@given(
    st.text(alphabet="abdeimnorstuwy'_-., 37ü月", max_size=30),
    st.sampled_from(("", "may", "two", "mon", "June's", "p95")),
)
def test_what_cannot_have_a_number_has_none(text: str, word: str) -> None:
    text = f"{text} {word}"
    assert may_have_number(text) or not any(map(is_amount, split_words(fold(text))))


ARTICLES = [
    (
        "The Regional District of Nanaimo is a regional district located on the eastern coast of Vancouver Island, "
        "British Columbia, Canada.",
        "The Northern Rockies Regional Municipality, formerly the Northern Rockies Regional District, and before that "
        "the Fort Nelson Regional District, is a municipality in British Columbia, Canada.",
    ),
    ("He is known for his work in a rock band.", "He died on 11 December 2014."),
    ("It is next to the museum of science.", "It was discontinued in 2007."),
    ("1 Lime Square is near the harbour.", "Engels district became the 17th in 1993."),
    ("在印度中部，沼鹿只在国家公园存活。", "在中国古代，芸香会夹在书内，会有清新的香气，故有书香之称。"),
    ("直到晚年他才去亚洲旅行。", "她在战后开了一间餐厅，直到去世。"),
    ("また、戦国末期からは阿波などで商業捕鯨が始まっている。", "彼は市長に就任し、また亡くなるまでに船を有していた。"),
]


@pytest.mark.parametrize(("older", "newer"), ARTICLES)
def test_sentences_of_articles_that_share_words_are_two_facts(older: str, newer: str) -> None:
    assert judge(read(older), read(newer)) is None


def test_a_person_who_lives_somewhere_in_chinese_has_moved() -> None:
    assert judge(read("我现在在上海"), read("我搬到北京了")) is not None
    assert judge(read("王芳住在上海"), read("王芳搬到北京了")) is not None
