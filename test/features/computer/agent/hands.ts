/** A session's hands at a real agent, and a page that notes what they do to it. */
import type { Page } from "puppeteer-core";
import { expect } from "vitest";
import type { BrowserConfig } from "../../../../src/core/protocol/agent-api.ts";
import { sessionHeader } from "../../../../src/core/protocol/agent-api.ts";
import { createAgentTokens } from "../../../../src/core/protocol/agent-token.ts";
import type { TestAgent, TestAgents } from "../../../support/agent-process.ts";
import { session } from "../../../support/visited-agent.ts";

/** What the page notes: an event's name and what matters of it. */
type Noted = (string | number)[];

const noting = `<!doctype html><title>hands</title>
<style>body { margin: 0; height: 4000px; background: #fff }
  #field { position: absolute; left: 20px; top: 20px; width: 300px; height: 60px; font: 16px monospace }
  #box { position: absolute; left: 20px; top: 100px; width: 100px; height: 100px; background: rgb(200, 30, 40) }</style>
<textarea id="field"></textarea><div id="box"></div>
<script>
  window.noted = [];
  const note = (...what) => window.noted.push(what);
  const modifiers = (event) => ["ctrl", "shift", "alt", "meta"].filter((name) => event[name + "Key"]).join("+");
  for (const name of ["mousedown", "mouseup", "click", "dblclick", "auxclick", "contextmenu"])
    addEventListener(name, (event) => {
      note(name, event.button, event.clientX, event.clientY, event.detail, modifiers(event));
      if (name === "contextmenu") event.preventDefault();
    });
  addEventListener("mousemove", (event) => note("mousemove", event.clientX, event.clientY, event.buttons));
  for (const name of ["keydown", "keyup"])
    addEventListener(name, (event) => note(name, event.key, event.code, modifiers(event)));
  addEventListener("wheel", (event) => note("wheel", event.deltaX, event.deltaY, modifiers(event)));
</script>`;

type Answered = { status: number; body: { answer?: unknown; code?: string; message?: string } | Buffer };

export type HeldHands = {
  agent: TestAgent;
  page: Page;
  /** A call of hands; its answer in JSON, or the bytes. */
  call(name: string, body?: object): Promise<Answered>;
  /** As `call`; throws when it is refused. */
  done(name: string, body?: object): Promise<unknown>;
  /** A place of the page, or of another one, on the screen. */
  onScreen(x: number, y: number, other?: Page): Promise<{ x: number; y: number }>;
  /** What the page has noted since the last call, of these events; a page learns of some later than a call ends. */
  noted(...names: string[]): Promise<Noted[]>;
  /** Waits until the page has noted this of these events; resolves with them. */
  awaitNoted(names: string[], expected: unknown): Promise<Noted[]>;
  /** The text of the page's field, or of another page's. */
  field(other?: Page): Promise<string>;
};

/** Puts the noting page into a tab. */
export const showNoting = (page: Page): Promise<void> => page.setContent(noting);

export const holdHands = async (agents: TestAgents, config: Partial<BrowserConfig>): Promise<HeldHands> => {
  const agent = await agents.start(config);
  await agent.bind(session, 1);
  const browser = await agent.connect(session);
  const page = (await browser.pages()).at(-1) ?? (await browser.newPage());
  await showNoting(page);
  const token = createAgentTokens(agent.privateKey).tokenFor(agent.podUid);
  const call: HeldHands["call"] = async (name, body) => {
    const response = await fetch(`${agent.baseUrl}/calls/computer/${name}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, [sessionHeader]: session, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = response.headers.get("content-type")?.includes("json");
    return { status: response.status, body: isJson ? JSON.parse(bytes.toString()) : bytes };
  };
  let seen: Noted[] = [];
  const read = async (names: string[]): Promise<Noted[]> => {
    seen.push(...((await page.evaluate("window.noted.splice(0)")) as Noted[]));
    return seen.filter(([name]) => names.includes(String(name)));
  };
  return {
    agent,
    page,
    call,
    async done(name, body) {
      const { status, body: answered } = await call(name, body);
      if (status !== 200) throw new Error(`${name}: ${status} ${JSON.stringify(answered)}`);
      return Buffer.isBuffer(answered) ? answered : answered.answer;
    },
    async onScreen(x, y, other = page) {
      if (config.headless ?? true) return { x, y };
      const place = "[screenX + outerWidth - innerWidth, screenY + outerHeight - innerHeight]";
      const [left, top] = (await other.evaluate(place)) as number[];
      return { x: x + (left ?? 0), y: y + (top ?? 0) };
    },
    async noted(...names) {
      const found = await read(names);
      seen = [];
      return found;
    },
    async awaitNoted(names, expected) {
      await expect.poll(() => read(names), { timeout: 5000 }).toEqual(expected);
      const found = await read(names);
      seen = [];
      return found;
    },
    field: (other = page) => other.evaluate("document.querySelector('textarea').value") as Promise<string>,
  };
};
