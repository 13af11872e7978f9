/**
 * The newest public Python client: every operation that it and the service have, each answer parsed strictly by the
 * client's own types.
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { locatePython } from "../../scripts/setup/python-environments.mjs";
import { siteConfigKind } from "../../src/features/sites/configs/site-config.ts";
import { type LocalStack, startLocalStack } from "../support/local-stack.ts";
import { ownAddress } from "../support/own-address.ts";

/** Undefined, and the test left out, where the set-up could not install it and has said so. */
const python = locatePython("python-client", join(import.meta.dirname, "../.."), process.env);

/** Two pools and three browsers start, and a recording is encoded, on a machine that does other work too, ms. */
const walkedWithinMs = 300_000;

const known = "https://known.example/";
const page = `<title>login</title><input id="user"><script>setInterval(() => { console.log("ready"); fetch("/data") }, 200)</script>`;

let stack: LocalStack;
let site: Server;
let folder: string;

beforeAll(async () => {
  if (!python) return;
  folder = await mkdtemp(join(tmpdir(), "browserpool-python-"));
  await writeFile(join(folder, "analyses.yaml"), "browsers: 1\n");
  // Nobody is there; it is checked, and found to be unavailable.
  await writeFile(join(folder, "provider.yaml"), "isp: {host: 192.0.2.1, port: 3128, protocol: http, country: US}\n");
  site = createServer((_request, response) => response.setHeader("content-type", "text/html").end(page));
  await once(site.listen(0, ownAddress()), "listening");
  stack = await startLocalStack({
    env: {
      BROWSERPOOL_PROCESSES: "on",
      BROWSERPOOL_ANALYSES_FILE: join(folder, "analyses.yaml"),
      BROWSERPOOL_PROXY_PROVIDER_FILE: join(folder, "provider.yaml"),
    },
  });
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  site?.close();
  if (folder) await rm(folder, { recursive: true });
});

/** Something is known of a site, and nobody is there. */
const addKnowledge = async (): Promise<void> => {
  const configuration = { evidence: { accessed: 5, blocked: 0, lastObservedAt: "2026-01-02T03:04:05Z" } };
  await stack.kube.create(siteConfigKind, {
    metadata: { name: "known" },
    spec: { scope: "host", target: "known.example", configurations: [configuration] },
  } as never);
};

/** Of who may list the Secrets of every namespace. */
const adminToken = async (): Promise<string> => {
  const { users } = parse(await readFile(stack.kubeconfig, "utf8")) as { users: [{ user: { token: string } }] };
  return users[0].user.token;
};

/** What a script of test/clients/python prints. */
const run = async <Printed>(script: string, env: Record<string, string> = {}): Promise<Printed> => {
  const { stdout } = await promisify(execFile)(python ?? "", [join(import.meta.dirname, "python", script)], {
    env: {
      ...{ ...process.env, PYTHONDONTWRITEBYTECODE: "1", KERNEL_BASE_URL: stack.url, KERNEL_API_KEY: stack.api_key },
      ...env,
    },
  });
  return JSON.parse(stdout) as Printed;
};

/** What becomes of each operation of the client, by the name of its method. */
type Table = Record<string, string>;

type Walked = { problems: string[]; table: Table };

/** Operations that the service does not carry out, by how it refuses them; a name stands for all that begin with it. */
const notServed: Record<string, string[]> = JSON.parse(
  readFileSync(join(import.meta.dirname, "sdk-table.json"), "utf8"),
);

const expectedOf = (method: string): string => {
  const isIn = (name: string): boolean => method === name || method.startsWith(`${name}.`);
  return Object.entries(notServed).find(([, names]) => names.some(isIn))?.[0] ?? "served";
};

/** The table, a line for each answer. */
const told = (table: Table): string =>
  [...Map.groupBy(Object.entries(table), ([, answer]) => answer)]
    .map(([answer, methods]) => `${answer} (${methods.length}): ${methods.map(([name]) => name).join(", ")}`)
    .join("\n");

// HTTP-40, HTTP-42
test.skipIf(!python)(
  "takes every answer strictly by its types, and each of its operations is served or refused as docs/surface.md says",
  async () => {
    const { port } = site.address() as AddressInfo;
    await addKnowledge();
    const { problems, table } = await run<Walked>("walk.py", {
      SITE: `http://${ownAddress()}:${port}/`,
      KNOWN: known,
      ...{ NAMESPACE: "default", TOKEN: await adminToken() },
    });
    process.stdout.write(`${told(table)}\n`);
    expect(problems).toEqual([]);
    const methods = Object.keys(table);
    expect(table).toEqual(Object.fromEntries(methods.map((method) => [method, expectedOf(method)])));
    expect(methods).toHaveLength(175);
  },
  walkedWithinMs,
);

// HTTP-32
test.skipIf(!python)("can send what test/clients/sdk-surface.json says", async () => {
  const file = await readFile(join(import.meta.dirname, "sdk-surface.json"), "utf8");
  expect(await run("surface.py")).toEqual(JSON.parse(file));
});

// HTTP-6, HTTP-32
test.skipIf(!python)(
  "has no field that is dropped without a word",
  async () => {
    const { probes, dropped } = await run<{ probes: number; dropped: string[] }>("probes.py");
    expect(dropped).toEqual([]);
    expect(probes).toBeGreaterThan(200);
  },
  walkedWithinMs,
);
