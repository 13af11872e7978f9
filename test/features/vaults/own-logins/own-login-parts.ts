/** A running service, the site of logins, and connections to it whose logins the service does. */
import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "../../../../src/core/objects/new-id.ts";
import type { Call } from "../../../support/pool-client.ts";
import { type LocalProject, startProject } from "../../../support/stack.ts";
import { type LoginPages, passwordOf, startLoginPages, totpSecret } from "./login-pages.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they check
type Body = any;

export type TestLogin = {
  id: string;
  path: string;
  profile: string;
  /** The credential's name; undefined when none is stored. */
  credential: string | undefined;
  /** Begins the login. */
  login(): Promise<Body>;
  state(): Promise<Body>;
  submit(body: object): Promise<Body>;
  /** The first state of this kind. */
  until(isThere: (state: Body) => boolean): Promise<Body>;
  /** The state when it waits for something new, or is over. `before`: the interaction that was there. */
  settled(before?: string): Promise<Body>;
  over(): Promise<Body>;
  timeline(): Promise<Body>;
  /** Deletes the connection, and waits until its login is over. */
  cancel(): Promise<void>;
};

type Options = { values?: object; ssoProvider?: string; connection?: object; isStored?: boolean; begins?: boolean };

/** What makes logins in a running service. */
export type Logins = AsyncDisposable & {
  site: LoginPages;
  /** Sends a request; throws for a refusal. */
  call(method: string, path: string, body?: unknown): Promise<Body>;
  /** A connection for a kind of page with its login stored, unless that is not wanted; its login has begun. */
  begin(kind: string, options?: Options): Promise<TestLogin>;
};

export type OwnLoginParts = Logins & { stack: LocalProject };

const waitMs = 120_000;

/** Connections to a site, through an API. `send`: sends a request to it. */
export const loginsAt = (send: Call, site: LoginPages): Pick<Logins, "call" | "begin"> => {
  const call = async (method: string, path: string, body?: unknown): Promise<Body> => {
    const response = await send(method, path, body);
    const text = await response.text();
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
  const store = async (kind: string, { values, ssoProvider }: Options): Promise<string> => {
    const name = `c-${newId()}`;
    await call("POST", "/credentials", {
      name,
      domain: "127.0.0.1",
      values: { username: "ann", password: passwordOf(kind), ...values },
      ...(kind.startsWith("otp") && { totp_secret: totpSecret }),
      ...(ssoProvider && { sso_provider: ssoProvider }),
    });
    return name;
  };
  return {
    call,
    async begin(kind, options = {}) {
      const { connection, isStored = true, begins = true } = options;
      const credential = isStored ? await store(kind, options) : undefined;
      const profile = `p-${newId()}`;
      const { id } = await call("POST", "/auth/connections", {
        domain: "127.0.0.1",
        profile_name: profile,
        login_url: site.loginUrl(kind),
        ...(credential && { credential: { name: credential } }),
        ...connection,
      });
      const path = `/auth/connections/${id}`;
      const until = async (isThere: (state: Body) => boolean): Promise<Body> => {
        const untilMs = performance.now() + waitMs;
        for (;;) {
          const state = await call("GET", path);
          if (isThere(state)) return state;
          if (performance.now() > untilMs) throw new Error(`still ${JSON.stringify(state)}`);
          await sleep(300);
        }
      };
      const isOver = ({ flow_status }: Body): boolean => flow_status !== "IN_PROGRESS";
      const login = () => call("POST", `${path}/login`, {});
      if (begins) await login();
      return {
        id,
        path,
        profile,
        credential,
        login,
        state: () => call("GET", path),
        submit: (body) => call("POST", `${path}/submit`, body),
        until,
        settled: (before) =>
          until(
            (state) =>
              isOver(state) ||
              (state.flow_step === "AWAITING_INPUT" && state.interaction_id !== before) ||
              (state.flow_step === "AWAITING_EXTERNAL_ACTION" && before === undefined),
          ),
        over: () => until(isOver),
        timeline: () => call("GET", `${path}/timeline`),
        async cancel() {
          const { browser_session_id: session } = await call("GET", path);
          await call("DELETE", path);
          if (session === undefined) return;
          const untilMs = performance.now() + waitMs;
          while ((await send("GET", `/browsers/${session}`)).status !== 404) {
            if (performance.now() > untilMs) throw new Error("the browser of a deleted connection stays");
            await sleep(300);
          }
        },
      };
    },
  };
};

/** The site of logins, for a service that runs. */
export const startLogins = async (stack: Pick<LocalProject, "call">): Promise<Logins> => {
  const site = await startLoginPages();
  return {
    site,
    ...loginsAt((method, path, body) => stack.call(method, path, body), site),
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
};

/** The same with a project of its own. */
export const startOwnLoginParts = async (): Promise<OwnLoginParts> => {
  await using parts = new AsyncDisposableStack();
  const stack = parts.use(await startProject());
  const logins = parts.use(await startLogins(stack));
  const kept = parts.move();
  return { ...logins, stack, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};
