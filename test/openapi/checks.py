"""Data that the document allows may be refused only by a rule that JSON Schema can't express. Each such rule stands here."""

import os
import re
import time

import requests
import schemathesis
from schemathesis.core.failures import Failure

# Texts of details[], path first, each with what no schema can say.
RULES = [
    # The grammar of hosts: labels of 63 characters, ports up to 65535, private addresses, a name that browsers read as an address.
    r"^((allowed_domains|bypass_hosts|network\.(allowed_hosts|private_hosts|proxy_routes\[\d+\]\.hosts))\[\d+\]|config\.host): "
    r"(is not an? (host name|IPv4 address|IPv6 address|CIDR range) ?|must be (a|one) host|must be private |must not be empty |"
    r"the port must be a number |only one leading |a wildcard that catches everything |a CIDR range takes no port$|"
    r"the CIDR range has host bits |an IPv6 address stands in brackets|(loopback|link-local) is not allowed$)",
    # The policies of one Chromium, their types, and those that a pool may not set.
    r"^chrome_policy\.\w+: (is no policy of Chromium [\d.]+$|is not allowed: )",
    # An origin has one way to be written.
    r"allowed_origins\[\d+\]: write it as browsers do: ",
    # The level of a key is in another field, or the key's own.
    r"^permissions: a key of one project can't have `organization`$",
    # Commas separate the values of a list in a query.
    r"^\w+\[\d+\]: Too small: expected string to have >=1 characters$",
    # Where a login begins: a page of the connection's own domains.
    r"^login_url: (is no URL|must have no user or password|must be a page of the domain or of one of allowed_domains)$",
    # Projects that there are; what is encrypted to the key of a vault.
    r"^projects\[\d+\]: is no id of a project$",
    r"^encrypted_values\..+: (is no compact JWE with a kid$|its kid is of no vault's present key$|can't be decrypted: )",
    r"^encrypted_values\..+: (is given in values too|breaks the rules of values)$",
    # What others of the organization leave.
    r": must not be above the organization's limit of \d+$",
    r"^(size|autoscale\.min): .*\bexceeds? the (organization's limit of \d+ pooled sessions|project's limit of \d+ sessions)$",
    r"^fill_rate_per_minute: above the organization's cap of \d+$",
    r"^max_session_seconds: above the \d+ s that this installation allows$",
    # Of two numbers one is not above the other; time zones; and by a PATCH, the pool may have a size or autoscale already.
    r"^autoscale\.(schedule\[\d+\]\.)?min: min must not be above max$",
    r"^autoscale\.schedule\[\d+\]\.time_zone: is no time zone of the IANA database$",
    r"^size: the pool has autoscale, which sets its size; ",
    # Deprecated subtags; zones.
    r"^location\.locale: is written ",
    r"^location\.timezone: is no time zone of the IANA database$",
    # By a PATCH, what the provider is already: its type, and the address that its token is for.
    r"^(address|mount|path_prefix|namespace|label_selector): (is no field of the type |must be the name of a namespace$)",
    r"^token: give that of the new address$",
    # What an export has already is not in the request.
    r"^(browser_)?telemetry\.export\.otlp\.destination: an enabled export needs a destination$",
    # By a PATCH, the pool may have a profile already.
    r"^refresh_on_profile_update: needs a profile on the pool$",
    # The two headers of a project; a time of a key that is over.
    r"^expires_at: must be in the future$",
    # Of two moments the later one, and the time between them.
    r"^end: must be (after start|at most 30 days after start)$",
    # What a form has inside of it.
    r"^(files|zip_file|extensions): (the form has none$|give each as )",
    r"^body: (it is no whole form$|send it as multipart/form-data)",
    # Which parameter of a query another one asks for.
    r"^(path|supervisor_process): is required with source=(path|supervisor)$",
    # Lists of countries and states, and what they allow together; what a header of a login can carry; certificates.
    r"^config\.country: ",
    r"^config\.state: (only with country US|.* is no state of the US$|must be )",
    r"^config\.city: (needs a country$|must )",
    r"^config\.zip: (is a ZIP code of the US|must )",
    r"^config\.asn: must ",
    r"^config\.(username|password): must not contain (control characters$|a colon)",
    r"^config\.ca_bundle: ",
    r"^config: (this installation has no provider of proxies)",
    # A base URL of a public host; each header once, and none of the exporter's; the length of all together.
    r"^endpoint: (must (be|have) |telemetry is not sent there: |is another server: )",
    r"^headers: ([\w.-]+ is (given twice|set by the exporter)$|at most \d+ (headers|bytes of names and values together)$)",
    # Which URLs are public: hosts of the DNS, not of a network inside. Countries are a list.
    r"^url: (is no URL$|must be an http or https URL$|must have at most 2048 characters$|the (host|address) is |a host of one label |names under )",
    r"^allowed_proxy_countries\[\d+\]: \w+ is no country code of ISO 3166$",
    # Proxies, of which several can have one name.
    r"^([\w.]+: )?\d+ \w+ are named .*: give the id$",
    # What the name of a host resolves to.
    r"^url: its host has no public address$",
    # A path of a session's files, which can be written in many ways, and what a form has.
    r"^((src_|dest_)?path|dest|files\[\d+\]\.dest_path): (must be absolute$|must be below /tmp: |must not have |has (\d+ (bytes|folders)|names) |is no path$)",
    r"^the form has no file$",
    # Code may be empty where the REPL is only reset.
    r"^code: is empty$",
    # What a file has inside of it, and that a form has each field once.
    r"^file: (this is no zip archive, or its end is missing|the archive has no manifest.json at its root)$",
    r"^name: give this once, and shorter$",
    r"^name: must not have the form of an id ",
]

RULE = re.compile("|".join(f"(?:{rule})" for rule in RULES))

# What is not there, what is there already, what is in use, what is full: of these no schema knows.
OF_STATE = {
    403: {"vault_not_attached"},
    404: {"not_found", "project_not_found"},
    409: {
        *("conflict", "name_taken", "pool_in_use", "stale_network", "idempotency_key_reused", "idempotency_in_progress"),
        *("browser_not_ready", "fill_in_progress", "item_unavailable", "no_saved_credential"),
    },
    # Entries and bytes of a body, all together.
    413: {"payload_too_large"},
    429: {"too_many_requests"},
}

# Where the refusals go that no rule of the list explains; left out, they are failures.
NEW_RULES_FILE = os.environ.get("NEW_RULES_FILE")

# How often a request is repeated whose answer says that it may be. A browser whose time is over while a change is under way answers nothing
# until the change has come to its end, some seconds on a quiet machine.
REPETITIONS = 20


def is_known(detail):
    return detail["code"] == "not_supported_here" or RULE.search(detail["message"]) is not None


def why_refused(response):
    """Why the refusal of allowed data is not in order; None when it is."""
    error = response.json()
    details = error.get("details") or []
    if response.status_code == 400:
        # Two headers name the project; the document can't say that they agree.
        if error["message"].startswith("X-Kernel-Project-Id and X-Kernel-Project name different projects"):
            return None
        unknown = [detail for detail in details or [error] if not is_known(detail)]
        return unknown or None
    return None if error["code"] in OF_STATE.get(response.status_code, ()) else error


def fail(case, title, message):
    raise Failure(operation=case.operation.label, title=title, message=message[:1500])


@schemathesis.check
def no_server_error(ctx, response, case):
    """5xx is an answer only where a repetition ends it: 503 with Retry-After."""
    status, wait = response.status_code, response.headers.get("retry-after", [None])[0]
    for _ in range(REPETITIONS):
        if status != 503 or not wait:
            break
        time.sleep(float(wait))
        with requests.Session() as session:
            again = session.send(response.request, timeout=60)
        status, wait = again.status_code, again.headers.get("retry-after")
        response = again
    if status >= 500:
        # An answer may be an image.
        fail(case, "Server error", f"{status}: {response.content[:1000]!r}")


@schemathesis.check
def refused_by_a_known_rule(ctx, response, case):
    """Schema-valid data is accepted, or refused by a rule of the list above."""
    if case.meta is None or not case.meta.generation.mode.is_positive or not 400 <= response.status_code < 500:
        return
    why = why_refused(response)
    if why is None:
        return
    message = f"{response.status_code}: no rule of test/openapi/checks.py is this: {why}"
    if NEW_RULES_FILE:
        with open(NEW_RULES_FILE, "a") as file:
            file.write(f"{case.operation.label}: {message}"[:1500] + "\n")
    else:
        fail(case, "Allowed by the document, and refused", message)
