/**
 * The choice of files for an `<input type=file>`, while there is a viewer who may answer. A client that intercepts
 * choosers gets each as well: when it has answered, viewers are not asked any more.
 */
import { appendFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { tell } from "../../../platform/cdp/commands.ts";
import type { Asks } from "./ask.ts";
import type { FileChooser } from "./events.ts";
import { framesOf } from "./frames-of.ts";
import { mostFileBytes, mostUploadedBytes } from "./messages.ts";

// Files that viewers give to a page: written into a folder of the browser, which goes with it.

type Upload = {
  /** A further part of a file, by the file's place among them. */
  add(part: { file: number; name: string; data: string }): void;
  /** The paths, when all is written. Rejects when that failed, or the files are too large. */
  finish(): Promise<string[]>;
  /** Removes what was written. */
  drop(): void;
};

export type Uploads = { begin(): Upload };

/** A name that leads to no other folder. */
const safeName = (name: string): string => {
  const plain = [...name].map((char) => (/[/\\]/.test(char) || char < " " ? "_" : char)).join("");
  return /^\.*$/.test(plain)
    ? "file"
    : Buffer.from(plain)
        .subarray(0, 200)
        .toString()
        .replace(/\uFFFD+$/, "");
};

/** `dir`: made when the first file comes. */
export const createUploads = (dir: string): Uploads => {
  let total = 0;
  return {
    begin() {
      const paths = new Map<number, string>();
      let bytes = 0;
      let folder: Promise<string> | undefined;
      let written: Promise<unknown> = Promise.resolve();
      const open = async (): Promise<string> => {
        await mkdir(dir, { recursive: true, mode: 0o700 });
        return mkdtemp(join(dir, "files-"));
      };
      const write = async (into: Promise<string>, file: number, name: string, data: Buffer): Promise<void> => {
        const place = join(await into, String(file));
        await mkdir(place, { recursive: true, mode: 0o700 });
        const path = paths.get(file) ?? join(place, safeName(name));
        paths.set(file, path);
        await appendFile(path, data, { mode: 0o600 });
      };
      const drop = (): void => {
        total -= bytes;
        bytes = 0;
        const removed = written
          .catch(() => undefined)
          .then(async () => folder && rm(await folder, { recursive: true, force: true }));
        removed.catch(() => undefined);
      };
      return {
        add({ file, name, data }) {
          const part = Buffer.from(data, "base64");
          bytes += part.length;
          total += part.length;
          if (bytes > mostFileBytes || total > mostUploadedBytes) {
            written = Promise.reject(new Error("the files are too large"));
          } else {
            folder ??= open();
            const into = folder;
            written = written.then(() => write(into, file, name, part));
          }
          written.catch(() => undefined);
        },
        async finish() {
          await written;
          return [...paths.entries()].sort(([one], [other]) => one - other).map(([, path]) => path);
        },
        drop,
      };
    },
  };
};

const timeoutMs = 5000;

/** Time that a client has before viewers are asked, and between two looks whether it has answered since, ms. */
const clientMs = 500;

/** Run in a world of its own. */
const readField = `function () { return { files: [...this.files].map(({ name }) => name).join("/"), accept: this.accept.slice(0, 500) }; }`;

export type FileChoosers = {
  /** Whether choosers are taken from the browser. */
  setActive(isActive: boolean): void;
  onOpened(event: FileChooser): void;
};

/** Not active yet. */
export const watchFileChoosers = (
  cdp: CdpConnection,
  { sessionId, asks, uploads }: { sessionId: string; asks: Asks; uploads: Uploads },
): FileChoosers => {
  const call = { sessionId, timeoutMs };

  const openField = async ({ frameId, backendNodeId }: { frameId: string; backendNodeId: number }) => {
    const world = { frameId, worldName: "browserpool" };
    const { executionContextId } = await cdp.send("Page.createIsolatedWorld", world, call);
    const { object } = await cdp.send("DOM.resolveNode", { backendNodeId, executionContextId }, call);
    const functionCall = { functionDeclaration: readField, objectId: object.objectId, returnByValue: true } as never;
    return async (): Promise<{ files: string; accept: string }> =>
      (await cdp.send("Runtime.callFunctionOn", functionCall, call)).result.value;
  };

  const offer = async ({ frameId, mode, backendNodeId }: FileChooser): Promise<void> => {
    // A page that asks for a file by a script gets an error from Chromium: there is no field to give it to.
    if (backendNodeId === undefined) return;
    const read = await openField({ frameId, backendNodeId });
    const before = await read();
    await sleep(clientMs);
    const isAnswered = async (): Promise<boolean> => (await read()).files !== before.files;
    if (await isAnswered()) return;
    const site = (await framesOf(cdp, call)).find(({ id }) => id === frameId)?.origin ?? "";
    const upload = uploads.begin();
    let isOver = false;
    const finish = async (): Promise<void> => {
      try {
        const files = await upload.finish();
        await cdp.send("DOM.setFileInputFiles", { files, backendNodeId }, call);
      } catch {
        upload.drop();
      }
    };
    const close = asks.put(
      { kind: "files", site, multiple: mode === "selectMultiple", accept: before.accept },
      {
        answer(message) {
          if (message.type !== "file") return;
          upload.add(message);
          isOver = message.is_last;
          if (isOver) void finish();
        },
        cancel() {
          isOver = true;
          upload.drop();
        },
      },
    );
    while (!isOver) {
      await sleep(clientMs);
      if (isOver || !(await isAnswered().catch(() => true))) continue;
      isOver = true;
      upload.drop();
      close();
    }
  };
  return {
    setActive: (enabled) => tell(cdp.send("Page.setInterceptFileChooserDialog", { enabled }, call)),
    onOpened: (event) => tell(offer(event)),
  };
};
