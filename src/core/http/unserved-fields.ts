/**
 * What the newest public clients can send and this service does not carry out (HTTP-32). It is refused by name: left
 * out without a word, a caller would take it for done. docs/clients.md lists it.
 */
import { notSupportedHere } from "../../platform/base/errors.ts";
import { joinPath, type Path } from "../../platform/kinds/wire.ts";

/**
 * Why it is refused and what to do instead, by the place in a body (`vaults[].name`) or the name of a query parameter.
 */
type Unserved = { body?: Record<string, string>; query?: Record<string, string> };

const noRegion = "an installation is one region; leave it out";
const noBrowser = "browsers that log in are the same for all connections; leave it out";
const noSkills = "logins learn nothing from page to page; leave it out";
const noSuchChoice = "a login waits for no such choice here; give selected_choice_id, mfa_option_id or sso_provider";
const onlySha1 = "codes follow RFC 6238 with HMAC-SHA1, 6 digits and 30 seconds; leave it out where the site has these";

const oneService = "all calls are of one service; leave it out";

const oneUser = "a session has one user; leave it out";

const oneProcessUser = {
  as_root: "a process has the user of its session, who is not root; leave it out",
  as_user: oneUser,
};

/** By the operation's id. */
export const unservedFields: Readonly<Record<string, Unserved>> = {
  exportAuditLogs: { query: { service: oneService } },
  listAuditLogs: { query: { service: oneService } },
  execProcess: { body: oneProcessUser },
  spawnProcess: { body: oneProcessUser },
  setFilePermissions: { body: { owner: oneUser, group: oneUser } },
  createBrowser: {
    body: {
      invocation_id: "there are no invocations of apps; find sessions by tags",
      "proxy.name": "names of proxies need not be unique; give proxy.id",
      region: noRegion,
      "vaults[].name": "give the id of the vault",
      video_memory: "the installation says what a browser's GPU has; leave it out",
    },
  },
  listBrowsers: { query: { region: noRegion } },
  updateBrowser: {
    body: {
      "proxy.name": "names of proxies need not be unique; give proxy.id",
    },
  },
  getVaultItem: { query: { expand: "available_expansions is empty: nothing can be expanded" } },
  runVaultItemOperation: {
    body: { "fields[].format": "it is of a payment card's expiry, and vaults keep logins; leave it out" },
  },
  createAuthConnection: { body: { browser: noBrowser } },
  updateAuthConnection: { body: { browser: noBrowser } },
  loginAuthConnection: { body: { browser: noBrowser, skill_mode: noSkills } },
  submitAuthConnection: {
    body: { sign_in_option_id: noSuchChoice },
  },
  createCredential: { body: { totp_algorithm: onlySha1, totp_digits: onlySha1, totp_period: onlySha1 } },
  updateCredential: { body: { totp_algorithm: onlySha1, totp_digits: onlySha1, totp_period: onlySha1 } },
  resolveConfigRegistry: {
    body: { intent: "a trial loads the page of the URL and does nothing there; give the URL of the page you need" },
  },
  createApiKey: {
    body: { policy: "keys are limited by permissions and project_id (docs/permissions.md); give those" },
  },
};

/** The place of the first value that is given there, or undefined. `[]` in a step: of each entry of a list. */
const givenAt = (value: unknown, [step, ...rest]: readonly string[], path: Path = []): Path | undefined => {
  if (step === undefined) return path;
  const name = step.replace(/\[\]$/, "");
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  const inner = (value as Record<string, unknown>)[name];
  if (name === step) return givenAt(inner, rest, [...path, name]);
  if (!Array.isArray(inner)) return undefined;
  for (const [index, item] of inner.entries()) {
    const found = givenAt(item, rest, [...path, name, index]);
    if (found) return found;
  }
  return undefined;
};

/**
 * Throws `not_supported_here`, which names each field and parameter of the operation's list that is given, with any
 * value.
 */
export const refuseUnserved = (operationId: string, body: unknown, query: Record<string, unknown>): void => {
  const unserved = unservedFields[operationId];
  const inBody = Object.entries(unserved?.body ?? {}).flatMap(([place, message]) => {
    const path = givenAt(body, place.split("."));
    return path ? { path: joinPath(path), message } : [];
  });
  const inQuery = Object.entries(unserved?.query ?? {}).flatMap(([path, message]) =>
    Object.keys(query).some((key) => key === path || key.startsWith(`${path}[`)) ? { path, message } : [],
  );
  if (inBody.length + inQuery.length > 0) throw notSupportedHere([...inBody, ...inQuery]);
};
