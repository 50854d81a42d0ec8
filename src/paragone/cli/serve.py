"""Verbs of a running study: serve, export, forget, backup, restore."""

from __future__ import annotations

from pathlib import Path

import click

from .options import emit, json_option, must_exist, quiet_option, say

__all__ = ["backup", "export", "forget", "restore", "serve"]

_PATH = click.Path(path_type=Path)
_store = click.option(
    "--store", metavar="URL", help="Store of the answers, for example postgresql://host/name; default: FOLDER/study.db."
)


@click.command()
@click.argument("folder", type=_PATH, default=Path())
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0: every network.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port; 0: any free one.")
@_store
@click.option("--public-url", metavar="URL", help="Address that participants open, where a proxy stands in front.")
@click.option(
    "--trust-proxy", metavar="ADDRESS", multiple=True, help="Proxy whose forwarded headers are believed; default: none."
)
@click.option(
    "--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes; more than one: PostgreSQL."
)
@click.option("--preview", is_flag=True, help="Click through the study yourself; nothing is stored.")
@click.option("--new-key", is_flag=True, help="Go on though study.key is lost: who was here before is not known again.")
@click.option("--lab", is_flag=True, help="One machine, one participant after another, full screen, with lab codes.")
@json_option
@quiet_option
def serve(
    folder: Path,
    host: str,
    port: int,
    store: str | None,
    public_url: str | None,
    trust_proxy: tuple[str, ...],
    workers: int,
    preview: bool,
    lab: bool,
    new_key: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Ask people: serve the study of a folder as web pages.

    Reads benchmark.toml, items.csv, study.toml, plan.csv and the pictures of FOLDER; stores each answer in study.db (or
    --store) before it is acknowledged. Prints the address for participants and the one for you. Ctrl-C stops it; started
    again, everybody goes on where they were. With --json the addresses are printed as one JSON document.

    Example: paragone serve my-benchmark --preview
    """
    must_exist(folder, what="folder")
    from ..loop.serving import serve_folder

    serve_folder(
        folder,
        host=host,
        port=port,
        store=store,
        public_url=public_url,
        trust_proxy=list(trust_proxy),
        workers=workers,
        preview=preview,
        lab=lab,
        new_key=new_key,
        quiet=quiet,
        told=emit if as_json else None,
    )


@click.command()
@click.argument("folder", type=_PATH, default=Path())
@click.option("-o", "--output", type=_PATH, help="Folder for the tables; default: FOLDER/export.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "parquet", "json", "jspsych"]),
    default="csv",
    show_default=True,
    help="Format of the tables.",
)
@click.option("--anonymise", is_flag=True, help="Leave out what leads back to a person: panel ids, remarks, devices.")
@_store
@json_option
@quiet_option
def export(
    folder: Path, output: Path | None, form: str, anonymise: bool, store: str | None, as_json: bool, quiet: bool
) -> None:
    """Write everything that a study holds as tables, at any time.

    Reads the store of FOLDER, also while it is being served; writes answers, trials, sessions, participants, events and
    exclusions with a data dictionary and a manifest of SHA-256 sums. The same store gives the same bytes.

    Example: paragone export my-benchmark --format parquet
    """
    must_exist(folder, what="folder")
    from ..loop.serving import export_folder

    manifest = export_folder(folder, output or folder / "export", form=form, anonymise=anonymise, store=store)
    if as_json:
        emit(manifest)
    for name, facts in manifest["files"].items():
        say(f"{output or folder / 'export'}/{name}: {facts['rows']} rows", quiet=quiet or as_json)


@click.command()
@click.argument("participant")
@click.argument("folder", type=_PATH, default=Path())
@click.option("--yes", is_flag=True, help="Do it; without this, only say what would be deleted.")
@_store
@json_option
@quiet_option
def forget(participant: str, folder: Path, yes: bool, store: str | None, as_json: bool, quiet: bool) -> None:
    """Delete a participant's data on request.

    PARTICIPANT is a name of the tables (p-0007) or the panel's id. Deletes answers, events and ids from the store of
    FOLDER, frees the sheet for another person, and writes what was deleted into the log. Without --yes it only tells, also
    while the study is served. Files of FOLDER that were made from the store before are not touched; those that still name
    the participant, and backups that may, are listed.

    Example: paragone forget p-0002 my-benchmark --yes
    """
    must_exist(folder, what="folder")
    from ..loop import told as words
    from ..loop.serving import forget_person

    told = forget_person(folder, participant, really=yes, store=store)
    if as_json:
        emit(told)
    did = "deleted" if yes else "would delete"
    say(
        f"{did} {told['answers']} answers and {told['events']} events of {told['participant']}"
        + ("" if yes else "; add --yes to do it"),
        quiet=quiet or as_json,
    )
    for line in words.remaining_lines(told["participant"], told["still_in"], told["may_hold"]):
        say(line, quiet=quiet or as_json)


@click.command()
@click.argument("folder", type=_PATH, default=Path())
@click.option("-o", "--output", type=_PATH, help="File to write; default: FOLDER/backups/<time>.zip.")
@_store
@json_option
@quiet_option
def backup(folder: Path, output: Path | None, store: str | None, as_json: bool, quiet: bool) -> None:
    """Copy a study's store while it is being served.

    Reads the store of FOLDER (SQLite or PostgreSQL) at one moment and writes one file with counts and SHA-256 sums, which
    are checked before it gets its name.

    Example: paragone backup my-benchmark -o study.zip
    """
    must_exist(folder, what="folder")
    from ..loop.serving import backup_folder

    told = backup_folder(folder, output, store=store)
    if as_json:
        emit(told)
    say(f"{told['file']}: {told['rows']} rows of {len(told['tables'])} tables", quiet=quiet or as_json)


@click.command()
@click.argument("file", type=_PATH)
@click.argument("folder", type=_PATH, default=Path())
@click.option("--check", is_flag=True, help="Only check the file; restore nothing.")
@_store
@json_option
@quiet_option
def restore(file: Path, folder: Path, check: bool, store: str | None, as_json: bool, quiet: bool) -> None:
    """Check a backup, and bring it back into an empty store.

    Reads FILE; counts and SHA-256 sums must fit. Writes FOLDER/study.db (or --store), which must hold nothing yet; a
    backup of SQLite may go to PostgreSQL and the other way round.

    Example: paragone restore study.zip my-benchmark --check
    """
    must_exist(file)
    must_exist(folder, what="folder")
    from ..loop.serving import restore_folder

    told = restore_folder(file, folder, only_check=check, store=store)
    if as_json:
        emit(told)
    did = "whole" if check else "restored"
    say(f"{file}: {did}, {told['rows']} rows of {len(told['tables'])} tables", quiet=quiet or as_json)
