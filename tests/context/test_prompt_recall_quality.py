"""How often recall before a prompt is right: prompts that memory can help with, and prompts that it cannot.

The prompts are worded differently from what was remembered, as people ask for work rather than for facts. The scores
were chosen on all three sets: small ones of single facts, and prompts in several languages over the three memories of
`memories.py`. Run: python -m tests.context.test_prompt_recall_quality prints the figures.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

from commonplace import Memory

from .memories import STORIES, Story
from .prompts import ANSWERABLE, UNANSWERABLE
from .questions import build

TUNING_PROMPTS = {
    "how should I name the branch for this fix?": "Branches: ticket id first, then a short name.",
    "make Ann something to drink": "Ann prefers green tea, never coffee.",
    "which day can we ship this?": "We deploy on Tuesdays, never on Fridays.",
    "ssh into staging and check the disk": "The staging server is called orca and runs Debian 12.",
    "who sends the bills to customers and when?": "Invoices are sent on the first working day of the month by Petra.",
    "how many requests per minute can a client make?": "The API rate limit is 600 requests a minute per token.",
    "what indentation should I use in the go code?": "Use tabs in Go files and four spaces in Python.",
    "prepare the report for Hofmann": "The customer Hofmann wants all reports as PDF, in German.",
    "when do the database backups run?": "Postgres backups run at 02:30 UTC and are kept for 14 days.",
    "where should I add the new feature flag?": "Feature flags live in config/flags.toml; never hard-code them.",
    "can Tom review this?": "Tom is on parental leave until March and Lena covers for him.",
    "what is our brand colour?": "The logo's blue is #1f4e9d.",
    "why are the integration tests slow?": "Integration tests need Docker and take about nine minutes.",
    "do we still need to support python 3.9?": "We decided to drop support for Python 3.9 in release 5.",
    "how do I get VPN access?": "The VPN password rotates every 90 days; ask Sven for access.",
    "write an error message for a missing config file": "Error messages must say what to do next.",
    "what's the product called in marketing material?": "Marketing calls the product Harbor, engineering calls it dockmaster.",
    "is there shared code between the iOS and Android apps?": "The mobile app is written in Kotlin and Swift, with no shared code.",
    "where do the logs go?": "Log lines are JSON and go to Loki.",
    "can I edit an old migration?": "Migrations are numbered and never edited after release.",
    "where does my sister live?": "My sister Clara lives in Lisbon and visits in May.",
    "when does the car need inspection?": "The car is due for inspection in October.",
    "plan a dinner menu without peanuts for me": "I am allergic to peanuts.",
    "book a flight to Oslo": "Flights to Oslo are cheapest on Wednesdays.",
    "what's the landlord's phone number?": "The landlord's number is in the blue folder.",
    "open the monitoring dashboard": "The monitoring dashboard is at grafana.internal/d/ops.",
    "how many approvals do I need for a billing change?": "Code review needs two approvals for changes to billing.",
    "how much is the team plan?": "Pricing: the team plan costs 12 euros per seat.",
    "what's the cache TTL?": "The cache TTL was raised to ten minutes after the March outage.",
    "how do we measure search quality?": "Search relevance is measured with nDCG at 10.",
}
TUNING_UNRELATED = (
    "fix the failing test in parser.py",
    "yes",
    "ok, go on",
    "write a haiku about the sea",
    "rename the variable foo to bar",
    "what is the capital of Peru?",
    "explain this regex",
    "thanks, that works",
    "refactor this function into smaller ones",
    "add type hints to utils.py",
    "why does this loop never end?",
    "convert this csv to json",
    "what does HTTP status 418 mean?",
    "summarise this article for me",
    "run the linter and fix what it finds",
    "translate this sentence to French",
    "how do I reverse a list in Python?",
    "generate a random UUID",
    "what's 17 times 23?",
    "write a unit test for the date parser",
    "commit and push",
    "can you undo that?",
    "who won the world cup in 1998?",
    "sort imports",
    "make the button bigger",
    "what's the weather in Rome?",
    "draw a class diagram",
    "please continue with the next step",
    "hello",
    "show me the diff",
)
HELD_OUT_PROMPTS = {
    "set up the webhook for the shop": "The shop's webhooks must answer within five seconds or they are retried.",
    "which branch do I open the pull request against?": "Pull requests go to develop; main is only for releases.",
    "what should I cook for Jonas?": "Jonas is vegetarian and does not eat mushrooms.",
    "add a new translation string": "Translations are edited in Weblate, never in the po files.",
    "how long do we keep customer data?": "Customer records are deleted 30 days after an account is closed.",
    "the build is red on windows again": "The Windows build fails when paths are longer than 260 characters.",
    "who do I ask about the contract with Meridian?": "Ines handles the Meridian contract; it ends in June.",
    "pick a date for the offsite": "The team offsite is always in the second week of September.",
    "what size are the shoes I usually buy?": "I wear shoe size 43.",
    "restart the message queue": "Restart RabbitMQ node by node, never the whole cluster.",
    "how do I log in to the test account?": "The test account is demo@example.org; its password is in the vault.",
    "write the release notes": "Release notes are written for users: no commit hashes, no ticket numbers.",
    "why is the nightly job skipped on Sundays?": "The nightly job is off on Sundays because of the storage maintenance.",
    "resize the images for the site": "Images on the website are at most 1600 pixels wide, as WebP.",
    "when is my daughter's birthday?": "Mia was born on 4 August 2019.",
    "what's the phone number of the dentist?": "Dr. Keller, the dentist, is at 030 5551234.",
    "which currency do we bill in?": "Swiss customers are billed in francs, everybody else in euros.",
    "can I use lodash here?": "No new npm dependencies without Farid's approval.",
    "how much memory does the worker get?": "Workers run with 2 GB of memory and are killed above that.",
    "draft a reply to the angry customer": "Replies to complaints are signed by a person, never by the team.",
}
HELD_OUT_UNRELATED = (
    "explain what a monad is",
    "make this paragraph shorter",
    "undo the last commit",
    "what time is it in Tokyo?",
    "center the div",
    "is this sentence correct?",
    "give me three name ideas for a cat",
    "no, the other file",
    "use a dict instead of a list",
    "what does this stack trace mean?",
    "add a docstring to every function",
    "looks good",
    "compare quicksort and mergesort",
    "open the readme",
    "how many legs has a spider?",
    "try again",
    "bump the version",
    "write a limerick",
    "turn this into a table",
    "delete the unused imports",
)


class Figures(NamedTuple):
    """`right`: prompts that got their fact; `beside`: other lines they got; `unrelated`: prompts that got any line."""

    right: int
    beside: int
    unrelated: int


def measure_memories(folder: Path) -> Figures:
    """Measure over the three memories of a session: every unrelated prompt is asked of each."""
    total = Figures(0, 0, 0)
    for number, story in enumerate(STORIES):
        prompts = ANSWERABLE[story.name]
        with build(story, folder / str(number)) as memory:
            recalled = {prompt: recall(memory, prompt, story) for prompt in prompts}
            unrelated = sum(bool(recall(memory, prompt, story)) for prompt in UNANSWERABLE)
        right = sum(any(prompts[prompt] in line for line in lines) for prompt, lines in recalled.items())
        beside = sum(prompts[prompt] not in line for prompt, lines in recalled.items() for line in lines)
        total = Figures(total.right + right, total.beside + beside, total.unrelated + unrelated)
    return total


def measure(home: Path, prompts: dict[str, str], unrelated: tuple[str, ...]) -> Figures:
    with Memory(home) as memory:
        for number, fact in enumerate(prompts.values()):
            remember(memory, number, fact)
        recalled = {prompt: recall(memory, prompt) for prompt in prompts}
        right = sum(any(prompts[prompt] in line for line in lines) for prompt, lines in recalled.items())
        beside = sum(prompts[prompt] not in line for prompt, lines in recalled.items() for line in lines)
        return Figures(right, beside, sum(bool(recall(memory, prompt)) for prompt in unrelated))


def remember(memory: Memory, number: int, fact: str) -> None:
    """Keep a fact in one of three toolsets."""
    if number % 3 == 0:
        memory.call("remember", {"content": fact})
    elif number % 3 == 1:
        memory.call("memory_write", {"key": f"note {number}", "content": fact})
    else:
        memory.call("update_world", {"topic": f"topic {number}", "content": fact})


def recall(memory: Memory, prompt: str, story: Story | None = None) -> list[str]:
    """The lines that are recalled for a prompt in a conversation of its own."""
    user = story.user if story else None
    channel = story.channel if story else None
    text = str(memory.recall_for(prompt, session=prompt, user=user, channel=channel))
    return [line for line in text.split("\n") if line.startswith("- ")]


def test_recall_on_the_prompts_that_the_likely_score_was_chosen_on_gets_no_worse(tmp_path: Path) -> None:
    figures = measure(tmp_path, TUNING_PROMPTS, TUNING_UNRELATED)
    assert figures.right >= 23
    assert figures.beside <= 5
    assert figures.unrelated <= 2


def test_recall_on_other_prompts_gets_no_worse(tmp_path: Path) -> None:
    figures = measure(tmp_path, HELD_OUT_PROMPTS, HELD_OUT_UNRELATED)
    assert figures.right >= 19
    assert figures.beside <= 4
    assert figures.unrelated <= 1


def test_recall_over_three_memories_is_silent_where_it_cannot_help(tmp_path: Path) -> None:
    figures = measure_memories(tmp_path)
    assert figures.right >= 27
    assert figures.beside <= 8
    assert figures.unrelated <= 0.05 * len(UNANSWERABLE) * len(STORIES)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        count = sum(len(prompts) for prompts in ANSWERABLE.values())
        print("three memories", count, len(UNANSWERABLE) * len(STORIES), measure_memories(Path(place)))
    for name, prompts, others in (
        ("chosen on", TUNING_PROMPTS, TUNING_UNRELATED),
        ("held out", HELD_OUT_PROMPTS, HELD_OUT_UNRELATED),
    ):
        with tempfile.TemporaryDirectory() as folder:
            print(name, len(prompts), len(others), measure(Path(folder), prompts, others))
