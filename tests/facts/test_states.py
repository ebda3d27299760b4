"""What verbs say of states: that somebody lives somewhere, moved, leads something, took it over, or died."""

from __future__ import annotations

import pytest

from commonplace.facts.statements import lookup_keys, split_statements, stored_keys
from commonplace.facts.states import find_ended, is_about, read_states
from commonplace.facts.versions import judge

CHANGED = [
    # Where somebody or something is.
    ("Ute lives in Kiel.", "Ute moved to Lübeck last weekend."),
    ("Grandpa lives with my aunt.", "Grandpa moved into a care home in June."),
    ("The backups are stored on the NAS.", "We moved the backups to Backblaze."),
    ("Jana wohnt in Leipzig.", "Jana ist nach Dresden gezogen."),
    ("Camille habite à Nantes.", "Camille a déménagé à Rennes."),
    ("Lola vive en Cádiz.", "Lola se ha mudado a Huelva."),
    ("O Tiago mora em Braga.", "O Tiago mudou-se para o Porto."),
    ("Катя живёт в Казани.", "Катя переехала в Самару."),
    ("रोहन पुणे में रहता है।", "रोहन बेंगलुरु शिफ्ट हो गया है।"),
    ("سامي يسكن في طنطا.", "انتقل سامي إلى الإسكندرية."),
    ("小李住在苏州。", "小李上个月搬到杭州了。"),
    ("田中さんは大阪に住んでいます。", "田中さんは先月福岡に引っ越しました。"),
    ("J'habite à Lille.", "J'ai déménagé à Brest."),
    ("私は大阪に住んでいます。", "福岡に引っ越しました。"),
    # For whom somebody works.
    ("My sister Nadia works at Siemens.", "Nadia left Siemens and joined a startup."),
    ("Tom works at Siemens.", "Tom started his new job at Bosch on Monday."),
    ("Omar trabaja en Iberia.", "Omar dejó Iberia."),
    ("Маша работает в Озоне.", "Маша ушла из Озона."),
    # With what something is done.
    ("We use Jenkins for CI.", "CI runs on GitHub Actions now."),
    ("Backend is hosted on Heroku.", "Backend runs on Fly.io since last night."),
    ("We use Datadog for metrics.", "We got rid of Datadog."),
    ("My editor is VS Code.", "I use Zed as my editor now."),
    # Who is in charge.
    ("Priya is the lead of the checkout team.", "Marek took over the checkout team from Priya."),
    ("The lead on the migration is Omar.", "Ines is leading the migration now."),
    ("Payments team owns the refunds API.", "Ownership of the refunds API goes to the Orders team."),
    ("Anna betreut den Shop.", "Ben hat den Shop von Anna übernommen."),
    ("Anna gère la boutique.", "Anna a passé la boutique à Ben."),
    ("Anna lleva la tienda.", "Ben se hizo cargo de la tienda."),
    ("Anna cuida da loja.", "O Ben assumiu a loja."),
    ("Анна ведёт магазин.", "Борис принял магазин у Анны."),
    ("商店由安娜负责。", "小本接手了商店。"),
    ("店の担当は安奈さんです。", "健さんが安奈さんから店を引き継ぎました。"),
    ("दुकान अनीता संभालती है।", "बलराम ने दुकान संभाल ली है।"),
    ("سارة مسؤولة عن المتجر.", "تولى سامي المتجر."),
    ("The holiday flat belongs to my uncle.", "My uncle sold the holiday flat."),
    ("The domain acme.dev is registered to Greta.", "Greta transferred acme.dev to the company account."),
    ("Ключи от склада: у Олега", "Олег передал ключи от склада Насте."),
    # What something is called: the newer note may begin with the old name.
    ("Our sync tool is called Heron.", "Heron goes by Kestrel now."),
    ("The staging cluster is named blue.", "We call blue green now."),
    ("O pacote se chama fatura.", "O pacote fatura agora se chama recibo."),
    # Where somebody was, and what they eat.
    ("Ines is in Lisbon until further notice.", "Ines is back from Lisbon."),
    ("Emil is vegetarian.", "Emil eats meat again."),
    # What there is another one of.
    ("Our vet is Dr. Flores.", "We changed vets, we see Dr. Nguyen now."),
    # What is no more.
    ("Trattoria Roma on Bergstraße does takeaway until 22:00.", "Trattoria Roma has closed."),
    ("Grandpa Heinz lives in the nursing home in Plön.", "Grandpa Heinz died on Sunday."),
    ("Der Bäcker am Markt macht um 6 Uhr auf.", "Der Bäcker am Markt hat zugemacht."),
    ("La boulangerie Petit est ouverte le dimanche.", "La boulangerie Petit a fermé définitivement."),
    ("Кафе «Бриз» работает до полуночи.", "Кафе «Бриз» закрылось."),
    ("楼下的面馆营业到晚上九点。", "楼下的面馆已经关门了。"),
    ("駅前の本屋は20時まで営業しています。", "駅前の本屋は閉店しました。"),
]
UNCHANGED = [
    ("Ute lives in Kiel.", "Ute's brother moved to Lübeck."),
    ("Ute lives in Kiel.", "Ute moved to Kiel in 2019."),
    ("Parcel 10 went to the harbour of Kiel.", "Parcel 15 went to the harbour of Bremen."),
    ("Bus 10 goes to the airport.", "Bus 10 went to the garage."),
    ("Nadia works at Siemens.", "Nadia moved to Berlin."),
    ("Nadia works at Siemens.", "Nadia left Bosch."),
    ("Nils is responsible for the website.", "Aylin took over the newsletter part of the website."),
    ("The holiday flat belongs to my uncle.", "My uncle sold the boat."),
    ("Our sync tool is called Heron.", "Osprey goes by Kestrel now."),
    ("Emil is vegetarian.", "Emil's brother eats meat again."),
    ("The museum is open from 10 to 18.", "The museum café has closed."),
    ("The museum was built in 1890.", "The museum has closed."),
    ("Leila owns a flat in Bonn.", "Leila bought a flat in Aachen."),
    ("Our vet is Dr. Flores.", "We changed dentists, we see Dr. Nguyen now."),
]


def is_replaced(older: str, newer: str) -> bool:
    return any(
        judge(old, new) and not set(lookup_keys(old)).isdisjoint(stored_keys(new))
        for old in split_statements(older)
        for new in split_statements(newer)
    )


@pytest.mark.parametrize(("older", "newer"), CHANGED)
def test_a_verb_of_change_gives_a_state_another_value(older: str, newer: str) -> None:
    assert is_replaced(older, newer)


@pytest.mark.parametrize(("older", "newer"), UNCHANGED)
def test_what_changed_for_another_or_is_the_same_replaces_nothing(older: str, newer: str) -> None:
    assert not is_replaced(older, newer)


def test_a_clause_says_of_whom_it_tells_what() -> None:
    (state,) = read_states("Marek took over the checkout team from Priya.")
    assert (state.relation, state.phase, state.subject) == ("lead", "change", ("check", "team"))
    assert state.value == {"marek"}
    assert read_states("The launch moved to Tuesday.") == ()  # a date is no place


def test_what_is_no_more_is_named_in_whole() -> None:
    assert find_ended("The bakery on the corner has closed for good.") == ("bakery", "on", "the", "corner")
    assert find_ended("The shop closes at six.") == ()
    assert is_about(("the", "bakery", "sells", "rolls"), ("bakery",)) is False  # `sells` may be a noun for all we know
    assert is_about(("the", "bakery", "is", "open"), ("bakery",))
