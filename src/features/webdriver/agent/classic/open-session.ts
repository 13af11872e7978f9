/** Opens a session of WebDriver: starts its driver, and has that attach to the browser. */
import { z } from "zod";
import type { AgentConfig } from "../../../../core/agent/agent-config.ts";
import type { Browser } from "../../../../core/agent/browser.ts";
import { type GuestDeps, joinGuest } from "../../../../core/agent/join-guest.ts";
import type { PageOrder } from "../../../../core/agent/page-order.ts";
import type { Logger } from "../../../../platform/base/log.ts";
import { errorAnswer, type WebDriverAnswer } from "../../webdriver-answer.ts";
import { forDriver, matchCapabilities, promptsOf, readCreated } from "./capabilities.ts";
import { startDevToolsBridge } from "./dev-tools-bridge.ts";
import { asAnswer, type Driver, startDriver } from "./driver.ts";
import { devToolsAddress } from "./driver-command.ts";

/** Time for a driver to attach to the browser, ms. */
const attachMs = 30_000;

/** `session`: the lease's. `signal`: aborted when that ends. */
export type OpenDeps = GuestDeps & {
  config: AgentConfig;
  browser: Pick<Browser, "pageOrder">;
  session: string;
  signal: AbortSignal;
  log: Logger;
};

/** `bidiPrompts`: what becomes of dialogs on its connection of WebDriver BiDi. */
type Opened = {
  id: string;
  driver: Driver;
  body: WebDriverAnswer["body"];
  asksBidi: boolean;
  bidiPrompts: Record<string, string> | undefined;
};

const start = async (deps: OpenDeps): Promise<Driver> => {
  const { config, browser, session, signal } = deps;
  let driver: Driver | undefined;
  const bridge = (socket: string): Promise<AsyncDisposable> =>
    startDevToolsBridge(socket, {
      devTools: browser.devTools,
      async join(upgrade) {
        // Without its browser a driver says many things, and serves no more.
        upgrade.client.once("close", () => void driver?.end());
        await joinGuest(upgrade, { session, kind: "webdriver" }, deps);
      },
    });
  driver = await startDriver({ config, bridge }, signal);
  const { end, ended } = driver;
  const stop = (): void => void end();
  signal.addEventListener("abort", stop, { once: true });
  void ended.then(() => signal.removeEventListener("abort", stop));
  return driver;
};

const Handles = z.object({ value: z.array(z.string()) });

/** Has the session begin in the newest tab: the driver would take any. */
const switchToNewest = async (driver: Driver, id: string, pageOrder: PageOrder): Promise<void> => {
  const { body } = await driver.send({ method: "GET", path: `/session/${id}/window/handles` }, attachMs);
  const pages = Handles.parse(body).value.map((targetId) => ({ targetId }));
  const handle = pageOrder.sorted(pages).at(-1)?.targetId;
  await driver.send({ method: "POST", path: `/session/${id}/window`, body: { handle } }, attachMs);
};

const attach = async (
  driver: Driver,
  body: object,
  pageOrder: PageOrder,
): Promise<ReturnType<typeof readCreated> | WebDriverAnswer> => {
  const answered = await driver.send({ method: "POST", path: "/session", body }, attachMs);
  if (answered.status !== 200) return asAnswer(answered);
  const created = readCreated(answered.body);
  if (created) await switchToNewest(driver, created.id, pageOrder);
  return created;
};

const failed = errorAnswer("session not created", "the driver did not attach to the browser");

/** `body`: of the client's command. Throws a `CallRefused` where no driver can run, and the reason of the signal. */
export const openSession = async (body: unknown, deps: OpenDeps): Promise<Opened | { refused: WebDriverAnswer }> => {
  const { browser, signal, log } = deps;
  const matched = matchCapabilities(body);
  if ("refused" in matched) return matched;
  const driver = await start(deps);
  const made = await attach(driver, forDriver(matched.capabilities, devToolsAddress), browser.pageOrder()).catch(
    (err: unknown) => {
      log.warn({ err }, "a driver did not attach to the browser");
      return undefined;
    },
  );
  const asksBidi = matched.capabilities.webSocketUrl === true;
  if (made && "id" in made && !signal.aborted)
    return { ...made, driver, asksBidi, bidiPrompts: asksBidi ? promptsOf(matched.capabilities) : undefined };
  await driver.end();
  signal.throwIfAborted();
  return { refused: made && "status" in made ? made : failed };
};
