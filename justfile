# Shortcuts for ./dev, which needs nothing but Python.

try:
    ./dev try

test:
    ./dev test

fast:
    ./dev fast

thorough:
    ./dev thorough

explore:
    ./dev explore

lint:
    ./dev lint

docs:
    ./dev docs

site:
    ./dev site

bench:
    ./dev bench

soak:
    ./dev soak

crash:
    ./dev crash

quality:
    ./dev quality

ruler:
    ./dev ruler

homes folder:
    ./dev homes {{folder}}

truth:
    ./dev truth

ablation:
    ./dev ablation

calibrate:
    ./dev calibrate

speed:
    ./dev speed

peers:
    ./dev peers

history:
    ./dev history

backup:
    ./dev backup

watch:
    ./dev watch

hooks:
    ./dev hooks

mcp:
    ./dev mcp

load:
    ./dev load

store:
    ./dev store
