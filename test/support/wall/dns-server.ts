/** A DNS server whose answers a test chooses. */
import { createSocket } from "node:dgram";
import { once } from "node:events";

/**
 * Answers for one name: addresses, or the name that it is an alias of. `failsIpv4`: asked for IPv4, the server says
 * that it has failed.
 */
export type Answer = { a?: string[]; aaaa?: string[]; cname?: string; failsIpv4?: boolean };

export type DnsServer = {
  /** For `BROWSERPOOL_DNS_SERVERS`. */
  address: string;
  /** The names that were asked for, each as often as it was. */
  asked: string[];
  [Symbol.asyncDispose](): Promise<void>;
};

const types = { A: 1, CNAME: 5, AAAA: 28 } as const;

const [noError, serverFailure, noSuchName] = [0, 2, 3];

const nameIn = (packet: Buffer): { name: string; end: number } => {
  const labels: string[] = [];
  let at = 12;
  for (let length = packet[at] ?? 0; length > 0; length = packet[at] ?? 0) {
    labels.push(packet.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 };
};

const encodeName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split(".").flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]),
    Buffer.of(0),
  ]);

const ipv6Bytes = (text: string): Buffer => {
  const [head = "", tail = ""] = text.split("::");
  const groups = (part: string): number[] =>
    part
      .split(":")
      .filter(Boolean)
      .map((group) => Number.parseInt(group, 16));
  const [left, right] = [groups(head), groups(tail)];
  const all = [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 255]));
};

const record = (name: string, type: number, data: Buffer): Buffer => {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(name), fixed, data]);
};

/** Starts it on a free port of the loopback. `answer`: undefined is "no such name", null no answer at all. */
export const startDnsServer = async (answer: (name: string) => Answer | undefined | null): Promise<DnsServer> => {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  const recordsOf = (name: string, type: number, found: Answer): Buffer[] => {
    if (found.cname !== undefined) {
      const next = answer(found.cname);
      return [record(name, types.CNAME, encodeName(found.cname)), ...(next ? recordsOf(found.cname, type, next) : [])];
    }
    if (type === types.A)
      return (found.a ?? []).map((text) => record(name, type, Buffer.from(text.split(".").map(Number))));
    return type === types.AAAA ? (found.aaaa ?? []).map((text) => record(name, type, ipv6Bytes(text))) : [];
  };
  socket.on("message", (packet, peer) => {
    const { name, end } = nameIn(packet);
    const type = packet.readUInt16BE(end);
    asked.push(name);
    const found = answer(name);
    if (found === null) return;
    const records = found ? recordsOf(name, type, found) : [];
    const head = Buffer.alloc(12);
    packet.copy(head, 0, 0, 2);
    const failure = type === types.A && found?.failsIpv4 ? serverFailure : noError;
    head.writeUInt16BE(0x8180 + (found ? failure : noSuchName), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([head, packet.subarray(12, end + 4), ...records]), peer.port, peer.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    async [Symbol.asyncDispose]() {
      const closed = once(socket, "close");
      socket.close();
      await closed;
    },
  };
};
