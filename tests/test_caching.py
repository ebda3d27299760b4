"""What a process keeps to save time is bounded by bytes, whatever it is given."""

from __future__ import annotations

from pathlib import Path

from commonplace import Memory
from commonplace.caching import ByteCache, cache_within, list_caches, measure_bytes
from commonplace.server.auth import Caller, ServerOptions
from commonplace.server.service import MemoryPool

from .costs import count_calls

MAX_PROCESS_BYTES = 150_000_000  # of all caches together, if all were full


def test_a_cache_stays_within_its_bytes() -> None:
    cache: ByteCache[str, str] = ByteCache("test", 100_000)
    for number in range(2_000):
        cache.put(f"key {number}", "x" * (number % 700))
        assert cache.size_bytes <= 100_000
    remaining = [cache.get(f"key {number}") for number in range(2_000)]
    assert measure_bytes([value for value in remaining if value]) <= 100_000


def test_what_is_used_again_and_again_stays() -> None:
    cache: ByteCache[str, str] = ByteCache("test", 100_000)
    cache.put("often", "kept")
    for number in range(2_000):
        cache.put(f"key {number}", "x" * 500)
        assert cache.get("often") == "kept"
    assert cache.get("key 0") is None


def test_one_text_that_would_take_the_place_of_many_is_not_kept() -> None:
    cache: ByteCache[str, str] = ByteCache("test", 100_000)
    cache.put("small", "kept")
    cache.put("large", "x" * 50_000)
    assert cache.get("large") is None
    assert cache.get("small") == "kept"


def test_a_value_that_is_taken_out_or_replaced_does_not_count_any_more() -> None:
    cache: ByteCache[str, str] = ByteCache("test", 100_000)
    for _ in range(1_000):
        cache.put("same", "x" * 10_000)
    assert cache.get("same") == "x" * 10_000
    assert cache.pop("same") == "x" * 10_000
    assert cache.size_bytes == 0
    assert len(cache) == 0


def test_a_long_text_does_not_make_short_ones_count_for_more() -> None:
    cache: ByteCache[tuple[str], str] = ByteCache("test", 400_000)
    for number in range(100):
        cache.add_new((f"{number}",), "x" * 500)
    for number in range(100):
        cache.add_new((f"{number} {'y' * 30_000}",), "x")
        assert [cache.get((f"{short}",)) for short in range(100)] == ["x" * 500] * 100
        assert cache.size_bytes <= 400_000


def test_a_function_is_called_once_for_the_same_arguments_even_if_it_returns_none() -> None:
    calls: list[tuple[str, bool]] = []

    @cache_within(10_000)
    def look_up(text: str, *, is_turn: bool = False) -> str | None:
        calls.append((text, is_turn))
        return text if is_turn else None

    for _ in range(3):
        assert look_up("a") is None
        assert look_up("a", is_turn=True) == "a"
    assert calls == [("a", False), ("a", True)]


def test_bytes_are_those_of_everything_in_a_value() -> None:
    assert measure_bytes("x" * 1_000) > 1_000
    assert measure_bytes(("x" * 1_000, ["y" * 1_000, {"z" * 1_000: {"w" * 1_000}}])) > 4_000
    shared = ["x" * 1_000]
    assert measure_bytes([shared] * 50) < 10_000  # its text counts once


def test_an_empty_field_takes_no_bytes_beyond_its_place() -> None:
    for empty in ("", b"", (), None, False, 0):
        assert measure_bytes([empty] * 9) - measure_bytes([empty]) == measure_bytes([None] * 9) - measure_bytes([None])
        assert measure_bytes(("x" * 1_000, empty)) == measure_bytes(("x" * 1_000, None))


def test_a_long_list_is_measured_by_a_part_of_it() -> None:
    pairs = [(f"{number} {'x' * 1_000}", number) for number in range(3_000)]
    exact = sum(measure_bytes(pair) for pair in pairs)
    assert 0.9 * exact < measure_bytes(pairs) < 1.1 * exact
    assert count_calls(measure_bytes, pairs) < 1_000


def test_all_caches_of_a_process_stay_small_while_it_writes_and_searches_long_texts(tmp_path: Path) -> None:
    with Memory(tmp_path, "scribe") as memory:
        for number in range(8):
            memory.call("remember", {"content": _write_long_text(number)})
            memory.call("update_world", {"topic": f"topic {number % 5}", "content": _write_long_text(number + 1_000)})
            memory.search(f"which port does service{number} use now, and who moved host{number}?")
        memory.context()
        caches = list_caches()
    assert sum(len(cache) for cache in caches) > 500  # they are in use
    assert [cache.name for cache in caches if cache.size_bytes > cache.limit_bytes] == []
    shared = {cache.name: cache.limit_bytes for cache in caches}
    assert sum(shared.values()) < MAX_PROCESS_BYTES


def test_agents_of_one_memory_share_what_is_known_of_its_authors(tmp_path: Path) -> None:
    pool = MemoryPool(ServerOptions(str(tmp_path)))
    try:
        ada = pool.open(Caller(str(tmp_path), "ada"))
        ada.call("update_world", {"topic": "ports", "content": "The gateway listens on 8443."})
        hits = ada.search("gateway port")
        bob = pool.open(Caller(str(tmp_path), "bob"))
        assert bob.home.authors is ada.home.authors
        assert [hit.author for hit in bob.search("gateway port")] == [hit.author for hit in hits] != [""]
    finally:
        pool.close()


def _write_long_text(number: int) -> str:
    sentences = (
        f"Service{number}x{part} uses port {8000 + number + part} on host{number}, which moved from rack{part} to "
        f"rack{part + number} because person{number} asked for it in week {part}."
        for part in range(10)
    )
    return "\n\n".join(sentences)
