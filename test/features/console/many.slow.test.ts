/** The console with many pools and sessions, which are in Kubernetes and Redis alone: few of them are drawn. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { axeFindings } from "../../support/axe-findings.ts";
import { eventually } from "../../support/eventually.ts";
import { forAll } from "../../support/for-all.ts";
import { type LeaseParts, startLeaseParts } from "../../support/lease-parts.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import { startVaultParts, type VaultParts } from "../vaults/vault-parts.ts";
import { fill } from "./console-actions.ts";
import { openWindows, untilText } from "./console-page.ts";

const pools = 500;
const sessions = 10_000;

let api: VaultParts;
let leases: LeaseParts;
let viewers: ViewBrowser;
const windows = openWindows();

/** Does `work` with each number below `count`. */
const forEach = (count: number, work: (index: number) => Promise<void>) => forAll([...Array(count).keys()], 50, work);

beforeAll(async () => {
  api = await startVaultParts({ settings: { BROWSERPOOL_CONSOLE: "loopback" } });
  leases = await startLeaseParts();
  viewers = await startViewBrowser();
  const { kube, namespace, projectId: project } = api;
  const uids: string[] = [];
  await forEach(pools, async (index) => {
    const metadata = { namespace, name: `pool-${index}` };
    const made = await kube.create(browserPoolKind, { metadata, spec: { size: 1, fillRatePerMinute: 0 } as never });
    uids[index] = made.metadata.uid ?? "";
  });
  await forEach(sessions, async (index) => {
    const uid = uids[index % pools] ?? "";
    await leases.addBrowser(uid);
    const pool = { id: `pool-${index % pools}`, uid };
    const request = { timeout_seconds: 600, max_session_seconds: 3600, pool, project, name: `session-${index}` };
    await leases.store.take(uid, { session: newId(), channel: "none", request: JSON.stringify(request) });
  });
}, 180_000);
afterAll(async () => {
  await windows.close();
  await viewers?.[Symbol.asyncDispose]();
  await leases?.[Symbol.asyncDispose]();
  await api?.[Symbol.asyncDispose]();
});

const open = (path: string) => windows.open(viewers, { url: api.client().baseURL, key: api.apiKey, path });

test.each([
  { path: "/pools", count: pools, search: "Name of a pool", last: `pool-${pools - 1}` },
  { path: "/sessions", count: sessions, search: "Name, id, pool, or tag=value", last: `session-${sessions - 1}` },
])(
  "$count rows of $path",
  async ({ path, count, search, last }) => {
    const page = await open(path);
    await page.waitForFunction(`document.querySelector("main table")?.ariaRowCount === "${count + 1}"`, {
      timeout: 60_000,
    });
    const drawn = async (): Promise<number> => page.$$eval("main tbody tr", (rows) => rows.length);
    expect(await drawn()).toBeLessThan(80);
    expect(await axeFindings(page)).toEqual([]);
    await page.focus('tr[data-index="0"] a');
    const untilFocus = (index: number) =>
      eventually(`row ${index} has the focus`, async () => {
        const at = await page.evaluate("document.activeElement?.closest('tr')?.dataset.index");
        return at === String(index);
      });
    await page.keyboard.press("End");
    await untilFocus(count - 1);
    expect(await drawn()).toBeLessThan(80);
    await page.keyboard.press("PageUp");
    await untilFocus(count - 11);
    await page.keyboard.press("Home");
    await untilFocus(0);
    await fill(page, search, last);
    await untilText(page, new RegExp(`${last}\\s`));
    await page.waitForFunction(`document.querySelector("main table")?.ariaRowCount === "2"`);
  },
  120_000,
);
