/**
 * Every route of what is kept, with each of its calls to Kubernetes, Redis and the blob store failing in turn: what the
 * caller is told, that what it was told to be made is there, that the same request works once all is well, and that
 * nothing is left behind.
 */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { routes as allRoutes } from "../../src/cmd/features.ts";
import type { ServiceDeps } from "../../src/cmd/service-deps.ts";
import type { Route } from "../../src/core/http/route.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { credentialKind, ownSecretName } from "../../src/features/vaults/credentials/credential.ts";
import { secrets } from "../../src/platform/kube/resource-type.ts";
import { clientsOf } from "../support/clients.ts";
import { eventually } from "../support/eventually.ts";
import { type FormSite, startFormSite } from "../support/form-site.ts";
import { createRouteRequests, type RouteRequest, type RouteRequests, textOf } from "../support/route-requests.ts";
import { type LocalProject, startProject } from "../support/stack.ts";
import { type FaultKind, faultKinds, injected, serviceFailures, tryEveryFault } from "./injector.ts";
import { type OwnReplica, startOwnReplica } from "./own-replica.ts";

let stack: LocalProject;
let site: FormSite;
let replica: OwnReplica;
let requests: RouteRequests;
beforeAll(async () => {
  site = await startFormSite();
  stack = await startProject();
  replica = await startOwnReplica(stack);
  // By the same replica, which knows at once what it has made.
  const made = clientsOf({ url: replica.url, api_key: stack.organization_key }, stack.project);
  requests = await createRouteRequests({ ...stack, ...made }, site.url);
});
afterAll(async () => {
  await replica?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
  await site?.[Symbol.asyncDispose]();
});
/** A project may have so many pools, destinations and credentials. */
afterEach(async () => {
  await requests.endSessions();
  for await (const { id } of stack.kernel.credentials.list()) await stack.kernel.credentials.delete(id);
  for await (const { id, browser_pool_config: config } of stack.kernel.browserPools.list())
    if (config.size === 1) await stack.kernel.browserPools.delete(id, { force: true });
  const destinations = (await (await stack.call("GET", "/telemetry/destinations?limit=100")).json()) as {
    id: string;
  }[];
  for (const { id } of destinations) await stack.call("DELETE", `/telemetry/destinations/${id}`);
});

type Answer = { status: number; headers: Headers; text: string };

/** Sends it, on parts of which some may fail. */
const send = async ({ method }: Route, { path, body }: RouteRequest, parts?: ServiceDeps): Promise<Answer> => {
  const isForm = body instanceof FormData;
  const init = {
    method: method.toUpperCase(),
    headers: body !== undefined && !isForm ? { "content-type": "application/json" } : {},
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  };
  const response = await replica.fetch(path, init, parts);
  const text = await textOf(response);
  const session = /"session_id":"([^"]+)"/.exec(text)?.[1];
  if (response.ok && session !== undefined) requests.own(session);
  return { status: response.status, headers: response.headers, text };
};

/** As a client does that is told to repeat the request: a pool's sessions may have to be recovered first. */
const sendUntilServed = (route: Route, request: RouteRequest): Promise<Answer> =>
  eventually("the request is served", async () => {
    const answer = await send(route, request);
    return answer.status !== 503 && answer;
  });

/** What a request may be answered with when it is repeated: it may have been carried out the first time. */
const isFine = ({ method }: Route, { status }: Answer): boolean =>
  status < 300 || (method === "delete" && status === 404) || status === 409;

/** What a caller was told to be made can be read. */
const checkMade = async (route: Route, { path }: RouteRequest, { status, text }: Answer): Promise<void> => {
  const one = new RegExp(`^${route.path}/\\{[a-z_]+\\}$`);
  const reader = allRoutes.find((other) => other.method === "get" && one.test(other.path));
  if (route.method !== "post" || status !== 201 || !reader) return;
  const { id } = JSON.parse(text) as { id: string };
  expect(await send(reader, { path: `${path}/${id}` }), text).toMatchObject({ status: 200 });
};

/**
 * Of sessions, sessions.test.ts tells, on simulated browsers: a request for each fault would need a browser for each.
 */
const ofSessions = /^\/browsers|\/(acquire|release|flush|operations)$|^\/config-registry/;

const kindsOf = ({ method }: Route): readonly FaultKind[] => (method === "get" ? ["refused"] : faultKinds);

const routes = allRoutes.filter(
  ({ path, operationId }) => !ofSessions.test(path) && operationId !== "downloadExtensionFromChromeStore",
);

test.each(routes.map((route) => [`${route.method.toUpperCase()} ${route.path}`, route] as const))(
  "%s",
  async (_name, route) => {
    const usual = await send(route, await requests.of(route));
    await tryEveryFault({
      parts: replica.whole,
      failures: serviceFailures,
      kinds: kindsOf(route),
      prepare: () => requests.of(route),
      work: (request, parts) => send(route, request, parts),
      async check(request, ended) {
        if ("error" in ended) throw ended.error;
        const { status, headers, text } = ended.result;
        if (status !== usual.status) {
          const { code } = JSON.parse(text) as { code?: string };
          expect([status, code]).toEqual([503, "unavailable"]);
          expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
        }
        await checkMade(route, request, ended.result);
        const again = await sendUntilServed(route, request);
        expect(isFine(route, again) || again.status === usual.status, `again: ${again.status} ${again.text}`).toBe(
          true,
        );
      },
    });
  },
);

// CREDENTIAL-13
test("a credential that gets another name takes its connections along, whatever fails on the way, once it is asked again", async () => {
  const route = allRoutes.find(({ operationId }) => operationId === "updateCredential");
  if (!route) throw new Error("there is no such route");
  const connectionName = async (id: string): Promise<unknown> =>
    ((await stack.kernel.auth.connections.retrieve(id)) as { credential?: { name?: string } }).credential?.name;
  const prepare = async () => {
    const { id, name } = await stack.kernel.credentials.create({
      name: `before-${newId()}`,
      domain: "shop.example",
      values: { user: "alice" },
    });
    const connection = await stack.kernel.auth.connections.create({
      domain: "shop.example",
      profile_name: `profile-${newId()}`,
      credential: { name },
    });
    return { id, path: `/credentials/${id}`, body: { name: `after-${newId()}` }, connection: connection.id };
  };
  await tryEveryFault({
    parts: replica.whole,
    failures: serviceFailures,
    prepare,
    work: (request, parts) => send(route, request, parts),
    async check(request, ended) {
      if ("error" in ended) throw ended.error;
      const hasNewName = async () => expect(await connectionName(request.connection)).toBe(request.body.name);
      if (ended.result.status === 200) await hasNewName();
      expect(await send(route, request)).toMatchObject({ status: 200 });
      await hasNewName();
      await stack.kernel.auth.connections.delete(request.connection);
      await stack.kernel.credentials.delete(request.id);
    },
  });
});

test("nothing is left behind of all that", async () => {
  await eventually("every Secret of a credential has its credential", async () => {
    const [own, all] = await Promise.all([
      stack.kube.list(credentialKind, { namespace: stack.namespace }),
      stack.kube.list(secrets, { namespace: stack.namespace }),
    ]);
    const wanted = new Set(own.items.map(({ metadata }) => ownSecretName(metadata.name)));
    const prefix = ownSecretName("");
    return all.items.every(({ metadata: { name } }) => !name.startsWith(prefix) || wanted.has(name));
  });
  expect((await stack.kernel.browsers.list()).items ?? []).toEqual([]);
});

test("a fault that the work repeats by itself is no failure, and one that lasts is one", async () => {
  let done = 0;
  const parts = { kube: { get: async () => (done += 1) } };
  const work = injected(parts, { kube: serviceFailures.kube }).parts.kube;
  await work.get();
  const lost = injected(parts, { kube: serviceFailures.kube }, { kind: "lost", call: 0 });
  await expect(lost.parts.kube.get()).rejects.toMatchObject({ code: "unavailable" });
  expect([done, await lost.parts.kube.get(), lost.calls]).toEqual([2, 3, ["kube.get", "kube.get"]]);
  const away = injected(parts, { kube: serviceFailures.kube }, { kind: "away", call: 1 });
  await away.parts.kube.get();
  for (let again = 0; again < 2; again++)
    await expect(away.parts.kube.get()).rejects.toMatchObject({ code: "unavailable" });
  expect(done).toBe(4);
});
