"""Calls every operation of the public Python client, those that the service has with care; prints what was wrong, and what became of
each operation, as JSON.

Environment: KERNEL_BASE_URL, KERNEL_API_KEY, and what the test made: SITE (a page), KNOWN (a URL of which something is known),
NAMESPACE and TOKEN (who may list the Secrets of a namespace).
"""

import gzip
import inspect
import io
import itertools
import json
import os
import time
import zipfile
from datetime import datetime, timedelta, timezone

import httpx
import kernel
from strict import StrictKernel, template_of
from surface import surface

base_url = os.environ["KERNEL_BASE_URL"]
client = StrictKernel(base_url=base_url, max_retries=3, timeout=120)
document = httpx.get(f"{base_url}/openapi.json").json()
service_routes = {
    (method.upper(), template_of(path)) for path, methods in document["paths"].items() for method in methods
}
client.serve(service_routes)
# docs/clients.md says so.
StrictKernel.own_events = frozenset(
    ["captcha_detected", "monitor_events_dropped", "network_loading_finished", "platform_browser_changed"]
    + ["platform_fill_started", "platform_fill_ended", "system_usage"]
    + ["webdriver_connect", "webdriver_disconnect"]
)
StrictKernel.own_values = {"provider_type": "kubernetes"}
name = f"walk-{int(time.time())}"

# Refused here by name; the client is told so.
refused: dict[tuple[str, str], str] = {}


def expect_refusal(code: str, call, *args, **options) -> None:
    """The operation is there to be refused, with this code."""
    try:
        call(*args, **options)
    except kernel.APIStatusError as error:
        route = client.route_of(error.request.method, error.request.url.path)
        found = error.body.get("code") if isinstance(error.body, dict) else None
        if found != code:
            client.problems.append(f"{' '.join(route)}: {error.status_code} {found} in place of {code}")
        client.check(kernel.types.shared.ErrorModel, error.response.text, " ".join(route))
        refused[route] = code
        return
    client.problems.append(f"{call}: was not refused")


def same(what: str, found, wanted) -> None:
    if found != wanted:
        client.problems.append(f"{what}: {found!r} in place of {wanted!r}")


def organization() -> None:
    same("the principal", client.auth.context.retrieve().principal.type, "api_key")
    client.organization.entitlements.retrieve()
    client.organization.limits.retrieve()
    client.organization.limits.update(default_project_max_concurrent_sessions=50)
    client.organization.limits.update(default_project_max_concurrent_sessions=0)
    project = client.projects.create(name=name)
    same("a project by name", client.projects.retrieve(name).id, project.id)
    client.projects.limits.retrieve(name)
    client.projects.limits.update(name, max_concurrent_sessions=5)
    list(client.projects.list(name=name))
    client.projects.update(name, name=f"{name}-2")
    client.projects.delete(project.id)
    key = client.api_keys.create(name=name)
    same("a key by name", client.api_keys.retrieve(name).id, key.id)
    list(client.api_keys.list())
    client.api_keys.update(name, name=f"{name}-2")
    rotated = client.api_keys.rotate(key.id)
    expect_refusal("ambiguous_api_key_name", client.api_keys.retrieve, f"{name}-2")
    client.api_keys.delete(rotated.id)
    client.api_keys.delete(f"{name}-2")


def audit_logs() -> None:
    """By now there are lines of the calls before."""
    now = datetime.now(timezone.utc)
    hour = {"start": now - timedelta(minutes=30), "end": now + timedelta(minutes=30)}
    found = list(itertools.islice(client.audit_logs.list(**hour, method="POST", exclude_method=["GET", "PUT"], limit=5), 12))
    same("methods of listed calls", {one.method for one in found}, {"POST"})
    file = io.BytesIO()
    result = client.audit_logs.download(**hour, to=file, search="/org/projects", limit=3)
    lines = gzip.decompress(file.getvalue()).splitlines()
    same("lines of a download", len(lines), result.rows)
    for line in lines:
        client.check(kernel.types.AuditLogEntry, line.decode(), "a line of a download")
    made = {"bucket": "logs", "format": "jsonl.gz", "prefix": "p", "region": "eu-west-1", "role_arn": "arn:aws:iam::1:role/r", "type": "s3"}
    exports = client.audit_logs.export_destinations
    expect_refusal("not_supported_here", exports.create, **made)
    expect_refusal("not_supported_here", exports.list)
    expect_refusal("not_supported_here", exports.retrieve, "one")
    expect_refusal("not_supported_here", exports.update, "one", status="paused")
    expect_refusal("not_supported_here", exports.delete, "one")
    expect_refusal("not_supported_here", exports.test, "one")


def profiles() -> None:
    made = client.profiles.create(name=name)
    client.profiles.retrieve(name)
    client.profiles.update(made.id, name=f"{name}-2")
    client.profiles.update(made.id, name=name)
    list(client.profiles.list())
    # Nothing was saved yet.
    expect_refusal("not_found", client.profiles.download, name)


def proxies() -> str:
    custom = client.proxies.create(
        type="custom",
        name=name,
        protocol="http",
        bypass_hosts=["direct.example"],
        config={"host": "proxy.example", "port": 3128, "username": "u", "password": "p"},
    )
    managed = client.proxies.create(type="isp", name=f"{name}-isp", config={"country": "US"})
    for one in [managed.id, f"{name}-isp", name]:
        client.proxies.retrieve(one)
    list(client.proxies.list())
    client.proxies.check(managed.id)
    client.proxies.update(f"{name}-isp", name=name)
    expect_refusal("ambiguous_proxy_name", client.proxies.retrieve, name)
    client.proxies.delete(managed.id)
    same("a proxy by name", client.proxies.retrieve(name).id, custom.id)
    return custom.id


def packed_extension() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("manifest.json", json.dumps({"manifest_version": 3, "name": "walk", "version": "1.0"}))
    return packed.getvalue()


def extensions() -> str:
    made = client.extensions.upload(file=("walk.zip", packed_extension()), name=name)
    list(client.extensions.list())
    client.extensions.get(name)
    client.extensions.download(made.id).read()
    expect_refusal(
        "not_supported_here",
        client.extensions.download_from_chrome_store,
        url="https://chromewebstore.google.com/detail/a/aapbdbdomjkkjkaonfhkkikfgjllcleb",
    )
    return made.id


def logins() -> str:
    made = client.credentials.create(
        name=name,
        domain="shop.example",
        values={"username": "ada", "password": "secret"},
        totp_secret="JBSWY3DPEHPK3PXP",
    )
    client.credentials.retrieve(name)
    list(client.credentials.list())
    client.credentials.update(made.id, values={"username": "bob"})
    client.credentials.totp_code(name)
    connection = client.auth.connections.create(domain="shop.example", profile_name=name, credential={"name": name})
    client.auth.connections.retrieve(connection.id)
    list(client.auth.connections.list())
    client.auth.connections.update(connection.id, save_credentials=False)
    client.auth.connections.login(connection.id)
    connections = client.auth.connections
    expect_refusal("conflict", connections.submit, connection.id, fields={"a": "b"})
    expect_refusal("conflict", connections.follow, connection.id)
    list(connections.timeline(connection.id))
    return connection.id


def credential_providers() -> None:
    providers = client.credential_providers
    place = {"namespace": os.environ["NAMESPACE"]}
    made = providers.create(name=name, token=os.environ["TOKEN"], provider_type="kubernetes", extra_body=place)
    same("a credential provider", providers.retrieve(made.id), made)
    same("credential providers", [each.id for each in providers.list(query=name)], [made.id])
    same("a changed provider", providers.update(made.id, priority=7, cache_ttl_seconds=0).priority, 7)
    same("a tried provider", providers.test(made.id).success, True)
    providers.list_items(made.id)
    providers.delete(made.id)


def vaults(connection: str) -> str:
    vault = client.vaults.upsert(name=name)
    client.vaults.retrieve(name)
    key = client.vaults.retrieve_encryption_key(name)
    same("the key of a vault", client.vaults.retrieve_encryption_key(name), key)
    list(client.vaults.list())
    client.vaults.items.upsert(
        "login", id_or_name=name, type="credential", spec={"provider": "managed_auth", "connection_id": connection}
    )
    client.vaults.items.retrieve("login", id_or_name=name)
    client.vaults.items.list(vault.id)
    client.vaults.items.events("login", id_or_name=name)
    expect_refusal(
        "conflict",
        client.vaults.items.update,
        "login",
        id_or_name=name,
        type="credential",
        version=1,
        spec={"provider": "managed_auth", "description": "other"},
    )
    return vault.id


def destinations() -> None:
    made = client.telemetry.destinations.create(
        name=name, endpoint="https://192.0.43.10/otlp", description="walk", headers={"x-key": "secret"}
    )
    client.telemetry.destinations.retrieve(name)
    list(client.telemetry.destinations.list())
    client.telemetry.destinations.update(made.id, description="other")
    client.telemetry.destinations.delete(name)


def pools(extension: str) -> None:
    pool = client.browser_pools.create(
        name=name,
        size=1,
        headless=True,
        fill_rate_per_minute=25,
        profile={"name": name},
        extensions=[{"id": extension}],
        chrome_policy={"HomepageLocation": "https://home.example/"},
        network={"allowed_hosts": ["*.example"]},
        telemetry={"enabled": True},
        viewport={"width": 900, "height": 700},
        start_url="https://start.example/",
    )
    client.browser_pools.retrieve(name)
    list(client.browser_pools.list())
    client.browser_pools.update(name, fill_rate_per_minute=20)
    session = client.browser_pools.acquire(name, name=f"{name}-lease", tags={"team": "a"}, acquire_timeout_seconds=60)
    same("the profile of a session", session.profile and session.profile.name, name)
    same("the pool of a session", session.pool and session.pool.id, pool.id)
    same("the region of a session", session.region, pool.region)
    client.browsers.retrieve(session.session_id)
    list(client.browsers.list(tags={"team": "a"}))
    client.browser_pools.release(name, session_id=session.session_id)
    client.browser_pools.flush(name)
    client.browser_pools.delete(name, force=True)


def curl(session: str) -> None:
    # What the proxy of this session says of it.
    client.browsers.curl(session, url=os.environ["SITE"], headers={"x-walk": "1"}, method="GET")
    expect_refusal("bad_request", client.browsers.curl, session, url="file:///etc/passwd")


def webmcp(session: str) -> None:
    tools = client.browsers.webmcp
    source = """[{ match: { url_patterns: ["*"] }, tool: { name: "there", title: "Where", description: "Where it is",
      inputSchema: {}, outputSchema: {}, annotations: { readOnlyHint: true } }, execute: () => location.protocol }]"""
    added = tools.custom_tools.add(session, namespace="walk", source=source, force_overwrite_namespace=True)
    same("custom tools", tools.custom_tools.list(session), added)
    tool = tools.list_tools(session, exclude_custom=False).tools[0]
    outcome = tools.invoke_tool(session, tool_ref=tool.tool_ref, input={"a": [1]}, timeout_sec=20)
    same("what a tool answers", (outcome.status, type(outcome.output)), ("completed", str))
    expect_refusal("bad_request", tools.invoke_tool, session, tool_ref="none", input={})
    tools.custom_tools.remove(added.tools[0].id, id_or_name=session)
    same("tools without it", tools.list_tools(session).tools, [])


def load_extensions(session: str) -> None:
    load = client.browsers.load_extensions
    load(session, extensions=[{"name": one, "zip_file": (f"{one}.zip", packed_extension())} for one in ["one", "two"]])
    expect_refusal("conflict", load, session, extensions=[{"name": "one", "zip_file": ("one.zip", packed_extension())}])
    expect_refusal("bad_request", load, session, extensions=[{"name": "three", "zip_file": ("three.zip", b"no zip")}])


def hands(session: str) -> None:
    computer = client.browsers.computer
    computer.move_mouse(session, x=30, y=40, smooth=True, duration_ms=50)
    position = computer.get_mouse_position(session)
    same("the mouse", (position.x, position.y), (30, 40))
    computer.click_mouse(session, x=30, y=40, num_clicks=2, hold_keys=["Shift"])
    computer.drag_mouse(session, path=[[1, 1], [9, 9]])
    computer.scroll(session, x=30, y=40, delta_y=2)
    computer.press_key(session, keys=["Escape", "Ctrl+a"])
    computer.type_text(session, text="Grüße")
    same("the pointer", computer.set_cursor_visibility(session, hidden=True).ok, True)
    same("a picture", computer.capture_screenshot(session).read()[:8], b"\x89PNG\r\n\x1a\n")
    computer.write_clipboard(session, text="walk")
    same("the clipboard", computer.read_clipboard(session).text, "walk")
    computer.batch(session, actions=[{"type": "sleep", "sleep": {"duration_ms": 10}}])
    expect_refusal("bad_request", computer.press_key, session, keys=["Nokey"])


def files(session: str) -> None:
    fs = client.browsers.fs
    fs.write_file(session, b"walk", path="/tmp/a/b", mode="640")
    same("a file", fs.read_file(session, path="/tmp/a/b").read(), b"walk")
    same("permissions of a file", fs.file_info(session, path="/tmp/a/b").mode, "-rw-r-----")
    watch = fs.watch.start(session, path="/tmp/a", recursive=True)
    fs.upload(session, files=[{"dest_path": f"/tmp/a/{one}", "file": (one, one.encode())} for one in ["one", "two"]])
    events = fs.watch.events(watch.watch_id, id_or_name=session)
    same("events of a watch", len(client.events(events, 2, "an event of a watch")), 2)
    fs.watch.stop(watch.watch_id, id_or_name=session)
    fs.create_directory(session, path="/tmp/c/d", mode="700")
    fs.move(session, src_path="/tmp/a/one", dest_path="/tmp/c/d/one")
    fs.set_file_permissions(session, path="/tmp/c/d/one", mode="600")
    packed = fs.download_dir_zip(session, path="/tmp/c").read()
    fs.upload_zip(session, dest_path="/tmp/e", zip_file=("c.zip", packed))
    same("names in a folder", [one.name for one in fs.list_files(session, path="/tmp/e/d")], ["one"])
    fs.delete_file(session, path="/tmp/e/d/one")
    fs.delete_directory(session, path="/tmp/e")
    expect_refusal("bad_request", fs.list_files, session, path="/etc")


def code(session: str) -> None:
    ran = client.browsers.playwright.execute(session, code="console.log(1); return { a: 2 }", executor="mine")
    same("what code returns", ran.result, {"a": 2})
    same("what code writes", ran.stdout, "1\n")
    executors = client.browsers.playwright.executors
    same("executors", [one.name for one in executors.list(session).executors], ["default", "mine"])
    executors.delete("mine", id_or_name=session, close_tab=True)
    shown = client.browsers.repl(session, code="const a = await page.title(); repl.write(typeof a)")
    same("what a REPL writes", [one.text for one in shown.content], ["string"])


def processes(session: str) -> None:
    """By a key that may; others are refused, also when they ask at the session first."""
    expect_refusal("forbidden", client.browsers.process.exec, session, command="true")
    # The session has vaults.
    permissions = ["processes:run", "vaults:fill"]
    made = client.api_keys.create(name=f"{name}-processes", extra_body={"permissions": permissions})
    named = StrictKernel(base_url=base_url, api_key=made.key)
    process = named.browsers.process
    ran = process.exec(session, command="printf", args=["%s", "a b"], cwd="/tmp", env={"A": "1"}, timeout_sec=20)
    same("what a process wrote", (ran.exit_code, ran.stdout_b64, ran.stderr_b64), (0, "YSBi", ""))
    spawned = process.spawn(session, command="cat", allocate_tty=True, cols=100, rows=30)
    same("a process", process.status(spawned.process_id, id_or_name=session).state, "running")
    same("bytes of input", process.stdin(spawned.process_id, id_or_name=session, data_b64="YQo=").written_bytes, 2)
    same("a size", process.resize(spawned.process_id, id_or_name=session, cols=80, rows=24).ok, True)
    events = process.stdout_stream(spawned.process_id, id_or_name=session)
    same("output of a process", named.events(events, 1, "an event of a process")[0].get("stream"), "stdout")
    same("a signal", process.kill(spawned.process_id, id_or_name=session, signal="KILL").ok, True)
    expect_refusal("not_supported_here", process.exec, session, command="true", as_root=True)
    expect_refusal("bad_request", process.exec, session, command="true", cwd="/etc")


def browsers(vault: str, proxy: str) -> None:
    session = client.browsers.create(
        headless=True,
        name=name,
        tags={"team": "b"},
        profile={"name": name},
        vaults=[{"id": vault}],
        proxy={"id": proxy},
        telemetry={"enabled": True, "browser": {"console": {"enabled": True}, "page": {"enabled": True}, "network": {"enabled": True}}},
        timeout_seconds=120,
    )
    same("the proxy of a session", session.proxy and session.proxy.id, proxy)
    client.browsers.retrieve(name)
    client.browsers.update(name, tags={"team": "c"}, viewport={"width": 800, "height": 600})
    list(client.browsers.list(status="all"))
    logs = client.browsers.logs.stream(session.session_id, source="supervisor", supervisor_process="agent", follow=False)
    same("lines of a log", len(client.events(logs, 1, "a line of a log")), 1)
    by_path = client.browsers.logs.stream(session.session_id, source="path", path="/var/log/chromium.log", follow=False)
    client.events(by_path, 5, "a line of a log")
    events = client.browsers.telemetry.stream(session.session_id, replay="all")
    same("events of a session", len(client.events(events, 1, "an event of a session")), 1)
    list(client.browsers.telemetry.events(session.session_id))
    load_extensions(session.session_id)
    files(session.session_id)
    hands(session.session_id)
    curl(session.session_id)
    webmcp(session.session_id)
    code(session.session_id)
    processes(session.session_id)
    replay = client.browsers.replays.start(session.session_id, framerate=5)
    client.browsers.replays.list(name)
    client.browsers.replays.stop(replay.replay_id, id_or_name=session.session_id)
    client.browsers.replays.list(session.session_id)
    client.browsers.replays.download(replay.replay_id, id_or_name=session.session_id).read()
    client.browsers.delete_by_id(session.session_id)
    client.browsers.retrieve(session.session_id, include_deleted=True)
    list(client.browsers.list(status="deleted"))


def once_open(call, **options):
    """A start page opens in the background."""
    for _ in range(60):
        try:
            return call(**options)
        except kernel.BadRequestError as error:
            if error.body.get("code") != "page_not_found":
                raise
            time.sleep(0.5)
    return call(**options)


def fills(vault: str) -> None:
    captured = ["console", "network", "page", "interaction", "platform", "screenshot"]
    session = client.browsers.create(
        headless=True,
        vaults=[{"id": vault}],
        start_url=os.environ["SITE"],
        telemetry={"enabled": True, "browser": {category: {"enabled": True} for category in captured}},
    )
    fill = {
        "id_or_name": name,
        "type": "fill",
        "browser_id": session.session_id,
        "fields": [{"field": "username", "selector": "#user"}],
    }
    items = client.vaults.items
    expect_refusal("page_not_found", items.perform_operation, "login", page_url="https://shop.example/", **fill)
    filled = once_open(items.perform_operation, key="login", page_url=os.environ["SITE"], **fill)
    same("a fill", filled.status, "completed")
    wanted = {"console_log", "network_request", "network_response"}
    for _ in range(60):
        seen = {event.event.type for event in client.browsers.telemetry.events(session.session_id, limit=100)}
        if wanted <= seen:
            break
        time.sleep(0.5)
    same("events of a page that are missing", wanted - seen, set())
    same("the last event of an item", items.events("login", id_or_name=name)[-1].name, "fill")
    client.browsers.delete_by_id(session.session_id)


def begin_analysis() -> str:
    """Of a site that nobody serves: its trials need a minute."""
    begun = client.config_registry.resolve(url=os.environ["KNOWN"])
    return client.config_registry.analyses.retrieve(begun.analysis.id).analysis.id


def registry(analysis: str) -> None:
    registry = client.config_registry
    registry.lookup(url=os.environ["KNOWN"])
    registry.lookup(url="https://unknown.example/")
    done = registry.analyses.wait_for_result(analysis, poll_interval=0.5, max_wait_seconds=180)
    same("an analysis that has ended", done.analysis.status, "completed")
    same("a canceled analysis that had ended", registry.analyses.cancel(analysis).analysis.status, "completed")
    list(registry.analyses.list())
    list(registry.list(sort_by="target", sort_order="asc"))


def take_back(connection: str, proxy: str) -> None:
    client.vaults.items.delete("login", id_or_name=name)
    client.vaults.delete(name)
    client.auth.connections.delete(connection)
    client.credentials.delete(name)
    client.extensions.delete(name)
    client.proxies.delete(name)
    client.profiles.delete(name)


def call_anyhow(operation: str, method: str) -> None:
    """Calls an operation with whatever its method needs."""
    bound = client
    for step in method.split("."):
        bound = getattr(bound, step)
    needed = [one for one in inspect.signature(bound).parameters.values() if one.default is inspect.Parameter.empty]
    values = {"str": "none", "int": 1, "bool": True}
    try:
        bound(**{one.name: values.get(str(one.annotation), b"none" if "File" in str(one.annotation) else []) for one in needed})
    except (TypeError, ValueError):
        # What it needs depends on a kind that is chosen.
        verb, path = operation.split(" ")
        getattr(client, verb.lower())(template_of(path).format(*["none"] * path.count("{")), cast_to=object)


def verdict(operation: str, method: str) -> str:
    """What becomes of an operation here: served, or the code with which it is refused."""
    verb, path = operation.split(" ")
    route = (verb, template_of(path))
    # It was refused for what it was asked, as a profile without contents is.
    if route in client.called or refused.get(route) == "not_found":
        return "served"
    if route in refused:
        return refused[route]
    if route in service_routes:
        return "not called by walk.py"
    try:
        call_anyhow(operation, method)
    except kernel.APIStatusError as error:
        client.check(kernel.types.shared.ErrorModel, error.response.text, operation)
        return error.body.get("code", "") if isinstance(error.body, dict) else ""
    return "answers, and is not documented"


analysis = begin_analysis()
organization()
profiles()
proxy = proxies()
extension = extensions()
connection = logins()
credential_providers()
vault = vaults(connection)
destinations()
pools(extension)
browsers(vault, proxy)
fills(vault)
registry(analysis)
audit_logs()
take_back(connection, proxy)
print(
    json.dumps(
        {
            "problems": client.problems,
            "table": {what["method"]: verdict(operation, what["method"]) for operation, what in surface()["operations"].items()},
        }
    )
)
