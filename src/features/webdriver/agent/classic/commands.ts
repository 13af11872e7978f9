/**
 * The commands of a session that go to its driver: those of the specification, `displayed`, which its clients ask for,
 * and CDP, which a holder has anyway. The driver knows more, such as writing files beside the browser.
 */
import { errorAnswer, type WebDriverAnswer } from "../../webdriver-answer.ts";

type Method = "GET" | "POST" | "DELETE";

/** `*` stands for one part of a path: an id, or a name. */
const commands: readonly [path: string, ...methods: Method[]][] = [
  ["timeouts", "GET", "POST"],
  ["url", "GET", "POST"],
  ["back", "POST"],
  ["forward", "POST"],
  ["refresh", "POST"],
  ["title", "GET"],
  ["window", "GET", "POST", "DELETE"],
  ["window/new", "POST"],
  ["window/handles", "GET"],
  ["window/rect", "GET", "POST"],
  ["window/maximize", "POST"],
  ["window/minimize", "POST"],
  ["window/fullscreen", "POST"],
  ["frame", "POST"],
  ["frame/parent", "POST"],
  ["element", "POST"],
  ["elements", "POST"],
  ["element/active", "GET"],
  ["element/*/shadow", "GET"],
  ["element/*/element", "POST"],
  ["element/*/elements", "POST"],
  ["shadow/*/element", "POST"],
  ["shadow/*/elements", "POST"],
  ["element/*/selected", "GET"],
  ["element/*/displayed", "GET"],
  ["element/*/enabled", "GET"],
  ["element/*/attribute/*", "GET"],
  ["element/*/property/*", "GET"],
  ["element/*/css/*", "GET"],
  ["element/*/text", "GET"],
  ["element/*/name", "GET"],
  ["element/*/rect", "GET"],
  ["element/*/computedrole", "GET"],
  ["element/*/computedlabel", "GET"],
  ["element/*/click", "POST"],
  ["element/*/clear", "POST"],
  ["element/*/value", "POST"],
  ["element/*/screenshot", "GET"],
  ["source", "GET"],
  ["execute/sync", "POST"],
  ["execute/async", "POST"],
  ["cookie", "GET", "POST", "DELETE"],
  ["cookie/*", "GET", "DELETE"],
  ["actions", "POST", "DELETE"],
  ["alert/dismiss", "POST"],
  ["alert/accept", "POST"],
  ["alert/text", "GET", "POST"],
  ["screenshot", "GET"],
  ["print", "POST"],
  ["goog/cdp/execute", "POST"],
];

/** A path by its fixed parts. */
const patterns = commands.map(([path, ...methods]) => ({
  pattern: new RegExp(`^${path.replaceAll("*", "[!-.0-~]+")}$`),
  methods,
}));

/** Why a command does not go to the driver; undefined: it does. `path`: below that of the session. */
export const whyNoCommand = (method: string, path: string): WebDriverAnswer | undefined => {
  if (path === "se/file" || path === "file")
    return errorAnswer(
      "unsupported operation",
      `${path}: write the file with fs/write_file, and give its path below /tmp`,
    );
  const known = patterns.find(({ pattern }) => pattern.test(path));
  if (!known) return errorAnswer("unknown command", `${path.slice(0, 200)}: there is no such command here`);
  if (known.methods.some((each) => each === method)) return undefined;
  return errorAnswer("unknown method", `${path.slice(0, 200)} takes ${known.methods.join(", ")}`);
};
