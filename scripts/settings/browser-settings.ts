/** The table's rows for what configures a browser, of a pool or on demand. */
import type { FieldPath, Setting } from "./setting.ts";

/** A test that shows several settings of a pool at once. */
const pooledSettings =
  "a pool's browser keeps to its policy and its network rules, and has its extensions and its profile, again after a reset";

const policyAndNetwork = {
  "test/e2e/settings.slow.test.ts": [
    pooledSettings,
    "an on-demand browser keeps to its policy and its network rules, and saves its profile",
  ],
};

/** What a pool's browsers are made with, and an on-demand browser too. */
const takesHold = { pool: "new browsers", browser: "at its start" } as const;

/** The same, and `PATCH /browsers` changes it in any session. */
const changes = { pool: "new browsers", browser: "at its start, and at once by a PATCH" } as const;

const network = { by: "network wall of the agent", takesHold, needs: ["network"], shownBy: policyAndNetwork } as const;

const profile: Setting = {
  by: "API (reference, permission `profiles:use`), delivery of the setup, agent",
  takesHold: changes,
  needs: ["blob store"],
  shownBy: {
    "test/e2e/http-errors.test.ts": ["for a %s that names nothing is 404: %s"],
    "test/features/profiles/archive/chromium.test.ts": [
      "an agent starts its browser with the profile, each time anew; headless: %s",
    ],
    "test/e2e/patch-profile.slow.test.ts": [
      "browsers start with the profile and never write to it, whatever save_changes says, with the reuse policy %s (1)",
    ],
    "test/e2e/change-browser.slow.test.ts": ["is loaded into a browser that runs, headless: %s"],
    "test/features/profiles/profiles.test.ts": [
      "has its id in the pool's answer, and can't be deleted",
      "is needed to download a profile, and to give it to a pool or a browser; not to see, clear or delete it",
    ],
  },
};

const location = (field: "locale" | "timezone"): Setting => ({
  by: "agent (Chromium's environment and flags)",
  takesHold: { browser: "at its start, and at once by a PATCH" },
  needs: field === "locale" ? ["chrome_policy"] : [],
  shownBy: {
    "test/e2e/location.test.ts": [
      "pages, workers and sites see the locale and the time zone, headless: %s",
      "a session of a pool gets another place, and the next holder has none of it",
    ],
  },
});

const extension: Setting = {
  by: "API (reference), agent (`Extensions.loadUnpacked`)",
  takesHold,
  needs: ["blob store"],
  shownBy: {
    "test/e2e/patch-rules.test.ts": ["replaces the list of extensions, and an empty one clears it (3)"],
    "test/features/extensions/upload.test.ts": [
      "a pool answers its extensions in their order, and one that is in use stays",
    ],
    "test/e2e/settings.slow.test.ts": [pooledSettings],
    "test/features/extensions/agent/extensions.slow.test.ts": [
      "content scripts and workers of all extensions work, in every context and after a reset",
    ],
  },
};

const route: Setting = {
  ...network,
  shownBy: {
    "test/e2e/everything/everything.slow.test.ts": ["a pool with everything at once, headless: %s"],
    "src/core/model/settings/references.test.ts": [
      "lead to ids, by id, by name and by the name of an object from YAML",
    ],
    "test/e2e/patch-rules.test.ts": [
      "replaces the network block, an empty one removes it, an empty list stays a list (9)",
    ],
  },
};

const viewport: Setting = {
  by: "agent (`--window-size`, the screen of Xvfb)",
  takesHold: changes,
  shownBy: {
    "test/core/agent/change-viewport.slow.test.ts": [
      "%s changes in all pages and in later ones, and is the first one again after the lease",
    ],
    "test/core/agent/browser-settings.slow.test.ts": [
      "a headless browser gives every page the viewport",
      "has a screen of the viewport's size, and its window fills all but the last row",
    ],
    "test/e2e/patch-rules.test.ts": ["keep the configuration that made them: idle ones too (13)"],
  },
};

/** Rows of both kinds. */
export const browserSettings = {
  headless: {
    by: "agent (`--headless`, or a screen of Xvfb)",
    takesHold,
    shownBy: {
      "test/core/agent/browser-settings.slow.test.ts": [
        "a headless browser gives every page the viewport",
        "has a screen of the viewport's size, and its window fills all but the last row",
      ],
    },
  },
  "location.locale": location("locale"),
  "location.timezone": location("timezone"),
  stealth: {
    by: "agent (the full browser and its flags; docs/stealth.md)",
    takesHold,
    shownBy: {
      "test/core/agent/stealth.slow.test.ts": [
        "a plain headless browser fails the checks of its user agent, plugins and others; with stealth it passes them",
        "a plain headful browser fails the checks of navigator.webdriver and WebGL; with stealth it passes them",
      ],
    },
  },
  kioskMode: {
    by: "agent (`--kiosk`)",
    takesHold,
    shownBy: { "test/core/agent/browser-settings.slow.test.ts": ["in kiosk mode shows the page alone"] },
  },
  memory: {
    by: "operator (memory limit of the pod)",
    takesHold,
    needs: ["memory_16GiB"],
    shownBy: {
      "src/core/pools/pod/pod-template.test.ts": [
        "a headful browser has the memory of its pool, a headless one that of the template",
      ],
    },
  },
  "viewport.width": viewport,
  "viewport.height": viewport,
  "viewport.refreshRate": {
    by: "agent (the mode of a headful browser's screen); a headless one draws at 60 Hz",
    takesHold: changes,
    shownBy: {
      "test/core/agent/change-viewport.slow.test.ts": ["of a headful browser changes its refresh rate, too"],
      "test/core/agent/browser-settings.slow.test.ts": [
        "a headful browser draws at the viewport's refresh rate, %d Hz",
      ],
      "src/core/model/settings/browser-settings.test.ts": [
        "%i x %i without a refresh rate has %i Hz",
        "a refresh rate that is given stays",
      ],
    },
  },
  chromePolicy: {
    by: "agent (policy file `managed/browserpool.json`)",
    takesHold,
    needs: ["chrome_policy"],
    shownBy: {
      ...policyAndNetwork,
      "test/e2e/policies.slow.test.ts": [
        "two browsers obey each its own policy, and so do those after a reset",
        "a policy of 5 MiB holds whole",
        "%s is refused as such: %s",
      ],
      "test/core/agent/policies/known.test.ts": [
        "Chromium heeds every policy that may be set, with a value of its type",
        "Chromium complains of every policy with a value of another type, and so does the API",
      ],
      "test/core/agent/policies/holder.slow.test.ts": [
        "no download gets into a browser's folder of policies, its own or a neighbour's",
      ],
    },
  },
  "network.allowedHosts": network,
  "network.privateHosts": {
    ...network,
    shownBy: {
      "test/e2e/patch-settings.slow.test.ts": [
        "is replaced whole, stays when it is left out, and is removed by an empty object",
        "may have an empty list, which leaves no private range",
      ],
    },
  },
  "network.proxyRoutes[].hosts": route,
  "network.proxyRoutes[].proxy.id": { ...route, effect: "The proxy of these hosts, by its id." },
  "network.proxyRoutes[].proxy.name": { ...route, effect: "The same by its name, which no other proxy may have." },
  proxyId: {
    by: "API (reference), network wall of the agent",
    takesHold: changes,
    needs: ["network", "provider of proxies"],
    shownBy: {
      "test/e2e/everything/everything.slow.test.ts": ["a pool with everything at once, headless: %s"],
      "test/e2e/change-browser.slow.test.ts": [
        "takes the traffic of a walled browser from now on, and open connections are cut",
        "gives a pool's browser a wall, which its next holder does not find, with the reuse policy %s",
      ],
      "test/e2e/patch-settings.slow.test.ts": ["a proxy stays when it is left out, and is cleared by an empty id (5)"],
      "test/e2e/on-demand.slow.test.ts": ["a %s that names nothing is 404, and nothing is started"],
    },
  },
  "profile.id": { ...profile, effect: "The profile that browsers start with, by its id." },
  "profile.name": { ...profile, effect: "The same by its name." },
  "profile.saveChanges": {
    by: "API (permission `profiles:write`), agent (`Browser.close`), operator",
    takesHold: { browser: "at its start" },
    needs: ["blob_store"],
    shownBy: {
      "src/core/model/settings/browser-features.test.ts": [
        "a browser can save its profile where there is a store, and not elsewhere: over HTTP and by YAML",
      ],
      "test/e2e/profile-saves.slow.test.ts": ["what a browser leaves in its profile is there in the next one"],
    },
  },
  "extensions[].id": { ...extension, effect: "Extensions to load, in the order of the list; this one by its id." },
  "extensions[].name": { ...extension, effect: "The same by its name." },
  startUrl: {
    by: "agent (over CDP, once Chromium answers)",
    takesHold,
    shownBy: { "test/core/agent/browser-settings.slow.test.ts": ["of the pool is open in the browser's first page"] },
  },
} satisfies Partial<Record<FieldPath, Setting>>;
