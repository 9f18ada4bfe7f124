"""`scenegen schema`: JSON schemas for editors and other programs."""

import json

import typer

from library.row import Row
from scenegen.cell import Cell
from scenegen.errors import UnknownName
from scenegen.provenance import Provenance
from scenegen.scenario import Scenario
from scenegen.verdict import Finding, Verdict

RECORDS = {
    "cell": Cell,
    "scenario": Scenario,
    "provenance": Provenance,
    "finding": Finding,
    "verdict": Verdict,
    "row": Row,
}

app = typer.Typer()


@app.command()
def schema(record: str = typer.Argument("cell", help=f"One of: {', '.join(RECORDS)}.")) -> None:
    """Print the JSON schema of a record (by default of a cell file)."""
    if record not in RECORDS:
        raise UnknownName("record", record, RECORDS)
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **RECORDS[record].model_json_schema()}
    typer.echo(json.dumps(document, indent=2))
