/** Inspections with each of their calls failing in turn: whatever fails, later ones come to the same end. */
import { expect, test } from "vitest";
import type { InspectDeps } from "../../src/core/leases/inspect.ts";
import { inspectedBrowser } from "../support/inspected-browser.ts";
import { serviceFailures, tryEveryFault } from "./injector.ts";

const it = inspectedBrowser();
const {
  recordOf,
  begin,
  makeAnew,
  inspectBrowser,
  take,
  granted,
  bind,
  held,
  rejected,
  release,
  reserveName,
  age,
  losing,
} = it;

const situations: [string, () => Promise<unknown>][] = [
  ["a new browser for which a caller waits", () => take("a")],
  [
    "a lease that Redis has lost with all data",
    async () => {
      await inspectBrowser();
      await held("a");
      await it.parts.store.drop(it.pool);
      await begin(2);
    },
  ],
  [
    "a grant that was never bound, with a next caller",
    async () => {
      await inspectBrowser();
      await granted("a");
      await reserveName("a");
      await age();
      await take("b");
    },
  ],
  [
    "a release that got stuck before the agent was told",
    async () => {
      await inspectBrowser();
      await held("a");
      await it.parts.store.release(it.pool, "a", "releasing", "released");
      await age();
    },
  ],
  [
    "a release that a failover has lost, with a next caller",
    async () => {
      await inspectBrowser();
      await held("a");
      await losing(() => release("a"));
      await age();
      await reserveName("a");
      await take("b");
    },
  ],
  [
    "a grant that a failover has lost, with a next caller",
    async () => {
      await inspectBrowser();
      await losing(() => held("a"));
      await take("b");
    },
  ],
  ["a suspect whose agent has taken the bind", () => rejected("agent TimeoutError").then(bind)],
  ["a suspect that is not healthy", () => rejected("browser_unhealthy")],
];

/** What is true of the browser and its sessions, but for times and counts. */
const facts = async () => {
  const { state, session, reason } = (await recordOf(it.browser.id)) ?? {};
  const sessions = await Promise.all(
    ["a", "b"].map(async (one) => ({
      isHeld: (await it.parts.store.lease(it.pool, one)) !== undefined,
      ended: (await it.parts.store.endedLease(it.pool, one))?.reason,
      // The sweep of names frees what a lost answer has left (free-ended-names.test.ts).
      named:
        (await it.parts.store.isAlive(it.pool, one)) && (await it.names.find(it.pool, `name-${one}`))?.session === one,
    })),
  );
  return { state, session, reason, sessions, holder: it.agent.holder(), ...(await waiting()) };
};
const waiting = async () => ({ waiting: (await it.parts.store.snapshot(it.pool)).waiting });

const withoutEnds = ({ sessions, ...rest }: Awaited<ReturnType<typeof facts>>) => ({
  ...rest,
  sessions: sessions.map(({ isHeld, named }) => ({ isHeld, named })),
});

// LEASE-40, LEASE-44, LEASE-45
test.each(situations)("%s", async (_, arrange) => {
  let usual: Awaited<ReturnType<typeof facts>> | undefined;
  await tryEveryFault<void, void, Pick<InspectDeps, "repairs" | "agents" | "names">>({
    parts: { repairs: it.parts.repairs, agents: it.parts.agents, names: it.names },
    failures: { repairs: serviceFailures.store, names: serviceFailures.names, agents: serviceFailures.agents },
    kinds: ["refused", "lost", "last"],
    async prepare() {
      await makeAnew();
      await arrange();
    },
    work: async (_state, faulty) => void (await inspectBrowser(faulty)),
    async check(_state, _ended, { name }) {
      for (let more = 0; more < 3; more++) await inspectBrowser();
      const now = await facts();
      usual ??= now;
      // Who does not answer in the middle of a step is replaced.
      if (name.startsWith("agents.") && now.state === "retired") return;
      // A lease that its agent has ended before Redis knew looks as if it had been bound.
      const isEndOnlyKnownThere = name === "agents.end" || name === "repairs.repair";
      expect(isEndOnlyKnownThere ? withoutEnds(now) : now).toEqual(isEndOnlyKnownThere ? withoutEnds(usual) : usual);
    },
  });
});
