/** The pools of one history: made, changed and deleted over the API, each command and its answer in the history. */

import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { eventually } from "../support/eventually.ts";
import { monotonicMs } from "./history/event-base.ts";
import type { EventOf } from "./history/history.ts";
import type { Random } from "./random.ts";
import type { Recorder } from "./recorder/recorder.ts";
import type { Topology } from "./topology.ts";

/** A pool as it was last asked for. After a deletion the same place is taken by another one. */
export type Pool = { name: string; id: string; uid: string; size: number; fillRatePerMinute: number };

export type Pools = {
  /** Those that exist; never empty while a history runs. */
  list(): Pool[];
  create(command: { size: number; fillRatePerMinute: number; name?: string }): Promise<Pool>;
  resize(pool: Pool, size: number): Promise<void>;
  changeRate(pool: Pool, fillRatePerMinute: number): Promise<void>;
  /** Another configuration. */
  reconfigure(pool: Pool, discardIdle: boolean, random: Random): Promise<void>;
  flush(pool: Pool): Promise<void>;
  /** Ends its leases too. The pool is no longer in the list when it resolves; its pods may still be. */
  remove(pool: Pool): Promise<void>;
};

/** Of leases without a connection, s: the shortest that the API takes. */
const idleTimeoutSeconds = 10;

const requestMs = 5000;

type PoolEvent = EventOf<"pool">;
type PoolCommand = Pick<PoolEvent, "what" | "name"> & Partial<PoolEvent>;

/** `status`: 0 when no answer came. */
const outcomeOf = (status: number): NonNullable<PoolEvent["outcome"]> => {
  if (status >= 200 && status < 300) return "ok";
  return status >= 400 && status < 500 ? "refused" : "error";
};

/** `onCreate`: told the uid of every new pool. */
export const createPools = (topology: Topology, recorder: Recorder, onCreate: (uid: string) => void): Pools => {
  const { apis, apiKey, kube, namespace } = topology;
  const pools: Pool[] = [];
  let turn = 0;

  const send = (method: string, path: string, body?: object): Promise<Response> => {
    turn += 1;
    return fetch(`${apis[turn % apis.length]?.url}/browser_pools${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(requestMs),
    });
  };
  /** One command, written down; undefined when no answer came. */
  const ask = async (
    command: PoolCommand,
    request: { method: string; path: string; body?: object },
  ): Promise<{ status: number; answer: Record<string, unknown> } | undefined> => {
    const event = { kind: "pool", id: newId(), ...command } as const;
    recorder.write({ ...event, at: monotonicMs(), phase: "call" });
    const answered = await send(request.method, request.path, request.body)
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch(() => undefined);
    const { status, text } = answered ?? { status: 0, text: "" };
    const answer = text.startsWith("{") ? JSON.parse(text) : {};
    const isMade = command.what === "create" && outcomeOf(status) === "ok";
    const uid = isMade ? await uidOf(String(answer.id)) : command.pool;
    const told = { ...(uid !== undefined && { pool: uid }), ...(status > 0 && { status }) };
    recorder.write({ ...event, at: monotonicMs(), phase: "return", outcome: outcomeOf(status), ...told });
    return answered && { status, answer: { ...answer, uid } };
  };
  const uidOf = (name: string): Promise<string> =>
    eventually(`pool ${name} is there`, async () => {
      const found = await kube.get(browserPoolKind, { namespace, name }).catch(() => undefined);
      return found?.metadata.uid;
    });
  const findByName = async (name: string): Promise<Record<string, unknown> | undefined> => {
    const response = await send("GET", `/${name}`).catch(() => undefined);
    const { id } = response?.ok ? ((await response.json()) as { id: string }) : {};
    return id === undefined ? undefined : { id, uid: await uidOf(id) };
  };
  /** Asks until it was done; a fault may be in the way. */
  const insist = (command: PoolCommand, request: Parameters<typeof ask>[1], gone = false) =>
    eventually(`${command.what} of ${command.name}`, async () => {
      const answered = await ask(command, request);
      // Made by an earlier request whose answer was lost.
      if (command.what === "create" && answered?.status === 409) return findByName(command.name);
      const isDone = answered && (answered.status < 300 || (gone && answered.status === 404));
      return isDone ? answered.answer : undefined;
    });
  const identityOf = ({ name, uid }: Pool) => ({ name, pool: uid });

  return {
    list: () => pools,
    async create({ size, fillRatePerMinute, name = `pool-${newId().slice(0, 8)}` }) {
      const body = {
        name,
        size,
        headless: true,
        fill_rate_per_minute: fillRatePerMinute,
        timeout_seconds: idleTimeoutSeconds,
      };
      const { id, uid } = await insist(
        { what: "create", name, size, fillRatePerMinute },
        { method: "POST", path: "", body },
      );
      const pool = { name, id: String(id), uid: String(uid), size, fillRatePerMinute };
      onCreate(pool.uid);
      pools.push(pool);
      return pool;
    },
    async resize(pool, size) {
      pool.size = size;
      const command = { what: "resize", ...identityOf(pool), size } as const;
      await insist(command, { method: "PATCH", path: `/${pool.id}`, body: { size } });
    },
    async changeRate(pool, fillRatePerMinute) {
      pool.fillRatePerMinute = fillRatePerMinute;
      const command = { what: "rate", ...identityOf(pool), fillRatePerMinute } as const;
      await insist(command, {
        method: "PATCH",
        path: `/${pool.id}`,
        body: { fill_rate_per_minute: fillRatePerMinute },
      });
    },
    async reconfigure(pool, discardIdle, random) {
      const body = {
        viewport: { width: random.int(640, 1280), height: 720 },
        ...(discardIdle && { discard_all_idle: true }),
      };
      const command = { what: "reconfigure", ...identityOf(pool), discardIdle } as const;
      await insist(command, { method: "PATCH", path: `/${pool.id}`, body });
    },
    async flush(pool) {
      await insist({ what: "flush", ...identityOf(pool) }, { method: "POST", path: `/${pool.id}/flush` });
    },
    async remove(pool) {
      const place = pools.indexOf(pool);
      if (place >= 0) pools.splice(place, 1);
      const command = { what: "delete", ...identityOf(pool), force: true } as const;
      await insist(command, { method: "DELETE", path: `/${pool.id}`, body: { force: true } }, true);
    },
  };
};
