/** What a viewer of the live view sends to the agent: JSON, one message in each text frame. */

import { z } from "zod";
import type { Ask } from "./ask.ts";

// What the agent sends to a viewer of the live view: JSON in text frames, and pictures in binary frames:
//
//   0  u32  number of the picture, for its `ack`
//   4  u16  width of the page, CSS pixels: coordinates of input are of this size, whatever the picture's own is
//   6  u16  height of the page
//   8  ...  JPEG
//
// Numbers are big-endian.

export type TabInfo = { id: string; title: string; url: string };

/**
 * `checking`: it is not known yet whether the page may be shown. `hidden`: a vault filled a login into it. `crashed`:
 * its process has died. `none`: there is no tab.
 */
export type PictureState = "shown" | "checking" | "hidden" | "crashed" | "none";

/** `site`: the origin of the document that shows it. */
export type Dialog = {
  site: string;
  kind: "alert" | "confirm" | "prompt" | "beforeunload";
  message: string;
  default_text: string;
};

export type ViewMessage =
  | { type: "hello"; read_only: boolean }
  | { type: "tabs"; tabs: TabInfo[] }
  | { type: "tab"; shown: string | null; state: PictureState; dialog: Dialog | null; ask: Ask | null; stands: boolean }
  | { type: "copied"; text: string };

const headBytes = 8;
const mostPixels = 0xffff;

/** A picture of a page of this size as it is sent. */
export const pictureFrame = (number: number, size: { width: number; height: number }, jpeg: string): Buffer => {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(number);
  head.writeUInt16BE(Math.min(mostPixels, Math.round(size.width)), 4);
  head.writeUInt16BE(Math.min(mostPixels, Math.round(size.height)), 6);
  return Buffer.concat([head, Buffer.from(jpeg, "base64")]);
};

/** The JPEG of such a frame, without a copy. */
export const jpegOf = (frame: Buffer): Buffer => frame.subarray(headBytes);

/** The size of the page of such a frame, CSS pixels. */
export const pageSizeOf = (frame: Buffer): { width: number; height: number } => ({
  width: frame.readUInt16BE(4),
  height: frame.readUInt16BE(6),
});

/** Longest message, bytes: room for a text that is pasted. */
export const maxMessageBytes = 256 * 1024;

/** Files that a viewer may give to a page at once, bytes. */
export const mostFileBytes = 25 * 1024 * 1024;
/** All that viewers of a browser may give its pages, bytes. */
export const mostUploadedBytes = 100 * 1024 * 1024;
const mostFiles = 20;

/** Longest text that is pasted or copied, characters. */
export const maxTextChars = 50_000;

/** Pixels of the page, from its upper left corner; a drag goes on outside of it. */
const coordinate = z.number().min(-100_000).max(100_000);
/** As in CDP: 1 Alt, 2 Control, 4 Meta, 8 Shift. */
const modifiers = z.int().min(0).max(15).default(0);
const point = { x: coordinate, y: coordinate, modifiers };
const tab = z.string().min(1).max(64);

const looking = [
  /** The frame of this number was drawn: the next one may come. */
  z.object({ type: z.literal("ack"), frame: z.int().min(0) }),
  z.object({ type: z.literal("show"), tab }),
] as const;

const acting = [
  z.object({
    type: z.literal("mouse"),
    ...point,
    action: z.enum(["move", "down", "up"]),
    button: z.enum(["none", "left", "middle", "right", "back", "forward"]).default("none"),
    /** All buttons that are down, as in CDP. */
    buttons: z.int().min(0).max(31).default(0),
    clicks: z.int().min(0).max(3).default(0),
  }),
  z.object({ type: z.literal("wheel"), ...point, delta_x: coordinate, delta_y: coordinate }),
  z.object({
    type: z.literal("touch"),
    modifiers,
    action: z.enum(["start", "move", "end", "cancel"]),
    points: z.array(z.object({ x: coordinate, y: coordinate, id: z.int().min(0).max(1000) })).max(10),
  }),
  z.object({
    type: z.literal("key"),
    modifiers,
    action: z.enum(["down", "up"]),
    key: z.string().min(1).max(32),
    code: z.string().max(32).default(""),
    key_code: z.int().min(0).max(255).default(0),
    location: z.int().min(0).max(3).default(0),
    repeat: z.boolean().default(false),
    /** What the key types; left out, it types nothing. */
    text: z.string().max(8).optional(),
  }),
  /** Text that no key typed: pasted, or the end of a composition. */
  z.object({ type: z.literal("text"), text: z.string().max(maxTextChars) }),
  /** The text of an input method that is not finished. Empty: it was given up. */
  z.object({ type: z.literal("compose"), text: z.string().max(1000), cursor: z.int().min(0).max(1000) }),
  /** Asks for the selected text. `cut`: deletes it as well. */
  z.object({ type: z.literal("copy"), cut: z.boolean().default(false) }),
  z.object({ type: z.literal("navigate"), url: z.string().min(1).max(2048) }),
  z.object({ type: z.literal("history"), step: z.union([z.literal(-1), z.literal(1)]) }),
  z.object({ type: z.literal("reload") }),
  z.object({ type: z.literal("open_tab") }),
  z.object({ type: z.literal("close_tab"), tab }),
  z.object({ type: z.literal("dialog"), accept: z.boolean(), text: z.string().max(2000).optional() }),
] as const;

/** Of an `Ask`, by its number. */
const ask = z.int().min(0);
const answering = [
  z.object({ type: z.literal("choose"), ask, index: z.int().min(0).max(2000) }),
  z.object({ type: z.literal("set_value"), ask, value: z.string().max(200) }),
  /** A part of a file, as base64. `file`: the file's place; `is_last`: nothing of any file is left. */
  z.object({
    type: z.literal("file"),
    ask,
    file: z
      .int()
      .min(0)
      .max(mostFiles - 1),
    name: z.string().min(1).max(500),
    data: z.base64().max(200_000),
    is_last: z.boolean(),
  }),
  z.object({ type: z.literal("login"), ask, username: z.string().max(1000), password: z.string().max(1000) }),
  z.object({ type: z.literal("cancel"), ask }),
] as const;

/** What answers an `Ask`. */
export type AnswerMessage = z.infer<(typeof answering)[number]>;
const answerTypes: ReadonlySet<string> = new Set<AnswerMessage["type"]>([
  "choose",
  "set_value",
  "file",
  "login",
  "cancel",
]);

/** Whether a message answers an ask. */
export const isAnswer = (message: ViewerMessage): message is AnswerMessage => answerTypes.has(message.type);

const ViewerMessage = z.discriminatedUnion("type", [...looking, ...acting, ...answering]);
export type ViewerMessage = z.infer<typeof ViewerMessage>;

/** What changes the browser; viewers that only watch may not send it. */
export type ActingMessage = z.infer<(typeof acting)[number]> | AnswerMessage;
type LookingMessage = Exclude<ViewerMessage, ActingMessage>;

const lookingTypes: ReadonlySet<string> = new Set<LookingMessage["type"]>(["ack", "show"]);

/** Whether a message only looks at the browser. */
export const isLooking = (message: ViewerMessage): message is LookingMessage => lookingTypes.has(message.type);

/** The message in a text; undefined when it is none. */
export const readViewerMessage = (text: string): ViewerMessage | undefined => {
  try {
    return ViewerMessage.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};
