from __future__ import annotations

import json
import random
import re
import string
import time
import timeit
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory, SettingsError
from commonplace.home import Home
from commonplace.index import sync
from commonplace.secrets import Secret, find, redact, warning
from commonplace.secrets.rules import RULES
from commonplace.settings import load
from commonplace.testing import FrozenClock

from .ordinary_texts import ORDINARY
from .texts import texts

ROOT = Path(__file__).parent.parent
HEX = "0123456789abcdef"
BASE32 = string.ascii_uppercase + "234567"
ALNUM = string.ascii_letters + string.digits
BASE64 = ALNUM + "+/"
WEB = ALNUM + "_-"


def make_fake(*parts: str | tuple[str, int], seed: int = 7) -> str:
    """A fake: text as it is, and (alphabet, length) as characters of that alphabet. No key ever stands in this file."""
    dice = random.Random(f"{parts}{seed}")
    return "".join(part if isinstance(part, str) else "".join(dice.choices(part[0], k=part[1])) for part in parts)


def pem(kind: str, seed: int = 7) -> str:
    lines = [make_fake((BASE64, 64), seed=seed + row) for row in range(12)]
    return "\n".join(
        [f"-----BEGIN {kind}-----", *lines, make_fake((BASE64, 22), "==", seed=seed), f"-----END {kind}-----"]
    )


SEED_WORDS = (
    "river camp lunar gesture ostrich velvet crane pulp minor tiger hazard orbit"  # of the length of a real one
)

UUID = "0b26c1f4-7de1-4f8a-9c35-8ae2d4f6b913"
# By rule: what stands before the secret, the secret, and what stands after it.
FAKES: list[tuple[str, str, str, str]] = [
    ("AWS access key id", "id: ", make_fake("AK", "IA", (BASE32, 16)), "\n"),
    ("AWS access key id", "aws sts: ", make_fake("AS", "IA", (BASE32, 16)), "."),
    ("AWS secret access key", "aws_secret_access_key = ", make_fake((BASE64, 40)), "\n"),
    ("AWS secret access key", '{"SecretAccessKey": "', make_fake((BASE64, 40)), '"}'),
    ("AWS secret access key", "the secret access key is ", make_fake((BASE64, 40)), " in eu-west-1"),
    ("Google API key", "maps?key=", make_fake("AI", "za", (WEB, 35)), "&v=3"),
    ("Google OAuth secret", "client: ", make_fake("GOC", "SPX-", (WEB, 28)), " "),
    ("Google Cloud service account key", '"private_key": "', pem("PRIVATE KEY").replace("\n", "\\n"), '\\n",'),
    ("Azure access key", "AccountName=ann;AccountKey=", make_fake((BASE64, 86), "=="), ";EndpointSuffix=core"),
    ("Azure access key", "Endpoint=sb://x;SharedAccessKey=", make_fake((BASE64, 43), "="), "\n"),
    ("Azure shared access signature", "blob?se=2027-01-01&sig=", make_fake((ALNUM, 42), "%3D"), "&sv=2022"),
    ("OpenAI API key", "OPENAI_API_KEY=", make_fake("sk", "-proj-", (WEB, 120), "a"), "\n"),
    ("OpenAI API key", "old: ", make_fake("sk", "-", (ALNUM, 20), "T3Blb", "kFJ", (ALNUM, 20)), ""),
    ("Anthropic API key", "use `", make_fake("sk", "-ant-", "api03-", (WEB, 93), "AA"), "`"),
    ("OpenRouter API key", "key ", make_fake("sk", "-or-v1-", (HEX, 64)), ", thanks"),
    ("model API key", "deepseek ", make_fake("sk", "-", (HEX, 32)), " works"),
    ("Hugging Face token", "login with ", make_fake("h", "f_", (string.ascii_letters, 34)), "\n"),
    ("Replicate API token", "Token ", make_fake("r", "8_", (ALNUM, 37)), ""),
    ("Groq API key", "groq: ", make_fake("gs", "k_", (ALNUM, 52)), ""),
    ("xAI API key", "grok: ", make_fake("xa", "i-", (ALNUM, 80)), ""),
    ("Perplexity API key", "", make_fake("ppl", "x-", (ALNUM, 48)), ""),
    ("Mistral API key", "MISTRAL_API_KEY=", make_fake((ALNUM, 32)), "\n"),
    ("Mistral API key", "for Mistral take ", make_fake((ALNUM, 32)), " now"),
    ("Cohere API key", 'co = cohere.Client("', make_fake((ALNUM, 40)), '")'),
    ("GitHub token", "git clone https://", make_fake("gh", "p_", (ALNUM, 36)), "@github.com/a/b"),
    ("GitHub token", "", make_fake("gh", "o_", (ALNUM, 36)), ""),
    ("GitHub token", "令牌", make_fake("gh", "s_", (ALNUM, 36)), "。"),
    ("GitHub token", "fine: ", make_fake("github", "_pat_", (ALNUM, 22), "_", (ALNUM, 59)), ""),
    ("GitLab token", "", make_fake("gl", "pat-", (WEB, 20)), " "),
    ("GitLab token", "", make_fake("gl", "pat-", (WEB, 27), ".01.", (string.ascii_lowercase, 9)), " "),
    ("Bitbucket or Atlassian token", "", make_fake("AT", "BB", (ALNUM, 32)), ""),
    ("Bitbucket or Atlassian token", "", make_fake("AT", "ATT3", (WEB, 180), "=", ("0123456789ABCDEF", 8)), ""),
    (
        "Slack token",
        "bot: ",
        make_fake("xo", "xb-", (string.digits, 12), "-", (string.digits, 12), "-", (ALNUM, 24)),
        "",
    ),
    (
        "Slack token",
        "app: ",
        make_fake("xa", "pp-1-", ("A0123456789", 11), "-", (string.digits, 13), "-", (HEX, 64)),
        "",
    ),
    (
        "Slack webhook",
        "https://hooks.slack.com/services/",
        make_fake("T", (BASE32, 9), "/B", (BASE32, 9), "/", (ALNUM, 24)),
        "",
    ),
    ("Discord bot token", 'bot.run("', make_fake("MT", (ALNUM, 24), ".", (WEB, 6), ".", (ALNUM, 38)), '")'),
    ("Discord bot token", "our Discord bot: ", make_fake("NDk", (ALNUM, 21), ".", (WEB, 6), ".", (ALNUM, 27)), "\n"),
    ("Discord webhook", "https://discord.com/api/webhooks/", make_fake((string.digits, 19), "/", (WEB, 68)), " "),
    ("Stripe key", "", make_fake("sk", "_live_", (ALNUM, 24)), ""),
    ("Stripe key", "", make_fake("rk", "_live_", (ALNUM, 99)), ""),
    ("Stripe key", "", make_fake("wh", "sec_", (ALNUM, 32)), ""),
    ("Twilio API key", "sid ", make_fake("S", "K", (HEX, 32)), ""),
    ("Twilio auth token", "Twilio: ", make_fake((HEX, 32)), "\n"),
    ("SendGrid API key", "", make_fake("S", "G.", (WEB, 22), ".", (WEB, 43)), ""),
    ("commonplace token", "here: ", make_fake("cp", "l_", (WEB, 43)), " for you"),
    ("commonplace token", "curl -H X:", make_fake("cp", "l_acme.", (WEB, 43)), "\n"),
    ("npm token", "//registry.npmjs.org/:_authToken=", make_fake("np", "m_", (ALNUM, 36)), "\n"),
    ("PyPI token", "password = ", make_fake("pyp", "i-AgE", "IcHlwaS5vcmc", (WEB, 150)), "\n"),
    ("Docker token", "docker login -p ", make_fake("dckr", "_pat_", (WEB, 27)), "\n"),
    ("DigitalOcean token", "doctl -t ", make_fake("do", "p_v1_", (HEX, 64)), "\n"),
    ("Telegram bot token", "1234567891:", make_fake("A", "A", (WEB, 33)), " "),
    ("Shopify token", "", make_fake("shp", "at_", (HEX, 32)), ""),
    ("Databricks token", "", make_fake("da", "pi", (HEX, 32), "-2"), " "),
    ("Notion token", "", make_fake("nt", "n_", (ALNUM, 46)), ""),
    ("Linear API key", "", make_fake("lin", "_api_", (ALNUM, 40)), ""),
    ("Vault token", "", make_fake("hv", "s.", (ALNUM, 24)), ""),
    ("age secret key", "", make_fake("AGE-SECRET", "-KEY-1", (BASE32, 58)), ""),
    ("private key", "", pem("RSA PRIVATE KEY"), "\n"),
    ("private key", "my key:\n", pem("OPENSSH PRIVATE KEY"), "\nthanks"),
    ("private key", "> ", pem("EC PRIVATE KEY").replace("\n", "\n> "), ""),
    ("private key", "", pem("PGP PRIVATE KEY BLOCK"), ""),
    ("private key", "", pem("RSA PRIVATE KEY")[:-80].rstrip(), ""),
    ("JSON web token", "cookie=", make_fake("ey", "J", (ALNUM, 33), ".ey", "J", (WEB, 90), ".", (WEB, 43)), ""),
    ("password in a web address", "postgres://app:", make_fake(("abcdef123", 9)), "@db.internal:5432/app"),
    ("password in a web address", "redis://:", "corre" + "cthorse", "@cache:6379"),
    ("password in a web address", "amqp://me:", "p@ss" + "w0rd!", "@host/vhost"),
    ("authorization header", "Authorization: Bearer ", make_fake((ALNUM, 40)), "\n"),
    ("authorization header", "-H 'Authorization: Basic ", make_fake((ALNUM, 30), "=="), "'"),
    ("API key", "api_key = '", make_fake((ALNUM, 32)), "'"),
    ("API key", "ACME_API_KEY=", make_fake((HEX, 32)), "\n"),
    ("API key", "The API key is ", make_fake((ALNUM, 24)), "."),
    ("API key", "- **API key:** `", make_fake((ALNUM, 24)), "`"),
    ("API key", '{\\"client_secret\\": \\"', make_fake((ALNUM, 40)), '\\"}'),
    ("API key", 'SECRET_KEY = "', make_fake((ALNUM + "!#$%^&*", 50)), '"'),
    ("API key", "| access key | ", make_fake((ALNUM, 24)), " |"),
    ("API key", "密钥：", make_fake((ALNUM, 32)), "，别外传"),
    ("token", "https://x.test/?token=", make_fake((ALNUM, 30)), "&page=2"),
    ("token", 'auth_token: str = "', make_fake((HEX, 40)), '"'),
    ("token", "accessToken -> ", make_fake((WEB, 40), "a"), "\n"),
    ("password", "password: ", "Tr0ub" + "4dor&3", "\n"),
    ("password", "DB_PASSWORD=", "xK9#" + "mQ2vL7", "\n"),
    ("password", "The wifi password is ", "Summer" + "2024!", ""),
    ("password", "Passwort: ", "gR8$" + "kuchen", "."),
    ("password", 'config["password"] = "', "a:b=c4" + "D{e9,f", '"'),
    ("password", "user (Password): ", "s3cr" + "3tP4ss", ""),
    ("password", "<password>", "s3cr" + "3tP4ss", "</password>"),
    ("password", "| password | ", "hT7" + "yU2kk", " |"),
    ("password", "Server=db;Pwd=", "q8W" + "e9Rt1", ";"),
    ("password", "密码是", "Wo" + "@12345ni", "，不要告诉别人"),
    ("password", "パスワード：", "Sak" + "ura#77", "です"),
    ("Google OAuth token", "access: ", make_fake("ya", "29.", "a0Af", (WEB, 120), "k"), "\n"),
    ("Google OAuth token", '"refresh_token": "', make_fake("1", "//0", "g", (WEB, 60), "k"), '"'),
    ("Supabase key", "", make_fake("sb", "p_", (HEX, 40)), "\n"),
    ("Supabase key", "server: ", make_fake("sb", "_secret_", (WEB, 31), "a"), ""),
    ("Doppler token", "", make_fake("dp", ".pt.", (ALNUM, 43)), ""),
    ("Doppler token", "", make_fake("dp", ".st.", "prd_eu.", (ALNUM, 43)), ""),
    ("Airtable token", "", make_fake("pa", "t", (ALNUM, 14), ".", (HEX, 64)), " "),
    ("Mailgun API key", "", make_fake("ke", "y-", (HEX, 32)), ""),
    ("Mailgun API key", "Mailgun: ", make_fake((HEX, 32), "-", (HEX, 8), "-", (HEX, 8)), ""),
    ("Grafana token", "", make_fake("gl", "sa_", (ALNUM, 32), "_", (HEX, 8)), ""),
    ("Grafana token", "", make_fake("gl", "c_", (ALNUM, 80)), ""),
    ("Tailscale key", "", make_fake("ts", "key-auth-", (ALNUM, 12), "-", (ALNUM, 32)), " "),
    ("Netlify token", "", make_fake("nf", "p_", (ALNUM, 36)), ""),
    ("Fly.io token", "FlyV1 ", make_fake("fm", "2_", (BASE64, 120), "a"), "\n"),
    ("Fly.io token", "", make_fake("fo", "1_", (WEB, 42), "a"), "\n"),
    ("Vercel token", "", make_fake("vc", "p_", (ALNUM, 56)), ""),
    ("Cloudflare token", "Cloudflare: ", make_fake((ALNUM, 40)), "\n"),
    ("Cloudflare token", "", make_fake("v1", ".0-", (HEX, 24), "-", (HEX, 146)), ""),
    ("Heroku API key", "", make_fake("HR", "KU-AA", (WEB, 57), "a"), ""),
    ("New Relic key", "", make_fake("NR", "AK-", (BASE32, 27)), ""),
    ("Sentry token", "", make_fake("snt", "ryu_", (HEX, 64)), ""),
    ("PlanetScale token", "", make_fake("psc", "ale_tkn_", (WEB, 42), "a"), ""),
    ("Square token", "", make_fake("sq", "0atp-", (WEB, 21), "a"), ""),
    ("Square token", "", make_fake("EA", "AA", (WEB, 59), "a"), ""),
    ("Facebook access token", "", make_fake("EA", "AB", (ALNUM, 150)), ""),
    ("Dropbox token", "", make_fake("s", "l.u.", (WEB, 140), "a"), ""),
    ("Figma token", "", make_fake("fi", "gd_", (WEB, 42), "a"), ""),
    ("Postman API key", "", make_fake("PM", "AK-", (HEX, 24), "-", (HEX, 34)), ""),
    ("Pulumi token", "", make_fake("pu", "l-", (HEX, 40)), ""),
    ("RubyGems API key", "", make_fake("ruby", "gems_", (HEX, 48)), ""),
    ("crates.io token", "", make_fake("ci", "o", (ALNUM, 32)), ""),
    ("NuGet API key", "", make_fake("oy", "2", (string.ascii_lowercase + string.digits, 43)), ""),
    ("CircleCI token", "", make_fake("CCI", "PAT_", (ALNUM, 22), "_", (HEX, 40)), ""),
    ("Buildkite token", "", make_fake("bk", "ua_", (HEX, 40)), ""),
    ("Brevo API key", "", make_fake("xkey", "sib-", (HEX, 64), "-", (ALNUM, 16)), ""),
    ("Resend API key", "", make_fake("r", "e_", (ALNUM, 8), "_", (ALNUM, 24)), ""),
    ("Razorpay key", "", make_fake("rzp", "_live_", (ALNUM, 14)), ""),
    ("HubSpot token", "", make_fake("pa", "t-na1-", (HEX, 8), "-4f1c-9ab2-8d07-", (HEX, 12)), ""),
    ("Alibaba or Tencent Cloud key", "", make_fake("LT", "AI", (ALNUM, 20)), ""),
    ("Alibaba or Tencent Cloud key", "", make_fake("AK", "ID", (ALNUM, 32)), ""),
    ("Artifactory key", "", make_fake("AK", "Cp", (ALNUM, 69)), ""),
    ("SonarQube token", "", make_fake("sq", "p_", (HEX, 40)), ""),
    ("LangSmith API key", "", make_fake("ls", "v2_pt_", (HEX, 32), "_", (HEX, 10)), ""),
    ("Pinecone API key", "", make_fake("pc", "sk_", (ALNUM, 70)), ""),
    ("NVIDIA API key", "", make_fake("nv", "api-", (WEB, 63), "a"), ""),
    ("Tavily API key", "", make_fake("tv", "ly-", (ALNUM, 32)), ""),
    ("ElevenLabs API key", "", make_fake("s", "k_", (HEX, 48)), ""),
    ("1Password service token", "", make_fake("op", "s_ey", "J", (ALNUM, 200)), ""),
    ("Trello token", "", make_fake("AT", "TA", (HEX, 72)), ""),
    ("Neon API key", "", make_fake("na", "pi_", (string.ascii_lowercase + string.digits, 64)), ""),
    ("Render API key", "", make_fake("rn", "d_", (ALNUM, 28)), ""),
    ("Terraform token", make_fake((ALNUM, 14), ".at", "lasv1."), make_fake((WEB, 66), "a"), ""),
    ("Docker registry login", '{"auths": {"x.test": {"auth": "', b64encode(b"ann:gR8kuchen77").decode(), '"}}}'),
    ("Kubernetes client key", "    client-key-data: ", make_fake((BASE64, 200)), "\n"),
    ("password in a command", "curl -u ann:", "gR8" + "kuchen", " https://x.test/api"),
    ("password in a command", "curl -s --user 'ann:", "k4tze" + "Baum", "' https://x.test/api"),
    ("password in a command", "mysql -u root -p", "S0mm" + "erwind", " shop"),
    ("password in a command", "mysqldump --password=", "haus" + "boot77", " shop"),
    ("password in a command", "sshpass -p ", "wind" + "rad99", " ssh ann@host"),
    ("password", "Das Passwort lautet ", "Som" + "mer!2024", "."),
    ("password", "Das Passwort lautet ", "som" + "mer2024", "."),
    ("password", "La contraseña del wifi es ", "perro" + "1234", ""),
    ("password", "password: ", "panda" + "2024", ""),
    ("password", "Das Passwort für das WLAN ist ", "xK9#" + "mQ2vL7", ", sagt Ann"),
    ("password", "contraseña: ", "V3rano" + "!2024", "\n"),
    ("password", "La contraseña del wifi es ", "V3rano" + "!2024", ""),
    ("password", "La clave es ", "Sol" + "9tierra!", "\n"),
    ("password", "Le mot de passe est ", "Et3" + "soleil!", ""),
    ("password", "Mot de passe : ", "Et3" + "soleil!", "\n"),
    ("password", "A senha é ", "Ver4o" + "praia!", "\n"),
    ("password", "La password di casa è ", "Est4te" + "mare!", "\n"),
    ("password", "Пароль: ", "Le7o" + "more!x", "\n"),
    ("password", "Het wachtwoord van de wifi is ", "Zom3r" + "zon!x", ", zegt Ann"),
    ("password", "Hasło to ", "Lat0" + "2024!x", "\n"),
    ("password", "Şifre: ", "Yaz4" + "deniz!", ""),
    ("password", "비밀번호는 ", "Yeo7" + "reum!x", " 입니다"),
    ("password", "पासवर्ड है ", "Gar7" + "mi!xyz", ""),
    ("password", "पासवर्ड: ", "Gar7" + "mi!xyz", "\n"),
    ("password", "كلمة المرور هي ", "Say7" + "fi!xyz", ""),
    ("PIN", "The PIN is ", "4821", "."),
    ("PIN", "Die PIN der Karte lautet ", "7306", ""),
    ("PIN", "- **PIN:** ", "90817", "\n"),
    ("payment card number", "Visa: ", "4539 1488 0343 6467", ", 09/29"),
    ("payment card number", "", "5425-2334-3010-9903", " is Ann's"),
    ("payment card number", "", "3714 496353 98431", ""),
    ("payment card number", "credit card number ", "4539148803436467", "\n"),
    ("social security number", "SSN: ", "536-22-8726", "\n"),
    ("social security number", "Her Social Security number is ", "219-54-7781", "."),
    ("Azure access key", "client secret oFc", make_fake("8Q~", (WEB, 33), "a"), "\n"),
    (
        "Discord bot token",
        "",
        make_fake(b64encode(b"481516234237121995").decode(), ".", (WEB, 6), ".", (ALNUM, 38)),
        " ",
    ),
    (
        "Microsoft Teams webhook",
        f"https://acme.webhook.office.com/webhookb2/{UUID}@{UUID}/IncomingWebhook/",
        make_fake((HEX, 32), f"/{UUID}"),
        "\n",
    ),
    ("npm token", "//registry.npmjs.org/:_authToken=", UUID, "\n"),
    ("AWS secret access key", "aws configure set aws_secret_access_key ", make_fake((BASE64, 40)), "\n"),
    ("authorization header", "Authorization: SSWS ", make_fake("00", (WEB, 40)), "\n"),
    ("private key", "Private-Lines: 1\n", make_fake((BASE64, 48)), "\nPrivate-MAC: 7"),
    ("password in a command", "docker login -u ann -p ", "gR8" + "kuchen", " ghcr.io"),
    ("password in a command", "redis-cli -h cache -a ", "gR8" + "kuchen", " ping"),
    ("password in a command", "PGPASSWORD=", "242" + "gfxrttWsjFM", " psql -h db"),
    ("password", "machine api.x.test login ann password ", "gR8" + "kuchen", "\n"),
    ("password", "WIFI:T:WPA;S:home;P:", "gR8" + "kuchen", ";;"),
    ("password", "Benutzer ann, Kennwort: ", "Bl4u" + "wal#77", "\n"),
    ("password", "user: ann\npass: ", "Blue" + "f5Da!7", "\n"),
    ("password", "パスワードは", "Sak" + "ura#77", " です"),
    ("token", "AZURE_DEVOPS_EXT_PAT=", make_fake((string.ascii_lowercase + string.digits, 52)), "\n"),
    ("API key", "ALGOLIA_ADMIN_KEY=", make_fake((HEX, 32)), "\n"),
    ("API key", "mailchimp: ", make_fake((HEX, 32)), "-us14"),
    ("API key", "asana 2/1694706589893470/1258079976468930:", make_fake((HEX, 32)), "\n"),
    ("API key", "", make_fake("A", "Q.Ab8RN6", (WEB, 44)), "\n"),
    ("API key", "", make_fake("f", "c-", (HEX, 32)), "\n"),
    ("API key", "", make_fake("sk", "-lf-", UUID), "\n"),
    ("API key", "", make_fake("dt", "0c01.", (BASE32, 24), ".", (BASE32, 64)), "\n"),
    ("API key", "", make_fake("sk", ".eyJ", (WEB, 80), ".", (WEB, 22)), "\n"),
    ("seed phrase", "seed phrase: ", SEED_WORDS, "\n"),
    ("seed phrase", "The recovery phrase is\n", SEED_WORDS.replace(" ", "\n"), "\n"),
    ("seed phrase", 'mnemonic = "', f"{SEED_WORDS} {SEED_WORDS}", '"'),
]


@pytest.mark.parametrize(("rule", "before", "secret", "after"), FAKES, ids=[fake[0] for fake in FAKES])
def test_a_secret_is_found_named_and_replaced_exactly(rule: str, before: str, secret: str, after: str) -> None:
    text = before + secret + after
    assert find(text) == (Secret(rule, len(before), len(before) + len(secret)),)
    assert redact(text) == f"{before}[secret: {rule}]{after}"


def test_every_rule_has_a_fake_secret_and_is_in_the_docs() -> None:
    assert {rule.name for rule in RULES} == {fake[0] for fake in FAKES}
    text = (ROOT / "docs/secrets.md").read_text()
    assert [rule.name for rule in RULES if f"| {rule.name} | {rule.next_step} |" not in text] == []


PASSAGE = make_fake((ALNUM, 90))
NEAR_MISSES = [
    "Das Passwort muss mindestens zwölf Zeichen haben; das Kennwort: im Tresor.",
    "パスワードは八文字以上にしてください。パスワードはConfigurationManagerで変更できます。",
    "pass: 12 tests, failed: 0; PASS: test_login_2fa; bypass: Authentication_v2; compass: northEast45",
    "docker login -u USER -p PASSWORD x.test; docker login -u $USER -p $TOKEN; docker login --password-stdin ghcr.io",
    "docker run -p 8080:8080 -p 127.0.0.1:5432:5432 postgres:16-alpine",
    "redis-cli -h localhost -a $REDIS_PASSWORD; PGPASSWORD=$DB_PASS psql; PGPASSWORD=postgres psql",
    "fw_update_controller_initialize, csk-network, pa-check-for-regressions-in-the-nightly-build-of-today",
    "ico-folder-open-outline-rounded-small, aio_read_nonblocking, access-production-database-replica",
    "WIFI:T:WPA;S:guest;; on a machine with a login and a password reset",
    "a file such as 32-us14, MTAxMjM0NTY3ODkwMTIzNDU2, admin_key = settings.ADMIN_KEY",
    "aws configure set aws_secret_access_key $SECRET",
    "550e8400-e29b-41d4-a716-446655440000",
    "request token: 550e8400-e29b-41d4-a716-446655440000",
    f"fixed in commit {make_fake((HEX, 40))}",
    f"sha256:{make_fake((HEX, 64))}",
    f"md5 of the file: {make_fake((HEX, 32))}",
    f"![dot](data:image/png;base64,iVBORw0KGgo{make_fake((BASE64, 400))}=)",
    f"integrity sha512-{make_fake((BASE64, 86))}==",
    f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{make_fake((BASE64, 43))} ann@laptop",
    f"-----BEGIN CERTIFICATE-----\n{make_fake((BASE64, 64))}\n-----END CERTIFICATE-----",
    f"-----BEGIN PUBLIC KEY-----\n{make_fake((BASE64, 64))}\n-----END PUBLIC KEY-----",
    "a key begins with -----BEGIN RSA PRIVATE KEY----- and ends with -----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "她把密码写在纸上，然后忘记了口令和密钥放在哪里。",
    "密码：至少八个字符，包含大小写字母和数字",
    "这个令牌是会议的通行证，第12345678号。",
    "パスワードは忘れました。비밀번호를 잊었어요. 비밀번호는 8자리 이상이고 90일마다 바꿉니다.",
    "Het wachtwoord is verlopen op 12-11-2026. Şifre 90 günde bir değişir. Hasło to słowo z 12 znaków, wygasa 30.06.2027.",
    "पासवर्ड है लेकिन 12 अक्षरों का। كلمة المرور هي سر من 12 حرفا. le cifre: 2024, 2025",
    "The password is required, the token is optional, and the secret is out.",
    "Password: at least 12 characters, with letters, digits and signs.",
    "password: see 1Password, vault Acme-Prod-2024",
    "I forgot my password again: Tuesday's reset went to ann.b2@firm-24.org",
    "forgotten password: write to support24@firm.example",
    "The secret ingredient: Worcestershire-sauce-1837",
    "Secret Santa 2024: bring-a-gift-for-10-euros",
    "token: base64-encoded-utf8-string-v2",
    "the token is meta-llama/Llama-3.1-8B-Instruct",
    "the basic internationalization-plan-2b",
    "tokens: 128000",
    "max_tokens = 4096",
    "tokenizer: Qwen2TokenizerFast-v1.5",
    "next_page_token: CAUQAA1b2c3d4e5f6g7h8i9j",
    "password: str",
    "password: str | None = None",
    "def login(user: str, password: str = DEFAULT_PASSWORD_2) -> Token:",
    "token = get_token()",
    "token = self.session2.tokens_for(user_1234)",
    "password = request.form['password1']",
    'password = os.environ["DB_PASSWORD_2024"]',
    "api_key=os.getenv('ACME_API_KEY_V2')",
    "apiKey: process.env.OPENAI_API_KEY_2",
    "private_key: ed25519.Ed25519PrivateKey",
    "secret = response2.accessToken1.value3",
    "secret: projects/my-project-123/secrets/db-password/versions/2",
    "arn:aws:secretsmanager:us-west-2:123456789012:secret:MyTestSecret-a1b2c3",
    "password = hash_password(raw)",
    "PWD=/home/ann/Projects-2024/Website_v2",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password: ${DB_PASSWORD_1}",
    "password: {{ vault_db_password_2 }}",
    "password=%(password)s",
    "password=$DB_PASS_2024",
    "password: <your-password-123>",
    "token: <token>",
    "api_key: YOUR_API_KEY",
    "api_key: YOUR_API_KEY_1234567890",
    "api_key: xxxxxxxxxxxxxxxxxxxxxxxx1234",
    "api_key = 'changeme-1a2b3c4d5e6f'",
    "password: ********",
    "password: xxxx",
    "password: hunter2",
    "password=password123",
    "password: argon2, pbkdf2 or sha256; the password is base64 encoded",
    "sk-learn, and sk-SK as a locale",
    "class sk-circle-fade-dot-animation-delay-number-12",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-1234567890abcdef1234567890abcdef",
    "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-proj-...",
    "risk-averse-people-take-the-long-way-round-2024",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "github_pat_ and ghp_ are prefixes of tokens",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "AKIAS AND ASIATICS",
    "hf_hub_download(repo_id, filename)",
    "cpl_unknown, and cpl_acme.short",
    "npm_config_registry=https://registry.npmjs.org",
    "npm_package_devDependencies_typescript_version",
    "SG.NET and AIza are not keys; eyJ neither",
    "eyJhbGciOiJIUzI1NiJ9",
    f"SK{make_fake((HEX, 31))}",
    "xoxo, see you at 10",
    "https://example.org/path?q=a:b@c",
    "https://example.org:8080/@ann",
    "ssh://git@github.com:22/a/b.git",
    "scheme://user:password@host",
    "postgres://postgres:postgres@localhost:5432/db",
    "mysql://root:${MYSQL_PASSWORD}@db/app",
    "https://user:<password>@example.org",
    "https://ann:****@example.org",
    "at 12:30 ann@example.org wrote: see https://example.org",
    "Mistral checkpoint " + make_fake((HEX, 32)),
    "a coherent story, cohere " + make_fake((HEX, 40)),
    "Bearer of good news: internationalization",
    "license: Apache-2.0, license key: none",
    "PIN code 560001 is Bengaluru, PIN: 110001 is Delhi",
    "connect PIN 13 to ground; the PIN is high for 4821 ms",
    "PIN: 1234, the default",
    "LED_PIN = 4821",
    "my pin is on the map, spinning at 4821 rpm",
    "order 4539148803436467 was shipped",
    "order 4539 1488 0343 6468 (no valid check digit)",
    "IBAN DE89 3704 0044 0532 0130 00, GB33 4539 1488 0343 6467",
    "4539 1488 0343 6467 1234 is a row of numbers",
    "1999 2000 2001 2002 and 0000 0001 2103 2683",
    "the part number is 536-22-8726",
    "SSN: 000-12-3456 is not valid, nor is 900-12-3456",
    "call +49 30 1234 5678 9012 or (555) 536-2287",
    "ISBN 978-3-16-148410-0, EAN 4006381333931, credit: Ann",
    "The seed phrase is a list of twelve words that you write down and never show to anybody at all, ever.",
    "a mnemonic is: every good boy does fine",
    "seed: 42, phrase: the quick brown fox jumps over the lazy dog",
    "sow the seed in rows: carrots, peas, beans and then water them every other day until they sprout",
    "curl -u user:password https://x.test",
    'curl -u "$USER:$TOKEN_2024" https://x.test',
    "curl -u elastic:changeme http://localhost:9200",
    "curl -u ann https://x.test/a:b2",
    "mysql -u root -p shop2024",
    "mysql -u root -psecret",
    "mysql -p$MYSQL_PASSWORD_2024",
    "the curl of a field -u: v2",
    '"auth": "bearer"',
    '"auth": "b2F1dGgyLXNlcnZpY2U="',
    "La clave es entender el problema; la contraseña es obligatoria.",
    "Das Passwort ist vergeben, das Kennwort lautet anders. Passwort: mindestens 12 Zeichen",
    "Le mot de passe est obligatoire. La password è scaduta. A senha é obrigatória.",
    "clave: valor1, clave-2024: Madrid-2024",
    "ya29. and 1//0 begin tokens of Google",
    "pattern-of-things.0123456789abcdef",
    "re_match_object_factory_for_everything_v2",
    "dp.pt. and sbp_ and glsa_ are prefixes",
    "soft\u00adhyphen\u00adated words and zero\u200bwidth spaces",
    PASSAGE,
    "",
    "\n",
    "\ud800 half a character, password: \udfff",
]


@pytest.mark.parametrize("text", NEAR_MISSES, ids=range(len(NEAR_MISSES)))
def test_what_only_resembles_a_secret_is_left_alone(text: str) -> None:
    assert find(text) == ()
    assert redact(text) is text


@pytest.mark.parametrize("text", ORDINARY, ids=[text[:20] for text in ORDINARY])
def test_ordinary_text_raises_no_alarm(text: str) -> None:
    assert [(secret.rule, text[secret.start : secret.end]) for secret in find(text)] == []


def test_a_key_is_found_whatever_its_letters_are() -> None:
    """A thousand of each kind: what is missed would be missed for good."""
    kinds: list[Callable[[int], str]] = [
        lambda seed: make_fake("gh", "p_", (ALNUM, 36), seed=seed),
        lambda seed: make_fake("sk", "-ant-", "api03-", (WEB, 95), seed=seed),
        lambda seed: make_fake("AI", "za", (WEB, 34), "k", seed=seed),
        lambda seed: make_fake("AK", "IA", (BASE32, 16), seed=seed),
        lambda seed: make_fake("api_key=", (ALNUM, 40), seed=seed),
        lambda seed: make_fake("token: ", (HEX, 40), seed=seed),
    ]
    for make in kinds:
        missed = [text for text in map(make, range(1000)) if not find(text)]
        assert len(missed) <= 5, missed[:5]


@pytest.mark.parametrize(
    "mark",
    [
        "\u200b",
        "\u200d",
        "\u2060",
        "\ufeff",
        "\u00ad",
        "\u200b\u00ad",
        "\u202e",
        "\u2066",
        "\u034f",
        "\ufe0f",
        "\U000e0041",
    ],
)
def test_a_key_with_invisible_characters_inside_is_found_and_replaced_with_them(mark: str) -> None:
    key = make_fake("gh", "p_", (ALNUM, 36))
    broken = key[:2] + mark + key[2:20] + mark + key[20:]
    assert redact(f"Ünd: {broken}, ja") == "Ünd: [secret: GitHub token], ja"
    assert redact(f"pass{mark}word: Tr0ub" + f"4d{mark}or&3") == f"pass{mark}word: [secret: password]"
    assert redact(f"{mark} no{mark}thing {mark}") == f"{mark} no{mark}thing {mark}"


def test_of_secrets_that_overlap_the_better_known_gives_its_name_to_all() -> None:
    key = make_fake("gh", "p_", (ALNUM, 36))
    assert redact(f"api_key={key}") == "api_key=[secret: GitHub token]"
    assert redact(f"https://bot:{key}@github.com") == "https://bot:[secret: GitHub token]@github.com"


def test_several_secrets_are_found_in_order_and_the_rest_stays() -> None:
    one, two = make_fake("gh", "p_", (ALNUM, 36)), make_fake("xo", "xb-", (ALNUM, 40))
    text = f"A {one}\r\n\tB {two} \u2028 末尾"
    assert [secret.rule for secret in find(text)] == ["GitHub token", "Slack token"]
    assert redact(text) == "A [secret: GitHub token]\r\n\tB [secret: Slack token] \u2028 末尾"


def test_an_escaped_end_of_a_line_before_a_key_does_not_hide_it() -> None:
    raw = json.dumps({"content": f"here:\n{make_fake('gh', 'p_', (ALNUM, 36))}\n{pem('RSA PRIVATE KEY')}"})
    assert redact(raw) == '{"content": "here:\\n[secret: GitHub token]\\n[secret: private key]"}'


@pytest.mark.parametrize("rule", sorted({rule.name for rule in RULES}))
def test_what_redact_writes_is_no_secret_nor_makes_one(rule: str) -> None:
    value = make_fake((ALNUM, 32))
    for text in (
        f"[secret: {rule}]",
        f"password: [secret: {rule}]",
        f'api_key = "[secret: {rule}]"',
        f"[secret: {rule}]={value}",
        f"[secret: {rule}]: {value}",
        f"postgres://ann:[secret: {rule}]@host",
    ):
        assert find(text) == ()


pieces = st.one_of(
    st.sampled_from(FAKES).map(lambda fake: fake[1] + fake[2] + fake[3]),
    st.sampled_from(FAKES).map(lambda fake: fake[2]),
    st.sampled_from(FAKES).map(lambda fake: fake[1]),
    st.sampled_from(FAKES).map(lambda fake: fake[2][: len(fake[2]) // 2]),
    st.sampled_from(NEAR_MISSES),
    st.sampled_from(
        ['"', "'", "=", ": ", "@", "/", "-", "_", ".", "[", "]", "(", " ", "\n", "://", "\\n", "example", "，"]
    ),
    st.sampled_from(["password", "token", "api_key", "secret", "mistral ", "Bearer ", "discord ", "12345678"]),
    texts,
)
mixtures = st.lists(pieces, max_size=8).map("".join)


@given(mixtures)
def test_redacting_twice_is_the_same_as_once_and_leaves_no_secret(text: str) -> None:
    once = redact(text)
    assert find(once) == ()
    assert redact(once) == once


@given(mixtures)
def test_spans_are_in_order_apart_and_all_else_is_unchanged(text: str) -> None:
    matches = find(text)
    rest, done = [], 0
    for secret in matches:
        assert done <= secret.start < secret.end <= len(text)
        rest.append(text[done : secret.start])
        done = secret.end
    rest.append(text[done:])
    remaining = redact(text)
    for part, secret in zip(rest, matches, strict=False):
        assert remaining.startswith(part)
        remaining = remaining.removeprefix(part).removeprefix(f"[secret: {secret.rule}]")
    assert remaining == rest[-1]


def test_a_warning_names_the_kinds_and_the_next_step_but_never_the_secret() -> None:
    key, password = make_fake("gh", "p_", (ALNUM, 36)), "Tr0ub" + "4dor&3"
    one = warning(find(f"use {key}"))
    assert one.startswith("the text contains what looks like a secret (GitHub token): move it to a password manager; ")
    assert "`secrets: redact` keeps such text out" in one
    assert "revoke it on GitHub, under Developer settings." in one
    several = warning(find(f"use {key}, not {key}; password: {password}"))
    assert "3 secrets (GitHub token, password): move them" in several
    assert key not in one + several
    assert password not in several
    assert warning(find("nothing to see")) == ""


def test_a_warning_never_repeats_any_secret_however_many_there_are() -> None:
    text = "\n".join(before + secret + after for _, before, secret, after in FAKES)
    sentence = warning(find(text))
    assert len(sentence) < 3000
    assert not any(secret in sentence for _, _, secret, _ in FAKES)


def test_the_setting_is_one_of_three_and_warns_by_default(home: Path) -> None:
    home.mkdir()
    assert load(str(home)).secrets == "warn"
    for choice in ("warn", "redact", "refuse"):
        (home / "commonplace.yaml").write_text(f"secrets: {choice}\n")
        assert load(str(home)).secrets == choice


@pytest.mark.parametrize("wrong", ["hide", "true", "[redact]", ""])
def test_a_wrong_choice_is_an_error_with_file_and_line(home: Path, wrong: str) -> None:
    home.mkdir()
    (home / "commonplace.yaml").write_text(f"timezone: UTC\nsecrets: {wrong}\n")
    with pytest.raises(SettingsError, match=r"commonplace\.yaml:2: secrets must be one of warn, redact, refuse"):
        Memory(home)


def put_session(home: Path, *events: dict[str, object] | str) -> Path:
    page = home / "agents/main/sessions/one.jsonl"
    page.parent.mkdir(parents=True)
    page.write_text("\n".join(event if isinstance(event, str) else json.dumps(event) for event in events) + "\n")
    return page


def bytes_of_index(home: Path) -> bytes:
    files = [path for path in sorted((home / ".index").rglob("*")) if path.is_file()]
    assert files
    return b"\0".join(path.read_bytes() for path in files)


@pytest.mark.parametrize("setting", ["warn", "redact", "refuse"])
def test_a_secret_in_a_session_is_never_in_the_index(home: Path, clock: FrozenClock, setting: str) -> None:
    key, password, private = make_fake("gh", "p_", (ALNUM, 36)), "Tr0ub" + "4dor&3", pem("OPENSSH PRIVATE KEY")
    page = put_session(
        home,
        {"role": "user", "content": f"Deploy the website with {key} please", "timestamp": f"2026-03-14T09:00 {key}"},
        {"message": {"role": "assistant", "content": [{"type": "text", "text": f"Done, the password is {password}"}]}},
        {"role": "user", "name": key, "content": f"and the server key:\n{private}\nkeep it"},
        {"role": "user", "name": "Password", "content": password},
    )
    before = page.read_bytes()
    (home / "commonplace.yaml").write_text(f"secrets: {setting}\nmemorySearch: {{indexSessions: true}}\n")
    memory = Memory(home, clock=clock)
    hit = memory.search("deploy the website")[0]
    assert hit.text == "user: Deploy the website with [secret: GitHub token] please"
    assert [line for line in private.split("\n") if line in memory.search("server key")[0].text] == []
    for secret in (key, password, private.split("\n")[3]):
        assert not any(secret in hit.text + hit.at for hit in memory.search(secret, limit=50, min_score=0))
        remaining = bytes_of_index(home).lower()
        parts = [part for part in re.split(r"[^a-z0-9]+", secret.lower()) if len(part) >= 4]
        assert [part for part in parts if part.encode() in remaining] == []
    assert page.read_bytes() == before


def test_a_session_is_shown_without_its_secrets_too(home: Path, clock: FrozenClock) -> None:
    key = make_fake("gh", "p_", (ALNUM, 36))
    put_session(
        home,
        {"role": "user", "content": f"Deploy with {key}"},
        {"type": "tool_result", "output": f"token:\n{key}"},
        f"not JSON, but {key}",
    )
    (home / "commonplace.yaml").write_text("memorySearch: {indexSessions: true}\n")
    text = Memory(home, clock=clock).call("memory_get", {"path": "agents/main/sessions/one.jsonl"})["text"]
    assert key not in text
    assert text.split("\n")[0] == "user: Deploy with [secret: GitHub token]"
    assert text.count("[secret: GitHub token]") == 3


def test_sessions_are_indexed_again_where_another_rule_says_what_a_secret_is(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = Home(str(home)).layout
    with_sessions, without = sync.IndexScope(layout, all_sessions=True), sync.IndexScope(layout)
    before = with_sessions.fingerprint, without.fingerprint
    monkeypatch.setattr("commonplace.secrets.rules.RULES", RULES[:-1])
    assert with_sessions.fingerprint != before[0]
    assert without.fingerprint == before[1]


PROSE = "The harbour office sells tickets for every crossing, from six on; ask for Ann. It said: no dogs on deck! "
CHINESE = "码头办公室从早上六点开始出售每一班渡轮的船票，需要的话可以找安。牌子上写着：甲板上不许带狗！"


def seconds(text: str) -> float:
    """Of this thread, whatever else the machine does."""
    started = time.thread_time()
    find(text)
    return time.thread_time() - started


def find_words(text: str) -> object:
    return re.findall(r"\w+", text)


@pytest.mark.parametrize("prose", [PROSE, CHINESE])
@pytest.mark.parametrize("length", [1_000, 100_000])
def test_text_without_secrets_costs_next_to_nothing(prose: str, length: int) -> None:
    """Measured: from a third of what finding its words takes to as much. An order of magnitude more would show."""
    text = (prose * 3000)[:length]
    turns = 200_000 // length

    def best_of_five(work: Callable[[str], object]) -> float:
        return min(timeit.repeat(lambda: work(text), number=turns, repeat=5, timer=time.thread_time))

    assert best_of_five(find) < 4 * best_of_five(find_words)


HOSTILE = [
    *(rule.markers[0] for rule in RULES),
    *(f'{marker}="a1B2' for rule in RULES[-3:] for marker in rule.markers[:4]),
    "://a:b",
    "://" + "a" * 50 + ":" + "b@" * 50,
    "-----BEGIN PRIVATE KEY-----A\n",
    "eyJaaaaaaaaaa.",
    "-eyJ",
    "password: ....a",
    "password  (",
    "a1B2c3D4e5F6g7H8 ",
    "discord " + "M" * 24 + ".",
]
ENDLESS = [
    "token='" + "aB1" * 333_333,
    "password: '" + "pass" * 250_000 + "!1'",
    "password: a" + "." * 1_000_000,
    "password" + " " * 1_000_000,
    "://u:" + "pass@" * 200_000,
    "token: " + "a" * 500_000 + "A" * 500_000 + "b1b",
    "-----BEGIN PRIVATE KEY-----" + "-a" * 500_000,
    "-----BEGIN PRIVATE KEY-----" + "A\n" * 500_000,
    "eyJ" + "a" * 500_000 + ".eyJ" + "a" * 500_000,
]


def test_hostile_text_is_read_once_and_not_over_and_over() -> None:
    for piece in {*HOSTILE, *(before + secret[:-1] for _, before, secret, _ in FAKES)}:
        assert seconds((piece * (20_000 // len(piece) + 1))[:20_000]) < 1, piece


@pytest.mark.thorough
@pytest.mark.slow
def test_a_megabyte_of_hostile_text_is_read_in_seconds() -> None:
    for piece in set(HOSTILE):
        assert seconds((piece * (1_000_000 // len(piece) + 1))[:1_000_000]) < 10, piece


@pytest.mark.parametrize("text", ENDLESS, ids=[text[:12] for text in ENDLESS])
def test_a_megabyte_without_an_end_is_read_in_seconds(text: str) -> None:
    assert seconds(text) < 10


def test_the_signed_address_of_a_picture_is_no_secret_and_the_same_token_elsewhere_is() -> None:
    token = ".".join(
        ("eyJ" + "0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9", "eyJ" + "zdWIiOiJ1cm46YXBwIn0xYz", "k3J9dW2mQ7vR5xZ9wT1")
    )
    for ending in ("jpg", "jpeg", "png", "gif", "webp"):
        assert find(f"https://pictures.example.com/f/cat.{ending}?token={token}") == ()
    assert find(f"https://api.example.com/v1/me?token={token}")
    assert find(f"Bearer {token}")
