import { browserCallRoute } from "../../core/api/browser-call-route.ts";
import type { Route } from "../../core/http/route.ts";
import {
  batch,
  clickMouse,
  dragMouse,
  mousePosition,
  moveMouse,
  pressKey,
  readClipboard,
  screenshot,
  scroll,
  setCursor,
  typeText,
  writeClipboard,
} from "./calls.ts";

/** In the order of the documentation. */
export const computerRoutes = [
  browserCallRoute(screenshot, {
    operationId: "captureScreenshot",
    summary: "Take a picture of a session's screen",
    description: "Refused while a page in sight may show what a vault has filled.",
    answer: "The screen, or the region of it",
    errors: ["conflict"],
  }),
  browserCallRoute(clickMouse, {
    operationId: "clickMouse",
    summary: "Click in a session's screen",
    answer: "It is clicked",
    errors: ["conflict"],
  }),
  browserCallRoute(moveMouse, {
    operationId: "moveMouse",
    summary: "Move the mouse of a session",
    answer: "It is there",
    errors: ["conflict"],
  }),
  browserCallRoute(dragMouse, {
    operationId: "dragMouse",
    summary: "Drag with the mouse of a session",
    answer: "It is dragged, and the button released",
    errors: ["conflict"],
  }),
  browserCallRoute(scroll, {
    operationId: "scroll",
    summary: "Turn the wheel of a session's mouse",
    answer: "It is turned",
    errors: ["conflict"],
  }),
  browserCallRoute(mousePosition, {
    operationId: "getMousePosition",
    summary: "Tell where the mouse of a session is",
    answer: "Pixels of the screen from its top left",
    errors: ["conflict"],
  }),
  browserCallRoute(setCursor, {
    operationId: "setCursorVisibility",
    summary: "Show or hide the mouse's pointer in screenshots",
    answer: "It is set, until the session ends",
    errors: ["conflict"],
  }),
  browserCallRoute(pressKey, {
    operationId: "pressKey",
    summary: "Press keys of a session's keyboard",
    answer: "They were pressed, and released",
    errors: ["conflict"],
  }),
  browserCallRoute(typeText, {
    operationId: "typeText",
    summary: "Type text into a session's screen",
    answer: "It is typed",
    errors: ["conflict"],
  }),
  browserCallRoute(readClipboard, {
    operationId: "readClipboard",
    summary: "Read the clipboard of a session",
    answer: "Its text; empty when it has none",
    errors: ["conflict", "payload_too_large"],
  }),
  browserCallRoute(writeClipboard, {
    operationId: "writeClipboard",
    summary: "Write to the clipboard of a session",
    answer: "It is there to be pasted",
    errors: ["conflict"],
  }),
  browserCallRoute(batch, {
    operationId: "runActions",
    summary: "Carry out several actions of a session's hands",
    description: "One after the other, up to the first that fails, which the error names. They may take 60 s together.",
    answer: "All were carried out",
    errors: ["conflict"],
  }),
] satisfies readonly Route[];
