import { stripTypeScriptTypes } from "node:module";
import { constants, Script } from "node:vm";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { mostResultChars } from "../agent/executor-orders.ts";
import { codeFile } from "./describe-error.ts";

/** What code is given. */
type Given = { page: Page; context: BrowserContext; browser: Browser };

const head = "(async (page, context, browser) => {";

/** The code as a function. Types become blanks, so every place in it stays where it was. */
const compile = (code: string): ((...given: unknown[]) => Promise<unknown>) => {
  const stripped = stripTypeScriptTypes(`${head}${code}\n})`);
  const script = new Script(stripped, {
    filename: codeFile,
    columnOffset: -head.length,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  return script.runInThisContext() as ReturnType<typeof compile>;
};

const toJson = (value: unknown): string | undefined => {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new TypeError(`what the code returned can't be sent as JSON: ${why}`, { cause });
  }
  if (json !== undefined && json.length > mostResultChars)
    throw new RangeError(
      `what the code returned is ${json.length} characters of JSON; ${mostResultChars} are the most`,
    );
  return json;
};

/** Runs TypeScript as the body of a function. Resolves with the JSON of what it returns, if anything. */
export const runFunction = async (code: string, { page, context, browser }: Given): Promise<string | undefined> =>
  toJson(await compile(code)(page, context, browser));
