/**
 * The logins that the service does itself. Each has one API replica that drives it (drive-login.ts), and Redis says how far it
 * is. Any replica starts one, takes what a caller submits and goes on with it, or goes on when the driving one is gone.
 *
 *   start ──► claimed ──► driven ──a caller submits to another replica──► driven there
 *                            └──the replica is gone──► driven by another one
 *
 * What a caller submits stays in the memory of the replica that took it until the login is over; after a success it is saved as
 * the connection's credential.
 */
import type { KeyObject } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { startClaimedWork } from "../../../core/collecting/claimed-work.ts";
import type { SetupClient } from "../../../core/leases/agent/setup-client.ts";
import type { Project, Projects } from "../../../core/projects/projects.ts";
import { AppError } from "../../../platform/base/errors.ts";
import type { Sensitive } from "../../../platform/base/sensitive.ts";
import { wireId } from "../../../platform/kinds/identity.ts";
import type { CollectClaims } from "../../../platform/redis/collect-claims.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import type { AuthConnection } from "../connections/auth-connection.ts";
import { isFieldName } from "../credentials/credential.ts";
import type { ProviderLookups } from "../providers/lookups.ts";
import { driveLogin } from "./drive-login.ts";
import { isOver, type LoginFlow } from "./flow.ts";
import { type FlowStore, newFlowId } from "./flow-store.ts";
import type { LoginBrowserDeps } from "./login-browser.ts";
import { requireAwaited, type Submission, type Submitted } from "./submission.ts";

/** What callers have handed in to this replica, by the id of the login. */
type Inbox = {
  /** What was handed in up to this version of the login, once: a driver that knows an older one can't act on it. */
  take(flow: Pick<LoginFlow, "id" | "version">): Submitted | undefined;
  /** Saves what this replica was given for the login as the connection's credential. */
  save(flowId: string, connection: AuthConnection, project: Project): Promise<void>;
};

export type SaveLogin = (
  connection: AuthConnection,
  input: { values: Record<string, string>; project: Project; ssoProvider: string | undefined },
) => Promise<void>;

type Parts = LoginBrowserDeps & {
  flows: FlowStore;
  locks: Locks;
  projects: Projects;
  providerLookups: ProviderLookups;
  secretsKeys: SecretsKeys;
  setupClient: SetupClient;
  signingKey: KeyObject;
  /** New for every process. */
  replica: string;
};

/** What driving a login needs. */
export type OwnLoginDeps = Parts & { inbox: Inbox };

export type OwnLogins = {
  flows: FlowStore;
  /** Begins a login, or joins the one that runs. Throws `unavailable`. */
  start(login: { connection: AuthConnection; project: Project; type: LoginFlow["type"] }): Promise<LoginFlow>;
  /** Gives a login that waits what it waits for. Throws `conflict` and `bad_request`. */
  submit(connection: AuthConnection, project: Project, submission: Submission): Promise<void>;
  /** Stops; other replicas go on with the logins of this one. */
  stop(): Promise<void>;
};

/** Longest time for a login with a person and for one without, ms. */
const limitMs = { LOGIN: 10 * 60_000, REAUTH: 3 * 60_000 } as const;

/** Logins that one replica drives at once. */
const mostAtOnce = 50;

/** Between two looks whether a login has ended for which this replica was given values, ms. */
const keptLookMs = 1000;

const newFlow = (
  { connection, project, type }: Parameters<OwnLogins["start"]>[0],
  replica: string,
): Omit<LoginFlow, "version"> => {
  const nowMs = Date.now();
  return {
    id: newFlowId(nowMs),
    type,
    status: "IN_PROGRESS",
    step: "DISCOVERING",
    startedMs: nowMs,
    updatedMs: nowMs,
    expiresMs: nowMs + limitMs[type],
    projectId: project.id,
    connectionId: wireId(connection),
    driver: replica,
    isOpen: false,
    fields: [],
    choices: [],
    typed: [],
    rejected: [],
  };
};

type Kept = { uid: string; connection: AuthConnection; project: Project; values: Map<string, Sensitive> };

/** Keeps what was submitted to this replica until its login is over. */
const createKept = ({ flows, log }: Parts, saveLogin: SaveLogin) => {
  const kept = new Map<string, Kept>();
  const save = async (flowId: string): Promise<void> => {
    const one = kept.get(flowId);
    kept.delete(flowId);
    if (!one || one.values.size === 0) return;
    const values = Object.fromEntries([...one.values].map(([name, value]) => [name, value.reveal()]));
    try {
      const flow = await flows.read(one.uid);
      const ssoProvider = flow?.id === flowId ? flow.ssoProvider : undefined;
      await saveLogin(one.connection, { values, project: one.project, ssoProvider });
    } catch (err) {
      const code = err instanceof AppError ? err.code : "internal_error";
      log.warn({ connection: one.connection.metadata.name, code }, "a login was not saved");
    }
  };
  return {
    save,
    add(flowId: string, one: Kept): void {
      const before = kept.get(flowId)?.values ?? new Map<string, Sensitive>();
      kept.set(flowId, { ...one, values: new Map([...before, ...one.values]) });
    },
    /** Lets go of what belongs to logins that are over. */
    async look(): Promise<void> {
      for (const [flowId, { uid }] of kept) {
        const flow = await flows.read(uid);
        if (flow?.id !== flowId || (isOver(flow) && flow.status !== "SUCCESS")) kept.delete(flowId);
        else if (flow.status === "SUCCESS") await save(flowId);
      }
    },
  };
};

/** Starts to drive logins, those of dead replicas too. */
export const startOwnLogins = (
  parts: Parts,
  { claims, saveLogin }: { claims: CollectClaims; saveLogin: SaveLogin },
): OwnLogins => {
  const { flows, replica, log } = parts;
  const submitted = new Map<string, { given: Submitted; version: number }>();
  const kept = createKept(parts, saveLogin);
  const inbox: Inbox = {
    take({ id, version }) {
      const one = submitted.get(id);
      if (!one || one.version > version) return undefined;
      submitted.delete(id);
      return one.given;
    },
    save: (flowId) => kept.save(flowId),
  };
  const deps: OwnLoginDeps = { ...parts, inbox };
  const work = startClaimedWork({
    claims,
    run: ({ session: flowId, poolUid: uid }, signal) =>
      driveLogin(uid, flowId, deps, signal).finally(() => submitted.delete(flowId)),
    most: mostAtOnce,
    what: "logins",
    log,
  });
  const stopped = new AbortController();
  const looking = (async () => {
    while (!stopped.signal.aborted) {
      await kept.look().catch(() => undefined);
      await sleep(keptLookMs, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  })();
  return {
    flows,
    async start(login) {
      const { uid } = login.connection.metadata;
      const before = await flows.read(uid);
      if (before && !isOver(before) && before.expiresMs > Date.now()) return before;
      const flow = await flows.write(uid, before?.version ?? 0, newFlow(login, replica));
      if (!flow) {
        const rival = await flows.read(uid);
        if (rival && !isOver(rival)) return rival;
        throw new AppError("unavailable", "others begin a login of this connection now; repeat the request", {
          retryAfterSeconds: 1,
        });
      }
      work.collect({ session: flow.id, poolUid: uid });
      return flow;
    },
    async submit(connection, project, submission) {
      const { uid } = connection.metadata;
      const flow = await flows.read(uid);
      const isWaiting = flow && !isOver(flow) && flow.step === "AWAITING_INPUT" && flow.expiresMs > Date.now();
      if (!isWaiting)
        throw new AppError(
          "conflict",
          "no login of this connection waits for input; read the connection for its state",
        );
      const given = requireAwaited(flow, submission);
      const { version, interactionId: _, ...rest } = flow;
      const after = {
        ...rest,
        step: "SUBMITTING" as const,
        fields: [],
        choices: [],
        driver: replica,
        updatedMs: Date.now(),
      };
      const written = await flows.write(uid, version, after);
      if (!written) throw new AppError("conflict", "the login has gone on since; read the connection again");
      submitted.set(flow.id, { given, version: written.version });
      const isStored = (name: string): boolean =>
        isFieldName(name) && flow.fields.some(({ id, type }) => id === name && type !== "code");
      const stored = new Map([...given.values].filter(([name]) => isStored(name)));
      kept.add(flow.id, { uid, connection, project, values: stored });
      work.collect({ session: flow.id, poolUid: uid });
    },
    async stop() {
      stopped.abort();
      await Promise.all([work.stop(), looking]);
    },
  };
};
