import { z } from "zod";
import { browserCallRoute } from "../../core/api/browser-call-route.ts";
import type { Config } from "../../core/config/config.ts";
import { isWanted, Paging, pageOf } from "../../core/http/paging.ts";
import { routesWith } from "../../core/http/route.ts";
import type { LeaseStore } from "../../core/leases/lease-store.ts";
import { notSupportedHere } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Locks } from "../../platform/redis/locks.ts";
import { loadExtensions } from "./calls.ts";
import { ExtensionAnswer, UploadExtension } from "./extension.ts";
import {
  deleteExtension,
  extensionAnswer,
  fetchExtension,
  fetchExtensions,
  openExtension,
  uploadExtension,
} from "./extensions.ts";

type Deps = { blobs: BlobStore; config: Config; kube: Kube; locks: Locks; log: Logger; store: LeaseStore };
const defineRoute = routesWith<Deps>();

const tag = "Extensions";
const scope = "project";
const path = "/extensions/{id_or_name}";
const zip = "application/zip";

const ExtensionParams = z.object({ id_or_name: z.string().min(1).max(255).describe("The extension's id or name.") });

export const uploadExtensionRoute = defineRoute(
  {
    method: "post",
    path: "/extensions",
    operationId: "uploadExtension",
    tag,
    scope,
    permission: "pools:write",
    summary: "Upload an extension",
    upload: {
      mostBytes: 50 * 1024 * 1024,
      type: zip,
      description: "The unpacked extension as a zip file, with manifest.json at its root; at most 50 MiB.",
      fields: Object.keys(UploadExtension.shape),
    },
    body: UploadExtension,
    answers: { 201: { description: "The extension", schema: ExtensionAnswer } },
    errors: ["bad_request", "name_taken", "not_supported_here", "payload_too_large", "unsupported_media_type"],
  },
  async ({ body, file, project, signal, deps }) => {
    if (!file) throw new Error("a route with an upload got no file");
    const extension = await uploadExtension({ request: body, file: file.handle }, { project, signal }, deps);
    return { status: 201, body: extensionAnswer(extension) };
  },
);

export const listExtensionsRoute = defineRoute(
  {
    method: "get",
    path: "/extensions",
    operationId: "listExtensions",
    tag,
    scope,
    permission: "pools:read",
    summary: "List extensions",
    query: Paging.extend({
      name: z.string().max(255).optional().describe("Only the extension of exactly this name."),
      query: z.string().max(255).optional().describe("Part of the name in any case, or the exact id."),
    }),
    answers: { 200: { description: "The extensions, oldest first", schema: z.array(ExtensionAnswer) } },
    errors: ["bad_request"],
  },
  async ({ query, project, deps }) => {
    const records = (await fetchExtensions(project, deps)).map(extensionAnswer);
    return pageOf(
      records.filter(({ id, name }) => isWanted({ id, name: name ?? undefined }, query)),
      query,
    );
  },
);

/** Before the route with an id: no extension can be called so. */
export const chromeStoreRoute = defineRoute(
  {
    method: "get",
    path: "/extensions/from_chrome_store",
    operationId: "downloadExtensionFromChromeStore",
    tag,
    scope,
    permission: "pools:read",
    summary: "Not possible here: download an extension from the Chrome Web Store",
    query: z.object({
      url: z.string().max(2048).describe("The extension's URL in the Chrome Web Store."),
      os: z.enum(["win", "mac", "linux"]).optional().describe("The operating system to download for."),
    }),
    answers: { 200: { description: "Never answered here", files: [zip] } },
    errors: ["bad_request", "not_supported_here"],
  },
  async () => {
    throw notSupportedHere([
      {
        path: "url",
        message: "this service has no way to the Chrome Web Store; download the extension yourself and upload it",
      },
    ]);
  },
);

export const downloadExtensionRoute = defineRoute(
  {
    method: "get",
    path,
    operationId: "downloadExtension",
    tag,
    scope,
    permission: "pools:read",
    summary: "Download an extension as it was uploaded",
    params: ExtensionParams,
    answers: { 200: { description: "The archive", files: [zip] } },
    errors: ["not_found", "not_supported_here"],
  },
  async ({ params, project, signal, deps }) => {
    const { body, bytes, name } = await openExtension(params.id_or_name, { project, signal }, deps);
    return { status: 200, file: { body, bytes, name, type: zip } };
  },
);

export const getExtensionRoute = defineRoute(
  {
    method: "get",
    path: `${path}/metadata`,
    operationId: "getExtension",
    tag,
    scope,
    permission: "pools:read",
    summary: "Get an extension",
    params: ExtensionParams,
    answers: { 200: { description: "The extension", schema: ExtensionAnswer } },
    errors: ["not_found"],
  },
  async ({ params, project, deps }) => ({
    status: 200,
    body: extensionAnswer(await fetchExtension(params.id_or_name, project, deps)),
  }),
);

export const deleteExtensionRoute = defineRoute(
  {
    method: "delete",
    path,
    operationId: "deleteExtension",
    tag,
    scope,
    permission: "pools:write",
    summary: "Delete an extension that nothing uses",
    params: ExtensionParams,
    answers: { 204: { description: "Done" } },
    errors: ["not_found", "conflict"],
  },
  async ({ params, project, deps }) => {
    await deleteExtension(params.id_or_name, project, deps);
    return { status: 204 };
  },
);

/** Into one session, whose holder needs no right to store extensions: it has the browser. */
export const loadExtensionsRoute = browserCallRoute(loadExtensions, {
  operationId: "loadBrowserExtensions",
  summary: "Load extensions into a session's browser",
  description:
    "A form with `extensions[N][name]` and after it `extensions[N][zip_file]`, a zip file with manifest.json at its root. They " +
    "are loaded at once, all or none, and go with the session; nothing is stored. A headless browser that was made without " +
    "extensions is started anew for its first ones, and loses its pages then.",
  answer: "They are loaded",
  errors: ["conflict"],
});
