/** Upgrades to a WebSocket as bytes: heads that are right, nearly right, or rubbish, with what may follow them. */
import type { Socket } from "node:net";
import fc from "fast-check";
import { inPieces, mutatedBytes, pieceSizes } from "./mutated-bytes.ts";
import { mutatedText } from "./mutated-text.ts";

const names = [
  "Host",
  "Upgrade",
  "Connection",
  "Sec-WebSocket-Key",
  "Sec-WebSocket-Version",
  "Authorization",
  "x-browserpool-session",
];

/** `paths`: with their queries; `token`: the one that counts. */
export const upgradeHead = ({ paths, token }: { paths: readonly string[]; token: string }): fc.Arbitrary<Buffer[]> => {
  const tokens = [
    "\r\n",
    "\r\n\r\n",
    "\n",
    "\0",
    ": ",
    " ",
    "HTTP/1.1",
    "Upgrade: websocket\r\n",
    "Content-Length: 3\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Host: evil\r\n",
    "%",
    "?",
    "..",
    "\u00ff",
  ];
  const value = (text: string): fc.Arbitrary<string> =>
    fc.oneof(
      { weight: 8, arbitrary: fc.constant(text) },
      { weight: 1, arbitrary: mutatedText(fc.constant(text), { tokens, mostChanges: 2 }) },
    );
  const head = fc
    .record({
      method: fc.oneof(
        { weight: 9, arbitrary: fc.constant("GET") },
        { weight: 1, arbitrary: fc.constantFrom("POST", "HEAD", "X") },
      ),
      path: fc.constantFrom(...paths).chain(value),
      values: fc.tuple(
        value("127.0.0.1"),
        value("websocket"),
        value("Upgrade"),
        value("dGhlIHNhbXBsZSBub25jZQ=="),
        value("13"),
        value(`Bearer ${token}`),
        value("s1"),
      ),
      left: fc.array(fc.constantFrom(...names), { maxLength: 2 }),
      rest: fc.oneof(fc.constant(""), fc.string({ maxLength: 20, unit: "binary" })),
    })
    .map(({ method, path, values, left, rest }) => {
      const lines = names.flatMap((name, index) => (left.includes(name) ? [] : [`${name}: ${values[index]}`]));
      return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${rest}`);
    });
  return fc
    .tuple(
      fc.oneof({ weight: 3, arbitrary: head }, { weight: 1, arbitrary: mutatedBytes(head, { tokens }) }),
      pieceSizes,
    )
    .map(([bytes, sizes]) => inPieces(bytes, sizes));
};

/** Time without a word of the server, after which the caller ends its side, ms: it has no more to say. */
const silentMs = 30;

/** Sends over a socket, and resolves with all that comes back until the server closes. */
export const exchange = async (socket: Socket, pieces: readonly Buffer[]): Promise<string> => {
  let answer = "";
  const over = Promise.withResolvers<void>();
  let timer = setTimeout(() => socket.end(), silentMs);
  socket.on("data", (chunk) => {
    answer += chunk.toString("latin1");
    clearTimeout(timer);
    timer = setTimeout(() => socket.end(), 1);
  });
  socket.on("error", () => undefined).once("close", () => over.resolve());
  for (const piece of pieces) socket.write(piece);
  await over.promise;
  clearTimeout(timer);
  return answer;
};
