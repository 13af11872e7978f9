/** The global `repl` of code in a REPL. */
import { inspect } from "node:util";
import { mostImageChars, mostImages } from "../agent/executor-orders.ts";
import { sendFor, tellDropped, write } from "./outlet.ts";

const help: Readonly<Record<string, string>> = {
  page: "page, context, browser: Playwright's, of the tab in front when this call began",
  write: "repl.write(...values): adds text to the answer; what is no string is shown as by console.log",
  emitImage: "repl.emitImage(bytes): adds a PNG, JPEG or WebP to the answer, such as await page.screenshot()",
  help: 'repl.help("name"): what a name is for',
};

const starts = [
  ["image/png", "89504e47"],
  ["image/jpeg", "ffd8ff"],
  ["image/webp", "52494646"],
] as const;

let images = 0;

/** A call begins. */
export const beginReplCall = (): void => {
  images = 0;
};

const emitImage = (image: unknown): void => {
  if (!(image instanceof Uint8Array))
    throw new TypeError("repl.emitImage takes bytes, such as page.screenshot() gives");
  const bytes = Buffer.from(image);
  const start = bytes.toString("hex", 0, 4);
  const mime_type = starts.find(([, first]) => start.startsWith(first))?.[0];
  if (!mime_type) throw new TypeError("repl.emitImage takes PNG, JPEG and WebP");
  const data_b64 = bytes.toString("base64");
  if (data_b64.length > mostImageChars || images >= mostImages) {
    tellDropped();
    return;
  }
  images += 1;
  sendFor({ is: "image", mime_type, data_b64 });
};

/** What code finds as `repl`. */
export const replSurface = Object.freeze({
  write: (...values: unknown[]): void =>
    write("write", values.map((value) => (typeof value === "string" ? value : inspect(value))).join(" ")),
  emitImage,
  help: (name?: string): string => {
    const text = name === undefined ? Object.values(help).join("\n") : (help[name] ?? `there is no ${name}`);
    write("write", `${text}\n`);
    return text;
  },
});
