"""The public Python client, with every answer parsed strictly by the client's own types.

The client itself takes any answer: a field that is missing is None, and a word that it does not know is passed on. Strictly means that
required fields are there, that words are among those of the type, and that nothing is converted (but texts of JSON to times).
"""

import inspect
import json
import re
from typing import Any, List, get_args, get_origin

import pydantic
from kernel import Kernel
from kernel._response import BaseAPIResponse
from surface import surface


def template_of(path: str) -> str:
    """A path without the names of its parameters: /proxies/{}/check."""
    return re.sub(r"\{\w+\}", "{}", path)


def client_routes() -> set[tuple[str, str]]:
    """Every operation that the client knows, by method and template."""
    return {(method, template_of(path)) for method, path in (each.split(" ") for each in surface()["operations"])}


def is_file(kind: Any) -> bool:
    return inspect.isclass(kind) and issubclass(kind, BaseAPIResponse)


class StrictKernel(Kernel):
    """Keeps what was called, and what was wrong with the answers: in the class, since the client makes copies of itself."""

    called: set[tuple[str, str]] = set()
    problems: list[str] = []
    served: list[tuple[str, str, re.Pattern[str]]] = []
    # Types of events that the service has and the client does not know.
    own_events: frozenset[str] = frozenset()
    # Values by the names of fields whose types have other words only; docs/clients.md says so.
    own_values: dict[str, str] = {}

    def serve(self, routes: set[tuple[str, str]]) -> None:
        """`routes`: those of the service."""
        # Where several match, the one with the fewest parameters is meant.
        for method, path in sorted(routes, key=lambda route: route[1].count("{}")):
            pattern = "[^/]+".join(re.escape(part) for part in path.split("{}"))
            self.served.append((method, path, re.compile(pattern)))

    def route_of(self, method: str, path: str) -> tuple[str, str]:
        # Below a session's base_url are the operations of /browsers/{id}.
        path = re.sub(r"^/gateway/([^/]+)", r"/browsers/\1", path)
        for known, template, pattern in self.served:
            if known == method and pattern.fullmatch(path):
                return (method, template)
        return (method, path)

    def is_own_event(self, value: Any) -> bool:
        event = value.get("event") if isinstance(value, dict) else None
        return isinstance(event, dict) and event.get("type") in self.own_events

    def known_part(self, text: str) -> str:
        value = json.loads(text)
        return json.dumps([one for one in value if not self.is_own_event(one)]) if isinstance(value, list) else text

    def check(self, kind: Any, text: str, what: str) -> None:
        try:
            pydantic.TypeAdapter(kind).validate_json(self.known_part(text), strict=True)
        except pydantic.ValidationError as error:
            found = [
                (".".join(str(part) for part in one["loc"]), f"{one['msg']}, not {str(one['input'])[:60]!r}")
                for one in error.errors(include_url=False)
                if self.own_values.get(str(one["loc"][-1] if one["loc"] else "")) != one["input"]
            ]
            # Of a union that tells its members by a word, the member with that word is meant.
            others = {place.rsplit(".", 1)[0] for place, _ in found if place.endswith((".type", ".category", ".event", ".status"))}
            meant = [one for one in found if not any(one[0].startswith(f"{other}.") for other in others)]
            self.problems += [f"{what}: {place}: {text}" for place, text in (meant or found)[:3]]

    def _process_response(self, *, cast_to: Any, options: Any, response: Any, stream: bool, **rest: Any) -> Any:
        method, path = response.request.method, response.request.url.path
        route = self.route_of(method, path)
        self.called.add(route)
        what = " ".join(route)
        is_page = inspect.isclass(cast_to) and issubclass(cast_to, pydantic.BaseModel) and "items" in cast_to.model_fields
        # What is still being read is a file.
        if not stream and response.is_closed and response.content and cast_to is not type(None) and not is_file(cast_to):
            origin = get_origin(cast_to) or cast_to
            generic = getattr(cast_to, "__pydantic_generic_metadata__", None)
            if is_page and hasattr(origin, "next_page_info"):
                self.check(List[generic["args"][0]], response.text, what)
            elif not is_file(origin):
                self.check(cast_to, response.text, what)
        return super()._process_response(
            cast_to=cast_to, options=options, response=response, stream=stream, **rest
        )

    def events(self, stream: Any, most: int, what: str) -> list[Any]:
        """The first events of a stream, each parsed strictly."""
        found = []
        kind = stream._cast_to
        for event in stream._iter_events():
            found.append(json.loads(event.data))
            if not self.is_own_event(found[-1]):
                self.check(kind, event.data, what)
            if len(found) >= most:
                break
        stream.close()
        return found
