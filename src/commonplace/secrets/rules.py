"""The table of secrets: the name of each kind, the markers it starts at, its pattern, and what to do about a leak.

To add a rule: a row here, a fake secret and some near misses in the tests, and a line in docs/secrets.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from .heuristics import (
    UUID,
    begins_with_encoded_digits,
    has_any_value,
    has_key_material,
    looks_like_card_number,
    looks_like_command_password,
    looks_like_encoded_login,
    looks_like_password,
    looks_like_pin,
    looks_like_url_password,
    looks_mixed,
    looks_random,
    looks_random_not_uuid,
    looks_varied,
)


class Rule(NamedTuple):
    """A kind of secret. `pattern` is tried wherever a marker occurs; its last group, or all of it, is the secret.

    A marker is compared without regard to case, and any digit in it means any other digit. A rule for short secrets is
    tried `anywhere`; the others only around long runs without a space, and where the marker `is_prefix` of the secret,
    at the words of such a run. `context` must occur shortly before the marker,
    and the text must have the character `requires`.
    """

    name: str
    markers: tuple[str, ...]
    pattern: str
    next_step: str
    looks_real: Callable[[str], bool]
    anywhere: bool = False
    is_prefix: bool = False
    context: str = ""
    requires: str = ""


# No letter before it, except in an escaped line end, and none after it.
_START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
_END = r"(?![A-Za-z0-9_])"
_AFTER_NAME = r"[^\n\[\]]{0,60}?(?<![A-Za-z0-9])"  # a little text between a name and the secret on the same line
_QUOTE = r"\\{0,3}([\"'`])"
_QUOTED = _QUOTE + r"([^\s\"'`\[\]\\]{8,}+)\\{0,3}"  # followed by its closing quote, as a back-reference
_IS = "(?:is|ist|lautet|es|est|é|è|jest|är)"
_IS_ELSEWHERE = "是|为|は|(?:(?<=asło )to|[는은]|है|ه[يو])(?= )"
_FEW_WORDS = r"(?: [^\s:=|\[\]]{1,20}){0,4}?"  # between a name and what follows it: `for the router`
# What follows a name: `=`, `:`, `: str =`, `->`, `|`, `>`, `is`, in quotes, in brackets or in bold.
_ASSIGNMENT = (
    r"(?![A-Za-z0-9])(?:\\{0,3}[\"'`]\]?|\))?[*_]{0,2}(?: \([^()\[\]\n]{1,20}\))?[ \t]{0,4}"
    rf"(?::[ \t]{{0,2}}[A-Za-z_]{{1,20}}(?: \| None)?[ \t]{{0,2}}=|=>|->|:=|[:=|>：＝]|{_IS}(?= )|{_IS_ELSEWHERE})"
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
_OPEN_QUOTE = "[\"'`]?"
_COMMAND_PASSWORD = r"([^\s\"'`<>|\[\]]{6,200}+)"
_NO_DIGITS_BEFORE = r"(?<![\w.,/-])(?<!\d )(?<![A-Z]{2}\d\d )"
# Words of a wallet's seed phrase have three to eight letters; these common ones are not among them.
_SEED_WORD = (
    r"(?!(?:the|and|are|was|for|not|but|with|from|have|has|had|our|your|their|they|which|were|been|its)\b)[a-z]{3,8}\b"
)
_SEED_ITEM = rf"(?:\d\d?[.):]?[ \t]{{1,2}})?{_SEED_WORD}"
_SEED_GAP = r"[ \t,]{0,3}(?:[ ,]|\r?\n)[ \t>|*-]{0,4}"
_PEM = (
    r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:"
    r"[^\-\[]*+(?:-(?!----)[^\-\[]*+)*+-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9_-]*+"
    r"|(?:(?:\s|\\[nr])*+[A-Za-z0-9+/=]{16,}+)++)"  # a truncated key
)


def _by_prefix(
    name: str, markers: str, body: str, next_step: str, looks_real: Callable[[str], bool] = looks_varied
) -> Rule:
    """Return the rule for a secret that is known by its own prefix."""
    return Rule(name, tuple(markers.split()), f"{_START}(?:{body}){_END}", next_step, looks_real, is_prefix=True)


def _by_name(
    name: str, markers: str, body: str, next_step: str, looks_real: Callable[[str], bool] = looks_mixed
) -> Rule:
    """Return the rule for a secret without a prefix, known by the name of its service before it."""
    names = "|".join(map(re.escape, markers.split()))
    pattern = rf"(?i:{names}){_AFTER_NAME}({body})(?![A-Za-z0-9_+/=\[])"
    return Rule(name, tuple(markers.split()), pattern, next_step, looks_real)


# Keys of other services, which have a prefix of their own: the prefixes, and what follows each.
_OTHER_KEYS = (
    ("e2b_ fc- shippo_live_", "[0-9a-f]{32,40}"),
    ("access-production- sk-lf-", UUID),
    ("AQ. AQVN CFPAT- duffel_live_ fio-u- pa- tfp_", r"[\w-]{35,64}"),
    ("EZAK aio_ csk- fw_ ico- pnu_", "[A-Za-z0-9]{22,54}"),
    ("CLOJARS_ rdme_", "[a-z0-9]{60,70}"),
    ("FLWSECK-", "[0-9a-f]{32}-X"),
    ("dt0c01.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("sk.eyJ", r"[\w-]{40,}\.[\w-]{20,}"),
    ("vercel_blob_rw_", "[A-Za-z0-9]{16}_[A-Za-z0-9]{30}"),
)
_KEY_WORDS = "ecret api rivate ccess ccount uth igning ncryption aster icense dmin redential 密钥"
_PASSWORD_WORDS = "pass pwd ennwort clave senha contraseñ asł lösenord wachtwo ifre арол 密 口令 パスワ 비밀 पासव كلمة"
_PASSWORD_NAMES = (
    "pass(?:wor[dt]|wd)|(?<=_)pass|(?<![a-z])pass(?=: )|(?<=mot de )passe|pwd|ennwort|clave|senha|contraseña"
    "|asło|lösenord|wachtwoord|(?<=[ŞşSs])ifre|ароль|密[码碼]|口令|パスワード|비밀번호|पासवर्ड|كلمة (?:المرور|السر)"
)

RULES = (
    _by_prefix("AWS access key id", "AKIA ASIA", r"A[KS]IA[A-Z2-7]{16}", "deactivate it in the AWS console, under IAM"),
    Rule(
        "AWS secret access key",
        ("ecret",),
        rf"(?i:ecret[ _-]?access[ _-]?key)(?:{_ASSIGNMENT}| )\\{{0,3}}[\"'`]?([A-Za-z0-9+/]{{40}})(?![A-Za-z0-9+/=\[])",
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
    _by_prefix(
        "Google OAuth token",
        "ya29. 1//0",
        r"ya29\.[\w.-]{30,}|1//0[\w-]{35,}",
        "remove the app's access in the Google account, under Security",
    ),
    Rule(
        "Azure access key",
        ("AccountKey=", "SharedAccessKey=", "0Q~"),
        r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{43,86}={1,2})(?![A-Za-z0-9+/=\[])"
        rf"|(?<=[A-Za-z0-9_~.-]{{3}})(\dQ~[\w.~-]{{34}}){_END}",
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
    _by_name("Mistral API key", "mistral", "[A-Za-z0-9]{32}", "delete it in the Mistral console"),
    _by_name("Cohere API key", "cohere", "[A-Za-z0-9]{40}", "delete it on Cohere's dashboard"),
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
        "discord bot.run client.login bot",
        r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,45}",
        "reset it in Discord's developer portal",
    ),
    _by_prefix(
        "Discord bot token",
        "MD MT Mj Mz ND NT Nj Nz OD OT",
        r"[MNO][DTjz][\w-]{21,26}\.[\w-]{6}\.[\w-]{27,45}",
        "reset it in Discord's developer portal",
        begins_with_encoded_digits,
    ),
    Rule(
        "Microsoft Teams webhook",
        ("webhook.office.com/",),
        r"webhook\.office\.com/webhookb2/[0-9a-f@-]{73}/IncomingWebhook/([0-9a-f]{32}(?:/[0-9a-f-]{36})?)",
        "remove it in the settings of the Teams channel",
        looks_varied,
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
    _by_name("Twilio auth token", "twilio", "[0-9a-f]{32}", "change it in the Twilio console", looks_random),
    _by_prefix("SendGrid API key", "SG.", r"SG\.[\w-]{22}\.[\w-]{43}", "delete it in SendGrid's settings"),
    _by_prefix(
        "commonplace token", "cpl_", r"cpl_(?:[\w~-]+\.)?[\w-]{43}", "revoke it with `commonplace token revoke`"
    ),
    _by_prefix("npm token", "npm_", r"npm_[A-Za-z0-9]{36}", "delete it on npm, under Access Tokens"),
    Rule(
        "npm token",
        ("_authToken=",),
        rf"_authToken=({UUID}){_END}",
        "delete it on npm, under Access Tokens",
        looks_varied,
    ),
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
    _by_prefix(
        "Notion token",
        "ntn_ secret_",
        r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}",
        "refresh it in Notion, under My integrations",
    ),
    _by_prefix(
        "Linear API key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}", "revoke it in Linear's settings"
    ),
    _by_prefix("Vault token", "hvs. hvb.", r"hv[sb]\.[\w-]{24,}", "revoke it with `vault token revoke`"),
    _by_prefix(
        "Supabase key", "sbp_ sb_secret_", r"sbp_[0-9a-f]{40}|sb_secret_[\w-]{24,}", "revoke it on Supabase's dashboard"
    ),
    _by_prefix(
        "Doppler token",
        "dp.",
        r"dp\.(?:pt|st|sa|ct|said|scim|audit)\.(?:[\w-]{1,40}\.)?[A-Za-z0-9]{32,44}",
        "revoke it on Doppler's dashboard",
    ),
    _by_prefix("Airtable token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}", "delete it in Airtable's developer hub"),
    *(
        _by_prefix(
            "API key",
            markers,
            f"(?:{'|'.join(map(re.escape, markers.split()))}){body}",
            "revoke it where it was made",
            looks_random,
        )
        for markers, body in _OTHER_KEYS
    ),
    Rule(
        "API key",
        ("0/0000000000000000:", "-us0"),  # Asana, Mailchimp
        r"(?<=/\d{15})\d/\d{16}:([0-9a-f]{32})(?!\w)|(?<=([0-9a-f]{32}))-us\d{1,2}(?![\w-])",
        "revoke it where it was made",
        looks_random,
    ),
    _by_prefix("Mailgun API key", "key-", "key-[0-9a-f]{32}", "reset it in Mailgun's settings"),
    _by_prefix(
        "Grafana token",
        "glsa_ glc_ eyJrIjoi",
        "glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}|eyJrIjoi[A-Za-z0-9+/]{70,}={0,2}",
        "delete it in Grafana, under Service accounts",
    ),
    _by_prefix("Tailscale key", "tskey-", "tskey-[A-Za-z0-9-]{20,}", "revoke it in Tailscale's admin console"),
    _by_prefix(
        "Netlify token",
        "nfp_ nfc_ nfo_ nfu_ nfb_",
        "nf[pcoub]_[A-Za-z0-9]{36,}",
        "delete it in Netlify's user settings",
    ),
    _by_prefix(
        "Fly.io token",
        "fm1_ fm2_ fo1_",
        r"fm[12]_[\w+/=-]{80,}(?:,(?:fm[12]_)?[\w+/=-]{40,})*|fo1_[\w-]{40,}",
        "revoke it with `fly tokens revoke`",
    ),
    _by_prefix(
        "Vercel token",
        "vcp_ vci_ vca_ vcr_ vck_",
        "vc[piark]_[A-Za-z0-9]{24,}",
        "delete it in Vercel's account settings",
    ),
    _by_prefix(
        "Cloudflare token",
        "cfut_ cfat_ cfk_ v1.0-",
        r"cf(?:ut|at|k)_[A-Za-z0-9]{32,}|v1\.0-[0-9a-f]{24}-[0-9a-f]{140,}",
        "roll it on Cloudflare's dashboard",
    ),
    _by_prefix("Heroku API key", "HRKU-", r"HRKU-[\w-]{36,}", "regenerate it in Heroku's account settings"),
    _by_prefix(
        "New Relic key",
        "NRAK- NRII- NRAA-",
        r"NRAK-[A-Z0-9]{27}|NRII-[\w-]{32}|NRAA-[0-9a-f]{27}",
        "delete it in New Relic, under API keys",
    ),
    _by_prefix(
        "Sentry token",
        "sntrys_ sntryu_",
        "sntrys_[A-Za-z0-9+/=_]{60,}|sntryu_[0-9a-f]{64}",
        "revoke it in Sentry's settings",
    ),
    _by_prefix(
        "PlanetScale token",
        "pscale_",
        r"pscale_(?:tkn|pw|oauth|otkn)_[\w.-]{32,}",
        "delete it in PlanetScale's settings",
    ),
    _by_prefix(
        "Square token",
        "sq0 EAAA",
        r"sq0(?:atp|csp)-[\w-]{22,43}|EAAA[\w-]{60}",
        "replace it in Square's developer console",
    ),
    _by_prefix("Facebook access token", "EAA", "EAA[A-Za-z0-9]{90,}", "invalidate it in Meta's developer settings"),
    _by_prefix("Dropbox token", "sl.", r"sl\.(?:u\.)?[\w-]{120,}", "disconnect the app in Dropbox's settings"),
    _by_prefix("Figma token", "figd_", r"figd_[\w-]{40,}", "revoke it in Figma's settings"),
    _by_prefix("Postman API key", "PMAK-", "PMAK-[0-9a-f]{24}-[0-9a-f]{34}", "delete it in Postman's settings"),
    _by_prefix("Pulumi token", "pul-", "pul-[0-9a-f]{40}", "delete it in Pulumi's settings"),
    _by_prefix("RubyGems API key", "rubygems_", "rubygems_[0-9a-f]{48}", "delete it on RubyGems"),
    _by_prefix("crates.io token", "cio", "cio[A-Za-z0-9]{32}", "revoke it on crates.io"),
    _by_prefix("NuGet API key", "oy2", "oy2[a-z0-9]{43}", "delete it on NuGet"),
    _by_prefix(
        "CircleCI token",
        "CCIPAT_ CCIPRJ_",
        "CCI(?:PAT|PRJ)_[A-Za-z0-9]{20,}_[0-9a-f]{40}",
        "delete it in CircleCI's user settings",
    ),
    _by_prefix("Buildkite token", "bkua_ bkaj_", "bk(?:ua|aj)_[A-Za-z0-9_]{32,}", "revoke it in Buildkite's settings"),
    _by_prefix(
        "Brevo API key",
        "xkeysib- xsmtpsib-",
        "x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}",
        "delete it in Brevo's settings",
    ),
    _by_prefix("Resend API key", "re_", "re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}", "delete it in Resend"),
    _by_prefix("Razorpay key", "rzp_live_", "rzp_live_[A-Za-z0-9]{14,}", "regenerate it on Razorpay's dashboard"),
    _by_prefix(
        "HubSpot token",
        "pat-na pat-eu",
        r"pat-(?:na|eu)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        "rotate it in HubSpot, under Private apps",
    ),
    _by_prefix(
        "Alibaba or Tencent Cloud key",
        "LTAI AKID",
        "LTAI[A-Za-z0-9]{16,24}|AKID[A-Za-z0-9]{32}",
        "disable it in the console of that cloud",
    ),
    _by_prefix("Artifactory key", "AKCp", "AKCp[A-Za-z0-9]{69}", "revoke it in Artifactory's user profile"),
    _by_prefix("SonarQube token", "sqp_ sqa_ squ_", "sq[pau]_[0-9a-f]{40}", "revoke it in SonarQube, under Security"),
    _by_prefix(
        "LangSmith API key", "lsv2_", "lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}", "delete it in LangSmith's settings"
    ),
    _by_prefix("Pinecone API key", "pcsk_", "pcsk_[A-Za-z0-9_]{40,}", "delete it in the Pinecone console"),
    _by_prefix("NVIDIA API key", "nvapi-", r"nvapi-[\w-]{60,}", "delete it on NVIDIA's build site"),
    _by_prefix("Tavily API key", "tvly-", "tvly-(?:dev-|prod-)?[A-Za-z0-9]{32}", "delete it on Tavily's dashboard"),
    _by_prefix("ElevenLabs API key", "sk_", "sk_[0-9a-f]{48}", "delete it in ElevenLabs's settings"),
    _by_prefix(
        "1Password service token",
        "ops_eyJ",
        "ops_eyJ[A-Za-z0-9+/_-]{100,}={0,2}",
        "revoke it in 1Password, under Developer",
    ),
    _by_prefix("Trello token", "ATTA", "ATTA[0-9a-f]{64,72}", "revoke it in Trello's settings"),
    _by_prefix("Neon API key", "napi_", "napi_[a-z0-9]{60,}", "revoke it in the Neon console"),
    _by_prefix("Render API key", "rnd_", "rnd_[A-Za-z0-9]{24,}", "revoke it in Render's account settings"),
    _by_name(
        "Mailgun API key",
        "mailgun",
        "[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}",
        "reset it in Mailgun's settings",
        looks_varied,
    ),
    _by_name("Cloudflare token", "cloudflare cf_api", r"[\w-]{40}", "roll it on Cloudflare's dashboard"),
    Rule(
        "Terraform token",
        (".atlasv1.",),
        r"(?<=[A-Za-z0-9]{14})\.atlasv1\.([\w-]{60,}+)",
        "delete it in Terraform's user settings",
        looks_varied,
    ),
    Rule(
        "Docker registry login",
        ('auth"', "auth\\"),
        r"auth\\{0,3}\"\s{0,4}:\s{0,4}\\{0,3}\"([A-Za-z0-9+/]{8,}+={0,2})(?=\\{0,3}\")",
        "change that password, or delete that token, at the registry",
        looks_like_encoded_login,
    ),
    Rule(
        "Kubernetes client key",
        ("client-key-data",),
        r"client-key-data\\{0,3}\"?\s{0,4}:\s{0,4}\\{0,3}[\"']?([A-Za-z0-9+/]{40,}+={0,2})",
        "issue a new client certificate for that user",
        looks_varied,
    ),
    _by_prefix(
        "age secret key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}", "make a new key and encrypt again"
    ),
    Rule(
        "private key",
        ("-----BEGIN",),
        _PEM,
        "make a new key, and remove this one wherever it gives access",
        has_key_material,
    ),
    Rule(
        "private key",
        ("Private-Lines:",),  # of PuTTY
        r"Private-Lines: \d{1,3}\s{1,2}([A-Za-z0-9+/]{40,76}+={0,2}(?:\s{1,2}[A-Za-z0-9+/]{16,76}+={0,2}+)*+)",
        "make a new key, and remove this one wherever it gives access",
        has_key_material,
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
        requires="@",
    ),
    Rule(
        "password in a command",
        ("curl",),
        rf"curl (?:[^\n\[\]]{{0,200}}? )?(?:-u ?|--(?:proxy-)?user[ =]){_OPEN_QUOTE}"
        rf"([^\s:\"'`\[\]]{{1,100}}):(?!\1\b){_COMMAND_PASSWORD}",
        "change that password",
        looks_like_command_password,
        True,
    ),
    Rule(
        "password in a command",
        ("mysql", "pass"),
        r"(?:mysql(?:dump|admin|import)? (?:[^\n\[\]]{0,200}? )?-(?:p|-password[ =])|(?<=ssh)pass -p ?)"
        rf"{_OPEN_QUOTE}{_COMMAND_PASSWORD}",
        "change that password",
        looks_like_command_password,
        True,
    ),
    Rule(
        "password in a command",
        ("docker login", "podman login", "redis-cli", "pgpassword=", "mysql_pwd="),
        r"(?:\w+ login (?:[^\n\[\]]{0,200}? )?(?:-p|--password)[ =]|redis-cli (?:[^\n\[\]]{0,200}? )?(?:-a|--pass) "
        rf"|PGPASSWORD=|MYSQL_PWD=){_OPEN_QUOTE}{_COMMAND_PASSWORD}",
        "change that password",
        looks_like_command_password,
        True,
    ),
    Rule(
        "authorization header",
        ("earer ", "asic ", "SSWS "),
        r"(?:earer|asic|SSWS) ([A-Za-z0-9_+/~.-]{16,}+={0,2}+)(?!\[)",
        "revoke the credential in it",
        looks_random,
    ),
    Rule(
        "API key",
        tuple(_KEY_WORDS.split()),
        r"(?i:(?<!:.)ecret(?:[ _-]?(?:access[ _-]?)?key(?:[ _-]?base)?)?|api[ _-]?(?:access[ _-]?|secret[ _-]?)?key"
        r"|(?:rivate|ccess|ccount|uth|igning|ncryption|aster|icense|dmin)[ _-]?key|redentials?|密钥)"
        rf"{_ASSIGNMENT}{_TOKEN_VALUE}",
        "revoke it where it was made",
        looks_random,
    ),
    Rule(
        "token",
        ("oken", "_PAT", "令牌"),
        rf"(?i:(?<!(?:next|page).)(?<!(?:next|page)_.)(?<!ublickey.)(?<!{_PICTURE}.)oken|_pat|令牌){_ASSIGNMENT}{_TOKEN_VALUE}",
        "revoke it where it was made",
        looks_random_not_uuid,
    ),
    Rule(
        "password",
        tuple(_PASSWORD_WORDS.split()),
        rf"(?i:{_PASSWORD_NAMES}){_FEW_WORDS}{_ASSIGNMENT}{_PASSWORD_VALUE}",
        "change it",
        looks_like_password,
        True,
    ),
    Rule(
        "password",
        ("machine ", "wifi:"),  # .netrc, and the QR code of a wireless network
        r"machine \S{1,100}\s{1,8}login \S{1,100}\s{1,8}password ([^\s\[\]]{6,200}+)"
        r"|(?i:wifi:)(?:[TSHR]:[^;\n\[\]]{0,64};){1,4}P:([^;\\\n\[\]]{8,63}+)(?=;)",
        "change it",
        looks_like_command_password,
        True,
    ),
    Rule(
        "PIN",
        ("pin",),
        rf"(?<![A-Za-z0-9_-])PIN(?:[ -](?i:code|number|nummer))?{_FEW_WORDS}"
        rf"[*_]{{0,2}}(?: {_IS} |[ \t]?[:=：][*_]{{0,2}} ?|是)"
        r"[*_`]{0,2}(\d{4,5}|\d{8})(?![\w%€$]|[-.,:/]\d| ?(?:[mkMG]?[A-Z]|mm|cm|ms)\b)",
        "change it",
        looks_like_pin,
        True,
    ),
    Rule(
        "payment card number",
        ("0000 0000 0000 0000", "0000-0000-0000-0000", "0000 000000 00000"),
        rf"{_NO_DIGITS_BEFORE}(\d{{4}}([ -])(?:\d{{4}}\2\d{{4}}\2\d{{4}}|\d{{6}}\2\d{{5}}))(?![ -]?\d|\w)",
        "let the bank block the card",
        looks_like_card_number,
        True,
    ),
    Rule(
        "payment card number",
        ("0" * 15,),
        rf"{_NO_DIGITS_BEFORE}(\d{{15,16}})(?![ -]?\d|\w)",
        "let the bank block the card",
        looks_like_card_number,
        True,
        context=r"(?i:\bcard\b|credit|debit|visa|mastercard|amex|karte|tarjeta|carte|cart[aã]o|\bcarta\b|信用卡|卡号|カード)",
    ),
    Rule(
        "social security number",
        ("000-00-0000",),
        r"(?<![\w-])((?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4})(?![\w-])",
        "watch for misuse, and ask the credit bureaus for a freeze",
        has_any_value,
        True,
        context=r"(?i:\bssn\b|social[ -]security)",
    ),
    Rule(
        "seed phrase",
        ("phrase", "nemonic"),
        r"(?i:(?:(?<=seed )|(?<=recovery )|(?<=backup )|(?<=secret )|(?<=wallet ))phrase|nemonic)"
        rf"(?: (?:phrase|words?))?[^\n:=\[\]]{{0,40}}(?:[:=：]|{_IS}(?=\s))[\s\"'`*_>|]{{0,6}}"
        rf"({_SEED_ITEM}(?:{_SEED_GAP}{_SEED_ITEM}){{11,23}})"
        r"(?![A-Za-z])",
        "move the funds to a new wallet",
        has_any_value,
        True,
    ),
)
