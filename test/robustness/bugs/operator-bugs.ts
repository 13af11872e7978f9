/** Mistakes in the operator's loop. */
import type { SeededBug } from "./seeded-bug.ts";

export const operatorBugs: readonly SeededBug[] = [
  {
    name: "retire-by-old-snapshot",
    breaks: "the operator plans with a snapshot of two seconds ago, and retires what was idle then",
    foundBy: ["holders-keep-browsers", "nothing-lost"],
    faults: ["pool-resize"],
    plan: { clients: [12, 16] },
    patches: [
      {
        file: "core/leases/scripts/retire.lua",
        find: 'if isMeant and (browser.state == "idle" or meansAll and browser.state == "releasing") then',
        replace: 'if isMeant and browser.state ~= "retired" then',
      },
      {
        file: "core/pools/observe/observe.ts",
        find: "const leases = await deps.store.snapshot(uid);",
        replace: `const kept = ((globalThis as any).snapshots ??= new Map());
          const old = kept.get(uid);
          const isOld = old && performance.now() - old.at < 2000;
          const leases = isOld ? old.leases : await deps.store.snapshot(uid);
          if (!isOld) kept.set(uid, { at: performance.now(), leases });`,
      },
    ],
  },
  {
    name: "lease-ends-by-own-clock",
    breaks: "the operator takes the age of leases by its own clock, which jumps",
    foundBy: ["holders-keep-browsers"],
    faults: ["clock-jump"],
    patches: [
      {
        file: "core/pools/plan/plan.ts",
        find: 'if (browser?.state === "retired") return "Retired";',
        replace: `if (browser?.state === "retired") return "Retired";
          if (browser?.state === "leased" && Date.now() - browser.since > 45_000) return "Retired";`,
      },
    ],
  },
  {
    name: "fill-clock-in-memory",
    breaks: "the time of the next start is kept in memory: every new leader starts one at once",
    foundBy: ["fill-rate"],
    faults: ["operator-term"],
    plan: { isSmall: true, fillRates: [300] },
    patches: [
      {
        file: "core/pools/plan/starts.ts",
        find: "Math.min(timeMs(status?.nextStartTime), ",
        replace:
          "Math.min((((globalThis as any).nextStarts ??= new Map()).get(observed.pool.metadata.uid) as number) ?? 0, ",
      },
      {
        file: "core/pools/plan/starts.ts",
        find: "const nextMs = Math.ceil(nowMs + everyMs);",
        replace: `const nextMs = Math.ceil(nowMs + everyMs);
          (globalThis as any).nextStarts.set(observed.pool.metadata.uid, nextMs);`,
      },
    ],
  },
  {
    name: "no-expectations",
    breaks: "pods that were asked for and not seen yet are not counted: a late watch makes too many",
    foundBy: ["pods-within-size"],
    faults: ["watch-late", "watch-stall"],
    patches: [
      {
        file: "core/pools/apply/apply.ts",
        find: "deps.pods.put(made);",
        replace: "",
      },
      { file: "platform/kube/expectations.ts", find: "living(owner)?.size ?? 0", replace: "0" },
    ],
  },
  {
    name: "expired-watch-ignored",
    breaks: "a watch whose version is too old is tried again and again, instead of listing anew",
    foundBy: ["comes-to-rest", "nothing-lost"],
    faults: ["watch-expired"],
    patches: [
      {
        file: "platform/kube/reflector.ts",
        find: 'if (hasReason(err, "Expired") || hasReason(err, "Gone")) version = undefined;',
        replace: "",
      },
    ],
  },
  {
    name: "ending-pods-not-counted",
    breaks: "a pod that is being deleted no longer counts, though its browser still runs",
    foundBy: ["pods-within-size"],
    faults: ["pool-flush"],
    patches: [
      {
        file: "core/pools/plan/pod-life.ts",
        find: 'if (state.is === "ended") return false;',
        replace: 'if (state.is === "ended" || state.is === "terminating") return false;',
      },
    ],
  },
  {
    name: "pods-by-label",
    breaks: "every pod with a pool's label counts as its browser, whoever made it, in all namespaces",
    foundBy: ["foreign-pods-stay", "holders-keep-browsers", "nothing-lost"],
    faults: ["foreign-pod"],
    plan: { fillRates: [6000] },
    patches: [
      {
        file: "core/pools/pod/own-pod.ts",
        find: "if (pod.metadata.namespace !== namespace) return",
        replace: "if (pod.metadata.labels?.[poolLabel] === uid) return undefined; if (true) return",
      },
    ],
  },
  {
    name: "lead-not-checked",
    breaks: "a leader that stood still goes on with its round, though another one leads by now",
    foundBy: ["exclusive-use", "holders-keep-browsers", "pods-within-size"],
    faults: ["leader-freeze"],
    plan: { clients: [16, 24], fillRates: [6000], loadMs: 20_000 },
    patches: [
      {
        file: "platform/kube/leader-election.ts",
        find: "if (leftMs() <= 0) lose();",
        replace: "if (leftMs() <= 0) return;",
      },
    ],
  },
  {
    name: "full-stays-full",
    breaks: "ended leases are not dropped when Redis nears its memory limit: a full Redis refuses acquires for ever",
    foundBy: ["comes-to-rest"],
    faults: ["redis-full"],
    patches: [
      {
        file: "core/pools/ended/keep-ended-bounds.ts",
        find: "limitBytes > 0 && usedBytes > limitBytes * pressedShare;",
        replace: "limitBytes > 0 && usedBytes > limitBytes * 100 * pressedShare;",
      },
    ],
  },
];
