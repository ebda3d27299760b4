"""A fourth memory, of a kind that no rule of the context was chosen on: the agent of a family's household."""

from __future__ import annotations

from .memories import Question, Story, fact, note, remember, skill, topic

HOUSEHOLD = Story(
    name="the agent of a family's household",
    now="2026-02-12T07:15:00",
    user="lena",
    channel="kitchen",
    calls=[
        fact("2025-11-01T08:00:00", "agent_name", "Hestia", "agent"),
        fact("2025-11-01T08:02:00", "user_name", "Lena Brandt", "user_info"),
        fact("2025-11-01T08:03:00", "family", "Jonas (husband), Mats (9), Ida (6), the dog Pollux", "user_info"),
        fact("2025-11-02T08:03:00", "ida_allergy", "Ida is allergic to walnuts and cashews.", "user_info"),
        fact("2025-11-03T18:00:00", "answers", "Two sentences at most before eight in the morning.", "preferences"),
        fact("2025-11-05T18:00:00", "food", "No meat on weekdays; fish on Fridays.", "preferences"),
        fact(
            "2025-11-20T18:00:00",
            "shopping",
            "Order from Alnatura first, Rewe only for what is missing.",
            "preferences",
        ),
        fact("2025-12-01T10:00:00", "boiler_model", "Vaillant ecoTEC plus VC 206", "house"),
        fact("2025-12-01T10:05:00", "electrician", "Okan Demir, 0221 555 0134", "house"),
        fact("2025-12-03T10:05:00", "wifi_guest_name", "Pollux-Guests", "house"),
        fact("2026-01-07T10:05:00", "oven_timer", "The timer of the oven is eleven minutes fast.", "house", "kitchen"),
        fact(
            "2026-01-09T10:05:00", "freezer_plan", "Top: bread. Middle: vegetables. Bottom: fish.", "house", "kitchen"
        ),
        skill(
            "2025-12-10T12:00:00",
            "weekly_menu",
            "Planning the meals of a week",
            "Ask for guests first. Never plan nuts for a day on which Ida eats at home. "
            "Put the list into the shopping page on Thursday evening. Cook double on Sundays.",
        ),
        skill(
            "2026-01-15T12:00:00",
            "sick_day",
            "When a child is ill",
            "Write to the school before 7:45. Cancel the afternoon. Do not give ibuprofen to Mats.",
        ),
        topic(
            "2025-12-15T10:00:00",
            "school",
            "# School\n\nMats: class 4b, Mrs Yilmaz. Ida: class 1a, Mr Petersen.\nSports on Tuesday and Thursday, "
            "swimming on Wednesday for Mats alone.\nThe office answers from 7:30 to 9:00: 0221 555 0171.\n",
        ),
        topic(
            "2025-12-16T10:00:00",
            "heating",
            "# Heating\n\nThe boiler needs its service every October. Pressure should be 1.6 bar; refill through the valve "
            "below the tank.\nIf F.28 shows: gas is off, call Stadtwerke.\n",
        ),
        topic(
            "2026-01-10T10:00:00",
            "pollux",
            "# Pollux\n\nVet: Dr Brück, Ehrenfeld. Vaccination due in April 2026. Eats 180 g twice a day.\n",
        ),
        topic(
            "2026-01-20T10:00:00",
            "holidays",
            "# Holidays\n\nEaster: a week in Zeeland, house De Meeuw, from 29 March. Summer is open.\n",
        ),
        note("2026-01-25T20:00:00", "gift-ideas", "Jonas: a bread knife. Ida: a head torch like the one of Mats."),
        note("2026-02-05T20:00:00", "car", "The Skoda needs winter wiper fluid; the next inspection is in June 2026."),
        note("2026-02-09T20:00:00", "to-do", "1. Register Ida for the swimming course. 2. Return the drill to Okan."),
        remember("2026-01-28T19:00:00", "Jonas starts his new job at the museum on 1 March."),
        remember("2026-01-30T18:20:00", "The dishwasher leaks at the door; the seal is ordered, order number 88-2041."),
        remember(
            "2026-02-02T08:00:00", "Mats lost his retainer at school. The orthodontist wants 90 euros for a new one."
        ),
        remember(
            "2026-02-03T21:00:00",
            "Okan checked the fuse box: the kitchen circuit must not take oven and kettle at once.",
        ),
        remember("2026-02-04T20:30:00", "We tried the lentil bolognese: Mats liked it, Ida did not."),
        remember("2026-02-06T17:45:00", "The parents' evening of class 4b moved from 18 to 25 February."),
        remember("2026-02-07T11:10:00", "Lena's mother comes to stay from 20 to 23 February and sleeps in the study."),
        remember("2026-02-08T20:15:00", "Decided: no sleepovers on school nights, for both children."),
        remember("2026-02-09T07:50:00", "Ida has a cough; we kept her at home."),
        remember("2026-02-10T12:30:00", "The seal of the dishwasher arrived. Jonas wants to fit it on Saturday."),
        remember("2026-02-10T18:10:00", "Dr Brück moved the appointment of Pollux to Monday 16 February, 16:30."),
        remember("2026-02-11T07:40:00", "Ida is back at school. The cough is better."),
        remember("2026-02-11T16:30:00", "Decided to book the ferry only after Jonas knows his shifts."),
        remember(
            "2026-02-11T19:55:00",
            "Carnival on Thursday: Ida goes as a fox, Mats as a deep-sea diver. The fox ears are still missing.",
        ),
        (
            "2026-02-11T20:30:00",
            "reflect",
            {
                "content": "# The household\n\nThe Brandts live in Cologne since 2021, in a house of 1931.\n\n"
                "## Habits\n- Shopping day is Friday; the list closes on Thursday at 20:00.\n"
                "- Whoever cooks does not wash up.\n- Screens are off from 19:00.\n\n"
                "## Money\n- The budget for food is 190 euros a week.\n- Anything over 150 euros is decided by both.\n\n"
                "## Lessons\n- Do not order fish online: it came warm twice.\n- The cleaner, Mrs Kowalska, has the key of the cellar.\n"
            },
        ),
        (
            "2026-02-11T20:35:00",
            "scratch_note",
            {"mode": "replace", "content": "Menu of next week: Monday and Tuesday are still empty."},
        ),
        (
            "2026-02-11T20:40:00",
            "write_session_handoff",
            {
                "content": "Buy the fox ears before noon. The menu of next week is half done; ask Lena whether her mother "
                "eats fish. The ferry is not booked."
            },
        ),
    ],
    questions=[
        Question("What did we decide yesterday?", "book the ferry only after Jonas knows his shifts"),
        Question("What is left to do?", "Register Ida for the swimming course"),
        Question("Where did we stop last time?", "menu of next week is half done"),
        Question("Who am I talking to?", "Lena Brandt"),
        Question("What may Ida not eat?", "walnuts and cashews"),
        Question("How should I answer in the morning?", "Two sentences at most"),
        Question("Which topics do you know about?", "heating"),
        Question("What do we eat on Fridays?", "fish on Fridays"),
        Question("Where do I order food?", "Alnatura first"),
        Question("What is still missing for carnival?", "fox ears"),
        Question("When is the vet?", "16 February, 16:30"),
        Question("What happened on Monday?", "kept her at home"),
        Question("What may Mats not get when he is ill?", "Do not give ibuprofen"),
        Question("How much may we spend on food?", "190 euros a week"),
        Question("Who has the key of the cellar?", "Mrs Kowalska"),
        Question("When does the shopping list close?", "Thursday at 20:00"),
        Question("When does Lena's mother come?", "20 to 23 February"),
        Question("What is known about the oven?", "oven_timer"),
        Question("When is the parents' evening?", "25 February"),
        Question("Is there a number of the electrician?", "electrician"),
    ],
)
