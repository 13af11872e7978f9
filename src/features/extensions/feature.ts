import type { Feature } from "../../core/api/feature.ts";
import { extensionController } from "./controller.ts";
import { extensionKind } from "./extension.ts";
import {
  chromeStoreRoute,
  deleteExtensionRoute,
  downloadExtensionRoute,
  getExtensionRoute,
  listExtensionsRoute,
  loadExtensionsRoute,
  uploadExtensionRoute,
} from "./routes.ts";

/** Extensions that browsers start with. */
export const extensions = {
  kinds: [extensionKind],
  contents: [{ kind: extensionKind, what: "extensions" }],
  announced: [{ name: "extension", kind: extensionKind, permission: "pools:read" }],
  controllers: [extensionController],
  routes: [
    uploadExtensionRoute,
    listExtensionsRoute,
    chromeStoreRoute,
    downloadExtensionRoute,
    getExtensionRoute,
    deleteExtensionRoute,
    loadExtensionsRoute,
  ],
} satisfies Feature;
