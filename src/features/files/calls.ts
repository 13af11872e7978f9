/** The calls by which a holder reaches the files of its session: contracts for the API and for the agent. */
import { z } from "zod";
import { callContract } from "../../core/protocol/browser-call.ts";

/** Most bytes of one upload. */
export const mostUploadBytes = 1024 ** 3;

const path = (what: string) => z.string().min(1).describe(`${what}: an absolute path below /tmp.`);

/** Permissions alone: nothing of a session runs as another user. */
const mode = (usual: string) =>
  z
    .string()
    .regex(/^0?[0-7]{3}$/, "is three octal digits, such as 644")
    .describe(`Permissions in octal; by default ${usual}.`);

/** An entry of a folder. */
export const FileInfo = z.object({
  name: z.string().describe("The last part of the path."),
  path: z.string().describe("The absolute path, as the browser sees it."),
  is_dir: z.boolean(),
  size_bytes: z.int().describe("0 for folders."),
  mode: z.string().describe("Type and permissions, such as drwxr-xr-x or -rw-r--r--."),
  mod_time: z.iso.datetime({ offset: true }).describe("When it was last written."),
});
export type FileInfo = z.infer<typeof FileInfo>;

/** A plain file as it is; a link is refused. */
export const readFile = callContract({
  method: "get",
  name: "fs/read_file",
  query: z.object({ path: path("The file") }),
  answer: { files: "application/octet-stream" },
});

/** The plain files of a folder and of those in it. */
export const downloadZip = callContract({
  method: "get",
  name: "fs/download_dir_zip",
  query: z.object({ path: path("The folder") }),
  answer: { files: "application/zip" },
});

/** The entries of a folder, links among them; ordered by name. */
export const listFiles = callContract({
  method: "get",
  name: "fs/list_files",
  query: z.object({ path: path("The folder") }),
  answer: z.array(FileInfo),
});

/** One entry; of a link, the link itself. */
export const fileInfo = callContract({
  method: "get",
  name: "fs/file_info",
  query: z.object({ path: path("The file or folder") }),
  answer: FileInfo,
});

/** A file, whole or not at all; folders on the way are made, and one that is there is replaced. */
export const writeFile = callContract({
  method: "put",
  name: "fs/write_file",
  query: z.object({ path: path("The file"), mode: mode("644").optional() }),
  upload: { type: "application/octet-stream", mostBytes: mostUploadBytes },
  answer: undefined,
});

/** Several files, each as by `writeFile`, one after the other. */
export const uploadFiles = callContract({
  method: "post",
  name: "fs/upload",
  upload: { type: "multipart/form-data", mostBytes: mostUploadBytes },
  answer: undefined,
});

/** An archive, unpacked into a folder; its names are checked before anything is written. */
export const uploadZip = callContract({
  method: "post",
  name: "fs/upload_zip",
  upload: { type: "multipart/form-data", mostBytes: mostUploadBytes },
  answer: undefined,
});

/** A folder and those on the way; one that is there already is no error. */
export const createDirectory = callContract({
  method: "put",
  name: "fs/create_directory",
  body: z.object({ path: path("The folder, and those on the way"), mode: mode("755").optional() }),
  answer: undefined,
});

/** A folder with all that is in it; links in it, not what they lead to. */
export const deleteDirectory = callContract({
  method: "put",
  name: "fs/delete_directory",
  body: z.object({ path: path("The folder, with all that is in it") }),
  answer: undefined,
});

/** A file, or a link. */
export const deleteFile = callContract({
  method: "put",
  name: "fs/delete_file",
  body: z.object({ path: path("The file") }),
  answer: undefined,
});

/** A file or a folder; a file at the new path is replaced. */
export const moveFile = callContract({
  method: "put",
  name: "fs/move",
  body: z.object({ src_path: path("What is moved"), dest_path: path("Its new path; a file there is replaced") }),
  answer: undefined,
});

/** Permissions of a file or a folder; a link is refused. */
export const setPermissions = callContract({
  method: "put",
  name: "fs/set_file_permissions",
  body: z.object({ path: path("The file or folder"), mode: mode("").describe("Permissions in octal.") }),
  answer: undefined,
});

/** From then on, what happens in a folder is kept for its reader (agent/api.ts). */
export const startWatch = callContract({
  method: "post",
  name: "fs/watch",
  body: z.object({
    path: path("The folder"),
    recursive: z.boolean().optional().describe("Also the folders in it."),
  }),
  answer: z.object({ watch_id: z.string() }),
});

/** Its reader gets the end. */
export const stopWatch = callContract({
  method: "delete",
  name: "fs/watch/{watch_id}",
  answer: undefined,
});
