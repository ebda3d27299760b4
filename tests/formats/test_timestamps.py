from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from commonplace.formats.timestamps import format_timestamp, parse_day, parse_timestamp, sort_key

from ..costs import count_calls

MOMENT = datetime(2026, 3, 14, 9, 26, 53, 589793, UTC)


def test_a_moment_is_written_in_utc_to_the_microsecond_and_read_back() -> None:
    assert format_timestamp(MOMENT) == "2026-03-14T09:26:53.589793Z"
    assert parse_timestamp(format_timestamp(MOMENT)) == MOMENT
    assert format_timestamp(MOMENT.astimezone(timezone(timedelta(hours=5)))) == format_timestamp(MOMENT)


def test_a_timestamp_without_a_zone_is_utc_and_nonsense_is_none() -> None:
    assert parse_timestamp(" 2026-03-14T09:26:53.589793 ") == MOMENT
    assert parse_timestamp("yesterday") is None


def test_an_unreadable_timestamp_sorts_before_all_others() -> None:
    stamps = ["2026-03-14T10:00:00+02:00", "", "2026-03-14T09:00:00Z"]
    assert sorted(stamps, key=sort_key) == ["", *stamps[:1], *stamps[2:]]


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-14T09:26:53Z",
        "1773480413",
        "1773480413000",
        "14 March 2026",
        "Mar 14, 2026",
        "14th of march 2026",
        "2026年3月14日",
    ],
)
def test_the_day_is_read_in_the_forms_other_programs_write(text: str) -> None:
    assert parse_day(text) == date(2026, 3, 14).toordinal()


def test_a_day_that_was_read_before_takes_one_look() -> None:
    timestamp = "2031-02-03T04:05:06.070809"
    first = count_calls(parse_day, timestamp)
    assert count_calls(parse_day, timestamp) < first / 4


@pytest.mark.parametrize("text", ["", "14:26", "2026-02-30", "no day"])
def test_text_without_a_day_gives_none(text: str) -> None:
    assert parse_day(text) is None
