"""Imports in turns: some pieces of one, then some of the next."""

from uuid import UUID

from afterword import db
from afterword.intake.imports import service
from afterword.intake.imports.store import IMPORTS, Import
from afterword.worker.long_work import StepWorker


class Importer(StepWorker[Import]):
    def __init__(self, pool: db.Pool, owner: UUID, *, secret: bytes) -> None:
        super().__init__(pool, owner, IMPORTS, work=service.work, fail=service.fail, secret=secret)
