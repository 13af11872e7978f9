/** Reads a form with files, as it comes, for a call of a holder. */
import type { IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import { bodyOf } from "../../platform/net/body-of.ts";
import { CallRefused } from "./call-routes.ts";

/** Longest field, bytes. */
const fieldSize = 4096;

/** `list[3][file]` → list[3] and file. */
const partsOf = (list: string, field: string): { entry: string; name: string } | undefined => {
  const [, start, index, dotted, bracketed] = /^(\w+)\[(\d*)\](?:\.(\w+)|\[(\w+)\])$/.exec(field) ?? [];
  const name = dotted ?? bracketed;
  return start === list && name !== undefined ? { entry: index ?? "", name } : undefined;
};

/**
 * Which text belongs to which file, in a list of both as the public clients send it: `files[0][dest_path]` and after it
 * `files[0][file]`. Without numbers in the names they belong together in order.
 */
export const pairsOf = ({ list, text, file }: { list: string; text: string; file: string }) => {
  const numbered = new Map<string, string>();
  const inOrder: string[] = [];
  return {
    note(field: string, value: string): void {
      const parts = partsOf(list, field);
      if (parts?.name !== text) return;
      if (parts.entry === "") inOrder.push(value);
      else numbered.set(parts.entry, value);
    },
    /** The text of a file whose bytes come now. Throws a `CallRefused`. */
    take(field: string): string {
      const parts = partsOf(list, field);
      const value = parts?.entry === "" ? inOrder.shift() : numbered.get(parts?.entry ?? "");
      if (parts?.name !== file || value === undefined)
        throw new CallRefused(
          "bad_request",
          `${list}: give each as ${list}[N][${file}], after its ${list}[N][${text}]`,
        );
      return value;
    },
  };
};

const parserOf = ({ headers }: IncomingMessage, mostFiles: number) => {
  try {
    const limits = { files: mostFiles, fields: 2 * mostFiles, fieldSize, headerPairs: 20, headerSize: 8192 };
    return Busboy({ headers: { ...headers, "content-type": headers["content-type"] ?? "" }, limits });
  } catch (cause) {
    throw new CallRefused("bad_request", "body: send it as multipart/form-data, with a boundary", { cause });
  }
};

const refusalOf = (error: unknown, signal: AbortSignal): unknown => {
  if (signal.aborted) return signal.reason;
  if (error instanceof CallRefused) return error;
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? new CallRefused("bad_request", "body: it is no whole form", { cause: error }) : error;
};

/** Takes what is in a form. `list`: the name of its files. What `file` throws ends it. */
type FormSink = {
  list: string;
  mostFiles: number;
  field(name: string, value: string): void;
  file(field: string, stream: BusboyFileStream): Promise<void>;
};

/** Its files come one after the other. Throws a `CallRefused`, what the sink throws, and the reason of the signal. */
export const readForm = async (request: IncomingMessage, sink: FormSink, signal: AbortSignal): Promise<void> => {
  const { list, mostFiles } = sink;
  const parser = parserOf(request, mostFiles);
  let writing: Promise<void> = Promise.resolve();
  let files = 0;
  parser.on("field", (name, value, _nameCut, valueCut) => {
    if (valueCut) parser.destroy(new CallRefused("bad_request", `body: a field has ${fieldSize} bytes at most`));
    else sink.field(name, value);
  });
  parser.on("file", (field, stream) => {
    files += 1;
    const mine = sink.file(field, stream);
    writing = Promise.all([writing, mine]).then(() => undefined);
    writing.catch((error: Error) => parser.destroy(error));
  });
  for (const event of ["filesLimit", "fieldsLimit", "partsLimit"] as const)
    parser.on(event, () => parser.destroy(new CallRefused("bad_request", `${list}: give ${mostFiles} files at most`)));
  try {
    await pipeline(bodyOf(request), parser, { signal });
    await writing;
  } catch (error) {
    await writing.catch(() => undefined);
    throw refusalOf(error, signal);
  }
  if (files === 0) throw new CallRefused("bad_request", `${list}: the form has none`);
};
