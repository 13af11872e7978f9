"""Sends every field and parameter that the public Python client has and the service's document has not, each alone, and prints as JSON
which of them were dropped: neither refused by name nor told of in X-Ignored-Fields.

Environment: KERNEL_BASE_URL, KERNEL_API_KEY.
"""

import json
import os
import re

import httpx
import kernel
from strict import template_of
from surface import surface

client = kernel.Kernel(base_url=os.environ["KERNEL_BASE_URL"], max_retries=3, timeout=60)
document = client.get("/openapi.json", cast_to=object)

# A permission that keys have only by name comes before the body.
made = client.post("/org/api_keys", body={"name": "probes", "permissions": ["processes:run"]}, cast_to=object)
named = client.with_options(api_key=made["key"])

# Refused whatever is in the body.
always_refused = {"not_supported_here", "item_not_editable", "conflict"}


def resolved(schema):
    while "$ref" in schema:
        found = document
        for step in schema["$ref"].split("/")[1:]:
            found = found[step]
        schema = found
    return schema


def is_known(schema, steps) -> bool:
    """Whether the schema has a place such as vaults[].name."""
    schema = resolved(schema)
    if not steps:
        return True
    if any(is_known(part, steps) for kind in ("anyOf", "oneOf", "allOf") for part in schema.get(kind, [])):
        return True
    name = re.sub(r"\W+$", "", steps[0])
    if name not in schema.get("properties", {}):
        return False
    inner = resolved(schema["properties"][name])
    return is_known(inner.get("items", {}) if steps[0].endswith("[]") else inner, steps[1:])


def body_with(steps):
    if not steps:
        return "x"
    name, inner = re.sub(r"\W+$", "", steps[0]), body_with(steps[1:])
    if steps[0].endswith("[]"):
        inner = [inner]
    if steps[0].endswith("{}"):
        inner = {"any": inner}
    return {name: inner}


def answer_to(method: str, path: str, **options) -> httpx.Response:
    asking = named if "/process/" in path else client
    try:
        return getattr(asking, method.lower())(path, cast_to=httpx.Response, **options)
    except kernel.APIStatusError as error:
        return error.response


def is_told(response: httpx.Response, name: str) -> bool:
    if response.headers.get("x-ignored-fields"):
        return name in response.headers["x-ignored-fields"]
    if response.status_code < 400:
        return False
    error = response.json()
    return name in response.text or error["code"] in always_refused


probes, dropped = 0, []
served = {
    (method, template_of(path)): described
    for path, methods in document["paths"].items()
    for method, described in methods.items()
}
for operation, fields in surface()["operations"].items():
    method, template = operation.split(" ")
    described = served.get((method.lower(), template_of(template)))
    if not described:
        continue
    path = re.sub(r"\{\w+\}", "none", template)
    parameters = {resolved(one)["name"] for one in described.get("parameters", [])}
    contents = described.get("requestBody", {}).get("content", {})
    schema = next(iter(contents.values()), {}).get("schema", {})
    for name in fields.get("query", []):
        if name in parameters:
            continue
        probes += 1
        if not is_told(answer_to(method, path, options={"params": {name: "x"}}), name):
            dropped.append(f"{operation} ?{name}")
    # Forms with files are passed on as they come.
    is_form = "multipart/form-data" in contents
    for place in [] if is_form else fields.get("body", []):
        steps = place.split(".")
        if is_known(schema, steps):
            continue
        probes += 1
        if not is_told(answer_to(method, path, body=body_with(steps)), re.sub(r"\W+$", "", steps[0])):
            dropped.append(f"{operation} {place}")
print(json.dumps({"probes": probes, "dropped": dropped}))
