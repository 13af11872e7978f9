/** The events of CDP that the live view reads, checked: a browser that is out of its mind must not end the agent. */
import { z } from "zod";
import type { CdpEvent } from "../../../platform/cdp/cdp-connection.ts";

/** What Chromium tells of a tab, or of another target. */
export const TargetInfo = z.object({
  targetId: z.string(),
  type: z.string(),
  title: z.string(),
  url: z.string(),
  subtype: z.string().optional(),
  openerId: z.string().optional(),
});
export type TargetInfo = z.infer<typeof TargetInfo>;

const ScreencastFrame = z.object({
  data: z.string(),
  sessionId: z.int(),
  metadata: z.object({ deviceWidth: z.number(), deviceHeight: z.number() }),
});
export type ScreencastFrame = z.infer<typeof ScreencastFrame>;

const DialogOpening = z.object({
  url: z.string().default(""),
  type: z.enum(["alert", "confirm", "prompt", "beforeunload"]),
  message: z.string(),
  defaultPrompt: z.string().default(""),
});
export type DialogOpening = z.infer<typeof DialogOpening>;

const DragIntercepted = z.object({
  data: z.looseObject({ items: z.array(z.any()), dragOperationsMask: z.number() }),
});
export type DragData = z.infer<typeof DragIntercepted>["data"];

const AuthRequired = z.object({
  requestId: z.string(),
  authChallenge: z.object({ source: z.string().optional(), origin: z.string() }),
});
export type AuthRequired = z.infer<typeof AuthRequired>;

const FileChooser = z.object({
  frameId: z.string(),
  mode: z.enum(["selectSingle", "selectMultiple"]),
  backendNodeId: z.int().optional(),
});
export type FileChooser = z.infer<typeof FileChooser>;

const schemas = {
  "Target.targetCreated": z.looseObject({}),
  "Target.targetInfoChanged": z.looseObject({}),
  "Target.targetDestroyed": z.looseObject({}),
  "Target.targetCrashed": z.object({ targetId: z.string() }),
  "Page.screencastFrame": ScreencastFrame,
  "Page.javascriptDialogOpening": DialogOpening,
  "Page.javascriptDialogClosed": z.looseObject({}),
  "Page.frameNavigated": z.object({ frame: z.object({ parentId: z.string().optional() }) }),
  "Page.fileChooserOpened": FileChooser,
  "Fetch.requestPaused": z.object({ requestId: z.string() }),
  "Fetch.authRequired": AuthRequired,
  "Inspector.targetCrashed": z.looseObject({}),
  "Inspector.targetReloadedAfterCrash": z.looseObject({}),
  "Input.dragIntercepted": DragIntercepted,
} as const;

type Handlers = { [Method in keyof typeof schemas]?: (params: z.infer<(typeof schemas)[Method]>) => void };

/** Calls the handler of an event, if it has one and the event is as CDP says. */
export const handleEvent = ({ method, params }: Omit<CdpEvent, "sessionId">, handlers: Handlers): void => {
  if (!Object.hasOwn(handlers, method)) return;
  const known = method as keyof typeof schemas;
  const read = schemas[known].safeParse(params);
  // The handler of a method takes what the schema of that method gives.
  if (read.success) handlers[known]?.(read.data as never);
};
