/**
 * A small client of the X11 protocol, for what must be said to a screen before Chromium starts. Debian's programs for
 * it (xrandr) would bring a C preprocessor and X toolkits into the image of browsers, for five requests.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export type XConnection = {
  /** The window that fills the screen. */
  root: number;
  /** Sends one request without an answer; `parts`: 4 bytes each, or bytes that are filled up to a multiple of 4. */
  send(opcode: number, minor: number, parts: readonly (number | Buffer)[]): void;
  /**
   * Sends one request and returns its answer. Rejects with the number of the server's error, or when the server is
   * gone.
   */
  ask(opcode: number, minor: number, parts: readonly (number | Buffer)[]): Promise<Buffer>;
  [Symbol.dispose](): void;
};

/** Lengths in the protocol are counts of 4 bytes. */
const unit = 4;
/** Length of an answer's, an error's and an event's fixed part. */
const headBytes = 32;
const authName = Buffer.from("MIT-MAGIC-COOKIE-1");

const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc(-bytes.length & (unit - 1))]);

/** A 4-byte number, little-endian as this client asks for. */
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

/** Numbers of 2 bytes each. */
export const u16s = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, index * 2);
  return bytes;
};

const encode = (opcode: number, minor: number, parts: readonly (number | Buffer)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => (typeof part === "number" ? u32(part) : padded(part))));
  return Buffer.concat([Buffer.from([opcode, minor]), u16s(1 + body.length / unit), body]);
};

/** Reads the server's bytes piece by piece; there is one reader at a time. */
const createReader = (socket: Socket): ((length: number) => Promise<Buffer>) => {
  const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let kept = Buffer.alloc(0);
  return async (length) => {
    while (kept.length < length) {
      const { value, done } = await chunks.next();
      if (done) throw new Error("the X server closed the connection");
      kept = Buffer.concat([kept, value]);
    }
    const taken = kept.subarray(0, length);
    kept = kept.subarray(length);
    return taken;
  };
};

/** The first root window in the server's greeting, behind its vendor's name and its formats of 8 bytes. */
const rootIn = (greeting: Buffer): number => {
  const vendor = (greeting.readUInt16LE(16) + unit - 1) & -unit;
  return greeting.readUInt32LE(32 + vendor + 8 * greeting.readUInt8(21));
};

/** Connects to the screen `:display` of this machine with the cookie that it was started with. */
export const connectX = async (display: string, cookie: Buffer, signal: AbortSignal): Promise<XConnection> => {
  const socket = connect(`/tmp/.X11-unix/X${display}`);
  // Errors reach the reader; a later error must not end the agent.
  socket.on("error", () => undefined);
  const stop = (): void => void socket.destroy(new Error("the X server did not answer in time"));
  signal.addEventListener("abort", stop, { once: true });
  try {
    await once(socket, "connect", { signal });
    const read = createReader(socket);
    const head = u16s(0x6c, 11, 0, authName.length, cookie.length, 0);
    socket.write(Buffer.concat([head, padded(authName), padded(cookie)]));
    const start = await read(8);
    const greeting = await read(start.readUInt16LE(6) * unit);
    if (start[0] !== 1) throw new Error("the X server refused the connection");

    const answer = async (): Promise<Buffer> => {
      const first = await read(headBytes);
      if (first[0] === 0)
        throw new Error(`the X server answered error ${first[1]} to request ${first[10]}.${first[8]}`);
      if (first[0] !== 1) return answer();
      return Buffer.concat([first, await read(first.readUInt32LE(4) * unit)]);
    };
    return {
      root: rootIn(greeting),
      send: (opcode, minor, parts) => void socket.write(encode(opcode, minor, parts)),
      ask(opcode, minor, parts) {
        socket.write(encode(opcode, minor, parts));
        return answer();
      },
      [Symbol.dispose]() {
        signal.removeEventListener("abort", stop);
        socket.destroy();
      },
    };
  } catch (error) {
    signal.removeEventListener("abort", stop);
    socket.destroy();
    throw error;
  }
};
