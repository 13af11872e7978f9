import type { Browser, CDPSession, Page } from "puppeteer-core";
import { ownAddress } from "../../../../support/wall/machine.ts";
import type { PagesSite } from "../../../../support/wall/pages-site.ts";

/** What an attempt has at hand. */
export type Attempt = {
  /** Its own word in paths and host names. */
  id: string;
  browser: Browser;
  /** A page that shows the allowed site. */
  page: Page;
  cdp: CDPSession;
  site: PagesSite;
  /** For files, of all attempts in this browser: it is removed when the browser has ended. */
  folder: string;
  /** The forbidden address: of this attempt, with this extension (`js`, `css`, `txt`). */
  url(extension?: string): string;
  /** Ports of servers that count all that comes there as this attempt. */
  tcp: number;
  udp: number;
  /** The port of the forbidden web server. */
  port: number;
};

/**
 * One way to get out. `behind`: the wall that it is tried behind: one whose rules allow the allowed site alone
 * (`rules`), or one without rules, which keeps from loopback all the same (`open`). `control`: where it succeeds:
 * without rules, or without a wall (`plain`).
 */
export type Row = {
  what: string;
  behind: "rules" | "open";
  control: "open" | "plain";
  /** The forbidden address, for `url`; left out, the machine's own. */
  host?: string;
  run(attempt: Attempt): Promise<unknown>;
};

const json = JSON.stringify;

/** A row behind rules. */
export const byRules = (what: string, run: Row["run"], control: Row["control"] = "open"): Row => ({
  what,
  behind: "rules",
  control,
  host: ownAddress,
  run,
});

/** A row that shows this HTML on the allowed site. */
export const byHtml = (
  what: string,
  html: (attempt: Attempt) => string,
  headers: Record<string, string> = {},
  control?: Row["control"],
): Row => byRules(what, (attempt) => attempt.page.goto(attempt.site.page(html(attempt), headers)), control);

/** A row that runs this expression in a page of the allowed site. `%u`: the forbidden URL as a string. */
export const byScript = (what: string, script: string, extension?: string): Row =>
  byRules(what, ({ page, url }) => page.evaluate(script.replaceAll("%u", () => json(url(extension)))));
