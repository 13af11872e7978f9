/** The files of a session that has ended, as they are kept for a time (collect-files.ts). */
import type { EndedCall } from "../../core/api/browser-call-route.ts";
import type { Config } from "../../core/config/config.ts";
import type { Answer } from "../../core/http/route.ts";
import { endedMessage, type FoundSession } from "../../core/sessions/find-session.ts";
import { AppError, invalidInput, unavailable } from "../../platform/base/errors.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import type { LeftEntry } from "./agent/left-index.ts";
import type { FileInfo } from "./calls.ts";
import { BadPath, namesIn, pathOf } from "./session-path.ts";
import { blobKeys, type KeptFileParts } from "./stored-files.ts";
import type { StoredIndex } from "./stored-index.ts";
import { zipStored } from "./zip-stored.ts";

type Deps = { blobs: BlobStore; config: Config; keptFiles: KeptFileParts };

/** Most entries of a folder that are listed, as of an active session. */
const mostListed = 20_000;

/** Why nothing is kept of a session, for people. */
const whyLost: Readonly<Record<string, string>> = {
  too_large: "there were too many",
  no_room: "its browser had no room for them until they were stored",
  too_slow: "they could not be copied in time",
  unreadable: "they could not be read",
  damaged: "what came of them was damaged",
  project_full: "the kept files of this project have no more room",
  browser_gone: "its browser was gone before they were stored",
  store_away: "the store of blobs was away",
};

/** What is kept of one session. */
type Opened = { id: string; index: StoredIndex; session: string; endedAt: number; blobs: BlobStore };

const open = async ({ lease, poolUid }: FoundSession, deps: Deps, signal: AbortSignal): Promise<Opened> => {
  const { session, ended_at: endedAt = 0 } = lease;
  const { records, claims, indexes } = deps.keptFiles;
  // In this order: the record comes before the claim goes.
  const isClaimed = await claims.isClaimed(session);
  const record = await records.get(poolUid, session);
  const ended = endedMessage(session, lease);
  if (!record && isClaimed)
    throw new AppError("unavailable", `${ended}, and its files are still being stored; repeat the request`, {
      retryAfterSeconds: 1,
    });
  if (!record) throw new AppError("not_found", `${ended}, and no files of it are kept`);
  if (record.lost !== undefined)
    throw new AppError("not_found", `${ended}, and its files were not kept: ${whyLost[record.lost] ?? record.lost}`);
  const { id } = record;
  return { id, index: await indexes.open(id, signal), session, endedAt, blobs: deps.blobs };
};

const missing = (names: readonly string[]): AppError => new AppError("not_found", `there is no ${pathOf(names)}`);

const refused = (message: string): AppError => invalidInput([{ path: "path", message }]);

const namesOf = ({ query }: { query: Record<string, string> }): string[] => {
  try {
    return namesIn(query.path ?? "");
  } catch (error) {
    throw error instanceof BadPath ? refused(error.message) : error;
  }
};

const infoOf = (names: readonly string[], { at: _, ...entry }: LeftEntry): FileInfo => ({
  ...entry,
  path: pathOf(names),
});

/** Throws `not_found`, and `bad_request` for a path that leads through a file or a link. */
const find = ({ index, endedAt }: Opened, names: readonly string[]): LeftEntry => {
  let found: LeftEntry = {
    ...{ name: pathOf([]).slice(1), is_dir: true, size_bytes: 0, mode: "drwx------" },
    mod_time: new Date(endedAt).toISOString(),
  };
  for (const depth of names.keys()) {
    if (!found.is_dir) throw refused(`${pathOf(names.slice(0, depth))} is no folder`);
    const next = index.entry(names.slice(0, depth + 1));
    if (!next) throw missing(names);
    found = next;
  }
  return found;
};

const requireFolder = (opened: Opened, names: readonly string[]): void => {
  const { is_dir: isFolder, mode } = find(opened, names);
  const path = pathOf(names);
  if (!isFolder)
    throw refused(mode.startsWith("l") ? `${path} is a link; links are not followed` : `${path} is no folder`);
};

type Made = (opened: Opened, names: string[], signal: AbortSignal) => Answer;

const ofEnded = (make: Made): EndedCall<Deps> => ({
  isOn: ({ config }) => config.keptFiles.seconds > 0,
  async answer(found, given, deps, signal) {
    const names = namesOf(given);
    return make(await open(found, deps, signal), names, signal);
  },
});

/** Lists a folder. */
export const endedList = ofEnded((opened, names) => {
  requireFolder(opened, names);
  const entries: FileInfo[] = [];
  for (const entry of opened.index.entries(names)) {
    entries.push(infoOf([...names, entry.name], entry));
    if (entries.length > mostListed)
      throw new AppError("payload_too_large", `${pathOf(names)} has too many entries; download it as a zip`);
  }
  return { status: 200, body: entries.sort((a, b) => (a.name < b.name ? -1 : 1)) };
});

/** Describes one entry. */
export const endedFileInfo = ofEnded((opened, names) => ({ status: 200, body: infoOf(names, find(opened, names)) }));

/** Reads a plain file. */
export const endedRead = ofEnded((opened, names, signal) => {
  const { at, size_bytes: bytes, mode, name } = find(opened, names);
  const path = pathOf(names);
  if (mode.startsWith("l")) throw refused(`${path} is a link; links are not followed`);
  if (!mode.startsWith("-")) throw refused(`${path} is no plain file`);
  if (at === undefined) throw new AppError("forbidden", `${path}: its permissions did not allow to keep it`);
  const body = bytesOf(opened, { at, bytes }, signal);
  return { status: 200, file: { body, bytes, type: "application/octet-stream", name } };
});

/** Sends a folder as a zip. */
export const endedFolder = ofEnded((opened, names, signal) => {
  requireFolder(opened, names);
  const read = (entry: { at: number; bytes: number }) => bytesOf(opened, entry, signal);
  const body = zipStored(opened.index, names, read);
  const name = `${names.at(-1) ?? pathOf([]).slice(1)}.zip`;
  return { status: 200, file: { body, bytes: undefined, type: "application/zip", name } };
});

/** The bytes of one file. Throws `unavailable` when the store does not have them. */
const bytesOf = async function* (
  { id, blobs }: Pick<Opened, "id" | "blobs">,
  { at, bytes }: { at: number; bytes: number },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (bytes === 0) return;
  const blob = await blobs.get(blobKeys(id).content, { signal, range: { start: at, end: at + bytes } });
  if (!blob) throw unavailable("the files of this session");
  yield* blob.body;
};
