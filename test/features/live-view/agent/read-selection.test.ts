import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readSelection } from "../../../../src/features/live-view/agent/read-selection.ts";
import { connectCdp } from "../../../../src/platform/cdp/cdp-connection.ts";
import { launchChromium } from "../../../support/plain-chromium.ts";

const fields = `data:text/html,<input id=text value="what is shown"><input id=password type=password value="what is hidden">
  <textarea id=area>some lines</textarea><div id=apart></div>
  <script>apart.attachShadow({ mode: "open" }).innerHTML = "<input id=inner type=password value=hidden-apart>";</script>`;

// VIEW-4
test("what is selected in a field can be copied, but for a password", async () => {
  const folder = await mkdtemp(join(tmpdir(), "read-selection-"));
  const browser = await launchChromium(folder);
  onTestFinished(async () => {
    await browser.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const page = await browser.newPage();
  await page.goto(fields);
  await using cdp = await connectCdp({ url: browser.wsEndpoint(), headers: {} }, AbortSignal.timeout(20_000));
  const targetId = await page.createCDPSession().then(async (session) => {
    const { targetInfo } = await session.send("Target.getTargetInfo");
    return targetInfo.targetId;
  });
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
  const selected = async (field: string): Promise<string> => {
    await page.evaluate(`{ const field = ${field}; field.focus(); field.select(); }`);
    return readSelection(cdp, sessionId);
  };
  expect(await selected("text")).toBe("what is shown");
  expect(await selected("area")).toBe("some lines");
  for (const field of ["password", "apart.shadowRoot.getElementById('inner')"])
    expect(await selected(field)).not.toMatch(/hidden/);
});
