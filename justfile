# One-word commands. Each is a line of ./dev, which needs nothing but Python.

try:
    ./dev try

test:
    ./dev test

fast:
    ./dev fast

lint:
    ./dev lint

docs:
    ./dev docs

bench:
    ./dev bench

quality:
    ./dev quality
