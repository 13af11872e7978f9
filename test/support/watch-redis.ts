import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";

const commandOf = (...words: string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;

/** The words of a command as MONITOR shows it: `1795714780.31 [0 127.0.0.1:35282] "hget" "key"`. */
const wordsOf = (shown: string): string[] =>
  shown
    .slice(shown.indexOf('"') + 1, -1)
    .split('" "')
    .map((word) => word.replaceAll('\\"', '"'));

/**
 * Everything that Redis is told from now on, one line a command. On a connection of its own kind: ioredis takes what
 * comes together with the answer to MONITOR for the answer to another command, and throws.
 */
export const watchRedis = async (url: string): Promise<{ lines: string[]; stop(): void }> => {
  const { hostname, port, password } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  const [watching, lines] = [Promise.withResolvers<void>(), [] as string[]];
  let answers = 0;
  socket.on("error", () => undefined).on("close", () => watching.reject(new Error("Redis can't be watched")));
  createInterface(socket).on("line", (line) => {
    if (line.startsWith("-")) return watching.reject(new Error(line));
    if (line !== "+OK") return void lines.push(wordsOf(line).join(" "));
    answers += 1;
    if (answers === 2) watching.resolve();
  });
  socket.write(commandOf("AUTH", decodeURIComponent(password)) + commandOf("MONITOR"));
  await watching.promise;
  return { lines, stop: () => void socket.destroy() };
};
