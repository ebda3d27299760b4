"""Notes that give the same attribute another value, in other words than the older one."""

from __future__ import annotations

from pathlib import Path

import pytest

from .diaries import Diary

ONE_SLOT = [
    ("The meeting room for the retro is Elbe.", "Retro is in Danube, Elbe is being painted."),
    (
        "The birthday party is at the bowling alley.",
        "Birthday party will be in our garden, bowling alley is fully booked.",
    ),
    ("Point of contact for the audit is Hugo.", "Hugo's on leave, for the audit talk to Petra."),
    (
        "The plumber comes Tuesday between 8 and 10.",
        "Plumber can't make Tuesday, he's coming Thursday between 1 and 3.",
    ),
    ("Electricity provider: GreenVolt", "We switched electricity to Nordkraft."),
    ("The VPN client we use is OpenVPN.", "We use WireGuard for the VPN now instead."),
    ("The cat is called Miso.", "The kids renamed the cat, she's Mochi now."),
    ("Our accountant charges 90 an hour.", "Accountant's hourly rate is 105 now."),
    ("Our landlord is Mr. Petrov.", "New landlord since the sale: Mrs. Quinn."),
    ("La fecha límite de la beca es el 10 de abril.", "Han ampliado el plazo de la beca hasta el 24 de abril."),
    ("C'est Hugo qui gère les stocks.", "Les stocks, c'est Inès maintenant."),
    ("Quem cuida do estoque é o Rafa.", "O estoque agora é com a Bia."),
    ("Бэкенд написан на Django.", "Бэкенд переписали на FastAPI."),
    ("टीम मीटिंग सोमवार को 10 बजे होती है", "टीम मीटिंग मंगलवार को कर दी गई है"),
    ("مريم مسؤولة عن المخزن.", "المخزن الآن مع خالد."),
    ("房东是王先生。", "房子卖了,新房东是刘女士。"),
    ("航班下午三点起飞。", "航班延误,下午五点半起飞。"),
    ("Key for the bike shed hangs in the hall.", "Bike shed key is in the kitchen drawer now."),
    ("The flight to Rome leaves at 7:20.", "The flight to Rome was moved to 9:05."),
    ("The staging URL is staging.acme.io.", "Staging URL changed, it's stg.acme.dev."),
    ("The grant application is in preparation.", "Submitted the grant application."),
    ("We're hiking in the Dolomites in July.", "The Dolomites trip is off, the hut is full."),
    ("Team dinner on the 12th at Nonna.", "Team dinner on the 12th won't happen."),
    ("The cabin has no internet.", "The cabin finally has internet."),
    ("Emma plays the violin.", "Emma stopped playing the violin."),
    ("Ruth's phone number is 0171 222 333.", "Ruth has a new number: 0172 444 555."),
    ("Luis is our contact at Acme.", "Luis left Acme; our new contact is Marta."),
    ("Accountant: Lisa Brown.", "We switched accountants, it's Mark Ellis now."),
    ("Payroll runs through Gusto.", "Payroll's with Deel starting this month."),
]
TWO_SLOTS = [
    ("The meeting room for the retro is Elbe.", "The planning is in Danube, Elbe is being painted."),
    ("Our lawyer is Helen Strauss.", "New notary since the sale: Ben Adeyemi."),
    ("The desk is made of oak.", "Moved the desk to the office."),
    ("Contract A ends on 30 June.", "Contract B was extended to 31 December."),
    ("Our cat is called Mimi.", "The neighbours' cat is now called Felix."),
    ("Das Büro ist in Wien.", "Das Büro in Wien hat jetzt eine Küche."),
    ("Martin has two children.", "Martin has a dog now."),
    ("Greta is a doctor.", "Greta is a mother now."),
    ("The heating is set to 20 degrees.", "At night the heating is set to 17 degrees."),
    ("Olga's visa is pending.", "Dmitri's visa was approved."),
    ("The bug in checkout is still open.", "The bug in search is fixed."),
    ("Stock of size M shirts: 40", "Stock of size L shirts: 12"),
    ("Lena lives in Bonn.", "Lena is in Paris until Sunday."),
    ("We do a retro every second Friday.", "We skipped the retro today, half of us were out."),
    ("妈妈住在柏林。", "妈妈想搬到慕尼黑。"),
    ("Lisa speaks French.", "Lisa speaks some Japanese now."),
    ("Gave the cat her pill at 8.", "Gave the cat her pill at 20."),
    ("Upgraded the laptop to 32 GB.", "Upgraded the server to 64 GB."),
    ("Test run 88: 3 failures", "Test run 89: 1 failure"),
    ("Invoice 2031 costs 40 euros.", "Invoice 2032 costs 50 euros now."),
]


@pytest.mark.parametrize(("older", "newer"), ONE_SLOT)
def test_another_value_of_the_same_attribute_replaces_the_older_in_whatever_words(
    home: Path, older: str, newer: str
) -> None:
    assert Diary(home).replaces(older, newer)


@pytest.mark.parametrize(("older", "newer"), TWO_SLOTS)
def test_a_value_of_another_attribute_replaces_nothing(home: Path, older: str, newer: str) -> None:
    assert not Diary(home).replaces(older, newer)
