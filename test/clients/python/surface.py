"""What the public Python client can send, read from its source: prints its version and, by operation, the name of its method and the
fields of its body and query, as JSON. test/clients/sdk-surface.json is what it prints for the version that tools/python-client pins.

A place in a body is written as `vaults[].name`: `[]` for each entry of a list, `{}` for each value of a map. Files of forms are left out.
"""

import ast
import importlib
import json
import typing
from pathlib import Path
from typing import Any, Iterator

import kernel
import typing_extensions
from kernel._types import FileTypes

package = Path(kernel.__file__).parent
verbs = {"get": "GET", "get_api_list": "GET", "post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE"}
# A type that contains itself is not followed for ever.
deepest = 12


def places(kind: Any, prefix: str = "") -> set[str]:
    """The places of all fields of a type of parameters."""
    if prefix.count(".") > deepest:
        return set()
    if typing_extensions.is_typeddict(kind):
        found = set()
        for name, inner in typing_extensions.get_type_hints(kind).items():
            if inner != FileTypes:
                place = f"{prefix}.{name}" if prefix else name
                found |= {place} | places(inner, place)
        return found
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is None or origin is typing.Literal:
        return set()
    if origin is dict:
        return places(args[1], f"{prefix}{{}}")
    suffix = "" if "Union" in str(origin) else "[]"
    return set().union(*(places(each, f"{prefix}{suffix}") for each in args))


class Calls(ast.NodeVisitor):
    """The calls of the service in one file: operation, name of the method, and the call."""

    def __init__(self, tree: ast.AST) -> None:
        self.found: list[tuple[str, str, ast.Call]] = []
        self.method = ""
        self.visit(tree)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        # The other classes are the same calls once more: asynchronous ones, and wrappers.
        if node.name.endswith("Resource") and not node.name.startswith("Async"):
            self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.method = node.name
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        verb = verbs.get(node.func.attr.removeprefix("_")) if isinstance(node.func, ast.Attribute) else None
        if verb and node.args:
            path = next((each.value for each in ast.walk(node.args[0]) if isinstance(each, ast.Constant)), None)
            if isinstance(path, str) and path.startswith("/"):
                self.found.append((f"{verb} {path}", self.method, node))


def sent(call: ast.Call, keyword: str, names: dict[str, Any]) -> list[str]:
    """What is sent as `body` or `query`: `maybe_transform({"name": name, …}, module.Type)`, within further calls."""
    given = [each.value for inner in ast.walk(call) if isinstance(inner, ast.Call) for each in inner.keywords if each.arg == keyword]
    for transform in (inner for value in given for inner in ast.walk(value) if isinstance(inner, ast.Call)):
        if not getattr(transform.func, "id", "").endswith("maybe_transform"):
            continue
        value, kind = transform.args
        found = places(eval(compile(ast.Expression(kind), "type", "eval"), names))
        if isinstance(value, ast.Dict):
            # Of the type, what is in the path or the headers is not in here.
            keys = {each.value for each in value.keys if isinstance(each, ast.Constant)}
            found = {place for place in found if place.split(".")[0].rstrip("[]{}") in keys}
        return sorted(found)
    return []


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for file in sorted(package.joinpath("resources").rglob("*.py")):
        steps = list(file.relative_to(package.parent).with_suffix("").parts)
        names = vars(importlib.import_module(".".join(steps)))
        group = steps[2:]
        # `browsers/browsers.py` is `client.browsers`.
        if len(group) > 1 and group[-1] == group[-2]:
            group.pop()
        for operation, method, call in Calls(ast.parse(file.read_text())).found:
            fields = {keyword: sent(call, keyword, names) for keyword in ("body", "query")}
            yield operation, {"method": ".".join([*group, method]), **{name: found for name, found in fields.items() if found}}


def surface() -> dict[str, Any]:
    return {"client": f"kernel {kernel.__version__}", "operations": dict(sorted(operations()))}


if __name__ == "__main__":
    print(json.dumps(surface(), indent=2))
