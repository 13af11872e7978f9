/**
 * A decision gives the same result for the same arguments. So a file that decides, and every file that it loads, does
 * no I/O and reads no clock and no randomness. The caller passes in what the decision needs of these.
 */

/** Files that decide. `**` matches any folders, `*` any name. */
export const decisions: readonly string[] = [
  "core/model/**",
  "platform/addresses/**",
  "platform/rules/**",
  "**/rules/**",
  "**/plan/**",
  "**/status.ts",
  "core/pools/apply/condition-events.ts",
  "core/pools/ended/fair-shares.ts",
  "core/pools/observe/node-state.ts",
  "core/pools/observe/pod-state.ts",
  "core/pools/observe/refusal.ts",
  "core/pools/on-demand/browser-as-pool.ts",
  "core/pools/pod/pod.ts",
  "core/pools/pod/pod-template.ts",
  "core/reconcile/conditions.ts",
  "core/leases/diagnose.ts",
  // Its callers pass in all I/O, and Redis the time. The order of its steps is a decision.
  "core/leases/inspect.ts",
  "features/recordings/webm/**",
  "features/sites/judge/judge.ts",
  "features/vaults/fill/choose-targets.ts",
  "local/kubelet/placement.ts",
];

/** Packages that do no I/O and read no clock where they are told the time. */
export const purePackages: readonly string[] = ["ipaddr.js", "otpauth", "tldts", "zod"];

/** What decisions may import of Node, by name. The rest of these modules, and every other module, is refused. */
export const pureNodeNames: Readonly<Record<string, readonly string[]>> = {
  "node:crypto": [
    "KeyObject",
    "X509Certificate",
    "createHash",
    "createHmac",
    "createPublicKey",
    "sign",
    "timingSafeEqual",
    "verify",
  ],
  "node:net": ["BlockList", "isIP", "isIPv4", "isIPv6"],
  "node:url": ["domainToASCII", "domainToUnicode"],
  "node:util": ["inspect", "isDeepStrictEqual"],
};

/**
 * Globals that decisions may not name at all, not even as a variable of their own: readers would take it for the
 * global.
 */
export const impureGlobals: readonly string[] = [
  "BroadcastChannel",
  "EventSource",
  "Temporal",
  "WebSocket",
  "XMLHttpRequest",
  "console",
  "crypto",
  "eval",
  "fetch",
  "global",
  "globalThis",
  "navigator",
  "performance",
  "process",
  "require",
  "setImmediate",
  "setInterval",
  "setTimeout",
];

/**
 * Globals with some impure members: decisions may use `only` these members, or all `but` these. Any other use (as a
 * value, with a computed name) is refused, because the code does not show which member it calls.
 */
export const partlyPureGlobals: Readonly<Record<string, { only: readonly string[] } | { but: readonly string[] }>> = {
  AbortSignal: { only: ["abort", "any"] },
  Date: { only: ["UTC", "parse"] },
  Math: { but: ["random"] },
};
