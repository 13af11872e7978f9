/** The files of the session that holds the browser: the calls on them, and their end with the lease. */
import { chmod, rename, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { AgentConfig } from "../../../core/agent/agent-config.ts";
import { type CallBytes, type CallHandler, CallRefused, callHandler } from "../../../core/agent/call-routes.ts";
import { agentsEntries } from "../../../core/agent/files-dir.ts";
import type { LeaseFollower } from "../../../core/agent/lease-keeper.ts";
import { bodyOf } from "../../../platform/net/body-of.ts";
import {
  createDirectory,
  deleteDirectory,
  deleteFile,
  downloadZip,
  fileInfo,
  listFiles,
  mostUploadBytes,
  moveFile,
  readFile,
  setPermissions,
  startWatch,
  stopWatch,
  uploadFiles,
  uploadZip,
  writeFile,
} from "../calls.ts";
import { infoOf, listFolder } from "./file-info.ts";
import { createLeftFiles, type LeftFiles } from "./left-files.ts";
import { refuseBy } from "./refuse.ts";
import { emptyFolder } from "./remove-tree.ts";
import { createRoom, type RoomLimits } from "./room.ts";
import { createSessionFolder, look, openFile, openItself } from "./session-folder.ts";
import { createWatches, type Watches } from "./watches.ts";
import { modeOf, type WriteDeps, writeWhole } from "./write-file.ts";

/** Most that a session has, downloads included, when its holder writes something. */
const mostFiles: RoomLimits = { bytes: mostUploadBytes, files: 50_000 };

/**
 * Goes along with a lease: its watches end with it. The files themselves go with the browser, or before it is kept;
 * what is to be stored of them is in `left`.
 */
type SessionFiles = LeaseFollower & {
  handlers: readonly CallHandler[];
  watches: Watches;
  leftFiles: LeftFiles;
};

const following = (watches: Pick<Watches, "end">, leftFiles: LeftFiles): LeaseFollower => {
  let copied: Promise<void> | undefined;
  return {
    begin(lease) {
      if (lease.keep_files) leftFiles.begin(lease.session_id);
    },
    end() {
      watches.end();
      copied = leftFiles.end();
    },
    left: () => copied,
  };
};

/** The folder exists. */
export const createSessionFiles = (
  { filesDir, dataDir }: Pick<AgentConfig, "filesDir" | "dataDir">,
  limits: RoomLimits = mostFiles,
): SessionFiles => {
  const folder = createSessionFolder(filesDir, agentsEntries({ dataDir }));
  const writing: WriteDeps = { folder, room: createRoom(folder, limits), partsDir: join(dataDir, "uploads") };
  const watches = createWatches(filesDir, folder);
  const leftFiles = createLeftFiles(folder, dataDir);

  /** Runs a call of the system on an entry. */
  const onEntry = async (path: string, field: string, work: (at: string) => Promise<unknown>): Promise<object> => {
    await using place = await folder.place(folder.namesOf(path, field));
    try {
      await work(place.at);
    } catch (error) {
      throw refuseBy(error, place.path);
    }
    return {};
  };

  const read = async (path: string): Promise<CallBytes> => {
    await using place = await folder.place(folder.namesOf(path, "path"));
    const file = await openFile(place);
    const { size } = await file.stat();
    // What is added while it is read is not sent: its length was told.
    const bytes = size === 0 ? undefined : file.createReadStream({ end: size - 1 });
    if (!bytes) await file.close();
    return { bytes: bytes ?? [], length: size };
  };

  /** A link has no permissions of its own, and is not followed. */
  const setMode = async (at: string, mode: number): Promise<void> => {
    await using entry = await openItself(at);
    if ((await entry.stat()).isSymbolicLink()) throw Object.assign(new Error("a link"), { code: "ELOOP" });
    await chmod(`/proc/self/fd/${entry.fd}`, mode);
  };

  const handlers = [
    callHandler(readFile, ({ query }) => read(query.path)),
    callHandler(downloadZip, async ({ query, signal }) => {
      const { zipFolder } = await import("./zip-folder.ts");
      return { bytes: await zipFolder(folder, folder.namesOf(query.path, "path"), signal), length: undefined };
    }),
    callHandler(listFiles, async ({ query }) => {
      await using listed = await folder.open(folder.namesOf(query.path, "path"));
      return { value: await listFolder(listed) };
    }),
    callHandler(fileInfo, async ({ query }) => {
      const names = folder.namesOf(query.path, "path");
      if (names.length === 0) {
        await using top = await folder.open([]);
        return { value: infoOf([], await look({ ...top, at: `${top.at}/.` })) };
      }
      await using place = await folder.place(names);
      return { value: infoOf(names, await look(place)) };
    }),
    callHandler(writeFile, async ({ query, request, signal }) => {
      const file = { names: folder.namesOf(query.path, "path"), mode: modeOf(query.mode, 0o644) };
      await writeWhole(file, bodyOf(request), writing, signal);
      return {};
    }),
    callHandler(uploadFiles, async ({ request, signal }) => {
      const { receiveFiles } = await import("./receive-files.ts");
      await receiveFiles(request, writing, signal);
      return {};
    }),
    callHandler(uploadZip, async ({ request, signal }) => {
      const { receiveZip } = await import("./receive-files.ts");
      await receiveZip(request, writing, signal);
      return {};
    }),
    callHandler(createDirectory, async ({ body }) => {
      await using made = await folder.open(folder.namesOf(body.path, "path"), { make: true });
      if (body.mode !== undefined && made.names.length > 0) await chmod(made.at, modeOf(body.mode, 0o755));
      return {};
    }),
    callHandler(deleteDirectory, async ({ body, signal }) => {
      const names = folder.namesOf(body.path, "path");
      await emptyFolder(folder, names, signal);
      return names.length === 0 ? {} : onEntry(body.path, "path", rmdir);
    }),
    callHandler(deleteFile, ({ body }) => onEntry(body.path, "path", unlink)),
    callHandler(setPermissions, ({ body }) =>
      onEntry(body.path, "path", (at) => setMode(at, modeOf(body.mode, 0o644))),
    ),
    callHandler(moveFile, async ({ body }) => {
      await using to = await folder.place(folder.namesOf(body.dest_path, "dest_path"), { make: true });
      return await onEntry(body.src_path, "src_path", (from) => rename(from, to.at));
    }),
    callHandler(startWatch, async ({ body }) => ({
      value: {
        watch_id: await watches.start({ names: folder.namesOf(body.path, "path"), recursive: body.recursive ?? false }),
      },
    })),
    callHandler(stopWatch, async ({ param }) => {
      if (await watches.stop(param)) return {};
      throw new CallRefused("missing", `there is no watch ${param.slice(0, 100)}`);
    }),
  ];
  return { handlers, watches, leftFiles, ...following(watches, leftFiles) };
};
