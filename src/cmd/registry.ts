/** `browserpool registry export|import`: what the config registry knows, as JSON lines. It talks to the Kubernetes API, as kubectl does. */
import { createReadStream, createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { exportSites, importSites, originOf } from "../features/sites/transfer.ts";
import { connectKube } from "../platform/kube/client.ts";

/** Objects between two lines about the progress of an import. */
const sayEvery = 32;

/** Deadline of one call, ms: the largest object has half a megabyte. */
const requestTimeoutMs = 30_000;

type RegistryOptions = {
  verb: "export" | "import";
  /** Undefined: standard output or input. */
  file: string | undefined;
  systemNamespace: string;
  /** Gets what is for people, a line each. */
  say: (line: string) => void;
};

/** Exports or imports. Throws an Error that says what is wrong with the input, or with the cluster. */
export const runRegistry = async (
  { verb, file, systemNamespace, say }: RegistryOptions,
  signal: AbortSignal,
): Promise<void> => {
  const kube = connectKube({ requestTimeoutMs });
  try {
    const origin = await originOf(kube, systemNamespace);
    if (verb === "export") {
      let sites = 0;
      const lines = async function* (): AsyncIterable<string> {
        for await (const line of exportSites(kube, origin)) {
          sites += 1;
          yield `${line}\n`;
        }
      };
      await pipeline(Readable.from(lines()), file === undefined ? process.stdout : createWriteStream(file), {
        signal,
        end: file !== undefined,
      });
      say(`exported ${sites} sites`);
      return;
    }
    const input = file === undefined ? process.stdin : createReadStream(file);
    // An error of the file is no error of the reader of its lines.
    const failed = Promise.withResolvers<never>();
    input.once("error", failed.reject);
    const onProgress = (done: number, all: number): void => {
      if (done % sayEvery === 0 && done < all) say(`wrote ${done} of ${all} objects`);
    };
    const imported = importSites(createInterface({ input, signal }), { kube, origin, onProgress }, signal);
    const { sites, left } = await Promise.race([imported, failed.promise]);
    say(`imported ${sites} sites${left > 0 ? `; ${left} others left, since their objects are full` : ""}`);
  } finally {
    await kube.close();
  }
};
