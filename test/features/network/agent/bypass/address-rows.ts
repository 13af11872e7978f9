/** Other ways to write a forbidden address. */
import { ownAddress, ownBytes } from "../../../../support/wall/machine.ts";
import { byRules, type Row } from "./attempt.ts";

const [a = 0, b = 0, c = 0, d = 0] = ownBytes;
const whole = ((a * 256 + b) * 256 + c) * 256 + d;
const hex = (byte: number): string => byte.toString(16).padStart(2, "0");
const octal = (byte: number): string => `0${byte.toString(8)}`;

const own: [string, string][] = [
  ["as it is", ownAddress],
  ["as one decimal number", `${whole}`],
  ["as one hexadecimal number", `0x${whole.toString(16)}`],
  ["as one octal number", `0${whole.toString(8)}`],
  ["octal", ownBytes.map(octal).join(".")],
  ["hexadecimal", ownBytes.map((byte) => `0x${hex(byte)}`).join(".")],
  ["mixed", `0x${hex(a)}.${octal(b)}.${c}.${d}`],
  ["short", `${a}.${b}.${c * 256 + d}`],
  ["with a dot at its end", `${ownAddress}.`],
  ["as mapped IPv6", `[::ffff:${ownAddress}]`],
  ["as mapped IPv6, hexadecimal", `[::ffff:${hex(a)}${hex(b)}:${hex(c)}${hex(d)}]`],
  [
    "in full-width digits",
    [...ownAddress].map((char) => (char === "." ? "。" : String.fromCodePoint(char.charCodeAt(0) + 0xfee0))).join(""),
  ],
];

const loopback = [
  "127.0.0.1",
  "127.8.9.1",
  "127.1",
  "2130706433",
  "0x7f000001",
  "0x7f.1",
  "017700000001",
  "0177.0.0.01",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "0.0.0.0",
  "0",
  "[::]",
  "localhost",
  "LOCALHOST.",
  "a.localhost",
];

/** Rows whose attempt is a navigation. */
export const addressRows: Row[] = [
  ...own.map(
    ([how, host]): Row => ({
      ...byRules(`a direct navigation, the address ${how}`, ({ page, url }) => page.goto(url())),
      host,
    }),
  ),
  ...loopback.map(
    (host): Row => ({
      what: `a navigation to loopback, written ${host}`,
      behind: "open",
      control: "plain",
      host,
      run: ({ page, url }) => page.goto(url()),
    }),
  ),
];
