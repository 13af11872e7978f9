/**
 * Settings in the profile of the full browser for what would otherwise ask a person, whom no client can stand in for:
 * the page takes no input until there is an answer (docs/prompts.md). A policy of the browser goes before them.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** `print()` returns at once, and a page is refused the picture of a screen. A client makes PDFs as before. */
const unasked = { printing: { enabled: false }, hardware: { screen_capture_enabled: false } };

type Section = Record<string, unknown>;

/** None for what is no object. */
const sectionOf = (value: unknown): Section =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Section) : {};

/** The settings that a loaded profile has; none where it has none that can be read, as Chromium does it. */
const presentIn = async (file: string): Promise<Section> => {
  try {
    return sectionOf(JSON.parse(await readFile(file, "utf8")));
  } catch {
    return {};
  }
};

/** Writes the settings into the profile that a Chromium is about to start with, and leaves its others as they are. */
export const writeFirstPreferences = async (profileDir: string): Promise<void> => {
  const folder = join(profileDir, "Default");
  const file = join(folder, "Preferences");
  const present = await presentIn(file);
  const printing = { ...sectionOf(present.printing), ...unasked.printing };
  const hardware = { ...sectionOf(present.hardware), ...unasked.hardware };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(file, JSON.stringify({ ...present, printing, hardware }), { mode: 0o600 });
};
