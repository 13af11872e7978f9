import { expect, test } from "vitest";
import { banner, type RunningLocal } from "./banner.ts";

const running: RunningLocal = {
  url: "http://127.0.0.1:8080",
  apiKey: "bp_key",
  headerFile: "/data/authorization",
  logFolder: "/data/logs",
  noSandbox: undefined,
  isApart: true,
};

const page = "http://127.0.0.1:8080/console#code=once";

test("the banner names what the next steps need, and warns of nothing", () => {
  const text = banner(running, { pool: "demo", page }, 4321);
  expect(text).toContain("ready after 4.3 s");
  for (const part of Object.values(running)) if (typeof part === "string") expect(text).toContain(part);
  expect(text).not.toMatch(/warning|sandbox/i);
});

test("without a pool, the banner says how one is made", () => {
  const text = banner(running, { pool: undefined, page }, 4321);
  expect(text).toContain("kubectl apply -f manifests/samples/pool.yaml");
  expect(text).not.toContain("acquire");
});

test("the banner has the key in no command", () => {
  for (const line of banner(running, { pool: "demo", page }, 4321).split("\n"))
    expect(line.includes("bp_key")).toBe(line.startsWith("  API key "));
});

test("in a container, the banner names commands that work outside", () => {
  const text = banner({ ...running, container: "3f2a" }, { pool: "demo", page }, 4321);
  expect(text).toContain("docker exec 3f2a browserpool acquire");
  expect(text).toContain("curl -X POST -H @authorization http://localhost:8080/browser_pools/demo/acquire");
  expect(text).not.toContain("npm run");
});

test.each([
  ["root", /because this is root[\s\S]*start local mode as\s+another user/],
  ["namespaces", /because user namespaces are forbidden here[\s\S]*browserpool doctor says how to allow/],
] as const)(
  "the banner warns once of a Chromium without its sandbox (%s), and names the way out",
  (noSandbox, text) => {
    const warned = banner({ ...running, noSandbox }, { pool: "demo", page }, 4321);
    expect(warned.match(/WARNING: Chromium runs without its sandbox \(--no-sandbox\)/g)).toHaveLength(1);
    expect(warned).toMatch(text);
  },
);

test("the banner warns of browsers without namespaces, and names what their users reach", () => {
  const text = banner({ ...running, isApart: false }, { pool: "demo", page }, 4321);
  expect(text.match(/WARNING/g)).toHaveLength(1);
  expect(text).toMatch(/no namespaces \(browserpool doctor says why\)/);
  expect(text).toMatch(/the API key among them[\s\S]*other sessions' DevTools/);
});
