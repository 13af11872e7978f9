/**
 * Tries every command and event of WebDriver BiDi with chromedriver, for the second column of the table in
 * docs/webdriver.md, and says where it differs. By hand: needs `chromedriver` and the headless shell.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { promptsWait } from "../support/bidi/bench.ts";
import { documentedOutcomes, type Outcomes, tryAlone, tryEverything } from "../support/bidi/try-everything.ts";
import { eventually } from "../support/eventually.ts";

const port = 19_515;
const base = `http://127.0.0.1:${port}`;
const driver = spawn("chromedriver", [`--port=${port}`], { stdio: "ignore" });
await eventually("chromedriver answers", () =>
  fetch(`${base}/status`).then(
    ({ ok }) => ok,
    () => false,
  ),
);

type Created = { value: { sessionId: string; capabilities: { webSocketUrl: string } } };

/** Does `work` with the URL of a new session. */
const withSession = async (work: (url: string) => Promise<Outcomes>): Promise<Outcomes> => {
  const binary = process.env.BROWSERPOOL_CHROMIUM_HEADLESS ?? "/usr/lib/chromium/chromium-headless-shell";
  const options = { binary, args: ["--headless", "--no-sandbox"] };
  const alwaysMatch = { webSocketUrl: true, ...promptsWait, "goog:chromeOptions": options };
  const created = await fetch(`${base}/session`, {
    method: "POST",
    body: JSON.stringify({ capabilities: { alwaysMatch } }),
  });
  const { value } = (await created.json()) as Created;
  try {
    return await work(value.capabilities.webSocketUrl);
  } finally {
    await fetch(`${base}/session/${value.sessionId}`, { method: "DELETE" }).catch(() => undefined);
  }
};

try {
  const measured = {
    ...(await withSession((url) => tryEverything({ url, isNew: false }))),
    ...(await withSession((url) => tryAlone(url, "session.new", { capabilities: {} }))),
    ...(await withSession((url) => tryAlone(url, "session.end"))),
    ...(await withSession((url) => tryAlone(url, "browser.close"))),
  };
  const documented = await documentedOutcomes(2);
  const differing = Object.entries(measured).filter(([name, outcome]) => documented[name] !== outcome);
  process.exitCode = differing.length === 0 ? 0 : 1;
} finally {
  const ended = once(driver, "exit");
  driver.kill();
  await ended;
}
