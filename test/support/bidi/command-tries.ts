/** A try of each command of WebDriver BiDi: with parameters that the specification has, in a page of its own. */
import type { Commands } from "webdriver-bidi-protocol";
import type { Bench } from "./bench.ts";
import { networkTries } from "./network-tries.ts";

type Try = (bench: Bench) => Promise<unknown>;

/** Commands of another specification; they need Bluetooth, which browsers on servers have not. */
type Untried = Extract<keyof Commands, `bluetooth.${string}`>;

/** Takes the connection or the browser away, so its user tries it by itself. */
type Ending = "session.new" | "session.end" | "browser.close";

const emulation =
  (name: string, params: Record<string, unknown>): Try =>
  ({ send, context }) =>
    send(`emulation.${name}`, { ...params, contexts: [context] });

const inContext =
  (method: string, params: Record<string, unknown> = {}): Try =>
  ({ send, context }) =>
    send(method, { ...params, context });

/** Has the page open a prompt. */
const openPrompt = async ({ evaluate, event, events }: Bench): Promise<void> => {
  const since = events.length;
  await evaluate("void setTimeout(() => alert('tried'))");
  await event("browsingContext.userPromptOpened", since);
};

const newUserContext = ({ send }: Bench): Promise<{ userContext: string }> => send("browser.createUserContext");

const browserTries = {
  "browser.createUserContext": async (bench) => bench.send("browser.removeUserContext", await newUserContext(bench)),
  "browser.getClientWindows": ({ send }) => send("browser.getClientWindows"),
  "browser.getUserContexts": ({ send }) => send("browser.getUserContexts"),
  "browser.removeUserContext": async (bench) => bench.send("browser.removeUserContext", await newUserContext(bench)),
  "browser.setClientWindowState": async ({ send }) => {
    const { clientWindows } = await send<{ clientWindows: { clientWindow: string }[] }>("browser.getClientWindows");
    const clientWindow = clientWindows[0]?.clientWindow;
    await send("browser.setClientWindowState", { clientWindow, state: "normal", width: 800, height: 600 });
  },
  "browser.setDownloadBehavior": ({ send }) =>
    send("browser.setDownloadBehavior", { downloadBehavior: { type: "denied" } }),
  "browsingContext.activate": inContext("browsingContext.activate"),
  "browsingContext.captureScreenshot": inContext("browsingContext.captureScreenshot"),
  "browsingContext.close": async ({ send }) =>
    send("browsingContext.close", { ...(await send("browsingContext.create", { type: "tab" })) }),
  "browsingContext.create": async ({ send }) =>
    send("browsingContext.close", { context: (await send("browsingContext.create", { type: "window" })).context }),
  "browsingContext.getTree": ({ send, context }) => send("browsingContext.getTree", { root: context }),
  "browsingContext.handleUserPrompt": async (bench) => {
    await openPrompt(bench);
    await bench.send("browsingContext.handleUserPrompt", { context: bench.context, accept: true });
  },
  "browsingContext.locateNodes": inContext("browsingContext.locateNodes", { locator: { type: "css", value: "h1" } }),
  "browsingContext.navigate": inContext("browsingContext.navigate", { url: "about:blank", wait: "complete" }),
  "browsingContext.print": inContext("browsingContext.print"),
  "browsingContext.reload": inContext("browsingContext.reload", { wait: "complete" }),
  "browsingContext.setBypassCSP": ({ send, context }) =>
    send("browsingContext.setBypassCSP", { bypass: true, contexts: [context] }),
  "browsingContext.setViewport": inContext("browsingContext.setViewport", { viewport: { width: 640, height: 480 } }),
  "browsingContext.startScreencast": inContext("browsingContext.startScreencast"),
  "browsingContext.stopScreencast": ({ send }) => send("browsingContext.stopScreencast", { screencast: "none" }),
  "browsingContext.traverseHistory": async ({ send, context }) => {
    await send("browsingContext.navigate", { context, url: "about:blank#next", wait: "complete" });
    await send("browsingContext.traverseHistory", { context, delta: -1 });
  },
} satisfies Partial<Record<keyof Commands, Try>>;

const emulationTries = {
  "emulation.setForcedColorsModeThemeOverride": emulation("setForcedColorsModeThemeOverride", { theme: "dark" }),
  "emulation.setGeolocationOverride": emulation("setGeolocationOverride", {
    coordinates: { latitude: 1, longitude: 1 },
  }),
  "emulation.setLocaleOverride": emulation("setLocaleOverride", { locale: "de-DE" }),
  "emulation.setMediaFeaturesOverride": emulation("setMediaFeaturesOverride", {
    features: { "prefers-color-scheme": "dark" },
  }),
  "emulation.setNetworkConditions": emulation("setNetworkConditions", { networkConditions: null }),
  "emulation.setScreenOrientationOverride": emulation("setScreenOrientationOverride", {
    screenOrientation: { natural: "portrait", type: "portrait-primary" },
  }),
  "emulation.setScreenSettingsOverride": emulation("setScreenSettingsOverride", {
    screenArea: { width: 800, height: 600 },
  }),
  "emulation.setScriptingEnabled": emulation("setScriptingEnabled", { enabled: null }),
  "emulation.setScrollbarTypeOverride": emulation("setScrollbarTypeOverride", { scrollbarType: "overlay" }),
  "emulation.setTimezoneOverride": emulation("setTimezoneOverride", { timezone: "Europe/Berlin" }),
  "emulation.setTouchOverride": emulation("setTouchOverride", { maxTouchPoints: 1 }),
  "emulation.setUserAgentOverride": emulation("setUserAgentOverride", { userAgent: "tried" }),
  "emulation.setViewportMetaOverride": emulation("setViewportMetaOverride", { viewportMeta: true }),
  "userAgentClientHints.setClientHintsOverride": ({ send, context }) =>
    send("userAgentClientHints.setClientHintsOverride", { clientHints: { mobile: true }, contexts: [context] }),
  "permissions.setPermission": ({ send, origin }) =>
    send("permissions.setPermission", { descriptor: { name: "geolocation" }, state: "granted", origin }),
} satisfies Partial<Record<keyof Commands, Try>>;

const functionDeclaration = "() => 1";

const pageTries = {
  "input.performActions": inContext("input.performActions", {
    actions: [{ type: "pointer", id: "mouse", actions: [{ type: "pointerMove", x: 1, y: 1 }] }],
  }),
  "input.releaseActions": inContext("input.releaseActions"),
  "input.setFiles": async ({ send, context, element }) =>
    send("input.setFiles", { context, element: await element("file"), files: ["/etc/hostname"] }),
  "script.addPreloadScript": async ({ send }) =>
    send("script.removePreloadScript", { ...(await send("script.addPreloadScript", { functionDeclaration })) }),
  "script.callFunction": ({ send, context }) =>
    send("script.callFunction", { functionDeclaration, awaitPromise: false, target: { context } }),
  "script.disown": async ({ send, context, evaluate }) =>
    send("script.disown", { handles: [(await evaluate("({})")).result.handle], target: { context } }),
  "script.evaluate": ({ evaluate }) => evaluate("1 + 1"),
  "script.getRealms": inContext("script.getRealms"),
  "script.removePreloadScript": async ({ send }) =>
    send("script.removePreloadScript", { ...(await send("script.addPreloadScript", { functionDeclaration })) }),
  "session.status": ({ send }) => send("session.status"),
  "session.subscribe": ({ send }) => send("session.subscribe", { events: ["log.entryAdded"] }),
  "session.unsubscribe": async ({ send }) => {
    const { subscription } = await send("session.subscribe", { events: ["browsingContext.load"] });
    await send("session.unsubscribe", { subscriptions: [subscription] });
  },
  "storage.deleteCookies": ({ send }) => send("storage.deleteCookies", { filter: { name: "tried" } }),
  "storage.getCookies": ({ send }) => send("storage.getCookies"),
  "storage.setCookie": ({ send }) =>
    send("storage.setCookie", {
      cookie: { name: "tried", value: { type: "string", value: "1" }, domain: "tried.test" },
    }),
  "webExtension.install": ({ send }) =>
    send("webExtension.install", { extensionData: { type: "path", path: "/tmp/none" } }),
  "webExtension.uninstall": ({ send }) => send("webExtension.uninstall", { extension: "a".repeat(32) }),
} satisfies Partial<Record<keyof Commands, Try>>;

/**
 * Every command by its name, in groups that don't disturb each other. The compiler tells when the specification has one
 * more.
 */
export const commandTries = { browserTries, emulationTries, pageTries, networkTries } as const;

type Tried = { [Group in keyof typeof commandTries]: keyof (typeof commandTries)[Group] }[keyof typeof commandTries];
type IsComplete<Missing extends never> = Missing;
/** What no group tries; it must be `never`. */
type _Missing = IsComplete<Exclude<keyof Commands, Tried | Untried | Ending>>;
