/** What a person does with a page of the console, and reads on it. */
import type { ElementHandle, Page } from "puppeteer-core";
import { expect } from "vitest";
import { axeFindings } from "../../support/axe-findings.ts";
import { eventually } from "../../support/eventually.ts";
import type { LocalProject } from "../../support/stack.ts";
import type { ViewBrowser } from "../../support/view-page.ts";
import { openConsole } from "./console-page.ts";

/** Goes to a view, and resolves when its heading is there. */
export const goTo = async (page: Page, path: string): Promise<void> => {
  const { origin } = new URL(page.url());
  await page.goto(`${origin}/console${path}`);
  await page.waitForSelector("main h1");
};

/** Goes to a view as a link of the console does, without loading the page again. */
export const follow = async (page: Page, address: string): Promise<void> => {
  await page.evaluate(`(() => {
    const link = document.createElement("a");
    link.href = ${JSON.stringify(`/console${address}`)};
    document.body.append(link);
    link.click();
    link.remove();
  })()`);
};

/** The element in front (in an open dialog, else on the page) that is one of these and has this name; null: none yet. */
const inFront = async (page: Page, tags: string, name: string): Promise<ElementHandle | null> => {
  const found = await page.evaluateHandle(`(() => {
    const nameOf = (each) => each.ariaLabel ?? (each.labels?.length ? [...each.labels].map(({ textContent }) => textContent).join(" ") : each.textContent);
    const place = document.querySelector("dialog[open]") ?? document.body;
    return [...place.querySelectorAll(${JSON.stringify(tags)})].find((each) => !each.disabled && each.checkVisibility() && nameOf(each).trim() === ${JSON.stringify(name)});
  })()`);
  return found.asElement() as ElementHandle | null;
};

const untilInFront = (page: Page, tags: string, name: string): Promise<ElementHandle> =>
  eventually(`there is ${name}`, async () => (await inFront(page, tags, name)) ?? undefined);

/** Presses the button or link with this name; in a dialog, where one is open. */
export const press = (page: Page, name: string): Promise<true> =>
  eventually(`${name} is pressed`, async () =>
    // A view that was just read anew has another button.
    (await inFront(page, "button, a", name))?.click().then(
      () => true as const,
      () => false as const,
    ),
  );

/** Types into the field with this label, in place of what it has. */
export const fill = async (page: Page, label: string, text: string): Promise<void> => {
  const field = await untilInFront(page, "input, select, textarea", label);
  if (await field.evaluate(({ tagName }) => tagName === "SELECT")) await field.select(text);
  else {
    await field.evaluate((element) => (element as unknown as { select(): void }).select());
    await field.press("Backspace");
    await field.type(text);
  }
};

/** Ticks or unticks what has this label. */
export const tick = async (page: Page, label: string): Promise<void> =>
  (await untilInFront(page, "input[type=checkbox]", label)).click();

/** Resolves when the page says this. */
export const untilSaid = (page: Page, text: string): Promise<true> =>
  eventually(`the page says ${text}`, async () => {
    const said = await page
      .$eval("body", (body) => (body as unknown as { innerText: string }).innerText)
      .catch(() => "");
    return said.includes(text);
  });

/** All that is on the page, in its address, in fields, and in what it keeps. */
export const allOf = async (page: Page): Promise<string> =>
  (await page.evaluate(`[
    location.href,
    document.documentElement.outerHTML,
    ...[...document.querySelectorAll("input, textarea")].map(({ value }) => value),
    JSON.stringify({ ...localStorage, ...sessionStorage, ...history.state }),
  ].join("\\n")`)) as string;

/** The names of the buttons of the page itself. */
export const buttonsOf = (page: Page): Promise<string[]> =>
  page.$$eval("main button, main a.button", (buttons) => buttons.map(({ textContent }) => textContent ?? ""));

/** The entries of the navigation. */
export const navigationOf = (page: Page): Promise<string[]> =>
  page.$$eval("nav a", (links) => links.map(({ textContent }) => textContent ?? ""));

/** Looks at the page as it is now, light and dark: nothing is found, and at 320 px nothing is beside the page. */
export const expectWell = async (page: Page, what: string): Promise<void> => {
  expect(await axeFindings(page), what).toEqual([]);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
  expect(await axeFindings(page, ["color-contrast"]), `${what}, dark`).toEqual([]);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  await page.setViewport({ width: 320, height: 640 });
  const widest = `Math.max(...[document.documentElement, document.querySelector("main"), ...document.querySelectorAll("dialog[open]")]
    .map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))`;
  expect(await page.evaluate(widest), `${what}: beside a page of 320 px`).toBeLessThanOrEqual(0);
  await page.setViewport({ width: 1280, height: 800 });
};

/** What a GET of the API answers with. */
export const readJson = async <T>({ call }: Pick<LocalProject, "call">, path: string): Promise<T> =>
  (await call("GET", path)).json() as Promise<T>;

/** Opens the console with a new key of the test's project that may do this, or of the organization. */
export const openAs = async (
  viewers: ViewBrowser,
  stack: LocalProject,
  { permissions, path }: { permissions: readonly string[]; path: string },
): Promise<{ page: Page; faults: string[] }> => {
  const project_id = permissions.includes("organization") ? null : stack.project;
  const answer = await stack.call("POST", "/org/api_keys", { name: "narrow", project_id, permissions });
  const { key } = (await answer.json()) as { key: string };
  return openConsole(viewers, { url: stack.url, key, path });
};
