import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer from "puppeteer-core";
import { packProfile } from "../../src/features/profiles/archive/pack-profile.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { requiredProgram } from "../../src/local/required-program.ts";
import { startResourcesSite } from "./resources-site.ts";

/** Entries of a database in the profile, 10 kB each, and cookies: about what some weeks of work leave. */
const entries = 1000;
const cookies = 300;

/**
 * As text: the types of pages are not those of these files. Random bytes, since pages keep pictures, which can't be
 * compressed.
 */
const fillDatabase = `(async () => {
  const opened = indexedDB.open("database", 1);
  opened.onupgradeneeded = () => opened.result.createObjectStore("objects");
  await new Promise((resolve) => (opened.onsuccess = resolve));
  const write = opened.result.transaction("objects", "readwrite");
  for (let key = 0; key < ${entries}; key += 1)
    write.objectStore("objects").put(crypto.getRandomValues(new Uint8Array(10_000)), key);
  await new Promise((resolve) => (write.oncomplete = resolve));
})()`;

/** Makes a profile by a browser that stores about 10 MB, and returns its archive. */
export const makeProfile = async (signal: AbortSignal): Promise<Buffer> => {
  await using site = await startResourcesSite();
  const folder = await mkdtemp(join(tmpdir(), "bp-bench-profile-"));
  try {
    const browser = await puppeteer.launch({
      executablePath: requiredProgram(locatePrograms(process.env), "chromium"),
      userDataDir: folder,
      args: ["--password-store=basic", "--no-sandbox"],
    });
    const page = await browser.newPage();
    await page.goto(site.url);
    await page.evaluate(fillDatabase);
    const expires = Date.now() / 1000 + 86_400;
    const named = Array.from({ length: cookies }, (_, i) => ({ name: `cookie${i}`, value: "x".repeat(100), expires }));
    await browser.setCookie(...named.map((cookie) => ({ ...cookie, domain: "example.com", path: "/" })));
    await browser.close();
    const parts: Uint8Array[] = [];
    for await (const part of packProfile(folder, { signal })) parts.push(part);
    return Buffer.concat(parts);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
};
