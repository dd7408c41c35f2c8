"""What a contract is, how it is held, and the column types that several tables share. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from kb_core.errors import ContractError

INSTANT = pa.timestamp("us", tz="UTC")
TEXTS = pa.list_(pa.field("item", pa.string(), nullable=False))
OFFSETS = pa.list_(pa.field("item", pa.int64(), nullable=False))
PROPERTIES = pa.list_(
    pa.field(
        "item",
        pa.struct(
            [
                pa.field("name", pa.string(), nullable=False),
                pa.field("value", pa.string(), nullable=False),
            ]
        ),
        nullable=False,
    )
)


@dataclass(frozen=True)
class Contract:
    """One table's promise. `check` is the only place where it is enforced."""

    name: str
    key: tuple[str, ...]
    schema: pa.Schema

    def table(self, rows: Iterable[Mapping[str, object]]) -> pa.Table:
        """Build a table from rows and check it."""
        return self.check(pa.Table.from_pylist(list(rows), schema=self.schema))

    def empty(self) -> pa.Table:
        """Return the table without rows: what a stage writes for an empty folder."""
        # Schema.empty_table() would load pandas: half a second of every question.
        columns = [pa.nulls(0, field.type) for field in self.schema]
        return pa.Table.from_arrays(columns, schema=self.schema)

    def check(self, table: pa.Table) -> pa.Table:
        """Return the table unchanged, or raise a ContractError that says where to fix it."""
        if not table.schema.equals(self.schema):
            raise ContractError(self._describe("has the wrong columns", self._diff(table)))
        for field in self.schema:
            if not field.nullable and table[field.name].null_count:
                raise ContractError(self._describe("has nulls", f"in {field.name!r}"))
        keys = table.select(self.key).group_by(list(self.key)).aggregate([])
        if keys.num_rows != table.num_rows:
            repeated = table.num_rows - keys.num_rows
            raise ContractError(self._describe("repeats its key", f"{self.key}: {repeated} rows"))
        return table

    def _diff(self, table: pa.Table) -> str:
        want = {(f.name, str(f.type)) for f in self.schema}
        have = {(f.name, str(f.type)) for f in table.schema}
        return f"missing {sorted(want - have)}, unexpected {sorted(have - want)}"

    def _describe(self, problem: str, detail: str) -> str:
        return (
            f"Table {self.name!r} {problem}: {detail}. "
            f"Fix the stage that writes it, or change the contract in kb_core/contracts.py."
        )


def required(name: str, kind: pa.DataType) -> pa.Field:
    """Return a column without nulls."""
    return pa.field(name, kind, nullable=False)
