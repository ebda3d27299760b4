from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from commonplace import InvalidArgument, Memory, SettingsError
from commonplace.settings import PROVIDERS, SETTINGS, SearchSettings, Setting, load


def put(home: Path, text: str, path: str = "commonplace.yaml") -> None:
    (home / path).parent.mkdir(parents=True, exist_ok=True)
    (home / path).write_text(text)


def test_a_home_without_a_file_has_the_defaults(home: Path) -> None:
    settings = load(str(home))
    assert (settings.layout, settings.timezone, settings.search) == ("native", "UTC", SearchSettings())
    assert settings.search.enabled
    assert settings.search.max_results == 10
    assert settings.search.min_score is None


def test_every_key_is_read_and_agents_override_what_they_name(home: Path) -> None:
    put(
        home,
        """\
workspace: .
layout: native
timezone: Europe/Berlin
world_memory:
  path: memory/world
memorySearch:
  enabled: true
  provider: openai
  model: text-embedding-3-small
  extraPaths:
    - notes/*.md
    - ./docs/*.md
  indexSessions: true
  maxResults: 5
  minScore: 0.5
agents:
  scout:
    memorySearch:
      maxResults: 7
  plain:
    memorySearch:
""",
    )
    settings = load(str(home))
    assert settings.timezone == "Europe/Berlin"
    assert settings.search == SearchSettings(
        True, "openai", "text-embedding-3-small", ("notes/*.md", "docs/*.md"), True, 5, 0.5
    )
    assert settings.search_for("scout") == settings.search._replace(max_results=7)
    assert settings.search_for("plain") == settings.search_for("nobody") == settings.search


def test_an_empty_file_has_the_defaults(home: Path) -> None:
    put(home, "# nothing set\n")
    assert load(str(home)).layout == "native"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("layot: native", 1, "unknown key 'layot'.*Did you mean 'layout'"),
        ("timezone: UTC\nmemorysearch:\n  enabled: true", 2, "unknown key 'memorysearch'.*'memorySearch'"),
        ("memorySearch:\n  enabled: yes please", 2, "enabled must be true or false"),
        ("memorySearch:\n  enabled: 'true'", 2, "enabled must be true or false"),
        ("memorySearch:\n  maxResults: many", 2, "maxResults must be a whole number"),
        ("memorySearch:\n  maxResults: 0", 2, "maxResults must be a whole number from 1"),
        ("memorySearch:\n  minScore: 2", 2, "minScore must be a number from 0 to 1"),
        ("memorySearch:\n  extraPaths: notes/*.md", 2, "extraPaths must be a list"),
        ("memorySearch:\n  extraPaths:\n    - ok/*.md\n    - ../out/*.md", 4, "leads out of the home"),
        ("memorySearch:\n  extraPaths: [/etc/*.md]", 2, "leads out of the home"),
        ("memorySearch:\n  extraPaths: [3]", 2, "extraPaths must be text"),
        ("memorySearch:\n  model: 3", 2, "model must be text"),
        ("memorySearch:\n  provider: magic", 2, "provider must be one of static"),
        ("memorySearch: true", 1, "memorySearch must be a mapping"),
        ("layout: weekly", 1, "layout must be one of native"),
        ("timezone: Mars/Olympus", 1, "not a time zone"),
        ("timezone: ../../etc/passwd", 1, "not a time zone"),
        ("workspace: [a]", 1, "workspace must be text"),
        ("world_memory: memory/world", 1, "world_memory must be a mapping"),
        ("world_memory:\n  paht: x", 2, "unknown key 'paht'"),
        ("agents:\n  a:\n    memorySearch:\n      enabld: true", 4, "unknown key 'enabld'"),
        ("agents:\n  a:\n    memory: true", 3, "unknown key 'memory'"),
        ("agents: [a]", 1, "agents must be a mapping"),
        ("layout: native\nlayout: native", 2, "is given twice"),
        ("- a\n- b", 1, "must be a mapping"),
        ("layout: [native", 1, "not valid YAML"),
        ("a: b: c", 1, "not valid YAML"),
    ],
)
def test_a_wrong_key_or_type_is_an_error_with_file_and_line(home: Path, text: str, line: int, words: str) -> None:
    put(home, text)
    with pytest.raises(SettingsError, match=rf"commonplace\.yaml:{line}: .*{words}"):
        Memory(home)


def test_a_settings_file_that_is_not_text_is_reported(home: Path) -> None:
    home.mkdir()
    (home / "commonplace.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="UTF-8"):
        Memory(home)
    (home / "commonplace.yaml").unlink()
    (home / "commonplace.yaml").mkdir()
    with pytest.raises(SettingsError, match=r"commonplace\.yaml"):
        Memory(home)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("spec:\n  memory:\n    backend: postgres", 3, "backend must be one of filesystem"),
        ("spec:\n  memory:\n    bakend: filesystem", 3, "unknown key 'bakend'"),
        ("spec:\n  memory: true", 2, "spec.memory must be a mapping"),
        ("spec: [", 1, "not valid YAML"),
    ],
)
def test_an_agents_own_file_is_checked_where_it_is_ours(home: Path, text: str, line: int, words: str) -> None:
    put(home, text, "agents/scout/agent.yaml")
    with pytest.raises(SettingsError, match=rf"agent\.yaml:{line}: .*{words}"):
        Memory(home, agent="scout")
    assert Memory(home).call("recall")["success"]


@pytest.mark.parametrize("query", ["tenant=a&tenant=b", "tenant=", f"tenant={'a' * 201}"])
def test_a_database_url_names_one_tenant(query: str) -> None:
    with pytest.raises(InvalidArgument, match="names one tenant"):
        Memory(f"postgresql://localhost/x?{query}")


DOCUMENT = (Path(__file__).parents[1] / "docs" / "settings.md").read_text()


def read_documentation() -> dict[str, Any]:
    """The settings of the example in the documentation, by their names."""
    example = yaml.safe_load(DOCUMENT.split("```yaml\n")[1].split("```")[0])
    assert set(example.pop("agents")) == {"scout"}
    names: dict[str, Any] = {}
    for name, value in example.items():
        names |= {f"{name}.{key}": each for key, each in value.items()} if isinstance(value, dict) else {name: value}
    return names


def test_the_documentation_has_every_setting_and_no_other() -> None:
    assert sorted(read_documentation()) == sorted(setting.name for setting in SETTINGS)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_the_documentation_shows_the_default_or_an_example(setting: Setting) -> None:
    text = read_documentation()[setting.name]
    has_default = setting.default not in ("", (), None)
    assert text == setting.default or not has_default, "what the example shows is the default, where there is one"
    assert setting.help
    (line,) = [line for line in DOCUMENT.splitlines() if line.strip().startswith(f"{setting.key}:")][:1]
    assert all(choice in line for choice in setting.schema.get("enum", ())), "every choice is named beside it"


def test_the_documentation_has_every_provider() -> None:
    rows = [line.split("|")[1].strip(" `") for line in DOCUMENT.splitlines() if line.startswith("| `")]
    assert rows == [*PROVIDERS]
