/**
 * What the agent sends to a viewer of the live view: JSON in text frames, and pictures in binary frames:
 *
 *   0  u32  number of the picture, for its `ack`
 *   4  u16  width of the page, CSS pixels: coordinates of input are of this size, whatever the picture's own is
 *   6  u16  height of the page
 *   8  ...  JPEG
 *
 * Numbers are big-endian.
 */

import type { Ask } from "./ask.ts";

export type TabInfo = { id: string; title: string; url: string };

/**
 * `checking`: it is not known yet whether the page may be shown. `hidden`: a vault filled a login into it. `crashed`: its process has
 * died. `none`: there is no tab.
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
