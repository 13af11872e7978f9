/**
 * Decisions come out the same whenever they are taken: they do no I/O and read no clock and no chance, neither in themselves
 * nor in any file that they load. What they need of those comes in as an argument.
 */

/** Files that decide. `**` stands for any folders, `*` for any name. */
export const decisions: readonly string[] = [
  "domain/**",
  "controllers/browser-pool/plan/**",
  "controllers/browser-pool/apply/condition-events.ts",
  "controllers/browser-pool/observe/node-state.ts",
  "controllers/browser-pool/observe/pod-state.ts",
  "controllers/browser-pool/observe/refusal.ts",
  "controllers/browser-pool/on-demand/browser-as-pool.ts",
  "controllers/browser-pool/pod/pod.ts",
  "controllers/browser-pool/pod/pod-template.ts",
  "controllers/**/plan.ts",
  "controllers/**/status.ts",
  "controllers/conditions.ts",
  "fill/choose-page.ts",
  "fill/choose-targets.ts",
  "leases/diagnose.ts",
  // Asks by what it is handed, and has the time from Redis: the order of its steps is a decision too.
  "leases/inspect.ts",
  "local/process-node/placement.ts",
];

/** Packages that do no I/O and read no clock where they are told the time. */
export const purePackages: readonly string[] = ["ipaddr.js", "otpauth", "zod"];

/** What decisions may import of Node, by name. The rest of these modules, and every other module, is refused. */
export const pureNodeNames: Readonly<Record<string, readonly string[]>> = {
  "node:crypto": ["KeyObject", "createHash", "createHmac", "createPublicKey", "sign", "timingSafeEqual", "verify"],
  "node:net": ["BlockList", "isIP", "isIPv4", "isIPv6"],
  "node:util": ["inspect", "isDeepStrictEqual"],
};

/** Globals that decisions may not name at all, not even for a variable of their own: a reader takes it for the global. */
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
 * Globals that read the clock or chance in some of their members: `only` those may be used, or all `but` those. Used in any
 * other way (as a value, with a computed name) they are refused, since nobody sees then which member is called.
 */
export const partlyPureGlobals: Readonly<Record<string, { only: readonly string[] } | { but: readonly string[] }>> = {
  AbortSignal: { only: ["abort", "any"] },
  Date: { only: ["UTC", "parse"] },
  Math: { but: ["random"] },
};
