"""Three memories as people and agents write them, each with twenty questions that a session may start with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Question:
    """What a model must be able to answer, and the words in memory that answer it."""

    text: str
    evidence: str


@dataclass(frozen=True)
class Story:
    """A memory: what was called on which day and hour, pages people wrote, and whom the agent talks to now."""

    name: str
    now: str
    user: str
    channel: str | None
    calls: list[tuple[str, str, dict[str, Any]]]
    questions: list[Question]
    pages: dict[str, str] = field(default_factory=dict)


def remember(at: str, content: str) -> tuple[str, str, dict[str, Any]]:
    return at, "remember", {"content": content}


def topic(at: str, name: str, content: str) -> tuple[str, str, dict[str, Any]]:
    return at, "update_world", {"topic": name, "content": content}


def note(at: str, key: str, content: str) -> tuple[str, str, dict[str, Any]]:
    return at, "write_memory", {"key": key, "content": content}


def fact(at: str, key: str, value: Any, category: str, channel: str | None = None) -> tuple[str, str, dict[str, Any]]:
    arguments: dict[str, Any] = {"key": key, "value": value, "category": category}
    if channel:
        return at, "MemoryTool", {"op": "setChannel", "channelName": channel, **arguments}
    return at, "MemoryTool", {"op": "setGlobal", **arguments}


def skill(at: str, name: str, description: str, rules: str, owner: str = "global") -> tuple[str, str, dict[str, Any]]:
    arguments = {"name": name, "description": description, "instructions": rules, "owner": owner}
    return at, "MemoryTool", {"op": "createSkill", **arguments}


DEVELOPER = Story(
    name="a developer on their own",
    now="2026-05-21T08:40:00",
    user="mira",
    channel=None,
    calls=[
        fact("2026-03-02T09:00:00", "user_name", "Mira Holt", "user_info"),
        fact("2026-03-02T09:01:00", "user_pronouns", "she/her", "user_info"),
        fact("2026-03-02T09:02:00", "user_timezone", "Europe/Lisbon", "user_info"),
        fact("2026-03-02T09:05:00", "answer_style", "Short answers, code first, no emoji.", "preferences"),
        fact("2026-03-09T10:00:00", "test_style", "pytest with plain asserts; never unittest classes", "preferences"),
        fact("2026-03-15T18:00:00", "commit_style", "Imperative subject, at most 60 characters", "preferences"),
        fact("2026-03-15T18:10:00", "repo_url", "git@codeberg.org:mholt/tidepool.git", "project"),
        fact("2026-03-15T18:12:00", "api_port", 8431, "project"),
        fact("2026-03-18T18:12:00", "staging_host", "staging.tidepool.app", "project"),
        fact("2026-04-02T11:00:00", "invoice_iban", "PT50 0002 0123 1234 5678 9015 4", "finance"),
        skill(
            "2026-03-20T12:00:00",
            "release",
            "Cutting a release of Tidepool",
            "Run the whole test suite first. Bump the version in pyproject.toml and in docs/conf.py. "
            "Never tag from a branch other than main. Write the changelog before the tag, not after.",
        ),
        skill(
            "2026-04-11T12:00:00",
            "migration",
            "Writing a database migration",
            "One migration per pull request. Always write the downgrade. Never drop a column in the release that "
            "stops using it; wait one more.",
        ),
        topic(
            "2026-03-16T10:00:00",
            "tidepool architecture",
            "# Tidepool architecture\n\nTidepool is a web app for tide and swell forecasts.\n\n"
            "- Backend: Litestar on Python 3.13, SQLite in WAL mode, one process per core behind Caddy.\n"
            "- Forecast grid comes from the Copernicus Marine API every six hours (cron at :20).\n"
            "- Frontend: SvelteKit, maps with MapLibre.\n- Background jobs run in `worker.py`, a plain loop, no Celery.\n",
        ),
        topic(
            "2026-03-17T10:00:00",
            "deployment",
            "# Deployment\n\nOne Hetzner CX32 in Falkenstein, Debian 13. Deploys with `just ship`, which rsyncs and restarts "
            "the systemd unit `tidepool.service`.\nBackups: litestream to a Backblaze bucket called tidepool-wal, restore "
            "tested on 2026-04-04.\nCertificates are Caddy's business.\n",
        ),
        topic(
            "2026-04-05T10:00:00",
            "customers",
            "# Customers\n\n- Escola do Mar (surf school, Ericeira): 12 seats, pays yearly, contact Rui Tavares.\n"
            "- Clube Naval de Cascais: trial until 31 May, contact Helena.\n- Marlin Charters: churned in April, price.\n",
        ),
        topic(
            "2026-04-20T10:00:00",
            "copernicus api",
            "# Copernicus API\n\nRate limit is 5 requests per minute per key. Product id GLOBAL_ANALYSISFORECAST_WAV_001_027.\n"
            "Returns NaN over land; we mask before interpolating, otherwise coast cells go wrong.\n",
        ),
        topic(
            "2026-04-22T10:00:00",
            "pricing",
            "# Pricing\n\nSolo 9 EUR, school 49 EUR per month. No free tier since 1 April.\n",
        ),
        note(
            "2026-05-12T17:00:00", "open-bugs", "1. Tide chart flickers on Firefox. 2. CSV export loses the time zone."
        ),
        note("2026-05-18T17:00:00", "ideas", "Push alerts when swell at a saved spot goes over a threshold."),
        note("2026-05-19T12:00:00", "reading", "Litestream 0.5 release notes before the next server upgrade."),
        remember("2026-04-28T10:10:00", "Moved the forecast cron from :00 to :20, Copernicus publishes late."),
        remember("2026-04-28T16:45:00", "Rui from Escola do Mar asked for a printable weekly sheet."),
        remember("2026-05-04T09:30:00", "Started the alert feature on branch TID-88-alerts."),
        remember(
            "2026-05-04T15:30:00",
            "Spent the afternoon on the flickering chart, no luck, it only happens on Firefox 139.",
        ),
        remember("2026-05-11T11:00:00", "Decided to stay on SQLite; Postgres buys us nothing below a thousand users."),
        remember("2026-05-11T14:20:00", "Wrote to Helena at Clube Naval about the trial ending, no answer yet."),
        remember("2026-05-12T10:05:00", "Fixed the NaN interpolation at coast cells, see commit 4f1c2aa."),
        remember("2026-05-14T09:15:00", "Dentist, so only half a day. Answered support mail."),
        remember("2026-05-18T10:40:00", "Printable weekly sheet shipped as version 1.14.0."),
        remember(
            "2026-05-18T18:00:00", "Uptime check complained twice at night, both times Hetzner network maintenance."
        ),
        remember("2026-05-19T09:50:00", "Rui is happy with the sheet but wants the school logo on it."),
        remember(
            "2026-05-19T13:30:00",
            "Load test: 240 requests per second on the forecast endpoint before p95 passes 300 ms.",
        ),
        remember(
            "2026-05-20T09:20:00", "Alerts: decided on web push instead of e-mail, because mails at 5 am end up unread."
        ),
        remember("2026-05-20T11:45:00", "VAPID keys are generated and stored on the server, not in the repository."),
        remember("2026-05-20T16:10:00", "The service worker test hangs in CI when run headless; locally it is green."),
        remember(
            "2026-05-20T17:55:00", "Helena wrote back: Clube Naval will subscribe, wants an invoice with VAT number."
        ),
        (
            "2026-05-20T18:00:00",
            "reflect",
            {
                "content": "# What I know\n\n"
                "Mira builds Tidepool alone since January 2026 and wants to live off it by the end of the year.\n\n"
                "## How we work\n- Branch names start with the ticket id, like TID-88-alerts.\n"
                "- She reviews every diff herself before it is pushed; never push for her.\n"
                "- Tickets live in TODO.md at the top of the repository.\n\n"
                "## Decisions\n- 2026-05-11: stay on SQLite.\n- 2026-04-01: no free tier any more.\n"
                "- 2026-03-22: Litestar instead of FastAPI, because of DTOs.\n\n"
                "## Lessons\n- The Copernicus key expires every 90 days; the next time is 2026-06-14.\n"
                "- Do not run `just ship` on Fridays.\n"
            },
        ),
        (
            "2026-05-20T18:05:00",
            "scratch_note",
            {"mode": "replace", "content": "CI hang: try `--disable-gpu`, then a fake push service on port 9011."},
        ),
        (
            "2026-05-20T18:10:00",
            "write_session_handoff",
            {
                "content": "Alerts are half done on TID-88-alerts: subscribing works, sending does not yet. Next: make the service worker test "
                "pass in CI, then write `send_push` in worker.py. Also send Helena the invoice."
            },
        ),
    ],
    questions=[
        Question("What did we decide yesterday?", "web push instead of e-mail"),
        Question("What is left to do?", "send_push"),
        Question("Where did we stop last time?", "subscribing works, sending does not yet"),
        Question("What is the user called?", "Mira Holt"),
        Question("How does this user like answers?", "Short answers, code first"),
        Question("Which topics do you know about?", "tidepool-architecture"),
        Question("Do you know anything about customers?", "customers"),
        Question("How should I name a branch?", "start with the ticket id"),
        Question("May I push the branch for her?", "never push for her"),
        Question("Which test framework should I use?", "pytest with plain asserts"),
        Question("What must I do before I tag a release?", "Write the changelog before the tag"),
        Question("Which database do we use and why?", "stay on SQLite"),
        Question("What happened the day before yesterday?", "wants the school logo"),
        Question("When does the API key expire?", "2026-06-14"),
        Question("What was I trying for the CI problem?", "--disable-gpu"),
        Question("Which bugs are open?", "CSV export loses the time zone"),
        Question("What did Helena say?", "Clube Naval will subscribe"),
        Question("Where are the backups?", "tidepool-wal"),
        Question("What is the rate limit of Copernicus?", "5 requests per minute"),
        Question("Is there a record of the port of the API?", "api_port"),
    ],
)

BOT = Story(
    name="a chat bot with many users and channels",
    now="2026-09-16T19:05:00",
    user="tomasz",
    channel="board-games",
    calls=[
        fact("2026-06-01T10:00:00", "agent_name", "Pip", "agent"),
        fact("2026-06-01T10:00:00", "agent_tone", "Warm and dry; one joke per conversation at the most.", "agent"),
        fact("2026-06-01T10:02:00", "language", "Answer in the language of the question.", "preferences"),
        fact("2026-06-03T10:02:00", "no_pings", "Do not use @everyone, ever.", "preferences"),
        fact("2026-06-10T10:00:00", "server_name", "Kettle & Dice", "general"),
        fact("2026-06-10T10:02:00", "server_rules_url", "https://kettledice.example/rules", "general"),
        fact("2026-06-10T10:05:00", "moderators", ["anneke", "jo_bell", "dariusz"], "general"),
        fact("2026-07-02T20:00:00", "host_address", "Wharf Street 12, ring at Okafor", "project", "board-games"),
        fact("2026-07-02T20:01:00", "game_night", "Thursdays at 19:30, doors at 19:00", "project", "board-games"),
        fact("2026-07-09T20:01:00", "max_players", 8, "project", "board-games"),
        fact(
            "2026-08-13T20:01:00", "house_rule_catan", "No trading on the first two rounds.", "project", "board-games"
        ),
        fact(
            "2026-08-20T21:01:00",
            "tone",
            "Rules questions get a straight answer with the page number.",
            "preferences",
            "board-games",
        ),
        fact(
            "2026-07-20T20:01:00",
            "tomasz_diet",
            "Tomasz is vegetarian and allergic to hazelnuts.",
            "user_info",
            "board-games",
        ),
        fact("2026-07-22T20:01:00", "tomasz_level", "Tomasz owns Brass and teaches it.", "user_info", "board-games"),
        fact("2026-07-05T10:00:00", "current_book", "The Dispossessed, chapters 1 to 6", "project", "book-club"),
        fact("2026-07-05T10:01:00", "meeting", "First Sunday of the month, 11:00", "project", "book-club"),
        fact("2026-08-01T10:00:00", "starter_name", "Gerald, rye, fed at 8 and 20", "project", "sourdough"),
        fact("2026-08-01T10:05:00", "oven", "Anneke's oven runs 15 degrees hot", "project", "sourdough"),
        fact("2026-08-05T10:00:00", "watchlist", ["Stalker", "Playtime"], "project", "film"),
        fact("2026-08-06T10:00:00", "backup_admin", "jo_bell", "project", "mods-only"),
        skill(
            "2026-06-20T12:00:00",
            "schedule_poll",
            "Asking a channel for a date",
            "Offer exactly three dates. Close the poll after 48 hours. Never offer a Friday: the café is closed.",
        ),
        skill(
            "2026-06-21T12:00:00",
            "rules_question",
            "Answering a question about the rules of a game",
            "Name the edition. Quote the rulebook in one sentence with the page. If two editions differ, say both.",
        ),
        skill(
            "2026-06-25T12:00:00",
            "welcome",
            "Greeting a new member",
            "Greet by name, point to the rules page, ask for one game they like. Never ask for the age.",
        ),
        skill(
            "2026-07-01T12:00:00",
            "tomasz_reminders",
            "Reminders for Tomasz",
            "Remind him one day ahead, at 18:00.",
            "tomasz",
        ),
        topic(
            "2026-06-12T10:00:00",
            "games library",
            "# Games library\n\nThe club owns 61 games, kept on the shelf behind the bar.\n- Brass: Birmingham (2 copies)\n"
            "- Spirit Island, missing one blight token\n- Concordia with the Salsa expansion\n- Cascadia\n- Heat, sleeves torn\n",
        ),
        topic(
            "2026-06-12T11:00:00",
            "members",
            "# Members\n\n- anneke: founder, bakes, moderates; lives in Utrecht time.\n- tomasz: game nights, vegetarian.\n"
            "- jo_bell: moderator, does the newsletter on the 1st.\n- ife_okafor: hosts, has two cats; allergic people should know.\n"
            "- dariusz: moderator since July, runs the film channel.\n",
        ),
        topic(
            "2026-07-01T11:00:00",
            "cafe",
            "# Café\n\nCafé Lantern, Wharf Street 14. Closed on Fridays. Phone orders before noon. The back room seats 14 and costs "
            "nothing if we spend 80 euros.\n",
        ),
        topic(
            "2026-07-15T11:00:00",
            "newsletter",
            "# Newsletter\n\nGoes out on the 1st. Jo writes, Pip proofreads; photos only with consent.\n",
        ),
        topic(
            "2026-08-15T11:00:00",
            "autumn tournament",
            "# Autumn tournament\n\nSaturday 24 October, 12 teams of two, game is Azul. Prize: a copy of Heat.\n",
        ),
        note("2026-09-10T20:00:00", "pending-invites", "Sent to marguerite and li_wen; li_wen has not answered."),
        note("2026-09-12T20:00:00", "newsletter-october", "Jo needs the tournament paragraph by 28 September."),
        note("2026-08-30T20:00:00", "complaints", "One about loud music on 27 August, settled with the café."),
        remember("2026-08-27T22:40:00", "board-games: seven came, played Concordia and Heat, Ife won both."),
        remember(
            "2026-08-29T12:00:00", "sourdough: Anneke's loaf collapsed; the group thinks the starter was too warm."
        ),
        remember("2026-09-03T22:30:00", "board-games: six came. Tomasz taught Brass to three new people."),
        remember("2026-09-05T11:30:00", "book-club voted for The Left Hand of Darkness next, 9 to 4."),
        remember("2026-09-06T13:00:00", "book-club met, eleven people, discussion got stuck on the ending."),
        remember("2026-09-08T18:00:00", "film: Dariusz moves film night to Tuesdays from October."),
        remember(
            "2026-09-10T22:45:00",
            "board-games: eight came, the maximum. Two were turned away, we promised them seats next week.",
        ),
        remember("2026-09-11T09:00:00", "Ife asked that nobody feeds the cats cheese."),
        remember("2026-09-13T17:20:00", "mods agreed to ban link shorteners after the spam on Saturday."),
        remember("2026-09-14T10:00:00", "Welcomed marguerite, who likes Cascadia and comes from Lyon."),
        remember(
            "2026-09-15T12:15:00",
            "board-games: decided to move this week's night to the café back room because ten want to come.",
        ),
        remember("2026-09-15T18:40:00", "Tomasz will bring Brass and his own sleeves. He cannot stay after 22:30."),
        remember("2026-09-15T20:05:00", "sourdough: new rule, feed Gerald with 1:3:3 from now on."),
        remember(
            "2026-09-16T08:30:00", "Café Lantern confirmed the back room for Thursday 17 September, 19:00 to 23:00."
        ),
        remember("2026-09-16T12:10:00", "marguerite asked whether she may bring her sister; not answered yet."),
        (
            "2026-09-14T21:00:00",
            "reflect",
            {
                "content": "# Pip's notes\n\n"
                "I am the bot of Kettle & Dice, a club of about ninety people.\n\n"
                "- Promises count: whoever was turned away gets a seat first the next week.\n"
                "- Anneke decides about money, nobody else.\n- Moderators handle bans; I never ban anybody.\n"
                "- Polls work best on Sunday evening.\n- Spoilers go behind bars, always.\n"
            },
        ),
        (
            "2026-09-16T12:20:00",
            "scratch_note",
            {
                "mode": "replace",
                "content": "Seats for the 17th: Ife, Tomasz, Anneke, Jo, li_wen, the two from last week (Sam, Bo); 7 of 14.",
            },
        ),
        (
            "2026-09-16T12:30:00",
            "write_session_handoff",
            {
                "content": "Answer marguerite about her sister (there is room). Remind everybody tomorrow at noon that it is the café and not Ife's "
                "flat this time. Order food by phone before noon, one hazelnut-free."
            },
        ),
    ],
    questions=[
        Question("What is your name?", "Pip"),
        Question("In which channel are we?", "Current channel: board-games"),
        Question("What did we decide yesterday about game night?", "move this week's night to the café back room"),
        Question("What is left to do?", "Answer marguerite about her sister"),
        Question("What happened today?", "confirmed the back room"),
        Question("What may Tomasz not eat?", "allergic to hazelnuts"),
        Question("How should rules questions be answered here?", "straight answer with the page number"),
        Question("May I ping everyone?", "Do not use @everyone"),
        Question("How many seats are taken?", "7 of 14"),
        Question("Which days may a poll offer?", "Never offer a Friday"),
        Question("Which other channels are there?", "sourdough"),
        Question("Which topics do you know about?", "autumn-tournament"),
        Question("Who decides about money?", "Anneke decides about money"),
        Question("May I ban somebody?", "I never ban anybody"),
        Question("Is the address of the host known?", "host_address"),
        Question("What did the moderators agree on?", "ban link shorteners"),
        Question("When does the newsletter need the tournament text?", "28 September"),
        Question("What is the next book of the book club?", "The Left Hand of Darkness"),
        Question("Which games do we own?", "Spirit Island"),
        Question("When should Tomasz be reminded?", "one day ahead"),
    ],
)

RESEARCH = Story(
    name="a research team",
    now="2026-11-05T09:10:00",
    user="prof. adeyemi",
    channel="reef-acoustics",
    calls=[
        fact("2026-08-01T09:00:00", "user_name", "Prof. Folake Adeyemi", "user_info"),
        fact("2026-08-01T09:01:00", "user_role", "principal investigator; signs every submission", "user_info"),
        fact("2026-08-01T09:04:00", "citations", "Author-year, with DOI", "preferences"),
        fact("2026-08-01T09:05:00", "units", "SI units, dB re 1 µPa", "preferences"),
        fact("2026-08-11T09:05:00", "figures", "Colour-blind safe palettes, never jet", "preferences"),
        fact("2026-08-11T09:06:00", "uncertainty", "Give confidence intervals, not p-values alone", "preferences"),
        fact("2026-08-12T09:06:00", "cluster_partition", "gpu-short for anything under four hours", "infrastructure"),
        fact("2026-08-12T09:07:00", "raw_data_path", "/srv/reef/raw/2026", "infrastructure"),
        fact("2026-08-12T09:08:00", "zenodo_community", "reef-soundscapes", "infrastructure"),
        fact("2026-09-01T09:06:00", "grant_number", "NERC NE/X0213/1", "funding"),
        fact("2026-09-01T09:07:00", "grant_end", "2027-09-30", "funding"),
        fact("2026-09-02T09:00:00", "hydrophone_gain", {"site A": 20, "site B": 18}, "project", "reef-acoustics"),
        fact("2026-09-02T09:10:00", "sampling_rate", "96 kHz, 16 bit, 2 minutes every 15", "project", "reef-acoustics"),
        fact(
            "2026-10-12T09:10:00",
            "meeting_style",
            "Decisions first, then reasons, then names.",
            "preferences",
            "reef-acoustics",
        ),
        fact(
            "2026-09-03T09:00:00",
            "embargo",
            "Species list is confidential until the fisheries agency agrees",
            "project",
            "fisheries",
        ),
        fact("2026-09-03T09:10:00", "lab_rota", "Cleaning: Yusuf in odd weeks", "project", "lab"),
        skill(
            "2026-08-20T12:00:00",
            "manuscript_edit",
            "Editing the manuscript",
            "Change one paragraph at a time and show the old one. Never touch the numbers in tables. Keep British spelling.",
        ),
        skill(
            "2026-08-21T12:00:00",
            "analysis_run",
            "Starting an analysis on the cluster",
            "Write down commit, config and seed before the run. Never overwrite an earlier output folder. Ask before anything "
            "that takes more than 200 GPU hours.",
        ),
        topic(
            "2026-08-15T10:00:00",
            "field sites",
            "# Field sites\n\n- Site A, Dahab North: fringing reef, 12 m, recorder ST600-114, healthy cover 61 %.\n"
            "- Site B, Ras Nasrani: bleached in 2024, 9 m, recorder ST600-121.\n- Site C, control lagoon: sand, 7 m, ST600-130 (flooded in July).\n",
        ),
        topic(
            "2026-08-16T10:00:00",
            "methods",
            "# Methods\n\nWe compare acoustic complexity (ACI), snap rate and a learned embedding (BirdNET fine-tuned on reef sound).\n"
            "Boat noise is removed with a 40 Hz high-pass and a detector trained on 900 labelled clips; recall 0.93.\n"
            "Dusk and dawn are modelled apart, with site as a random effect.\n",
        ),
        topic(
            "2026-08-17T10:00:00",
            "people",
            "# People\n\n- Folake Adeyemi: PI.\n- Ingrid Solberg: postdoc, statistics, away 9 to 20 November.\n- Yusuf Kaya: PhD student, field work.\n"
            "- Mei-Ling Chou: PhD student, machine learning.\n- Omar Fathy: partner at the marine park, permits.\n",
        ),
        topic(
            "2026-09-10T10:00:00",
            "permits",
            "# Permits\n\nMarine park permit 2026/117, valid until 15 December 2026; Omar renews, needs six weeks.\n",
        ),
        topic(
            "2026-09-20T10:00:00",
            "reviewer comments",
            "# Reviewer comments\n\nReviewer 2 wants a sensitivity analysis of the snap threshold and doubts n at site C.\n",
        ),
        topic(
            "2026-10-01T10:00:00",
            "software",
            "# Software\n\nPython 3.12, scikit-maad 1.4, R 4.5 with glmmTMB. Environment in env/reef.lock; rebuild with `pixi install`.\n",
        ),
        topic(
            "2026-10-02T10:00:00",
            "conferences",
            "# Conferences\n\nOcean Sciences abstract due 20 November. ICRS poster accepted, Auckland, July 2026, done.\n",
        ),
        note(
            "2026-10-20T15:00:00",
            "figure-list",
            "Fig 1 map, Fig 2 spectrograms, Fig 3 ACI by hour, Fig 4 embedding, Fig 5 dose-response.",
        ),
        note(
            "2026-10-30T15:00:00",
            "data-gaps",
            "Site B has no recordings from 3 to 9 August (battery), site C ends on 11 July.",
        ),
        note(
            "2026-11-02T15:00:00",
            "co-author-replies",
            "Ingrid: fine. Omar: waiting. Mei-Ling: two remarks on section 3.2.",
        ),
        remember("2026-10-05T10:00:00", "Dropped site C from the main model; it stays in the supplement."),
        remember("2026-10-12T11:00:00", "Snap threshold set to 6 dB above the median after the pilot on 40 clips."),
        remember(
            "2026-10-19T14:00:00",
            "Mei-Ling's embedding separates bleached from healthy with AUC 0.88 on held-out nights.",
        ),
        remember("2026-10-23T16:30:00", "Cluster quota was exceeded; deleted the intermediate spectrograms of June."),
        remember(
            "2026-10-27T10:20:00",
            "Yusuf recalibrated both hydrophones; drift of 0.7 dB at site B, corrected in the pipeline.",
        ),
        remember(
            "2026-10-29T09:45:00",
            "Lab meeting: submit to Ecological Indicators instead of Coral Reefs, because of the data policy.",
        ),
        remember("2026-10-29T10:30:00", "Lab meeting: Ingrid writes the sensitivity analysis before she leaves."),
        remember(
            "2026-11-02T13:10:00",
            "Sensitivity run finished: the effect holds from 4 to 9 dB, estimate 0.31 (0.22 to 0.40).",
        ),
        remember("2026-11-03T09:30:00", "Omar says the permit renewal has to be filed by Friday 6 November."),
        remember("2026-11-03T17:00:00", "Figure 3 redrawn with viridis, the old one used jet."),
        remember("2026-11-04T10:00:00", "Lab meeting: decided to report dusk and dawn separately in the abstract."),
        remember(
            "2026-11-04T10:15:00",
            "Lab meeting: title is now 'Bleaching quiets a reef at dusk'. Folake asked for a shorter abstract, 200 words.",
        ),
        remember(
            "2026-11-04T15:40:00",
            "Mei-Ling found a leak: two test nights were in the training set. AUC is 0.84 without them.",
        ),
        remember(
            "2026-11-04T18:20:00",
            "The rerun with the corrected split is on gpu-short, seed 20261104, output in runs/2026-11-04b.",
        ),
        (
            "2026-11-04T18:25:00",
            "reflect",
            {
                "content": "# Project memory\n\nWe study how bleaching changes the sound of reefs in the northern Red Sea.\n\n"
                "## Standing decisions\n- Main model without site C (2026-10-05).\n- Journal: Ecological Indicators (2026-10-29).\n"
                "- Raw recordings are never edited; every correction is a step in the pipeline.\n\n"
                "## Who does what\n- Ingrid: statistics. Mei-Ling: embedding. Yusuf: field and calibration. Folake signs off.\n\n"
                "## Dates\n- Submission planned for 27 November 2026.\n- Ingrid is away from 9 to 20 November.\n"
            },
        ),
        (
            "2026-11-04T18:26:00",
            "scratch_note",
            {
                "mode": "replace",
                "content": "Check after the rerun: Table 2 row 4, and the sentence 'AUC 0.88' in the abstract.",
            },
        ),
        (
            "2026-11-04T18:30:00",
            "write_session_handoff",
            {
                "content": "Rerun with the corrected split is running. When it is done: update AUC in abstract, Table 2 and Fig 4. The permit must "
                "be filed by Friday, ask Omar whether he has Folake's signature. Abstract is at 243 words, limit 200."
            },
        ),
    ],
    pages={
        "MEMORY.md": "# For all agents\n\nThe lab's style guide is in docs/style.md. Data never leaves the university's servers.\n",
        "memory/reading-list.md": "# Reading list\n\n- Lamont 2022, restoring reef sound\n- Williams 2024, snapping shrimp and temperature\n",
    },
    questions=[
        Question("What did we decide yesterday?", "report dusk and dawn separately"),
        Question("What is left to do?", "update AUC in abstract"),
        Question("Who is the user?", "Folake Adeyemi"),
        Question("How should figures look?", "Colour-blind safe palettes"),
        Question("In what order does this channel want decisions?", "Decisions first, then reasons"),
        Question("Which topics do you know about?", "reviewer-comments"),
        Question("When must the permit be filed?", "Friday"),
        Question("What is the title of the paper?", "Bleaching quiets a reef at dusk"),
        Question("Where do we submit?", "Ecological Indicators"),
        Question("When do we submit?", "27 November 2026"),
        Question("Who is away soon?", "Ingrid is away from 9 to 20 November"),
        Question("What went wrong with the evaluation?", "two test nights were in the training set"),
        Question("May I change numbers in the tables?", "Never touch the numbers in tables"),
        Question("How long may a run take before I ask?", "200 GPU hours"),
        Question("What do I check after the rerun?", "Table 2 row 4"),
        Question("What does the sensitivity analysis say?", "holds from 4 to 9 dB"),
        Question("Is there anything about the grant in memory?", "grant_number"),
        Question("Which co-author has not answered?", "Omar: waiting"),
        Question("Where do runs under four hours go?", "gpu-short"),
        Question("What is known about site B?", "bleached in 2024"),
    ],
)

STORIES = (DEVELOPER, BOT, RESEARCH)
