import { z } from "zod";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { unlessGone } from "../../../platform/cdp/commands.ts";
import { callInFrame, type Frame, openFrames } from "./frames.ts";
import { locateFields } from "./locate-fields.ts";

const line = z.string().max(200);

const SeenField = z.object({
  /** Selectors that only this field has in its frame, the most lasting first. */
  selectors: z.array(z.string().max(4096)).max(5),
  tag: line,
  type: line,
  name: line,
  id: line,
  autocomplete: line,
  inputMode: line,
  label: line,
  maxLength: z.number(),
  isRequired: z.boolean(),
  isEmpty: z.boolean(),
  /** Number of the form that it is in, within its frame. */
  group: z.int(),
});

const SeenPressable = z.object({
  kind: z.enum(["submit", "button", "link", "radio", "checkbox"]),
  text: line,
  isDisabled: z.boolean(),
  isChecked: z.boolean(),
  group: z.int(),
});

const SeenFrame = z.object({
  url: z.string().max(2048),
  origin: z.string().max(2048),
  isLoading: z.boolean(),
  isBusy: z.boolean(),
  text: z.string().max(20_000),
  fields: z.array(SeenField).max(40),
  pressables: z.array(SeenPressable).max(80),
  embeds: z.array(z.object({ what: line, width: z.number(), height: z.number() })).max(20),
});

/** What in-page/survey.js says of a frame. It comes from the page, which may say anything. */
export type SeenFrame = z.infer<typeof SeenFrame>;

/** A field or a pressable: its frame in the survey, and its place there. */
export type Place = { frame: number; index: number };

export type PageSurvey = {
  /** The main frame is the first. */
  frames: SeenFrame[];
  /** Presses something; false when it is gone. */
  press(place: Place): Promise<boolean>;
  /** Submits the form of a field as the Enter key does. */
  submit(place: Place): Promise<boolean>;
  /** A selector that only this field has in all frames; undefined when there is none. */
  selectorOf(place: Place): Promise<string | undefined>;
};

/** Surveys a page of this session. Undefined when its main frame gives no answer, as while it navigates. */
export const surveyPage = async (cdp: CdpConnection, pageSession: string): Promise<PageSurvey | undefined> => {
  const frames = await openFrames(cdp, pageSession, { withSurvey: true });
  const seen: { frame: Frame; said: SeenFrame }[] = [];
  for (const [index, answer] of (
    await Promise.all(frames.map((frame) => unlessGone(callInFrame(cdp, frame, "survey", []))))
  ).entries()) {
    const said = SeenFrame.safeParse(answer);
    const frame = frames[index];
    if (frame && said.success) seen.push({ frame, said: said.data });
  }
  if (seen[0]?.frame.parent !== undefined || seen.length === 0) return undefined;
  const call = async (name: "press" | "submit", { frame, index }: Place): Promise<boolean> => {
    const at = seen[frame]?.frame;
    return at !== undefined && (await unlessGone(callInFrame(cdp, at, name, [index]))) !== false;
  };
  return {
    frames: seen.map(({ said }) => said),
    press: (place) => call("press", place),
    submit: (place) => call("submit", place),
    async selectorOf({ frame, index }) {
      const selectors = seen[frame]?.said.fields[index]?.selectors ?? [];
      const located = await locateFields(cdp, frames, { selectors, limitMs: 0 });
      return selectors.find(
        (_selector, at) => located.reduce((sum, { found }) => sum + (found[at]?.editable.length ?? 0), 0) === 1,
      );
    },
  };
};
