/** Mistakes in the scripts and in the calls of the API. */
import type { SeededBug } from "./seeded-bug.ts";

export const leaseBugs: readonly SeededBug[] = [
  {
    name: "pop-in-two-steps",
    breaks: "take reads the first idle browser, then takes that one: two callers read the same",
    foundBy: ["exclusive-use", "nothing-lost"],
    faults: [],
    patches: [
      {
        file: "core/leases/lease-store.ts",
        find: "return takeOutcome(await run(scripts.take, poolUid, takeArguments(taking)));",
        replace: `const { session, channel, request, ticket = "" } = taking;
          const [first = ""] = await redis.zrange(poolKey(poolUid, "idle"), "0", "0");
          return takeOutcome(await run(scripts.take, poolUid, [session, channel, request, ticket, "", first]));`,
      },
      {
        file: "core/leases/scripts/includes/match.lua",
        find: 'local id = session and redis.call("ZRANGE", IDLE, 0, 0)[1]',
        replace: `local read = session == own and (ARGV[6] or "") ~= "" and getBrowser(ARGV[6]) and ARGV[6]
          local id = session and (read or redis.call("ZRANGE", IDLE, 0, 0)[1])`,
      },
    ],
  },
  {
    name: "pick-from-a-cache",
    breaks: "a replica picks the browser from a list of idle browsers that it read up to a quarter of a second ago",
    foundBy: ["exclusive-use", "nothing-lost"],
    faults: [],
    patches: [
      {
        file: "core/leases/lease-store.ts",
        find: "return takeOutcome(await run(scripts.take, poolUid, takeArguments(taking)));",
        replace: `const { session, channel, request, ticket = "" } = taking;
          const lists = ((globalThis as any).idleLists ??= new Map());
          const known = lists.get(poolUid);
          const isOld = !known || known.ids.length === 0 || performance.now() - known.at > 250;
          const ids = isOld ? await redis.zrange(poolKey(poolUid, "idle"), "0", "-1") : known.ids;
          if (isOld) lists.set(poolUid, { at: performance.now(), ids });
          const first = ids.shift() ?? "";
          return takeOutcome(await run(scripts.take, poolUid, [session, channel, request, ticket, "", first]));`,
      },
      {
        file: "core/leases/scripts/includes/match.lua",
        find: 'local id = session and redis.call("ZRANGE", IDLE, 0, 0)[1]',
        replace: `local read = session == own and (ARGV[6] or "") ~= "" and getBrowser(ARGV[6]) and ARGV[6]
          local id = session and (read or redis.call("ZRANGE", IDLE, 0, 0)[1])`,
      },
    ],
  },
  {
    name: "release-without-fence",
    breaks: "a late release is taken for one of the browser's present lease",
    foundBy: ["exclusive-use"],
    faults: [],
    patches: [
      {
        file: "core/leases/scripts/release.lua",
        find: "if not text then return false end",
        replace: `if not text then
            local over = redis.call("HGET", ENDED, ARGV[1])
            local now = over and getBrowser(cjson.decode(over).browser)
            text = now and now.session and redis.call("HGET", LEASES, now.session)
          end
          if not text then return false end`,
      },
    ],
  },
  {
    name: "offer-without-session",
    breaks: "an offer that is repeated after a lost answer frees the browser under its next holder",
    foundBy: ["exclusive-use", "nothing-lost"],
    faults: ["redis-cut-reply"],
    // So few browsers that somebody waits for each that is offered.
    plan: { isSmall: true, clients: [16, 24], loadMs: 20_000 },
    patches: [
      {
        file: "core/leases/scripts/offer.lua",
        find: 'if not browser or browser.state ~= "releasing" or browser.session ~= ARGV[2] then return 0 end',
        replace: 'if not browser or browser.state == "idle" then return 0 end',
      },
    ],
  },
  {
    name: "last-come-first-served",
    breaks: "the queue is served from its end",
    foundBy: ["first-come"],
    faults: [],
    patches: [
      {
        file: "core/leases/scripts/includes/match.lua",
        find: 'redis.call("ZRANGE", WAITERS, 0, 0)[1]',
        replace: 'redis.call("ZRANGE", WAITERS, -1, -1)[1]',
      },
    ],
  },
  {
    name: "tickets-from-a-counter",
    breaks: "tickets begin anew after a loss: later callers stand before those who waited",
    foundBy: ["tickets-rise"],
    faults: ["redis-flushall"],
    patches: [
      {
        file: "core/leases/scripts/includes/ticket.lua",
        find: "ticket = math.max(last + 1, time[1] * 1000000 + time[2])",
        replace: "ticket = last + 1",
      },
    ],
  },
  {
    name: "waiters-of-the-dead",
    breaks: "browsers are granted to callers whose API replica is dead",
    foundBy: ["nothing-left-behind"],
    faults: ["api-kill"],
    patches: [
      {
        file: "core/leases/scripts/includes/match.lua",
        find: "and isListening(session, request, lease)) then",
        replace: "and (isListening(session, request, lease) or true)) then",
      },
    ],
  },
  {
    name: "frozen-still-granted",
    breaks: "browsers are granted to callers whose API replica stands still, as long as Redis has it as subscribed",
    foundBy: ["no-grant-to-the-frozen"],
    faults: ["api-freeze"],
    // So few browsers that callers of a replica that stands still are left when the others have them all.
    plan: { isSmall: true, clients: [16, 24] },
    patches: [
      {
        file: "core/leases/scripts/includes/match.lua",
        find: "if isSilent(request.channel) then return false end",
        replace: "",
      },
    ],
  },
  {
    name: "unauthorized-is-a-verdict",
    breaks: "a browser whose agent refuses the token of a replica with a wrong clock is taken out as a bad one",
    foundBy: ["no-verdict-by-401"],
    faults: ["clock-behind"],
    patches: [
      {
        file: "core/leases/agent/agent-call.ts",
        find: "if (agentMs !== undefined) tokens.goBy(wanted.agent.browser, agentMs);",
        replace: "",
      },
      {
        file: "core/leases/acquire-lease.ts",
        find: "if (refusal === unauthorized) {",
        replace: "if ((refusal as string) === unauthorized && wanted.waitMs < 0) {",
      },
    ],
  },
  {
    name: "clock-not-corrected",
    breaks: "a replica with a wrong clock sends the same tokens on, and its callers get no browser",
    foundBy: ["wrong-clock-serves"],
    faults: ["clock-behind"],
    patches: [
      {
        file: "core/leases/agent/agent-call.ts",
        find: "if (agentMs !== undefined) tokens.goBy(wanted.agent.browser, agentMs);",
        replace: "",
      },
    ],
  },
  {
    name: "waiter-leak",
    breaks: "a caller who hangs up stays in the queue, and keeps what it is granted",
    foundBy: ["nothing-left-behind"],
    faults: [],
    patches: [
      {
        file: "core/leases/acquire-lease.ts",
        find: "deps.abandonedSessions.add(poolUid, session);",
        replace: "",
      },
    ],
  },
  {
    name: "new-id-on-retry",
    breaks: "a take that is repeated after a lost answer is a new request: one call, two leases",
    foundBy: ["one-session-per-request"],
    faults: ["redis-cut-reply"],
    patches: [
      {
        file: "core/leases/acquire-lease.ts",
        find: "let outcome: Outcome = await retryBriefly(() => take(wanted, deps), signal);",
        replace: `let tries = 10;
          let outcome: Outcome = await retryBriefly(() => {
            const session = tries++ === 10 ? wanted.session : wanted.session.slice(0, -2) + tries;
            return take({ ...wanted, session }, deps);
          }, signal);`,
      },
    ],
  },
  {
    name: "answer-before-bind",
    breaks: "the caller is told of a browser before its agent has taken the lease",
    foundBy: ["held-means-bound"],
    faults: [],
    patches: [
      {
        file: "core/leases/acquire-lease.ts",
        find: "await bindLease(lease, binding, deps, wanted.whileBinding);",
        replace:
          "(void bindLease(lease, binding, deps, wanted.whileBinding), await Promise.resolve(undefined as string | undefined));",
      },
    ],
  },
  {
    name: "forgetful-retries",
    breaks: "every repetition of a request with one Idempotency-Key gets a browser of its own",
    foundBy: ["one-session-per-request"],
    faults: [],
    patches: [
      {
        file: "platform/redis/idempotent-answers.ts",
        find: 'pendingSeconds, "NX"))) return { kind: "fresh", mark };',
        replace: 'pendingSeconds, "NX")) || true) return { kind: "fresh", mark };',
      },
    ],
  },
  {
    name: "unhandled-rejection",
    breaks: "a check in the background fails while Redis is away, and nobody handles that: the replica dies",
    foundBy: ["processes-live"],
    faults: ["redis-blackhole", "redis-unreachable"],
    patches: [
      {
        file: "core/leases/grants.ts",
        find: "await Promise.allSettled([...waiting].map(([poolUid, callers]) => checkPool",
        replace: "await Promise.all([...waiting].map(([poolUid, callers]) => checkPool",
      },
      // Often enough to meet an outage within one history.
      { file: "core/leases/grants.ts", find: "checkMs = 10_000", replace: "checkMs = 500" },
    ],
  },
];
