import { readFileSync } from "node:fs";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { unlessGone } from "../../../platform/cdp/commands.ts";
import { listFrames, type PageFrame } from "../../../platform/cdp/page-frames.ts";

const fieldsScript = readFileSync(new URL("in-page/fields.js", import.meta.url), "utf8");

/** One frame of the page, with an isolated world in which in-page/fields.js is loaded. */
export type Frame = {
  sessionId: string;
  /** The world's `{ find, unlock, write, leaves, settled }`. */
  objectId: string;
  /** The frame around it; undefined for the main frame. */
  parent: Frame | undefined;
};

const surveyScript = readFileSync(new URL("in-page/survey.js", import.meta.url), "utf8");

/** Adds in-page/survey.js to the functions of a frame, which must be in the world with this id. */
const addSurvey = async (
  cdp: CdpConnection,
  { sessionId, objectId, contextId }: { sessionId: string; objectId: string; contextId: number },
): Promise<void> => {
  const { result } = await cdp.send(
    "Runtime.evaluate",
    { expression: surveyScript, contextId, silent: true },
    { sessionId },
  );
  if (result.objectId === undefined) return;
  const functionDeclaration = "function (make) { Object.assign(this, make(this.helpers)); }";
  const call = { objectId, functionDeclaration, arguments: [{ objectId: result.objectId }], silent: true };
  await cdp.send("Runtime.callFunctionOn", call, { sessionId });
};

type Scripts = { withSurvey: boolean };

/** Loads the script in a new isolated world of the frame; returns the script's handle. */
const loadScript = async (
  cdp: CdpConnection,
  { frameId, sessionId }: PageFrame,
  { withSurvey }: Scripts,
): Promise<string | undefined> => {
  const world = await cdp.send("Page.createIsolatedWorld", { frameId, worldName: "fill" }, { sessionId });
  const evaluation = { expression: fieldsScript, contextId: world.executionContextId, silent: true };
  const { objectId } = (await cdp.send("Runtime.evaluate", evaluation, { sessionId })).result;
  if (withSurvey && objectId !== undefined)
    await addSurvey(cdp, { sessionId, objectId, contextId: world.executionContextId });
  return objectId;
};

/**
 * Opens every frame of the page, the main frame first and each frame after its parent. It leaves out frames that vanish
 * meanwhile, with the frames inside them. `withSurvey`: the frames have the functions of in-page/survey.js too. Rejects
 * when the page itself is gone.
 */
export const openFrames = async (
  cdp: CdpConnection,
  pageSession: string,
  scripts: Scripts = { withSurvey: false },
): Promise<Frame[]> => {
  const places = await listFrames(cdp, pageSession);
  const objectIds = await Promise.all(places.map((place) => unlessGone(loadScript(cdp, place, scripts))));
  const frames = new Map<string, Frame>();
  for (const [index, { frameId, parentId, sessionId }] of places.entries()) {
    const objectId = objectIds[index];
    const parent = parentId === undefined ? undefined : frames.get(parentId);
    const isLost = objectId === undefined || (parentId !== undefined && parent === undefined);
    if (!isLost) frames.set(frameId, { sessionId, objectId, parent });
  }
  return [...frames.values()];
};

/**
 * Calls a function of in-page/fields.js in a frame; returns its result, undefined when it throws. Only this one message
 * contains the arguments. Rejects with `CdpRefused` when the frame's document is gone or goes meanwhile.
 */
export const callInFrame = async (
  cdp: CdpConnection,
  { sessionId, objectId }: Frame,
  name: "find" | "unlock" | "write" | "leaves" | "settled" | "survey" | "press" | "submit",
  args: unknown[],
): Promise<unknown> => {
  const { result, exceptionDetails } = await cdp.send(
    "Runtime.callFunctionOn",
    {
      objectId,
      functionDeclaration: `function (...args) { return this.${name}(...args); }`,
      arguments: args.map((value) => ({ value })),
      returnByValue: true,
      awaitPromise: true,
      silent: true,
      // Without it no other window opens.
      userGesture: name === "press",
    },
    { sessionId },
  );
  return exceptionDetails ? undefined : result.value;
};
