/**
 * The room for on-demand browsers when dozens are asked for at once. No operator runs, which would refuse what is too
 * much later.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { browserKind } from "../../../src/core/model/browsers/browser.ts";
import type { ApiReplica } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../../support/simulated-node/simulated-cluster.ts";

let cluster: SimulatedCluster;
let replicas: [ApiReplica, ApiReplica];
/** Callers that got a browser wait for its start until this hangs up. */
const hangUp = new AbortController();
beforeAll(async () => {
  cluster = await startSimulatedCluster({
    env: { BROWSERPOOL_PROJECT_ON_DEMAND_SESSIONS: "4", BROWSERPOOL_ON_DEMAND_SESSIONS: "6" },
  });
  replicas = await Promise.all([cluster.startApi("one"), cluster.startApi("two")]);
});
afterAll(async () => {
  hangUp.abort();
  await cluster?.[Symbol.asyncDispose]();
});

const send = ({ url }: ApiReplica, project: string, request: RequestInit): Promise<number> =>
  fetch(`${url}/browsers`, {
    signal: hangUp.signal,
    headers: {
      authorization: `Bearer ${cluster.apiKey}`,
      "x-kernel-project-id": project,
      "content-type": "application/json",
    },
    ...request,
  }).then(({ status }) => status);

/** A new project, which both replicas know. */
const newProject = async (name: string): Promise<string> => {
  const made = await replicas[0].call("POST", "/org/projects", { name });
  const { id } = (await made.json()) as { id: string };
  for (const replica of replicas) await eventually("it is known", async () => (await send(replica, id, {})) === 200);
  return id;
};

// LIMIT-20, LIMIT-21
test("browsers asked for by dozens at once at two replicas never exceed the limit of project and organization, and go with their callers", async () => {
  const projects = [await newProject("first"), await newProject("second")];
  for (const [at, expected] of [4, 2].entries()) {
    const project = projects[at] ?? "";
    const ended: number[] = [];
    for (let asked = 0; asked < 48; asked += 1)
      void send(replicas[asked % 2 === 0 ? 0 : 1], project, {
        method: "POST",
        body: JSON.stringify({ headless: true }),
      }).then(
        (status) => ended.push(status),
        () => undefined,
      );
    await eventually("all others are refused", () => ended.length >= 48 - expected);
    const { items } = await cluster.kube.list(browserKind, { namespace: project });
    expect([new Set(ended), ended.length, items.length]).toEqual([new Set([429]), 48 - expected, expected]);
  }
  // An operator would let them go.
  hangUp.abort();
  await eventually("the browsers whose callers have hung up are deleted", async () => {
    const { items } = await cluster.kube.list(browserKind);
    return items.length === 6 && items.every(({ metadata }) => metadata.deletionTimestamp !== undefined);
  });
});
