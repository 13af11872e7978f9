/** The calls on a session's files, made as its agent makes them, in a folder of this test. */

import { mkdir, mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createSessionFiles } from "../../../../src/features/files/agent/session-files.ts";

type Asked = { query?: object; body?: object; bytes?: Uint8Array | Readable; type?: string; param?: string };

export type HeldFiles = AsyncDisposable & {
  /** The folder that the browser sees as /tmp. */
  folder: string;
  /** The folder beside it, which nobody may reach. */
  outside: string;
  /** Resolves with what is answered: a value, or bytes. Rejects as the agent refuses. */
  call(name: string, asked?: Asked): Promise<unknown>;
  files: ReturnType<typeof createSessionFiles>;
};

export const holdFiles = async (): Promise<HeldFiles> => {
  const base = await mkdtemp(join(tmpdir(), "files-"));
  const [folder, outside, dataDir] = [join(base, "tmp"), join(base, "outside"), join(base, "data")];
  for (const one of [folder, outside, dataDir]) await mkdir(one);
  const files = createSessionFiles({ filesDir: folder, dataDir }, { bytes: 1000, files: 20 });
  const { signal } = new AbortController();
  return {
    folder,
    outside,
    files,
    async call(name, { query, body, bytes = new Uint8Array(), type, param = "" } = {}) {
      const handler = files.handlers.find(({ contract }) => contract.name === `fs/${name}`);
      if (!handler) throw new Error(`no call ${name}`);
      const request = bytes instanceof Readable ? bytes : Readable.from([Buffer.from(bytes)]);
      Object.assign(request, { headers: { "content-type": type }, complete: !(bytes instanceof Readable) });
      const input = { query, body, param, signal, request: request as IncomingMessage };
      const answer = await handler.handle(input);
      return "bytes" in answer ? await buffer(answer.bytes as AsyncIterable<Uint8Array>) : answer.value;
    },
    async [Symbol.asyncDispose]() {
      files.end();
      await rm(base, { recursive: true, force: true });
    },
  };
};
