import { createSecretKey } from "node:crypto";
import { connect } from "node:net";
import { duplexPair } from "node:stream";
import fc from "fast-check";
import { WebSocketServer } from "ws";
import { ok, startAgentHttp } from "../../../src/core/agent/agent-http.ts";
import { createUpgrades } from "../../../src/core/agent/upgrades.ts";
import { readViewerMessage } from "../../../src/features/live-view/agent/messages.ts";
import { readClientFrames } from "../../../src/features/telemetry/agent/note-client.ts";
import { createBidiSession } from "../../../src/features/webdriver/agent/bidi-session.ts";
import { createClientSocket } from "../../../src/features/webdriver/agent/client-socket.ts";
import { type Message, readCommand } from "../../../src/features/webdriver/agent/command.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import { readHttpHead } from "../../../src/platform/cdp/http-head.ts";
import { inPieces, mutatedBytes, pieceSizes } from "../inputs/mutated-bytes.ts";
import { mutatedJson } from "../inputs/mutated-json.ts";
import { mutatedText } from "../inputs/mutated-text.ts";
import { exchange, upgradeHead } from "../inputs/upgrade-heads.ts";
import { type FuzzTarget, must, orRefused } from "../target.ts";

type Frame = { opcode: number; isLast: boolean; payload: Buffer; isMasked: boolean; form: 7 | 16 | 64 };

/** A frame of RFC 6455, whose length may be written in a longer form than it needs. */
const frameBytes = ({ opcode, isLast, payload, isMasked, form }: Frame): Buffer => {
  const mask = Buffer.from(isMasked ? [1, 2, 3, 4] : []);
  const { length } = payload;
  const size = Buffer.alloc({ 7: 0, 16: 2, 64: 8 }[form]);
  if (form === 16) size.writeUInt16BE(length);
  if (form === 64) size.writeBigUInt64BE(BigInt(length));
  const short = { 7: length, 16: 126, 64: 127 }[form];
  const masked = payload.map((byte, index) => (isMasked ? byte ^ (mask[index % 4] ?? 0) : byte));
  return Buffer.concat([Buffer.of((isLast ? 0x80 : 0) | opcode, (isMasked ? 0x80 : 0) | short), size, mask, masked]);
};

const command = {
  id: 1,
  method: "session.new",
  params: { capabilities: { alwaysMatch: { browserName: "chrome" }, firstMatch: [{}] } },
};
const viewerMessage = { type: "mouse", x: 1, y: 2, action: "down", button: "left", modifiers: 0 };
const texts = fc.oneof(
  fc
    .constantFrom(
      command,
      { ...command, method: "browsingContext.getTree" },
      { id: 2, method: "session.end", params: {} },
      viewerMessage,
    )
    .chain((json) =>
      mutatedJson(fc.constant(json), { keys: ["id", "method", "params", "type", "goog:channel", "firstMatch"] }),
    )
    .map((json) => JSON.stringify(json)),
  mutatedText(
    fc.constantFrom(JSON.stringify(command), JSON.stringify(viewerMessage), '{"method":"Page.enable","id":1}'),
    { tokens: ['"method":"x"', "{", "[", '"', "\\"] },
  ),
);
const frame: fc.Arbitrary<Frame> = fc
  .record({
    opcode: fc.constantFrom(0, 1, 1, 1, 2, 3, 8, 9, 10, 15),
    isLast: fc.boolean(),
    payload: fc.oneof(
      texts.map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 130 }).map((bytes) => Buffer.from(bytes)),
    ),
    isMasked: fc.integer({ min: 0, max: 9 }).map((luck) => luck > 0),
    form: fc.constantFrom<7 | 16 | 64>(7, 16, 64),
  })
  .map((one) => ({ ...one, form: one.form === 7 && one.payload.length > 125 ? (16 as const) : one.form }));
const frames = fc.array(frame, { minLength: 1, maxLength: 4 }).map((some) => Buffer.concat(some.map(frameBytes)));

type Input =
  | { kind: "frames"; bytes: Buffer; sizes: number[] }
  | { kind: "bidi"; bytes: Buffer; sizes: number[] }
  | { kind: "text"; text: string }
  | { kind: "upgrade"; pieces: Buffer[] }
  | { kind: "answer"; bytes: Buffer; sizes: number[] };

const token = "good-token";
const inputs: fc.Arbitrary<Input> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom("frames", "bidi"),
      bytes: fc.oneof(frames, mutatedBytes(frames)),
      sizes: pieceSizes,
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("text"), text: texts }) },
  {
    weight: 1,
    arbitrary: upgradeHead({ paths: ["/cdp", "/view", "/webdriver", "/state"], token }).map((pieces) => ({
      kind: "upgrade" as const,
      pieces,
    })),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("answer"),
      bytes: mutatedBytes(
        fc.constant(
          Buffer.from("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\nrest"),
        ),
        { tokens: ["\r\n\r\n", "\r\n", "HTTP/1.1 ", "x".repeat(20_000)] },
      ),
      sizes: pieceSizes,
    }),
  },
) as fc.Arbitrary<Input>;

/** What telemetry reads of a client's bytes does not depend on how the network cuts them. */
const checkFrames = (bytes: Buffer, sizes: number[]): void => {
  const read = (pieces: Buffer[]): string => {
    const methods: (string | undefined)[] = [];
    const take = readClientFrames((method) => methods.push(method));
    for (const piece of pieces) take(piece);
    return JSON.stringify(methods);
  };
  must(read([bytes]) === read(inPieces(bytes, sizes)), "another reading of the same bytes in pieces");
};

const websockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 256 * 1024 });
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A client of WebDriver BiDi, from its first frame on, over a mapper that answers everything. */
const checkBidi = async (bytes: Buffer, sizes: number[]): Promise<void> => {
  const [client, far] = duplexPair();
  for (const side of [client, far]) side.on("error", () => undefined);
  client.resume();
  const request = {
    method: "GET",
    headers: { upgrade: "websocket", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", "sec-websocket-version": "13" },
  };
  let run = 0;
  websockets.handleUpgrade(request as never, far as never, Buffer.alloc(0), (webSocket) => {
    let tell = (_message: Message): void => undefined;
    const mapper = {
      run: ({ id }: { id: number }) => {
        run += 1;
        tell({ id, type: "success", result: { capabilities: { browserName: "HeadlessChrome/1" } } });
      },
    };
    const socket = createClientSocket(webSocket, (text) => {
      const read = readCommand(text);
      if ("command" in read) session.take(read.command);
      else socket.send(read.answer);
    });
    const session = createBidiSession({ mapper: mapper as never, send: socket.send, end: () => webSocket.terminate() });
    tell = session.tell;
  });
  for (const piece of inPieces(bytes, sizes)) client.write(piece);
  await nextTurn();
  await nextTurn();
  must(run <= 20, `${run} commands of some frames`);
  client.destroy();
  far.destroy();
};

const checkAnswer = async (bytes: Buffer, sizes: number[]): Promise<void> => {
  const [near, far] = duplexPair();
  for (const side of [near, far]) side.on("error", () => undefined);
  const head = orRefused(
    () => readHttpHead(near as never),
    (error) => error instanceof Error && /answer/.test(error.message),
  );
  for (const piece of inPieces(bytes, sizes)) far.write(piece);
  far.end();
  const read = await head;
  if ("value" in read) must(read.value.text.endsWith("\r\n\r\n") && read.value.text.length <= 16 * 1024, "no head");
  near.destroy();
  far.destroy();
};

const agentKey = createSecretKey(Buffer.alloc(32, 1));

const startAgent = () =>
  startAgentHttp({
    address: "127.0.0.1",
    port: 0,
    verify: async (given) => given === token,
    agentKey,
    routes: { "/livez": { GET: async () => ok }, "/state": { GET: async () => ok } },
    requestTimeoutMs: 10_000,
    log: createLogger("silent", "fuzz"),
    upgrade: createUpgrades({
      leases: { admit: (session) => (session === "s1" ? "admitted" : "not_holder") },
      agentKey,
      paths: { "/cdp": ({ client }) => void client.end("HTTP/1.1 101 Switching Protocols\r\n\r\n") },
    }),
  });

export const target: FuzzTarget<Input> = {
  about:
    "Clients at the agent: heads of upgrades over real sockets, WebSocket frames (fragments, wrong lengths, bad UTF-8, control frames), commands of WebDriver BiDi, messages of viewers, heads of answers. Nothing ends the agent, and no upgrade is taken without the token and the session.",
  inputs,
  async open() {
    const agent = await startAgent();
    const send = (pieces: Buffer[]): Promise<string> => exchange(connect(agent.port, "127.0.0.1"), pieces);
    return {
      async check(input) {
        if (input.kind === "frames") return checkFrames(input.bytes, input.sizes);
        if (input.kind === "bidi") return checkBidi(input.bytes, input.sizes);
        if (input.kind === "answer") return checkAnswer(input.bytes, input.sizes);
        if (input.kind === "text") {
          readViewerMessage(input.text);
          readCommand(input.text);
          return;
        }
        const answer = await send(input.pieces);
        must(
          /^(HTTP\/1\.1 \d{3} |$)/.test(answer) && !/^HTTP\/1\.1 500/.test(answer),
          `the answer ${answer.slice(0, 100)}`,
        );
        const sent = Buffer.concat(input.pieces).toString("latin1");
        must(!answer.startsWith("HTTP/1.1 101") || sent.includes(token), "an upgrade without the token was taken");
      },
      async isWell() {
        const answer = await send([
          Buffer.from(`GET /state HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`),
        ]);
        must(answer.startsWith("HTTP/1.1 200"), `a good request gets ${answer.slice(0, 100)}`);
      },
      async close() {
        agent.close();
      },
    };
  },
};
