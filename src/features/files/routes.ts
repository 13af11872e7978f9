import { z } from "zod";
import { browserCallRoute } from "../../core/api/browser-call-route.ts";
import { type Route, type ServerEvent, sessionStreamsWith } from "../../core/http/route.ts";
import type { AgentStreams } from "../../core/leases/agent/agent-stream.ts";
import { streamPath } from "../../core/protocol/session-stream.ts";
import type { CallBrowserDeps } from "../../core/sessions/call-browser.ts";
import { openSessionStream } from "../../core/sessions/open-session-stream.ts";
import { FileEvent } from "./agent/api.ts";
import {
  createDirectory,
  deleteDirectory,
  deleteFile,
  downloadZip,
  fileInfo,
  listFiles,
  moveFile,
  readFile,
  setPermissions,
  startWatch,
  stopWatch,
  uploadFiles,
  uploadZip,
  writeFile,
} from "./calls.ts";
import { endedFileInfo, endedFolder, endedList, endedRead } from "./ended-files.ts";

const defineSessionStream = sessionStreamsWith<CallBrowserDeps & { agentStreams: AgentStreams }>();

const serverEvents = async function* (lines: AsyncIterable<unknown>): AsyncGenerator<ServerEvent> {
  for await (const line of lines) yield { data: FileEvent.parse(line) };
};

const watchEvents = defineSessionStream(
  {
    name: "fs/watch/{watch_id}/events",
    operationId: "streamFileEvents",
    summary: "Stream the events of a watch",
    params: z.object({ watch_id: z.string().min(1).max(255) }),
    query: z.object({}),
    answers: { 200: { description: "What happens in the folder; ends with the watch", events: FileEvent } },
    errors: ["not_found", "unavailable"],
  },
  async (found, { params }, deps, signal) => {
    const path = streamPath("/watches/", { session: found.lease.session, id: params.watch_id ?? "" });
    return serverEvents(await openSessionStream(found, path, deps, signal));
  },
);

const readAfterEnd = "Also of a session that has ended, as long as the installation keeps its files.";

/** In the order of the documentation. */
export const fileRoutes = [
  browserCallRoute(
    listFiles,
    {
      operationId: "listFiles",
      summary: "List a folder of a session",
      ...{ description: readAfterEnd, answer: "Its entries, by name" },
    },
    endedList,
  ),
  browserCallRoute(
    fileInfo,
    {
      operationId: "getFileInfo",
      summary: "Describe a file of a session",
      ...{ description: readAfterEnd, answer: "The file or folder" },
    },
    endedFileInfo,
  ),
  browserCallRoute(
    readFile,
    { operationId: "readFile", summary: "Read a file of a session", description: readAfterEnd, answer: "Its bytes" },
    endedRead,
  ),
  browserCallRoute(
    downloadZip,
    {
      operationId: "downloadFolder",
      summary: "Download a folder of a session",
      ...{ description: readAfterEnd, answer: "A zip of the files in it; links are left out" },
    },
    endedFolder,
  ),
  browserCallRoute(writeFile, {
    operationId: "writeFile",
    summary: "Write a file of a session",
    description: "Folders on the way are made. A file that is there is replaced once the new one is whole.",
    answer: "It is written",
    errors: ["conflict", "forbidden"],
  }),
  browserCallRoute(uploadFiles, {
    operationId: "uploadFiles",
    summary: "Write several files of a session",
    description:
      "A form with the path of each file as `files[N][dest_path]`, and after it the file as `files[N][file]`. Files before one that is refused are there.",
    answer: "They are written",
    errors: ["conflict", "forbidden"],
  }),
  browserCallRoute(uploadZip, {
    operationId: "uploadZip",
    summary: "Unpack a zip into a folder of a session",
    description:
      "A form with the folder as `dest_path`, and after it the archive as `zip_file`. Links, paths that lead out, and names that a file system would take for one are refused by the entry's name.",
    answer: "It is unpacked; files that were there are replaced",
    errors: ["conflict", "forbidden"],
  }),
  browserCallRoute(createDirectory, {
    operationId: "createFolder",
    summary: "Make a folder of a session",
    answer: "It is there",
    errors: ["conflict", "forbidden"],
  }),
  browserCallRoute(moveFile, {
    operationId: "moveFile",
    summary: "Move a file of a session",
    answer: "It is moved",
    errors: ["conflict", "forbidden"],
  }),
  browserCallRoute(setPermissions, {
    operationId: "setFilePermissions",
    summary: "Set the permissions of a file of a session",
    answer: "They are set",
    errors: ["forbidden"],
  }),
  browserCallRoute(deleteFile, {
    operationId: "deleteFile",
    summary: "Delete a file of a session",
    answer: "It is gone",
    errors: ["forbidden"],
  }),
  browserCallRoute(deleteDirectory, {
    operationId: "deleteFolder",
    summary: "Delete a folder of a session",
    answer: "It is gone, with all that was in it",
    errors: ["conflict", "forbidden"],
  }),
  browserCallRoute(startWatch, {
    operationId: "startWatch",
    summary: "Watch a folder of a session",
    answer: "The id of the watch, which tells of what happens from now on",
    errors: ["conflict"],
  }),
  watchEvents,
  browserCallRoute(stopWatch, { operationId: "stopWatch", summary: "Stop a watch", answer: "It is stopped" }),
] satisfies readonly Route[];
