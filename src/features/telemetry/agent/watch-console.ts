/**
 * Console output and uncaught exceptions. A page can find out that somebody watches its console: objects that it logs
 * are looked at.
 */

import type { Protocol } from "../../../platform/cdp/cdp-types.ts";
import { tell } from "../../../platform/cdp/commands.ts";
import { contextOf, type Source, type SourceDeps, shownUrl, type Tab } from "./source.ts";

/** Levels that count as errors, by the names of CDP. */
const errorLevels: ReadonlySet<string> = new Set(["error", "assert"]);

type RemoteObject = Protocol.Runtime.RemoteObject;

/** What a value looks like in a console; of objects only what the browser says without reading them. */
const textOf = ({ type, value, unserializableValue, description }: RemoteObject): string => {
  if (type === "string") return String(value);
  return unserializableValue ?? description ?? (value === undefined ? type : JSON.stringify(value));
};

const stackOf = (stack: Protocol.Runtime.StackTrace | undefined) =>
  stack && {
    stack_trace: {
      callFrames: stack.callFrames.map(({ functionName, url, scriptId, lineNumber, columnNumber }) => ({
        functionName,
        url: shownUrl(url),
        scriptId,
        lineNumber,
        columnNumber,
      })),
    },
  };

/** Makes `console_log` and `console_error`. */
export const watchConsole = ({ cdp, emit }: SourceDeps): Source => {
  /** The browser keeps logged objects alive for whoever may look at them. */
  const letGo = ({ sessionId }: Tab, args: readonly RemoteObject[]): void => {
    for (const { objectId } of args) if (objectId) tell(cdp.send("Runtime.releaseObject", { objectId }, { sessionId }));
  };
  /** Chromium repeats what was logged before, when it is asked to tell. */
  const sinceMs = new Map<string, number>();
  return {
    ofWorkers: true,
    enable(tab) {
      sinceMs.set(tab.sessionId, Date.now());
      tell(cdp.send("Runtime.enable", undefined, { sessionId: tab.sessionId }));
    },
    forget: ({ sessionId }) => void sinceMs.delete(sessionId),
    handlers: {
      "Runtime.consoleAPICalled": ({ type, args, stackTrace, timestamp }, tab) => {
        letGo(tab, args);
        if (timestamp < (sinceMs.get(tab.sessionId) ?? 0)) return;
        const texts = args.map(textOf);
        const source = { kind: "cdp" as const, event: "Runtime.consoleAPICalled" };
        const data = { ...contextOf(tab), level: type, text: texts.join(" "), args: texts, ...stackOf(stackTrace) };
        emit(errorLevels.has(type) ? "console_error" : "console_log", data, source);
      },
      "Runtime.exceptionThrown": ({ exceptionDetails }, tab) => {
        const { text, exception, url = "", lineNumber, columnNumber, stackTrace } = exceptionDetails;
        if (exception) letGo(tab, [exception]);
        emit(
          "console_error",
          {
            ...contextOf(tab),
            level: "exception",
            text: exception?.description ?? text,
            line: lineNumber,
            column: columnNumber,
            source_url: shownUrl(url),
            ...stackOf(stackTrace),
          },
          { kind: "cdp", event: "Runtime.exceptionThrown" },
        );
      },
    },
  };
};
