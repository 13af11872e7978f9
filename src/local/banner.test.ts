import { expect, test } from "vitest";
import { banner, type RunningLocal } from "./banner.ts";

const running: RunningLocal = {
  url: "http://127.0.0.1:8080",
  apiKey: "bp_key",
  kubeconfigPath: "/data/kubeconfig",
  kubectlFolder: "/data/bin",
  logFolder: "/data/logs",
  hasSandbox: true,
  isApart: true,
};

test("the banner warns once of a Chromium without its sandbox, says why and names the way out", () => {
  const text = banner({ ...running, hasSandbox: false }, 4321);
  expect(text.match(/WARNING: Chromium runs without its sandbox \(--no-sandbox\), because this is root/g)).toHaveLength(
    1,
  );
  expect(text).toContain("start local mode as another user");
});

test("the banner names what the next steps need, and warns of nothing else", () => {
  const text = banner(running, 4321);
  expect(text).toContain("ready after 4.3 s");
  for (const part of Object.values(running)) if (typeof part === "string") expect(text).toContain(part);
  expect(text).not.toMatch(/warning|sandbox/i);
});

test("the banner warns of browsers without namespaces, and names what their users reach", () => {
  const text = banner({ ...running, isApart: false }, 4321);
  expect(text.match(/WARNING/g)).toHaveLength(1);
  expect(text).toMatch(/no namespaces \(bubblewrap is missing, or unprivileged user namespaces are forbidden\)/);
  expect(text).toMatch(/the API key among them[\s\S]*other sessions' DevTools/);
});
