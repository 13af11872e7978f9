/** webdriverio, unchanged, by WebDriver over HTTP, as docs/clients.md has it. */
import { expect, test } from "vitest";
import { brokenOff, documented, type Ran, ran } from "./client-run.ts";
import { acquireSession, endInScript, endVariables, pageTitles, startClientParts } from "./client-session.ts";
import { npmClients } from "./installed.ts";

const clients = await npmClients();

const at = startClientParts(clients !== undefined);

// WDC-1
test.skipIf(!clients)("webdriverio drives a session, leaves it, and says that it has ended", async () => {
  const { id, ...urls } = await acquireSession(at.stack, at);
  const lines = documented("js", 'from "webdriverio"', at.shop);
  const run = (input: string): Promise<Ran> =>
    ran(process.execPath, ["--input-type=module"], {
      ...{ input, cwd: clients ?? "" },
      env: { ...endVariables(at.stack, id), ...urls, TMPDIR: at.cwd },
    });
  const { code, stdout, stderr } = await run(lines);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^found tea\n\d{4,}\n$/);
  expect(await pageTitles(at.stack, id)).toEqual(["Shop"]);
  const cut = await run(
    brokenOff(lines, "await browser.deleteSession();", `${endInScript}\nawait browser.getTitle();`),
  );
  for (const { code: failed, stderr: told } of [cut, await run(lines)]) {
    expect(failed).toBe(1);
    expect(told).toContain(`session ${id} has ended`);
  }
});
