import type { IncomingMessage } from "node:http";
import type { BusboyFileStream } from "@fastify/busboy";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import { pairsOf, readForm } from "../../../core/agent/read-form.ts";
import { unpackZip } from "./unpack-zip.ts";
import { modeOf, type WriteDeps, writeWhole } from "./write-file.ts";

/** Most files of one form. */
const mostFiles = 1000;

const usualMode = modeOf(undefined, 0o644);

/**
 * Writes each file of a form to its path, one after the other: those before one that is refused are there. Throws a
 * `CallRefused`.
 */
export const receiveFiles = async (request: IncomingMessage, deps: WriteDeps, signal: AbortSignal): Promise<void> => {
  const paths = pairsOf({ list: "files", text: "dest_path", file: "file" });
  const write = async (field: string, stream: BusboyFileStream): Promise<void> => {
    const names = deps.folder.namesOf(paths.take(field), "dest_path");
    await writeWhole({ names, mode: usualMode }, stream, deps, signal);
  };
  await readForm(request, { list: "files", mostFiles, field: paths.note, file: write }, signal);
};

/** Unpacks the file `zip_file` of a form into the folder `dest_path`, which comes before it. Throws a `CallRefused`. */
export const receiveZip = async (request: IncomingMessage, deps: WriteDeps, signal: AbortSignal): Promise<void> => {
  let destination: string | undefined;
  await readForm(
    request,
    {
      ...{ list: "zip_file", mostFiles },
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
