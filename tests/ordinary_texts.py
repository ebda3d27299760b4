"""Ordinary text in which nothing is a secret: prose in twelve languages, code, logs, numbers of every kind."""

from __future__ import annotations

import random

_dice = random.Random(20)


def _hex(length: int) -> str:
    return "".join(_dice.choices("0123456789abcdef", k=length))


def _digits(length: int) -> str:
    return "".join(_dice.choices("0123456789", k=length))


def _base64(length: int) -> str:
    return "".join(_dice.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", k=length))


def _uuid() -> str:
    return f"{_hex(8)}-{_hex(4)}-4{_hex(3)}-a{_hex(3)}-{_hex(12)}"


PROSE = [
    "The key to a good bread is patience. The secret is time; the password to her heart is chocolate, she said in 2019.",
    "Ann's PIN board has 4821 stamps, and her card is green. She paid 1,299.00 by card on 2024-03-14 at 10:30.",
    "Der Schlüssel liegt unter der Matte. Das Passwort wird am 14.03.2024 geändert, die PIN-Nummer steht im Brief.",
    "Die Karte kostet 49,90 Euro, Kennwort vergessen? Rufen Sie 030 1234567 an. Bundesausbildungsförderungsgesetz 2024.",
    "La clave es la paciencia. La contraseña debe tener 8 caracteres; la tarjeta vence en 12/2027, pedido 202400012345.",
    "Le mot de passe est perdu, la clé aussi. La carte coûte 25 euros, le code postal est 75011, tél. 01 42 68 53 00.",
    "A senha é curta demais. A chave do carro está na gaveta; o cartão chega em 15 dias úteis, CEP 01310-100.",
    "La parola d'ordine è pazienza. La password è scaduta, la carta d'identità è del 2015, codice fiscale da rifare.",
    "Het wachtwoord is verlopen. De sleutel ligt bij de buren, postcode 1017 AB, telefoon 020 123 45 67.",
    "Hasło jest za krótkie. Klucz leży na stole, karta kosztuje 30 złotych, kod pocztowy 00-950.",
    "Пароль слишком короткий. Ключ лежит на столе, карта стоит 300 рублей, индекс 101000, тел. 8 495 123 45 67.",
    "密码太短，请重新设置。钥匙在桌上，卡号在信里，订单号是202403141234567，邮编100084。",
    "パスワードは八文字以上です。鍵は机の上にあります。カードの有効期限は2027年12月です。",
    "비밀번호가 너무 짧습니다. 열쇠는 책상 위에 있고 카드는 다음 주에 옵니다.",
    "كلمة المرور قصيرة جدا. المفتاح على الطاولة والبطاقة تصل يوم 14 مارس 2024.",
]
CODE = [
    "def login(user: str, password: str, token: str | None = None) -> Session:\n    return Session(user, token or make())",
    "const apiKey = process.env.API_KEY_2024;\nconst password = await prompt('Password: ');\nlet pin = 4821;",
    "mysql -u root -p < schema.sql && curl -fsSL https://example.org/install.sh | sh -s -- -u ann -p 8080",
    "docker run -p 8080:80 -e POSTGRES_PASSWORD=$POSTGRES_PASSWORD postgres:16",
    "SELECT id, password_hash FROM users WHERE api_key IS NOT NULL AND token_count > 128000;",
    "<input type='password' name='password' autocomplete='current-password' minlength='12'>",
    "apiVersion: v1\nkind: Secret\nmetadata: {name: db-password-2024}\ntype: kubernetes.io/service-account-token",
    "tokens = tokenizer.encode('hello'); max_tokens=4096; next_token = tokens[0]; pad_token_id: 50256",
]
MACHINE = [
    "\n".join(f"2026-03-14T10:{n:02}:07Z INFO request={_uuid()} user={_digits(9)} took {n * 7} ms" for n in range(60)),
    "\n".join(f"commit {_hex(40)}\nAuthor: Ann <ann{n}@example.org>" for n in range(20)),
    "\n".join(f"{_hex(64)}  package-{n}.0.tar.gz" for n in range(20)),
    f"![a dot](data:image/png;base64,iVBORw0KGgo{_base64(4000)}=)",
    "\n".join(
        f"https://example.org/articles/2024/{_digits(6)}?utm_source=mail&id={_uuid()}#part-{n}" for n in range(20)
    ),
    "\n".join(f"order {_digits(16)}, parcel {_digits(20)}, ISBN 978-3-{_digits(2)}-{_digits(6)}-4" for _ in range(60)),
    "\n".join(
        f"+49 30 {_digits(7)}, (555) {_digits(3)}-{_digits(4)}, +1 {_digits(3)} {_digits(3)} {_digits(4)}"
        for _ in range(60)
    ),
    "\n".join(f"{_digits(4)} {_digits(4)} {_digits(4)}\t{_digits(3)}.{_digits(2)}" for _ in range(60)),
    "\n".join(f"DE{_digits(2)} {_digits(4)} {_digits(4)} {_digits(4)} {_digits(4)} {_digits(2)}" for _ in range(60)),
    "\n".join(f"E{n} resistor {_digits(3)}-{_digits(2)}-{_digits(4)} 4k7" for n in range(30)),
]
RECIPES = [
    "Knead 500 g flour, 10 g salt and 350 ml water; rest for 12 hours. Secret ingredient: 1837-Worcestershire. Bake at 230.",
    "Sow the seed in March; a phrase to remember: early to bed. Thin to 20 cm, water daily, harvest after 65-80 days.",
]
ORDINARY = [*PROSE, *CODE, *MACHINE, *RECIPES]
