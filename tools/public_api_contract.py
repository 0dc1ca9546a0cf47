"""A contract of import-linter: plugins import only the modules of skyloop and its client that `skyloop.api` lists."""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

from skyloop.api import PUBLIC

OURS = ("skyloop", "skyloop_client")


def public_modules() -> set[str]:
    """With those that are names of a package."""
    listed = [(module, text.split()) for modules in PUBLIC.values() for module, text in modules.items()]
    return {module for module, _ in listed} | {f"{module}.{name}" for module, names in listed for name in names}


class PublicApiContract(Contract):
    plugins = fields.SetField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        allowed = public_modules()
        refused = [
            f"{importer} imports {imported}"
            for importer in sorted(graph.modules)
            if importer.partition(".")[0] in self.plugins  # type: ignore[operator]
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if imported.partition(".")[0] in OURS and imported not in allowed
        ]
        return ContractCheck(kept=not refused, metadata={"refused": refused})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for line in check.metadata["refused"]:
            output.print_error(f"{line}, which src/skyloop/api.py does not list")
