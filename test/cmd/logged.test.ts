import { expect, test } from "vitest";
import { startApi } from "../../src/cmd/api.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { startOrg } from "../core/projects/org-parts.ts";
import { sharedServers } from "../support/control-plane.ts";

test("an api does not log the password of its Redis", async () => {
  const { kubeconfigPath, redisUrl } = await sharedServers();
  const { password } = new URL(redisUrl);
  await using org = await startOrg();
  const lines: string[] = [];
  const log = createLogger("trace", "test", "/dev/null", (line) => lines.push(line));
  const api = await startApi({ config: org.config, kubeconfigPath }, log);
  await (await fetch(`${api.url}/readyz`)).text();
  await api.stop();
  expect(lines.join("")).toContain("api is ready");
  expect(password).not.toBe("");
  expect(lines.join("")).not.toContain(password);
});
