import { toFile } from "@onkernel/sdk";
import { connect } from "puppeteer-core";
import { markingExtension } from "../../support/marking-extension.ts";
import type { Lane, Phase } from "../lane.ts";
import { callOf } from "./call.ts";
import { until } from "./until.ts";

type Work = (id: string, session: { cdp_ws_url: string; base_url: string }) => Promise<void>;

/** Does something with an on-demand browser, and ends it. */
const withBrowser = async (lane: Lane, headless: boolean, work: Work, settings: object = {}): Promise<void> => {
  const call = callOf(lane);
  const session = await call("POST", "/browsers", { headless, ...settings });
  try {
    await work(session.session_id, session);
  } finally {
    await call("DELETE", `/browsers/${session.session_id}`);
  }
};

const expectSame = (what: string, found: unknown, wanted: unknown): void => {
  const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (one !== other) throw new Error(`${what}: ${one} in place of ${other}`);
};

const bytesOf = async (response: Response): Promise<Buffer> => {
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return Buffer.from(await response.arrayBuffer());
};

const savingPage = '<a id="save" download="left.txt" href="data:application/octet-stream,contents">save</a>';

/** A key that may run processes, beside all else that its project's keys may. */
const keyForProcesses = async (lane: Lane): Promise<string> => {
  const { project_id } = await callOf(lane)("GET", "/auth/context").then(
    ({ authorization }) => authorization.effective_scope,
  );
  const made = await callOf(lane)("POST", "/org/api_keys", {
    name: "processes",
    project_id,
    permissions: ["processes:run"],
  });
  return made.key;
};

type Ran = { code: number; out: string; err: string };

/** Runs commands of the shell beside a browser. */
const processCall =
  (lane: Lane, key: string, id: string) =>
  async (command: string): Promise<Ran> => {
    const authorization = { authorization: `Bearer ${key}` };
    const response = await lane.stack.call("POST", `/browsers/${id}/process/exec`, { command }, authorization);
    const { exit_code, stdout_b64, stderr_b64 } = JSON.parse((await bytesOf(response)).toString());
    const text = (base64: string): string => Buffer.from(base64, "base64").toString();
    return { code: exit_code, out: text(stdout_b64), err: text(stderr_b64) };
  };

/** What a process says of the size of its terminal, as its events tell it. */
const terminalOf = async (lane: Lane, key: string, id: string): Promise<string> => {
  const authorization = { authorization: `Bearer ${key}` };
  const asked = { command: "stty size", allocate_tty: true, cols: 91, rows: 17 };
  const path = `/browsers/${id}/process`;
  const spawned = await lane.stack.call("POST", `${path}/spawn`, asked, authorization);
  const { process_id } = JSON.parse((await bytesOf(spawned)).toString());
  const stream = await lane.stack.call("GET", `${path}/${process_id}/stdout/stream`, undefined, authorization);
  const events = (await bytesOf(stream)).toString().match(/"data_b64":"[^"]*"/g) ?? [];
  return events.map((event) => Buffer.from(event.slice(12, -1), "base64").toString()).join("");
};

/** What a holder has beside CDP, in pods under the admission policies and the restricted standard. */
export const beside: Phase = {
  name: "beside",
  summary: "files, hands, code, requests, location, tools, WebDriver and extensions of a session",
  async run(lane, check) {
    const call = callOf(lane);
    await check("files are written and read, and a download lands among them", () =>
      withBrowser(lane, true, async (id, { cdp_ws_url }) => {
        const form = new Uint8Array(100_000).fill(7);
        await lane.stack.kernel.browsers.fs.writeFile(id, form, { path: "/tmp/a/b" });
        const read = await bytesOf(await lane.stack.call("GET", `/browsers/${id}/fs/read_file?path=/tmp/a/b`));
        expectSame("bytes of a file", read.length, form.length);
        const browser = await connect({ browserWSEndpoint: cdp_ws_url, defaultViewport: null });
        const page = await browser.newPage();
        await page.setContent(savingPage);
        await page.click("#save");
        const isThere = async (): Promise<boolean> => {
          const entries: { name: string }[] = await call("GET", `/browsers/${id}/fs/list_files?path=/tmp/downloads`);
          return entries.some(({ name }) => name === "left.txt");
        };
        await until("the download is there", isThere, { signal: lane.signal });
        // Nothing of the agent's own is shown.
        const top: { name: string }[] = await call("GET", `/browsers/${id}/fs/list_files?path=/tmp`);
        expectSame("the folder's entries", top.map(({ name }) => name).sort(), ["a", "downloads"]);
        await browser.disconnect();
      }),
    );
    for (const headless of [true, false])
      await check(`hands type into a ${headless ? "headless" : "headful"} browser, and picture it`, () =>
        withBrowser(lane, headless, async (id, { cdp_ws_url }) => {
          const browser = await connect({ browserWSEndpoint: cdp_ws_url, defaultViewport: null });
          const page = (await browser.pages()).at(-1) ?? (await browser.newPage());
          await page.setContent("<style>textarea { position: fixed; inset: 0 }</style><textarea></textarea>");
          // In a new tab of a window, keys go to the address bar.
          await call("POST", `/browsers/${id}/computer/click_mouse`, { x: 200, y: 200 });
          await call("POST", `/browsers/${id}/computer/type`, { text: "Grüße 😀" });
          const value = (): Promise<unknown> => page.$eval("textarea", (field) => (field as { value?: string }).value);
          await until("it is typed", async () => (await value()) === "Grüße 😀", { signal: lane.signal });
          const png = await bytesOf(await lane.stack.call("POST", `/browsers/${id}/computer/screenshot`, {}));
          expectSame("a picture's head", png.subarray(1, 4).toString(), "PNG");
          await browser.disconnect();
        }),
      );
    await check("code runs beside the browser, and reaches no network", () =>
      withBrowser(lane, true, async (id) => {
        const execute = (code: string) => call("POST", `/browsers/${id}/playwright/execute`, { code });
        const code = 'await page.setContent("<h1>Hello</h1>"); return await page.textContent("h1")';
        const { success, result, error } = await execute(code);
        expectSame("a result", [success, result, error], [true, "Hello", undefined]);
        const outside = await execute('return await fetch("http://127.0.0.1:7500/livez").then(() => 1, () => 0)');
        expectSame("what code reaches", outside.result, 0);
      }),
    );
    await check("a process has a terminal and the files of the session, and reaches nothing of the agent", () =>
      withBrowser(lane, true, async (id) => {
        const key = await keyForProcesses(lane);
        const exec = processCall(lane, key, id);
        const made = await exec(
          "echo text > made && cat made && head -c 3 /proc/1/environ; ls /tmp; ls /tmp/.browserpool",
        );
        expectSame("output of a process", [made.code, made.out, made.err.match(/denied/g)?.length], [2, "text\n", 3]);
        const user = await exec("id -u; chmod 777 /tmp/.browserpool || echo refused");
        expectSame("its user", [user.out], ["10001\nrefused\n"]);
        const network =
          "perl -MSocket -e 'socket(S, AF_INET, SOCK_STREAM, 0); print connect(S, pack_sockaddr_in(7500, inet_aton(\"127.0.0.1\"))) ? 1 : 0'";
        expectSame("what a process reaches", (await exec(network)).out, "0");
        const forks = `perl -e 'my $n = 0; for (1 .. 300) { my $pid = fork; last unless defined $pid; if (!$pid) { sleep 9; exit } $n++ } print $n'`;
        const started = Number((await exec(forks)).out);
        if (!(started > 50 && started < 128)) throw new Error(`a process started ${started} others`);
        expectSame("a terminal", await terminalOf(lane, key, id), "17 91\r\n");
        const refused = await lane.stack.call("POST", `/browsers/${id}/process/exec`, { command: "true" });
        expectSame("a key that does not name the permission", refused.status, 403);
      }),
    );
    for (const headless of [true, false])
      await check(`a ${headless ? "headless" : "headful"} browser with a policy has its locale and its time zone`, () =>
        withBrowser(
          lane,
          headless,
          async (id) => {
            const seen = "[Intl.DateTimeFormat().resolvedOptions().timeZone, (1234.5).toLocaleString()]";
            const code = `return await page.evaluate(() => ${seen})`;
            const { result } = await call("POST", `/browsers/${id}/playwright/execute`, { code });
            expectSame("what a page sees", result, ["Asia/Tokyo", "1.234,5"]);
          },
          { location: { locale: "de-DE", timezone: "Asia/Tokyo" }, chrome_policy: { BookmarkBarEnabled: false } },
        ),
      );
    await check("a request of the browser says why it can't be sent", () =>
      withBrowser(lane, true, async (id) => {
        const response = await lane.stack.call("POST", `/browsers/${id}/curl`, { url: "http://127.0.0.1:9/" });
        expectSame("status", [response.status, ((await response.json()) as { code?: string }).code], [409, "conflict"]);
      }),
    );
    await check("a client that has an http URL finds the browser", () =>
      withBrowser(lane, true, async (id) => {
        const { webSocketDebuggerUrl } = await call("GET", `/browsers/${id}/json/version`);
        const browser = await connect({ browserWSEndpoint: webSocketDebuggerUrl, defaultViewport: null });
        await browser.version();
        await browser.disconnect();
      }),
    );
    await check("a custom tool runs in a page", () =>
      withBrowser(lane, true, async (id) => {
        const tool = '{ name: "where", description: "Where it is", inputSchema: {} }';
        const source = `[{ match: { url_patterns: ["*"] }, tool: ${tool}, execute: () => location.protocol }]`;
        await call("POST", `/browsers/${id}/webmcp/custom-tools`, { namespace: "cluster", source });
        const { tools } = await call("GET", `/browsers/${id}/webmcp/tools`);
        const { tool_ref } = tools[0];
        const { status, output } = await call("POST", `/browsers/${id}/webmcp/invoke`, { tool_ref, input: {} });
        expectSame("what a tool answers", [status, output], ["completed", "about:"]);
      }),
    );
    for (const headless of [true, false])
      await check(`WebDriver over HTTP drives a ${headless ? "headless" : "headful"} browser`, () =>
        withBrowser(lane, headless, async (_id, { base_url, cdp_ws_url }) => {
          const jwt = new URL(cdp_ws_url).searchParams.get("jwt") ?? "";
          const send = async (method: string, path: string, body?: object) => {
            const url = `${base_url}${path}?${new URLSearchParams({ jwt })}`;
            const headers = { "content-type": "application/json" };
            const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
            const { value } = (await response.json()) as { value: { sessionId?: string } & Record<string, unknown> };
            if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(value)}`);
            return value;
          };
          const { sessionId } = await send("POST", "/session", { capabilities: {} });
          await send("POST", `/session/${sessionId}/url`, { url: "data:text/html,<title>driven</title>" });
          expectSame("a title", await send("GET", `/session/${sessionId}/title`), "driven");
          await send("DELETE", `/session/${sessionId}`);
        }),
      );
    await check("an extension is loaded into a browser that runs", () =>
      withBrowser(lane, false, async (id) => {
        const load = async () => {
          const extensions = [{ name: "one", zip_file: await toFile(markingExtension("one"), "one.zip") }];
          return lane.stack.kernel.browsers.loadExtensions(id, { extensions });
        };
        await load();
        const again = await load().then(
          () => "loaded",
          (error: { status?: number }) => error.status,
        );
        expectSame("the same name again", again, 409);
      }),
    );
  },
};
