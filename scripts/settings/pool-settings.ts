/** The table's rows for what only a pool has, only an on-demand browser has, or each session has. */
import type { FieldPath, Setting } from "./setting.ts";

const largePolicy: Setting = {
  by: "API (writes it for a large `chrome_policy`), delivery of the setup",
  takesHold: { pool: "new browsers" },
  needs: ["chrome_policy"],
  shownBy: {
    "test/e2e/large-policies.slow.test.ts": [
      "a policy of 5 MiB is stored whole, read back, changed, cleared, and deleted with its pool",
      "when it refers to parts that do not exist; writing the policy again repairs it",
    ],
  },
};

const autoscaled = (test: string): Setting => ({
  by: "operator",
  takesHold: { pool: "at once" },
  needs: ["organization's limits"],
  shownBy: {
    "src/core/model/pools/autoscale/decide-size.test.ts": [test],
    "test/e2e/autoscale.slow.test.ts": ["a pool at size zero wakes for a caller who waits, and goes to zero again"],
  },
});

const scheduled = (test: string): Setting => ({
  by: "operator",
  takesHold: { pool: "at once" },
  needs: ["organization's limits"],
  shownBy: { "src/core/model/pools/autoscale/schedule.test.ts": [test] },
});

/** Rows of the fields of a pool that do not configure its browsers. */
export const poolSettings = {
  region: {
    by: "API server (fixed), operator (placement of the pod template)",
    takesHold: { pool: "fixed" },
    shownBy: {
      "test/crds/browser-pool.test.ts": ["keeps its region, also a defaulted one"],
      "src/core/pools/pod/pod-template.test.ts": ["a region adds to where all browsers may run"],
    },
  },
  size: {
    by: "operator",
    takesHold: { pool: "at once" },
    needs: ["organization's limits"],
    shownBy: {
      "test/e2e/pacing.slow.test.ts": [
        "grows at its rate and does not start replacements for browsers in use",
        "removes idle browsers first, and one in use only when its lease ends",
      ],
    },
  },
  "autoscale.min": autoscaled("is what is in use, who waits, and the buffer, within min and max"),
  "autoscale.max": autoscaled("is what is in use, who waits, and the buffer, within min and max"),
  "autoscale.buffer": autoscaled("has a buffer of a number, or of a percentage of what is in use, rounded up"),
  "autoscale.scaleDownAfterSeconds": autoscaled(
    "falls to the highest of the quiet time, step by step, when the load is gone",
  ),
  "autoscale.schedule[].days": scheduled("from a time to the same is a whole day"),
  "autoscale.schedule[].start": scheduled("whose start the clock skips in spring is open from the jump on"),
  "autoscale.schedule[].end": scheduled("from a time to the same is a whole day"),
  "autoscale.schedule[].timeZone": scheduled("whose start the clock skips in spring is open from the jump on"),
  "autoscale.schedule[].min": scheduled(
    "are its own outside of windows, and a window's in it, as far as that has some",
  ),
  "autoscale.schedule[].max": scheduled(
    "are its own outside of windows, and a window's in it, as far as that has some",
  ),
  fillRatePerMinute: {
    by: "operator",
    takesHold: { pool: "at once" },
    needs: ["organization's limits"],
    shownBy: {
      "test/e2e/pacing.slow.test.ts": [
        "starts its browsers one by one, and replaces destroyed ones at the same rate",
        "follows a raised rate at once, and does not wait for the start that the old rate had planned",
      ],
    },
  },
  reusePolicy: {
    by: "API (release), agent (reset)",
    takesHold: { pool: "next release" },
    shownBy: {
      "test/e2e/sdk.test.ts": [
        "are made anew when released for reuse, in the same pod, and get a new session",
        "keep cookies and tabs when their pool says so, which a change of the pool makes true at once",
      ],
    },
  },
  blank: {
    by: "API (`POST /browsers`), agent; by YAML only, fixed once the pool is created",
    takesHold: { pool: "fixed" },
    shownBy: {
      "test/e2e/blank-stock.test.ts": [
        "an on-demand browser of any settings comes from a blank one, and is destroyed and replaced at its end",
      ],
    },
  },
  serveOnDemand: {
    by: "API (`POST /browsers`)",
    takesHold: { pool: "at once" },
    shownBy: {
      "test/e2e/serve-on-demand.slow.test.ts": [
        "an on-demand browser of that configuration comes from the pool at once, and is destroyed and replaced at its end",
      ],
    },
  },
  "chromePolicyRef.sha256": largePolicy,
  "chromePolicyRef.configMaps": largePolicy,
  refreshOnProfileUpdate: {
    by: "operator",
    takesHold: { pool: "at once" },
    needs: ["blob store"],
    shownBy: {
      "src/core/pools/plan/profile-use.test.ts": [
        "a new version of the profile replaces what is idle and what starts, and leaves what is in use",
      ],
      "test/e2e/patch-profile.slow.test.ts": [
        "renews idle browsers when their profile has a new version, and never one in use",
      ],
    },
  },
  discardIdle: {
    by: "operator",
    takesHold: { pool: "at once" },
    shownBy: {
      "src/core/pools/plan/plan.test.ts": ["what was discarded is rebuilt at once, not at the fill rate"],
    },
  },
  discardAllIdle: {
    by: "API (writes a new `discardIdle`), operator",
    takesHold: { pool: "at once" },
    shownBy: {
      "test/e2e/patch-rules.test.ts": [
        "are discarded by discard_all_idle and rebuilt at once, whatever the rate; a browser in use keeps its configuration (14)",
      ],
    },
  },
} satisfies Partial<Record<FieldPath, Setting>>;

/** Rows of the fields of an on-demand browser alone. */
export const onDemandSettings = {
  tags: {
    by: "API",
    takesHold: { browser: "at once" },
    shownBy: {
      "test/e2e/on-demand.slow.test.ts": ["name, tags and telemetry can change while it runs; omitted fields stay"],
      "test/e2e/sdk-sessions.test.ts": ["are listed by tags, by name and by status"],
    },
  },
  gpu: {
    by: "operator (the GPU resource of the pod), agent (flags)",
    takesHold: { browser: "at its start" },
    needs: ["gpu"],
    shownBy: {
      "src/core/pools/observe/refusal.test.ts": [
        "is refused with a GPU where there is none, and accepted where there is one",
      ],
      "src/core/pools/pod/pod-template.test.ts": [
        "only a browser with a GPU asks for one, and runs where the installation has them",
      ],
    },
    gap: "No test has seen a GPU draw: the machines of the tests have none.",
  },
  reportOutcome: {
    by: "agent (a CDP connection of its own), API and operator (evidence of the config registry)",
    takesHold: { browser: "at its start" },
    needs: ["session_outcomes"],
    shownBy: {
      "test/features/sites/session-outcomes.slow.test.ts": [
        "a session with consent adds its first navigation to what is known, and no second one within the hour",
        "nothing is added without consent, by addresses inside, by other settings, or for what nobody knows",
        "an installation that has not turned it on refuses the consent by name, over HTTP and by YAML",
      ],
    },
  },
  "vaults[].id": {
    by: "API (fills)",
    takesHold: { browser: "at its start" },
    shownBy: {
      "test/e2e/on-demand.slow.test.ts": ["vaults can't be changed, added or taken away"],
      "test/features/vaults/fill-item.slow.test.ts": [
        "a vault that is not attached is refused, and a pooled browser has none",
      ],
    },
  },
  "proxy.id": {
    effect: "The same as `proxy_id`; only one of both may be given.",
    by: "API (writes `proxyId`)",
    takesHold: { browser: "at its start" },
    needs: ["network", "provider of proxies"],
    shownBy: {
      "test/e2e/on-demand.slow.test.ts": ["a %s that names nothing is 404, and nothing is started"],
      "src/core/model/browsers/browser-requests.test.ts": [
        "a request may have every setting, and has the defaults for what it leaves out",
      ],
    },
  },
  "proxy.mode": {
    effect: "`direct`: no proxy, which is the same as none given.",
    by: "API",
    takesHold: { browser: "at its start" },
    shownBy: { "test/e2e/on-demand.slow.test.ts": ['a proxy of the mode "direct" is none'] },
  },
} satisfies Partial<Record<FieldPath, Setting>>;

/** Rows of what pools and browsers have for their sessions. */
export const sessionSettings = {
  name: {
    effect: "A name, unique among the project's pools, or among its active sessions. Left out: metadata.name.",
    by: "API, operator (`NameTaken`)",
    takesHold: { pool: "at once", browser: "at once" },
    shownBy: {
      "test/e2e/patch-rules.test.ts": ["reads an empty name as no name (7)"],
      "test/e2e/on-demand.slow.test.ts": [
        "names are unique among active sessions",
        "name, tags and telemetry can change while it runs; omitted fields stay",
      ],
    },
  },
  timeoutSeconds: {
    by: "agent (from the bind on)",
    takesHold: { pool: "next lease", browser: "at its start" },
    shownBy: {
      "test/e2e/idle-timeout.slow.test.ts": [
        "a browser in use ends after its timeout without a connection, and one with a connection continues",
      ],
      "test/e2e/on-demand.slow.test.ts": ["it ends after its timeout without a connection"],
    },
  },
  maxSessionSeconds: {
    by: "agent (from the bind on)",
    takesHold: { pool: "next lease", browser: "at its start" },
    needs: ["organization's limits"],
    shownBy: {
      "test/e2e/idle-timeout.slow.test.ts": [
        "a session ends at its greatest age, also with a connection, and no request may ask for more than the installation allows",
      ],
    },
  },
} satisfies Partial<Record<FieldPath, Setting>>;
