/** Events of Chromium about pages, whose texts and numbers a page or its renderer chooses. */
import fc from "fast-check";
import type { Json } from "./mutated-json.ts";
import { anyText, mutatedText } from "./mutated-text.ts";

export type Event = { method: string; params: Json; sessionId: string };

const id = fc.constantFrom("a", "b", "__proto__");
const url = fc.oneof(
  fc.constantFrom(
    "https://example.com/a?b#c",
    "https://user:pass@example.com/",
    "about:blank",
    "data:text/html,x",
    "blob:null/1",
  ),
  mutatedText(fc.constantFrom("https://www.google.com/recaptcha/api2/anchor", "https://example.com/login")),
);
const seconds = fc.constantFrom(0, 1.5, 1e9, -1, 1e21);
const whole = fc.oneof(fc.constantFrom(-1, 0, 1, 2 ** 31 - 1), fc.nat(1000));
const headers = fc
  .array(
    fc.tuple(
      fc.oneof(fc.constantFrom("Content-Type", "x-browserpool-refused-by", "Server", "__proto__"), anyText(10)),
      fc.oneof(fc.constantFrom("rules", "constructor", "__proto__", "toString"), anyText()),
    ),
    { maxLength: 4 },
  )
  .map((entries) => Object.fromEntries(entries));
const remote = fc.record(
  {
    type: fc.constantFrom("string", "number", "object", "undefined", "bigint", "function"),
    value: fc.oneof(anyText(), fc.integer(), fc.constant(null)),
    unserializableValue: fc.constantFrom("NaN", "-0", "1n"),
    description: anyText(),
    objectId: fc.constantFrom("1", "2"),
  },
  { requiredKeys: ["type"] },
);
const stack = fc.record({
  callFrames: fc.array(
    fc.record({ functionName: anyText(), url, scriptId: id, lineNumber: whole, columnNumber: whole }),
    { maxLength: 3 },
  ),
});
const resource = fc.constantFrom("Document", "Script", "XHR", "Other");
const response = fc.record(
  {
    url,
    status: fc.constantFrom(0, 200, 302, 403, 503, 999),
    statusText: anyText(),
    mimeType: anyText(),
    headers,
    remoteIPAddress: fc.constantFrom("93.184.216.34", "10.0.0.1", "", "[::1]"),
  },
  { requiredKeys: ["url", "status", "statusText", "mimeType", "headers"] },
);

const params: Record<string, fc.Arbitrary<unknown>> = {
  "Runtime.consoleAPICalled": fc.record(
    {
      type: fc.constantFrom("log", "error", "assert"),
      args: fc.array(remote, { maxLength: 25 }),
      executionContextId: whole,
      timestamp: fc.constantFrom(0, 4e12),
      stackTrace: stack,
    },
    { requiredKeys: ["type", "args", "executionContextId", "timestamp"] },
  ),
  "Runtime.exceptionThrown": fc.record({
    timestamp: seconds,
    exceptionDetails: fc.record(
      {
        exceptionId: whole,
        text: anyText(),
        lineNumber: whole,
        columnNumber: whole,
        url,
        stackTrace: stack,
        exception: remote,
      },
      { requiredKeys: ["exceptionId", "text", "lineNumber", "columnNumber"] },
    ),
  }),
  "Runtime.bindingCalled": fc.record({
    name: fc.constantFrom("browserpoolInteraction", "x"),
    executionContextId: whole,
    payload: mutatedText(
      fc.constantFrom(
        '{"type":"click","tag":"button","x":1,"y":2}',
        '{"type":"key","tag":"input","key":"Tab"}',
        '{"type":"scroll","x":0,"y":1e3}',
      ),
      { tokens: ['"', "{", "1e999", ":", '"type":"click"', "null"] },
    ),
  }),
  "Network.requestWillBeSent": fc.record(
    {
      requestId: id,
      loaderId: id,
      documentURL: url,
      request: fc.record({ url, method: fc.constantFrom("GET", "POST"), headers }),
      timestamp: seconds,
      wallTime: seconds,
      initiator: fc.record({ type: fc.constantFrom("parser", "other") }),
      redirectHasExtraInfo: fc.boolean(),
      redirectResponse: response,
      type: resource,
      frameId: id,
    },
    {
      requiredKeys: [
        "requestId",
        "loaderId",
        "documentURL",
        "request",
        "timestamp",
        "wallTime",
        "initiator",
        "redirectHasExtraInfo",
      ],
    },
  ),
  "Network.requestWillBeSentExtraInfo": fc.record({ requestId: id, headers }),
  "Network.responseReceived": fc.record({
    requestId: id,
    loaderId: id,
    timestamp: seconds,
    type: resource,
    response,
    frameId: id,
  }),
  "Network.loadingFinished": fc.record({
    requestId: id,
    timestamp: seconds,
    encodedDataLength: fc.constantFrom(0, 12, -1, 1e15),
  }),
  "Network.loadingFailed": fc.record(
    { requestId: id, timestamp: seconds, type: resource, errorText: anyText(), canceled: fc.boolean() },
    { requiredKeys: ["requestId", "timestamp", "type", "errorText"] },
  ),
  "Page.frameNavigated": fc.record({
    type: fc.constant("Navigation"),
    frame: fc.record(
      { id, parentId: id, loaderId: id, url, urlFragment: anyText(), unreachableUrl: url },
      { requiredKeys: ["id", "loaderId", "url"] },
    ),
  }),
  "Page.frameRequestedNavigation": fc.record({
    frameId: id,
    reason: fc.constantFrom("anchorClick", "scriptInitiated"),
    url,
    disposition: fc.constant("currentTab"),
  }),
  "Page.frameStoppedLoading": fc.record({ frameId: id }),
  "Page.domContentEventFired": fc.record({ timestamp: seconds }),
  "Page.loadEventFired": fc.record({ timestamp: seconds }),
  "Page.javascriptDialogOpening": fc.record({
    url,
    message: anyText(),
    type: fc.constantFrom("alert", "prompt"),
    hasBrowserHandler: fc.boolean(),
  }),
  "Page.screencastFrame": fc.record({
    data: anyText(),
    sessionId: whole,
    metadata: fc.record({ deviceWidth: seconds, deviceHeight: seconds }),
  }),
  "Target.targetCreated": fc.record({
    targetInfo: fc.record({
      targetId: id,
      type: fc.constantFrom("page", "iframe"),
      title: anyText(),
      url,
      attached: fc.boolean(),
      openerId: id,
    }),
  }),
  "Target.targetInfoChanged": fc.record({
    targetInfo: fc.record({ targetId: id, type: fc.constantFrom("page", "iframe"), title: anyText(), url }),
  }),
  "Target.targetDestroyed": fc.record({ targetId: id }),
  "Target.targetCrashed": fc.record({ targetId: id, status: anyText(), errorCode: whole }),
  "Target.attachedToTarget": fc.record({
    sessionId: id,
    waitingForDebugger: fc.boolean(),
    targetInfo: fc.record({ targetId: id, type: fc.constantFrom("page", "iframe"), title: anyText(), url }),
  }),
  "Target.detachedFromTarget": fc.record({ sessionId: id }),
};

/** Names in the parameters of events. */
export const eventKeys = [
  "frame",
  "request",
  "response",
  "headers",
  "url",
  "frameId",
  "requestId",
  "targetInfo",
  "args",
  "type",
  "stackTrace",
];

/** Events as Chromium's protocol says. */
export const cdpEvent: fc.Arbitrary<Event> = fc.oneof(
  ...Object.entries(params).map(([method, arbitrary]) =>
    fc.record({ method: fc.constant(method), params: arbitrary as fc.Arbitrary<Json>, sessionId: id }),
  ),
);
