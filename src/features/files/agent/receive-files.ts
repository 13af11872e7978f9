/**
 * A form with files, each with the path where it belongs: `files[0][dest_path]` and `files[0][file]`, as the public
 * clients send it. The paths come before the files; without numbers in the names they belong together in order.
 */
import type { IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import { bodyOf } from "../../../platform/net/body-of.ts";
import { unpackZip } from "./unpack-zip.ts";
import { modeOf, type WriteDeps, writeWhole } from "./write-file.ts";

/** Most files of one form. */
const mostFiles = 1000;

/** Longest path, as a field, bytes. */
const fieldSize = 4096;

const usualMode = modeOf(undefined, 0o644);

/** `files[3][file]` → files[3] and file. */
const partsOf = (field: string): { entry: string; name: string } | undefined => {
  const [, entry, dotted, bracketed] = /^(files\[\d*\])(?:\.(\w+)|\[(\w+)\])$/.exec(field) ?? [];
  const name = dotted ?? bracketed;
  return entry !== undefined && name !== undefined ? { entry, name } : undefined;
};

/** Which path belongs to which file. */
const createPaths = () => {
  const numbered = new Map<string, string>();
  const inOrder: string[] = [];
  return {
    note(field: string, value: string): void {
      const parts = partsOf(field);
      if (parts?.name !== "dest_path") return;
      if (parts.entry === "files[]") inOrder.push(value);
      else numbered.set(parts.entry, value);
    },
    /** The path of a file whose bytes come now. */
    take(field: string): string {
      const parts = partsOf(field);
      const path = parts?.entry === "files[]" ? inOrder.shift() : numbered.get(parts?.entry ?? "");
      if (parts?.name !== "file" || path === undefined)
        throw new CallRefused("bad_request", "give each file as files[N][file], after its path as files[N][dest_path]");
      return path;
    },
  };
};

const parserOf = ({ headers }: IncomingMessage) => {
  try {
    const limits = { files: mostFiles, fields: 2 * mostFiles, fieldSize, headerPairs: 20, headerSize: 8192 };
    return Busboy({ headers: { ...headers, "content-type": headers["content-type"] ?? "" }, limits });
  } catch (cause) {
    throw new CallRefused("bad_request", "send the body as multipart/form-data, with a boundary", { cause });
  }
};

const refusalOf = (error: unknown, signal: AbortSignal): unknown => {
  if (signal.aborted) return signal.reason;
  if (error instanceof CallRefused) return error;
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? new CallRefused("bad_request", "the body is no whole form", { cause: error }) : error;
};

type FormSink = {
  field(name: string, value: string): void;
  file(field: string, stream: BusboyFileStream): Promise<void>;
};

/** Reads a form; its files one after the other. Throws a `CallRefused`. */
const readForm = async (request: IncomingMessage, sink: FormSink, signal: AbortSignal): Promise<void> => {
  const parser = parserOf(request);
  let writing: Promise<void> = Promise.resolve();
  let files = 0;
  parser.on("field", (name, value, _nameCut, valueCut) => {
    if (valueCut) parser.destroy(new CallRefused("bad_request", `a path has ${fieldSize} bytes at most`));
    else sink.field(name, value);
  });
  parser.on("file", (field, stream) => {
    files += 1;
    const mine = sink.file(field, stream);
    writing = Promise.all([writing, mine]).then(() => undefined);
    writing.catch((error: Error) => parser.destroy(error));
  });
  for (const event of ["filesLimit", "fieldsLimit", "partsLimit"] as const)
    parser.on(event, () => parser.destroy(new CallRefused("bad_request", `give ${mostFiles} files at most`)));
  try {
    await pipeline(bodyOf(request), parser, { signal });
    await writing;
  } catch (error) {
    await writing.catch(() => undefined);
    throw refusalOf(error, signal);
  }
  if (files === 0) throw new CallRefused("bad_request", "the form has no file");
};

/**
 * Writes each file of a form to its path, one after the other: those before one that is refused are there. Throws a
 * `CallRefused`.
 */
export const receiveFiles = async (request: IncomingMessage, deps: WriteDeps, signal: AbortSignal): Promise<void> => {
  const paths = createPaths();
  const write = async (field: string, stream: BusboyFileStream): Promise<void> => {
    const names = deps.folder.namesOf(paths.take(field), "dest_path");
    await writeWhole({ names, mode: usualMode }, stream, deps, signal);
  };
  await readForm(request, { field: paths.note, file: write }, signal);
};

/** Unpacks the file `zip_file` of a form into the folder `dest_path`, which comes before it. Throws a `CallRefused`. */
export const receiveZip = async (request: IncomingMessage, deps: WriteDeps, signal: AbortSignal): Promise<void> => {
  let destination: string | undefined;
  await readForm(
    request,
    {
      field(name, value) {
        if (name === "dest_path") destination = value;
      },
      async file(field, stream) {
        if (field !== "zip_file" || destination === undefined)
          throw new CallRefused("bad_request", "give the folder as dest_path, and after it the archive as zip_file");
        await unpackZip(stream, deps.folder.namesOf(destination, "dest_path"), deps, signal);
      },
    },
    signal,
  );
};
