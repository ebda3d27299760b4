"""The table of secrets: the name of each kind, the markers it starts at, its pattern, and what to do about a leak.

To add a rule: a row here, a fake secret and some near misses in the tests, and a line in docs/secrets.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from .heuristics import (
    has_key_material,
    looks_like_password,
    looks_like_url_password,
    looks_mixed,
    looks_random,
    looks_random_not_uuid,
    looks_varied,
)


class Rule(NamedTuple):
    """A kind of secret. `pattern` is tried wherever a marker occurs; its last group, or all of it, is the secret.

    A rule for short secrets is tried `anywhere`; the others only around long runs without a space.
    """

    name: str
    markers: tuple[str, ...]
    pattern: str
    next_step: str
    looks_real: Callable[[str], bool]
    anywhere: bool = False


# No letter before it, except in an escaped line end, and none after it.
_START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
_END = r"(?![A-Za-z0-9_])"
_AFTER_NAME = r"[^\n\[\]]{0,60}?(?<![A-Za-z0-9])"  # a little text between a name and the secret on the same line
_QUOTE = r"\\{0,3}([\"'`])"
_QUOTED = _QUOTE + r"([^\s\"'`\[\]\\]{8,}+)\\{0,3}"  # followed by its closing quote, as a back-reference
# What follows a name: `=`, `:`, `: str =`, `->`, `|`, `>`, `is`, in quotes, in brackets or in bold.
_ASSIGNMENT = (
    r"(?![A-Za-z0-9])(?:\\{0,3}[\"'`]\]?)?[*_]{0,2}(?: \([^()\[\]\n]{1,20}\))?[ \t]{0,4}"
    r"(?::[ \t]{0,2}[A-Za-z_]{1,20}(?: \| None)?[ \t]{0,2}=|=>|->|:=|[:=|>：＝]|is(?= )|是|为)"
    r"[*_]{0,2}\s{0,4}"
)
_SIGN = r"[A-Za-z0-9!@#$%^&*+~_/-]"
_LETTER = _SIGN.replace("&", "")  # in a URL, `&` begins the next parameter
_BARE = rf"{_SIGN}++(?:[.?]++{_SIGN}++)*+"  # a full stop at the end of a sentence is not part of it
# Not followed by a bracket: a call or an index is code, not a password.
_PASSWORD_VALUE = rf"(?:{_QUOTED}\1|({_BARE}(?:[:=]++{_BARE}){{0,4}}+)(?![.?:=]*[\[({{]))"
_TOKEN_VALUE = rf"(?:{_QUOTED}\1|({_LETTER}++(?:\.++{_LETTER}++)*+={{0,2}}+)(?![.?:=]*[\[({{]))"
_PICTURE = r"(?:\.jpg|jpeg|\.png|\.gif|webp)\?"  # picture URLs carry tokens that are meant to be shared
_URL_PASSWORD = r"[^\s/@\"'`<>\[\]\x7f-\U0010ffff]"
_PEM = (
    r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:"
    r"[^\-\[]*+(?:-(?!----)[^\-\[]*+)*+-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9_-]*+"
    r"|(?:(?:\s|\\[nr])*+[A-Za-z0-9+/=]{16,}+)++)"  # a truncated key
)


def _by_prefix(
    name: str, markers: str, body: str, next_step: str, looks_real: Callable[[str], bool] = looks_varied
) -> Rule:
    """A secret that is known by its own prefix."""
    return Rule(name, tuple(markers.split()), f"{_START}(?:{body}){_END}", next_step, looks_real)


def _by_name(
    name: str, markers: str, body: str, next_step: str, looks_real: Callable[[str], bool] = looks_mixed
) -> Rule:
    """A secret without a prefix, known by the name of its service before it."""
    names = "|".join(map(re.escape, markers.split()))
    pattern = rf"(?:{names}){_AFTER_NAME}({body})(?![A-Za-z0-9_+/=\[])"
    return Rule(name, tuple(markers.split()), pattern, next_step, looks_real)


_KEY_WORDS = "ecret api rivate ccess ccount uth igning ncryption aster icense redential 密钥"
_PASSWORD_WORDS = "assw ASSW _pass _PASS _pwd _PWD pwd= Pwd= 密码 密碼 口令 パスワード 비밀번호"

RULES = (
    _by_prefix("AWS access key id", "AKIA ASIA", r"A[KS]IA[A-Z2-7]{16}", "deactivate it in the AWS console, under IAM"),
    Rule(
        "AWS secret access key",
        ("ecret", "ECRET"),
        rf"(?i:ecret[ _-]?access[ _-]?key){_ASSIGNMENT}\\{{0,3}}[\"'`]?([A-Za-z0-9+/]{{40}})(?![A-Za-z0-9+/=\[])",
        "deactivate its access key in the AWS console, under IAM",
        looks_mixed,
    ),
    Rule(
        "Google Cloud service account key",
        ("private_key",),
        rf"private_key\\{{0,3}}\"\s?:\s?\\{{0,3}}\"({_PEM})",
        "delete that key in the Google Cloud console, under IAM",
        has_key_material,
    ),
    _by_prefix("Google API key", "AIza", r"AIza[\w-]{35}", "delete it in the Google Cloud console, under Credentials"),
    _by_prefix("Google OAuth secret", "GOCSPX-", r"GOCSPX-[\w-]{28}", "reset it in the Google Cloud console"),
    Rule(
        "Azure access key",
        ("AccountKey=", "SharedAccessKey="),
        r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{43,86}={1,2})(?![A-Za-z0-9+/=\[])",
        "rotate the access key in the Azure portal",
        looks_varied,
    ),
    Rule(
        "Azure shared access signature",
        ("sig=",),
        r"(?<=[?&;])sig=([A-Za-z0-9%+/]{43,}+=?)(?!\[)",
        "rotate the key it was signed with in the Azure portal",
        looks_mixed,
    ),
    _by_prefix("Anthropic API key", "sk-ant-", r"sk-ant-[\w-]{24,}", "delete it in the Anthropic console"),
    _by_prefix(
        "OpenAI API key",
        "sk-",
        r"sk-(?:proj|svcacct|admin|None)-[\w-]{24,}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}",
        "revoke it on OpenAI's page of API keys",
    ),
    _by_prefix("OpenRouter API key", "sk-or-v1-", r"sk-or-v1-[0-9a-f]{64}", "delete it in OpenRouter's settings"),
    _by_prefix("model API key", "sk-", r"sk-[A-Za-z0-9]{32,}", "revoke it where it was made", looks_random),
    _by_prefix("Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,}", "invalidate it in Hugging Face's settings"),
    _by_prefix("Replicate API token", "r8_", r"r8_[A-Za-z0-9]{37,}", "disable it in Replicate's settings"),
    _by_prefix("Groq API key", "gsk_", r"gsk_[A-Za-z0-9]{48,}", "delete it in the Groq console"),
    _by_prefix("xAI API key", "xai-", r"xai-[A-Za-z0-9]{64,}", "delete it in the xAI console"),
    _by_prefix("Perplexity API key", "pplx-", r"pplx-[A-Za-z0-9]{40,}", "delete it in Perplexity's settings"),
    _by_name("Mistral API key", "mistral Mistral MISTRAL", "[A-Za-z0-9]{32}", "delete it in the Mistral console"),
    _by_name("Cohere API key", "cohere Cohere COHERE", "[A-Za-z0-9]{40}", "delete it on Cohere's dashboard"),
    _by_prefix(
        "GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}",
        "revoke it on GitHub, under Developer settings",
    ),
    _by_prefix(
        "GitLab token",
        "glpat- gldt- glrt- glptt- glcbt-",
        r"gl(?:pat|dt|rt|ptt|cbt)-[\w-]{20,}(?:\.[\w-]{2,}){0,2}",
        "revoke it on GitLab, under Access tokens",
    ),
    _by_prefix(
        "Bitbucket or Atlassian token",
        "ATBB ATATT3 ATCTT3",
        r"ATBB[A-Za-z0-9]{32}|AT[AC]TT3[\w-]{60,}=?(?:[0-9A-F]{8})?",
        "revoke it in Atlassian's account settings",
    ),
    _by_prefix(
        "Slack token",
        "xox xapp-",
        r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{20,}|xapp-\d-[A-Za-z0-9-]{20,}",
        "revoke it in the settings of the Slack app",
    ),
    Rule(
        "Slack webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{24,}+)",
        "remove it in the settings of the Slack app",
        looks_varied,
    ),
    _by_name(
        "Discord bot token",
        "discord Discord DISCORD bot.run client.login Bot",
        r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,45}",
        "reset it in Discord's developer portal",
    ),
    Rule(
        "Discord webhook",
        ("/api/webhooks/",),
        r"/api/webhooks/(\d{17,20}/[\w-]{60,}+)",
        "delete it in the settings of the Discord channel",
        looks_varied,
    ),
    _by_prefix(
        "Stripe key",
        "sk_live_ rk_live_ whsec_",
        r"[sr]k_live_[A-Za-z0-9]{20,}|whsec_[A-Za-z0-9+/]{32,}",
        "roll it on the Stripe dashboard",
    ),
    _by_prefix("Twilio API key", "SK", r"SK[0-9a-f]{32}", "delete it in the Twilio console"),
    _by_name(
        "Twilio auth token", "twilio Twilio TWILIO", "[0-9a-f]{32}", "change it in the Twilio console", looks_random
    ),
    _by_prefix("SendGrid API key", "SG.", r"SG\.[\w-]{22}\.[\w-]{43}", "delete it in SendGrid's settings"),
    _by_prefix(
        "commonplace token", "cpl_", r"cpl_(?:[\w~-]+\.)?[\w-]{43}", "revoke it with `commonplace token revoke`"
    ),
    _by_prefix("npm token", "npm_", r"npm_[A-Za-z0-9]{36}", "delete it on npm, under Access Tokens"),
    _by_prefix("PyPI token", "pypi-AgE", r"pypi-AgE[\w-]{50,}", "remove it in PyPI's account settings"),
    _by_prefix(
        "Docker token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[\w-]{27,}", "delete it in Docker's account settings"
    ),
    _by_prefix(
        "DigitalOcean token",
        "dop_v1_ doo_v1_ dor_v1_",
        r"do[opr]_v1_[0-9a-f]{64}",
        "delete it in DigitalOcean's control panel, under API",
    ),
    Rule(
        "Telegram bot token",
        (":AA",),
        r"(?<=\d{8}):(AA[\w-]{33})(?!\w)",
        "let @BotFather revoke it",
        looks_varied,
    ),
    _by_prefix(
        "Shopify token", "shpat_ shpss_ shpca_ shppa_", r"shp(?:at|ss|ca|pa)_[0-9a-f]{32}", "rotate it in Shopify"
    ),
    _by_prefix("Databricks token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?", "revoke it in Databricks's user settings"),
    _by_prefix("Notion token", "ntn_", r"ntn_[A-Za-z0-9]{40,}", "refresh it in Notion, under My integrations"),
    _by_prefix("Linear API key", "lin_api_", r"lin_api_[A-Za-z0-9]{32,}", "revoke it in Linear's settings"),
    _by_prefix("Vault token", "hvs. hvb.", r"hv[sb]\.[\w-]{24,}", "revoke it with `vault token revoke`"),
    _by_prefix(
        "age secret key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}", "make a new key and encrypt again"
    ),
    Rule(
        "private key",
        ("-----BEGIN",),
        _PEM,
        "make a new key, and remove this one where it opens a door",
        has_key_material,
        True,
    ),
    _by_prefix(
        "JSON web token",
        "eyJ",
        rf"(?<!{_PICTURE}token=)eyJ[\w-]{{8,}}+\.eyJ[\w-]{{8,}}+\.[\w-]{{8,}}",
        "end the session it belongs to",
    ),
    Rule(
        "password in a web address",
        ("://",),
        rf"://([^\s:/?#@\"'`<>\[\]]*+):(?!\1@)({_URL_PASSWORD}++(?:@{_URL_PASSWORD}++){{0,2}})@(?=\w)",
        "change that password",
        looks_like_url_password,
        True,
    ),
    Rule(
        "authorization header",
        ("earer ", "asic "),
        r"(?:earer|asic) ([A-Za-z0-9_+/~.-]{16,}+={0,2}+)(?!\[)",
        "revoke what it stands for",
        looks_random,
    ),
    Rule(
        "API key",
        tuple(_KEY_WORDS.split() + _KEY_WORDS.upper().split() + ["Api"]),
        r"(?i:(?<!:.)ecret(?:[ _-]?(?:access[ _-]?)?key(?:[ _-]?base)?)?|api[ _-]?(?:access[ _-]?|secret[ _-]?)?key"
        r"|(?:rivate|ccess|ccount|uth|igning|ncryption|aster|icense)[ _-]?key|redentials?|密钥)"
        rf"{_ASSIGNMENT}{_TOKEN_VALUE}",
        "revoke it where it was made",
        looks_random,
    ),
    Rule(
        "token",
        ("oken", "OKEN", "令牌"),
        rf"(?i:(?<!(?:next|page).)(?<!(?:next|page)_.)(?<!ublickey.)(?<!{_PICTURE}.)oken|令牌){_ASSIGNMENT}{_TOKEN_VALUE}",
        "revoke it where it was made",
        looks_random_not_uuid,
    ),
    Rule(
        "password",
        tuple(_PASSWORD_WORDS.split()),
        rf"(?i:assw(?:or[dt]|d)|_pass|_?pwd|密码|密碼|口令|パスワード|비밀번호){_ASSIGNMENT}{_PASSWORD_VALUE}",
        "change it",
        looks_like_password,
        True,
    ),
)
