"""Pipelines: statements that are sent together, without waiting for the answer of each, also through a pooler."""

from __future__ import annotations

import selectors
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, LiteralString

if TYPE_CHECKING:
    import psycopg
    from psycopg.abc import PQGen

    from .connection import Connection

_MAX_WAITING = 50  # statements that are sent together


@contextmanager
def open_pipeline(connection: Connection) -> Iterator[psycopg.Pipeline]:
    """Send the statements of this block together: when an answer is asked for, and at the end.

    psycopg would send each as it comes, and so wake the server for each. Two more of its habits would hurt behind
    a pooler. It sends a Flush after the Sync at the end. To a pooler that has answered the Sync already, this begins
    another transaction: it reserves a connection to the server, until this client sends its next statement, however
    late. And if the connection is closed, it raises that, and not the reason that came before.
    """
    import psycopg

    reasons: list[psycopg.OperationalError] = []
    try:
        with connection.pipeline() as pipeline:
            pipeline._exit_gen = partial(_end_with_sync, pipeline)  # type: ignore[method-assign]
            process = partial(_process, pipeline._process_results, reasons)
            pipeline._process_results = process  # type: ignore[method-assign]
            communicate = partial(_hand_over, pipeline, pipeline._communicate_gen)
            pipeline._communicate_gen = communicate  # type: ignore[method-assign]
            yield pipeline
    except psycopg.OperationalError as error:
        if reasons and reasons[0] is not error:
            raise reasons[0] from error
        raise


def _hand_over(pipeline: psycopg.Pipeline, communicate: Callable[[], PQGen[None]]) -> PQGen[None]:
    """Give the queued statements to libpq, which keeps them until it has to send. If there are many, they are sent at
    once."""
    from psycopg.generators import send

    if len(pipeline.result_queue) > _MAX_WAITING:
        yield from communicate()
        return
    while pipeline.command_queue:
        pipeline.command_queue.popleft()()
    if pipeline.result_queue and pipeline.result_queue[-1] is None:  # a Sync
        yield from send(pipeline.pgconn)


def _end_with_sync(pipeline: psycopg.Pipeline) -> PQGen[None]:
    """End a pipeline, and fetch all that is not fetched yet. Sync alone makes the server send all answers."""
    from psycopg.generators import send

    try:
        pipeline._enqueue_sync()
        yield from pipeline._communicate_gen()
    finally:
        yield from send(pipeline.pgconn)  # the rest of what does not fit into the buffer of a socket
        yield from pipeline._fetch_gen(flush=False)


def _process(process: Callable[..., None], reasons: list[psycopg.OperationalError], *answer: Any) -> None:
    """Process an answer, and note the reason for which the connection is closed after it."""
    import psycopg

    try:
        process(*answer)
    except psycopg.OperationalError as error:
        if error.diag.severity == "FATAL":
            reasons.append(error)
        raise


@contextmanager
def pipelined_transaction(connection: Connection, end: LiteralString = "COMMIT") -> Iterator[psycopg.Pipeline]:
    """Run a transaction whose first statements go with BEGIN, and whose last ones go with its end.

    psycopg's own transaction within a pipeline waits for the server after BEGIN, before COMMIT and after it.
    """
    import psycopg
    from psycopg.pq import TransactionStatus

    try:
        with open_pipeline(connection) as pipeline:
            connection.execute("BEGIN")
            yield pipeline
            connection.execute(end)
    except BaseException:
        if not connection.closed and connection.info.transaction_status != TransactionStatus.IDLE:
            with suppress(psycopg.Error):  # the connection is gone, and the transaction with it
                connection.rollback()
        raise


def answers_within(connection: Connection, seconds: float) -> bool:
    """Return whether a connection answers in time; one that does not is closed, so that a pooler forgets the query."""
    connection.pgconn.send_query(b"SELECT 1")
    connection.pgconn.flush()
    with selectors.DefaultSelector() as selector:
        selector.register(connection.fileno(), selectors.EVENT_READ)
        has_answer = bool(selector.select(seconds))
    if not has_answer:
        connection.close()
    while not connection.closed and connection.pgconn.get_result():
        pass
    return not connection.closed
