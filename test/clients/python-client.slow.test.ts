/**
 * The newest public Python client: every operation that it and the service have, each answer parsed strictly by the
 * client's own types.
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
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

/** What a script of test/clients/python prints. */
const run = async <Printed>(
  script: string,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<Printed> => {
  const { stdout } = await promisify(execFile)(python ?? "", [join(import.meta.dirname, "python", script), ...args], {
    env: {
      ...{ ...process.env, PYTHONDONTWRITEBYTECODE: "1", KERNEL_BASE_URL: stack.url, KERNEL_API_KEY: stack.api_key },
      ...env,
    },
  });
  return JSON.parse(stdout) as Printed;
};

type Walked = { problems: string[]; not_called: string[]; called: string[] };

// HTTP-40
test.skipIf(!python)(
  "takes every answer strictly by its types, whichever operation it calls",
  async () => {
    const { port } = site.address() as AddressInfo;
    await addKnowledge();
    const { problems, not_called, called } = await run<Walked>("walk.py", [], {
      SITE: `http://${ownAddress()}:${port}/`,
      KNOWN: known,
    });
    expect(problems).toEqual([]);
    expect(not_called).toEqual([]);
    expect(called.length).toBeGreaterThan(80);
  },
  walkedWithinMs,
);

// HTTP-6, HTTP-32
test.skipIf(!python)(
  "has no field that is dropped without a word",
  async () => {
    const fields = join(import.meta.dirname, "sdk-fields.json");
    const { probes, dropped } = await run<{ probes: number; dropped: string[] }>("probes.py", [fields]);
    expect(dropped).toEqual([]);
    expect(probes).toBeGreaterThan(200);
  },
  walkedWithinMs,
);
