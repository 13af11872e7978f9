/**
 * A small client of the X11 protocol, for what is said to a screen: its mode before Chromium starts, and what a holder's
 * hands do (features/computer). Debian's programs for it (xrandr, xdotool) would bring a C preprocessor and X toolkits
 * into the image of browsers, and a process for each move of the mouse.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export type XConnection = {
  /** The window that fills the screen. */
  root: number;
  /** The numbers that keys have. */
  keycodes: { first: number; last: number };
  /** A number for something new, such as a window. */
  newId(): number;
  /** Sends one request without an answer; `parts`: 4 bytes each, or bytes that are filled up to a multiple of 4. */
  send(opcode: number, minor: number, parts: readonly (number | Buffer)[]): void;
  /**
   * Sends one request and returns its answer; several may wait at once. Rejects with the number of the server's error,
   * or when the server is gone.
   */
  ask(opcode: number, minor: number, parts: readonly (number | Buffer)[]): Promise<Buffer>;
  /** Calls `listener` with each event of 32 bytes from now on: other clients may have sent it, with anything in it. */
  onEvent(listener: (event: Buffer) => void): void;
  /** Whether requests can be sent. */
  isOpen(): boolean;
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

/** Numbers of 4 bytes each. */
export const u32s = (...values: number[]): Buffer => Buffer.concat(values.map(u32));

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

const kinds = { error: 0, answer: 1 } as const;
/** Of an event that a client has sent, not the server. */
const sentByClient = 0x80;

type Waiting = { resolve(answer: Buffer): void; reject(error: Error): void };

/** What the server says goes to who has asked: its answers have the number of their request, the lower 16 bits of it. */
const createExchange = (socket: Socket, read: (length: number) => Promise<Buffer>) => {
  const waiting = new Map<number, Waiting>();
  const listeners: ((event: Buffer) => void)[] = [];
  let sent = 0;
  let isOver = false;
  const take = (number: number): Waiting | undefined => {
    const found = waiting.get(number);
    waiting.delete(number);
    return found;
  };
  const readOne = async (): Promise<void> => {
    const first = await read(headBytes);
    const kind = first.readUInt8(0);
    const number = first.readUInt16LE(2);
    if (kind === kinds.answer) take(number)?.resolve(Buffer.concat([first, await read(first.readUInt32LE(4) * unit)]));
    else if (kind === kinds.error)
      take(number)?.reject(
        new Error(`the X server answered error ${first[1]} to request ${first[10]}.${first.readUInt16LE(8)}`),
      );
    else for (const listener of listeners) listener(first);
  };
  const readOn = async (): Promise<void> => {
    try {
      for (;;) await readOne();
    } catch (error) {
      isOver = true;
      const why = error instanceof Error ? error : new Error(String(error));
      for (const { reject } of waiting.values()) reject(why);
      waiting.clear();
    }
  };
  void readOn();
  const send: XConnection["send"] = (opcode, minor, parts) => {
    sent = (sent + 1) & 0xffff;
    socket.write(encode(opcode, minor, parts));
  };
  return {
    send,
    ask: (opcode: number, minor: number, parts: readonly (number | Buffer)[]) =>
      new Promise<Buffer>((resolve, reject) => {
        if (isOver) return reject(new Error("the X server closed the connection"));
        send(opcode, minor, parts);
        waiting.set(sent, { resolve, reject });
      }),
    onEvent: (listener: (event: Buffer) => void) => void listeners.push(listener),
    isOpen: () => !isOver,
  };
};

/** The kind of an event, whoever has sent it. */
export const eventKind = (event: Buffer): number => event.readUInt8(0) & ~sentByClient;

const internAtom = 16;
const queryExtension = 98;

/** The numbers that the server has for names. */
export const atomsOf = async <Name extends string>(
  x: Pick<XConnection, "ask">,
  names: readonly Name[],
): Promise<Record<Name, number>> => {
  const numbers = names.map(async (name): Promise<[Name, number]> => {
    const answer = await x.ask(internAtom, 0, [u16s(name.length, 0), Buffer.from(name)]);
    return [name, answer.readUInt32LE(8)];
  });
  return Object.fromEntries(await Promise.all(numbers)) as Record<Name, number>;
};

/** The number by which the requests of an extension are known. Rejects when the server has none of this name. */
export const extensionOpcode = async (x: Pick<XConnection, "ask">, extension: string): Promise<number> => {
  const name = Buffer.from(extension);
  const answer = await x.ask(queryExtension, 0, [u16s(name.length, 0), name]);
  if (answer[8] !== 1) throw new Error(`the X server has no ${extension}`);
  return answer.readUInt8(9);
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

    // Numbers for new things: from the first on, in the bits of the mask.
    const firstId = greeting.readUInt32LE(4);
    let ids = 0;
    return {
      root: rootIn(greeting),
      keycodes: { first: greeting.readUInt8(26), last: greeting.readUInt8(27) },
      newId() {
        ids += 1;
        return firstId + ids;
      },
      ...createExchange(socket, read),
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
