/**
 * The limits of requests, on both sides: the last value that is taken, and the first that is refused, with the field
 * that is named.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { emptyPool } from "../support/filled-pool.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
let pool: string;
beforeAll(async () => {
  stack = await startStack();
  pool = (await emptyPool(stack.kernel)).id;
});
afterAll(() => stack?.[Symbol.asyncDispose]());

type Answer = { status: number; paths: string[] };

const ask = async (method: string, path: string, body: object): Promise<Answer> => {
  const response = await stack.call(method, path.replace("POOL", pool), body);
  const { details = [] } = (await response.json().catch(() => ({}))) as { details?: { path?: string }[] };
  return { status: response.status, paths: details.map((detail) => detail.path ?? "") };
};

const text = (length: number): string => "a".repeat(length);
const url = (length: number): string => `data:,${text(length - 6)}`;
const list = <T>(length: number, of: (index: number) => T): T[] => Array.from({ length }, (_, index) => of(index));
const hosts = (length: number): string[] => list(length, (index) => `h${index}.internal`);
/** A host name of this length, of labels that are short enough. */
const longHost = (length: number): string => text(length).replace(/(.{60})./g, "$1.");
const tags = (count: number): object => Object.fromEntries(list(count, (index) => [`t${index}`, "x"]));
const unknown = (index: number): object => ({ id: `unknown${index}` });
const binding = (index: number): object => ({ field: "username", selector: `#f${index}` });

const update = ["PATCH", "/browser_pools/POOL"] as const;
const acquire = ["POST", "/browser_pools/POOL/acquire"] as const;
const browsers = ["POST", "/browsers"] as const;
const proxies = ["POST", "/proxies"] as const;
const operations = ["POST", "/vaults/unknown/items/unknown/operations"] as const;

const viewport = (field: string, value: number): object => ({ viewport: { width: 800, height: 600, [field]: value } });
const custom = (field: string, value: unknown): object => ({
  type: "custom",
  config: { host: "proxy.example", port: 3128, [field]: value },
});
const fill = (more: object): object => ({ type: "fill", browser_id: "unknown", fields: [binding(0)], ...more });

/**
 * What is limited, the request, the last body that passes and the first that does not, the field that the refusal
 * names, and the status of the first: 404 where all that is wrong is an object that does not exist, 204 where no
 * browser comes, 409 where the time is over.
 */
type Limit = [string, readonly [string, string], object, object, string, number?];

// LIMIT-1, LIMIT-3, LIMIT-4, LIMIT-5, LIMIT-7, LIMIT-8, LIMIT-9, LIMIT-17, POOL-15
const limits: Limit[] = [
  ["size, at least 1", update, { size: 1 }, { size: 0 }, "size"],
  [
    "fill_rate_per_minute, at least 0",
    update,
    { fill_rate_per_minute: 0 },
    { fill_rate_per_minute: -1 },
    "fill_rate_per_minute",
  ],
  ["timeout_seconds, at least 10", update, { timeout_seconds: 10 }, { timeout_seconds: 9 }, "timeout_seconds"],
  [
    "timeout_seconds, at most 259200",
    update,
    { timeout_seconds: 259_200 },
    { timeout_seconds: 259_201 },
    "timeout_seconds",
  ],
  ["name, at most 255 characters", update, { name: text(255) }, { name: text(256) }, "name"],
  ["name, its characters", update, { name: "aZ0._-" }, { name: "a b" }, "name"],
  ["start_url, at most 2048 characters", update, { start_url: url(2048) }, { start_url: url(2049) }, "start_url"],
  [
    "extensions, at most 20",
    update,
    { extensions: list(20, unknown) },
    { extensions: list(21, unknown) },
    "extensions",
    404,
  ],
  ["viewport.width, at least 1", update, viewport("width", 1), viewport("width", 0), "viewport.width"],
  ["viewport.height, at least 1", update, viewport("height", 1), viewport("height", 0), "viewport.height"],
  [
    "viewport.refresh_rate, at least 1",
    update,
    viewport("refresh_rate", 1),
    viewport("refresh_rate", 0),
    "viewport.refresh_rate",
  ],
  [
    "network.private_hosts, at most 32",
    update,
    { network: { private_hosts: hosts(32) } },
    { network: { private_hosts: hosts(33) } },
    "network.private_hosts",
  ],
  [
    "network.private_hosts[], at most 253 characters of a name",
    update,
    { network: { private_hosts: [longHost(253)] } },
    { network: { private_hosts: [longHost(254)] } },
    "network.private_hosts[0]",
  ],
  [
    "tags of a session, at most 50",
    acquire,
    { tags: tags(50), acquire_timeout_seconds: 0 },
    { tags: tags(51) },
    "tags",
    204,
  ],
  [
    "name of a session, at most 255 characters",
    acquire,
    { name: text(255), acquire_timeout_seconds: 0 },
    { name: text(256) },
    "name",
    204,
  ],
  [
    "start_url of a lease, at most 2048 characters",
    acquire,
    { start_url: url(2048), acquire_timeout_seconds: 0 },
    { start_url: url(2049) },
    "start_url",
    204,
  ],
  [
    "timeout_seconds of a browser, at least 10",
    browsers,
    { timeout_seconds: 10, proxy_id: "unknown" },
    { timeout_seconds: 9 },
    "timeout_seconds",
    404,
  ],
  [
    "timeout_seconds of a browser, at most 259200",
    browsers,
    { timeout_seconds: 259_200, proxy_id: "unknown" },
    { timeout_seconds: 259_201 },
    "timeout_seconds",
    404,
  ],
  [
    "extensions of a browser, at most 20",
    browsers,
    { extensions: list(20, unknown) },
    { extensions: list(21, unknown) },
    "extensions",
    404,
  ],
  [
    "password of a custom proxy, at most 4096 characters",
    proxies,
    custom("password", text(4096)),
    custom("password", text(4097)),
    "config.password",
    201,
  ],
  [
    "port of a custom proxy, at most 65535",
    proxies,
    custom("port", 65_535),
    custom("port", 65_536),
    "config.port",
    201,
  ],
  ["timeout_ms of a fill, at least 1", operations, fill({ timeout_ms: 1 }), fill({ timeout_ms: 0 }), "timeout_ms", 409],
  [
    "timeout_ms of a fill, at most 30000",
    operations,
    fill({ timeout_ms: 30_000 }),
    fill({ timeout_ms: 30_001 }),
    "timeout_ms",
    404,
  ],
  ["fields of a fill, at least 1", operations, fill({}), fill({ fields: [] }), "fields", 404],
  [
    "fields of a fill, at most 50",
    operations,
    fill({ fields: list(50, binding) }),
    fill({ fields: list(51, binding) }),
    "fields",
    404,
  ],
];

test.each(limits)("%s", async (...[, [method, path], good, bad, ...[field, status = 200]]) => {
  expect(await ask(method, path, bad)).toEqual({ status: 400, paths: [field] });
  expect(await ask(method, path, good)).toMatchObject({ status });
});
