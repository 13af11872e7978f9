import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeFirstPreferences } from "./first-preferences.ts";

// BROWSER-30
test.each([
  ["a new profile", undefined, {}],
  ["a file that is no JSON", "{", {}],
  ["another form", '{"printing":[1],"other":{"a":1}}', { other: { a: 1 } }],
  ["settings of its own", '{"printing":{"enabled":true,"x":1},"y":2}', { printing: { x: 1 }, y: 2 }],
])("%s gets the settings that ask nobody, and keeps its others", async (_what, before, kept) => {
  const profile = await mkdtemp(join(tmpdir(), "preferences-"));
  try {
    const file = join(profile, "Default", "Preferences");
    await mkdir(join(profile, "Default"));
    if (before !== undefined) await writeFile(file, before);
    await writeFirstPreferences(profile);
    const written = JSON.parse(await readFile(file, "utf8"));
    expect(written).toMatchObject(kept);
    expect(written.printing.enabled).toBe(false);
    expect(written.hardware.screen_capture_enabled).toBe(false);
  } finally {
    await rm(profile, { recursive: true });
  }
});
